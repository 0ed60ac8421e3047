/* view_core.c - why there is none, for a person:
 *
 *   none: proved, nothing reaches 0.5, 0 nodes, 0.0 ms
 *     no value fits both of these:
 *       directed(y, "Oppenheimer")
 *       born_in(y, x)
 */
#include "cli/view.h"
#include "cli/width.h"
#include "engine/core.h"
#include "query/print.h"

static const double MOST_SECONDS = 1.0;

static acq_status copy_texts(const acq_view *view, const acq_node **nodes, size_t n,
                             acq_arena *arena, const char **out)
{
    acq_text text;
    acq_status status = ACQ_OK;
    acq_text_init(&text);
    for (size_t i = 0; status == ACQ_OK && i < n; i++) {
        acq_text_clear(&text);
        acq_query_print_node(view->query, nodes[i], &text);
        status = acq_text_finish(&text, NULL);
        out[i] = status == ACQ_OK ? acq_arena_copy_string(arena, text.bytes, text.length) : NULL;
        if (out[i] == NULL)
            status = ACQ_ERR_MEMORY;
    }
    acq_text_deinit(&text);
    return status;
}

acq_status acq_view_get_core(const acq_view *view, acq_arena *arena, const char ***out,
                             size_t *n_out)
{
    const acq_node **nodes;
    size_t n;
    double left = view->options->time - view->ms / 1000;
    if (view->options->time > 0 && left <= 0) {
        *n_out = 0;
        return ACQ_OK;
    }
    double seconds = view->options->time > 0 && left < MOST_SECONDS ? left : MOST_SECONDS;
    acq_status status = acq_engine_find_core(view->query, view->predictor, view->values,
                                             view->params, seconds, arena, &nodes, &n, NULL);
    if (status != ACQ_OK)
        return status;
    const char **texts = acq_arena_alloc(arena, n, sizeof *texts);
    if (texts == NULL)
        return ACQ_ERR_MEMORY;
    status = copy_texts(view, nodes, n, arena, texts);
    *out = texts;
    *n_out = n;
    return status;
}

void acq_view_print_core(const acq_view *view, acq_text *out)
{
    acq_arena arena;
    const char **texts;
    size_t n;
    acq_arena_init(&arena);
    if (acq_view_get_core(view, &arena, &texts, &n) != ACQ_OK) {
        out->failed = true;
        n = 0;
    }
    if (n > 0)
        acq_text_format(out, "  no value fits %s:\n",
                        n == 1   ? "this"
                        : n == 2 ? "both of these"
                                 : "all of these");
    for (size_t i = 0; i < n; i++) {
        acq_width_pad(out, 4);
        acq_width_wrap(out, texts[i], 4, 6, ACQ_COLUMNS);
        acq_text_add_char(out, '\n');
    }
    acq_arena_deinit(&arena);
}
