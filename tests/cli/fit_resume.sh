#!/bin/sh
# A fit that is interrupted exits with 130, keeps its folder and nothing else; it is not begun anew
# by accident, and --resume ends at the completion of a fit in one go.
# usage: fit_resume.sh ANYCQ SOURCE_DIR
set -u
anycq=$1
cd "$2/tests/cli/data" || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
small='--rank 4 --epochs 3 --hold-share 0.2'

fail()
{
    echo "FAILED: $1"
    cat "$work/err"
    exit 1
}

# usage: fit NAME [OPTION]...
fit()
{
    name=$1
    shift
    # $small is a list of words.
    # shellcheck disable=SC2086
    "$anycq" fit films.tsv -o "$work/$name" $small "$@" >"$work/out" 2>"$work/err"
}

fit whole || fail 'fit'
[ ! -e "$work/whole.fit" ] || fail 'the folder was left behind'

# Asked to stop when this is there: at once, and when the calibrators are being fitted.
for moment in halves.fit halves.fit/rest.completion; do
    rm -rf "$work/halves" "$work/halves.fit"
    # shellcheck disable=SC2086
    "$anycq" fit films.tsv -o "$work/halves" $small >"$work/out" 2>"$work/err" &
    pid=$!
    until [ -e "$work/$moment" ]; do
        kill -0 "$pid" 2>/dev/null || break
    done
    kill -INT "$pid" 2>/dev/null
    wait "$pid"
    code=$?
    [ "$code" -eq 130 ] || fail "exit $code: the fit had ended before it was interrupted"
    grep -q 'the same command with --resume goes on' "$work/err" || fail 'not told how to go on'
    [ -e "$work/halves.fit" ] || fail 'no folder'
    [ ! -e "$work/halves" ] || fail 'an interrupted fit wrote a completion'
    fit halves && fail 'an interrupted fit was begun anew'
    grep -q 'halves.fit: this is of a fit that has not ended' "$work/err" || fail 'refusal'
    fit halves --resume --seed 2 && fail 'resumed with other options'
    grep -q 'made with seed 1, not 2; give the same' "$work/err" || fail 'the option is not named'
    fit halves --resume --threads 1 || fail 'resume'
    cmp "$work/whole" "$work/halves" || fail 'a resumed fit gave another completion'
    [ ! -e "$work/halves.fit" ] || fail 'the folder was left behind'
done

# In pieces: what was learnt and the links of the pieces that are whole are gone on with, also after
# a kill and with half a piece at the end.
world=$2/data/world/observed.tsv

# usage: fit_pieces NAME [OPTION]...
fit_pieces()
{
    name=$1
    shift
    "$anycq" fit "$world" -o "$work/$name" --pieces --rank 4 --epochs 1 "$@" >"$work/out" 2>"$work/err"
}

# Ends a fit by a signal when what it has learnt is there; false: it was quicker.
stop_pieces()
{
    rm -rf "$work/some" "$work/some.fit"
    "$anycq" fit "$world" -o "$work/some" --pieces --rank 4 --epochs 1 >"$work/out" 2>"$work/err" &
    pid=$!
    until [ -e "$work/some.fit/rest.calibrator" ]; do
        kill -0 "$pid" 2>/dev/null || break
    done
    kill -"$1" "$pid" 2>/dev/null
    wait "$pid"
    [ ! -e "$work/some" ]
}

fit_pieces pieces || fail 'fit in pieces'
for signal in INT KILL; do
    for try in 1 2 3 4 5 6 7 8; do
        if stop_pieces "$signal"; then
            break
        fi
        [ "$try" -lt 8 ] || fail "$signal: the fit had always ended before it was interrupted"
    done
    [ -e "$work/some.fit" ] || fail "$signal: no folder"
    [ ! -e "$work/some.fit/whole.pieces" ] || printf 'half' >>"$work/some.fit/whole.pieces"
    fit_pieces some --resume || fail "$signal: resume in pieces"
    cmp "$work/pieces" "$work/some" || fail "$signal: a fit resumed in pieces gave other links"
    [ ! -e "$work/some.fit" ] || fail "$signal: the folder was left behind"
done

# ULTRA's weights, tuned to each sample.
fit tuned --predictor ultra --tune 0.2 || fail 'tune'
[ ! -e "$work/tuned.fit" ] || fail 'the folder of a tuned fit was left behind'
grep -a -q 'ultra+neighbours' "$work/tuned" || fail 'the completion of a tuned fit'
# Models that a fit keeps are those that the next one would have trained.
fit kept --predictor complex+rules --keep || fail 'fit --keep'
[ -e "$work/kept.fit/whole.rules" ] || fail 'no models were kept'
[ ! -e "$work/kept.fit/rest.completion" ] || fail 'more than models was kept'
fit kept --predictor complex+rules && fail 'kept models were trained again'
fit kept --predictor complex+rules --rank 5 --resume && fail 'models of another rank were used'
grep -q 'made with rank 4, not 5; give the same' "$work/err" || fail 'the option is not named'
fit kept --predictor rules --floor 0.01 --resume --keep || fail 'kept models, other options'
cp "$work/kept" "$work/again"
fit alone --predictor rules --floor 0.01 || fail 'fit of rules'
cmp "$work/again" "$work/alone" || fail 'kept models gave another completion'
fit kept --predictor complex+rules --resume || fail 'kept models, used again'
[ ! -e "$work/kept.fit" ] || fail 'kept models were left behind'
exit 0
