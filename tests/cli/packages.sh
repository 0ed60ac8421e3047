#!/bin/sh
# The Debian packages in a bare Debian: they install, answer, serve as a user without rights, and leave
# nothing behind. lintian finds no error, systemd no mistake in the unit.
#
# It needs root, a network for what the packages depend on, and a Debian that nothing was added to:
#   debootstrap --variant=minbase bookworm FOLDER; ACQ_BARE_ROOT=FOLDER
# usage: packages.sh SOURCE_DIR
set -u
source=$1
skip()
{
    echo "skipped: $1"
    exit 77
}
[ -n "${ACQ_BARE_ROOT:-}" ] || skip 'ACQ_BARE_ROOT names no bare Debian (see packages.sh)'
[ "$(id -u)" -eq 0 ] || skip 'only root can enter another root'
work=$(mktemp -d) || exit 1
root=$work/root
server=
leave()
{
    [ -z "$server" ] || kill "$server" 2>/dev/null
    umount "$root/proc" 2>/dev/null
    rm -rf --one-file-system "$work"
}
trap leave EXIT

fail()
{
    echo "FAILED: $1"
    exit 1
}

# The command and its arguments in the bare Debian.
inside()
{
    chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"
}

packages=$("$source/tools/package") || fail 'tools/package'
if command -v lintian >/dev/null; then
    # $packages is a list of files.
    # shellcheck disable=SC2086
    lintian --allow-root --fail-on error $packages || fail 'lintian'
fi
cp -a "$ACQ_BARE_ROOT" "$root" && mkdir "$root/packages" || fail 'copying the bare Debian'
mount -t proc proc "$root/proc"
cp /etc/resolv.conf "$root/etc/resolv.conf"
for package in $packages; do
    cp "$package" "$root/packages/"
done
inside sh -c 'apt-get -q update && apt-get -q install -y --no-install-recommends /packages/*.deb' \
    >"$work/log" 2>&1 || { tail -n 20 "$work/log"; fail 'apt-get install'; }

# It answers, from a store of its own.
mkdir -p "$root/var/lib/anycq"
cp "$source/data/world/observed.tsv" "$root/tmp/world.tsv"
inside anycq import /tmp/world.tsv -o /var/lib/anycq/world.acq >/dev/null || fail 'import'
line=$(inside anycq ask /var/lib/anycq/world.acq 'capital_of(x, "France")' --predictor observed)
[ "$line" = 'x = Paris  score 1  observed' ] || fail "the installed command said \"$line\""
line=$(printf '%s\n' 'capital_of(x, "Italy")' | inside anycq shell /var/lib/anycq/world.acq --predictor observed)
[ "$line" = 'x = Rome  score 1  observed' ] || fail "the installed shell said \"$line\""
[ -n "$(inside sh -c 'ldconfig -p' | grep libanycq)" ] || fail 'the library is not known to the linker'
for page in man1/anycq.1 man1/anycq-shell.1 man3/anycq.3; do
    [ -s "$root/usr/share/man/$page.gz" ] || inside test -d /usr/share/man || fail "no $page"
done

# What the unit starts, as a user that owns nothing, and its settings.
unit=$root/usr/lib/systemd/system/anycq.service
grep -q '^DynamicUser=yes' "$unit" || fail 'the unit runs as root'
command=$(sed -n 's/^ExecStart=//p' "$unit")
[ "$command" = '/usr/bin/anycq serve $OPTIONS $GRAPHS' ] || fail "the unit starts \"$command\""
chroot --userspec=64998:64998 "$root" /usr/bin/anycq serve /var/lib/anycq/world.acq --port 18321 \
    --predictor observed >"$work/served" 2>&1 &
server=$!
n=0
until grep -q 'serving at' "$work/served" 2>/dev/null || [ "$n" -ge 100 ]; do
    n=$((n + 1))
    sleep 0.1
done
[ "$(awk '/^Uid:/ { print $2 }' "/proc/$server/status")" = 64998 ] || fail 'the server runs as somebody else'
curl -s 'http://127.0.0.1:18321/api/ask?query=capital_of(x,"France")' -g | grep -q Paris ||
    { cat "$work/served"; fail 'the server does not answer'; }
kill "$server" && wait "$server"
server=
if command -v systemd-analyze >/dev/null; then
    ln -sf "$root/usr/bin/anycq" "$work/anycq"
    sed "s|/usr/bin/anycq|$work/anycq|; /^Documentation=/d" "$unit" >"$work/anycq.service"
    systemd-analyze verify "$work/anycq.service" >"$work/log" 2>&1 || { cat "$work/log"; fail 'systemd-analyze verify'; }
    [ ! -s "$work/log" ] || { cat "$work/log"; fail 'systemd-analyze verify has remarks'; }
    systemd-analyze security --offline=true --threshold=15 "$work/anycq.service" >"$work/log" 2>&1 ||
        { tail -n 3 "$work/log"; fail 'the unit is open to more than it needs'; }
    tail -n 1 "$work/log"
fi

# systemd itself, first process of namespaces of its own, starts the unit with everything that it forbids.
boot()
{
    timeout -s KILL 100 unshare --mount --pid --fork --uts --ipc --cgroup --mount-proc sh -c "
        mount --bind '$root' '$root' && cd '$root' && mount -t sysfs sysfs sys && mount -t tmpfs tmpfs run &&
        mount -t proc proc proc && mount -t tmpfs groups sys/fs/cgroup && mkdir sys/fs/cgroup/systemd &&
        mount -t cgroup -o none,name=systemd groups sys/fs/cgroup/systemd && mkdir -p mnt/old &&
        pivot_root . mnt/old && umount -l /mnt/old && exec env -i container=other \\
            PATH=/usr/sbin:/usr/bin:/sbin:/bin /sbin/init --system --unit=multi-user.target"
}
inside apt-get -q install -y --no-install-recommends systemd-sysv >"$work/log" 2>&1 || fail 'apt-get install systemd-sysv'
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -s /usr/lib/systemd/system/anycq.service "$root/etc/systemd/system/multi-user.target.wants/"
printf 'GRAPHS=/var/lib/anycq/world.acq\nOPTIONS=--port 18322 --predictor observed\n' >"$root/etc/default/anycq"
boot >"$work/log" 2>&1 &
booted=$!
n=0
until curl -s -g 'http://127.0.0.1:18322/api/ask?query=capital_of(x,"France")' >"$work/answer" || [ "$n" -ge 60 ]; do
    n=$((n + 1))
    sleep 1
done
user=$(ps -eo uid,args | awk '/anycq serve .*--port 1832[2]/ && !/awk/ { print $1; exit }')
# timeout has a child, unshare, whose child is the first process; the namespaces end with it.
first=$(pgrep -P "$(pgrep -P "$(pgrep -P $booted || echo $booted)" || pgrep -P $booted)")
nsenter -t "$first" -m -p systemctl stop anycq || fail 'systemd does not stop the unit'
kill -KILL "$first" 2>/dev/null
wait $booted 2>/dev/null
grep -q Paris "$work/answer" || { cat "$work/log"; fail 'systemd does not start the unit, or it does not answer'; }
[ "${user:-0}" -ge 61184 ] || fail "systemd starts the server as user \"${user:-}\""
echo "systemd starts it as user $user"
rm "$root/etc/default/anycq" "$root/etc/systemd/system/multi-user.target.wants/anycq.service"

# It goes away.
inside apt-get -q purge -y anycq 'libanycq*' >"$work/log" 2>&1 || { cat "$work/log"; fail 'apt-get purge'; }
rm -rf "$root/packages" "$root/var/lib/anycq" "$root/var/lib/private/anycq"
left=$(find "$root" -xdev -name '*anycq*' ! -path '*/proc/*')
[ -z "$left" ] || fail "left behind: $left"

# The static command needs nothing at all.
tarball=$("$source/tools/package-static") || fail 'tools/package-static'
mkdir "$work/empty" && tar -xzf "$tarball" -C "$work/empty" --strip-components=1 || fail 'the tarball'
cp "$source/data/world/observed.tsv" "$work/empty/world.tsv"
alone()
{
    chroot "$work/empty" /bin/anycq "$@"
}
line=$(alone ask /world.tsv 'Q(x) := capital_of(x, "France") | capital_of(x, "Zoë")' --predictor observed 2>/dev/null)
[ -z "$line" ] || fail 'an unknown name is an answer'
alone import /world.tsv -o /world.acq >/dev/null || fail 'import by the static command'
for options in '--engine exact' '--engine policy' '--engine sql'; do
    # $options are two words.
    # shellcheck disable=SC2086
    line=$(alone ask /world.acq 'capital_of(x, "France")' --predictor observed $options 2>/dev/null)
    [ "$line" = 'x = Paris  score 1  observed' ] || fail "the static command with $options said \"$line\""
done
line=$(echo 'SELECT ?x { ?x <capital_of> <Italy> }' | alone shell /world.acq --predictor observed)
[ "$line" = 'x = Rome  observed' ] || [ "$line" = 'x = Rome  score 1  observed' ] || fail "the static shell said \"$line\""
alone ask /world.tsv 'citizen_of("Phil Knight", x)' 2>/dev/null | grep -q '^x = United States  p ' || fail 'a prediction by the static command'
alone serve /world.acq 2>"$work/log" && fail 'the static command serves'
grep -q 'no HTTP server' "$work/log" || fail 'why the static command does not serve'
echo 'installed, answered, served and gone'
exit 0
