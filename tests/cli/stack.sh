#!/bin/sh
# Trainings run with stacks of 64 kB, those of their threads too.
# usage: stack.sh ANYCQ SOURCE_DIR
set -u
anycq=$1
cd "$2/tests/cli/data" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
ulimit -s 64 || exit 1

# usage: train KIND OPTION...
train()
{
    kind=$1
    shift
    for threads in 1 2; do
        "$anycq" train "$kind" films.tsv -o "$work/$kind" --threads $threads "$@" >"$work/out" 2>&1 ||
            { echo "FAILED: train $kind with $threads threads: exit $?"; cat "$work/out"; exit 1; }
    done
}

train complex --rank 64 --epochs 2 --relation-weight 1
train nbfnet --batch 2 --negatives 4 --batches 2
train ultra --batch 2 --group 1 --negatives 4 --batches 2
train policy --dim 16 --batches 3 --held-queries 2 --held-steps 5 --hub-from 0
exit 0
