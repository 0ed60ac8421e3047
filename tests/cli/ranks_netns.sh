#!/bin/sh
# Two ranks in two network namespaces, which reach each other over a cable alone (TCP, no shared memory),
# as on two machines: the same outputs as one process. Needs to be root and `ip`; else skipped.
# usage: ranks_netns.sh ANYCQ_WITH_MPI SOURCE_DIR
set -u
anycq=$1 source=$2
[ -n "$anycq" ] || { echo "skipped: built without Open MPI (libopenmpi-dev)"; exit 77; }
command -v mpirun >/dev/null || { echo "skipped: mpirun is not installed"; exit 77; }
command -v ip >/dev/null || { echo "skipped: ip is not installed (iproute2)"; exit 77; }
first=acq$$a second=acq$$b
ip netns add $first 2>/dev/null || { echo "skipped: no right to make a network namespace"; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'ip netns del $first; ip netns del $second 2>/dev/null; rm -rf "$folder"' EXIT
cd "$folder" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
status=0

fail()
{
    echo "FAILED: $*"
    status=1
}

ip netns add $second && ip -n $first link add eth0 type veth peer name eth0 netns $second ||
    { echo "skipped: no cable between network namespaces"; exit 77; }
for end in "$first 1" "$second 2"; do
    ip -n "${end% *}" addr add "10.77.0.${end#* }/24" dev eth0
    ip -n "${end% *}" link set eth0 up
    ip -n "${end% *}" link set lo up
    echo "10.77.0.${end#* } slots=1" >>hosts
done

# In place of ssh: the host of an address is its namespace, with a name of its own.
cat >agent <<EOF
#!/bin/sh
[ "\$1" = 10.77.0.1 ] && name=$first || name=$second
shift
exec ip netns exec \$name unshare -u sh -c "hostname \$name; cd '$folder'; \$*"
EOF
chmod +x agent

ranks()
{
    timeout 600 ip netns exec $first unshare -u sh -c "hostname $first; exec \"\$@\"" sh \
        mpirun --hostfile hosts --mca plm_rsh_agent "$folder/agent" --mca btl tcp,self \
        --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 -n 2 "$@"
}

weights()
{
    length=$(od -An -tu8 -N8 "$1" | tr -d ' ')
    tail -c "+$((length + 9))" "$1"
}

ranks hostname >out 2>&1 || fail "two hosts: $(cat out)"
[ "$(sort out)" = "$(printf '%s\n%s' $first $second)" ] || fail "not on two hosts: $(cat out)"
cp "$source/data/world/observed.tsv" world.tsv
head -n 700 world.tsv >small.tsv
set -- "complete small.tsv" "fit small.tsv --pieces" \
    "generate cqa --count 2 --type 2p --observed small.tsv --complete world.tsv"
for command; do
    # shellcheck disable=SC2086
    "$anycq" $command -o one >out 2>&1 || fail "$command by one: $(cat out)"
    # shellcheck disable=SC2086
    ranks "$anycq" $command -o two >out 2>&1 || fail "$command on two hosts: $(cat out)"
    cmp one two || fail "$command on two hosts differs"
    rm -f one two
done
train='train ultra small.tsv --batches 3 --batch 4 --group 2 --threads 1'
# shellcheck disable=SC2086
"$anycq" $train -o one >out 2>&1 && ranks "$anycq" $train -o two >out 2>&1 || fail "$train: $(cat out)"
weights one >a
weights two >b
cmp a b || fail 'weights trained on two hosts differ'
exit $status
