#!/bin/sh
# A store with a page of another import of nearly the same names: the command prints what it prints of the
# whole store, or an error; it never shows another name, and never fills the memory.
# usage: pages.sh ANYCQ SOURCE_DIR
set -u
anycq=$1 source=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
[ -n "${ACQ_SANITIZED:-}" ] || ulimit -v 2000000 || exit 1
ulimit -t 60 || exit 1
sed 's/Nolan/Nalonius/' "$source/data/world/observed.tsv" >b.tsv
"$anycq" import "$source/data/world/observed.tsv" -o a >/dev/null 2>&1 && "$anycq" import b.tsv -o b >/dev/null 2>&1 || exit 1

# ask STORE QUERY
ask() {
    "$anycq" ask "$1" "$2" --predictor observed --all --explain 2>err
}

size=4096
n=$(($(wc -c <a) / size))
page=0 right=0 refused=0
ask a 'Q(x) := directed("Christopher Nolan", x)' >by_head || exit 1
ask a 'Q(x) := directed(x, "Oppenheimer")' >by_tail || exit 1
while [ $page -lt "$n" ]; do
    cp a mix
    dd if=b of=mix bs=$size skip=$page seek=$page count=1 conv=notrunc 2>/dev/null
    page=$((page + 1))
    cmp -s a mix && continue
    for question in by_head by_tail; do
        case $question in
        by_head) ask mix 'Q(x) := directed("Christopher Nolan", x)' >got ;;
        *) ask mix 'Q(x) := directed(x, "Oppenheimer")' >got ;;
        esac
        code=$?
        if [ $code -eq 0 ] && cmp -s got $question; then
            right=$((right + 1))
        elif [ $code -eq 2 ] && [ ! -s got ] && grep -q damaged err; then
            refused=$((refused + 1))
        else
            echo "FAILED: page $((page - 1)), $question: exit $code"
            head -c 300 got
            cat err
            exit 1
        fi
    done
done
echo "$right right, $refused refused"
[ $right -gt 5 ] && [ $refused -gt 5 ]
