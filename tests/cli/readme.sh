#!/bin/sh
# Runs the commands of README.md (lines "$ anycq ..." in console blocks) from the root of the
# source tree and compares what they print with what stands there; times and counts of nodes may
# differ. usage: readme.sh ANYCQ SOURCE_DIR
set -u
bin=$1 source=$2
cd "$source" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

anycq()
{
    "$bin" "$@"
}

normalise()
{
    sed -E -e 's/[0-9]+\.[0-9]+ ms/T ms/g' -e 's/[0-9]+ nodes?/N nodes/g'
}

awk '/^```console/ { inside = 1; next } /^```/ { inside = 0 } inside' README.md >"$work/expected"
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
        command="$pending$line"
        pending=
        eval "${command#\$ }" >>"$work/actual" 2>&1
        ;;
    esac
done <"$work/expected"
normalise <"$work/expected" >"$work/a"
normalise <"$work/actual" >"$work/b"
[ -s "$work/b" ] || { echo "no command found in README.md"; exit 1; }
diff -u "$work/a" "$work/b"
