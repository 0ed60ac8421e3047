#!/bin/sh
# The calibrator of a completion as a file of its own: its bytes, and what is refused.
# usage: extract_calibrator.sh SOURCE ANYCQ
set -eu
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 0; }
source=$1 anycq=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$anycq" fit "$source/tests/cli/data/films.tsv" -o "$folder/c" --rank 4 --epochs 1 --hold-share 0.2 > /dev/null 2>&1
"$source/tools/extract_calibrator" "$folder/c" "$folder/calibrator"
grep -q -a 'anycq-calibrator-1' "$folder/calibrator"

refuse() { # EXPECTED FILE
    if "$source/tools/extract_calibrator" "$2" "$folder/x" 2> "$folder/error"; then
        echo "$2 was taken" >&2
        exit 1
    fi
    grep -q "$1" "$folder/error" || { cat "$folder/error" >&2; exit 1; }
    test ! -e "$folder/x"
}
refuse 'no completion' "$source/README.md"
refuse 'No such file' "$folder/nowhere"
head -c 200 "$folder/c" > "$folder/short"
refuse 'cut short' "$folder/short"
"$anycq" complete "$source/tests/cli/data/films.tsv" --predictor observed -o "$folder/plain" > /dev/null 2>&1
refuse 'no calibrator' "$folder/plain"
