/* seen.c - see seen.h. */
#include "answer/seen.h"

static bool has_link(const acq_graph *graph, acq_rel relation, acq_ent entity)
{
    const acq_links *links;
    return acq_graph_open_links(graph, relation, &links, NULL) == ACQ_OK &&
           acq_links_find(links, entity) != ACQ_NO_ID;
}

static bool sees_at_atom(const acq_query *query, const acq_node *atom, const acq_graph *graph,
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
        return is_negated || sees_at_atom(query, node, graph, values);
    bool below = node->kind == ACQ_NODE_NOT ? !is_negated : is_negated;
    for (uint32_t i = 0; i < node->n_children; i++)
        if (!is_seen(query, node->children[i], below, graph, values))
            return false;
    return true;
}

bool acq_answer_is_seen(const acq_query *query, const acq_graph *graph, const acq_ent *values)
{
    return is_seen(query, query->root, false, graph, values);
}
