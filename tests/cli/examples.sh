#!/bin/sh
# The programs of examples/, with what they print. Built against the public header and the shared
# library alone.
# usage: examples.sh FOLDER_OF_PROGRAMS SOURCE_DIR SANITIZERS
set -u
programs=$1 source=$2 sanitizers=$3
world=$source/data/world/observed.tsv
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
status=0

# expect CODE PROGRAM ARGUMENT... : what is wanted comes on stdin, stdout before stderr
expect()
{
    code=$1 program=$2
    shift 2
    cat >"$work/wanted"
    "$programs/$program" "$@" <"$work/in" >"$work/out" 2>"$work/err"
    got=$?
    cat "$work/err" >>"$work/out"
    [ "$got" -eq "$code" ] || { echo "FAILED: exit $got instead of $code: $program $*"; status=1; }
    diff "$work/wanted" "$work/out" || { echo "FAILED: output of $program $*"; status=1; }
}

: >"$work/in"
expect 0 ask "$world" 'Q(x) := borders(x, "France") & !currency(x, "Euro")' <<END
x = Switzerland  score 1
END
expect 1 ask "$world" 'Q(x) := capital_of(x, "Oppenheimer")' <<END
none
END
expect 2 ask "$world" 'Q(x) := capital_off(x, "France")' <<END
1:9: the graph has no relation "capital_off"; did you mean "capital_of"?
END
expect 2 ask "$work/missing.tsv" 'Q(x) := r(x, "France")' <<END
$work/missing.tsv: there is no such file or folder; check the path
END
expect 2 ask <<END
usage: ask GRAPH QUERY [PREDICTOR]
END

expect 0 check "$world" 'Q(x) := capital_of(x, "France")' Paris <<END
yes:
  capital_of("Paris", "France")  observed
END
expect 1 check "$world" 'Q(x) := exists y. capital_of(x, y) & borders(y, "France")' Paris <<END
no, these cannot hold together:
  capital_of(x, y)
  borders(y, "France")
END
expect 2 check "$world" 'Q(x) := capital_of(x, "France")' Pariss <<END
unknown name: no entity "Pariss" for x in this graph; did you mean "Paris"?
END

expect 0 stream "$world" 'Q(x) := capital_of(x, "France") | capital_of(x, "Italy")' <<END
Paris
Rome
these are all
END
expect 0 stream "$world" 'Q(x, y) := borders(x, y)' 0 <<END
there may be more
END

cat >"$work/in" <<END
Q(x) := capital_of(x, "France")
Q(x) := capital_of(x, "Franc")
Q(x) := capital_of(x, "Oppenheimer")
Q() := capital_of("Paris", "France")
Q(x) := capital_of(x, "France") | capital_of(x, "Italy")
END
expect 0 serve "$world" <<END
Paris
error the graph has no entity "Franc"; did you mean "France"?
none
yes
Paris | Rome
END

: >"$work/in"
expect 2 fit "$work/missing.tsv" "$work/fitted" 'Q(x) := r(x, "a")' <<END
input: there is no such file or folder; check the path
END
# A fit takes seconds, with sanitizers too many of them.
if [ -z "$sanitizers" ]; then
    awk 'BEGIN { for (i = 0; i < 40; i++) {
        print "p" i "\tlives_in\tc" i % 5; print "p" i "\tworks_in\tc" i % 5 } }' >"$work/town.tsv"
    "$programs/fit" "$work/town.tsv" "$work/fitted" 'Q(x) := lives_in("p3", x)' 1 \
        >"$work/out" 2>"$work/err" || { cat "$work/err"; echo 'FAILED: fit'; status=1; }
    [ "$(tail -n 1 "$work/out")" = 'c3, p 1.00' ] || { cat "$work/out"; echo 'FAILED: fit'; status=1; }
    [ ! -e "$work/fitted.fit" ] || { echo 'FAILED: the folder of the fit is left'; status=1; }
fi

# Ctrl-C ends a search that would take long, and what was found is printed.
awk 'BEGIN { for (i = 0; i < 3600; i++) print "e" int(i / 60) "\tr\te" i % 60 }' >"$work/dense.tsv"
mkfifo "$work/answers"
"$programs/stream" "$work/dense.tsv" 'Q(x, y, z, w) := r(x, y) & r(y, z) & r(z, w)' \
    >"$work/answers" 2>"$work/err" &
pid=$!
exec 3<"$work/answers"
read -r first <&3 # the first answer is out before the search ends
kill -INT $pid
cat <&3 >/dev/null
wait $pid || { echo "FAILED: an interrupted stream"; status=1; }
[ -n "$first" ] || { echo "FAILED: a stream without a first answer"; status=1; }
grep -q '^there may be more' "$work/err" || { cat "$work/err"; echo "FAILED: no word of more"; status=1; }
exit $status
