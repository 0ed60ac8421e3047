#!/bin/sh
# No command writes over a file that it reads, however the file is spelled or linked; a link that
# points to nothing is not replaced. Every refusal has exit code 2 and leaves the bytes alone.
# usage: overwrite.sh ANYCQ SOURCE_DIR
set -u
anycq=$1
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
cd "$T" || exit 1
status=0 n=0
cp "$2/tests/cli/data/films.tsv" g.tsv
cp "$2/tests/cli/data/truth.tsv" truth.tsv

run()
{
    "$anycq" "$@" >out 2>err </dev/null
}

run import g.tsv -o g.acq || exit 1
run complete g.tsv --predictor observed -o c || exit 1
run complete g.tsv --predictor observed --shard 1/2 -o s1 || exit 1
run complete g.tsv --predictor observed --shard 2/2 -o s2 || exit 1
run train complex g.tsv -o m --epochs 1 --rank 4 || exit 1
mkdir folder sub m.checkpoint.d f.fit
printf 'a\tr\tb\n' >folder/train.txt
cp m f.fit/ultra

# refused FILE COMMAND...: FILE is read, and the command would write over it.
refused()
{
    file=$1
    shift
    n=$((n + 1))
    before=$(cksum "$file")
    run "$@"
    code=$?
    [ "$code" -eq 2 ] || { echo "FAILED: exit $code instead of 2: $*"; cat err; status=1; }
    [ "$(cksum "$file")" = "$before" ] || { echo "FAILED: $file was written: $*"; status=1; }
    grep -q 'name another' err || { echo "FAILED: $*: $(cat err)"; status=1; }
}

# Every way to name g.tsv, and every command that writes.
ln -s "$T/g.tsv" symbolic
ln -s symbolic second
ln g.tsv hard
for name in g.tsv ./g.tsv sub/../g.tsv symbolic second hard; do
    refused g.tsv complete g.tsv --predictor observed -o "$name"
    refused g.tsv export g.tsv --format csv -o "$name"
    refused g.tsv import g.tsv -o "$name"
    refused g.tsv fit g.tsv -o "$name"
    refused g.tsv train complex g.tsv -o "$name" --epochs 1
done
for kind in nbfnet ultra policy; do
    refused g.tsv train $kind truth.tsv g.tsv -o hard --time 1
done
refused truth.tsv fit g.tsv --earlier truth.tsv -o ./truth.tsv
refused truth.tsv fit g.tsv --earlier truth.tsv -o x --svg ./truth.tsv
refused m fit g.tsv --ultra m --predictor ultra -o ./m
refused m complete g.tsv --predictor complex:m -o ./m
refused c complete g.tsv --predictor completion:c -o ./c
refused truth.tsv complete g.tsv --predictor perfect:truth.tsv -o ./truth.tsv
refused m train complex g.tsv --warm m -o ./m --epochs 1
refused s1 merge s1 s2 -o ./s1
refused folder/train.txt export folder -o folder/train.txt
refused folder/train.txt import folder -o folder/train.txt
refused g.acq export g.acq -o g.acq
refused g.acq draw 'Q(x) := r(x, y)' -o g.acq
refused truth.tsv generate small --observed g.tsv --complete truth.tsv -o ./truth.tsv
refused g.tsv generate small --observed g.tsv --complete truth.tsv -o hard
# What a graph brings with it: the log of a store, the completion that auto takes.
cp c g.acq-wal.keep
: >g.acq-wal
refused g.acq-wal export g.acq -o g.acq-wal
refused g.acq-wal draw 'Q(x) := r(x, y)' -o ./g.acq-wal
refused g.acq-wal export truth.tsv -o g.acq-wal
rm -f g.acq-wal
cp c g.tsv.completion
refused g.tsv.completion complete g.tsv -o ./g.tsv.completion
rm g.tsv.completion
# What a command writes beside its output.
cp g.tsv g.partial
refused g.partial import g.partial -o g
cp g.tsv fit.svg
refused fit.svg fit fit.svg --format tsv -o fit
refused f.fit/ultra fit g.tsv --predictor ultra --ultra f.fit/ultra -o f
cp g.tsv p.csv
refused p.csv train policy p.csv --format tsv -o p --time 1
cp g.tsv q.checkpoint
refused q.checkpoint train complex q.checkpoint --format tsv -o q --epochs 1

# A link to nothing.
ln -s nowhere dangling
for command in 'complete g.tsv --predictor observed' 'export g.tsv' 'import g.tsv' 'fit g.tsv' \
    'train complex g.tsv --epochs 1' 'merge s1 s2' 'draw Q(x):=r(x,y)' \
    'generate small --observed g.tsv --complete truth.tsv'; do
    n=$((n + 1))
    # shellcheck disable=SC2086
    run $command -o dangling
    code=$?
    [ "$code" -eq 2 ] || { echo "FAILED: exit $code instead of 2: $command -o dangling"; status=1; }
    grep -q 'dangling: .*link' err || { echo "FAILED: $command: $(cat err)"; status=1; }
    [ -L dangling ] && [ ! -e nowhere ] || { echo "FAILED: $command replaced the link"; status=1; }
    rm -f dangling nowhere
    ln -s nowhere dangling
done

# What stays possible: another file, a link to another file, an output that is replaced.
cp c old
ln -s old link
run complete g.tsv --predictor observed -o link || { echo "FAILED: $(cat err)"; status=1; }
[ -L link ] || { echo 'FAILED: a link to a file was replaced'; status=1; }
run export g.tsv -o folder/new.tsv || { echo "FAILED: $(cat err)"; status=1; }
run import g.tsv -o g.acq || { echo "FAILED: $(cat err)"; status=1; }
echo "$n cases"
exit $status
