/* facts.c - see facts.h. */
#include "cli/facts.h"

#include "base/memory.h"
#include "cli/progress.h"
#include "store/store.h"

static acq_status read_patterns(acq_facts *facts, const acq_options *options, const char **source,
                                acq_error *error)
{
    size_t n = options->args.n - 1; /* the first is the graph */
    facts->patterns = acq_zalloc(n, sizeof *facts->patterns);
    facts->items = acq_zalloc(n, sizeof *facts->items);
    if (facts->patterns == NULL || facts->items == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < n; i++) {
        const char *text = options->args.items[i + 1];
        acq_pattern *p = &facts->patterns[i];
        facts->n_patterns++;
        acq_status status = acq_pattern_init(p, ACQ_PATTERN_FACT, text, error);
        if (status != ACQ_OK) {
            *source = text;
            return status;
        }
        facts->items[i] = (acq_store_fact){.head = p->head,
                                           .relation = p->relation,
                                           .tail = p->tail,
                                           .is_inverse = p->is_inverse,
                                           .is_rdf = p->has_iri};
    }
    facts->n = n;
    return ACQ_OK;
}

static acq_status take_triples(void *self, const acq_triple *triples, size_t n, acq_error *error)
{
    acq_facts *facts = self;
    if (ACQ_RESERVE(facts->triples, facts->capacity, facts->n_triples + n) != ACQ_OK)
        return acq_fail_memory(error);
    for (size_t i = 0; i < n; i++)
        facts->triples[facts->n_triples++] = triples[i];
    return ACQ_OK;
}

/* Names move while a dictionary grows, so they are looked up at the end. */
static acq_status name_triples(acq_facts *facts, acq_error *error)
{
    const acq_dictionary *names = &facts->dictionary;
    facts->items = acq_alloc(facts->n_triples, sizeof *facts->items);
    if (facts->items == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < facts->n_triples; i++) {
        const acq_triple *t = &facts->triples[i];
        facts->items[i] =
            (acq_store_fact){.head = acq_names_get(&names->entities, t->head),
                             .relation = acq_names_get(&names->relations, t->relation),
                             .tail = acq_names_get(&names->entities, t->tail),
                             .is_rdf = names->is_rdf};
    }
    facts->n = facts->n_triples;
    acq_free(facts->triples);
    facts->triples = NULL;
    return ACQ_OK;
}

static acq_status read_file(acq_facts *facts, const acq_options *options, acq_output *output,
                            acq_error *error)
{
    acq_reading reading;
    acq_read_report report;
    acq_reading_init(&reading, output);
    acq_read_params params = acq_reading_get_params(&reading, options);
    acq_sink sink = {.dictionary = &facts->dictionary, .add_facts = take_triples, .self = facts};
    acq_status status = acq_reading_check_split(options, error);
    if (status == ACQ_OK)
        status = acq_ingest(&options->from, 1, &params, &sink, &report, error);
    acq_reading_finish(&reading, options->from, status == ACQ_OK ? &report : NULL);
    if (status == ACQ_OK && report.labels > 0)
        acq_report_note(output, "%s: %llu label%s left out; only import takes labels",
                        options->from, (unsigned long long)report.labels,
                        report.labels == 1 ? " is" : "s are");
    return status == ACQ_OK ? name_triples(facts, error) : status;
}

static acq_status check_file(const char *path, acq_error *error)
{
    if (!acq_store_is_database(path))
        return ACQ_OK;
    acq_fail(error, ACQ_ERR_USAGE,
             "this is a store; anycq export writes its facts as text, which --from takes");
    acq_error_set_file(error, path);
    return ACQ_ERR_USAGE;
}

static acq_status check_given(const acq_options *options, acq_error *error)
{
    const char *name = acq_command_get(options->command)->name;
    bool has_facts = options->args.n > 1;
    if (!has_facts && options->from == NULL)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "%s needs facts: 'rel(head, tail)'..., or a file of them with --from FILE",
                        name);
    if (has_facts && options->from != NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "%s takes facts or --from FILE, not both", name);
    return has_facts ? ACQ_OK : check_file(options->from, error);
}

acq_status acq_facts_init(acq_facts *facts, const acq_options *options, acq_output *output,
                          const char **source, acq_error *error)
{
    *facts = (acq_facts){0};
    *source = NULL;
    acq_dictionary_init(&facts->dictionary);
    acq_status status = check_given(options, error);
    if (status != ACQ_OK)
        return status;
    return options->from == NULL ? read_patterns(facts, options, source, error)
                                 : read_file(facts, options, output, error);
}

void acq_facts_deinit(acq_facts *facts)
{
    for (size_t i = 0; i < facts->n_patterns; i++)
        acq_pattern_deinit(&facts->patterns[i]);
    acq_free(facts->patterns);
    acq_free(facts->items);
    acq_free(facts->triples);
    acq_dictionary_deinit(&facts->dictionary);
    *facts = (acq_facts){0};
}
