#!/bin/sh
# No room: on a small file system of its own (where we may mount one) and with a limit on the size
# of files. Each command that writes ends with exit 4 and says why, the facts stay as they were,
# nothing is left lying about, and with room the same command works.
# usage: disk_full.sh ANYCQ SOURCE_DIR
set -u
anycq=$1
world=$2/data/world
work=$(mktemp -d) || exit 1
disk=$work/disk
mkdir "$disk"
trap 'umount "$disk" 2>/dev/null; rm -rf "$work"' EXIT
status=0

fail()
{
    echo "FAILED: $*"
    [ ! -s "$work/err" ] || sed 's/^/  /' "$work/err"
    status=1
}

# must COMMAND...: works.
must()
{
    "$@" >"$work/out" 2>"$work/err" || fail "$* ended with $?"
}

# refused WHERE COMMAND...: ends with exit 4 and a message about space.
refused()
{
    where=$1
    shift
    "$@" >"$work/out" 2>"$work/err"
    code=$?
    [ "$code" -eq 4 ] || fail "$where: $* ended with $code"
    grep -q -i -E 'full|space|too large|room' "$work/err" || fail "$where: $* does not say why"
}

# unharmed WHERE COMMAND...: the same, and the facts are as before.
unharmed()
{
    refused "$@"
    same "$where: after $2"
}

# same WHEN: the store verifies and exports what it did, and no half-file lies beside it.
same()
{
    "$anycq" info "$disk/store" --verify >"$work/out" 2>"$work/err" || fail "$1: does not verify"
    "$anycq" export "$disk/store" 2>"$work/err" | sort | cmp -s - "$work/facts" ||
        fail "$1: the facts have changed"
    [ "$(find "$disk" -name '*.partial*' | wc -l)" -eq 0 ] || fail "$1: a half-file is left"
}

# A store with changes that wait to be folded in, and a text of many changes.
make_store()
{
    must "$anycq" import "$world/observed.tsv" -o "$disk/store"
    must "$anycq" add "$disk/store" 'borders("Peru", "Atlantis")'
    "$anycq" export "$disk/store" | sort >"$work/facts"
    awk 'BEGIN { for (i = 0; i < 10000; i++) printf "new entity %d\tnew relation\tother %d\n", i, i }' \
        >"$work/many.tsv"
}

# Everything that writes, with no room for it.
try_all()
{
    unharmed "$1" "$anycq" add "$disk/store" --from "$work/many.tsv"
    unharmed "$1" "$anycq" import "$work/many.tsv" -o "$disk/store" --replace
    unharmed "$1" "$anycq" import "$work/many.tsv" -o "$disk/other"
    [ ! -e "$disk/other" ] || fail "$1: there is half a store"
}

# With room.
try_again()
{
    same "$1"
    must "$anycq" compact "$disk/store"
    same "$1: after compact"
    must "$anycq" add "$disk/store" 'borders("Atlantis", "Brazil")'
    must "$anycq" remove "$disk/store" 'borders("Atlantis", "Brazil")'
    same "$1: after a change"
    must "$anycq" import "$work/many.tsv" -o "$disk/store" --replace
    must "$anycq" info "$disk/store" --verify
    rm -f "$disk"/*
}

test_small_disk()
{
    if ! mount -t tmpfs -o size=1m tmpfs "$disk" 2>/dev/null; then
        echo 'skipped: no right to mount a small disk'
        return
    fi
    make_store
    try_all 'small disk'
    # Not even one page is free, so there is no room for the 32 KB that readers share either.
    dd if=/dev/zero of="$disk/filler" bs=4096 2>/dev/null
    refused 'full disk' "$anycq" add "$disk/store" 'borders("Atlantis", "Brazil")'
    refused 'full disk' "$anycq" remove "$disk/store" 'borders("Peru", "Atlantis")'
    refused 'full disk' "$anycq" compact "$disk/store"
    refused 'full disk' "$anycq" export "$disk/store"
    rm "$disk/filler"
    same 'full disk'
    mount -o remount,size=64m "$disk"
    try_again 'small disk'
    umount "$disk"
}

# The limit is in blocks of 512 bytes. With the signal ignored and not.
test_limited_files()
{
    make_store
    blocks=$(($(stat -c %s "$disk/store") / 512 + 8))
    (
        ulimit -f "$blocks"
        try_all 'limited files'
        exit "$status"
    ) || status=1
    (
        trap '' XFSZ
        ulimit -f "$blocks"
        try_all 'limited files, signal ignored'
        exit "$status"
    ) || status=1
    try_again 'limited files'
}

test_small_disk
test_limited_files
exit "$status"
