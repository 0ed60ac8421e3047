#!/bin/sh
# The public header: it compiles alone, as C and as C++; the shared library exports what it declares
# and nothing else; each function's NULL arguments are tested; the example in its first comment
# prints what it should.
# usage: header.sh LIBRARY SOURCE_DIR COMPILER SANITIZERS
set -u
library=$1 source=$2 compiler=$3 sanitizers=$4
header=$source/include/anycq.h
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
status=0

fail()
{
    echo "FAILED: $1"
    status=1
}

sed -n '/^ACQ_API/{:a;/;/!{N;ba};p}' "$header" | grep -o 'acq_[a-z0-9_]*(' | tr -d '(' |
    sort -u >"$work/declared"
[ "$(wc -l <"$work/declared")" -ge 80 ] || fail 'the header was not read'
nm -D --defined-only "$library" | awk '$2 ~ /[TDBRVW]/ { sub(/@.*/, "", $3); print $3 }' |
    grep -v '^_\|asan\|ubsan\|tsan' | sort -u >"$work/exported"
diff "$work/declared" "$work/exported" >"$work/difference" ||
    { cat "$work/difference"; fail 'exports differ from the header (< declared, > exported)'; }

for function in $(grep -v '_free$\|_sized$\|^acq_get_version$\|^acq_status_name$' "$work/declared"); do
    grep -q "\b$function\b" "$source"/tests/unit/api_arguments*.c ||
        fail "no tests/unit/api_arguments*.c calls $function with NULL"
done

# An example of the comment, as a program.
{
    echo '#include <anycq.h>'
    echo '#include <stdio.h>'
    echo 'int main(void) {'
    sed -n '/^ \*   acq_error error = {0};/,/^ \*       puts(/s/^ \*//p' "$header"
    echo 'return error.code != ACQ_OK; }'
} >"$work/example.c"
flags="-Wall -Wextra -Wno-maybe-uninitialized -Werror -I$source/include"
[ -z "$sanitizers" ] || flags="$flags -fsanitize=$sanitizers"
printf '#include <anycq.h>\nint main() { acq_error error = {}; return error.code; }\n' >"$work/plus.cc"
# $flags is a list of words.
# shellcheck disable=SC2086
"$compiler" -std=c11 $flags "$work/example.c" "$library" -Wl,-rpath,"$(dirname "$library")" \
    -o "$work/example" || fail 'the example of the header does not compile'
printf 'Paris\tcapital_of\tFrance\n' >"$work/world.acq.tsv"
mkdir "$work/run" && ln -s "$work/world.acq.tsv" "$work/run/world.tsv"
line=$(cd "$work/run" && ASAN_OPTIONS=detect_leaks=0 "$work/example") || fail 'the example of the header fails'
[ "$line" = Paris ] || fail "the example of the header printed \"$line\""
if command -v c++ >/dev/null; then
    c++ -std=c++11 -Wall -Wextra -Werror -I"$source/include" -fsyntax-only "$work/plus.cc" ||
        fail 'the header does not compile as C++'
fi
exit $status
