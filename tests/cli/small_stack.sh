#!/bin/sh
# Questions need less than 64 kB of stack, in threads too, with every search and every predictor.
# usage: small_stack.sh ANYCQ SOURCE_DIR
set -u
anycq=$1
graph=$2/data/world/observed.tsv
query='Q(x) := exists y. directed(y, "Oppenheimer") & born_in(y, x)'
status=0
ulimit -s 64 || exit 1

# Any outcome of a question will do (0, 1 or 3), a crash or an error will not.
asks()
{
    "$anycq" "$@" --time 5 >/dev/null 2>&1
    case $? in
    0 | 1 | 3) ;;
    *) echo "FAILED: $* in 64 kB of stack"; status=1 ;;
    esac
}

asks ask "$graph" "$query" --predictor ultra --explain
asks ask "$graph" "$query" --predictor ultra --all --threads 2
asks ask "$graph" "$query" --predictor observed --engine policy
asks ask "$graph" "$query" --predictor observed --engine climb
asks check "$graph" "$query" London --predictor ultra
exit $status
