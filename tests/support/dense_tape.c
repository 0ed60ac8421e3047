/* dense_tape.c - see dense_tape.h. */
#include "support/dense_tape.h"

#include <stdlib.h>

static void *take(size_t n, size_t size)
{
    void *block = calloc(n == 0 ? 1 : n, size);
    if (block == NULL)
        abort();
    return block;
}

static tape_var put_tensor(dense_tape *t, acq_policy_tensor tensor)
{
    size_t rows = dense_tensor_get_rows(t->dim, tensor);
    size_t cols = dense_tensor_get_cols(t->dim, tensor);
    double *values = take(rows * cols, sizeof *values);
    for (size_t i = 0; i < rows * cols; i++)
        values[i] = t->given->tensors[tensor][i];
    tape_var out = tape_input(t->tape, rows, cols, values);
    free(values);
    return out;
}

static void begin_tape(dense_tape *t)
{
    t->tape = tape_new();
    for (int i = 0; i < ACQ_N_POLICY_TENSORS; i++)
        t->weights[i] = put_tensor(t, (acq_policy_tensor)i);
}

void dense_tape_init(dense_tape *t, const dense_weights *weights, const dense_graph *graph)
{
    size_t *zeros = take(graph->n_values, sizeof *zeros);
    *t = (dense_tape){.graph = graph, .given = weights, .dim = weights->dim};
    begin_tape(t);
    t->hidden = tape_gather_rows(t->tape, t->weights[ACQ_POLICY_start], zeros, graph->n_values);
    free(zeros);
}

void dense_tape_forget(dense_tape *t)
{
    tape *old = t->tape;
    begin_tape(t);
    t->hidden = tape_input(t->tape, t->graph->n_values, t->dim, tape_get(old, t->hidden));
    tape_free(old);
}

void dense_tape_deinit(dense_tape *t)
{
    tape_free(t->tape);
}

#define W(field) t->weights[ACQ_POLICY_##field]

static tape_var linear(dense_tape *t, tape_var x, tape_var weight, tape_var bias)
{
    return tape_add(t->tape, tape_matmul(t->tape, x, weight), bias);
}

/* x = E([h, assigned]) */
static tape_var encode(dense_tape *t)
{
    double *assigned = take(t->graph->n_values, sizeof *assigned);
    for (uint32_t i = 0; i < t->graph->n_terms; i++)
        assigned[dense_graph_get_chosen(t->graph, i)] = 1;
    tape_var x = tape_append_column(t->tape, t->hidden, assigned);
    free(assigned);
    x = tape_relu(t->tape, linear(t, x, W(e1_w), W(e1_b)));
    return tape_layer_norm(t->tape, tape_matmul(t->tape, x, W(e2_w)), W(e_g), W(e_s));
}

typedef struct sets {
    tape_choice *choices;
    size_t *firsts;
    size_t n_choices, n_sets;
} sets;

static sets sets_new(size_t n_sets, size_t n_choices)
{
    return (sets){.choices = take(n_choices, sizeof(tape_choice)),
                  .firsts = take(n_sets + 1, sizeof(size_t))};
}

static void sets_end(sets *s)
{
    s->firsts[++s->n_sets] = s->n_choices;
}

static tape_var sets_max(dense_tape *t, tape_var x, sets s)
{
    tape_var out = tape_max(t->tape, x, t->dim, s.choices, s.firsts, s.n_sets);
    free(s.choices);
    free(s.firsts);
    return out;
}

static size_t count_edges(const dense_graph *g)
{
    size_t n = 0;
    for (uint32_t i = 0; i < g->n_terms; i++)
        n += (size_t)g->terms[i].n_edges * g->terms[i].n_values;
    return n;
}

static uint8_t label_at(const dense_term *term, uint32_t edge, uint32_t value)
{
    return term->labels[(size_t)edge * term->n_values + value];
}

static void choose_messages_to(sets *s, const dense_term *term, uint32_t node)
{
    for (uint32_t e = 0; e < term->n_edges; e++)
        for (uint32_t a = 0; a < term->n_values && term->edges[e] == node; a++)
            s->choices[s->n_choices++] =
                (tape_choice){.row = term->first_value + a, .block = label_at(term, e, a)};
}

/* y(node) = max over its value neighbours of m(value, label) */
static tape_var gather_at_nodes(dense_tape *t, tape_var messages)
{
    const dense_graph *g = t->graph;
    sets s = sets_new(g->n_nodes, count_edges(g));
    for (uint32_t node = 0; node < g->n_nodes; node++) {
        for (uint32_t i = 0; i < g->n_terms; i++)
            choose_messages_to(&s, &g->terms[i], node);
        sets_end(&s);
    }
    return sets_max(t, messages, s);
}

/* y(value) = max over its literals of m(node, label) */
static tape_var gather_at_values(dense_tape *t, tape_var messages)
{
    const dense_graph *g = t->graph;
    sets s = sets_new(g->n_values, count_edges(g));
    for (uint32_t i = 0; i < g->n_terms; i++)
        for (uint32_t a = 0; a < g->terms[i].n_values; a++) {
            for (uint32_t e = 0; e < g->terms[i].n_edges; e++)
                s.choices[s.n_choices++] = (tape_choice){.row = g->terms[i].edges[e],
                                                         .block = label_at(&g->terms[i], e, a)};
            sets_end(&s);
        }
    return sets_max(t, messages, s);
}

/* max over the values of each term */
static tape_var gather_at_terms(dense_tape *t, tape_var z)
{
    const dense_graph *g = t->graph;
    sets s = sets_new(g->n_terms, g->n_values);
    for (uint32_t i = 0; i < g->n_terms; i++) {
        for (uint32_t a = 0; a < g->terms[i].n_values; a++)
            s.choices[s.n_choices++] = (tape_choice){.row = g->terms[i].first_value + a};
        sets_end(&s);
    }
    return sets_max(t, z, s);
}

static tape_var value_messages(dense_tape *t, tape_var x)
{
    return tape_layer_norm(t->tape, tape_matmul(t->tape, x, W(v_w)), W(v_g), W(v_s));
}

static tape_var literal_messages(dense_tape *t, tape_var y)
{
    tape_var inner = tape_relu(t->tape, linear(t, y, W(r1_w), W(r1_b)));
    return tape_layer_norm(t->tape, tape_matmul(t->tape, inner, W(r2_w)), W(r_g), W(r_s));
}

static tape_var update_values(dense_tape *t, tape_var x)
{
    tape_var inner = tape_relu(t->tape, linear(t, x, W(u1_w), W(u1_b)));
    return tape_layer_norm(t->tape, tape_matmul(t->tape, inner, W(u2_w)), W(u_g), W(u_s));
}

static tape_var update_terms(dense_tape *t, tape_var x)
{
    tape_var inner = tape_relu(t->tape, linear(t, x, W(x1_w), W(x1_b)));
    return tape_layer_norm(t->tape, tape_matmul(t->tape, inner, W(x2_w)), W(x_g), W(x_s));
}

/* A row of each term to all its values. */
static tape_var spread_terms(dense_tape *t, tape_var x)
{
    const dense_graph *g = t->graph;
    size_t *rows = take(g->n_values, sizeof *rows);
    for (uint32_t i = 0; i < g->n_terms; i++)
        for (uint32_t a = 0; a < g->terms[i].n_values; a++)
            rows[g->terms[i].first_value + a] = i;
    tape_var out = tape_gather_rows(t->tape, x, rows, g->n_values);
    free(rows);
    return out;
}

/* PyTorch's GRUCell: r, u, n in this order; h' = (1 - u) n + u h. */
static tape_var gru(dense_tape *t, tape_var input, tape_var h)
{
    size_t d = t->dim;
    tape *p = t->tape;
    tape_var gi = linear(t, input, W(gi_w), W(gi_b)), gh = linear(t, h, W(gh_w), W(gh_b));
    tape_var r = tape_sigmoid(
        p, tape_add(p, tape_slice_columns(p, gi, 0, d), tape_slice_columns(p, gh, 0, d)));
    tape_var u = tape_sigmoid(
        p, tape_add(p, tape_slice_columns(p, gi, d, d), tape_slice_columns(p, gh, d, d)));
    tape_var reset = tape_multiply(p, r, tape_slice_columns(p, gh, 2 * d, d));
    tape_var n = tape_tanh(p, tape_add(p, tape_slice_columns(p, gi, 2 * d, d), reset));
    return tape_add(p, tape_multiply(p, tape_scale(p, u, -1, 1), n), tape_multiply(p, u, h));
}

static tape_var output(dense_tape *t, tape_var h)
{
    tape_var normal = tape_layer_norm(t->tape, h, W(o_g), W(o_s));
    tape_var inner = tape_relu(t->tape, linear(t, normal, W(o1_w), W(o1_b)));
    return tape_matmul(t->tape, inner, W(o2_w));
}

tape_var dense_tape_step(dense_tape *t)
{
    tape_var x = encode(t);
    tape_var at_nodes = gather_at_nodes(t, value_messages(t, x));
    tape_var at_values = gather_at_values(t, literal_messages(t, at_nodes));
    tape_var z = tape_add(t->tape, update_values(t, tape_add(t->tape, x, at_values)), x);
    tape_var terms = update_terms(t, gather_at_terms(t, z));
    t->hidden = gru(t, tape_add(t->tape, z, spread_terms(t, terms)), t->hidden);
    return output(t, t->hidden);
}

tape_var dense_tape_get_log_p(dense_tape *t, tape_var logits)
{
    return tape_log_softmax(t->tape, logits, t->graph->firsts, t->graph->n_terms);
}

tape_var dense_tape_get_log_choice(dense_tape *t, tape_var log_p, double floor)
{
    const dense_graph *g = t->graph;
    size_t *chosen = take(g->n_terms, sizeof *chosen), n = 0;
    for (uint32_t i = 0; i < g->n_terms; i++)
        if (g->terms[i].is_variable)
            chosen[n++] = dense_graph_get_chosen(g, i);
    tape_var log_chosen = tape_gather_rows(t->tape, log_p, chosen, n);
    free(chosen);
    return tape_sum(t->tape, tape_log_exp_plus(t->tape, log_chosen, floor));
}
