#!/bin/sh
# An interrupt at any moment: ask prints whole lines of what was found and ends with 130, a fit
# leaves what --resume goes on with. Moments are drawn by the seed; a command that was faster ends
# as always.
# usage: interrupts.sh ANYCQ SOURCE_DIR [TIMES]
set -u
anycq=$1 source=$2 times=${3:-6}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cp "$source/data/world/observed.tsv" "$work/world.tsv"
cd "$work" || exit 1
head -n 300 world.tsv >small.tsv

fail() {
    echo "FAILED: $1"
    cat err
    exit 1
}

# moment I MOST: milliseconds, as seconds.
moment() {
    awk -v i="$1" -v most="$2" 'BEGIN { srand(i); printf "%.3f", rand() * most / 1000 }'
}

# stop SECONDS COMMAND...: its exit code, and no longer than some seconds after the signal.
stop() {
    after=$1
    shift
    "$anycq" "$@" >out 2>err &
    pid=$!
    sleep "$after"
    kill -INT "$pid" 2>/dev/null
    (sleep 60; kill -KILL "$pid" 2>/dev/null) &
    guard=$!
    wait "$pid"
    code=$?
    kill "$guard" 2>/dev/null
    wait "$guard" 2>/dev/null
    return $code
}

query='Q(x, y) := exists z. acted_in(x, z) & acted_in(y, z) & born_in(x, y)'
facts='Q(x, z) := acted_in(x, z)'
n_stopped=0
i=0
while [ "$i" -lt "$times" ]; do
    i=$((i + 1))
    [ $((i % 2)) -eq 0 ] && asked=$query || asked=$facts
    stop "$(moment "$i" 1500)" ask world.tsv "$asked" --all --time 30 --output-format tsv
    code=$?
    [ "$code" -eq 130 ] || [ "$code" -le 1 ] || [ "$code" -eq 3 ] || fail "ask: exit $code"
    [ "$code" -eq 130 ] && n_stopped=$((n_stopped + 1))
    awk -F '\t' 'NR == 1 { n = NF } NF != n { exit 1 }' out || fail 'half a line'
done
[ "$n_stopped" -gt 0 ] || fail 'no ask was stopped'

i=0
while [ "$i" -lt "$((times / 3))" ]; do
    i=$((i + 1))
    rm -rf c c.*
    stop "$(moment "$i" 4000)" fit small.tsv -o c --time 20
    code=$?
    [ "$code" -eq 0 ] && continue
    [ "$code" -eq 130 ] || fail "fit: exit $code"
    [ ! -e c ] || fail 'a stopped fit left a completion'
    "$anycq" fit small.tsv -o c --time 20 --resume >out 2>err || fail 'a fit does not go on'
done
exit 0
