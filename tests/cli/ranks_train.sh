#!/bin/sh
# Several processes under mpirun train, generate and fit as one does: the same bytes, of ComplEx nearly.
# A rank that is killed in the middle of a training ends the run with a message; the checkpoint goes on
# with another number of ranks and gives the weights of a training in one go.
# usage: ranks_train.sh ANYCQ_WITH_MPI SOURCE_DIR [KILLS]
set -u
anycq=$1 source=$2 kills=${3:-2}
[ -n "$anycq" ] || { echo "skipped: built without Open MPI (libopenmpi-dev)"; exit 77; }
command -v mpirun >/dev/null || { echo "skipped: mpirun is not installed"; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
status=0
cp "$source/data/world/observed.tsv" world.tsv
head -n 1500 world.tsv >observed.tsv

fail()
{
    echo "FAILED: $*"
    status=1
}

# usage: ranks N COMMAND...; N 1: without mpirun
ranks()
{
    n=$1
    shift
    [ "$n" = 1 ] && { timeout 900 "$@"; return; }
    timeout 900 mpirun --oversubscribe -n "$n" "$@"
}

# What stands behind the header of a model, which says how long the training took.
weights()
{
    length=$(od -An -tu8 -N8 "$1" | tr -d ' ')
    tail -c "+$((length + 9))" "$1"
}

same_weights()
{
    weights "$1" >a
    weights "$2" >b
    cmp a b
}

for kind in 'ultra --batches 4 --batch 6 --group 2' 'nbfnet --batches 4 --batch 5' \
    'nbfnet --batches 3 --batch 4 --around 60' 'gnnqe --batches 3 --batch 5' \
    'policy --batches 6 --dim 8 --queries 9 --seeds 2 --held-queries 4'; do
    for n in 1 3; do
        # shellcheck disable=SC2086
        ranks $n "$anycq" train $kind observed.tsv -o "by$n" >out 2>&1 ||
            fail "train $kind by $n: $(cat out)"
        [ -e "by$n.checkpoint" ] && fail "$kind by $n leaves a checkpoint"
        same_weights by1 "by$n" || fail "train $kind by $n gives other weights"
    done
    [ "$(grep -c '^use it' out)" = 1 ] || fail "train $kind says: $(cat out)"
    rm -f by*
done

# Each rank has some components, and scores are added up: the sums have another order. What the model
# says of links is the same to four digits.
for n in 1 3; do
    ranks $n "$anycq" train complex observed.tsv -o "by$n" --rank 10 --epochs 3 --f32 >out 2>&1 ||
        fail "train complex by $n: $(cat out)"
    "$anycq" eval links --observed observed.tsv --truth world.tsv --first 100 --predictor "complex:by$n" \
        --json 2>/dev/null | sed -E 's/.*"mrr":([0-9]*\.[0-9]{3}).*/\1/' >"mrr$n"
done
cmp mrr1 mrr3 || fail "ComplEx: $(cat mrr1 mrr3)"
ranks 3 "$anycq" train complex observed.tsv -o x --rank 2 --epochs 1 >out 2>&1 && fail 'a rank of two for three'
grep -q 'rank 2 cannot be shared out over 3 processes' out || fail "a rank of two: $(cat out)"
ranks 2 "$anycq" train rules observed.tsv -o x --batches 1 >out 2>&1 && fail 'rules over ranks'
grep -q 'rules is not shared over ranks' out || fail "rules: $(cat out)"

for kind in 'qar --count 6 --terms 4' 'cqa --count 2 --type 2p'; do
    for n in 1 3; do
        # shellcheck disable=SC2086
        ranks $n "$anycq" generate $kind --observed observed.tsv --complete world.tsv -o "by$n" >out 2>&1 ||
            fail "generate $kind by $n: $(cat out)"
        cmp by1 "by$n" || fail "generate $kind by $n differs"
    done
done

head -n 700 world.tsv >small.tsv
for kind in '' '--pieces'; do # a small graph is fitted by the first rank, but in pieces
    for n in 1 3; do
        # shellcheck disable=SC2086
        ranks $n "$anycq" fit small.tsv -o "by$n" $kind >out 2>&1 || fail "fit $kind by $n: $(cat out)"
        [ -e "by$n.fit" ] && fail "fit $kind by $n leaves a folder"
        cmp by1 "by$n" || fail "fit $kind by $n differs"
    done
done

# ---- killed ranks ----

set -- train ultra observed.tsv --batches 40 --batch 4 --group 2 --entities 200 --checkpoint-every 0.01
ranks 1 "$anycq" "$@" -o one >out 2>&1 || fail "one in one go: $(cat out)"
i=0 n_killed=0
while [ $i -lt "$kills" ]; do
    i=$((i + 1))
    timeout 900 mpirun --oversubscribe -n 2 "$anycq" "$@" -o "$folder/killed" >out 2>&1 &
    run=$!
    for _ in $(seq 600); do
        [ -e killed.checkpoint ] && break
        sleep 0.1
    done
    sleep "$(awk "BEGIN { srand($i); print 0.2 * rand() * $i }")"
    victim=$(pgrep -f "^$anycq train .* -o $folder/killed" | sed -n "$((1 + i % 2))p")
    if [ -n "$victim" ] && kill -9 "$victim" 2>/dev/null; then
        wait $run && [ ! -e killed ] && fail 'a killed rank is no failure'
        [ -e killed ] || grep -q 'signal 9' out || fail "a killed rank: $(cat out)"
        n_killed=$((n_killed + 1))
    else
        wait $run # it was faster
    fi
    if [ ! -e killed ]; then # with another number of ranks, also one
        ranks $((1 + 2 * (i % 2))) "$anycq" "$@" -o killed --resume >out 2>&1 || fail "resume: $(cat out)"
    fi
    same_weights one killed || fail "after kill $i the weights are others"
    rm -f killed*
done
echo "$n_killed of $kills were killed in time"
exit $status
