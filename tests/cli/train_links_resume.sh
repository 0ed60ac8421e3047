#!/bin/sh
# The training of a link predictor that is interrupted exits with 130 and keeps its checkpoint; it
# is not begun anew by accident, and --resume ends at the weights of a training in one go.
# usage: train_links_resume.sh ANYCQ SOURCE_DIR
set -u
anycq=$1
cd "$2/tests/cli/data" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

fail()
{
    echo "FAILED: $kind: $1"
    cat "$work/err"
    exit 1
}

# What stands behind the header: its length is in the first eight bytes.
weights()
{
    length=$(od -An -tu8 -N8 "$1" | tr -d ' ')
    tail -c "+$((length + 9))" "$1"
}

# usage: train MODEL OPTION...; $kind and $small say what. $often: a checkpoint at every moment, for
# an interrupt to find one; each waits for the disk.
often=
train()
{
    model=$1
    shift
    # $small and $often are lists of words.
    # shellcheck disable=SC2086
    "$anycq" train $kind films.tsv -o "$work/$model" $small $often "$@" \
        >"$work/out" 2>"$work/err"
}

# usage: interrupt_one MODEL OPTION...; asked to stop as soon as there is something to keep.
interrupt_one()
{
    often='--checkpoint-every 0.001'
    train "$@" &
    pid=$!
    often=
    until [ -e "$work/$1.checkpoint" ]; do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.005
    done
    # The subshell runs the command as its only child.
    child=$(ps -o pid= --ppid "$pid" | head -n 1)
    [ -n "$child" ] && kill -INT "$child" 2>/dev/null
    wait "$pid"
}

check_kind()
{
    kind=$1 small=$2 short=$3 long=$4
    # The options that set the end are lists of words too.
    # shellcheck disable=SC2086
    train "$kind.whole" $short --threads 1 || fail 'train'
    [ ! -e "$work/$kind.whole.checkpoint" ] || fail 'a checkpoint was left behind'
    # shellcheck disable=SC2086
    interrupt_one "$kind.long" $long
    code=$?
    [ "$code" -eq 130 ] || fail "exit $code after an interrupt"
    grep -q 'interrupted after .*; the same command with --resume goes on' "$work/err" ||
        fail 'not told how to go on'
    [ -e "$work/$kind.long.checkpoint" ] || fail 'no checkpoint'
    [ ! -e "$work/$kind.long" ] || fail 'an interrupted training wrote a model'
    # shellcheck disable=SC2086
    train "$kind.long" $long && fail 'an interrupted training was begun anew'
    grep -q 'this is of a training that has not ended' "$work/err" || fail 'refusal'
    # shellcheck disable=SC2086
    train "$kind.long" $short --resume && fail 'resumed with other options'
    # shellcheck disable=SC2086
    interrupt_one "$kind.halves" $short
    code=$?
    [ "$code" -eq 130 ] || fail "exit $code: the training had ended before it was interrupted"
    # shellcheck disable=SC2086
    train "$kind.halves" $short --resume --threads 1 || fail 'resume'
    weights "$work/$kind.whole" >"$work/a"
    weights "$work/$kind.halves" >"$work/b"
    cmp "$work/a" "$work/b" || fail 'a resumed training gave other weights'
    [ ! -e "$work/$kind.halves.checkpoint" ] || fail 'a checkpoint was left behind'
}

# A second interrupt, which may come while a checkpoint is written, leaves the one before and no file
# that is half written.
check_twice()
{
    kind=$1 small=$2 long=$3
    for turn in 1 2 3 4 5 6; do
        rm -f "$work"/twice*
        # shellcheck disable=SC2086
        "$anycq" train $kind films.tsv -o "$work/twice" $small $long --checkpoint-every 0.001 \
            >"$work/out" 2>"$work/err" &
        pid=$!
        until [ -n "$(find "$work" -name 'twice.*checkpoint')" ]; do
            kill -0 "$pid" 2>/dev/null || fail 'the training ended by itself'
            sleep 0.005
        done
        kill -INT "$pid"
        kill -INT "$pid" 2>/dev/null
        wait "$pid"
        code=$?
        [ "$code" -eq 130 ] || fail "exit $code after two interrupts (turn $turn)"
        left=$(find "$work" -name 'twice*' ! -name '*.checkpoint' ! -name '*.csv')
        [ -z "$left" ] || fail "$left was left behind"
        [ -n "$(find "$work" -name 'twice.*checkpoint')" ] || fail 'no checkpoint was left'
    done
    rm -f "$work"/twice*
}

check_twice complex '--rank 4096 --batch 4' '--epochs 100000000'
check_twice nbfnet '--batch 2 --negatives 4' '--batches 100000000'
check_twice policy '--dim 64 --seeds 2 --queries 4 --held-queries 2 --held-steps 2' \
    '--batches 100000000'
check_kind complex '--rank 4 --batch 4' '--epochs 1000' '--epochs 100000000'
check_kind nbfnet '--batch 2 --negatives 4' '--batches 100' '--batches 100000000'
check_kind ultra '--batch 2 --group 1 --negatives 4' '--batches 60' '--batches 100000000'
exit 0
