/* policy_case.c - see policy_case.h. */
#include "support/policy_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/build.h"

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void add_names(acq_graph_builder *builder, const test_case *c)
{
    char name[16];
    uint32_t id;
    for (uint32_t i = 0; i < c->n_entities; i++) {
        size_t length = (size_t)snprintf(name, sizeof name, "e%u", i);
        require(acq_graph_builder_add_entity(builder, name, length, &id) == ACQ_OK && id == i);
    }
    for (uint32_t i = 0; i < c->n_relations; i += 2) {
        size_t length = (size_t)snprintf(name, sizeof name, "r%u", i);
        require(acq_graph_builder_add_relation(builder, name, length, &id) == ACQ_OK && id == i);
    }
}

static acq_graph *new_graph(const test_case *c)
{
    acq_graph *graph = NULL;
    acq_graph_builder *builder = acq_graph_builder_new();
    require(builder != NULL);
    add_names(builder, c);
    for (uint32_t r = 0; r < c->n_relations; r += 2)
        for (uint32_t h = 0; h < c->n_entities; h++)
            for (uint32_t t = 0; t < c->n_entities; t++)
                if (c->table[r][h][t] == 1)
                    require(acq_graph_builder_add_fact(builder, h, r, t) == ACQ_OK);
    require(acq_graph_builder_finish(builder, &graph, NULL) == ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

static uint32_t find_dense_term(const dense_graph *dense, const acq_board_term *term)
{
    bool is_variable = term->variable != ACQ_NO_ID;
    uint32_t id = is_variable ? term->variable : term->value;
    for (uint32_t i = 0; i < dense->n_terms; i++)
        if (dense->terms[i].is_variable == is_variable && dense->terms[i].id == id)
            return i;
    abort();
}

uint32_t *match_terms(const acq_board *board, const dense_graph *dense)
{
    uint32_t *terms = calloc(board->n_terms + 1, sizeof *terms);
    require(terms != NULL && board->n_terms == dense->n_terms);
    for (uint32_t i = 0; i < board->n_terms; i++)
        terms[i] = find_dense_term(dense, &board->terms[i]);
    return terms;
}

/* Tensors are found by their names, so that nobody assumes their order in the block. */
static void copy_tensor(const dense_weights *weights, acq_policy_tensor tensor,
                        acq_parameters *parameters)
{
    for (size_t i = 0; i < parameters->n_tensors; i++) {
        const acq_tensor *to = &parameters->tensors[i];
        if (strcmp(to->name, dense_tensor_get_name(tensor)) == 0)
            memcpy(parameters->values + to->offset, weights->tensors[tensor],
                   acq_tensor_get_length(to) * sizeof(float));
    }
}

acq_policy *policy_new_random(uint32_t dim, uint64_t seed, double scale)
{
    acq_policy *policy = NULL;
    dense_weights weights;
    dense_weights_init_random(&weights, dim, seed, scale);
    require(acq_policy_new(dim, seed, true, true, &policy, NULL) == ACQ_OK);
    for (int i = 0; i < ACQ_N_POLICY_TENSORS; i++)
        copy_tensor(&weights, (acq_policy_tensor)i, &policy->parameters);
    acq_policy_pack(policy);
    dense_weights_deinit(&weights);
    return policy;
}

void policy_case_init(policy_case *p, uint64_t seed, uint32_t dim, double scale)
{
    const acq_pe kinds[] = {ACQ_PE_EXACT, ACQ_PE_EXACT, ACQ_PE_OBSERVED, ACQ_PE_EXACT, ACQ_PE_NONE};
    const dense_pe same[] = {DENSE_PE_EXACT, DENSE_PE_EXACT, DENSE_PE_OBSERVED, DENSE_PE_EXACT,
                             DENSE_PE_NONE};
    size_t kind = seed / 5 % 5;
    case_init(&p->c, seed);
    const test_case *c = &p->c;
    p->graph = new_graph(c);
    p->c.predictor.graph = p->graph;
    require(acq_problem_new(c->query, c->n_entities, &p->problem, NULL) == ACQ_OK);
    require(acq_board_new(p->problem, &c->predictor, &c->scoring, kinds[kind], &p->board, NULL) ==
            ACQ_OK);
    p->dense = dense_graph_new(p->problem, &c->predictor, &c->scoring, same[kind]);
    p->dense_terms = match_terms(p->board, p->dense);
    p->policy = policy_new_random(dim, seed, scale);
    dense_weights_init_from(&p->weights, p->policy);
}

void policy_case_deinit(policy_case *p)
{
    dense_weights_deinit(&p->weights);
    acq_policy_free(p->policy);
    free(p->dense_terms);
    dense_graph_free(p->dense);
    acq_board_free(p->board);
    acq_problem_free(p->problem);
    acq_graph_free(p->graph);
    case_deinit(&p->c);
}

void policy_case_assign(policy_case *p, acq_walk *walk, const acq_ent *values)
{
    acq_ent by_variable[CASE_MOST_VARIABLES] = {0};
    for (uint32_t t = 0; t < p->board->n_free_terms; t++)
        by_variable[p->board->terms[t].variable] = values[t];
    require(acq_walk_set(walk, values) == ACQ_OK);
    dense_graph_assign(p->dense, by_variable);
}
