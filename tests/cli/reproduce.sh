#!/bin/sh
# `anycq reproduce` on a small made-up folder: the tables are there with the published rows beside ours,
# numbers agree with `anycq eval`, a second run keeps every job, a change does again only what depends
# on it, an interrupt keeps what is done, what is missing is listed, names are escaped.
# usage: reproduce.sh ANYCQ SOURCE_DIR
set -u
anycq=$1 source=$2
work=$(mktemp -d) || exit 1
trap 'chmod -R u+w "$work" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() {
    echo "FAILED: $1"
    cat err out 2>/dev/null
    exit 1
}

# expect TEXT FILE
expect() {
    grep -qF -- "$1" "$2" || { tail -n 40 "$2"; fail "no \"$1\" in $2"; }
}

# make FOLDER: a graph with questions about it
make() {
    mkdir -p "$1"
    head -n 700 "$source/data/world/world.tsv" >all.tsv
    awk 'NR % 12 != 5' all.tsv >"$1/train.txt"
    awk 'NR % 12 == 5' all.tsv >"$1/valid.txt"
    "$anycq" generate small --type 2p --count 4 --observed "$1/train.txt" --complete all.tsv \
        -o "$1/qac_valid_type0001.json" >out 2>err || fail "generate 2p"
    for k in 1 2 3; do
        "$anycq" generate qar --hubs 3 --terms 6 --free $k --count 2 --observed "$1/train.txt" \
            --complete all.tsv -o "$1/qar_valid_3hub_efo$k.json" >out 2>err || fail "generate qar"
    done
}

# reproduce ARGUMENT...: its exit code
reproduce() {
    "$anycq" reproduce "$@" >out 2>err
}

make data/FB15k-237
mkdir -p data/lonely data/quiet
cp data/FB15k-237/qac_valid_type0001.json data/lonely/qac_valid_2p.json
cp data/FB15k-237/train.txt data/quiet/train.txt

# tables, ours and published
reproduce data -o tables --tables perfect,sql-time --model-time 1s --first 3 || fail "exit $?"
for file in index.html tables.md manifest.json perfect.csv sql-time.csv \
    perfect-FB15k-237-valid.svg; do
    [ -s "tables/$file" ] || fail "no $file"
done
expect "| AnyCQ | published, test | 100.0 |" tables/tables.md
expect "| exact | ours, validation | 100.0 |" tables/tables.md
expect "lonely: 1 query files of valid (no train\\_kg.tsv or train.txt)" tables/tables.md
expect "quiet: no query files" tables/tables.md
expect "FB15k-237, valid: classification, 3p: no such file" tables/tables.md
expect "FB15k-237,validation,exact,ours,2p,100.0000" tables/perfect.csv

# columns without questions are left out of the tables, and rows of one making are said in one line
expect "| | | 2p |" tables/tables.md
expect "| | | 3-hub, k=1 | 3-hub, k=2 | 3-hub, k=3 | 3-hub, total |" tables/tables.md
! grep -q '^|.*4-hub' tables/tables.md || fail "a column without questions"
! grep -q '5-hub' tables/perfect.csv tables/perfect-*.svg || fail "a number without questions"
expect "- SQL, 30 s; SQL, 60 s; SQL, 120 s; " tables/tables.md
f1=$("$anycq" eval qar --observed data/FB15k-237/train.txt --predictor observed --engine sql \
    --queries data/FB15k-237/qar_valid_3hub_efo1.json --first 3 --json 2>err | head -n 1 |
    sed 's/.*"recall_easy": \([0-9.a-z]*\).*/\1/')
[ "$f1" = null ] || expect "\"SQL, 60 s\",ours,\"3-hub, k=1\",$f1" tables/sql-time.csv

# everything is kept
reproduce data -o tables --tables perfect,sql-time --model-time 1s --first 3 || fail "exit $?"
expect ": 0 run," out

# a changed file: only what asks it
sed 's/^/ /' data/FB15k-237/qac_valid_type0001.json >changed
cp changed data/FB15k-237/qac_valid_type0001.json
reproduce data -o tables --tables perfect,sql-time --model-time 1s --first 3 || fail "exit $?"
expect ": 2 run," out
[ -z "$(find tables -name '*.checkpoint')" ] || fail "a checkpoint stayed"

# a damaged result is made again
printf '{"identity": ' >"tables/jobs/FB15k-237_valid_qac_2p_exact_perfect.json"
reproduce data -o tables --tables perfect,sql-time --model-time 1s --first 3 || fail "exit $?"
expect ": 1 run," out

# outputs: never over what is read, nor through a link; a folder within the data is gone on in
for place in data ./data/. data/FB15k-237; do
    reproduce data -o "$place" --tables perfect --first 1
    [ $? -eq 2 ] || fail "-o $place"
done
for run in 1 2; do
    reproduce data -o data/tables --tables perfect --model-time 1s --first 1 || fail "run $run within"
done
expect ": 0 run," out
rm tables/tables.md && ln -s ../data/quiet/train.txt tables/tables.md && cksum data/quiet/train.txt >sum
reproduce data -o tables --tables perfect,sql-time --model-time 1s --first 3
[ $? -eq 2 ] || fail 'through a link'
expect 'remove the link' err
[ "$(cksum data/quiet/train.txt)" = "$(cat sum)" ] || fail 'a link was followed'
rm -r tables/tables.md data/tables

# an interrupt keeps what is done, and the same command goes on
"$anycq" reproduce data -o stopped --tables perfect,pe --model-time 20s >out 2>err &
pid=$!
for _ in $(seq 100); do
    [ -n "$(find stopped -name '*complex*' 2>/dev/null)" ] && break
    sleep 0.1
done
env kill -INT $pid
wait $pid
code=$?
[ $code = 130 ] || [ $code = 0 ] || fail "interrupted: exit $code"
[ $code = 0 ] || expect "jobs; the same command goes on" err
[ -s stopped/tables.md ] || fail "no tables after an interrupt"
expect "| exact | ours, validation | 100.0 |" stopped/tables.md

# names are escaped, the page is well-formed
mv data/FB15k-237 'data/<b>&"x'
reproduce data -o odd --tables perfect || fail "odd name: exit $?"
! grep -qF '<b>&' odd/index.html || fail "a name went into the page as it is"
expect '&#60;b&#62;&#38;&#34;x' odd/index.html
if command -v xmllint >/dev/null; then
    xmllint --noout odd/*.html odd/*.svg tables/*.html tables/*.svg >out 2>&1 || fail "XML"
fi

# step times and what is in the files; a file that is no JSON is left out by name
cp -r tables/../data copy
rm -r copy/lonely copy/quiet
mv copy/* copy/plain
printf '{' >copy/plain/qac_valid_2i_3hub.json
reproduce copy -o small --tables steps,qac-files,qar-files --first 2 || fail "exit $?"
expect "plain valid qac 3-hub exact observed: " small/tables.md
expect "| queries | ours, validation | 2 |" small/tables.md
expect "plain,validation,trivial,ours," small/qar-files.csv
[ -s small/query-plain-valid-1.svg ] || fail "no picture of a query"
[ -s small/steps.csv ] && [ -s small/steps.svg ] || fail "no step times"

# a folder alone is judged as it stands
rm copy/plain/qac_valid_2i_3hub.json
"$anycq" eval copy --first 2 --json >out 2>err || fail "eval FOLDER: exit $?"
[ "$(grep -c '"file": "total"' out)" = 2 ] || fail "eval FOLDER: not two totals"
"$anycq" eval empty-or-not >out 2>err && fail "eval of nothing"
expect "no task or folder" err

# a quick run trains what it lacks, brings ULTRA along, and says how many questions each number is of
reproduce copy -o quick --quick --first 2 --model-time 1s --time 300s --tables qac-matched || fail "quick: exit $?"
expect "UltraQuery: wrong: ULTRA's weights that ship" quick/tables.md
grep -q 'FIT: matched F1: ComplEx, trained here; first [12] of each file' quick/tables.md || fail 'no sample'
! grep -q '"first": [3-9]' quick/jobs/*.json || fail 'more questions than were wanted'
[ -s quick/models-quick/plain/train/nbfnet.completion ] || fail 'links of NBFNet are not made once'
expect "| SQL: matched F1 | ours, validation, 1 s |" quick/tables.md

# what is of too few questions to compare is in brackets
sed 's/"first": 2/"first": 1/' quick/jobs/plain_valid_qac_2p_sql_observed.json >job || fail 'no job of SQL'
cp job quick/jobs/plain_valid_qac_2p_sql_observed.json
reproduce copy -o quick --quick --first 2 --model-time 1s --time 60s --tables qac-matched || fail "quick, again: exit $?"
grep -q '^| SQL: matched F1 | ours, validation, 1 s | ([0-9.]*) |' quick/tables.md || fail 'no brackets'
expect '( ): of fewer than 8 candidate sets' quick/tables.md

# a quick run has something of every table before the rest of any
cp copy/plain/qac_valid_type0001.json copy/plain/qac_valid_type0002.json
reproduce copy -o quick --quick --first 1 --tables qac-files,perfect || fail "quick, in turn: exit $?"
first=$(grep -n 'plain valid qac 2p exact perfect' err | head -n 1 | cut -d: -f1)
rest=$(grep -n 'plain valid qac 3p exact observed' err | head -n 1 | cut -d: -f1)
[ -n "$first" ] && [ -n "$rest" ] && [ "$first" -lt "$rest" ] || fail "3p of one table before 2p of another"

# learning and trainings end with the time
mkdir -p learns/one
cp "$source/data/world/observed.tsv" learns/one/train.tsv
cp "$source/data/world/world.tsv" learns/one/valid.tsv
"$anycq" generate small --type 2p --count 2 --observed learns/one/train.tsv \
    --complete learns/one/valid.tsv -o learns/one/qac_valid_2p.json >out 2>err || fail "generate 2p"
reproduce learns -o late --quick --first 1 --time 1s --threads 1 --tables qac-matched || fail "1 s: exit $?"
[ ! -f late/jobs/one_valid_qac_2p_exact_fitted.json ] || fail 'learning went on beyond the time'
expect 'the time was over before its model was made' late/tables.md
took=$(sed -n 's/^time *\([0-9]*\) .*/\1/p' out)
[ "$took" -lt 25 ] || fail "trainings of 30 s went on beyond the time ($took s)"

# what cannot be
refuse() {
    code=$1 text=$2
    shift 2
    reproduce "$@"
    got=$?
    [ $got = "$code" ] || fail "exit $got, not $code: $*"
    expect "$text" err
}
mkdir empty
refuse 2 "no data set" empty -o e
refuse 2 "this is no folder" all.tsv -o e
refuse 2 'no table "qax"' data -o e --tables qac,qax
[ ! -e e ] || fail "a refused command made its folder"
refuse 4 "cannot make this folder" data -o all.tsv/e
if [ "$(id -u)" != 0 ]; then
    mkdir shut && chmod a-w shut
    refuse 4 "cannot make this folder" data -o shut/e
fi
echo ok
