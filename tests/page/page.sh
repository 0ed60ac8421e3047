#!/bin/sh
# The page in Debian's Chromium, driven by playwright-core, and judged by axe-core. Both come from npm; where npm, node
# or Chromium is not there, or the packages cannot be had, the test says so and is skipped.
# usage: page.sh SCRIPT ANYCQ SOURCE_DIR BUILD_DIR ARGUMENT...
set -u
script=$1 anycq=$2 source=$3 build=$4
shift 4
modules=$build/page-modules/node_modules
ANYCQ_CHROMIUM=$(command -v chromium || command -v chromium-browser) ||
    { echo 'skipped: there is no Chromium; apt install chromium'; exit 77; }
export ANYCQ_CHROMIUM
command -v node >/dev/null && command -v npm >/dev/null ||
    { echo 'skipped: there is no node or npm'; exit 77; }
if [ ! -e "$modules/playwright-core/package.json" ] || [ ! -e "$modules/axe-core/axe.min.js" ]; then
    mkdir -p "$build/page-modules" && cd "$build/page-modules" || exit 1
    echo '{"private":true}' >package.json
    timeout 120 npm install --no-audit --no-fund playwright-core@1 axe-core@4 >npm.log 2>&1 ||
        { echo "skipped: npm cannot install playwright-core and axe-core"; exit 77; }
fi
exec timeout 540 node "$source/tests/page/$script" "$anycq" "$source" "$modules" "$build/page-pictures" "$@"
