#!/bin/sh
# tools/convert_ultra on checkpoints that are not what they should be: each is refused with its
# reason, nothing that a pickle asks for is run, and nothing is left behind. Needs python3.
# usage: convert_ultra.sh SOURCE_DIR
set -u
source=$1
command -v python3 >/dev/null || { echo 'skipped: no python3'; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 - "$work" <<'END' || exit 1
import pickle, struct, sys, zipfile

work = sys.argv[1]


def write(name, pickled, storages=(), members=()):
    with zipfile.ZipFile(f"{work}/{name}.pth", "w") as file:
        if pickled is not None:
            file.writestr("m/data.pkl", pickled)
        for key, data in storages:
            file.writestr(f"m/data/{key}", data)
        for key, data in members:
            file.writestr(key, data)


class Evil:
    def __reduce__(self):
        import os
        return os.system, (f"touch {work}/owned",)


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


TENSOR = b"ctorch._utils\n_rebuild_tensor_v2\n"


def storage(kind="FloatStorage", key="0", length=64):
    return b"(" + text("storage") + b"ctorch\n%s\n" % kind.encode() + text(key) + text("cpu") + b"K%c" % length + b"tQ"


def tensor(first=0, size=64, stride=1, **of):
    return TENSOR + b"(" + storage(**of) + b"K%cK%c\x85K%c\x85" % (first, size, stride) + b"\x89}tR"


def weights(value):
    return b"\x80\x02}" + text("relation_model.layers.0.relation.weight") + value + b"s."


zeros = [("0", bytes(256))]
write("system", pickle.dumps({"model": Evil()}, protocol=2))
write("protocol", pickle.dumps({"model": 1}, protocol=4))
write("name", b"\x80\x02cbuiltins\neval\n.")
write("instruction", b"\x80\x02(i__main__\nx\n.")
write("empty-stack", b"\x80\x02R.")
write("cut", b"\x80\x02}X\xff\xff")
write("recall", b"\x80\x02h\x05.")
write("unfinished", b"\x80\x02}}.")
write("call", b"\x80\x02" + TENSOR + b")R.")
write("not-a-dict", b"\x80\x02K\x01.")
write("half-type", weights(tensor(kind="HalfStorage")), zeros)
write("path", weights(tensor(key="../../etc/passwd")), zeros)
write("beyond", weights(tensor(first=1)), zeros)
write("strides", weights(tensor(stride=2)), zeros)
write("shape", weights(tensor()), zeros)
write("none", b"\x80\x02}.")
write("no-pickle", None, members=[("m/other", b"")])
write("big-endian", b"\x80\x02}.", members=[("m/byteorder", b"big")])
open(f"{work}/text.pth", "w").write("no zip")
END

status=0
refused() {
    if message=$("$source/tools/convert_ultra" "$work/$1.pth" -o "$work/out" 2>&1); then
        echo "FAILED: $1 was converted"; status=1
    fi
    case $message in
    *"$2"*) ;;
    *) echo "FAILED: $1: $message"; status=1 ;;
    esac
}
refused system "names 'posix system'"
refused protocol 'protocol 2'
refused name "names 'builtins eval'"
refused instruction "instruction b'i'"
refused empty-stack 'empty stack'
refused cut 'cut off'
refused recall 'never remembered'
refused unfinished 'in the middle'
refused call 'no storage'
refused not-a-dict 'no dictionary'
refused half-type "names 'torch HalfStorage'"
refused path 'is no number'
refused beyond 'larger than its storage'
refused strides 'one after the other'
refused shape 'has shape (64,), not (4, 64)'
refused none 'lacks tensor'
refused no-pickle 'no data.pkl'
refused big-endian 'little-endian'
refused text 'no zip'
refused missing 'No such file'
[ ! -e "$work/owned" ] || { echo 'FAILED: a pickle was run'; status=1; }
[ ! -e "$work/out" ] && [ ! -e "$work/out.partial" ] || { echo 'FAILED: half a file'; status=1; }

# The published weights, where they are: the size of 168,705 numbers and a header.
model=${ACQ_SHARED:-$source/../shared}/models/ultra_3g.pth
if [ -r "$model" ]; then
    "$source/tools/convert_ultra" "$model" -o "$work/out" || status=1
    [ "$(wc -c <"$work/out")" -gt 674820 ] || { echo 'FAILED: too short'; status=1; }
else
    echo "skipped: $model is not there"
fi
exit $status
