#!/bin/sh
# A command by GNU parallel, or by xargs where it is not installed: N shards, two at a time, then merged.
#
#   OUT=graph.completion ./parallel.sh 8 complete graph.acq
#   OUT=table.json ./parallel.sh 8 eval qac --observed train.tsv --queries qac.json --predictor observed --json
#   OUT=queries.json ./parallel.sh 8 generate qac --observed train.tsv --complete all.tsv --count 1000
#
# On several machines: parallel --sshlogin with a folder that all of them see. ANYCQ: the program.
set -eu
n=$1
shift
run="xargs -P 2 -I {}"
command -v parallel >/dev/null && run="parallel -q -j 2 --halt now,fail=1"
# $run is a list of words.
# shellcheck disable=SC2086
seq "$n" | $run "${ANYCQ:-anycq}" "$@" --shard "{}/$n" -o "$OUT.{}"
exec "$(dirname "$0")/merge.sh" "$@"
