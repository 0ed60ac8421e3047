/* make_world.c - writes a made-up world (tests/support/world.h): observed.tsv, complete.tsv. */
#include <stdlib.h>
#include <string.h>

#include "support/world.h"

static int write_file(const world *made, bool all, const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "w");
    if (out == NULL) {
        perror(path);
        return 1;
    }
    world_write(made, all, out);
    return fclose(out) == 0 ? 0 : (perror(path), 1);
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: make_world company|hospital|university|supply|random FACTS SEED "
                        "FOLDER [HIDDEN_SHARE]\n");
        return 2;
    }
    size_t n_facts = strtoull(argv[2], NULL, 10);
    uint64_t seed = strtoull(argv[3], NULL, 10);
    double share = argc > 5 ? strtod(argv[5], NULL) : .08;
    world *made = world_new(argv[1], n_facts, share, seed);
    if (made == NULL) {
        fprintf(stderr, "make_world: no world \"%s\", or out of memory\n", argv[1]);
        return 2;
    }
    size_t n_hidden = 0;
    for (size_t i = 0; i < world_count(made); i++)
        n_hidden += world_get_fact(made, i)->is_hidden;
    printf("%s seed %llu: %zu facts, %zu of them hidden\n", argv[1], (unsigned long long)seed,
           world_count(made), n_hidden);
    int failed = write_file(made, false, argv[4], "observed.tsv") +
                 write_file(made, true, argv[4], "complete.tsv");
    world_free(made);
    return failed > 0;
}
