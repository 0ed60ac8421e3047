/* dictionary.c - names, ids and labels while a graph is read; see dictionary.h.
 *
 * Labels are collected by key, whether the key is used or not, because a file may label an entity
 * before its first fact. They are settled at the end: first every label learns whether one key
 * owns it alone, then owners take theirs and all others get `label <key>`. */
#include "graph/dictionary.h"

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

/* Who wants which label: each distinct text with its owner, ACQ_NO_ID once several want it. */
typedef struct claims {
    const acq_dictionary *dictionary;
    const acq_names *keys;
    acq_names texts;
    uint32_t *owners; /* by id in texts */
    size_t owners_capacity;
} claims;

/* The label of the i-th labelled key, if that key is in use and the label tells more than it. */
static bool get_wish(const claims *c, uint32_t i, uint32_t *id, const char **text, size_t *length)
{
    const acq_dictionary *dictionary = c->dictionary;
    const acq_raw_label *label = &dictionary->labels[i];
    const char *key = acq_names_get(&dictionary->labelled, i);
    *text = dictionary->label_text + label->start;
    *length = label->length;
    *id = acq_names_find(c->keys, key, strlen(key));
    return *id != ACQ_NO_ID && *length > 0 && acq_names_find(c->keys, *text, *length) != *id;
}

static acq_status claim(claims *c, uint32_t id, const char *text, size_t length)
{
    size_t known = c->texts.n_ids;
    uint32_t place;
    if (ACQ_RESERVE(c->owners, c->owners_capacity, known + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    acq_status status = acq_names_add(&c->texts, text, length, 1, &place);
    if (status == ACQ_OK)
        c->owners[place] = place == known ? id : ACQ_NO_ID;
    return status;
}

static bool owns(const claims *c, uint32_t id, const char *text, size_t length)
{
    uint32_t place = acq_names_find(&c->texts, text, length);
    return c->owners[place] == id && acq_names_find(c->keys, text, length) == ACQ_NO_ID;
}

/* `label <key>`, or nothing in the odd case that even this is taken: then the key is shown. */
static acq_status put_with_key(const claims *c, uint32_t id, const char *text, size_t length,
                               acq_text *buffer, acq_names *out)
{
    acq_text_clear(buffer);
    acq_text_add_bytes(buffer, text, length);
    acq_text_add(buffer, " <");
    acq_text_add(buffer, acq_names_get(c->keys, id));
    acq_text_add_char(buffer, '>');
    if (acq_text_finish(buffer, NULL) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    if (buffer->length > ACQ_NAME_MOST ||
        acq_names_find(c->keys, buffer->bytes, buffer->length) != ACQ_NO_ID ||
        acq_names_find(out, buffer->bytes, buffer->length) != ACQ_NO_ID)
        return ACQ_OK;
    return acq_names_put(out, id, buffer->bytes, buffer->length);
}

/* One walk over the labels: 0 claims, 1 hands out to sole owners, 2 serves the others. */
static acq_status walk(claims *c, int pass, acq_text *buffer, acq_names *out)
{
    size_t n = c->dictionary->labelled.n_ids;
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; status == ACQ_OK && i < n; i++) {
        uint32_t id;
        const char *text;
        size_t length;
        if (!get_wish(c, i, &id, &text, &length))
            continue;
        if (pass == 0)
            status = claim(c, id, text, length);
        else if (owns(c, id, text, length) && pass == 1)
            status = acq_names_put(out, id, text, length);
        else if (!owns(c, id, text, length) && pass == 2)
            status = put_with_key(c, id, text, length, buffer, out);
    }
    return status;
}

acq_status acq_dictionary_settle_labels(const acq_dictionary *dictionary, const acq_names *keys,
                                        acq_names *out)
{
    claims c = {.dictionary = dictionary, .keys = keys};
    acq_names settled;
    acq_text buffer;
    acq_status status = ACQ_OK;
    acq_names_init(&settled);
    acq_text_init(&buffer);
    for (int pass = 0; status == ACQ_OK && pass < 3; pass++)
        status = walk(&c, pass, &buffer, &settled);
    acq_text_deinit(&buffer);
    acq_names_deinit(&c.texts);
    acq_free(c.owners);
    if (status == ACQ_OK)
        *out = settled;
    else
        acq_names_deinit(&settled);
    return status;
}
