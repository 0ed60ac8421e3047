/* qac.c - query answer classification: each candidate of a set is checked on its own.
 *
 * The seen-test (SPEC, the QAC trap): a candidate is seen when the observed graph shows it at its
 * end of every positive atom of the reading in force, that is, it has some link there, to whom
 * ever. Wrong candidates of the published files all pass it, so correct ones must too before
 * the two can be compared. No decision uses it. */
#include "bench/decide.h"

static bool has_link(const acq_graph *graph, acq_rel relation, acq_ent entity)
{
    const acq_links *links;
    return acq_graph_open_links(graph, relation, &links, NULL) == ACQ_OK &&
           acq_links_find(links, entity) != ACQ_NO_ID;
}

static bool atom_shows(const acq_query *query, const acq_node *atom, const acq_graph *graph,
                       const acq_ent *tuple)
{
    acq_rel relation = query->relations[atom->relation].id;
    acq_term left = atom->left, right = atom->right;
    if (left.is_variable && left.id < query->n_free && !has_link(graph, relation, tuple[left.id]))
        return false;
    return !right.is_variable || right.id >= query->n_free ||
           has_link(graph, acq_inverse(relation), tuple[right.id]);
}

static bool is_seen(const acq_query *query, const acq_node *node, bool is_negated,
                    const acq_graph *graph, const acq_ent *tuple)
{
    if (node->kind == ACQ_NODE_ATOM)
        return is_negated || atom_shows(query, node, graph, tuple);
    bool below = node->kind == ACQ_NODE_NOT ? !is_negated : is_negated;
    for (uint32_t i = 0; i < node->n_children; i++)
        if (!is_seen(query, node->children[i], below, graph, tuple))
            return false;
    return true;
}

static acq_status decide(acq_eval_worker *worker, const acq_ent *tuple, double ground_ms,
                         acq_decision *out, acq_error *error)
{
    const acq_eval_params *params = worker->params;
    acq_search_result result;
    int64_t begin = acq_clock_ns();
    acq_status status =
        acq_engine_check(worker->query, params->predictor, tuple, &params->engine, &result, error);
    if (status == ACQ_OK) {
        acq_eval_note_result(out, &result, ground_ms + (double)(acq_clock_ns() - begin) * 1e-6);
        out->is_yes = result.outcome == ACQ_ANSWERED;
        out->is_seen =
            is_seen(worker->query, worker->query->root, false, params->predictor->graph, tuple);
    }
    acq_search_result_deinit(&result);
    return status;
}

acq_status acq_eval_decide_qac(acq_eval_worker *worker, const acq_bench_instance *instance,
                               acq_decision *out, acq_error *error)
{
    size_t n_correct = instance->correct.n, n = n_correct + instance->wrong.n;
    double ground_ms;
    acq_status status = acq_eval_worker_ground(worker, instance, &ground_ms, error);
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        bool is_correct = i < n_correct;
        const acq_bench_tuples *list = is_correct ? &instance->correct : &instance->wrong;
        size_t at = is_correct ? i : i - n_correct;
        out[i].is_correct = is_correct;
        status = decide(worker, list->values + at * worker->query->n_free, ground_ms / (double)n,
                        &out[i], error);
    }
    return status;
}
