#!/bin/sh
# A pipe, a folder or a device in the place of a completion or a model is an error at once, not
# something to wait for; so is a pipe that is named twice.
# usage: special_files.sh ANYCQ SOURCE_DIR
set -u
anycq=$1
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
cp "$2/tests/cli/data/films.tsv" "$T/g.tsv"
mkfifo "$T/pipe" "$T/g.tsv.completion" && mkdir "$T/folder" || exit 1
status=0

# refused WORD COMMAND...: exit 2, and a message with the word.
refused()
{
    word=$1
    shift
    timeout 20 "$anycq" "$@" >"$T/out" 2>&1
    code=$?
    if [ $code -ne 2 ] || ! grep -q "regular file, not a $word" "$T/out"; then
        echo "FAILED: $* gave $code:"
        cat "$T/out"
        status=1
    fi
}

for kind in completion complex nbfnet ultra; do
    refused pipe ask "$T/g.tsv" 'Q(x) := directed(x, y)' --predictor "$kind:$T/pipe"
    refused folder ask "$T/g.tsv" 'Q(x) := directed(x, y)' --predictor "$kind:$T/folder"
    refused device ask "$T/g.tsv" 'Q(x) := directed(x, y)' --predictor "$kind:/dev/zero"
done
refused pipe ask "$T/g.tsv" 'Q(x) := directed(x, y)'

# A pipe gives what it holds once: naming it twice is refused before anybody waits for it.
twice()
{
    timeout 20 "$anycq" "$@" >"$T/out" 2>&1 </dev/null
    code=$?
    if [ $code -ne 2 ] || ! grep -q 'pipe can be read once' "$T/out"; then
        echo "FAILED: $* gave $code:"
        cat "$T/out"
        status=1
    fi
}

ln -s pipe "$T/link"
twice ask "$T/pipe" 'Q(x) := directed(x, y)' --predictor "perfect:$T/link"
twice eval links --observed "$T/pipe" --truth "$T/pipe" --predictor observed
twice generate small --observed "$T/pipe" --complete "$T/link" -o "$T/new"
twice ask "$T/pipe" --queries "$T/pipe" --predictor observed

# A server whose token comes from a pipe can be ended while it waits for it.
timeout -k 10 1 "$anycq" serve "$T/g.tsv" --predictor observed --port 0 --token-file "$T/pipe" \
    >"$T/out" 2>&1 </dev/null
code=$?
if [ $code -eq 137 ]; then
    echo "FAILED: serve with a token from a pipe does not end"
    status=1
fi
exit $status
