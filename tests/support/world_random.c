/* world_random.c - see world_spec.h. */
#include "support/world_spec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { NAME = 12, PATH = 64 };

struct random_spec {
    world_spec spec;
    char types[MOST_TYPES][NAME], relations[MOST_RELATIONS][NAME], paths[MOST_RELATIONS][PATH];
    uint32_t from[MOST_RELATIONS], to[MOST_RELATIONS]; /* types by number */
    uint32_t n_types, n_relations;
    acq_random random;
};

const world_spec *random_spec_get(const random_spec *drawn)
{
    return &drawn->spec;
}

static double draw(random_spec *drawn, double low, double high)
{
    return low + (high - low) * acq_random_unit(&drawn->random);
}

static bool has_chance(random_spec *drawn, double p)
{
    return acq_random_unit(&drawn->random) < p;
}

static void draw_types(random_spec *drawn)
{
    drawn->n_types = 5 + (uint32_t)acq_random_below(&drawn->random, 7);
    for (uint32_t t = 0; t < drawn->n_types; t++) {
        double share = has_chance(drawn, .35) ? -floor(draw(drawn, 4, 40)) : draw(drawn, .03, .5);
        snprintf(drawn->types[t], NAME, "t%u", t);
        drawn->spec.types[t] = (type_spec){drawn->types[t], share};
    }
}

/* One step on from a type, over a relation made before: false if there is none. */
static bool draw_step(random_spec *drawn, uint32_t n_before, uint32_t *type, uint32_t *relation,
                      bool *backwards)
{
    for (int i = 0; i < 20 && n_before > 0; i++) {
        *relation = (uint32_t)acq_random_below(&drawn->random, n_before);
        *backwards = has_chance(drawn, .4);
        if ((*backwards ? drawn->to : drawn->from)[*relation] == *type) {
            *type = (*backwards ? drawn->from : drawn->to)[*relation];
            return true;
        }
    }
    return false;
}

/* A path of relations made before, and the type it ends at; false: none found. */
static bool draw_path(random_spec *drawn, uint32_t r)
{
    uint32_t n = 1 + (uint32_t)acq_random_below(&drawn->random, MOST_STEPS), type = drawn->from[r];
    size_t length = 0;
    drawn->paths[r][0] = '\0';
    for (uint32_t i = 0; i < n; i++) {
        uint32_t relation;
        bool backwards;
        if (!draw_step(drawn, r, &type, &relation, &backwards))
            break;
        length += (size_t)snprintf(drawn->paths[r] + length, PATH - length, "%s%sr%u",
                                   length > 0 ? " " : "", backwards ? "~" : "", relation);
    }
    drawn->to[r] = type;
    return length > 0;
}

static kind draw_kind(random_spec *drawn, uint32_t r)
{
    bool is_loop = drawn->from[r] == drawn->to[r];
    if (is_loop && has_chance(drawn, .6))
        return has_chance(drawn, .5) ? SYMMETRIC : PARENT;
    return has_chance(drawn, .55) ? ONE : MANY;
}

static void draw_relation(random_spec *drawn, uint32_t r)
{
    drawn->from[r] = (uint32_t)acq_random_below(&drawn->random, drawn->n_types);
    drawn->to[r] = (uint32_t)acq_random_below(&drawn->random, drawn->n_types);
    snprintf(drawn->relations[r], NAME, "r%u", r);
    bool has_path = has_chance(drawn, .65) && draw_path(drawn, r);
    kind drawn_kind = draw_kind(drawn, r);
    drawn->spec.relations[r] = (relation_spec){
        .name = drawn->relations[r],
        .kind = drawn_kind,
        .from = drawn->types[drawn->from[r]],
        .to = drawn->types[drawn->to[r]],
        .cover = has_chance(drawn, .5) ? 1 : draw(drawn, .15, 1),
        .mean = drawn_kind == MANY || drawn_kind == SYMMETRIC ? draw(drawn, 1.1, 5) : 1,
        .copy = has_path ? draw(drawn, .3, 1) : 0,
        .path = has_path ? drawn->paths[r] : NULL,
        .group = has_chance(drawn, .25) ? draw(drawn, .2, .9) : 0};
}

random_spec *random_spec_new(uint64_t seed)
{
    random_spec *drawn = calloc(1, sizeof *drawn);
    if (drawn == NULL)
        return NULL;
    drawn->random = acq_random_start(seed, 77);
    drawn->spec.name = "random";
    draw_types(drawn);
    drawn->n_relations = 6 + (uint32_t)acq_random_below(&drawn->random, MOST_RELATIONS - 6);
    for (uint32_t r = 0; r < drawn->n_relations; r++)
        draw_relation(drawn, r);
    return drawn;
}
