/* world.c - see world.h. Relations are made in the order of the table, so that a path finds what it
 * goes through. */
#include "support/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "support/world_spec.h"

enum { TRIES = 8 };

static const world_spec specs[] = {
    {"company",
     {{"person", .55},
      {"team", .06},
      {"city", -14},
      {"country", -6},
      {"department", -7},
      {"project", .12},
      {"skill", -25},
      {"service", .12},
      {"server", .15}},
     {{"in_country", ONE, "city", "country", 1, 1, 0, NULL, 0},
      {"part_of", ONE, "team", "department", 1, 1, 0, NULL, 0},
      {"based_in", ONE, "team", "city", 1, 1, 0, NULL, 0},
      {"member_of", ONE, "person", "team", 1, 1, 0, NULL, 0},
      {"lives_in", ONE, "person", "city", 1, 1, .7, "member_of based_in", 0},
      {"citizen_of", ONE, "person", "country", .8, 1, .75, "lives_in in_country", 0},
      {"reports_to", PARENT, "person", "person", .9, 1, .8, "member_of ~member_of", 0},
      {"needs_skill", MANY, "department", "skill", 1, 5, 0, NULL, 0},
      {"has_skill", MANY, "person", "skill", .9, 2.5, .7, "member_of part_of needs_skill", 0},
      {"owned_by", ONE, "project", "team", 1, 1, 0, NULL, 0},
      {"works_on", MANY, "person", "project", .8, 1.7, .75, "member_of ~owned_by", 0},
      {"knows", SYMMETRIC, "person", "person", .5, 1.5, .6, "works_on ~works_on", 0},
      {"mentors", MANY, "person", "person", .2, 1.2, 0, NULL, 0},
      {"run_by", ONE, "service", "team", 1, 1, 0, NULL, 0},
      {"operates", MANY, "team", "server", 1, 3, 0, NULL, 0},
      {"runs_on", MANY, "service", "server", .95, 2, .75, "run_by operates", 0},
      {"located_in", ONE, "server", "city", 1, 1, .6, "~operates based_in", 0},
      {"backup_of", MANY, "server", "server", .4, 1, 0, NULL, 0}}},
    {"hospital",
     {{"hospital", -6},
      {"city", -8},
      {"ward", .05},
      {"nurse", .22},
      {"doctor", .1},
      {"specialty", -10},
      {"patient", .5},
      {"disease", .06},
      {"drug", .08}},
     {{"in_city", ONE, "hospital", "city", 1, 1, 0, NULL, 0},
      {"ward_of", ONE, "ward", "hospital", 1, 1, 0, NULL, 0},
      {"ward_for", ONE, "ward", "specialty", 1, 1, 0, NULL, 0},
      {"works_in", ONE, "nurse", "ward", 1, 1, 0, NULL, 0},
      {"employed_by", ONE, "nurse", "hospital", 1, 1, .93, "works_in ward_of", 0},
      {"nurse_lives_in", ONE, "nurse", "city", .8, 1, .6, "employed_by in_city", 0},
      {"has_specialty", ONE, "doctor", "specialty", 1, 1, 0, NULL, 0},
      {"visits", MANY, "doctor", "ward", .9, 2, .7, "has_specialty ~ward_for", 0},
      {"disease_of", ONE, "disease", "specialty", 1, 1, 0, NULL, 0},
      {"related_to", SYMMETRIC, "disease", "disease", .6, 1.5, .8, "disease_of ~disease_of", 0},
      {"treats", MANY, "drug", "disease", 1, 1.6, 0, NULL, 0},
      {"diagnosed", MANY, "patient", "disease", .95, 1.5, 0, NULL, 0},
      {"lies_in", ONE, "patient", "ward", .8, 1, .75, "diagnosed disease_of ~ward_for", 0},
      {"treated_by", MANY, "patient", "doctor", .85, 1.3, .75, "lies_in ~visits", 0},
      {"takes", MANY, "patient", "drug", .8, 1.8, .8, "diagnosed ~treats", 0},
      {"patient_lives_in", ONE, "patient", "city", 1, 1, 0, NULL, 0},
      {"refers_to", MANY, "doctor", "doctor", .5, 1.5, 0, NULL, 0}}},
    {"university",
     {{"faculty", -6},
      {"programme", .03},
      {"course", .12},
      {"student", .5},
      {"professor", .1},
      {"dorm", -9},
      {"paper", .2},
      {"topic", -20}},
     {{"offered_by", ONE, "programme", "faculty", 1, 1, 0, NULL, 0},
      {"belongs_to", ONE, "course", "programme", 1, 1, 0, NULL, 0},
      {"requires", PARENT, "course", "course", .6, 1, .8, "belongs_to ~belongs_to", 0},
      {"enrolled_in", ONE, "student", "programme", 1, 1, 0, NULL, 0},
      {"takes", MANY, "student", "course", .9, 3, .8, "enrolled_in ~belongs_to", 0},
      {"member_of", ONE, "professor", "faculty", 1, 1, 0, NULL, 0},
      {"teaches", MANY, "professor", "course", .9, 1.6, .65, "member_of ~offered_by ~belongs_to",
       0},
      {"supervised_by", ONE, "student", "professor", .5, 1, .7, "enrolled_in offered_by ~member_of",
       0},
      {"lives_in", ONE, "student", "dorm", .7, 1, 0, NULL, 0},
      {"friend", SYMMETRIC, "student", "student", .5, 1.5, .5, "takes ~takes", 0},
      {"works_on", MANY, "professor", "topic", .9, 2, 0, NULL, 0},
      {"written_by", MANY, "paper", "professor", 1, 1.5, 0, NULL, 0},
      {"about", MANY, "paper", "topic", .9, 1.4, .8, "written_by works_on", 0},
      {"cites", MANY, "paper", "paper", .7, 2, .5, "about ~about", 0},
      {"roommate", SYMMETRIC, "student", "student", .2, 1, .9, "lives_in ~lives_in", 0}}},
    {"supply",
     {{"country", -10},
      {"supplier", .12},
      {"material", -15},
      {"part", .3},
      {"product", .18},
      {"plant", .04},
      {"warehouse", .04},
      {"customer", .3},
      {"carrier", -8}},
     {{"registered_in", ONE, "supplier", "country", 1, 1, 0, NULL, 0},
      {"partner_of", SYMMETRIC, "supplier", "supplier", .5, 1.3, .6, "registered_in ~registered_in",
       0},
      {"made_of", MANY, "part", "material", .9, 1.5, 0, NULL, 0},
      {"supplied_by", MANY, "part", "supplier", .95, 1.3, 0, NULL, 0},
      {"offers", MANY, "supplier", "material", .8, 2, .75, "~supplied_by made_of", 0},
      {"component_of", PARENT, "part", "part", .5, 1, 0, NULL, 0},
      {"plant_in", ONE, "plant", "country", 1, 1, 0, NULL, 0},
      {"made_in", ONE, "product", "plant", 1, 1, 0, NULL, 0},
      {"contains", MANY, "product", "part", .95, 3, .35, "made_in ~made_in contains", 0},
      {"buys_from", MANY, "plant", "supplier", 1, 4, .8, "~made_in contains supplied_by", 0},
      {"warehouse_in", ONE, "warehouse", "country", 1, 1, 0, NULL, 0},
      {"stocks", MANY, "warehouse", "product", 1, 6, 0, NULL, 0},
      {"customer_in", ONE, "customer", "country", 1, 1, 0, NULL, 0},
      {"served_by", ONE, "customer", "warehouse", 1, 1, .7, "customer_in ~warehouse_in", 0},
      {"orders", MANY, "customer", "product", .9, 2, .7, "served_by stocks", 0},
      {"delivers_for", MANY, "carrier", "warehouse", 1, 3, 0, NULL, 0},
      {"delivered_by", ONE, "customer", "carrier", .8, 1, .75, "served_by ~delivers_for", 0}}}};

struct world {
    const world_spec *spec;
    random_spec *drawn; /* that spec, if the seed drew it; else NULL */
    uint64_t seed;
    uint32_t begin[MOST_TYPES + 1]; /* first entity of a type */
    double skew[MOST_TYPES];        /* of chance: 1 uniform, more: a few are chosen often */
    world_fact *facts;
    size_t n, capacity;
    uint32_t *next[2];  /* by fact: the next one with the same head (tail) and relation */
    uint32_t *first[2]; /* by relation and entity; UINT32_MAX: none */
    bool failed;
};

static size_t count_types(const world_spec *spec)
{
    size_t n = 0;
    while (n < MOST_TYPES && spec->types[n].name != NULL)
        n++;
    return n;
}

static size_t count_relations(const world_spec *spec)
{
    size_t n = 0;
    while (n < MOST_RELATIONS && spec->relations[n].name != NULL)
        n++;
    return n;
}

static size_t find_type(const world_spec *spec, const char *name)
{
    size_t i = 0;
    while (strcmp(spec->types[i].name, name) != 0)
        i++;
    return i;
}

/* *backwards: written with ~. */
static uint32_t find_relation(const world_spec *spec, const char *text, size_t length,
                              bool *backwards)
{
    *backwards = *text == '~';
    text += *backwards;
    length -= *backwards;
    uint32_t i = 0;
    while (strlen(spec->relations[i].name) != length ||
           strncmp(spec->relations[i].name, text, length) != 0)
        i++;
    return i;
}

/* A number of the table, changed by the seed. */
static double vary(const world *made, uint32_t relation, uint32_t what, double value, double by)
{
    acq_random random = acq_random_start(made->seed, 1000 + relation * 8 + what);
    return value + (2 * acq_random_unit(&random) - 1) * by;
}

static size_t place(const world *made, uint32_t relation, uint32_t entity)
{
    return (size_t)relation * made->begin[count_types(made->spec)] + entity;
}

static bool has_fact(const world *made, uint32_t head, uint32_t relation, uint32_t tail)
{
    for (uint32_t i = made->first[0][place(made, relation, head)]; i != UINT32_MAX;
         i = made->next[0][i])
        if (made->facts[i].tail == tail)
            return true;
    return false;
}

static bool reserve(world *made)
{
    if (made->n < made->capacity)
        return true;
    made->capacity = made->capacity == 0 ? 1024 : 2 * made->capacity;
    made->facts = realloc(made->facts, made->capacity * sizeof *made->facts);
    for (int side = 0; side < 2; side++) {
        made->next[side] = realloc(made->next[side], made->capacity * sizeof **made->next);
        made->failed = made->failed || made->next[side] == NULL;
    }
    made->failed = made->failed || made->facts == NULL;
    return !made->failed;
}

static void add_fact(world *made, uint32_t head, uint32_t relation, uint32_t tail)
{
    if (made->failed || head == tail || has_fact(made, head, relation, tail) || !reserve(made))
        return;
    uint32_t ends[2] = {head, tail}, i = (uint32_t)made->n++;
    made->facts[i] = (world_fact){.head = head, .relation = relation, .tail = tail};
    for (int side = 0; side < 2; side++) {
        uint32_t *first = &made->first[side][place(made, relation, ends[side])];
        made->next[side][i] = *first;
        *first = i;
    }
}

static uint32_t draw_by_chance(const world *made, const char *type, acq_random *random)
{
    size_t t = find_type(made->spec, type);
    uint32_t n = made->begin[t + 1] - made->begin[t];
    return made->begin[t] + (uint32_t)((double)n * pow(acq_random_unit(random), made->skew[t]));
}

/* One of those that the step leads to; UINT32_MAX: none. */
static uint32_t draw_step(const world *made, uint32_t from, uint32_t relation, bool backwards,
                          acq_random *random)
{
    uint32_t n = 0, found = UINT32_MAX;
    for (uint32_t i = made->first[backwards][place(made, relation, from)]; i != UINT32_MAX;
         i = made->next[backwards][i])
        if (acq_random_below(random, ++n) == 0)
            found = backwards ? made->facts[i].head : made->facts[i].tail;
    return found;
}

static uint32_t draw_by_path(const world *made, const char *path, uint32_t at, acq_random *random)
{
    while (*path != '\0' && at != UINT32_MAX) {
        size_t length = strcspn(path, " ");
        bool backwards;
        uint32_t relation = find_relation(made->spec, path, length, &backwards);
        at = draw_step(made, at, relation, backwards, random);
        path += length + (path[length] == ' ');
    }
    return at;
}

/* One of the few tails that the head's group favours; entities are in a group by chance. */
static uint32_t draw_by_group(const world *made, uint32_t r, uint32_t head, acq_random *random)
{
    enum { GROUPS = 8, FAVOURITES = 3 };
    const relation_spec *spec = &made->spec->relations[r];
    size_t t = find_type(made->spec, spec->to);
    uint64_t group = acq_random_mix(made->seed ^ acq_random_mix(head)) % GROUPS;
    uint64_t favourite = acq_random_below(random, FAVOURITES);
    uint64_t at = acq_random_mix((uint64_t)r << 32 | group << 8 | favourite);
    return made->begin[t] + (uint32_t)(at % (made->begin[t + 1] - made->begin[t]));
}

static void add_tail(world *made, uint32_t r, uint32_t head, double copy, acq_random *random)
{
    const relation_spec *spec = &made->spec->relations[r];
    uint32_t tail = UINT32_MAX;
    if (spec->group > 0 && acq_random_unit(random) < spec->group)
        tail = draw_by_group(made, r, head, random);
    else if (spec->path != NULL && acq_random_unit(random) < copy)
        tail = draw_by_path(made, spec->path, head, random);
    if (tail == UINT32_MAX)
        tail = draw_by_chance(made, spec->to, random);
    if (spec->kind == PARENT && tail >= head)
        return;
    add_fact(made, head, r, tail);
    if (spec->kind == SYMMETRIC)
        add_fact(made, tail, r, head);
}

static void make_relation(world *made, uint32_t r)
{
    const relation_spec *spec = &made->spec->relations[r];
    size_t type = find_type(made->spec, spec->from);
    double copy = fmin(.97, fmax(.1, vary(made, r, 0, spec->copy, .2)));
    double cover = spec->cover >= 1 ? 1 : fmin(1, fmax(.05, vary(made, r, 1, spec->cover, .15)));
    double mean = spec->mean <= 1 ? 1 : fmax(1.05, vary(made, r, 2, spec->mean, spec->mean * .3));
    acq_random random = acq_random_start(made->seed, r);
    for (uint32_t head = made->begin[type]; head < made->begin[type + 1]; head++) {
        if (acq_random_unit(&random) >= cover)
            continue;
        uint32_t n = 1; /* geometric with that mean */
        while (mean > 1 && n < 50 && acq_random_unit(&random) < 1 - 1 / mean)
            n++;
        for (uint32_t i = 0; i < n; i++)
            add_tail(made, r, head, copy, &random);
    }
}

static void clear(world *made)
{
    free(made->facts);
    for (int side = 0; side < 2; side++) {
        free(made->next[side]);
        free(made->first[side]);
        made->next[side] = made->first[side] = NULL;
    }
    made->facts = NULL;
    made->n = made->capacity = 0;
}

/* Everything, with about so many entities. */
static void make_all(world *made, double n_entities)
{
    size_t n_types = count_types(made->spec), n_relations = count_relations(made->spec);
    clear(made);
    for (size_t t = 0; t < n_types; t++) {
        double share = made->spec->types[t].share;
        double n = share < 0 ? -share : share * n_entities;
        made->begin[t + 1] = made->begin[t] + (uint32_t)fmax(3, n);
        made->skew[t] = 1 + vary(made, 500 + (uint32_t)t, 3, .6, .6);
    }
    size_t n_places = n_relations * made->begin[n_types];
    for (int side = 0; side < 2; side++) {
        made->first[side] = malloc(n_places * sizeof **made->first);
        made->failed = made->failed || made->first[side] == NULL;
        if (made->first[side] != NULL)
            memset(made->first[side], 0xff, n_places * sizeof **made->first);
    }
    for (uint32_t r = 0; r < n_relations && !made->failed; r++)
        make_relation(made, r);
}

/* *drawn: by the seed, freed by the caller. */
static const world_spec *find_spec(const char *name, uint64_t seed, random_spec **drawn)
{
    if (strcmp(name, "random") == 0) {
        *drawn = random_spec_new(seed);
        return *drawn == NULL ? NULL : random_spec_get(*drawn);
    }
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        if (strcmp(specs[i].name, name) == 0)
            return &specs[i];
    return NULL;
}

world *world_new(const char *name, size_t n_facts, double hidden_share, uint64_t seed)
{
    random_spec *drawn = NULL;
    const world_spec *spec = find_spec(name, seed, &drawn);
    world *made = spec == NULL ? NULL : calloc(1, sizeof *made);
    if (made == NULL) {
        free(drawn);
        return NULL;
    }
    made->spec = spec;
    made->drawn = drawn;
    made->seed = seed;
    double n_entities = (double)n_facts / 3;
    for (int i = 0; i < TRIES && !made->failed; i++) {
        make_all(made, n_entities);
        double ratio = (double)n_facts / fmax(1, (double)made->n);
        if (fabs(ratio - 1) < .05)
            break;
        n_entities *= ratio;
    }
    acq_random random = acq_random_start(seed, 100000);
    for (size_t i = 0; i < made->n && !made->failed; i++)
        made->facts[i].is_hidden = acq_random_unit(&random) < hidden_share;
    if (!made->failed)
        return made;
    world_free(made);
    return NULL;
}

void world_free(world *made)
{
    if (made == NULL)
        return;
    clear(made);
    free(made->drawn);
    free(made);
}

size_t world_count(const world *made)
{
    return made->n;
}

const world_fact *world_get_fact(const world *made, size_t i)
{
    return &made->facts[i];
}

const char *world_get_relation(const world *made, uint32_t relation)
{
    return made->spec->relations[relation].name;
}

void world_print_entity(const world *made, uint32_t entity, char *out, size_t size)
{
    size_t type = 0;
    while (entity >= made->begin[type + 1])
        type++;
    snprintf(out, size, "%s_%u", made->spec->types[type].name, entity - made->begin[type] + 1);
}

void world_write(const world *made, bool all, FILE *out)
{
    char head[64], tail[64];
    for (size_t i = 0; i < made->n; i++) {
        const world_fact *fact = &made->facts[i];
        if (fact->is_hidden && !all)
            continue;
        world_print_entity(made, fact->head, head, sizeof head);
        world_print_entity(made, fact->tail, tail, sizeof tail);
        fprintf(out, "%s\t%s\t%s\n", head, world_get_relation(made, fact->relation), tail);
    }
}
