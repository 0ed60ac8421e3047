/* bindings.c - which variables the patterns of a group bind; see sparql_parser.h.
 *
 * Marking costs one step per binding of the group, and happens once per UNION, per MINUS and per
 * group with a filter. */
#include "base/memory.h"
#include "query/sparql/parser.h"

acq_status acq_sparql_use_variable(acq_sparql *p, uint32_t word, acq_input_place place)
{
    if (ACQ_RESERVE(p->uses, p->uses_capacity, p->n_uses + 1) != ACQ_OK)
        return acq_fail_memory(p->builder.error);
    p->uses[p->n_uses++] =
        (acq_sparql_use){.word = word, .place = place, .in_exists = p->in_exists};
    return ACQ_OK;
}

/* Inside NOT EXISTS a pattern binds nothing that the outside could see: it also uses. */
acq_status acq_sparql_bind(acq_sparql *p, uint32_t word, acq_input_place place)
{
    if (ACQ_RESERVE(p->bindings, p->bindings_capacity, p->n_bindings + 1) != ACQ_OK)
        return acq_fail_memory(p->builder.error);
    p->bindings[p->n_bindings++] = (acq_sparql_binding){.word = word, .is_certain = true};
    return p->in_exists ? acq_sparql_use_variable(p, word, place) : ACQ_OK;
}

static acq_status start_round(acq_sparql *p)
{
    size_t known = p->marks_capacity;
    if (ACQ_RESERVE(p->marks, p->marks_capacity, p->builder.n_symbols) != ACQ_OK)
        return acq_fail_memory(p->builder.error);
    for (; known < p->marks_capacity; known++)
        p->marks[known] = (acq_sparql_mark){0};
    p->round++;
    return ACQ_OK;
}

static acq_sparql_mark *touch(acq_sparql *p, uint32_t word)
{
    acq_sparql_mark *mark = &p->marks[word];
    if (mark->round != p->round)
        *mark = (acq_sparql_mark){.round = p->round};
    return mark;
}

acq_status acq_sparql_mark_bindings(acq_sparql *p, size_t from, size_t to)
{
    acq_status status = start_round(p);
    for (size_t i = from; status == ACQ_OK && i < to; i++)
        touch(p, p->bindings[i].word)->is_certain |= p->bindings[i].is_certain;
    return status;
}

const acq_sparql_mark *acq_sparql_get_mark(const acq_sparql *p, uint32_t word)
{
    return word < p->marks_capacity && p->marks[word].round == p->round ? &p->marks[word] : NULL;
}

/* Counts, for each variable, the branches in which some binding of it is certain. */
static acq_status count_branches(acq_sparql *p, const size_t *starts, size_t n)
{
    acq_status status = start_round(p);
    for (size_t branch = 0; status == ACQ_OK && branch < n; branch++) {
        for (size_t i = starts[branch]; i < starts[branch + 1]; i++) {
            acq_sparql_mark *mark = touch(p, p->bindings[i].word);
            if (p->bindings[i].is_certain && mark->count == branch)
                mark->count++;
        }
    }
    return status;
}

acq_status acq_sparql_merge_branches(acq_sparql *p, const size_t *starts, size_t n)
{
    acq_status status = count_branches(p, starts, n);
    if (status != ACQ_OK)
        return status;
    size_t kept = starts[0];
    for (size_t i = starts[0]; i < starts[n]; i++) {
        acq_sparql_mark *mark = &p->marks[p->bindings[i].word];
        if (mark->round != p->round)
            continue;
        p->bindings[kept++] =
            (acq_sparql_binding){.word = p->bindings[i].word, .is_certain = mark->count == n};
        mark->round = 0; /* once is enough */
    }
    p->n_bindings = kept;
    return ACQ_OK;
}

static acq_status fail_use(acq_sparql *p, const acq_sparql_use *use, bool is_possible)
{
    const acq_symbol *symbol = &p->builder.symbols[use->word];
    acq_shown shown = acq_input_show(symbol->text, symbol->length);
    if (is_possible)
        return ACQ_SPARQL_FAIL(p, use->place,
                               "?%s is not bound in every branch of the UNION; bind it outside of "
                               "the UNION or in all branches",
                               shown.text);
    if (use->in_exists)
        return ACQ_SPARQL_FAIL(p, use->place,
                               "?%s occurs in EXISTS or NOT EXISTS only: universal quantification "
                               "is not supported; bind it in a pattern of the group outside",
                               shown.text);
    return ACQ_SPARQL_FAIL(p, use->place,
                           "no pattern of this group binds ?%s; add a triple or VALUES with it",
                           shown.text);
}

acq_status acq_sparql_check_uses(acq_sparql *p, size_t uses_from, size_t bindings_from)
{
    if (uses_from == p->n_uses)
        return ACQ_OK;
    acq_status status = acq_sparql_mark_bindings(p, bindings_from, p->n_bindings);
    for (size_t i = uses_from; status == ACQ_OK && i < p->n_uses; i++) {
        const acq_sparql_mark *mark = acq_sparql_get_mark(p, p->uses[i].word);
        if (mark == NULL || !mark->is_certain)
            status = fail_use(p, &p->uses[i], mark != NULL);
    }
    p->n_uses = uses_from;
    return status;
}
