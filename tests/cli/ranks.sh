#!/bin/sh
# Several processes under mpirun do the work of one: complete and eval give the same on 1, 2 and 4
# ranks; a rank that is killed or refuses ends the run with a message, and the next run succeeds. The
# example of a fit as a job of Slurm (those without MPI: shards.sh).
# usage: ranks.sh ANYCQ_WITH_MPI SOURCE_DIR
set -u
anycq=$1 source=$2
[ -n "$anycq" ] || { echo "skipped: built without Open MPI (libopenmpi-dev)"; exit 77; }
command -v mpirun >/dev/null || { echo "skipped: mpirun is not installed"; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
status=0

fail()
{
    echo "FAILED: $*"
    status=1
}

ranks()
{
    timeout 100 mpirun --oversubscribe -n "$@"
}

# What both directions of a calibrated predictor say; the first run leaves what it has learnt.
cp "$source/data/world/observed.tsv" world.tsv
head -n 1500 world.tsv >observed.tsv
"$anycq" complete observed.tsv -o whole 2>/dev/null || fail "one process"
for n in 2 4; do
    ranks $n "$anycq" complete observed.tsv -o "by$n" >out 2>&1 || fail "complete by $n: $(cat out)"
    cmp whole "by$n" || fail "complete by $n differs"
    [ "$(grep -c 'links, both directions' out)" = 1 ] || fail "complete by $n says: $(cat out)"
done
[ -z "$(ls | grep shard)" ] || fail "shards are left"

# Everything but the times.
mend()
{
    sed -E 's/"(ms|seconds)[a-z0-9_]*":(\{[^}]*\}|[^,}]*)//g' "$1"
}
bench=$source/tests/data/bench/graph
for task in "qac --queries $bench/qac.json" "qar --queries $bench/qar.json" \
    "links --truth world.tsv --first 400"; do
    observed=$bench
    [ "${task%% *}" = links ] && observed=observed.tsv
    predictor=observed
    [ "${task%% *}" = links ] && predictor=completion:whole
    set -- eval $task --observed $observed --predictor $predictor --json
    "$anycq" "$@" >one.json 2>/dev/null || fail "$task by one"
    for n in 2 4; do
        ranks $n "$anycq" "$@" >many.json 2>err || fail "$task by $n: $(cat err)"
        mend one.json >one.txt
        mend many.json >many.txt
        cmp one.txt many.txt || fail "$task by $n differs"
    done
done

# A rank is killed in the middle of its work: mpirun names the signal, and another run does it all.
rm -f observed.tsv.calibrator # so that there is some work
timeout 100 mpirun --oversubscribe -n 2 "$anycq" complete observed.tsv -o killed >out 2>&1 &
run=$!
victim=
for _ in $(seq 300); do
    [ -n "$(ls | grep '^killed\.shard')" ] && victim=$(pgrep -f "^$anycq complete observed.tsv -o killed" | tail -n 1)
    [ -n "$victim" ] && break
    sleep 0.01
done
if [ -n "$victim" ] && kill -9 "$victim" 2>/dev/null; then
    wait $run && [ ! -e killed ] && fail "a killed rank is no failure"
    [ -e killed ] || grep -q 'signal 9' out || fail "a killed rank: $(cat out)"
else
    wait $run # it was faster
fi
rm -f killed
ranks 2 "$anycq" complete observed.tsv -o killed >out 2>&1 && cmp whole killed ||
    fail "after a kill: $(cat out)"

ranks 2 "$anycq" ask observed.tsv 'citizen_of(x, "France")' >out 2>&1 && fail "ask by ranks"
grep -q 'ask does not share its work' out || fail "ask by ranks says: $(cat out)"
ranks 2 "$anycq" complete nothing.tsv -o x >out 2>&1 && fail "no graph"
grep -q 'nothing.tsv' out || fail "no graph: $(cat out)"

# The example for a job of Slurm.
MPIRUN='mpirun --oversubscribe -n 2' ANYCQ="$anycq" GRAPH=observed.tsv OUT=job OPTIONS='--pieces' \
    timeout 100 "$source/examples/cluster/fit.sbatch" >out 2>&1 || fail "the example of fit: $(cat out)"
"$anycq" fit observed.tsv -o alone --pieces >out 2>&1 && cmp alone job || fail "the example of fit differs"
exit $status
