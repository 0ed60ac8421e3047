#!/bin/sh
# An interrupt ends the command quietly with exit code 130; one that writes a file takes what is
# half written away, also when it waits for a source that says nothing, and on termination too.
# usage: signals.sh ANYCQ SOURCE_DIR
set -u
anycq=$1
cd "$2/tests/cli/data" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkfifo "$work/pipe" || exit 1
mkdir "$work/new" || exit 1

fail()
{
    echo "FAILED: $1"
    cat "$work/err"
    exit 1
}

# `sh` starts background jobs with interrupts ignored, so the handler that the command sets is
# what is tested. The pipe opens once the command reads it, with its handler in place.
"$anycq" ask films.tsv --queries "$work/pipe" --predictor observed >"$work/out" 2>"$work/err" &
pid=$!
exec 3>"$work/pipe"
kill -INT "$pid"
wait "$pid"
code=$?
exec 3>&-
[ "$code" -eq 130 ] || fail "exit $code after an interrupt"
[ ! -s "$work/out" ] && [ ! -s "$work/err" ] || fail 'not quiet'

# usage: stop_import NAME EXIT_CODE SIGNAL...; the pipe stays open and silent after some facts.
stop_import()
{
    name=$1 wanted=$2
    shift 2
    "$anycq" import "$work/pipe" -o "$work/new/g.acq" >"$work/out" 2>"$work/err" &
    pid=$!
    exec 3>"$work/pipe"
    cat films.tsv >&3
    for signal; do
        kill "-$signal" "$pid"
    done
    wait "$pid"
    code=$?
    exec 3>&-
    [ "$code" -eq "$wanted" ] || fail "$name: exit $code"
    [ ! -s "$work/out" ] || fail "$name: printed on standard output"
    [ -z "$(ls -A "$work/new")" ] || fail "$name: left $(ls -A "$work/new")"
}

stop_import 'import interrupted' 130 INT
stop_import 'import interrupted twice' 130 INT INT
stop_import 'import terminated' 130 TERM

# An import that is refused, or interrupted then, leaves the file of the one that is at work.
"$anycq" import "$work/pipe" -o "$work/new/g.acq" >"$work/out" 2>"$work/err" &
pid=$!
exec 3>"$work/pipe"
cat films.tsv >&3
"$anycq" import films.tsv -o "$work/new/g.acq" >"$work/out2" 2>"$work/err2" && fail 'two imports'
grep -q 'another import' "$work/err2" || fail 'not refused because of the other import'
[ -e "$work/new/g.acq.partial" ] || fail 'a refused import took the file of another away'
exec 3>&-
wait "$pid" || fail 'the first of two imports'
rm "$work/new/g.acq"

# What was there before stays.
"$anycq" import films.tsv -o "$work/kept.acq" >"$work/out" 2>"$work/err" || fail 'import'
cp "$work/kept.acq" "$work/copy.acq"
"$anycq" import "$work/pipe" -o "$work/kept.acq" >"$work/out" 2>"$work/err" &
pid=$!
exec 3>"$work/pipe"
cat truth.tsv >&3
kill -INT "$pid"
wait "$pid"
exec 3>&-
cmp "$work/kept.acq" "$work/copy.acq" || fail 'an interrupted import changed the store'
"$anycq" info "$work/kept.acq" --verify >"$work/out" 2>"$work/err" || fail 'verify'

# Facts that were not all read are not added, and an export without its source writes nothing.
"$anycq" add "$work/kept.acq" --from "$work/pipe" >"$work/out" 2>"$work/err" &
pid=$!
exec 3>"$work/pipe"
cat truth.tsv >&3
kill -INT "$pid"
wait "$pid"
[ $? -eq 130 ] || fail 'add interrupted'
exec 3>&-
[ ! -s "$work/out" ] || fail 'an interrupted add reported something'
"$anycq" export "$work/kept.acq" | sort >"$work/after"
sort films.tsv | diff - "$work/after" || fail 'an interrupted add changed the store'
"$anycq" export "$work/pipe" -o "$work/new/out.tsv" >"$work/out" 2>"$work/err" &
pid=$!
exec 3>"$work/pipe"
kill -INT "$pid"
wait "$pid"
[ $? -eq 130 ] || fail 'export interrupted'
exec 3>&-
[ -z "$(ls -A "$work/new")" ] || fail "export left $(ls -A "$work/new")"

# A completion that is interrupted once its file is begun leaves neither that nor another; what was
# there stays. Shipped weights over a graph of some thousand facts take seconds.
echo before >"$work/new/w.completion"
"$anycq" complete ../../../data/world/observed.tsv -o "$work/new/w.completion" --predictor ultra \
    >"$work/out" 2>"$work/err" &
pid=$!
# The file has no name until it is whole, where the system can do that.
until [ "$(ls -A "$work/new" | wc -l)" -gt 1 ] || ls -l "/proc/$pid/fd" | grep -q "$work/new"; do
    kill -0 "$pid" 2>/dev/null || break
done
kill -INT "$pid"
wait "$pid"
[ $? -eq 130 ] || fail 'complete interrupted'
[ "$(ls -A "$work/new")" = w.completion ] || fail "complete left $(ls -A "$work/new")"
[ "$(cat "$work/new/w.completion")" = before ] || fail 'complete changed what was there'
rm "$work/new/w.completion"

# After a whole import an interrupt has nothing to take away: the pipe ends, the store stands.
"$anycq" import "$work/pipe" -o "$work/new/g.acq" >"$work/out" 2>"$work/err" &
pid=$!
cat films.tsv >"$work/pipe"
wait "$pid" || fail 'import from a pipe'
[ "$(ls -A "$work/new")" = g.acq ] || fail "left $(ls -A "$work/new")"
exit 0
