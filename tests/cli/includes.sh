#!/bin/sh
# Includes point one way only:
#   base < graph < query;  graph < store;  base < tensor;  {graph, tensor} < predict;
#   {graph, query, predict} < search, answer;  tensor < search < train;
#   those < engine < fit, bench < cli.  Searches do not include each other; answer/ and search/ know
#   nothing of each other, so that one can check the other. The weights of the policy search
#   (search/policy/model.h) are for engine, bench and cli too, the whole search for train.
# usage: includes.sh SOURCE_DIR
set -u
cd "$1/src" || exit 1
status=0

# What each module may include besides itself.
allowed()
{
    case $1 in
    base) echo '' ;;
    graph | tensor) echo 'base' ;;
    store | query) echo 'base graph' ;;
    predict) echo 'base graph tensor' ;;
    search) echo 'base graph query predict tensor' ;;
    answer) echo 'base graph query predict' ;;
    train) echo 'base graph query predict tensor search' ;;
    engine) echo 'base graph store query predict search answer' ;;
    bench) echo 'base graph store query predict search answer engine' ;;
    fit) echo 'base graph query predict tensor search answer train engine' ;;
    cli) echo 'base graph store query predict tensor search answer train engine fit bench' ;;
    *) echo 'unknown' ;;
    esac
}

for file in $(find . -name '*.[ch]' | sed 's|^\./||' | sort); do
    module=${file%%/*}
    may=" $module $(allowed "$module") "
    for included in $(sed -n 's|^ *# *include *"\([^"]*\)".*|\1|p' "$file"); do
        [ "$included" = anycq.h ] && continue
        case $included in
        */*) ;;
        *) echo "FAILED: $file includes \"$included\", which is not path-qualified"; status=1; continue ;;
        esac
        case $may in
        *" ${included%%/*} "*) ;;
        *) echo "FAILED: $file includes $included, upwards or across"; status=1 ;;
        esac
        # search/exact/x.c may include search/exact/ and search/, not search/policy/.
        case $included in
        search/*/*)
            case $file in
            "$(dirname "$included")"/* | train/*) ;;
            engine/* | bench/* | cli/*)
                [ "$included" = search/policy/model.h ] ||
                    { echo "FAILED: $file includes $included of a search"; status=1; } ;;
            *) echo "FAILED: $file includes $included of another search"; status=1 ;;
            esac
            ;;
        esac
    done
done
exit $status
