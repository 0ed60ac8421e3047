#!/bin/sh
# ComplEx with vectors that --memory has no room for: refused, in buckets trained, also by a fit in
# pieces, which says so at the start; a killed training goes on; nothing is left on the disk.
# usage: buckets.sh ANYCQ
set -u
anycq=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
status=0

fail()
{
    echo "FAILED: $*"
    status=1
}

weights()
{
    length=$(od -An -tu8 -N8 "$1" | tr -d ' ')
    tail -c "+$((length + 9))" "$1"
}

# 20,000 entities; vectors and sums of rank 1024 take 330 MB.
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "e%d\tnext\te%d\n", i, (i * 7 + 1) % 20000 }' >graph.tsv
train="train complex graph.tsv --rank 1024 --batch 512 --threads 1 --memory 260 --candidates 300"
# $train is a list of words.
# shellcheck disable=SC2086
"$anycq" $train -o all --epochs 0.02 >out 2>&1 && fail 'memory has room for all'
grep -q 'memory' out || fail "without buckets: $(cat out)"
rm -f all*
# shellcheck disable=SC2086
"$anycq" $train -o some --epochs 0.05 --buckets 8 >out 2>&1 || fail "8 buckets: $(cat out)"
[ "$(wc -c <some)" -gt 160000000 ] || fail 'a model of all entities'

# killed FIRST OPTION...: a killed training goes on to the weights of FIRST.
killed()
{
    first=$1
    shift
    # shellcheck disable=SC2086
    "$anycq" $train -o again --epochs 0.05 --checkpoint-every 0.001 "$@" >out 2>&1 &
    run=$!
    for _ in $(seq 600); do
        [ -e again.checkpoint ] && break
        sleep 0.05
    done
    kill -9 $run 2>/dev/null
    wait $run 2>/dev/null
    if [ ! -e again ]; then
        # shellcheck disable=SC2086
        "$anycq" $train -o again --epochs 0.05 "$@" --resume >out 2>&1 || fail "resume: $(cat out)"
    fi
    weights "$first" >a
    weights again >b
    cmp a b || fail "a killed training went on to other weights: $*"
    rm -f a b again* # a half-written checkpoint of the killed one may lie there
}

killed some --buckets 8
# shellcheck disable=SC2086
"$anycq" $train -o half --epochs 0.05 --buckets 8 --bf16-buckets >out 2>&1 || fail "halves: $(cat out)"
cmp -s some half && fail 'halves are other vectors'
killed half --buckets 8 --bf16-buckets
left=$(ls | grep -v -e '^graph.tsv' -e '^some$' -e '^half$' -e '^out$')
[ -z "$left" ] || fail "left on the disk: $left"
exit $status
