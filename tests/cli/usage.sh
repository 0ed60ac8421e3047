#!/bin/sh
# Runs the cases of a file like usage.txt: exit code, message, nothing on standard output, and
# with --json the error as an object there. A file of the same name that ends in .prepare makes
# inputs in $T first.
# usage: usage.sh ANYCQ SOURCE_DIR CASES LEAST_NUMBER
set -u
anycq=$1 cases=$3 least=$4
cd "$2/tests/cli/data" || exit 1
work=$(mktemp -d) || exit 1
T=$work/made
mkdir "$T" || exit 1
trap 'rm -rf "$work"' EXIT
status=0 n=0
# Used by the arguments of the cases.
# shellcheck disable=SC2034
G=films.tsv Q='Q(x):=directed(x,"Barbie")' O=--predictor=observed

prepare=${cases%.txt}.prepare
# shellcheck disable=SC1090
[ -f "$prepare" ] && . "$prepare"

fail()
{
    echo "FAILED: $name: $1"
    status=1
}

run_case()
{
    n=$((n + 1))
    # Arguments are written as in a shell, but $Q is one word.
    eval "set -- $(printf '%s' "$arguments" | sed 's/\$Q/"$Q"/g')"
    "$anycq" "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    [ "$code" -eq "${wanted%% *}" ] || fail "exit $code instead of ${wanted%% *}"
    message=$(grep -v '^anycq: note: ' "$work/err" | head -n 1 | sed "s|$T|\$T|g")
    case $message in
    "anycq: ${wanted#* }"*) ;;
    *) fail "said \"$message\"" ;;
    esac
    [ ! -s "$work/out" ] || fail 'printed on standard output'
}

state=name
while IFS= read -r line; do
    case $state in
    name)
        case $line in '' | '#'*) continue ;; esac
        name=$line state=arguments arguments=
        ;;
    arguments)
        case $line in
        [0-9]' '*) wanted=$line state=name; run_case ;;
        *) arguments="$arguments$line
" ;;
        esac
        ;;
    esac
done <"$cases"

name='error as JSON'
"$anycq" ask "$G" "$Q" --limit 0 --json >"$work/out" 2>"$work/err"
[ "$(cat "$work/out")" = '{"error":{"code":"usage","file":null,"line":null,"column":null,"message":"option --limit must be between 1 and 1000000000, not 0"}}' ] ||
    fail "$(cat "$work/out")"
[ "$n" -ge "$least" ] || { echo "FAILED: only $n cases were read"; status=1; }
echo "$n cases"
exit $status
