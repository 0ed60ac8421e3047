#!/bin/sh
# The wheel installs in a fresh virtual environment without a network, and runs there with nothing but
# what it brought along.
# usage: wheel.sh BUILD_DIR SOURCE_DIR PYTHON
set -u
build=$1 source=$2 python=$3
pip=$(find /usr/share/python-wheels -name 'pip-*.whl' 2>/dev/null | head -n 1)
[ -n "$pip" ] || { echo 'skipped: no pip (Debian: python3-pip-whl)'; exit 77; }
"$python" -c 'import venv, ensurepip' 2>/dev/null || { echo 'skipped: no venv (Debian: python3-venv)'; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH

fail()
{
    echo "FAILED: $1"
    exit 1
}

wheel=$("$source/bindings/python/wheel" "$build" "$work/dist") || fail 'making the wheel'
again=$("$source/bindings/python/wheel" "$build" "$work/again") || fail 'making the wheel again'
cmp "$wheel" "$again" || fail 'two wheels of one build differ'
"$python" -m venv --without-pip "$work/venv" || fail 'venv'
offline=
unshare -rn true 2>/dev/null && offline='unshare -rn'
# $offline is a command or nothing.
# shellcheck disable=SC2086
PYTHONPATH=$pip $offline "$work/venv/bin/python" -m pip install --quiet --no-index \
    --disable-pip-version-check "$wheel" >"$work/log" 2>&1 || { cat "$work/log"; fail 'pip install'; }
mv "$work/dist" "$work/gone"
cp "$source/data/world/observed.tsv" "$work/world.tsv"
cd "$work" && "$work/venv/bin/python" - "$work" <<'END' || fail 'the installed package'
import sys
import anycq

with anycq.open("world.tsv") as graph:
    found = graph.ask('Q(x) := capital_of(x, "France")', predictor="observed")
    assert [one["x"] for one in found] == ["Paris"], found
with open("/proc/self/maps", encoding="utf-8") as file:
    maps = {line.split(None, 5)[5].strip() for line in file if len(line.split(None, 5)) == 6}
for name in ("libanycq", "libpcre2", "libunistring", "libsqlite3"):
    found = [path for path in maps if name in path]
    assert found and all(path.startswith(sys.argv[1]) for path in found), (name, found)
END
PYTHONPATH=$pip "$work/venv/bin/python" -m pip uninstall --quiet -y anycq >"$work/log" 2>&1 ||
    { cat "$work/log"; fail 'pip uninstall'; }
[ -z "$(find "$work/venv" -path '*anycq*' ! -name '*.pyc' -type f)" ] || fail 'files are left behind'
exit 0
