#!/bin/sh
# tools/exchange_policy on the shipped weights: there and back gives the same bytes, there the blocks 1
# and 2 of six tensors have changed places and nothing else has; other files are refused.
# usage: exchange_policy.sh SOURCE_DIR
source=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
status=0

model=$source/models/anycq-policy.safetensors
tool=$source/tools/exchange_policy
"$tool" "$model" -o "$work/there" && "$tool" "$work/there" -o "$work/back" || status=1
cmp "$model" "$work/back" || status=1

python3 - "$model" "$work/there" <<'END' || status=1
import json, struct, sys

def read(path):
    data = open(path, "rb").read()
    length = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8:8 + length]), data[8 + length:]

(ours, a), (theirs, b) = read(sys.argv[1]), read(sys.argv[2])
assert theirs["__metadata__"]["format"] == "anycq-policy-authors-1"
swapped = 0
for name in ours:
    if name == "__metadata__":
        continue
    begin, end = ours[name]["data_offsets"]
    x, y = a[begin:end], b[begin:end]
    if not (name.startswith("value_message") or name[:17] in ("literal_message.2", "literal_message.3")):
        assert x == y, name
        continue
    part = len(x) // 4
    assert y == x[:part] + x[2 * part:3 * part] + x[part:2 * part] + x[3 * part:], name
    swapped += 1
assert swapped == 6, swapped
END

for file in "$source/README.md" "$source/models/ultra-anycq.safetensors"; do
    if "$tool" "$file" -o "$work/out" 2>"$work/message" || [ -e "$work/out" ]; then
        echo "FAILED: $file was taken"
        status=1
    fi
    case $(cat "$work/message") in
    "exchange_policy: $file: "*) ;;
    *) echo "FAILED: $file: $(cat "$work/message")"; status=1 ;;
    esac
done
exit $status
