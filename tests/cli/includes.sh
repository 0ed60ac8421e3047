#!/bin/sh
# Includes point one way only:
#   docs/architecture.md has the list, and each of its edges is used. Searches do not include each other; answer/ and search/ know
#   nothing of each other, so that one can check the other. The weights of the policy search
#   (search/policy/model.h) are for engine and eval too, the whole search for train.
# usage: includes.sh SOURCE_DIR
set -u
cd "$1/src" || exit 1
status=0

# What each room may include besides itself, from the list in docs/architecture.md.
allowed()
{
    awk -v room="$1" '/^```/ { inside = !inside }
        inside && $0 ~ "^" room " " { $1 = ""; print; found = 1; exit }
        END { if (!found) print "unknown" }' ../docs/architecture.md
}

# The command is a client of anycq.h: these are the only private headers that it may include besides
# base/ and its own. What the public library can do is asked of the public library.
#   train/options.h       the options of every training are rows of the command's own table, and
#                         their defaults, for --help; the names of checkpoints, which a second
#                         interrupt takes away half written
#   server/...            the commands serve and mcp start it
#   reproduce/...         the command reproduce starts it
used=$(mktemp) || exit 1
trap 'rm -f "$used"' EXIT
private_for_cli='
train/options.h
server/http.h
reproduce/reproduce.h
'

for file in $(find . -name '*.[ch]' | sed 's|^\./||' | sort); do
    module=${file%%/*}
    may=" $module $(allowed "$module") "
    for included in $(sed -n 's|^ *# *include *"\([^"]*\)".*|\1|p' "$file"); do
        [ "$included" = anycq.h ] && continue
        case $included in
        */*) ;;
        *) echo "FAILED: $file includes \"$included\", which is not path-qualified"; status=1; continue ;;
        esac
        echo "$module ${included%%/*}" >>"$used"
        case $may in
        *" ${included%%/*} "*) ;;
        *) echo "FAILED: $file includes $included, upwards or across"; status=1 ;;
        esac
        case $file:$included in
        cli/*:cli/* | cli/*:base/*) ;;
        cli/*)
            echo "$private_for_cli" | tr ' ' '\n' | grep -qxF "$included" ||
                { echo "FAILED: $file includes $included, which is not for cli/: use anycq.h"; status=1; } ;;
        esac
        # A graph does not know the files it may come from.
        case $file,$included in
        graph/text/*) ;;
        graph/*,graph/text/*) echo "FAILED: $file includes $included"; status=1 ;;
        esac
        # search/exact/x.c may include search/exact/ and search/, not search/policy/.
        case $included in
        search/*/*)
            case $file in
            "$(dirname "$included")"/* | train/*) ;;
            engine/* | eval/*)
                # What a search shows to whoever opens it: weights, sets and networks, tables.
                case $included in
                search/policy/model.h | search/fuzzy/fuzzy.h | search/sql/sql.h) ;;
                *) echo "FAILED: $file includes $included of a search"; status=1 ;;
                esac ;;
            *) echo "FAILED: $file includes $included of another search"; status=1 ;;
            esac
            ;;
        esac
    done
done
for module in */; do
    for room in $(allowed "${module%/}"); do
        [ "$room" = - ] || grep -qx "${module%/} $room" "$used" ||
            { echo "FAILED: docs/architecture.md has $room for ${module%/}, which includes nothing of it"; status=1; }
    done
done
exit $status
