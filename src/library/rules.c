/* rules.c - the rules of a model, for people and programs to read. */
#include "library/parts.h"

#include <stdlib.h>

#include "base/memory.h"
#include "models/rulebook/rulebook.h"

struct acq_rule_reader {
    acq_rulebook_file *file;
    const acq_learnt_rule **rules; /* most confident first */
    size_t n;
    acq_text text; /* of the rule that was read last */
};

/* Rules have an order of their own where confidence and support are equal. */
static int compare(const void *a, const void *b)
{
    const acq_learnt_rule *x = *(const acq_learnt_rule *const *)a;
    const acq_learnt_rule *y = *(const acq_learnt_rule *const *)b;
    double p = acq_learnt_rule_get_confidence(x), q = acq_learnt_rule_get_confidence(y);
    bool is_cycle = x->constant == ACQ_NO_ID;
    if (p != q)
        return p > q ? -1 : 1;
    if (x->support != y->support)
        return x->support > y->support ? -1 : 1;
    if (is_cycle != (y->constant == ACQ_NO_ID))
        return is_cycle ? -1 : 1;
    return (x > y) - (x < y); /* of one array */
}

static acq_status order(acq_rule_reader *r, acq_error *error)
{
    const acq_rulebook *book = acq_rulebook_file_get(r->file);
    r->rules = acq_alloc(book->n_cycles + book->n_constants, sizeof *r->rules);
    if (r->rules == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < book->n_cycles; i++)
        r->rules[r->n++] = &book->cycles[i];
    for (size_t i = 0; i < book->n_constants; i++)
        r->rules[r->n++] = &book->constants[i];
    if (r->n > 0)
        qsort((void *)r->rules, r->n, sizeof *r->rules, compare);
    return ACQ_OK;
}

bool acq_rules_is_model(const char *path)
{
    return path != NULL && acq_rulebook_is_one(path);
}

acq_status acq_rule_reader_open(const char *path, acq_rule_reader **out, acq_error *error)
{
    ACQ_REQUIRE(path, error);
    ACQ_REQUIRE(out, error);
    acq_rule_reader *r = acq_zalloc(1, sizeof *r);
    if (r == NULL)
        return acq_fail_memory(error);
    acq_status status = acq_rulebook_open(path, &r->file, error);
    if (status == ACQ_OK)
        status = order(r, error);
    if (status == ACQ_OK)
        *out = r;
    else
        acq_rule_reader_close(r);
    return status;
}

void acq_rule_reader_close(acq_rule_reader *reader)
{
    if (reader == NULL)
        return;
    acq_rulebook_close(reader->file);
    acq_free((void *)reader->rules);
    acq_text_deinit(&reader->text);
    acq_free(reader);
}

void acq_rule_reader_describe(const acq_rule_reader *reader, acq_rules_summary *out)
{
    if (reader == NULL || out == NULL)
        return;
    const acq_rulebook *book = acq_rulebook_file_get(reader->file);
    acq_rules_summary own = {
        .n_rules = reader->n,
        .n_with_entities = book->n_constants,
        .n_entities = book->n_entities,
        .n_relations = book->n_relations / 2,
        .aggregation = acq_rule_aggregation_get_name(book->aggregation),
        .data = acq_rulebook_file_get_metadata(reader->file, "data"),
        .options = acq_rulebook_file_get_metadata(reader->file, "options"),
    };
    acq_sized_fill(out, &own, sizeof own);
}

bool acq_rule_reader_get(acq_rule_reader *reader, uint64_t i, acq_rule_view *out)
{
    if (reader == NULL || out == NULL || i >= reader->n)
        return false;
    const acq_learnt_rule *rule = reader->rules[i];
    acq_text_clear(&reader->text);
    acq_rulebook_file_print(reader->file, rule, &reader->text);
    acq_rule_view own = {.text = reader->text.failed ? "(out of memory)" : reader->text.bytes,
                         .confidence = acq_learnt_rule_get_confidence(rule),
                         .support = rule->support,
                         .pairs = rule->pairs,
                         .cluster = rule->cluster};
    acq_sized_fill(out, &own, sizeof own);
    return true;
}
