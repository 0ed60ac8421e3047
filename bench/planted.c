/* planted.c - makes plans until there are enough, and writes them in the text syntax. */
#include "planted.h"

#include "common.h"
#include "plan.h"

enum { NONE_EVERY = 4, DENY_EVERY = 3, MOST_TRIES = 100000 };

static const uint64_t stream_of_queries = 0x71756572ULL << 32; /* apart from those of the triples */

static void write_term(const plan *p, uint32_t term, const synthetic *graph, FILE *stream)
{
    char name[SYNTHETIC_NAME_BYTES];
    if (!p->is_constant[term]) {
        fprintf(stream, "x%u", term);
        return;
    }
    synthetic_name_entity(graph, p->entities[term], name);
    fprintf(stream, "\"%s\"", name);
}

static void write_variables(const plan *p, bool are_free, FILE *stream)
{
    const char *separator = "";
    for (uint32_t i = 0; i < p->n_terms; i++)
        if (!p->is_constant[i] && p->is_free[i] == are_free) {
            fprintf(stream, "%sx%u", separator, i);
            separator = ", ";
        }
}

static void write_atom(const plan *p, const plan_atom *atom, const synthetic *graph, FILE *stream)
{
    char name[SYNTHETIC_NAME_BYTES];
    synthetic_name_relation(graph, atom->relation, name);
    fprintf(stream, "%s%s(", atom->is_negated ? "!" : "", name);
    write_term(p, atom->head, graph, stream);
    fputs(", ", stream);
    write_term(p, atom->tail, graph, stream);
    fputc(')', stream);
}

static void write_planted(const plan *p, const synthetic *graph, FILE *stream)
{
    char name[SYNTHETIC_NAME_BYTES];
    fputs("  # planted", stream);
    for (uint32_t i = 0; i < p->n_terms; i++)
        if (p->is_free[i]) {
            synthetic_name_entity(graph, p->entities[i], name);
            fprintf(stream, " \"%s\"", name);
        }
}

static void write_plan(const plan *p, bool has_answer, const synthetic *graph, FILE *stream)
{
    fputs("Q(", stream);
    write_variables(p, true, stream);
    fputs(") := exists ", stream);
    write_variables(p, false, stream);
    fputs(". ", stream);
    for (uint32_t i = 0; i < p->n_atoms; i++) {
        fputs(i > 0 ? " & " : "", stream);
        write_atom(p, &p->atoms[i], graph, stream);
    }
    if (has_answer)
        write_planted(p, graph, stream);
    else
        fputs("  # none", stream);
    fputc('\n', stream);
}

static bool make(plan *p, const incidence *index, uint32_t number, acq_random *random)
{
    bool has_answer = number % NONE_EVERY != NONE_EVERY - 1;
    if (!plan_make(p, index, random))
        return false;
    if (number % DENY_EVERY == DENY_EVERY - 1)
        plan_deny(p, index, random);
    return has_answer || plan_break(p, index, random);
}

void planted_write(const synthetic *graph, uint32_t n_queries, FILE *stream)
{
    incidence index;
    incidence_init(&index, graph);
    for (uint32_t i = 0; i < n_queries; i++) {
        acq_random random = acq_random_start(graph->seed, stream_of_queries + i);
        plan p;
        uint32_t tries = 0;
        while (!make(&p, &index, i, &random))
            if (++tries == MOST_TRIES)
                bench_die("found no place for a query: take more triples or another seed");
        write_plan(&p, i % NONE_EVERY != NONE_EVERY - 1, graph, stream);
    }
    incidence_deinit(&index);
}
