/* examples.c - questions about the graph at hand, for people who see it for the first time. Each is
 * made from facts: a pattern of relations is asked for, and the entities of one match become the
 * question's constants, so that it has an answer. Common relations come first; all of it takes two
 * seconds at most. */
#include <string.h>

#include "base/budget.h"
#include "base/text.h"
#include "server/parts.h"

enum { MOST_RELATIONS = 8, MOST_NAME = 60 };
static const double SECONDS = 2, SECONDS_EACH = .25;

typedef struct maker {
    const acq_served_graph *g;
    json_t *list;
    acq_rel relations[MOST_RELATIONS]; /* the commonest, most facts first */
    uint64_t facts[MOST_RELATIONS];
    size_t n;
    int64_t deadline;
} maker;

static void find_common(maker *m)
{
    for (acq_rel r = 0; r < acq_graph_get_n_relations(m->g->graph); r++) {
        acq_relation_counts counts = {.size = sizeof counts};
        if (!acq_graph_is_named(m->g->graph, r) || acq_clock_ns() > m->deadline ||
            acq_graph_count_relation(m->g->graph, r, &counts, NULL) != ACQ_OK)
            continue;
        size_t at = m->n < MOST_RELATIONS ? m->n++ : MOST_RELATIONS - 1;
        if (at == MOST_RELATIONS - 1 && m->facts[at] >= counts.facts)
            continue;
        for (; at > 0 && m->facts[at - 1] < counts.facts; at--) {
            m->facts[at] = m->facts[at - 1];
            m->relations[at] = m->relations[at - 1];
        }
        m->facts[at] = counts.facts;
        m->relations[at] = r;
    }
}

/* ---- text ---- */

/* May a relation stand without quotes? */
static bool is_word(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    static const char *const reserved[] = {"exists", "forall", "not", "and", "or", "inverse"};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        if (strcasecmp(name, reserved[i]) == 0)
            return false;
    }
    return (name[0] < '0' || name[0] > '9') && name[strspn(name, letters)] == '\0';
}

/* A name as the query language has it: of RDF the key, which is not ambiguous. */
static void add_name(acq_text *out, const char *name, const char *key)
{
    if (strcmp(name, key) != 0 && strchr(key, '>') == NULL) {
        acq_text_format(out, "<%s>", key);
        return;
    }
    acq_text_add_quoted(out, name, strlen(name));
}

/* The pattern with $0, $1, ... as relations and A, B, ... as entities. */
static void fill(const maker *m, const char *pattern, const acq_rel *relations,
                 const acq_ent *entities, acq_text *out)
{
    const acq_graph *graph = m->g->graph;
    for (const char *c = pattern; *c != '\0'; c++) {
        if (*c == '$') {
            acq_rel r = relations[*++c - '0'];
            const char *name = acq_graph_get_relation_name(graph, r);
            const char *key = acq_graph_get_relation_key(graph, r);
            if (strcmp(name, key) == 0 && is_word(name))
                acq_text_add(out, name);
            else
                add_name(out, name, key);
        } else if (*c >= 'A' && *c <= 'F') {
            acq_ent e = entities[*c - 'A'];
            add_name(out, acq_graph_get_entity_name(graph, e), acq_graph_get_entity_key(graph, e));
        } else {
            acq_text_add_char(out, *c);
        }
    }
}

/* ---- facts ---- */

/* Has the pattern a match? *entities are those of its first one. */
static bool match(maker *m, const char *pattern, const acq_rel *relations, const acq_ent *known,
                  acq_ent *entities)
{
    acq_text text = {0};
    acq_query *query = NULL;
    acq_result *result = NULL;
    acq_ask_params params;
    acq_ask_params_init(&params);
    params.seconds = SECONDS_EACH;
    fill(m, pattern, relations, known, &text);
    bool is_found = acq_clock_ns() < m->deadline && !text.failed &&
                    acq_query_new(m->g->graph, text.bytes, &query, NULL) == ACQ_OK &&
                    acq_ask(query, m->g->observed, &params, &result, NULL) == ACQ_OK &&
                    acq_result_get_n_answers(result) > 0;
    for (size_t i = 0; is_found && i < acq_query_get_n_free(query); i++) {
        entities[i] = acq_result_get_entity(result, 0, i);
        const char *name = acq_graph_get_entity_name(m->g->graph, entities[i]);
        is_found = strlen(name) <= MOST_NAME && strpbrk(name, "\n\r\t") == NULL;
    }
    acq_result_free(result);
    acq_query_free(query);
    acq_text_deinit(&text);
    return is_found;
}

static void add_example(maker *m, const char *title, const char *pattern, const acq_rel *relations,
                        const acq_ent *entities)
{
    acq_text text = {0};
    acq_text_add(&text, "Q");
    fill(m, pattern, relations, entities, &text);
    if (!text.failed)
        json_array_append_new(
            m->list, json_pack("{s:s,s:o}", "title", title, "query", acq_service_text(text.bytes)));
    acq_text_deinit(&text);
}

/* ---- kinds of examples ---- */

/* What two relations have in common that `pattern` matches; the first pair that does. */
static bool add_pair(maker *m, const char *title, const char *pattern, const char *question)
{
    for (size_t i = 0; i < m->n; i++) {
        for (size_t j = 0; j < m->n; j++) {
            acq_rel r[] = {m->relations[i], m->relations[j]};
            acq_ent e[8];
            if (i == j || !match(m, pattern, r, NULL, e))
                continue;
            add_example(m, title, question, r, e);
            return true;
        }
    }
    return false;
}

/* Who shares one thing and not the other? */
static void add_denial(maker *m)
{
    for (size_t i = 0; i + 1 < m->n; i++) {
        acq_rel r[] = {m->relations[i], m->relations[i + 1]};
        acq_ent e[8], other[8];
        if (!match(m, "Q(x, y, z) := $0(x, y) & $1(x, z)", r, NULL, e) ||
            !match(m, "Q(x) := $0(x, B) & !$1(x, C)", r, e, other))
            continue;
        add_example(m, "a condition denied", "(x) := $0(x, B) & !$1(x, C)", r, e);
        return;
    }
}

static void add_circle(maker *m)
{
    const size_t most = m->n;
    for (size_t n = 0; most > 0 && n < most * most * most && acq_clock_ns() < m->deadline; n++) {
        size_t i = n % most, j = n / most % most, k = n / most / most;
        acq_rel r[] = {m->relations[i], m->relations[j], m->relations[k]};
        acq_ent e[8];
        if (i == j ||
            !match(m, "Q(x, y, z) := $0(x, y) & $1(x, z) & $2(y, z) & x != y", r, NULL, e))
            continue;
        add_example(m, "a circle", "(x, y) := exists z. $0(x, y) & $1(x, z) & $2(y, z)", r, e);
        return;
    }
}

/* Likely facts that the graph lacks. */
static void add_missing(maker *m)
{
    acq_suggest_params params;
    acq_suggestions *found = NULL;
    acq_suggest_params_init(&params);
    params.top = 2;
    params.min_p = .5;
    params.seconds = SECONDS;
    if (!acq_predictor_is_calibrated(m->g->predictor) ||
        acq_suggest(m->g->predictor, &params, &found, NULL) != ACQ_OK)
        return;
    for (size_t i = 0; i < acq_suggestions_get_n(found); i++) {
        const acq_suggestion *s = acq_suggestions_get(found, i);
        add_example(m, "what the graph lacks", "(x) := $0(A, x)", &s->relation, &s->head);
    }
    acq_suggestions_free(found);
}

json_t *acq_tools_examples(const acq_call *call, const json_t *arguments, int *status)
{
    maker m = {.g = acq_tools_find_graph(call, arguments),
               .list = json_array(),
               .deadline = acq_clock_get_deadline(SECONDS)};
    acq_ent e[8];
    (void)status;
    find_common(&m);
    if (m.n > 0 && match(&m, "Q(x, y) := $0(x, y)", m.relations, NULL, e))
        add_example(&m, "one step", "(x) := $0(A, x)", m.relations, e);
    add_pair(&m, "two steps", "Q(x, y, z) := $0(x, y) & $1(y, z) & x != z",
             "(x) := exists y. $0(A, y) & $1(y, x)");
    add_pair(&m, "two conditions", "Q(x, y, z) := $0(x, y) & $1(x, z) & y != z",
             "(x) := $0(x, B) & $1(x, C)");
    add_denial(&m);
    add_circle(&m);
    add_missing(&m);
    return json_pack("{s:o}", "examples", m.list);
}
