#!/bin/sh
# What people read is short: no message in the sources has more than 130 characters, conversions
# counted as written, so that with its place it takes two lines at 80 columns; no line of a help
# text has more than 80 columns, and no option needs more than two lines.
# usage: messages.sh ANYCQ SOURCE_DIR
set -u
anycq=$1 source=$2 status=0

# All literals, adjacent ones joined, without comments; SQL, SVG, help and file formats aside, and the
# documents that programs and assistants read (OpenAPI, the list of tools).
find "$source/src" -name '*.[ch]' ! -name openapi.c ! -name mcp.c -exec cat {} + | awk -v most=130 '
    function judge() {
        n++
        if (length(text) > most && text !~ /\\n|^(CREATE|ALTER|PRAGMA|<|@media|id, key|graph %0)/) {
            print "FAILED: " length(text) " characters: " text
            bad = 1
        }
        text = ""
    }
    {
        line = $0
        sub(/\\$/, "", line)
        while (line != "") {
            if (in_comment) {
                end = index(line, "*/")
                in_comment = end == 0
                line = end == 0 ? "" : substr(line, end + 2)
            } else if (line ~ /^[ \t]/) {
                sub(/^[ \t]+/, "", line)
            } else if (line ~ /^\/\*/) {
                in_comment = 1
                line = substr(line, 3)
            } else if (match(line, /^"([^"\\]|\\.)*"/)) {
                text = text substr(line, 2, RLENGTH - 2)
                line = substr(line, RLENGTH + 1)
            } else {
                if (text != "")
                    judge()
                if (match(line, /^\047(\\.[0-9a-f]*|[^\\])\047/))
                    line = substr(line, RLENGTH + 1)
                else
                    line = substr(line, 2)
            }
        }
    }
    END {
        if (n < 2000) {
            print "FAILED: only " n " literals were found"
            bad = 1
        }
        exit bad
    }' || status=1

# usage: fits COMMAND...; the help text of a command is there and fits
fits()
{
    "$anycq" "$@" --help | awk -v what="$*" '
        length($0) > 80 { print "FAILED: help of " what ", line " NR " is too wide: " $0; bad = 1 }
        { further = /^                              [^ ]/ ? further + 1 : 0 }
        further > 1 { print "FAILED: help of " what ", line " NR " is one too many: " $0; bad = 1 }
        END { if (NR < 5) { print "FAILED: no help of " what; bad = 1 } exit bad }' || status=1
}

fits
for command in $("$anycq" --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p'); do
    fits "$command"
done
sed -n 's/^ *X(\([a-z]*\), \([a-z]*\), "[^0-9].*/\1 \2/p' "$source/src/cli/commands.h" |
    { while read -r command variant; do fits "$command" "$variant"; n=$((${n:-0} + 1)); done
      [ "${n:-0}" -ge 10 ] || status=1; exit $status; } || status=1
exit $status
