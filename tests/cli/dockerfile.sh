#!/bin/sh
# The lines of packages/Dockerfile in bare Debians, without an engine for containers: what COPY, WORKDIR,
# RUN and USER say is done by hand. Minutes, a network and root are needed; ACQ_BARE_ROOT as in
# packages.sh. usage: dockerfile.sh SOURCE_DIR
set -u
source=$1
[ -n "${ACQ_BARE_ROOT:-}" ] && [ -n "${ACQ_DOCKERFILE:-}" ] ||
    { echo 'skipped: minutes; set ACQ_BARE_ROOT (see packages.sh) and ACQ_DOCKERFILE=1'; exit 77; }
work=$(mktemp -d) || exit 1
trap 'umount "$work"/*/proc 2>/dev/null; rm -rf --one-file-system "$work"' EXIT
stage=$work/none folder=/ user=0:0

fail()
{
    echo "FAILED: $1"
    exit 1
}

# usage: run COMMAND: as RUN does
run()
{
    echo "RUN $1"
    chroot --userspec="$user" "$stage" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
        DEBIAN_FRONTEND=noninteractive sh -c "cd $folder && $1" >"$work/log" 2>&1 ||
        { tail -n 20 "$work/log"; fail "RUN $1"; }
}

while read -r word rest; do
    case $word in
    FROM)
        name=${rest##* }
        stage=$work/${name%%:*} folder=/ user=0:0
        [ "${rest#debian:12-slim}" != "$rest" ] || fail "FROM $rest"
        cp -a "$ACQ_BARE_ROOT" "$stage" && mount -t proc proc "$stage/proc"
        cp /etc/resolv.conf "$stage/etc/resolv.conf"
        ;;
    COPY)
        case $rest in
        '. /src') mkdir "$stage/src" && git -C "$source" archive HEAD | tar -x -C "$stage/src" ;;
        '--from=build '*)
            rest=${rest#--from=build }
            mkdir -p "$stage${rest##* }"
            # A pattern.
            # shellcheck disable=SC2086
            cp "$work"/build${rest%% *} "$stage${rest##* }" ;;
        *) fail "COPY $rest" ;;
        esac || fail "COPY $rest"
        ;;
    WORKDIR) folder=$rest && mkdir -p "$stage$folder" ;;
    USER) user=$rest ;;
    RUN) run "$rest" ;;
    esac
done <"$source/packages/Dockerfile"
printf 'Paris\tcapital_of\tFrance\n' >"$stage/data/g.tsv"
run "/usr/bin/anycq ask g.tsv 'capital_of(x, \"France\")' --predictor observed"
[ "$(cat "$work/log")" = 'x = Paris  score 1  observed' ] || { cat "$work/log"; fail 'the answer'; }
echo 'built, installed and answered'
exit 0
