/* dictionary.c - names, ids and labels while a graph is read; see build.h.
 *
 * Labels are collected by key, whether the key is used or not, because a file may label an entity
 * before its first fact. They are settled at the end: first every text learns whether one id owns
 * it alone, then owners take theirs and all others get `label <key>`. */
#include "graph/build.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"

void acq_dictionary_init(acq_dictionary *dictionary)
{
    *dictionary = (acq_dictionary){0};
}

void acq_dictionary_deinit(acq_dictionary *dictionary)
{
    acq_names_deinit(&dictionary->entities);
    acq_names_deinit(&dictionary->relations);
    acq_names_deinit(&dictionary->labelled);
    acq_free(dictionary->labels);
    acq_free(dictionary->label_text);
    acq_quads_deinit(&dictionary->quads);
    *dictionary = (acq_dictionary){0};
}

bool acq_dictionary_names_inverses(const acq_dictionary *dictionary)
{
    return acq_names_get(&dictionary->relations, 1) != NULL;
}

acq_status acq_dictionary_add_label(acq_dictionary *dictionary, const char *key, size_t key_length,
                                    const char *label, size_t length, acq_label_rank rank)
{
    acq_names *labelled = &dictionary->labelled;
    size_t known = labelled->n_ids, used = dictionary->label_text_used;
    uint32_t id;
    if (ACQ_RESERVE(dictionary->labels, dictionary->labels_capacity, known + 1) != ACQ_OK ||
        ACQ_RESERVE(dictionary->label_text, dictionary->label_text_capacity, used + length + 1) !=
            ACQ_OK)
        return ACQ_ERR_MEMORY;
    acq_status status = acq_names_add(labelled, key, key_length, 1, &id);
    if (status != ACQ_OK || (id < known && dictionary->labels[id].rank >= rank))
        return status;
    if (length > 0)
        memcpy(dictionary->label_text + used, label, length);
    dictionary->label_text_used += length;
    dictionary->labels[id] = (acq_raw_label){.start = used, .length = length, .rank = rank};
    return ACQ_OK;
}

acq_status acq_dictionary_set(acq_names *names, const char *kind, uint32_t id, const char *name,
                              size_t length, acq_error *error)
{
    const char *old = acq_names_get(names, id);
    uint32_t known = acq_names_find(names, name, length);
    int shown = length < 100 ? (int)length : 100;
    if (known == id)
        return ACQ_OK;
    if (known != ACQ_NO_ID)
        return acq_fail(error, ACQ_ERR_INPUT, "%s \"%.*s\" has two ids, %u and %u; give it one",
                        kind, shown, name, known, id);
    if (old != NULL)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "%s id %u has two names, \"%.100s\" and \"%.*s\"; keep one", kind, id, old,
                        shown, name);
    acq_status status = acq_names_put(names, id, name, length);
    if (status == ACQ_ERR_MEMORY)
        return acq_fail_memory(error);
    if (status == ACQ_ERR_INPUT)
        return acq_fail(error, status, "the name of %s id %u holds a NUL byte; remove it", kind,
                        id);
    if (status != ACQ_OK)
        return acq_fail(error, status, "%s id %u or its name is too large", kind, id);
    return ACQ_OK;
}

acq_status acq_dictionary_check(const acq_dictionary *dictionary, acq_error *error)
{
    const acq_names *entities = &dictionary->entities, *relations = &dictionary->relations;
    for (uint32_t id = 0; entities->n_names < entities->n_ids && id < entities->n_ids; id++) {
        if (acq_names_get(entities, id) == NULL)
            return acq_fail(error, ACQ_ERR_INPUT,
                            "entity id %u has no name; ids must run from 0 without a gap", id);
    }
    for (uint32_t id = 0; id < relations->n_ids; id += 2) {
        if (acq_names_get(relations, id) == NULL && acq_names_get(relations, id + 1) == NULL)
            return acq_fail(error, ACQ_ERR_INPUT,
                            "relation ids %u and %u have no name; ids must run without a gap", id,
                            id + 1);
    }
    return ACQ_OK;
}

/* What the i-th labelled key wants to be called. */
typedef struct wish {
    uint32_t id;   /* ACQ_NO_ID: the key is not in use, or the label tells no more than it */
    uint32_t text; /* the label, by its id in texts */
} wish;

typedef struct settlement {
    const acq_dictionary *dictionary;
    const acq_names *keys;
    wish *wishes;     /* by id in `labelled` */
    acq_names texts;  /* all labels that are wanted */
    uint32_t *owners; /* by id in texts; ACQ_NO_ID: nobody may have it alone */
    size_t owners_capacity;
    acq_names settled;
    acq_text buffer;
} settlement;

static acq_status make_wish(settlement *s, uint32_t i)
{
    const acq_dictionary *dictionary = s->dictionary;
    const acq_raw_label *label = &dictionary->labels[i];
    const char *text = dictionary->label_text + label->start;
    acq_name_entry key = dictionary->labelled.entries[i];
    size_t known = s->texts.n_ids;
    uint32_t id = acq_names_find(s->keys, dictionary->labelled.pool + key.start, key.length);
    uint32_t other = acq_names_find(s->keys, text, label->length);
    s->wishes[i].id = ACQ_NO_ID;
    if (id == ACQ_NO_ID || other == id || label->length == 0)
        return ACQ_OK;
    if (ACQ_RESERVE(s->owners, s->owners_capacity, known + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    acq_status status = acq_names_add(&s->texts, text, label->length, 1, &s->wishes[i].text);
    if (status != ACQ_OK)
        return status;
    s->wishes[i].id = id;
    s->owners[s->wishes[i].text] =
        s->wishes[i].text == known && other == ACQ_NO_ID ? id : ACQ_NO_ID;
    return ACQ_OK;
}

static bool is_owner(const settlement *s, wish w)
{
    return w.id != ACQ_NO_ID && s->owners[w.text] == w.id;
}

static acq_status serve_owner(settlement *s, uint32_t i)
{
    wish w = s->wishes[i];
    if (!is_owner(s, w))
        return ACQ_OK;
    acq_name_entry text = s->texts.entries[w.text];
    return acq_names_put(&s->settled, w.id, s->texts.pool + text.start, text.length);
}

/* `label <key>`, or nothing in the odd case that even this is taken: then the key is shown. */
static acq_status serve_other(settlement *s, uint32_t i)
{
    acq_text *buffer = &s->buffer;
    wish w = s->wishes[i];
    if (w.id == ACQ_NO_ID || is_owner(s, w))
        return ACQ_OK;
    acq_text_clear(buffer);
    acq_text_add(buffer, acq_names_get(&s->texts, w.text));
    acq_text_add(buffer, " <");
    acq_text_add(buffer, acq_names_get(s->keys, w.id));
    acq_text_add_char(buffer, '>');
    if (acq_text_finish(buffer, NULL) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    if (buffer->length > ACQ_NAME_MOST ||
        acq_names_find(s->keys, buffer->bytes, buffer->length) != ACQ_NO_ID ||
        acq_names_find(&s->settled, buffer->bytes, buffer->length) != ACQ_NO_ID)
        return ACQ_OK;
    return acq_names_put(&s->settled, w.id, buffer->bytes, buffer->length);
}

static acq_status settle(settlement *s)
{
    static acq_status (*const steps[])(settlement * s, uint32_t i) = {make_wish, serve_owner,
                                                                      serve_other};
    size_t n = s->dictionary->labelled.n_ids;
    acq_status status = ACQ_OK;
    s->wishes = acq_alloc(n, sizeof *s->wishes);
    if (s->wishes == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t step = 0; step < sizeof steps / sizeof steps[0]; step++) {
        for (uint32_t i = 0; status == ACQ_OK && i < n; i++)
            status = steps[step](s, i);
    }
    return status;
}

acq_status acq_dictionary_settle_labels(const acq_dictionary *dictionary, const acq_names *keys,
                                        acq_names *out)
{
    settlement s = {.dictionary = dictionary, .keys = keys};
    acq_text_init(&s.buffer);
    acq_status status = settle(&s);
    acq_text_deinit(&s.buffer);
    acq_names_deinit(&s.texts);
    acq_free(s.owners);
    acq_free(s.wishes);
    if (status == ACQ_OK)
        *out = s.settled;
    else
        acq_names_deinit(&s.settled);
    return status;
}
