#!/bin/sh
# A completion by GNU parallel, or by xargs where it is not installed: N shards, two at a time, then merged.
#
#   ANYCQ=anycq GRAPH=graph.acq OUT=graph.completion ./parallel.sh 8
#
# On several machines: parallel --sshlogin with a folder that all of them see.
set -eu
n=$1
export ANYCQ="${ANYCQ:-anycq}" GRAPH OUT OPTIONS="${OPTIONS:-}"
one='"$ANYCQ" complete "$GRAPH" $OPTIONS --shard "{}/'$n'" -o "$OUT.{}"'
if command -v parallel >/dev/null; then
    seq "$n" | parallel -j 2 --halt now,fail=1 "$one"
else
    seq "$n" | xargs -P 2 -I '{}' sh -c "$one"
fi
exec "$(dirname "$0")/merge.sh"
