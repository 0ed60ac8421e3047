#!/bin/sh
# The examples for Slurm's job arrays and GNU parallel: shards of a completion, of a benchmark and of
# tables, put together, are what one process writes.
# usage: shards.sh ANYCQ SOURCE_DIR
set -u
anycq=$1 source=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export ANYCQ="$anycq"
status=0

fail()
{
    echo "FAILED: $*"
    status=1
}

# Everything but the times.
mend()
{
    sed -E 's/"(ms|seconds)[a-z0-9_]*":(\{[^}]*\}|[^,}]*)//g' "$1"
}

# both NAME COMMAND...: by an array of three and by four that run two at a time.
both()
{
    name=$1
    shift
    for i in 3 1 2; do
        OUT=array SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_ID=$i "$source/examples/cluster/array.sbatch" "$@" \
            >/dev/null 2>err || fail "$name, array: $(cat err)"
    done
    OUT=array "$source/examples/cluster/merge.sh" "$@" >out 2>&1 || fail "$name, merge: $(cat out)"
    OUT=parallel "$source/examples/cluster/parallel.sh" 4 "$@" >out 2>&1 || fail "$name, parallel: $(cat out)"
    for made in array parallel; do
        mend "$name" >a
        mend $made >b
        cmp a b || fail "$name by $made differs"
    done
    [ -z "$(ls | grep '[.][0-9]')" ] || fail "$name: shards are left"
}

cp "$source/data/world/observed.tsv" world.tsv
head -n 1500 world.tsv >observed.tsv
"$anycq" complete observed.tsv -o whole 2>/dev/null || fail "one process"
both whole complete observed.tsv

set -- generate small --type 2p --count 60 --observed observed.tsv --complete world.tsv
"$anycq" "$@" -o queries >/dev/null 2>&1 || fail "queries of one process"
both queries "$@"
set -- generate qac --terms 5 --count 9 --observed observed.tsv --complete world.tsv
"$anycq" "$@" -o few >/dev/null 2>&1 || fail "few queries of one process"
both few "$@" # the graph has no more of them

bench=$source/tests/data/bench/graph
for task in qac qar; do
    set -- eval $task --observed "$bench" --queries "$bench/$task.json" --predictor observed --json
    "$anycq" "$@" >$task 2>/dev/null || fail "$task of one process"
    both $task "$@"
done
set -- eval links --observed observed.tsv --truth world.tsv --first 400 --predictor completion:whole
"$anycq" "$@" >links 2>/dev/null || fail "links of one process"
both links "$@"
exit $status
