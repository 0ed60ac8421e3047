#!/bin/sh
# Runs the commands of transcripts and compares everything they print with what stands there:
#
#   $ anycq ask films.tsv '...'       the command, run in tests/cli/data; $T is a scratch folder
#   x = London  score 1  observed     standard output
#   ! anycq: note: ...                standard error
#   = 0                               exit code; "## " begins a comment
#
# Times, memory, counts of nodes and sizes of files are replaced by T, M, N and S; operations and
# rates by F and R; of a training, what it solves by P and its options by O, since they depend on
# the processor. All other percentages are compared. What a person reads on standard output must
# fit 80 columns.
# SQL and N-Triples are for machines. `scores GRAPH SCORES -o FILE` makes a completion with given scores.
# usage: transcript.sh ANYCQ SCORES SOURCE_DIR [--update] TRANSCRIPT...
set -u
anycq=$1 scores=$2 source=$3
shift 3
update=false
[ "$1" = --update ] && { update=true; shift; }
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
status=0
export T

anycq()
{
    "$anycq" "$@"
}

scores()
{
    "$scores" "$@"
}

normalise()
{
    sed -E -e 's/[0-9]+\.[0-9]+ ms/T ms/g' -e 's/[0-9]+ nodes?/N nodes/g' \
        -e 's/"(nodes|revisions)":[0-9]+/"\1":N/g' -e 's/"ms":[0-9.e-]+/"ms":T/g' \
        -e 's/"memory":[0-9]+/"memory":M/g' -e "s|$T|\$T|g" \
        -e 's/[0-9.]+ s, [0-9.]+( M)? triples/T s, T triples/' -e 's/\b[0-9.]+ [kMG]B\b/S/' \
        -e 's/"(seconds|triples_per_second)":[0-9.e+-]+/"\1":T/g' \
        -e 's/"(bytes|log_bytes)":[0-9]+/"\1":S/g' \
        -e 's/ +[0-9]+\.[0-9]{3} +[0-9]+\.[0-9]{3}$/ T F/' \
        -e 's/[0-9.]+ MFLOP, [0-9.]+ GFLOP/F MFLOP, F GFLOP/' \
        -e 's/[0-9.]+ s, [0-9]+ episodes/T s, R episodes/' -e 's/solves [0-9.]+%/solves P%/' \
        -e 's/"(held_solved|flops)":[0-9.e+-]+/"\1":F/g' -e 's/"options":"[^"]*"/"options":O/'
}

run_one()
{
    printf '$ %s\n' "$1"
    (cd "$source/tests/cli/data" && eval "$1") >"$T/out" 2>"$T/err"
    code=$?
    normalise <"$T/out"
    normalise <"$T/err" | sed 's/^/! /'
    echo "= $code"
    if grep -v '^{\|^SELECT \|^<' "$T/out" >"$T/human"; then
        width=$(LC_ALL=C.UTF-8 wc -L <"$T/human")
        [ "$width" -le 80 ] || echo "TOO WIDE: $width columns"
    fi
}

# Comments are kept; other lines are what the commands print.
replay()
{
    while IFS= read -r line; do
        case $line in
        '$ '*) run_one "${line#\$ }" ;;
        '## '*) printf '\n%s\n' "$line" ;;
        esac
    done <"$1"
}

# Blank lines of the output are left out on both sides.
strip()
{
    grep -v '^$' "$1"
}

for transcript in "$@"; do
    replay "$transcript" >"$T/replayed"
    if $update; then
        cp "$T/replayed" "$transcript"
        continue
    fi
    strip "$transcript" >"$T/wanted.lines"
    strip "$T/replayed" >"$T/got.lines"
    diff -u "$T/wanted.lines" "$T/got.lines" || { echo "FAILED: $transcript"; status=1; }
    grep -q '^\$ ' "$transcript" || { echo "FAILED: no command in $transcript"; status=1; }
    grep '^TOO WIDE' "$T/replayed" && status=1
done
exit $status
