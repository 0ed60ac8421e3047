#!/bin/sh
# A store answers exactly as the same graph read on the fly: the sample queries with all answers
# and evidence, and, where the benchmark data is there, every validation file of both graphs.
# Only times and the memory measured may differ. With sanitizers ($ACQ_SANITIZED) the first of each
# file; the build that ships answers all of them.
# usage: same_store.sh ANYCQ SOURCE_DIR
set -u
anycq=$1
cd "$2" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
status=0
first=${ACQ_SANITIZED:+--first 25}

# run OUTPUT GRAPH FUNCTION ARGUMENTS...: what FUNCTION GRAPH ARGUMENTS... prints, without what
# may differ.
run() {
    output=$1 graph=$2 function=$3
    shift 3
    "$function" "$graph" "$@" >"$work/raw" 2>&1
    echo "exit $?" >>"$work/raw"
    sed -E -e "s|$graph|GRAPH|g" -e 's/"(ms[a-z0-9_]*|memory)": ?[-0-9.e+]+//g' \
        -e 's/[0-9.]+ ms//g' "$work/raw" >"$output"
}

# same NAME GRAPH STORE FUNCTION ARGUMENTS...
same() {
    name=$1 text=$2 store=$3
    shift 3
    run "$work/text" "$text" "$@"
    run "$work/store" "$store" "$@"
    if ! cmp -s "$work/text" "$work/store"; then
        echo "FAILED: $name: the store answers otherwise"
        diff "$work/text" "$work/store" | head -n 10
        status=1
    fi
}

ask_samples() { "$anycq" ask "$1" --queries data/world/queries.txt --all --predictor observed "$2"; }
ask_typo() { "$anycq" ask "$1" 'Q(x) := born_in(x, "Londn")' --predictor observed; }
predict() { "$anycq" predict "$1" 'acted_in(?, "Heat")' --predictor observed; }
# $first is two words.
# shellcheck disable=SC2086
eval_closed() {
    "$anycq" eval "$2" --observed "$1" --queries "$d/$2"_valid_*.json --predictor observed \
        --json $first
}
# shellcheck disable=SC2086
eval_perfect() {
    "$anycq" eval "$2" --observed "$work/train.acq" --queries "$d/$2"_valid_*.json \
        --predictor "perfect:$1" --json $first
}

import() {
    "$anycq" import "$1" -o "$2" >/dev/null 2>"$work/errors" && return
    cat "$work/errors"
    exit 1
}

text=data/world/observed.tsv
import $text "$work/world.acq"
for format in --json --explain; do
    same "sample queries $format" $text "$work/world.acq" ask_samples $format
done
same 'a typo' $text "$work/world.acq" ask_typo
same 'a prediction' $text "$work/world.acq" predict

shared=${ACQ_SHARED:-../shared}/data
for folder in FB15k-237 NELL; do
    d=$shared/$folder
    [ -r "$d/train_kg.tsv" ] || { echo "skipped: $folder is not there"; continue; }
    import "$d/train_kg.tsv" "$work/train.acq"
    import "$d/valid_kg.tsv" "$work/valid.acq"
    for task in qac qar; do
        same "$folder $task, closed world" "$d/train_kg.tsv" "$work/train.acq" eval_closed $task
        same "$folder $task, perfect" "$d/valid_kg.tsv" "$work/valid.acq" eval_perfect $task
    done
    rm -f "$work/train.acq" "$work/valid.acq"
done
exit $status
