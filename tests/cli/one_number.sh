#!/bin/sh
# p is one number: of the members of a team that do not live where the team is, in a made-up company
# with facts hidden, `ask --limit`, `ask --all`, `check` and `predict` state the same, a denied link is as
# likely to be false as it states, and nothing that denies a link is certain.
# usage: one_number.sh ANYCQ MAKE_WORLD
set -u
anycq=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
"$2" company 2000 7 . >world.txt || exit 1
query='Q(x, c) := exists t. member_of(x, t) & based_in(t, c) & !lives_in(x, c)'
status=0

# answers OPTION...: each with its p, one a line, in order of names.
answers() {
    "$anycq" ask observed.tsv "$query" --min-p 0.05 --output-format tsv "$@" 2>/dev/null |
        tail -n +2 | cut -f1-3 | sort
}

# p_of COMMAND...: the p of the one line after the head.
p_of() {
    "$@" --output-format tsv 2>/dev/null | sed -n 2p | cut -f2
}

answers --all >all.tsv
answers --limit 5 >some.tsv
[ "$(wc -l <all.tsv)" -gt 5 ] || { echo "FAILED: hardly an answer"; exit 1; }
[ "$(wc -l <some.tsv)" -eq 5 ] || { echo "FAILED: --limit 5 gave another number of answers"; status=1; }
while read -r line; do
    grep -qxF "$line" all.tsv || { echo "FAILED: --all has no line \"$line\""; status=1; }
done <some.tsv
cut -f3 all.tsv | grep -qx 1 && { echo "FAILED: an answer that denies a link is certain"; status=1; }

while IFS='	' read -r person city p; do
    checked=$(p_of "$anycq" check observed.tsv "$query" "$person" "$city" --min-p 0)
    [ "$checked" = "$p" ] || { echo "FAILED: ask $p, check $checked of $person, $city"; status=1; }
    lives=$(p_of "$anycq" check observed.tsv 'Q(x, c) := lives_in(x, c)' "$person" "$city" --min-p 0)
    denied=$(p_of "$anycq" check observed.tsv 'Q(x, c) := !lives_in(x, c)' "$person" "$city" --min-p 0)
    echo "$lives $denied $p" | awk '{ exit !($1 + $2 > .999998 && $1 + $2 < 1.000002 && $3 <= $2 + 1e-6) }' ||
        { echo "FAILED: lives_in $lives, denied $denied, answer $p of $person, $city"; status=1; }
    "$anycq" predict observed.tsv "lives_in($person, ?)" --top 1000 --output-format tsv 2>/dev/null |
        awk -F '\t' -v city="$city" -v p="$lives" '$1 == city { found = $3 }
            END { exit !(found == "" ? p < .002 : found == p) }' ||
        { echo "FAILED: predict states another p of lives_in($person, $city) than $lives"; status=1; }
done <some.tsv
exit $status
