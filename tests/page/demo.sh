#!/bin/sh
# ./demo --page serves the page of the built-in graph, and leaves nothing behind when it is interrupted.
# usage: demo.sh ANYCQ SOURCE_DIR
set -u
anycq=$1 source=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fail()
{
    echo "FAILED: $1"
    cat "$work/out"
    exit 1
}

mkdir "$work/tmp"
env -u DISPLAY -u WAYLAND_DISPLAY TMPDIR="$work/tmp" ANYCQ="$anycq" PORT=0 timeout 60 "$source/demo" --page >"$work/out" 2>&1 &
demo=$!
for _ in $(seq 300); do
    grep -q 'The page is at' "$work/out" && break
    sleep 0.1
done
address=$(sed -n 's/.*\(http:[^ ]*\/\).*/\1/p' "$work/out")
[ -n "$address" ] || fail 'no address'
command -v curl >/dev/null || { kill "$demo"; echo 'skipped: there is no curl'; exit 77; }
curl -sS "$address" | grep -q '<title>anycq</title>' || fail 'no page'
curl -sS "${address}api/graph" | grep -q '"name":"world"' || fail 'another graph'
kill -TERM "$demo"
wait "$demo"
curl -sS "$address" >/dev/null 2>&1 && fail 'the server is still there'
[ -z "$(ls "$work/tmp")" ] || fail 'files are left'
