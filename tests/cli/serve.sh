#!/bin/sh
# What a running server does besides answering: SIGHUP opens the graphs anew, one origin may read from web
# pages, a client that goes away leaves no question behind, SIGTERM ends it.
# usage: serve.sh ANYCQ SOURCE_DIR
set -u
anycq=$1
command -v curl >/dev/null || { echo 'skipped: no curl'; exit 77; }
T=$(mktemp -d) || exit 1
server=
leave() {
    [ -z "$server" ] || kill "$server" 2>/dev/null
    rm -rf "$T"
}
trap leave EXIT
fail() {
    echo "FAILED: $*"
    cat "$T/log"
    exit 1
}

"$anycq" import "$2/tests/cli/data/films.tsv" -o "$T/g.acq" >/dev/null || exit 1
# Thirteen entities that all differ, of twelve: proving that there are none takes hours.
awk 'BEGIN { for (i = 0; i < 12; i++) for (j = 0; j < 12; j++) if (i != j) printf "n%d\tdiffers\tn%d\n", i, j }' \
    >"$T/holes.tsv"
long=$(awk 'BEGIN { printf "Q(a0) := exists a1"; for (i = 2; i < 13; i++) printf ", a%d", i; printf ". "
    for (i = 0; i < 13; i++) for (j = 0; j < i; j++) printf "%sdiffers(a%d, a%d)", (i + j == 1 ? "" : " & "), i, j }')
mkfifo "$T/said"
"$anycq" serve "$T/g.acq" "$T/holes.tsv" --predictor observed --port 0 --cors https://app.example --workers 1 \
    --time 60 2>"$T/said" >/dev/null &
server=$!
exec 3<"$T/said"
read -r line <&3
echo "$line" >"$T/log"
url=$(echo "$line" | sed 's/.*\(http[^ ]*\).*/\1/')
cat <&3 >>"$T/log" &

facts() {
    curl -s "${url}api/graph?graph=g" | grep -o '"facts":[0-9]*' | sed 's/.*://;q'
}
before=$(facts)
"$anycq" add "$T/g.acq" 'directed(Somebody New, Something New)' >/dev/null || fail 'cannot add'
[ "$(facts)" = "$before" ] || fail 'the fact was seen before the graph was opened anew'
kill -HUP "$server"
i=0
until [ "$(facts)" = $((before + 1)) ]; do
    i=$((i + 1))
    [ $i -lt 200 ] || fail "after SIGHUP the graph has $(facts) facts, not $((before + 1))"
    sleep 0.1
done
mv "$T/g.acq" "$T/away"
kill -HUP "$server"
i=0
until grep -q 'stay as they are' "$T/log"; do
    i=$((i + 1))
    [ $i -lt 200 ] || fail 'a graph that cannot be opened anew is not told'
    sleep 0.1
done
[ "$(facts)" = $((before + 1)) ] || fail 'a graph that cannot be opened anew was lost'

for origin in https://app.example https://other.example; do
    curl -s -D - -o /dev/null -H "Origin: $origin" "${url}api/graph" |
        grep -qi '^Access-Control-Allow-Origin: https://app\.example' || fail "the origin for $origin"
done
[ "$(curl -s -o /dev/null -w '%{http_code}' -X OPTIONS -H 'Origin: https://app.example' \
    -H 'Access-Control-Request-Method: POST' "${url}api/ask")" = 204 ] || fail 'the question before a POST'

# With one worker the next question would wait for the first one's whole minute.
curl -s -m 1 -G "${url}api/ask" --data-urlencode graph=holes --data-urlencode "query=$long" >/dev/null
[ $? -eq 28 ] || fail 'the long question was answered'
curl -s -m 20 -G "${url}api/ask" --data-urlencode graph=holes --data-urlencode 'query=Q(x) := differs("n1", x)' |
    grep -q '"outcome":"answered"' || fail 'a client that went away keeps the worker'

kill -TERM "$server"
wait "$server" || fail "SIGTERM: exit $?"
server=

# A graph that was written to goes on with what it has learnt, and learns anew beside that: nobody waits.
awk 'NR % 2 == 0' "$2/data/world/observed.tsv" >"$T/half.tsv"
"$anycq" import "$T/half.tsv" -o "$T/half.acq" >/dev/null || exit 1
: >"$T/log" # not the address of the server before
"$anycq" serve "$T/half.acq" --port 0 --writable 2>"$T/log" &
server=$!
i=0
until grep -q 'serving at' "$T/log"; do
    i=$((i + 1))
    [ $i -lt 1200 ] || fail 'the graph is not served after two minutes'
    sleep 0.1
done
url=$(sed -n 's/.*\(http[^ ]*\).*/\1/p' "$T/log")
add() { # FIRST LAST RELATION
    awk -v i="$1" -v n="$2" -v r="$3" 'BEGIN { printf "{\"facts\":["; for (; i <= n; i++)
        printf "{\"head\":\"Body %d\",\"relation\":\"%s\",\"tail\":\"France\"}%s", i, r, i < n ? "," : "" ; print "]}" }' |
        curl -s -H 'Content-Type: application/json' -d @- "${url}api/add" | grep -q '"added"' || fail "add $1 to $2"
}
asks() {
    curl -s -G "${url}api/ask" --data-urlencode 'query=citizen_of(x, "Italy")' -d new=true -d min_p=0.01 |
        grep -q '"kind":"predicted"' || fail 'nothing is predicted after a write'
}
asks
kept=$(ls -i "$T/half.acq.calibrator") || fail 'what was learnt is not kept'
add 1 5 citizen_of
add 6 6 is_new_here
asks
[ "$(ls -i "$T/half.acq.calibrator")" = "$kept" ] || fail 'six new facts made it learn anew'
add 7 80 citizen_of
asks
[ "$(ls -i "$T/half.acq.calibrator")" = "$kept" ] || fail 'a question waited until it had learnt anew'
i=0
while [ "$(ls -i "$T/half.acq.calibrator")" = "$kept" ]; do
    i=$((i + 1))
    [ $i -lt 1200 ] || fail 'it has not learnt anew after two minutes'
    sleep 0.1
done
asks
add 81 200 citizen_of
kill -TERM "$server"
wait "$server" || fail "SIGTERM while it learns anew: exit $?"
server=

# While it learns it ends as well, and serves nothing first.
cp "$2/data/world/observed.tsv" "$T/world.tsv"
"$anycq" serve "$T/world.tsv" --port 0 2>"$T/log" &
server=$!
sleep 0.5
kill -TERM "$server"
wait "$server"
status=$?
server=
[ $status -eq 0 ] || [ $status -eq 130 ] || fail "SIGTERM while it learns: exit $status"
grep -q 'serving at' "$T/log" && fail 'SIGTERM while it learns waited for that to end'
exit 0
