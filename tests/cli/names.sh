#!/bin/sh
# No name means two things: over all headers of src/, a type is defined in one of them only, and so
# is a function declared. (A forward declaration, "typedef struct x x;", defines nothing.)
# usage: names.sh SOURCE_DIR
cd "$1/src" || exit 1
find . -name '*.h' | sort | xargs awk '
    function define(name)
    {
        if (name !~ /^acq_/)
            return
        if (!(name in where))
            where[name] = FILENAME
        if (where[name] == FILENAME)
            return
        printf "FAILED: %s is in %s and in %s\n", name, where[name], FILENAME
        status = 1
    }
    /^(typedef )?(struct|enum|union) [a-z0-9_]+ \{/ { define($1 == "typedef" ? $3 : $2) }
    /^} [a-z0-9_]+;/ { define(substr($2, 1, length($2) - 1)) }
    /^typedef .*\(\*?[a-z0-9_]+\)\(/ {
        name = $0
        sub(/^[^(]*\(\*?/, "", name)
        sub(/\).*/, "", name)
        define(name)
    }
    /^[a-z][a-z0-9_ ]*[ *]acq_[a-z0-9_]+\(/ && !/^typedef/ {
        name = $0
        sub(/\(.*/, "", name)
        sub(/.*[ *]/, "", name)
        define(name)
    }
    END { exit status }'
