/* item.c - see parts.h: a draft, its answers, its labels, the text of the file. */

#include <string.h>

#include "base/memory.h"
#include "generate/parts.h"
#include "query/print.h"

enum {
    MOST_LISTED = 3000, /* answers of a query for a candidate set; with more it is left out */
    MOST_SET = 10,      /* correct candidates */
    MOST_PUBLISHED = 5, /* of large queries, in the published files */
};

void acq_item_deinit(acq_item *item)
{
    acq_text_deinit(&item->formula);
    acq_text_deinit(&item->body);
    *item = (acq_item){0};
}

/* What a try works on. */
typedef struct trial {
    const acq_item_source *source;
    acq_item_wish wish;
    acq_random random;
    acq_draft draft;
    acq_query *query;
    acq_tuples easy, all;
    acq_item *item;
    acq_error *error;
} trial;

static void deinit(trial *t)
{
    acq_draft_deinit(&t->draft);
    acq_query_free(t->query);
    acq_tuples_deinit(&t->easy);
    acq_tuples_deinit(&t->all);
}

static bool is_text(const trial *t)
{
    return strcmp(t->source->params->form, "text") == 0;
}

/* ---- answers ---- */

static acq_status remake_query(trial *t)
{
    acq_query_free(t->query);
    t->query = NULL;
    return acq_draft_make_query(&t->draft, &t->query, t->error);
}

/* Both lists of the draft as it is now; item->fate says if they will do. */
static acq_status list_answers(trial *t, uint64_t limit)
{
    const acq_worlds_pair *worlds = &t->source->worlds;
    acq_status status = remake_query(t);
    acq_tuples_deinit(&t->easy);
    acq_tuples_deinit(&t->all);
    if (status == ACQ_OK)
        status = acq_labels_list(worlds, worlds->complete, t->query, limit, &t->all, t->error);
    if (status == ACQ_OK && t->all.is_whole)
        status = acq_labels_list(worlds, worlds->observed, t->query, 0, &t->easy, t->error);
    if (status != ACQ_OK)
        return status;
    t->item->fate = !t->all.is_whole || !t->easy.is_whole ? ACQ_ITEM_COSTLY : ACQ_ITEM_GOOD;
    return ACQ_OK;
}

/* With negated atoms an answer of the observed graph need not be one of the complete graph. */
static size_t count_hard(const trial *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->all.n; i++)
        n += !acq_tuples_has(&t->easy, t->all.values + i * t->all.n_free);
    return n;
}

static acq_status draw_draft(trial *t, acq_base_room *room, bool *is_drawn)
{
    const acq_item_source *source = t->source;
    bool is_hub = source->kind == ACQ_GENERATE_QAC || source->kind == ACQ_GENERATE_QAR;
    return is_hub ? acq_base_draw(room, &source->base, &t->random, is_drawn, &t->draft, t->error)
                  : acq_small_draw(source->sampler, t->wish.type, &t->random, is_drawn, &t->draft,
                                   t->error);
}

/* ---- checks: every label once more, by itself ---- */

static acq_status check_tuples(trial *t, const acq_query *query, const acq_predictor *world,
                               const acq_tuples *tuples, bool wanted)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < tuples->n && status == ACQ_OK; i++) {
        bool holds, is_sure;
        status = acq_labels_check(&t->source->worlds, world, query,
                                  tuples->values + i * tuples->n_free, &holds, &is_sure, t->error);
        if (status == ACQ_OK && is_sure && holds != wanted)
            return acq_fail(t->error, ACQ_ERR_INTERNAL,
                            "a label of the generated query %llu is wrong; please report this",
                            (unsigned long long)t->wish.number);
        t->item->counts.n_checked += is_sure;
    }
    return status;
}

/* ---- text ---- */

static void add_tuples(acq_text *out, const acq_tuples *tuples)
{
    acq_text_add(out, "{\"f1");
    for (uint32_t i = 1; i < tuples->n_free; i++)
        acq_text_format(out, "&f%u", i + 1);
    acq_text_add(out, "\": [");
    for (size_t i = 0; i < tuples->n; i++) {
        acq_text_add(out, i == 0 ? "[" : ", [");
        for (uint32_t j = 0; j < tuples->n_free; j++)
            acq_text_format(out, "%s%u", j == 0 ? "" : ", ",
                            tuples->values[i * tuples->n_free + j]);
        acq_text_add_char(out, ']');
    }
    acq_text_add(out, "]}");
}

static void add_names(const trial *t, const acq_tuples *tuples, const char *label)
{
    const acq_graph *graph = t->source->worlds.observed_graph;
    acq_text *out = &t->item->body;
    for (size_t i = 0; i < tuples->n; i++) {
        const acq_ent *tuple = tuples->values + i * tuples->n_free;
        const char *kind = label != NULL                     ? label
                           : acq_tuples_has(&t->easy, tuple) ? "easy"
                                                             : "hard";
        acq_text_format(out, "# %s:", kind);
        for (uint32_t j = 0; j < tuples->n_free; j++)
            acq_text_format(out, "%s %s", j == 0 ? "" : ",",
                            acq_graph_get_entity_name(graph, tuple[j]));
        acq_text_add_char(out, '\n');
    }
}

static acq_status add_query(trial *t)
{
    acq_draft_name_query(t->query, t->source->worlds.observed_graph);
    acq_status status = acq_query_print(t->query, ACQ_SYNTAX_TEXT, &t->item->body, t->error);
    acq_text_add_char(&t->item->body, '\n');
    return status;
}

static void count_terms(trial *t)
{
    acq_generate_report *counts = &t->item->counts;
    counts->n_queries = 1;
    counts->terms = t->query->n_variables + t->query->n_constants;
    counts->constants = t->query->n_constants;
    counts->atoms = t->query->n_atoms;
}

/* ---- classification ---- */

static acq_status write_set(trial *t, const acq_candidate_set *set)
{
    acq_item *item = t->item;
    count_terms(t);
    item->counts.n_trivial = t->easy.n > 0;
    item->counts.n_easy = set->n_easy;
    item->counts.n_hard = set->correct.n - set->n_easy;
    item->counts.n_wrong = set->wrong.n;
    item->counts.n_candidates = set->correct.n + set->wrong.n;
    item->counts.n_unseen = set->n_unseen;
    if (is_text(t)) {
        acq_status status = add_query(t);
        add_names(t, &set->correct, NULL);
        add_names(t, &set->wrong, "wrong");
        return status;
    }
    acq_text_add_char(&item->body, '[');
    acq_draft_print(&t->draft, &item->formula, &item->body);
    acq_text_add(&item->body, ", ");
    add_tuples(&item->body, &set->correct);
    acq_text_add(&item->body, ", ");
    add_tuples(&item->body, &set->wrong);
    acq_text_add_char(&item->body, ']');
    return ACQ_OK;
}

static acq_status make_set(trial *t)
{
    const acq_worlds_pair *worlds = &t->source->worlds;
    acq_candidate_set set = {0};
    acq_status status = list_answers(t, MOST_LISTED);
    if (status != ACQ_OK || t->item->fate != ACQ_ITEM_GOOD)
        return status;
    if (count_hard(t) == 0) {
        t->item->fate = ACQ_ITEM_EASY_ONLY;
        return ACQ_OK;
    }
    bool as_published = t->source->params->published_sets;
    bool is_hub = t->source->kind == ACQ_GENERATE_QAC;
    status = acq_candidate_set_draw(worlds, t->query, &t->easy, &t->all,
                                    as_published && is_hub ? MOST_PUBLISHED : MOST_SET,
                                    !as_published, &t->random, &set, t->error);
    if (status == ACQ_OK && set.correct.n == 0)
        t->item->fate = ACQ_ITEM_NO_SET;
    else if (status == ACQ_OK)
        status = check_tuples(t, t->query, worlds->complete, &set.correct, true);
    if (status == ACQ_OK && t->item->fate == ACQ_ITEM_GOOD)
        status = check_tuples(t, t->query, worlds->complete, &set.wrong, false);
    if (status == ACQ_OK && t->item->fate == ACQ_ITEM_GOOD)
        status = write_set(t, &set);
    acq_candidate_set_deinit(&set);
    return status;
}

/* ---- retrieval ---- */

/* Existential variables become free until there are so many; false: there are not enough. */
static bool free_variables(trial *t, uint32_t wanted)
{
    acq_draft *draft = &t->draft;
    while (draft->n_free < wanted && draft->n_free < draft->n_variables)
        acq_draft_free_variable(
            draft, draft->n_free +
                       (uint32_t)acq_random_below(&t->random, draft->n_variables - draft->n_free));
    return draft->n_free == wanted;
}

static acq_status write_question(trial *t, char type)
{
    acq_item *item = t->item;
    count_terms(t);
    item->counts.n_candidates = t->all.n;
    item->counts.n_negative = type == 'n';
    item->counts.n_trivial = type == 'e';
    if (is_text(t)) {
        acq_status status = add_query(t);
        acq_text_add(&item->body, type == 'n' ? "# none\n" : "");
        add_names(t, &t->all, type == 'e' ? "answer (easy query)" : "answer (hard query)");
        return status;
    }
    acq_text_add_char(&item->body, '[');
    acq_draft_print(&t->draft, &item->formula, &item->body);
    acq_text_add(&item->body, ", ");
    add_tuples(&item->body, &t->all);
    acq_text_format(&item->body, ", \"%c\"]", type);
    return ACQ_OK;
}

/* Answers up to the cap; of a query with more, that many. */
static acq_status list_capped(trial *t)
{
    const acq_worlds_pair *worlds = &t->source->worlds;
    uint64_t cap = t->source->params->answers;
    acq_status status = remake_query(t);
    acq_tuples_deinit(&t->easy);
    acq_tuples_deinit(&t->all);
    if (status == ACQ_OK)
        status = acq_labels_list(worlds, worlds->complete, t->query, cap + 1, &t->all, t->error);
    if (status == ACQ_OK)
        status = acq_labels_list(worlds, worlds->observed, t->query, 1, &t->easy, t->error);
    if (status != ACQ_OK)
        return status;
    bool is_capped = t->all.n > cap;
    t->item->counts.n_capped = is_capped;
    t->all.n = is_capped ? (size_t)cap : t->all.n;
    bool knows_easy = t->easy.n > 0 || t->easy.is_whole;
    t->item->fate = (t->all.is_whole || is_capped) && knows_easy ? ACQ_ITEM_GOOD : ACQ_ITEM_COSTLY;
    return ACQ_OK;
}

static acq_status make_positive(trial *t)
{
    if (!free_variables(t, t->source->params->free_variables)) {
        t->item->fate = ACQ_ITEM_UNFIT;
        return ACQ_OK;
    }
    acq_status status = list_capped(t);
    if (status != ACQ_OK || t->item->fate != ACQ_ITEM_GOOD)
        return status;
    status = check_tuples(t, t->query, t->source->worlds.complete, &t->all, true);
    return status == ACQ_OK ? write_question(t, t->easy.n > 0 ? 'e' : 'h') : status;
}

/* As the published ones: the free variable gives way to an entity that is no answer, others become
 * free in its place. */
static acq_status make_negative(trial *t)
{
    acq_ent wrong;
    const acq_generate_params *params = t->source->params;
    acq_status status = acq_labels_draw_wrong(&t->source->worlds, &t->draft, params->near_negatives,
                                              &t->random, &wrong, t->error);
    if (status != ACQ_OK)
        return status;
    if (wrong == ACQ_NO_ID) {
        t->item->fate = ACQ_ITEM_NO_SET;
        return ACQ_OK;
    }
    acq_draft_fix(&t->draft, wrong);
    if (!free_variables(t, params->free_variables)) {
        t->item->fate = ACQ_ITEM_UNFIT;
        return ACQ_OK;
    }
    status = list_capped(t);
    if (status != ACQ_OK || t->item->fate != ACQ_ITEM_GOOD)
        return status;
    if (t->all.n > 0)
        return acq_fail(t->error, ACQ_ERR_INTERNAL,
                        "the generated negative query %llu has an answer; please report this",
                        (unsigned long long)t->wish.number);
    t->item->counts.n_checked++;
    return write_question(t, 'n');
}

static acq_status make_question(trial *t)
{
    acq_status status = list_answers(t, MOST_LISTED);
    if (status != ACQ_OK || t->item->fate != ACQ_ITEM_GOOD)
        return status;
    if (count_hard(t) == 0) {
        t->item->fate = ACQ_ITEM_EASY_ONLY;
        return ACQ_OK;
    }
    return t->wish.is_negative ? make_negative(t) : make_positive(t);
}

/* ---- ranking ---- */

/* A label of a difference is checked once, by two questions. */
static acq_status check_difference(trial *t, acq_query *const *queries, const acq_tuples *tuples)
{
    const acq_predictor *world = t->source->worlds.complete;
    acq_status status = check_tuples(t, queries[0], world, tuples, true);
    size_t n_checked = t->item->counts.n_checked;
    if (status == ACQ_OK)
        status = check_tuples(t, queries[1], world, tuples, false);
    t->item->counts.n_checked = n_checked;
    return status;
}

/* What BetaE means by pni: one set without the other. */
static acq_status list_difference(trial *t, const acq_predictor *world, acq_tuples *out)
{
    acq_draft drafts[2] = {0};
    acq_tuples lists[2] = {0};
    acq_query *queries[2] = {0};
    acq_status status = acq_small_split_pni(&t->draft, &drafts[0], &drafts[1], t->error);
    for (int i = 0; i < 2 && status == ACQ_OK; i++) {
        status = acq_draft_make_query(&drafts[i], &queries[i], t->error);
        if (status == ACQ_OK)
            status = acq_labels_list(&t->source->worlds, world, queries[i], 0, &lists[i], t->error);
    }
    *out = (acq_tuples){.n_free = 1, .is_whole = lists[0].is_whole && lists[1].is_whole};
    for (size_t i = 0; i < lists[0].n && status == ACQ_OK; i++)
        if (!acq_tuples_has(&lists[1], &lists[0].values[i]) &&
            acq_tuples_add(out, &lists[0].values[i]) != ACQ_OK)
            status = acq_fail_memory(t->error);
    if (status == ACQ_OK && out->is_whole && world == t->source->worlds.complete)
        status = check_difference(t, queries, out);
    for (int i = 0; i < 2; i++) {
        acq_query_free(queries[i]);
        acq_draft_deinit(&drafts[i]);
        acq_tuples_deinit(&lists[i]);
    }
    return status;
}

static acq_status list_pni(trial *t)
{
    acq_tuples_deinit(&t->all);
    acq_tuples_deinit(&t->easy);
    acq_status status = list_difference(t, t->source->worlds.complete, &t->all);
    if (status == ACQ_OK)
        status = list_difference(t, t->source->worlds.observed, &t->easy);
    t->item->fate = t->all.is_whole && t->easy.is_whole ? ACQ_ITEM_GOOD : ACQ_ITEM_COSTLY;
    return status;
}

static void add_part(trial *t, const char *name, bool is_easy)
{
    size_t n = 0;
    acq_text_format(&t->item->body, ", \"%s\": [", name);
    for (size_t i = 0; i < t->all.n; i++) {
        if (acq_tuples_has(&t->easy, &t->all.values[i]) != is_easy)
            continue;
        acq_text_format(&t->item->body, "%s%u", n++ == 0 ? "" : ", ", t->all.values[i]);
    }
    acq_text_add_char(&t->item->body, ']');
    *(is_easy ? &t->item->counts.n_easy : &t->item->counts.n_hard) += n;
}

static acq_status make_ranking(trial *t)
{
    bool is_pni = acq_small_is_pni(t->wish.type);
    acq_status status = list_answers(t, t->source->params->answers + 1);
    if (status == ACQ_OK && is_pni)
        status = list_pni(t);
    if (status != ACQ_OK || t->item->fate != ACQ_ITEM_GOOD)
        return status;
    bool is_over = t->all.n > t->source->params->answers;
    if (is_over || count_hard(t) == 0) {
        t->item->fate = is_over ? ACQ_ITEM_COSTLY : ACQ_ITEM_EASY_ONLY;
        return ACQ_OK;
    }
    if (!is_pni)
        status = check_tuples(t, t->query, t->source->worlds.complete, &t->all, true);
    count_terms(t);
    t->item->counts.n_candidates = t->all.n;
    t->item->counts.n_trivial = t->easy.n > 0;
    acq_text_add(&t->item->formula, acq_small_type_get_name(t->wish.type));
    acq_text_add(&t->item->body, "{\"query\": ");
    acq_small_print_nested(t->wish.type, &t->draft, &t->item->body);
    add_part(t, "easy", true);
    add_part(t, "hard", false);
    acq_text_add_char(&t->item->body, '}');
    return status;
}

acq_status acq_item_make(const acq_item_source *source, acq_base_room *room, acq_item_wish wish,
                         acq_item *out, acq_error *error)
{
    static acq_status (*const makers[])(trial *) = {
        [ACQ_GENERATE_QAC] = make_set,
        [ACQ_GENERATE_QAR] = make_question,
        [ACQ_GENERATE_SMALL] = make_set,
        [ACQ_GENERATE_CQA] = make_ranking,
    };
    trial t = {.source = source,
               .wish = wish,
               .random = acq_random_start(source->params->seed, wish.number),
               .item = out,
               .error = error};
    bool is_drawn = false;
    *out = (acq_item){.fate = ACQ_ITEM_UNFIT};
    acq_status status = draw_draft(&t, room, &is_drawn);
    if (status == ACQ_OK && is_drawn)
        status = makers[source->kind](&t);
    deinit(&t);
    if (status == ACQ_OK)
        status = acq_text_finish(&out->formula, error);
    if (status == ACQ_OK)
        status = acq_text_finish(&out->body, error);
    if (status != ACQ_OK)
        acq_item_deinit(out);
    return status;
}
