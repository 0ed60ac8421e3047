#!/bin/sh
# The whole of the shards OUT.1, OUT.2, ... that array.sbatch or parallel.sh wrote; they are removed then.
# The arguments are those of the shards. OUT is the completion, the queries, or the tables of eval.
#SBATCH --job-name=anycq
set -eu
anycq=${ANYCQ:-anycq}
case $1 in
complete) "$anycq" merge "$OUT".[0-9]* -o "$OUT" ;;
eval) "$anycq" "$@" --merge "$OUT".[0-9]* >"$OUT" ;;
*) "$anycq" "$@" --merge "$OUT".[0-9]* -o "$OUT" ;;
esac
rm "$OUT".[0-9]*
