#!/bin/sh
# The whole of the shards OUT.1, OUT.2, ... that array.sbatch or parallel.sh wrote; they are removed then.
#SBATCH --job-name=anycq
set -eu
"${ANYCQ:-anycq}" merge "$OUT".[0-9]* -o "$OUT"
rm "$OUT".[0-9]*
