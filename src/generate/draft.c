/* draft.c - see parts.h. A draft becomes a query by being printed and parsed: what is labelled is
 * what a reader of the file will see. */
#include "generate/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "query/query.h"

void acq_draft_deinit(acq_draft *draft)
{
    acq_free(draft->literals);
    acq_free(draft->answer);
    *draft = (acq_draft){0};
}

acq_status acq_draft_init(acq_draft *draft, const acq_literal *literals, uint32_t n_literals,
                          uint32_t n_variables, acq_error *error)
{
    *draft = (acq_draft){.n_literals = n_literals, .n_variables = n_variables, .n_free = 1};
    draft->literals = acq_alloc(n_literals, sizeof *draft->literals);
    draft->answer = acq_zalloc(n_variables, sizeof *draft->answer);
    if (draft->literals == NULL || draft->answer == NULL) {
        acq_draft_deinit(draft);
        return acq_fail_memory(error);
    }
    memcpy(draft->literals, literals, n_literals * sizeof *literals);
    return ACQ_OK;
}

acq_status acq_draft_copy(const acq_draft *from, acq_draft *out, acq_error *error)
{
    acq_status status =
        acq_draft_init(out, from->literals, from->n_literals, from->n_variables, error);
    if (status != ACQ_OK)
        return status;
    memcpy(out->answer, from->answer, from->n_variables * sizeof *out->answer);
    out->n_free = from->n_free;
    out->or_begin = from->or_begin;
    out->or_end = from->or_end;
    return ACQ_OK;
}

static void swap_variables(acq_place *place, uint32_t a, uint32_t b)
{
    if (place->is_variable && (place->id == a || place->id == b))
        place->id = place->id == a ? b : a;
}

void acq_draft_free_variable(acq_draft *draft, uint32_t variable)
{
    uint32_t first = draft->n_free++;
    acq_ent value = draft->answer[variable];
    draft->answer[variable] = draft->answer[first];
    draft->answer[first] = value;
    for (uint32_t i = 0; i < draft->n_literals; i++) {
        swap_variables(&draft->literals[i].left, first, variable);
        swap_variables(&draft->literals[i].right, first, variable);
    }
}

static void fix_place(acq_place *place, acq_ent value)
{
    if (!place->is_variable)
        return;
    if (place->id == 0)
        *place = (acq_place){.is_variable = false, .id = value};
    else
        place->id--;
}

void acq_draft_fix(acq_draft *draft, acq_ent value)
{
    for (uint32_t i = 0; i < draft->n_literals; i++) {
        fix_place(&draft->literals[i].left, value);
        fix_place(&draft->literals[i].right, value);
    }
    draft->n_variables--;
    draft->n_free--;
    memmove(draft->answer, draft->answer + 1, draft->n_variables * sizeof *draft->answer);
}

/* ---- one atom for each pair ---- */

typedef struct paired {
    uint64_t low, high; /* the two terms, the lesser first */
    uint64_t order;     /* random */
    uint32_t literal;
} paired;

static uint64_t key_of(acq_place place)
{
    return (uint64_t)place.id * 2 + place.is_variable;
}

static int compare_pairs(const void *left, const void *right)
{
    const paired *a = left, *b = right;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    if (a->high != b->high)
        return a->high < b->high ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static int compare_literals(const void *left, const void *right)
{
    const paired *a = left, *b = right;
    return (a->literal > b->literal) - (a->literal < b->literal);
}

acq_status acq_draft_thin(acq_draft *draft, acq_random *random, acq_error *error)
{
    uint32_t n = draft->n_literals, kept = 0;
    paired *pairs = acq_alloc(n, sizeof *pairs);
    if (pairs == NULL)
        return acq_fail_memory(error);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t a = key_of(draft->literals[i].left), b = key_of(draft->literals[i].right);
        pairs[i] = (paired){a < b ? a : b, a < b ? b : a, acq_random_next(random), i};
    }
    qsort(pairs, n, sizeof *pairs, compare_pairs);
    for (uint32_t i = 0; i < n; i++) {
        bool is_new =
            i == 0 || pairs[i].low != pairs[kept - 1].low || pairs[i].high != pairs[kept - 1].high;
        if (is_new)
            pairs[kept++] = pairs[i];
    }
    qsort(pairs, kept, sizeof *pairs, compare_literals); /* kept ones move to the front in order */
    for (uint32_t i = 0; i < kept; i++)
        draft->literals[i] = draft->literals[pairs[i].literal];
    draft->n_literals = kept;
    acq_free(pairs);
    return ACQ_OK;
}

/* ---- printing ----
 *
 * The number of a name is that of its first occurrence among names of its kind. Drafts have a
 * hundred literals at most, so looking back is cheap. */

static uint32_t number_relation(const acq_draft *draft, uint32_t i)
{
    uint32_t n = 0;
    for (uint32_t j = 0; j <= i; j++) {
        uint32_t k = 0;
        while (draft->literals[k].relation != draft->literals[j].relation)
            k++;
        n += k == j;
        if (draft->literals[j].relation == draft->literals[i].relation)
            break;
    }
    return n;
}

/* Place 2 i is the left one of literal i, 2 i + 1 the right one. */
static acq_place get_place(const acq_draft *draft, uint32_t i)
{
    const acq_literal *literal = &draft->literals[i / 2];
    return i % 2 == 0 ? literal->left : literal->right;
}

static bool is_first(const acq_draft *draft, uint32_t i)
{
    acq_place place = get_place(draft, i);
    for (uint32_t j = 0; j < i; j++) {
        acq_place other = get_place(draft, j);
        if (!other.is_variable && other.id == place.id)
            return false;
    }
    return true;
}

static uint32_t number_constant(const acq_draft *draft, acq_ent entity)
{
    uint32_t n = 0;
    for (uint32_t i = 0;; i++) {
        acq_place place = get_place(draft, i);
        if (place.is_variable)
            continue;
        n += is_first(draft, i);
        if (place.id == entity)
            return n;
    }
}

static void print_place(const acq_draft *draft, acq_place place, acq_text *out)
{
    if (!place.is_variable)
        acq_text_format(out, "s%u", number_constant(draft, place.id));
    else if (place.id < draft->n_free)
        acq_text_format(out, "f%u", place.id + 1);
    else
        acq_text_format(out, "e%u", place.id - draft->n_free + 1);
}

static void print_literal(const acq_draft *draft, uint32_t i, acq_text *out)
{
    const acq_literal *literal = &draft->literals[i];
    acq_text_add(out, literal->is_negated ? "(!(" : "(");
    acq_text_format(out, "r%u(", number_relation(draft, i));
    print_place(draft, literal->left, out);
    acq_text_add_char(out, ',');
    print_place(draft, literal->right, out);
    acq_text_add(out, literal->is_negated ? ")))" : "))");
}

static void print_formula(const acq_draft *draft, acq_text *out)
{
    for (uint32_t i = 0; i < draft->n_literals; i++) {
        bool is_or = i > draft->or_begin && i < draft->or_end;
        if (i > 0)
            acq_text_add_char(out, is_or ? '|' : '&');
        if (i == draft->or_begin && draft->or_end > draft->or_begin)
            acq_text_add_char(out, '(');
        print_literal(draft, i, out);
        if (i + 1 == draft->or_end)
            acq_text_add_char(out, ')');
    }
}

static void print_grounding(const acq_draft *draft, acq_text *out)
{
    uint32_t n_relations = 0, n_constants = 0;
    acq_text_add_char(out, '{');
    for (uint32_t i = 0; i < draft->n_literals; i++)
        if (number_relation(draft, i) > n_relations)
            acq_text_format(out, "%s\"r%u\": %u", n_relations == 0 ? "" : ", ", n_relations + 1,
                            draft->literals[i].relation),
                n_relations++;
    for (uint32_t i = 0; i < 2 * draft->n_literals; i++) {
        acq_place place = get_place(draft, i);
        if (!place.is_variable && is_first(draft, i))
            acq_text_format(out, ", \"s%u\": %u", ++n_constants, place.id);
    }
    acq_text_add_char(out, '}');
}

void acq_draft_print(const acq_draft *draft, acq_text *formula, acq_text *grounding)
{
    print_formula(draft, formula);
    print_grounding(draft, grounding);
}

/* ---- the query ---- */

/* Relation r<i> has the i-th new relation of the literals, and so have constants. */
static acq_status ground(acq_query *query, const acq_draft *draft, acq_error *error)
{
    for (uint32_t i = 0; i < draft->n_literals; i++) {
        uint32_t number = number_relation(draft, i);
        for (uint32_t k = 0; k < query->n_relations; k++)
            if (strtoul(query->relations[k].text + 1, NULL, 10) == number) {
                query->relations[k].is_id = true;
                query->relations[k].id = draft->literals[i].relation;
            }
    }
    for (uint32_t i = 0; i < 2 * draft->n_literals; i++) {
        acq_place place = get_place(draft, i);
        uint32_t number = place.is_variable ? 0 : number_constant(draft, place.id);
        for (uint32_t k = 0; k < query->n_constants && number > 0; k++)
            if (strtoul(query->constants[k].text + 1, NULL, 10) == number) {
                query->constants[k].is_id = true;
                query->constants[k].id = place.id;
            }
    }
    for (uint32_t k = 0; k < query->n_constants; k++)
        if (!query->constants[k].is_id)
            return acq_fail(error, ACQ_ERR_INTERNAL, "a constant of a draft has no entity");
    return ACQ_OK;
}

acq_status acq_draft_make_query(const acq_draft *draft, acq_query **out, acq_error *error)
{
    acq_text formula;
    acq_query *query = NULL;
    acq_text_init(&formula);
    print_formula(draft, &formula);
    acq_status status = acq_text_finish(&formula, error);
    if (status == ACQ_OK)
        status = acq_query_parse_benchmark(formula.bytes, formula.length, &query, error);
    acq_text_deinit(&formula);
    if (status == ACQ_OK)
        status = ground(query, draft, error);
    if (status == ACQ_OK)
        *out = query;
    else
        acq_query_free(query);
    return status;
}

void acq_draft_name_query(acq_query *query, const acq_graph *graph)
{
    for (uint32_t i = 0; i < query->n_relations; i++) {
        acq_query_name *name = &query->relations[i];
        name->text = acq_graph_get_relation_name(graph, name->id);
        name->length = strlen(name->text);
        name->is_inverse = !acq_graph_is_named(graph, name->id);
    }
    for (uint32_t i = 0; i < query->n_constants; i++) {
        acq_query_name *name = &query->constants[i];
        name->text = acq_graph_get_entity_name(graph, name->id);
        name->length = strlen(name->text);
    }
}
