#!/bin/sh
# Clients that people have: curl, rdflib's SPARQLStore (python3-rdflib), the official clients of the
# Model Context Protocol over HTTP and standard input, both revisions, and its conformance suite, as
# far as they are installed. $ACQ_NPM (default: /usr/local/lib or ../npm beside the sources) is a folder
# with node_modules/@modelcontextprotocol/{client,sdk,conformance}; the suite wants node 22.
# usage: clients.sh ANYCQ SOURCE_DIR
set -u
anycq=$1 source=$2
npm=${ACQ_NPM:-$source/../npm}
folder=$(mktemp -d) || exit 1
server=
trap '[ -n "$server" ] && kill "$server"; rm -rf "$folder"' EXIT
status=0 n=0

fail()
{
    echo "FAILED: $*"
    status=1
}

cat >"$folder/people.ttl" <<'END'
@prefix : <http://e/> . @prefix x: <http://www.w3.org/2001/XMLSchema#> .
:ann :knows :bob , :cy ; :name "Ann"@en ; :age 41 ; :note "a\r\nb\u000B\uFFFE\r" . :bob :knows :cy ; :name "B\"o<b>" ; :age 7.5 .
END
"$anycq" serve "$folder/people.ttl" --port 0 --predictor observed 2>"$folder/log" &
server=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    url=$(sed -n 's/.*serving at \(.*\)\/$/\1/p' "$folder/log")
    [ -n "$url" ] && break
    sleep 0.2
done
[ -n "$url" ] || { cat "$folder/log"; exit 1; }

if command -v curl >/dev/null; then
    n=$((n + 1))
    query='PREFIX : <http://e/> SELECT ?x ?n { ?x :knows :cy ; :name ?n } ORDER BY ?x'
    curl -sfG --data-urlencode "query=$query" -H 'Accept: text/csv' "$url/sparql" >"$folder/out"
    printf 'x,n\r\nhttp://e/ann,Ann\r\nhttp://e/bob,"B""o<b>"\r\n' | cmp -s - "$folder/out" ||
        fail "curl got $(cat "$folder/out")"
    curl -sf --data-binary "$query" -H 'Content-Type: application/sparql-query' \
        -H 'Accept: application/sparql-results+xml' "$url/sparql/people" |
        grep -q '<literal xml:lang="en">Ann</literal>' || fail "curl got no XML"
    curl -sf --data-binary 'SELECT ?n { ?x <http://e/note> ?n }' -H 'Content-Type: application/sparql-query' \
        -H 'Accept: application/sparql-results+xml' "$url/sparql" | tr '\n' '~' |
        grep -q "<literal>a&#13;~b$(printf '\357\277\275\357\277\275')&#13;</literal>" || fail "curl got other line ends in XML"
    curl -sf -H 'Accept: application/x-ndjson' "$url/api/ask?query=knows(x,y)" | tail -n 1 |
        grep -q '^{"result":{"outcome":"answered"' || fail "curl got no lines"
    curl -sf -d query='CONSTRUCT { ?y <http://e/of> ?x } WHERE { ?x <http://e/knows> ?y }' \
        -H 'Accept: text/turtle' "$url/sparql" | grep -q '^<http://e/bob> <http://e/of> <http://e/ann> .$' ||
        fail "curl got no statement"
else
    echo "skipped: curl is not installed"
fi

python=/usr/bin/python3 # Debian's, which sees Debian's packages
[ -x "$python" ] || python=python3
if "$python" -c 'import rdflib' 2>/dev/null; then
    n=$((n + 1))
    "$python" "$source/tests/server/client_rdflib.py" "$url" || fail "rdflib"
else
    echo "skipped: python3-rdflib is not installed"
fi

if [ -d "$npm/node_modules/@modelcontextprotocol/client" ] && command -v node >/dev/null; then
    n=$((n + 1))
    node "$source/tests/server/client_mcp.mjs" "$npm" "$url/mcp" "$anycq" "$folder/people.ttl" ||
        fail "clients of MCP"
else
    echo "skipped: @modelcontextprotocol/client and sdk are not in $npm/node_modules"
fi

node=$npm/node_modules/.bin/node
[ -x "$node" ] || node=node
suite=$npm/node_modules/@modelcontextprotocol/conformance/dist/index.js
if [ -f "$suite" ] && "$node" "$suite" --version >/dev/null 2>&1; then
    n=$((n + 1))
    # The other scenarios call tools that a server made for the suite has.
    for scenario in server-initialize ping tools-list dns-rebinding-protection; do
        "$node" "$suite" server --url "http://localhost:${url##*:}/mcp" --scenario "$scenario" \
            >"$folder/out" 2>&1 || fail "conformance: $scenario: $(tail -n 5 "$folder/out")"
    done
else
    echo "skipped: the conformance suite of MCP is not in $npm/node_modules"
fi
[ "$n" -gt 0 ] || echo "skipped: no client is there"
exit $status
