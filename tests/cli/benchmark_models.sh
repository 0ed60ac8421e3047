#!/bin/sh
# tools/make-benchmark-models on a small made-up folder: models and cards lie where `anycq reproduce`
# looks for them, what is done is skipped, what was stopped goes on, another recipe is refused.
# usage: benchmark_models.sh SOURCE ANYCQ
set -u
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 0; }
source=$1 ANYCQ=$2
export ANYCQ
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() {
    echo "FAILED: $1"
    cat out err 2>/dev/null
    exit 1
}

# make ARGUMENT...: its exit code
make() {
    "$source/tools/make-benchmark-models" "$@" >out 2>err
}

# expect TEXT FILE
expect() {
    grep -qF -- "$1" "$2" || fail "no \"$1\" in $2"
}

refuse() { # TEXT ARGUMENT...
    text=$1
    shift
    make "$@" && fail "$* was taken"
    expect "$text" err
}

mkdir -p data/FB15k-237 data/notes
head -n 700 "$source/data/world/world.tsv" >all.tsv
awk 'NR % 12 != 5 && NR % 12 != 7' all.tsv >data/FB15k-237/train.txt
awk 'NR % 12 == 5' all.tsv >data/FB15k-237/valid.txt
awk 'NR % 12 == 7' all.tsv >data/FB15k-237/test.txt

# every model, of both graphs the fastest one, each with its card
make data -o models --time 4s --first 50 --split train || fail "exit $?"
make data -o models --time 4s --first 50 --model rules || fail "exit $?"
for place in train/complex train/nbfnet train/rules valid/rules; do
    path=models/FB15k-237/$place split=${place%/*} model=${place#*/}
    [ -s "$path" ] || fail "no $path"
    [ ! -e "$path.checkpoint" ] || fail "a checkpoint stayed"
    expect "$model of FB15k-237, $split" "$path.md"
    expect "command | \`anycq train $model FB15k-237 --split $split -o $model" "$path.md"
    expect "| all | 50 | " "$path.md"
done
expect "of 50 links that valid adds" models/FB15k-237/train/rules.md
expect "| and those of test | all |" models/FB15k-237/train/rules.md
expect "of 50 links that test adds" models/FB15k-237/valid/rules.md
expect "relation-weight 0" models/FB15k-237/train/complex.md # few facts of each entity

# the number of a card is that of the command
mrr=$("$ANYCQ" eval links --observed data/FB15k-237/train.txt --truth data/FB15k-237/valid.txt \
    --predictor rules:models/FB15k-237/train/rules --first 50 2>/dev/null |
    sed -n 's/^MRR *//p')
expect "| observed and true tails | all | 50 | $mrr |" models/FB15k-237/train/rules.md

# reproduce takes them
"$ANYCQ" generate small --type 2p --count 2 --observed data/FB15k-237/train.txt --complete all.tsv \
    -o data/FB15k-237/qac_valid_type0001.json >out 2>err || fail "generate"
"$ANYCQ" reproduce data -o tables --models models --tables qac --first 1 --model-time 1s >out 2>err ||
    fail "reproduce: exit $?"
expect '"models/FB15k-237/train/complex"' tables/manifest.json

# done is done
find models -type f -exec cksum {} + | sort >before
make data -o models --time 4s --first 50 --split train || fail "exit $?"
find models -type f -exec cksum {} + | sort | cmp - before || fail "something was made again"

# a card that is missing is written, and nothing trained
rm models/FB15k-237/train/rules.md
make data -o models --time 4s --first 50 --model rules --split train || fail "exit $?"
find models -type f -exec cksum {} + | sort | cmp - before || fail "another card"
grep -q training err && fail "trained again"

# stopped: the checkpoint stays, the same command goes on
"$source/tools/make-benchmark-models" data/FB15k-237 -o late --model nbfnet --split train --time 4s >out 2>err &
tool=$!
tries=0
until [ -s late/FB15k-237/train/nbfnet-begin.checkpoint ]; do
    tries=$((tries + 1))
    [ $tries -lt 200 ] || fail "no checkpoint"
    sleep 0.05
done
kill -TERM $tool
wait $tool
code=$?
[ $code -eq 143 ] || fail "exit $code after a signal"
expect "stopped; the same command goes on" err
[ -s late/FB15k-237/train/nbfnet-begin.checkpoint ] || fail "the checkpoint is gone"
make data -o late --model nbfnet --split train --time 4s || fail "exit $?"
expect "nbfnet-begin: goes on" err
[ -s late/FB15k-237/train/nbfnet.md ] || fail "no card"

refuse "begun by another recipe" data -o models --time 2s --split train --model complex
mkdir -p mine/FB15k-237/train
cp all.tsv mine/FB15k-237/train/rules
refuse "there is another model" data -o mine --model rules --time 1s
refuse "neither here nor one folder deeper" data/notes -o x
refuse "this is no folder" nowhere -o x
refuse "is no time" data -o x --time soon
refuse "invalid choice" data -o x --model ultra
cmp -s mine/FB15k-237/train/rules all.tsv || fail "a file of others was touched"
exit 0
