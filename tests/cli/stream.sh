#!/bin/sh
# `--queries -` answers each line as it comes: the next query is written only when the answer to the
# one before has been read, so that an answer held back hangs the test (until `timeout` ends it).
# usage: stream.sh ANYCQ SOURCE_DIR
set -u
anycq=$1
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
cd "$2/tests/cli/data" || exit 1
mkfifo "$T/to" "$T/from"
status=0

# expect TEXT: the next line of the answers.
expect()
{
    read -r line <&4 || line='(end)'
    [ "$line" = "$1" ] || { echo "FAILED: \"$line\" instead of \"$1\""; status=1; }
}

for threads in 1 2; do
    timeout 60 "$anycq" ask films.tsv --queries - --predictor observed --threads $threads \
        <"$T/to" >"$T/from" 2>"$T/err" &
    exec 3>"$T/to" 4<"$T/from"
    for film in Oppenheimer Inception; do
        printf 'Q(x) := directed(x, "%s")\n# a comment\n' $film >&3
        [ $film = Oppenheimer ] && number=1
        [ $film = Inception ] && { expect ''; number=3; }
        expect "$number: Q(x) := directed(x, \"$film\")"
        expect 'x = Christopher Nolan  score 1  observed'
    done
    # The last line needs no line end.
    printf 'Q(x) := directed(x, "Barbie")' >&3
    exec 3>&-
    expect ''
    expect '5: Q(x) := directed(x, "Barbie")'
    expect 'x = Greta Gerwig  score 1  observed'
    expect '(end)'
    exec 4<&-
    wait $! || { echo "FAILED: exit code $?"; status=1; }
    [ ! -s "$T/err" ] || { cat "$T/err"; status=1; }
done

mkfifo "$T/queries" "$T/statements"
timeout 60 "$anycq" sql --queries - <"$T/queries" >"$T/statements" &
exec 3>"$T/queries" 4<"$T/statements"
printf 'Q(x) := directed(x, "Barbie")\n' >&3
expect "SELECT DISTINCT f1.head AS \"x\" FROM facts AS f1 WHERE f1.relation = 'directed' AND f1.tail = 'Barbie';"
exec 3>&-
wait $! || { echo "FAILED: exit code $?"; status=1; }
exit $status
