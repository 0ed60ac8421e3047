/* verify.c - Goedel semantics straight from the query's tree: and = min, or = max. Nothing here is
 * shared with a search, not even the rounding to float.
 *
 * Negation is carried down as a flag instead of being computed as 1 - s at the NOT, because
 * a negation threshold judges negated *atoms*: !(a & b) is max(!a, !b). Without a threshold
 * both ways give the same number. Recursion is bounded by ACQ_MOST_NESTING. */
#include "answer/answer.h"

double acq_verify_score_literal(const acq_scoring *scoring, bool is_negated, double link)
{
    double truth = scoring->binarize > 0 ? (double)(link >= scoring->binarize) : link;
    if (!is_negated)
        return truth;
    if (scoring->negation_threshold >= 0)
        return truth < scoring->negation_threshold ? 1.0 : 0.0;
    volatile float rest = (float)(1.0 - truth); /* volatile: predict/predictor.h says why */
    return (double)rest;
}

typedef struct view {
    const acq_query *query;
    const acq_predictor *predictor;
    const acq_scoring *scoring;
    const acq_ent *values;
} view;

static acq_ent term_value(const view *v, acq_term term)
{
    return term.is_variable ? v->values[term.id] : v->query->constants[term.id].id;
}

static double equality_score(const view *v, const acq_node *node, bool negated)
{
    bool same = term_value(v, node->left) == term_value(v, node->right);
    return same != negated ? 1.0 : 0.0;
}

static double atom_score(const view *v, const acq_node *node, bool negated)
{
    acq_rel relation = v->query->relations[node->relation].id;
    acq_ent head = term_value(v, node->left), tail = term_value(v, node->right);
    double link = acq_predictor_get_score(v->predictor, head, relation, tail);
    return acq_verify_score_literal(v->scoring, negated, link);
}

static double node_score(const view *v, const acq_node *node, bool negated)
{
    if (node->kind == ACQ_NODE_ATOM)
        return atom_score(v, node, negated);
    if (node->kind == ACQ_NODE_EQUAL)
        return equality_score(v, node, negated);
    if (node->kind == ACQ_NODE_NOT)
        return node_score(v, node->children[0], !negated);
    bool takes_least = (node->kind == ACQ_NODE_AND) != negated;
    double score = takes_least ? 1.0 : 0.0;
    for (uint32_t i = 0; i < node->n_children; i++) {
        double child = node_score(v, node->children[i], negated);
        if (takes_least ? child < score : child > score)
            score = child;
    }
    return score;
}

double acq_verify_score(const acq_query *query, const acq_predictor *predictor,
                        const acq_scoring *scoring, const acq_ent *values)
{
    view v = {.query = query, .predictor = predictor, .scoring = scoring, .values = values};
    return node_score(&v, query->root, false);
}

/* ---- degrees ---- */

typedef struct degree_view {
    view terms;
    acq_verify_logic logic;
    double negation_scale;
} degree_view;

static double leaf_degree(const degree_view *d, const acq_node *node, bool negated)
{
    const view *v = &d->terms;
    if (node->kind == ACQ_NODE_EQUAL)
        return equality_score(v, node, negated);
    double link =
        acq_predictor_get_score(v->predictor, term_value(v, node->left),
                                v->query->relations[node->relation].id, term_value(v, node->right));
    double scaled = d->negation_scale * link;
    return !negated ? link : scaled > 1.0 ? 0.0 : 1.0 - scaled;
}

static double node_degree(const degree_view *d, const acq_node *node, bool negated)
{
    if (node->kind == ACQ_NODE_NOT)
        return node_degree(d, node->children[0], !negated);
    if (node->kind == ACQ_NODE_ATOM || node->kind == ACQ_NODE_EQUAL)
        return leaf_degree(d, node, negated);
    bool is_and = (node->kind == ACQ_NODE_AND) != negated;
    double least = 1.0, most = 0.0, product = 1.0, rest = 1.0;
    for (uint32_t i = 0; i < node->n_children; i++) {
        double x = node_degree(d, node->children[i], negated);
        least = x < least ? x : least;
        most = x > most ? x : most;
        product *= x;
        rest *= 1.0 - x;
    }
    if (is_and)
        return d->logic == ACQ_VERIFY_MINIMUM ? least : product;
    return d->logic == ACQ_VERIFY_PRODUCT ? 1.0 - rest : most;
}

double acq_verify_degree(const acq_query *query, const acq_predictor *predictor,
                         acq_verify_logic logic, double negation_scale, const acq_ent *values)
{
    degree_view d = {.terms = {.query = query, .predictor = predictor, .values = values},
                     .logic = logic,
                     .negation_scale = negation_scale};
    return node_degree(&d, query->root, false);
}
