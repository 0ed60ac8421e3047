#!/bin/sh
# An interrupt at any moment: ask and suggest print whole lines of what was found and end with 130, a
# fit leaves what --resume goes on with, and nobody leaves a temporary file. Moments are drawn by the
# seed; a command that was faster ends as always, and so does one that has not begun: a shell starts
# it deaf to interrupts.
# usage: interrupts.sh ANYCQ SOURCE_DIR [TIMES [SEED]]     $ACQ_SANITIZED: half as many moments
set -u
anycq=$1 source=$2 times=${3:-${ACQ_SANITIZED:+3}} times=${times:-6} seed=${4:-0}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cp "$source/data/world/observed.tsv" "$work/world.tsv"
cd "$work" || exit 1
head -n 300 world.tsv >small.tsv

fail() {
    echo "FAILED: $1"
    cat err
    ls
    exit 1
}

# moment I MOST: milliseconds, as seconds.
moment() {
    awk -v i="$(($1 + 1000 * seed))" -v most="$2" \
        'BEGIN { srand(i); printf "%.3f", rand() * most / 1000 }'
}

# stop SECONDS COMMAND...: its exit code, and no longer than some seconds after the signal.
stop() {
    after=$1
    shift
    "$anycq" "$@" >out 2>err &
    pid=$!
    sleep "$after"
    kill -INT "$pid" 2>/dev/null
    signalled=$(date +%s%3N)
    # Its output is not ours: whoever waits for that would wait for the sleep.
    (sleep 60; kill -KILL "$pid") >/dev/null 2>&1 &
    guard=$!
    wait "$pid"
    code=$?
    waited=$(($(date +%s%3N) - signalled))
    kill "$guard" 2>/dev/null
    wait "$guard" 2>/dev/null
    if [ "$code" -eq 130 ]; then
        n_stopped=$((n_stopped + 1))
        n_found=$((n_found + ($(wc -l <out) > 1)))
        [ "$waited" -le "$longest" ] || longest=$waited
    fi
    return $code
}

# tell COMMAND: how it went; counts begin anew.
n_stopped=0 n_found=0 longest=0
tell() {
    echo "$1: $n_stopped of $i stopped, $n_found with answers, at most $longest ms after the signal"
    n_stopped=0 n_found=0 longest=0
}

# only NAME...: no other files are left.
only() {
    for file in * .*; do
        case " . .. out err kept world.tsv small.tsv world.tsv.calibrator $* " in
        *" $file "*) ;;
        *) fail "$file was left" ;;
        esac
    done
}

# whole: the lines of out have as many columns as the first one.
whole() {
    awk -F '\t' 'NR == 1 { n = NF } NF != n { exit 1 }' out || fail 'half a line'
}

query='Q(x, y) := exists z. acted_in(x, z) & acted_in(y, z) & born_in(x, y)'
facts='Q(x, z) := acted_in(x, z)'
denied='Q(x, z) := acted_in(x, z) & !directed(x, z)'
# Facts are there before anything is learnt, also where the time suffices for nothing else.
n=$(cut -f 2 world.tsv | grep -cx acted_in)
"$anycq" ask world.tsv "$facts" --all --time 0.5 --output-format tsv >out 2>err
code=$?
[ "$code" -eq 0 ] || [ "$code" -eq 3 ] || fail "ask of facts: exit $code"
[ "$(wc -l <out)" -gt "$n" ] || fail 'facts were not printed at once'

i=0
while [ "$i" -lt "$times" ]; do
    i=$((i + 1))
    case $((i % 3)) in 0) asked=$query ;; 1) asked=$facts ;; *) asked=$denied ;; esac
    [ $((i % 4)) -ne 0 ] || rm -f world.tsv.calibrator
    stop "$(moment "$i" 1500)" ask world.tsv "$asked" --all --time 30 --output-format tsv
    code=$?
    [ "$code" -eq 130 ] || [ "$code" -le 1 ] || [ "$code" -eq 3 ] || fail "ask: exit $code"
    whole
    only
done
[ "$n_stopped" -gt 0 ] || fail 'no ask was stopped'
tell ask

# Every second one finds what was learnt before, and is stopped among its rows.
"$anycq" suggest world.tsv >out 2>err || fail 'no suggestion'
mkdir kept && mv world.tsv.calibrator kept
i=0
while [ "$i" -lt "$times" ]; do
    i=$((i + 1))
    rm -f world.tsv.calibrator
    [ $((i % 2)) -eq 0 ] || cp kept/world.tsv.calibrator .
    stop "$(moment "$i" $((i % 2 == 0 ? 1500 : 700)))" \
        suggest world.tsv --top 5000 --time 30 --output-format tsv
    code=$?
    [ "$code" -eq 130 ] || [ "$code" -le 1 ] || [ "$code" -eq 3 ] || fail "suggest: exit $code"
    whole
    only
done
[ "$n_stopped" -gt 0 ] || fail 'no suggest was stopped'
tell suggest

i=0
while [ "$i" -lt "$(((times + 2) / 3))" ]; do
    i=$((i + 1))
    rm -rf c c.*
    stop "$(moment "$i" 4000)" fit small.tsv -o c --time 20
    code=$?
    only c c.svg c.fit
    [ "$code" -eq 0 ] && continue
    [ "$code" -eq 130 ] || fail "fit: exit $code"
    [ ! -e c ] || fail 'a stopped fit left a completion'
    "$anycq" fit small.tsv -o c --time 20 --resume >out 2>err || fail 'a fit does not go on'
    only c c.svg
done
tell fit
exit 0
