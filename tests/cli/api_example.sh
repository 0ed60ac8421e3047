#!/bin/sh
# The example program of the public header, and what the shared library exports.
# usage: api_example.sh EXAMPLE LIBRARY SOURCE_DIR
set -u
example=$1 library=$2 source=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
status=0

fail()
{
    echo "FAILED: $1"
    status=1
}

# wanted exit code, wanted first line, arguments
expect()
{
    code=$1 line=$2
    shift 2
    "$example" "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ "$got" -eq "$code" ] || fail "exit $got instead of $code: $*"
    first=$(cat "$work/out" "$work/err" | head -n 1)
    [ "$first" = "$line" ] || fail "\"$first\" instead of \"$line\": $*"
}

printf 'Ada\tknows\tBo\nBo\tborn_in\tParis\n' >"$work/g.tsv"
expect 0 'x = Ada, score 1' "$work/g.tsv" 'Q(x) := exists y. knows(x, y) & born_in(y, "Paris")' x
grep -q '^  knows(Ada, Bo) 1$' "$work/out" || fail 'the facts are not listed'
grep -q '^  observed$' "$work/out" || fail 'the kind is not told'
expect 1 '' "$work/g.tsv" 'Q(x) := knows(x, "Paris")' x
expect 2 'unknown name: 1:9: the graph has no relation "knos"; did you mean "knows"?' \
    "$work/g.tsv" 'Q(x) := knos(x, "Bo")' x

# Every function marked ACQ_API is exported, and nothing else is; its NULL arguments are tested.
sed -n '/^ACQ_API/{:a;/;/!{N;ba};p}' "$source/include/anycq.h" | grep -o 'acq_[a-z_]*(' | tr -d '(' |
    sort -u >"$work/declared"
nm -D --defined-only "$library" | awk '$2 ~ /[TDBRVW]/ { sub(/@.*/, "", $3); print $3 }' |
    grep -v '^_\|asan\|ubsan' | sort -u >"$work/exported"
diff "$work/declared" "$work/exported" >"$work/difference" ||
    { cat "$work/difference"; fail 'exports differ from the header (< declared, > exported)'; }
for function in $(grep -v '_free$\|_sized$\|^acq_get_version$\|^acq_status_name$' "$work/declared"); do
    grep -q "\b$function\b" "$source"/tests/unit/api_arguments*.c ||
        fail "tests/unit/api_arguments.c does not call $function with NULL"
done
[ "$(wc -l <"$work/declared")" -ge 30 ] || fail 'the header was not read'
exit $status
