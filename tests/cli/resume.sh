#!/bin/sh
# A training that is interrupted exits with 130 and keeps its checkpoint; it is not begun anew by
# accident, refuses other options, and --resume ends at the weights of a training in one go.
# usage: resume.sh ANYCQ SOURCE_DIR
set -u
anycq=$1
cd "$2/tests/cli/data" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
small='--dim 4 --seeds 2 --queries 4 --held-queries 2 --held-steps 2'
often='--checkpoint-every 0.001' # for an interrupt to find one; each waits for the disk

fail()
{
    echo "FAILED: $1"
    cat "$work/err"
    exit 1
}

# usage: train MODEL BATCHES [OPTION]...
train()
{
    model=$1 batches=$2
    shift 2
    # $small is a list of words.
    # shellcheck disable=SC2086
    "$anycq" train policy films.tsv -o "$work/$model" $small --batches "$batches" "$@" \
        >"$work/out" 2>"$work/err"
}

# What stands behind the header: its length is in the first eight bytes.
weights()
{
    length=$(od -An -tu8 -N8 "$1" | tr -d ' ')
    tail -c "+$((length + 9))" "$1"
}

train whole 120 || fail 'train'
[ ! -e "$work/whole.seed1.checkpoint" ] || fail 'a checkpoint was left behind'

# Long enough to be interrupted; asked to stop as soon as there is something to keep.
# shellcheck disable=SC2086
"$anycq" train policy films.tsv -o "$work/long" $small $often --batches 100000000 >"$work/out" \
    2>"$work/err" &
pid=$!
until [ -e "$work/long.seed1.checkpoint" ]; do
    kill -0 "$pid" 2>/dev/null || fail 'the training ended by itself'
done
kill -INT "$pid"
wait "$pid"
code=$?
[ "$code" -eq 130 ] || fail "exit $code after an interrupt"
grep -q 'interrupted after .* episodes; the same command with --resume goes on' "$work/err" ||
    fail 'not told how to go on'
[ -e "$work/long.seed1.checkpoint" ] && [ -e "$work/long.csv" ] || fail 'no checkpoint or curve'
[ ! -e "$work/long" ] || fail 'an interrupted training wrote a model'

train long 100000000 && fail 'an interrupted training was begun anew'
grep -q 'long.seed1.checkpoint: this is of a training that has not ended' "$work/err" || fail 'refusal'
train long 60 --resume && fail 'resumed with other options'
grep -q 'the checkpoint was made with --batches 100000000, not 60' "$work/err" || fail 'difference'
train long 100000000 --resume --seed 9 && fail 'resumed with another seed'
grep -q 'long.seed[12].checkpoint: .*another --seed' "$work/err" || fail 'another seed'
train long 100000000 --seed 9 && fail 'begun anew over the checkpoints of another seed'
"$anycq" train complex films.tsv -o "$work/rewards" --rank 4 --epochs 1 >"$work/out" 2>"$work/err" ||
    fail 'a model for rewards'
train long 100000000 --resume --rewards "$work/rewards" && fail 'resumed with rewards'
grep -q 'made with --rewards nothing, not' "$work/err" || fail 'rewards'
# shellcheck disable=SC2086
"$anycq" train policy truth.tsv -o "$work/long" $small --batches 100000000 --resume >"$work/out" \
    2>"$work/err" && fail 'resumed with another graph'
grep -q 'the checkpoint was made with graphs' "$work/err" || fail 'another graph'

# Stopped after weights were judged, and gone on with another number of threads.
# shellcheck disable=SC2086
"$anycq" train policy films.tsv -o "$work/halves" $small $often --batches 120 >"$work/out" 2>"$work/err" &
pid=$!
until grep -a -q '"judged":"[1-9]' "$work/halves.seed1.checkpoint" 2>/dev/null; do
    kill -0 "$pid" 2>/dev/null || break
done
kill -INT "$pid" 2>/dev/null
wait "$pid"
code=$?
[ "$code" -eq 130 ] || fail "exit $code: the training had ended before it was interrupted"
train halves 120 --resume --threads 1 || fail 'resume'
weights "$work/whole" >"$work/a"
weights "$work/halves" >"$work/b"
cmp "$work/a" "$work/b" || fail 'a resumed training gave other weights'
[ ! -e "$work/halves.seed1.checkpoint" ] || fail 'a checkpoint was left behind'

# The picture cannot be written in the end: what was trained is kept, and written later.
# shellcheck disable=SC2086
"$anycq" train policy films.tsv -o "$work/late" $small --batches 120 >"$work/out" 2>"$work/err" &
pid=$!
until [ -e "$work/late.seed1.checkpoint" ]; do
    kill -0 "$pid" 2>/dev/null || break
done
mkdir "$work/late.svg" 2>/dev/null
wait "$pid"
code=$?
[ "$code" -ne 0 ] || fail 'the training had ended before its picture was in the way'
grep -q 'checkpoints are kept: the same command with --resume' "$work/err" || fail 'not told'
rmdir "$work/late.svg"
train late 120 --resume || fail 'resume at the end'
weights "$work/late" >"$work/b"
cmp "$work/a" "$work/b" || fail 'weights written later are others'
exit 0
