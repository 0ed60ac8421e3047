#!/bin/sh
# An installed tree: the command, the library with its versions, the header and the pkg-config
# file, which must work from wherever the tree lies.
# usage: install.sh BUILD_DIR SOURCE_DIR CMAKE COMPILER SANITIZERS
set -u
build=$1 source=$2 cmake=$3 compiler=$4 sanitizers=$5
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

fail()
{
    echo "FAILED: $1"
    exit 1
}

version=$(sed -n 's/^#define ACQ_VERSION "\(.*\)"/\1/p' "$source/include/anycq.h")
[ -n "$version" ] || fail 'no version in the header'
[ -x "$build/bin/anycq" ] || { echo 'skipped: the command is not built'; exit 77; }
command -v pkg-config >/dev/null || { echo 'skipped: no pkg-config'; exit 77; }
"$cmake" --install "$build" --prefix "$work/tree" >"$work/log" 2>&1 ||
    { cat "$work/log"; fail 'cmake --install'; }
[ "$("$work/tree/bin/anycq" --version)" = "anycq $version" ] || fail 'the installed command'

[ -s "$work/tree/share/man/man1/anycq.1" ] && [ -s "$work/tree/share/man/man1/anycq-ask.1" ] ||
    fail 'no manual pages'
[ -n "$(find "$work/tree" -path '*man3/anycq.3')" ] || fail 'no manual page of the library'
grep -q "anycq $version" "$source/man/anycq.3" || fail 'the version of the manual page'
pc=$(find "$work/tree" -name anycq.pc)
[ -n "$pc" ] || fail 'no anycq.pc'
mv "$work/tree" "$work/moved"
PKG_CONFIG_PATH=$(dirname "$work/moved${pc#"$work/tree"}")
export PKG_CONFIG_PATH
[ "$(pkg-config --modversion anycq)" = "$version" ] || fail 'pkg-config --modversion'
flags=$(pkg-config --cflags --libs anycq) || fail 'pkg-config --cflags --libs'
[ -z "$sanitizers" ] || flags="$flags -fsanitize=$sanitizers"
# $flags is a list of words.
# shellcheck disable=SC2086
"$compiler" -std=c11 -Wall -Wextra -Werror "$source/examples/ask.c" $flags \
    -o "$work/example" || fail 'compiling against the installed tree'
libdir=$(pkg-config --variable=libdir anycq)
printf 'Ada\tknows\tBo\n' >"$work/g.tsv"
line=$(LD_LIBRARY_PATH=$libdir "$work/example" "$work/g.tsv" 'Q(x) := knows(x, "Bo")')
[ "$line" = 'x = Ada  score 1' ] || fail "the example printed \"$line\""
[ -e "$libdir/libanycq.so.${version%.*}" ] && [ -e "$libdir/libanycq.so.$version" ] || fail 'library versions'

# The same for CMake.
if [ -z "$sanitizers" ]; then
    mkdir "$work/project"
    cp "$source/examples/ask.c" "$work/project/"
    cat >"$work/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(example C)
find_package(anycq ${version%.*} REQUIRED)
add_executable(example ask.c)
target_link_libraries(example anycq::anycq)
END
    "$cmake" -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$work/moved" \
        -DCMAKE_C_COMPILER="$compiler" >"$work/log" 2>&1 &&
        "$cmake" --build "$work/project/build" >>"$work/log" 2>&1 || { cat "$work/log"; fail 'find_package'; }
    line=$("$work/project/build/example" "$work/g.tsv" 'Q(x) := knows(x, "Bo")')
    [ "$line" = 'x = Ada  score 1' ] || fail "the example of CMake printed \"$line\""
fi

# Completions: each shell reads its own, and bash finds a command, an option and an engine.
share=$work/moved/share
bash=$share/bash-completion/completions/anycq
complete()
{
    bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _anycq; echo "${COMPREPLY[*]}"' \
        bash "$bash" "$@"
}
if command -v bash >/dev/null; then
    [ "$(complete anycq sugg)" = suggest ] || fail 'bash completes no command'
    [ "$(complete anycq ask g.tsv --exp)" = --explain ] || fail 'bash completes no option'
    [ "$(complete anycq ask g.tsv --engine pol)" = policy ] || fail 'bash completes no engine'
fi
if command -v zsh >/dev/null; then
    zsh -n "$share/zsh/vendor-completions/_anycq" || fail 'zsh cannot read its completions'
fi
if command -v fish >/dev/null; then
    found=$(HOME=$work fish --no-config -c "source $share/fish/vendor_completions.d/anycq.fish
        complete -C 'anycq ask --expl'")
    case $found in --explain*) ;; *) fail "fish completes \"$found\"" ;; esac
fi
[ -s "$share/fish/vendor_completions.d/anycq.fish" ] || fail 'no completions for fish'
if command -v readelf >/dev/null && readelf -d "$libdir/libanycq.so" | grep -q jansson; then
    fail 'the library needs jansson, which is for the command only'
fi
exit 0
