#!/bin/sh
# What import asks of the system, in order: the new file is synced before it gets its name, the
# folder after that, and only then is anything acknowledged. Skipped without strace.
# usage: order.sh ANYCQ SOURCE_DIR
set -u
anycq=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
if ! strace -o "$work/probe" true 2>/dev/null; then
    echo 'skipped: strace is not there or may not trace'
    exit 0
fi
status=0

# line PATTERN: number of the last line of the trace that matches.
line()
{
    grep -n -E "$1" "$work/trace" | tail -n 1 | cut -d : -f 1
}

# before A B WHAT: A is in the trace, and before B.
before()
{
    a=$(line "$1") b=$(line "$2")
    if [ -z "$a" ] || [ -z "$b" ] || [ "$a" -ge "$b" ]; then
        echo "FAILED: $3 (lines '$a' and '$b' of the trace)"
        status=1
    fi
}

# LeakSanitizer does not work under a tracer.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
export ASAN_OPTIONS
strace -f -y -o "$work/trace" \
    -e trace=write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,link,linkat \
    "$anycq" import "$2/data/world/observed.tsv" -o "$work/store" >"$work/out" 2>"$work/err" ||
    { echo 'FAILED: import'; cat "$work/err"; exit 1; }

renamed='(rename|link)[a-z0-9]*\(.*store\.partial".*store"'
before 'write.*store\.partial>' 'f(data)?sync\(.*store\.partial>' 'the file is written before it is synced'
before 'f(data)?sync\(.*store\.partial>' "$renamed" 'the file is synced before it gets its name'
before "$renamed" "fsync\\(.*$work>" 'the folder is synced after the file has got its name'
before "fsync\\(.*$work>" 'write\(1<' 'everything is on disk before it is acknowledged'
exit "$status"
