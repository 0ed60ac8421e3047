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
if command -v readelf >/dev/null && readelf -d "$libdir/libanycq.so" | grep -q jansson; then
    fail 'the library needs jansson, which is for the command only'
fi
exit 0
