#!/bin/sh
# No test vanishes silently: every test program, transcript, script, mutation list and corpus that
# lies in the tree is run by some ctest of this build, and every other source is part of one.
# usage: listed.sh BUILD_DIR SOURCE_DIR CTEST
set -u
build=$1 source=$2 ctest=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
status=0

miss()
{
    echo "FAILED: $1"
    status=1
}

# The words of all commands of tests, one a line.
"$ctest" --test-dir "$build" --show-only=json-v1 | grep -o '"[^"]*"' | tr -d '"' >"$work/words"
grep -q '/test_' "$work/words" || miss 'ctest lists no test program'

# "TARGET SOURCE" of all objects that the tests' programs are made of.
grep -o 'tests/CMakeFiles/[A-Za-z0-9_]*\.dir/[A-Za-z0-9_/]*\.c\.o' "$build/build.ninja" |
    sed 's|tests/CMakeFiles/\(.*\)\.dir/\(.*\)\.o|\1 \2|' | sort -u >"$work/objects"

# usage: is_run NAME; a word of a command that ends in /NAME
is_run()
{
    grep -q "/$1\$" "$work/words"
}

# Is a program made of this source run?
check_source()
{
    path=${1#"$source"/tests/}
    targets=$(sed -n "s| $path\$||p" "$work/objects")
    [ -n "$targets" ] || { miss "tests/$path is part of no program"; return; }
    grep -q '^int main' "$1" || return
    for target in $targets; do
        is_run "$target" && return
    done
    miss "tests/$path is built, but no test runs it"
}

faults=$(sed -n 's/^ACQ_FAULTS:BOOL=//p' "$build/CMakeCache.txt")
n=0
for file in "$source"/tests/unit/*.c "$source"/tests/oracle/*.c "$source"/tests/parity/*.c \
    "$source"/tests/durability/*.c "$source"/tests/support/*.c "$source"/tests/cli/*.c; do
    # Needs the injected failures of the sanitizers' build.
    [ "${faults:-OFF}" != ON ] && [ "${file##*/}" = api_memory.c ] && continue
    check_source "$file"
    n=$((n + 1))
done
for file in "$source"/tests/cli/*.txt "$source"/tests/cli/*.sh "$source"/tests/durability/*.sh \
    "$source"/tests/python/*.py "$source"/tests/python/*.sh; do
    is_run "${file##*/}" || miss "${file#"$source"/} is run by no test"
    n=$((n + 1))
done
for folder in "$source"/fuzz/corpus/*/; do
    name=$(basename "$folder")
    is_run "replay_$name" || miss "fuzz/corpus/$name is replayed by no test"
    [ -n "$(ls "$folder")" ] || miss "fuzz/corpus/$name is empty"
    n=$((n + 1))
done
for file in "$source"/fuzz/[a-z]*.c; do
    name=$(basename "$file" .c)
    [ "$name" = replay ] || is_run "replay_$name" || miss "fuzz/$name.c has no corpus that a test replays"
done
for file in "$source"/tests/*.cmake; do
    grep -q "$file" "$build/build.ninja" || miss "${file#"$source"/} is not read by CMake"
done
[ "$n" -gt 100 ] || miss "only $n files found"
echo "$n files are run or built into what is run"
exit $status
