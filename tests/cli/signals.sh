#!/bin/sh
# An interrupt ends the command at once, quietly, with exit code 130; a closed pipe does no harm.
# usage: signals.sh ANYCQ SOURCE_DIR
set -u
anycq=$1
cd "$2/tests/cli/data" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkfifo "$work/queries" || exit 1

# It waits for queries that never come. `sh` starts background jobs with interrupts ignored, so
# the handler that the command sets is what is tested.
"$anycq" ask films.tsv --queries "$work/queries" --predictor observed >"$work/out" 2>"$work/err" &
pid=$!
exec 3>"$work/queries" # opens once the command reads, with its handler in place
kill -INT "$pid"
wait "$pid"
code=$?
exec 3>&-
[ "$code" -eq 130 ] || { echo "FAILED: exit $code after an interrupt"; exit 1; }
[ ! -s "$work/out" ] && [ ! -s "$work/err" ] || { echo 'FAILED: not quiet'; exit 1; }
exit 0
