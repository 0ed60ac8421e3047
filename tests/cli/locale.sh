#!/bin/sh
# Where numbers have a decimal comma, in the environment and in the program itself, every command reads and
# writes what it does elsewhere: fit, predictions, shell, serve, reproduce, files and pictures.
# usage: locale.sh ANYCQ SOURCE_DIR COMMAS_LIBRARY
set -u
anycq=$1 source=$2 commas=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir locales plain german
localedef -i de_DE -f UTF-8 locales/de_DE.UTF-8 >/dev/null 2>&1
[ -d locales/de_DE.UTF-8 ] || { echo "skipped: no localedef, or no German locale"; exit 77; }

grep -E '	(born_in|citizen_of|capital_of)	' "$source/data/world/world.tsv" >all.tsv
awk 'NR % 12 != 5' all.tsv >train.tsv
awk 'NR % 12 == 5' all.tsv >valid.tsv

# run ARGUMENT...: the command in $where; in place of this shell if $exec is exec
exec=
run() {
    if [ $where = german ]; then
        $exec env LOCPATH="$work/locales" LC_ALL=de_DE.UTF-8 LD_PRELOAD="$commas" "$anycq" "$@"
    else
        $exec env LC_ALL=C "$anycq" "$@"
    fi
}

# take NAME EXIT ARGUMENT...: what it prints goes to NAME, without times
take() {
    name=$1 code=$2
    shift 2
    run "$@" >"out/$name.raw" 2>"out/$name.notes"
    got=$?
    [ $got -eq "$code" ] || { echo "FAILED: $where: $*: exit $got"; cat "out/$name.notes"; exit 1; }
    sed -E 's/[0-9.]+ ms//; s/"(ms[a-z0-9_]*|seconds|seconds_left|memory)": ?[0-9.e-]+/"\1":0/g; /^time /d' \
        "out/$name.raw" >"out/$name"
    rm "out/$name.raw"
}

# The server's answers: JSON and SPARQL.
serve() {
    mkfifo said
    (exec=exec; run serve train.acq --port 0 2>said >/dev/null) &
    server=$!
    read -r line <said
    url=$(echo "$line" | sed 's/.*\(http[^ ]*\).*/\1/')
    curl -s -G "${url}api/ask" --data-urlencode "query=$question" --data-urlencode min_p=0.25 |
        sed -E 's/"(ms|seconds)": ?[0-9.e-]+/"\1":0/g' >out/served.json
    curl -s -G "${url}sparql" --data-urlencode \
        'query=SELECT ?x (0.5 + 1 AS ?n) WHERE { ?x <urn:anycq:born_in> ?y } LIMIT 3' >out/served.sparql
    kill $server
    wait $server
    rm said
}

question='Q(x, y) := citizen_of(x, y)'
for where in plain german; do
    cp train.tsv $where/train.tsv
    cd $where || exit 1
    mkdir out
    take import 0 import train.tsv -o train.acq
    take ask 0 ask train.acq "$question" --min-p 0.25 --limit 40 --json --predictor ultra
    take explained 0 ask train.acq "$question" --min-p 0.25 --limit 3 --explain --predictor ultra
    take fit 0 fit train.acq --hold-share 0.2 -o fitted --json
    take fitted 0 ask train.acq "$question" --limit 40 --json --predictor completion:fitted
    take suggest 0 suggest train.acq --predictor completion:fitted --explain --json --min-p 0.01
    take csv 0 suggest train.acq --predictor completion:fitted --output-format csv
    take judged 0 eval links --observed train.acq --truth ../all.tsv --predictor completion:fitted --json
    take model 0 train complex train.acq -o model --rank 8 --epochs 2 --rate 0.05
    take by_model 0 predict train.acq 'citizen_of(Martin Scorsese, ?)' --predictor complex:model
    printf '.min-p 0.25\n.min-p\n%s\n.json on\n%s\n' "$question" "$question" >typed
    run shell train.acq --predictor completion:fitted <typed >out/shell 2>out/shell.notes ||
        { echo "FAILED: $where: shell"; cat out/shell.notes; exit 1; }
    sed -i -E 's/[0-9.]+ ms//; s/"ms": ?[0-9.e-]+/"ms":0/g' out/shell out/shell.notes
    serve
    mkdir -p data/FB15k-237
    cp train.tsv data/FB15k-237/train.txt
    cp ../valid.tsv data/FB15k-237/valid.txt
    take generate 0 generate small --type 2p --count 3 --observed train.tsv --complete ../all.tsv \
        -o data/FB15k-237/qac_valid_type0001.json
    take reproduce 0 reproduce data -o tables --tables perfect --first 2
    cp fitted out/fitted.bytes
    cp fitted.svg out/
    cut -d, -f 1-8 tables/perfect.csv >out/perfect.csv # then times
    cp tables/*.svg tables/tables.md out/
    cd ..
done
status=0
for file in plain/out/*; do
    name=${file##*/}
    case $name in
    *.notes | fitted.bytes | model | reproduce) continue ;; # times, versions
    esac
    cmp -s "$file" "german/out/$name" && continue
    echo "FAILED: $name differs"
    diff "$file" "german/out/$name" | cut -c 1-300 | head -n 10
    status=1
done
grep -q '"p":' plain/out/ask || { echo "FAILED: no probability"; status=1; }
exit $status
