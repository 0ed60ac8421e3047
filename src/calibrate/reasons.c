/* reasons.c - the parts of a link as sentences. Everything is said of the even relation of the
 * pair, the one that has a name in every graph. */
#include "calibrate/reasons.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "models/neighbours.h"

enum { MOST_RULES = 2, NEAREST = 10, MORE = 50, MOST_NAMES = 3 };

static const double LEAST_WEIGHT = 0.05; /* lesser ones are not said */

typedef struct story {
    acq_reason_source *source;
    const acq_graph *graph;
    acq_ent head, tail;
    acq_rel relation; /* even */
    acq_link_parts parts;
    acq_arena *arena;
    acq_reason *reasons;
    size_t n;
    acq_text text; /* of the reason that is being made */
} story;

static const char *name(const story *s, acq_ent entity)
{
    return acq_graph_get_entity_name(s->graph, entity);
}

static void add_atom(story *s, acq_rel relation, const char *from, const char *to)
{
    bool is_turned = relation % 2 == 1;
    acq_text_format(&s->text, "%s(%s, %s)", acq_graph_get_relation_name(s->graph, relation & ~1U),
                    is_turned ? to : from, is_turned ? from : to);
}

static acq_status copy_text(story *s, const char **out)
{
    *out = s->text.failed
               ? NULL
               : acq_arena_copy_string(s->arena, s->text.bytes == NULL ? "" : s->text.bytes,
                                       s->text.length);
    acq_text_clear(&s->text);
    return *out == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
}

/* The reason that the text was made for. */
static acq_status add_reason(story *s, acq_reason reason)
{
    if (copy_text(s, &reason.text) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    reason.model = reason.model == NULL ? "" : reason.model;
    s->reasons[s->n++] = reason;
    return ACQ_OK;
}

/* ---- rules ---- */

static acq_status make_rule(story *s, const acq_fired_rule *fired, acq_reason_rule *out)
{
    const acq_rule *rule = fired->rule;
    bool is_long = rule->second != ACQ_NO_ID;
    *out = (acq_reason_rule){.middle = is_long ? name(s, fired->middle) : "",
                             .middle_id = fired->middle,
                             .support = rule->support,
                             .cases = acq_rule_count_pairs(rule)};
    add_atom(s, rule->first, "X", is_long ? "Z" : "Y");
    if (is_long) {
        acq_text_add(&s->text, " & ");
        add_atom(s, rule->second, "Z", "Y");
    }
    return copy_text(s, &out->body);
}

static void tell_rules(story *s, const acq_reason_rule *rules, size_t n, size_t n_all)
{
    for (size_t i = 0; i < n; i++) {
        bool is_long = rules[i].middle[0] != '\0';
        if (i == 0)
            add_atom(s, s->relation, "X", "Y");
        acq_text_format(&s->text, "%s %s %s, in %llu of %llu cases",
                        i == 0 ? " holds where" : "; where", rules[i].body, is_long ? "do" : "does",
                        (unsigned long long)rules[i].support, (unsigned long long)rules[i].cases);
        if (is_long)
            acq_text_format(&s->text, " (here Z is %s)", rules[i].middle);
    }
    if (n < n_all)
        acq_text_format(&s->text, "; and by %zu more rule%s", n_all - n, n_all - n == 1 ? "" : "s");
}

static acq_status add_rules(story *s)
{
    acq_fired_rule fired[MOST_RULES];
    size_t n_all = 0, n = 0;
    if (s->source->rules != NULL)
        n = acq_rules_find_fired(s->source->rules, s->head, s->relation, s->tail, fired, MOST_RULES,
                                 &n_all);
    acq_reason_rule *rules = acq_arena_alloc(s->arena, MOST_RULES, sizeof *rules);
    acq_status status = rules == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        status = make_rule(s, &fired[i], &rules[i]);
    if (status != ACQ_OK || n == 0)
        return status;
    tell_rules(s, rules, n, n_all);
    return add_reason(s, (acq_reason){.kind = "rules",
                                      .weight = (double)s->parts.weights[ACQ_PART_RULES],
                                      .count = rules[0].support,
                                      .total = rules[0].cases,
                                      .rules = rules,
                                      .n_rules = n});
}

/* ---- learnt rules ---- */

/* A body as it is walked from X to Y, its other variables Z and W. */
static void add_walk(story *s, const acq_rel *body)
{
    static const char *const between[] = {"Z", "W"};
    unsigned n = 0;
    while (n < ACQ_RULEBOOK_HOPS && body[n] != ACQ_NO_ID)
        n++;
    for (unsigned i = 0; i < n; i++) {
        if (i > 0)
            acq_text_add(&s->text, " & ");
        add_atom(s, body[i], i == 0 ? "X" : between[i - 1], i + 1 == n ? "Y" : between[i]);
    }
}

static void add_body(story *s, const acq_learnt_rule *rule)
{
    if (rule->constant == ACQ_NO_ID)
        add_walk(s, rule->body);
    else
        add_atom(s, rule->body[0], "X", rule->other == ACQ_NO_ID ? "Z" : name(s, rule->other));
}

/* In the counts of the facts that learning looked at. */
static acq_status add_learnt(story *s, size_t m)
{
    const acq_learnt_rule *rule = s->parts.learnt;
    acq_reason_rule *told = acq_arena_alloc(s->arena, 1, sizeof *told);
    if (told == NULL)
        return ACQ_ERR_MEMORY;
    *told = (acq_reason_rule){
        .middle = "", .middle_id = ACQ_NO_ID, .support = rule->support, .cases = rule->pairs};
    add_body(s, rule);
    acq_status status = copy_text(s, &told->body);
    if (status != ACQ_OK)
        return status;
    add_atom(s, rule->head, "X", rule->constant == ACQ_NO_ID ? "Y" : name(s, rule->constant));
    bool is_long = rule->constant == ACQ_NO_ID && rule->body[1] != ACQ_NO_ID;
    acq_text_format(&s->text, " holds where %s %s, in %u of %u cases", told->body,
                    is_long ? "do" : "does", rule->support, rule->pairs);
    return add_reason(s, (acq_reason){.kind = "rules",
                                      .weight = (double)s->parts.weights[ACQ_PART_MODELS + m],
                                      .count = rule->support,
                                      .total = rule->pairs,
                                      .rules = told,
                                      .n_rules = 1});
}

/* ---- models ---- */

/* How many unobserved tails the row has. */
static uint64_t count_open(const story *s, acq_rel relation, acq_ent head, size_t *n_observed)
{
    const acq_links *links = NULL;
    *n_observed = 0;
    if (acq_graph_open_links(s->graph, relation, &links, NULL) == ACQ_OK)
        *n_observed = acq_links_get_row(links, head).n;
    return acq_graph_get_n_entities(s->graph) - *n_observed;
}

static const char *ordinal(uint64_t n)
{
    static const char *const endings[] = {"th", "st", "nd", "rd"};
    return n % 100 / 10 == 1 || n % 10 > 3 ? endings[0] : endings[n % 10];
}

/* The place of the tail for the head, or the other way round. */
static void tell_rank(story *s, uint64_t rank, bool of_head, uint64_t *of)
{
    size_t n_observed;
    *of = of_head ? count_open(s, acq_inverse(s->relation), s->tail, &n_observed)
                  : count_open(s, s->relation, s->head, &n_observed);
    const char *who = name(s, of_head ? s->head : s->tail);
    if (rank > s->source->top + n_observed)
        acq_text_format(&s->text, "%s not among the first %llu of %llu for ", who,
                        (unsigned long long)(rank - 1), (unsigned long long)*of);
    else
        acq_text_format(&s->text, "%s %llu%s of %llu for ", who, (unsigned long long)rank,
                        ordinal(rank), (unsigned long long)*of);
    add_atom(s, s->relation, of_head ? "?" : name(s, s->head), of_head ? name(s, s->tail) : "?");
}

static const char *print_model(const char *kind)
{
    static const char *const names[][2] = {{"complex", "ComplEx"},
                                           {"nbfnet", "NBFNet"},
                                           {"ultra", "ULTRA"},
                                           {"rulebook", "The rulebook"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(kind, names[i][0]) == 0)
            return names[i][1];
    return kind;
}

static acq_status add_ranks(story *s, size_t m)
{
    const acq_link_parts *parts = &s->parts;
    acq_reason reason = {.kind = "rank",
                         .weight = (double)parts->weights[ACQ_PART_MODELS + m],
                         .model = print_model(s->source->models[m]),
                         .rank = parts->ranks[m],
                         .back_rank = parts->back_ranks[m]};
    if (reason.rank + reason.back_rank == 0)
        return ACQ_OK;
    acq_text_format(&s->text, "%s ranks ", reason.model);
    if (reason.rank > 0)
        tell_rank(s, reason.rank, false, &reason.of);
    if (reason.rank > 0 && reason.back_rank > 0)
        acq_text_add(&s->text, ", ");
    if (reason.back_rank > 0)
        tell_rank(s, reason.back_rank, true, &reason.back_of);
    return add_reason(s, reason);
}

/* ---- similar entities ---- */

static void add_names(story *s, const acq_ent *entities, size_t n, size_t n_all)
{
    for (size_t i = 0; i < n; i++)
        acq_text_format(&s->text, "%s%s", i == 0 ? ": " : ", ", name(s, entities[i]));
    acq_text_add(&s->text, n < n_all ? ", ..." : "");
}

/* Those that have it, of the nearest to the head; turned: those that the head has, of the nearest
 * to the tail. Where none of the nearest has it, more are looked at. */
static acq_status tell_similar(story *s, bool is_turned, double weight, acq_error *error)
{
    acq_neighbour nearest[MORE];
    acq_rel relation = is_turned ? acq_inverse(s->relation) : s->relation;
    acq_ent self = is_turned ? s->tail : s->head, other = is_turned ? s->head : s->tail;
    size_t n, n_read = 0, n_have = 0;
    acq_ent *have = acq_arena_alloc(s->arena, MORE, sizeof *have);
    if (have == NULL)
        return acq_fail_memory(error);
    acq_status status =
        acq_neighbours_find(s->source->neighbours, self, relation, other, nearest, MORE, &n, error);
    for (; status == ACQ_OK && n_read < n && (n_read < NEAREST || n_have == 0); n_read++)
        if (nearest[n_read].has_tail)
            have[n_have++] = nearest[n_read].entity;
    if (status != ACQ_OK || n_read == 0 || (n_have == 0 && weight > 0))
        return status;
    acq_text_format(&s->text, "%s%zu of the %zu most like %s, among those with ",
                    weight < 0 ? "only " : "", n_have, n_read, name(s, self));
    add_atom(s, s->relation, is_turned ? "..." : "X", is_turned ? "X" : "...");
    acq_text_format(&s->text, ", %s it", n_have == 1 ? "has" : "have");
    add_names(s, have, n_have < MOST_NAMES ? n_have : MOST_NAMES, n_have);
    return add_reason(s, (acq_reason){.kind = "similar",
                                      .weight = weight,
                                      .count = n_have,
                                      .total = n_read,
                                      .entities = have,
                                      .n_entities = n_have});
}

static acq_status add_similar(story *s, size_t m, acq_error *error)
{
    uint32_t rank = s->parts.ranks[m], back = s->parts.back_ranks[m];
    double weight = (double)s->parts.weights[ACQ_PART_MODELS + m];
    if (s->source->neighbours == NULL || rank + back == 0)
        return ACQ_OK;
    return tell_similar(s, rank == 0 || (back > 0 && back < rank), weight, error);
}

/* ---- facts of the relation that the two have ---- */

/* Share of the heads of a relation that have no more than n tails. */
static double share_with(const acq_links *links, size_t n)
{
    uint32_t few = 0;
    for (uint32_t i = 0; i < links->n_heads; i++)
        few += acq_links_get_row_at(links, i).n <= n;
    return links->n_heads == 0 ? 0 : (double)few / links->n_heads;
}

static void tell_facts(story *s, const acq_links *links, bool of_tail, size_t n, bool is_for)
{
    const char *own = name(s, of_tail ? s->tail : s->head);
    const char *head = of_tail ? "..." : own, *tail = of_tail ? own : "...";
    acq_text_add(&s->text, n == 0 ? "no other fact " : "");
    if (n > 0)
        acq_text_format(&s->text, "%zu other fact%s ", n, n == 1 ? "" : "s");
    add_atom(s, s->relation, head, tail);
    acq_text_add(&s->text, n == 1 || n == 0 ? " is known" : " are known");
    if (n > 0 && !is_for)
        acq_text_format(&s->text, "; %.0f %% of all %s have no more", 100 * share_with(links, n),
                        of_tail ? "tails" : "heads");
}

static acq_status add_facts(story *s, bool of_tail, acq_error *error)
{
    const acq_links *links = NULL;
    acq_rel relation = of_tail ? acq_inverse(s->relation) : s->relation;
    double weight = (double)s->parts.weights[of_tail ? ACQ_PART_TAIL : ACQ_PART_HEAD];
    acq_status status = acq_graph_open_links(s->graph, relation, &links, error);
    if (status != ACQ_OK)
        return status;
    size_t n = acq_links_get_row(links, of_tail ? s->tail : s->head).n;
    tell_facts(s, links, of_tail, n, weight > 0);
    return add_reason(s, (acq_reason){.kind = of_tail ? "tail" : "head",
                                      .weight = weight,
                                      .count = n,
                                      .total = links->n_heads});
}

/* ---- all of them ---- */

static bool is_said(const story *s, size_t part)
{
    return fabs((double)s->parts.weights[part]) >= LEAST_WEIGHT;
}

static acq_status tell(story *s, acq_error *error)
{
    acq_status status = ACQ_OK;
    if (is_said(s, ACQ_PART_RULES))
        status = add_rules(s);
    for (size_t m = 0; m + ACQ_PART_MODELS < s->parts.n && status == ACQ_OK; m++) {
        if (!is_said(s, ACQ_PART_MODELS + m))
            continue;
        const char *kind = s->source->models[m];
        if (strcmp(kind, "neighbours") == 0)
            status = add_similar(s, m, error);
        else if (strcmp(kind, "rulebook") == 0 && s->parts.learnt != NULL)
            status = add_learnt(s, m);
        else
            status = add_ranks(s, m);
    }
    if (status == ACQ_OK && is_said(s, ACQ_PART_HEAD))
        status = add_facts(s, false, error);
    if (status == ACQ_OK && is_said(s, ACQ_PART_TAIL))
        status = add_facts(s, true, error);
    return status == ACQ_ERR_MEMORY ? acq_fail_memory(error) : status;
}

/* The evidence for the link, strongest first, then that against it, weakest first. */
static int compare(const void *a, const void *b)
{
    const acq_reason *x = a, *y = b;
    return x->weight != y->weight ? (x->weight < y->weight ? 1 : -1) : strcmp(x->text, y->text);
}

static acq_status make(story *s, const char **note, acq_error *error)
{
    acq_status status =
        s->source->ops->find_parts(s->source, s->head, s->relation, s->tail, &s->parts, error);
    if (status == ACQ_OK && s->parts.n == 0)
        *note = "a completion keeps those of links with p >= 0.01";
    if (status != ACQ_OK || s->parts.n == 0)
        return status;
    s->reasons = acq_arena_alloc(s->arena, ACQ_MOST_PARTS, sizeof *s->reasons);
    if (s->reasons == NULL)
        return acq_fail_memory(error);
    acq_text_init(&s->text);
    status = tell(s, error);
    acq_text_deinit(&s->text);
    if (status == ACQ_OK)
        qsort(s->reasons, s->n, sizeof *s->reasons, compare);
    return status;
}

acq_status acq_reasons_make(const acq_predictor *predictor, acq_ent head, acq_rel relation,
                            acq_ent tail, acq_arena *arena, acq_reason **out, size_t *n,
                            const char **note, acq_error *error)
{
    bool is_turned = relation % 2 == 1;
    story s = {.source = predictor->reasons,
               .graph = predictor->graph,
               .head = is_turned ? tail : head,
               .relation = relation & ~1U,
               .tail = is_turned ? head : tail,
               .arena = arena};
    acq_status status = ACQ_OK;
    *note = NULL;
    if (s.source == NULL)
        *note = predictor->calibrator == NULL ? "the scores of this predictor are no probabilities"
                : strncmp(predictor->name, "completion", strlen("completion")) == 0
                    ? "the completion keeps none; fit it again"
                    : "the graph is large; anycq fit keeps them";
    else
        status = make(&s, note, error);
    *out = s.reasons;
    *n = s.n;
    return status;
}
