# common.sh - what the benchmark scripts share; `source` and `build` are set when it is read.

say() { printf 'bench: %s\n' "$*" >&2; }
# Text for a JSON string: backslashes and quotes escaped, one line.
quote() { printf '%s' "$1" | tr '\n' ' ' | sed 's/\\/\\\\/g; s/"/\\"/g'; }

# A release in $build, of one target when it is named, and an empty folder $results in it.
bench_build() {
    mkdir -p "$build"
    build=$(cd "$build" && pwd)
    results=$build/results
    rm -rf "$results"
    mkdir -p "$results"
    # Times are wall-clock: other work makes them worse, so the load found is part of the result.
    load=$(cut -d ' ' -f 1 /proc/loadavg 2>/dev/null || echo unknown)
    say "building a release in $build"
    generator=$(command -v ninja >/dev/null 2>&1 && echo Ninja || echo 'Unix Makefiles')
    [ -f "$build/CMakeCache.txt" ] || cmake -S "$source/bench" -B "$build" -G "$generator" \
        -DCMAKE_BUILD_TYPE=Release '-DCMAKE_C_FLAGS_RELEASE=-O3 -g1 -DNDEBUG' >"$build/cmake.log"
    cmake --build "$build" --parallel 2 ${1:+--target "$1"} >"$build/build.log" || { cat "$build/build.log" >&2; exit 1; }
}

# One line of JSON: where and what was measured.
bench_machine() {
    commit=$(git -C "$source" rev-parse --short HEAD 2>/dev/null || echo unknown)
    [ -z "$(git -C "$source" status --porcelain --untracked-files=no 2>/dev/null)" ] ||
        commit="$commit with changes"
    cpu=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo 2>/dev/null | head -n 1)
    compiler=$(sed -n 's/^CMAKE_C_COMPILER:[^=]*=//p' "$build/CMakeCache.txt")
    system="$(uname -sm), $("$compiler" --version | head -n 1)"
    printf '{"kind": "machine", "cpu": "%s", "cores": "%s", "load": "%s", "system": "%s", "commit": "%s"}\n' \
        "$(quote "${cpu:-unknown CPU}")" "$(getconf _NPROCESSORS_ONLN)" "$load" "$(quote "$system")" \
        "$(quote "$commit")"
}
