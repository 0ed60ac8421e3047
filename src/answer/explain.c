/* explain.c - one entry per atom, and which of them carry the answer.
 *
 * One walk in the order of the text fills the entries. A conjunction needs all its members, a
 * disjunction only its best one: the first with the highest score, where among equal scores
 * one that rests on observed facts alone wins. The entries of the members that lose were
 * written to a range of the array by then, and the range is marked as not used.
 *
 *   a & (b | c & d)      entries  [ a | b | c d ]      b loses: [ used | - | used used ]
 *
 * Cost: one look-up per atom, plus marking, at most atoms times nesting. */
#include "answer/answer.h"


typedef struct walk {
    const acq_query *query;
    const acq_predictor *predictor;
    const acq_scoring *scoring;
    const acq_ent *values;
    acq_evidence *entries;
    size_t n;
} walk;

/* What a subtree is worth; `sure` when no prediction takes part in its support. */
typedef struct worth {
    double score;
    bool sure;
} worth;

static acq_ent term_value(const walk *w, acq_term term)
{
    return term.is_variable ? w->values[term.id] : w->query->constants[term.id].id;
}

static bool is_sure(const acq_evidence *entry)
{
    if (entry->kind == ACQ_EVIDENCE_EQUALITY)
        return true;
    return entry->kind == (entry->is_negated ? ACQ_EVIDENCE_ABSENT : ACQ_EVIDENCE_OBSERVED);
}

static void judge_link(const walk *w, acq_evidence *entry)
{
    acq_rel relation = w->query->relations[entry->node->relation].id;
    entry->link = acq_predictor_get_score(w->predictor, entry->left, relation, entry->right);
    if (acq_graph_has_fact(w->predictor->graph, entry->left, relation, entry->right))
        entry->kind = ACQ_EVIDENCE_OBSERVED;
    else
        entry->kind = entry->link > 0 ? ACQ_EVIDENCE_PREDICTED : ACQ_EVIDENCE_ABSENT;
    entry->score = acq_verify_score_literal(w->scoring, entry->is_negated, entry->link);
}

static worth explain_atom(walk *w, const acq_node *node, bool negated)
{
    acq_evidence *entry = &w->entries[w->n++];
    *entry = (acq_evidence){.node = node,
                            .left = term_value(w, node->left),
                            .right = term_value(w, node->right),
                            .is_negated = negated,
                            .kind = ACQ_EVIDENCE_EQUALITY,
                            .used = true};
    if (node->kind == ACQ_NODE_ATOM)
        judge_link(w, entry);
    else
        entry->score = (entry->left == entry->right) != negated ? 1.0 : 0.0;
    return (worth){.score = entry->score, .sure = is_sure(entry)};
}

static void leave_out(walk *w, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        w->entries[i].used = false;
}

static worth explain_node(walk *w, const acq_node *node, bool negated);

static worth explain_all(walk *w, const acq_node *node, bool negated)
{
    worth all = {.score = 1.0, .sure = true};
    for (uint32_t i = 0; i < node->n_children; i++) {
        worth child = explain_node(w, node->children[i], negated);
        all.score = child.score < all.score ? child.score : all.score;
        all.sure = all.sure && child.sure;
    }
    return all;
}

static worth explain_best(walk *w, const acq_node *node, bool negated)
{
    worth best = {.score = 0.0, .sure = true};
    size_t best_begin = w->n, best_end = w->n;
    for (uint32_t i = 0; i < node->n_children; i++) {
        size_t begin = w->n;
        worth child = explain_node(w, node->children[i], negated);
        bool wins = i == 0 || child.score > best.score ||
                    (child.score == best.score && child.sure && !best.sure);
        if (!wins) {
            leave_out(w, begin, w->n);
            continue;
        }
        leave_out(w, best_begin, best_end);
        best = child;
        best_begin = begin;
        best_end = w->n;
    }
    return best;
}

static worth explain_node(walk *w, const acq_node *node, bool negated)
{
    switch (node->kind) {
    case ACQ_NODE_ATOM:
    case ACQ_NODE_EQUAL:
        return explain_atom(w, node, negated);
    case ACQ_NODE_NOT:
        return explain_node(w, node->children[0], !negated);
    case ACQ_NODE_AND:
        return negated ? explain_best(w, node, negated) : explain_all(w, node, negated);
    case ACQ_NODE_OR:
        break;
    }
    return negated ? explain_all(w, node, negated) : explain_best(w, node, negated);
}

static size_t count_atoms(const acq_node *node)
{
    if (node->kind == ACQ_NODE_ATOM || node->kind == ACQ_NODE_EQUAL)
        return 1;
    size_t n = 0;
    for (uint32_t i = 0; i < node->n_children; i++)
        n += count_atoms(node->children[i]);
    return n;
}

acq_status acq_explain(const acq_query *query, const acq_predictor *predictor,
                       const acq_scoring *scoring, const acq_ent *values, acq_arena *arena,
                       acq_evidence **out, size_t *n_out, acq_error *error)
{
    walk w = {.query = query, .predictor = predictor, .scoring = scoring, .values = values};
    w.entries = acq_arena_alloc(arena, count_atoms(query->root), sizeof *w.entries);
    if (w.entries == NULL)
        return acq_fail_memory(error);
    explain_node(&w, query->root, false);
    *out = w.entries;
    *n_out = w.n;
    return ACQ_OK;
}

bool acq_explain_is_observed(const acq_evidence *evidence, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (evidence[i].used && !is_sure(&evidence[i]))
            return false;
    }
    return true;
}

/* ---- candidates ---- */

static bool has_link(const acq_graph *graph, acq_rel relation, acq_ent entity)
{
    const acq_links *links;
    return acq_graph_open_links(graph, relation, &links, NULL) == ACQ_OK &&
           acq_links_find(links, entity) != ACQ_NO_ID;
}

static bool atom_sees(const acq_query *query, const acq_node *atom, const acq_graph *graph,
                      const acq_ent *values)
{
    acq_rel relation = query->relations[atom->relation].id;
    acq_term left = atom->left, right = atom->right;
    if (left.is_variable && left.id < query->n_free && !has_link(graph, relation, values[left.id]))
        return false;
    return !right.is_variable || right.id >= query->n_free ||
           has_link(graph, acq_inverse(relation), values[right.id]);
}

static bool is_seen(const acq_query *query, const acq_node *node, bool is_negated,
                    const acq_graph *graph, const acq_ent *values)
{
    if (node->kind == ACQ_NODE_ATOM)
        return is_negated || atom_sees(query, node, graph, values);
    bool below = node->kind == ACQ_NODE_NOT ? !is_negated : is_negated;
    for (uint32_t i = 0; i < node->n_children; i++)
        if (!is_seen(query, node->children[i], below, graph, values))
            return false;
    return true;
}

bool acq_explain_is_seen(const acq_query *query, const acq_graph *graph, const acq_ent *values)
{
    return is_seen(query, query->root, false, graph, values);
}
