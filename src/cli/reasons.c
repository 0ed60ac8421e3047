/* reasons.c - see reasons.h. */
#include "cli/reasons.h"

#include <stdio.h>
#include <string.h>

#include "cli/width.h"

/* NULL: there are none. The note says why, where reasons could be expected. */
static acq_reasons *find(acq_reason_view *view, acq_ent head, acq_rel relation, acq_ent tail)
{
    acq_error error = {0};
    acq_reasons *reasons = NULL;
    if (!acq_predictor_is_calibrated(view->predictor))
        return NULL;
    if (acq_reasons_find(view->predictor, head, relation, tail, &reasons, &error) != ACQ_OK)
        snprintf(view->note, sizeof view->note, "%.120s", error.message);
    else if (acq_reasons_get_note(reasons)[0] != '\0')
        snprintf(view->note, sizeof view->note, "%.120s", acq_reasons_get_note(reasons));
    return reasons;
}

void acq_reason_view_print(acq_reason_view *view, acq_ent head, acq_rel relation, acq_ent tail,
                           size_t indent, acq_text *out)
{
    enum { WEIGHT = 7 };
    acq_reasons *reasons = find(view, head, relation, tail);
    acq_text text;
    acq_text_init(&text);
    for (size_t i = 0; i < acq_reasons_get_n(reasons); i++) {
        const acq_reason *reason = acq_reasons_get(reasons, i);
        acq_text_clear(&text);
        acq_width_add(&text, reason->text);
        acq_width_pad(out, indent);
        acq_text_format(out, "%+5.1f  ", reason->weight);
        acq_width_wrap(out, text.bytes == NULL ? "" : text.bytes, indent + WEIGHT, indent + WEIGHT,
                       ACQ_COLUMNS);
        acq_text_add_char(out, '\n');
    }
    out->failed = out->failed || text.failed;
    acq_text_deinit(&text);
    acq_reasons_free(reasons);
}

static void set_count(json_t *object, const char *member, uint64_t n)
{
    if (n > 0)
        json_object_set_new(object, member, acq_json_count(n));
}

static json_t *make_rules(const acq_reason *reason)
{
    json_t *rules = json_array();
    for (size_t i = 0; i < reason->n_rules; i++) {
        const acq_reason_rule *rule = &reason->rules[i];
        json_t *object = json_object();
        json_object_set_new(object, "body", acq_json_text(rule->body));
        if (rule->middle[0] != '\0')
            json_object_set_new(object, "middle", acq_json_text(rule->middle));
        json_object_set_new(object, "support", acq_json_count(rule->support));
        json_object_set_new(object, "cases", acq_json_count(rule->cases));
        json_array_append_new(rules, object);
    }
    return rules;
}

static json_t *make_entities(const acq_reason *reason, const acq_graph *graph)
{
    json_t *names = json_array();
    for (size_t i = 0; i < reason->n_entities; i++)
        json_array_append_new(names,
                              acq_json_text(acq_graph_get_entity_name(graph, reason->entities[i])));
    return names;
}

static json_t *make_reason(const acq_reason *reason, const acq_graph *graph)
{
    json_t *object = json_object();
    json_object_set_new(object, "kind", json_string(reason->kind));
    json_object_set_new(object, "text", acq_json_text(reason->text));
    json_object_set_new(object, "weight", json_real(reason->weight));
    if (strcmp(reason->kind, "rules") == 0)
        json_object_set_new(object, "rules", make_rules(reason));
    if (strcmp(reason->kind, "similar") == 0)
        json_object_set_new(object, "entities", make_entities(reason, graph));
    if (reason->model[0] != '\0')
        json_object_set_new(object, "model", json_string(reason->model));
    set_count(object, "rank", reason->rank);
    set_count(object, "of", reason->of);
    set_count(object, "back_rank", reason->back_rank);
    set_count(object, "back_of", reason->back_of);
    if (strcmp(reason->kind, "rank") != 0) {
        json_object_set_new(object, "count", acq_json_count(reason->count));
        json_object_set_new(object, "total", acq_json_count(reason->total));
    }
    return object;
}

json_t *acq_reason_view_make_json(acq_reason_view *view, acq_ent head, acq_rel relation,
                                  acq_ent tail)
{
    acq_reasons *reasons = find(view, head, relation, tail);
    json_t *list = json_array();
    for (size_t i = 0; i < acq_reasons_get_n(reasons); i++)
        json_array_append_new(list, make_reason(acq_reasons_get(reasons, i), view->graph));
    acq_reasons_free(reasons);
    return list;
}

void acq_reason_view_note(const acq_reason_view *view, acq_output *output)
{
    if (view->note[0] != '\0')
        acq_report_note(output, "no reasons: %s", view->note);
}
