#!/bin/sh
# Manual pages: one of anycq and one of each command, with every option that --help lists, and
# without a warning of the formatter.
# usage: man.sh ANYCQ PAGES
set -u
anycq=$1 pages=$2
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
status=0 n=0

fail()
{
    echo "FAILED: $1"
    status=1
}

# check PAGE HELP...: every option of the help text is in the page.
check()
{
    page=$1
    shift
    [ -s "$page" ] || { fail "no $page"; return; }
    "$anycq" "$@" >"$T/help" || fail "anycq $*"
    # Options stand at the left: "  -o, --output FILE", "  --json".
    for option in $(sed -n 's/^  \(-[a-z], \)\{0,1\}--\([a-z0-9-]*\).*/\2/p' "$T/help"); do
        n=$((n + 1))
        grep -qF "\\fB\\-\\-$(printf '%s' "$option" | sed 's/-/\\-/g')\\fP" "$page" ||
            fail "$page lacks --$option"
    done
}

"$anycq" --help >"$T/commands" || fail 'anycq --help'
commands=$(sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p' "$T/commands")
[ -n "$commands" ] || fail 'no commands in --help'
for command in $commands; do
    check "$pages/anycq-$command.1" "$command" --help
    grep -q "anycq.*-$command" "$pages/anycq.1" || fail "anycq.1 lacks $command"
done
# Of train and eval, by the table that they are made from.
source=$(dirname "$0")/../..
sed -n 's/^ *X(\([a-z]*\), \([a-z]*\), "[^0-9].*/\1 \2/p' "$source/src/cli/commands.h" >"$T/variants"
[ "$(wc -l <"$T/variants")" -ge 10 ] || fail 'no variants in commands.h'
while read -r command variant; do
    check "$pages/anycq-$command.1" "$command" "$variant" --help
done <"$T/variants"
[ "$n" -ge 150 ] || fail "only $n options were looked at"

lint()
{
    if command -v mandoc >/dev/null; then
        mandoc -Tlint -Wwarning "$1"
    elif command -v groff >/dev/null; then
        groff -man -ww -Tutf8 -z "$1" 2>&1
    else
        echo 'skipped: neither mandoc nor groff' >&2
    fi
}

for page in "$pages"/*.1 "$source/man/anycq.3"; do
    said=$(lint "$page")
    [ -z "$said" ] || fail "$page: $said"
done
if command -v man >/dev/null && command -v groff >/dev/null; then
    MANWIDTH=80 man -l "$pages/anycq-ask.1" 2>&1 | grep -q 'find answers' || fail 'man -l anycq-ask.1'
fi
echo "$n options"
exit $status
