#!/bin/sh
# Runs the commands of README.md, or another document (lines "$ anycq ..." in console blocks), in a folder that has a
# copy of data/world and the document's own files, and compares what they print with what stands there; times, counts
# of nodes and sizes of files may differ. With PYTHON the document's examples for Python are run as well, by doctest.
# usage: readme.sh ANYCQ SOURCE_DIR [DOCUMENT [PYTHON]]
set -u
bin=$1 source=$2 document=${3:-README.md} python=${4:-}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/run/data" && cp -R "$source/data/world" "$work/run/data" && cd "$work/run" || exit 1
rm -f data/world/*.calibrator # what an earlier run has learnt
[ "$document" = README.md ] || cp "$source/${document%.md}"/* . || exit 1

# With $ACQ_INSTRUCTIONS (generic) no newer instructions are used, by the commands that take the option.
anycq()
{
    command=$1
    shift
    case ${ACQ_INSTRUCTIONS:+$command} in
    ask | check | predict | suggest | fit) "$bin" "$command" --instructions "$ACQ_INSTRUCTIONS" "$@" ;;
    *) "$bin" "$command" "$@" ;;
    esac
}

normalise()
{
    sed -E -e 's/[0-9]+\.[0-9]+ ms/T ms/g' -e 's/[0-9]+ nodes?/N nodes/g' \
        -e 's/[0-9.]+ s, [0-9.]+( M)? triples/T s, T triples/' -e 's/\b[0-9.]+ [kMG]B\b/S/'
}

awk '/^```console/ { inside = 1; next } /^```/ { inside = 0 } inside' "$source/$document" >"$work/expected"
: >"$work/actual"
# A command may go on after a backslash at the end of a line.
pending=
while IFS= read -r line; do
    case $pending$line in
    '$ '*\\)
        printf '%s\n' "$line" >>"$work/actual"
        pending="$pending${line%\\}"
        ;;
    '$ anycq'*)
        printf '%s\n' "$line" >>"$work/actual"
        words="$pending$line"
        pending=
        eval "${words#\$ }" >>"$work/actual" 2>&1
        ;;
    esac
done <"$work/expected"
normalise <"$work/expected" >"$work/a"
normalise <"$work/actual" >"$work/b"
[ -s "$work/b" ] || { echo "no command found in $document"; exit 1; }
status=0
diff -u "$work/a" "$work/b" || status=1
if [ -n "$python" ]; then
    "$python" -m doctest "$source/$document" || status=1
fi
exit $status
