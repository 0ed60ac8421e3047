/* file.c - rules on disk; see rulebook.h.
 *
 * Rules are rows of whole numbers in safetensors. Ids of entities may not fit the 24 bits of a
 * float and are two numbers, id / 65536 and id % 65536; an absent id is -1. The names are
 * metadata, so that the rules can be read without their graph: "relations" has those of all
 * relations, both directions, each as LENGTH:NAME in the order of their ids; "entities" has those
 * that rules mention, each as ID:LENGTH:NAME. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "models/rulebook/parts.h"

enum {
    CYCLE_COLUMNS = 7,    /* head, three hops, support, pairs, cluster */
    CONSTANT_COLUMNS = 9, /* head, body, constant, other (two each), support, pairs, cluster */
    HALF = 65536,
    MOST_NAMES = 60 * 1000 * 1000, /* bytes of the names that are kept */
    OWN_METADATA = 8,
    NUMBER_ROOM = 24,
    NAME_ROOM = 40,
    MOST_FORMAT = 1 << 16
};

static const char FORMAT[] = "anycq-rules-1";
static const double MOST_EXACT = 1 << 24; /* whole numbers that a float holds */

/* ---- numbers ---- */

static float put_id(uint32_t id)
{
    return id == ACQ_NO_ID ? -1.0F : (float)id;
}

static void put_entity(acq_ent entity, float *out)
{
    acq_ent high = entity / HALF, low = entity % HALF;
    out[0] = entity == ACQ_NO_ID ? -1.0F : (float)high;
    out[1] = entity == ACQ_NO_ID ? -1.0F : (float)low;
}

static float put_count(uint32_t n)
{
    return (float)n < (float)MOST_EXACT ? (float)n : (float)MOST_EXACT;
}

static void put_cycle(const acq_learnt_rule *rule, float *out)
{
    out[0] = put_id(rule->head);
    for (unsigned i = 0; i < ACQ_RULEBOOK_HOPS; i++)
        out[1 + i] = put_id(rule->body[i]);
    out[4] = put_count(rule->support);
    out[5] = put_count(rule->pairs);
    out[6] = put_count(rule->cluster);
}

static void put_constant(const acq_learnt_rule *rule, float *out)
{
    out[0] = put_id(rule->head);
    out[1] = put_id(rule->body[0]);
    put_entity(rule->constant, out + 2);
    put_entity(rule->other, out + 4);
    out[6] = put_count(rule->support);
    out[7] = put_count(rule->pairs);
    out[8] = put_count(rule->cluster);
}

/* ---- tensors ---- */

acq_status acq_rulebook_pack(const acq_rulebook *book, acq_parameters *parameters, acq_error *error)
{
    acq_shape shapes[2];
    size_t n = 0;
    *parameters = (acq_parameters){0};
    if (book->n_cycles > UINT32_MAX || book->n_constants > UINT32_MAX)
        return acq_fail(error, ACQ_ERR_INPUT, "more rules than a file can hold; use fewer: --most");
    if (book->n_cycles > 0)
        shapes[n++] = (acq_shape){"cycles", (uint32_t)book->n_cycles, CYCLE_COLUMNS};
    if (book->n_constants > 0)
        shapes[n++] = (acq_shape){"constants", (uint32_t)book->n_constants, CONSTANT_COLUMNS};
    if (acq_parameters_init(parameters, shapes, n) != ACQ_OK)
        return acq_fail_memory(error);
    float *at = parameters->values;
    for (size_t i = 0; i < book->n_cycles; i++)
        put_cycle(&book->cycles[i], at + i * CYCLE_COLUMNS);
    if (book->n_constants > 0)
        at = parameters->values + parameters->tensors[n - 1].offset;
    for (size_t i = 0; i < book->n_constants; i++)
        put_constant(&book->constants[i], at + i * CONSTANT_COLUMNS);
    return ACQ_OK;
}

acq_status acq_rulebook_shape(const acq_safetensors *file, const char *prefix,
                              acq_parameters *parameters, acq_error *error)
{
    static const char *const names[] = {"cycles", "constants"};
    static const uint32_t columns[] = {CYCLE_COLUMNS, CONSTANT_COLUMNS};
    acq_shape shapes[2];
    size_t n = 0;
    *parameters = (acq_parameters){0};
    for (size_t i = 0; i < 2; i++) {
        uint32_t rows, cols;
        char name[NAME_ROOM];
        snprintf(name, sizeof name, "%s%s", prefix, names[i]);
        if (!acq_safetensors_get_shape(file, name, &rows, &cols))
            continue;
        if (cols != columns[i])
            return acq_fail(error, ACQ_ERR_INPUT,
                            "tensor \"%s\" has %u columns, not %u: no rules of this version; "
                            "learn them again with anycq train rules",
                            names[i], cols, columns[i]);
        shapes[n++] = (acq_shape){names[i], rows, cols};
    }
    return acq_parameters_init(parameters, shapes, n) == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

/* ---- back from numbers ---- */

/* A number from `low` to below `end`; false where it is none. */
static bool take(float number, double low, double end, uint32_t *out)
{
    double value = (double)number;
    if (!(value >= low && value < end && value == floor(value)))
        return false;
    *out = value < 0 ? ACQ_NO_ID : (uint32_t)value;
    return true;
}

static bool take_entity(const float *numbers, double low, uint32_t n, acq_ent *out)
{
    uint32_t high, rest;
    if (!take(numbers[0], low, HALF, &high) || !take(numbers[1], low, HALF, &rest))
        return false;
    bool is_none = high == ACQ_NO_ID && rest == ACQ_NO_ID;
    *out = is_none ? ACQ_NO_ID : high * HALF + rest;
    return is_none || (high != ACQ_NO_ID && rest != ACQ_NO_ID && *out < n);
}

static bool take_counts(const float *numbers, acq_learnt_rule *out)
{
    return take(numbers[0], 0, MOST_EXACT + 1, &out->support) &&
           take(numbers[1], 0, MOST_EXACT + 1, &out->pairs) &&
           take(numbers[2], 0, MOST_EXACT + 1, &out->cluster) && out->support <= out->pairs;
}

static bool take_cycle(const acq_rulebook *book, const float *row, acq_learnt_rule *out)
{
    *out = (acq_learnt_rule){.constant = ACQ_NO_ID, .other = ACQ_NO_ID};
    uint32_t n = book->n_relations;
    bool is_good = take(row[0], 0, n, &out->head) && out->head % 2 == 0;
    for (unsigned i = 0; i < ACQ_RULEBOOK_HOPS; i++)
        is_good = is_good && take(row[1 + i], i == 0 ? 0 : -1, n, &out->body[i]);
    return is_good && (out->body[1] != ACQ_NO_ID || out->body[2] == ACQ_NO_ID) &&
           take_counts(row + 4, out);
}

static bool take_constant(const acq_rulebook *book, const float *row, acq_learnt_rule *out)
{
    *out = (acq_learnt_rule){.body = {0, ACQ_NO_ID, ACQ_NO_ID}};
    return take(row[0], 0, book->n_relations, &out->head) &&
           take(row[1], 0, book->n_relations, &out->body[0]) &&
           take_entity(row + 2, 0, book->n_entities, &out->constant) &&
           take_entity(row + 4, -1, book->n_entities, &out->other) && take_counts(row + 6, out);
}

/* Are rules as the book wants them, those of one head together and the best first? */
static bool is_ordered(const acq_learnt_rule *rules, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (acq_learnt_rule_compare(&rules[i - 1], &rules[i]) >= 0)
            return false;
    return true;
}

typedef bool (*take_fn)(const acq_rulebook *book, const float *row, acq_learnt_rule *out);

static acq_status take_rules(const acq_rulebook *book, const acq_parameters *parameters,
                             const acq_tensor *tensor, take_fn take_one, acq_learnt_rule **out,
                             acq_error *error)
{
    acq_learnt_rule *rules = acq_alloc(tensor->rows, sizeof *rules);
    if (rules == NULL)
        return acq_fail_memory(error);
    const float *row = parameters->values + tensor->offset;
    uint32_t i = 0;
    while (i < tensor->rows && take_one(book, row + (size_t)i * tensor->cols, &rules[i]))
        i++;
    if (i == tensor->rows && is_ordered(rules, i)) {
        *out = rules;
        return ACQ_OK;
    }
    acq_free(rules);
    return i == tensor->rows
               ? acq_fail(error, ACQ_ERR_INPUT,
                          "the rules of tensor \"%s\" are not in order; learn them again",
                          tensor->name)
               : acq_fail(error, ACQ_ERR_INPUT,
                          "row %u of tensor \"%s\" is no rule of this graph; learn them again", i,
                          tensor->name);
}

acq_status acq_rulebook_unpack(acq_rulebook *book, const acq_parameters *parameters,
                               acq_error *error)
{
    acq_learnt_rule *rules[2] = {NULL, NULL};
    size_t n[2] = {0, 0};
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < parameters->n_tensors && status == ACQ_OK; i++) {
        const acq_tensor *tensor = &parameters->tensors[i];
        size_t k = strcmp(tensor->name, "cycles") == 0 ? 0 : 1;
        status = take_rules(book, parameters, tensor, k == 0 ? take_cycle : take_constant,
                            &rules[k], error);
        n[k] = tensor->rows;
    }
    if (status != ACQ_OK) {
        acq_free(rules[0]);
        acq_free(rules[1]);
        return status;
    }
    acq_free(book->cycles);
    acq_free(book->constants);
    book->cycles = rules[0];
    book->constants = rules[1];
    book->n_cycles = book->cycles_room = n[0];
    book->n_constants = book->constants_room = n[1];
    return ACQ_OK;
}

/* ---- names ---- */

static void print_relations(const acq_graph *graph, uint32_t n, acq_text *out)
{
    for (acq_rel r = 0; r < n; r++) {
        const char *name = acq_graph_get_relation_name(graph, r);
        bool is_named = acq_graph_is_named(graph, r);
        acq_text_format(out, "%zu:", strlen(name) + (is_named ? 0 : strlen("inverse()")));
        acq_text_add(out, is_named ? "" : "inverse(");
        acq_text_add(out, name);
        acq_text_add(out, is_named ? "" : ")");
    }
}

static void print_entities(const acq_rulebook *book, const acq_graph *graph, bool *is_named,
                           acq_text *out)
{
    for (size_t i = 0; i < book->n_constants; i++) {
        const acq_learnt_rule *rule = &book->constants[i];
        is_named[rule->constant] = true;
        if (rule->other != ACQ_NO_ID)
            is_named[rule->other] = true;
    }
    for (acq_ent e = 0; e < book->n_entities && out->length < MOST_NAMES; e++) {
        const char *name = is_named[e] ? acq_graph_get_entity_name(graph, e) : NULL;
        if (name == NULL)
            continue;
        acq_text_format(out, "%" PRIu32 ":%zu:", e, strlen(name));
        acq_text_add(out, name);
    }
}

static acq_status print_names(const acq_rulebook *book, const acq_graph *graph, acq_text *relations,
                              acq_text *entities, acq_error *error)
{
    bool *is_named = acq_zalloc(book->n_entities, sizeof *is_named);
    if (is_named == NULL)
        return acq_fail_memory(error);
    acq_text_add(relations, "");
    acq_text_add(entities, "");
    print_relations(graph, book->n_relations, relations);
    print_entities(book, graph, is_named, entities);
    acq_free(is_named);
    if (relations->failed || entities->failed)
        return acq_fail_memory(error);
    return acq_graph_get_failure(graph, error);
}

/* ---- writing ---- */

static acq_status write_all(const char *path, const acq_rulebook *book, const acq_metadata *names,
                            const acq_metadata *metadata, size_t n, acq_error *error)
{
    acq_parameters parameters;
    acq_metadata *all = acq_alloc(n + OWN_METADATA, sizeof *all);
    if (all == NULL)
        return acq_fail_memory(error);
    memcpy(all, names, OWN_METADATA * sizeof *all);
    if (n > 0)
        memcpy(all + OWN_METADATA, metadata, n * sizeof *all);
    acq_status status = acq_rulebook_pack(book, &parameters, error);
    if (status == ACQ_OK)
        status = acq_safetensors_write(path, &parameters, all, n + OWN_METADATA, error);
    acq_parameters_deinit(&parameters);
    acq_free(all);
    return status;
}

acq_status acq_rulebook_write(const char *path, const acq_rulebook *book, const acq_graph *graph,
                              const acq_metadata *metadata, size_t n_metadata, acq_error *error)
{
    char numbers[4][NUMBER_ROOM];
    acq_text relations = {0}, entities = {0};
    snprintf(numbers[0], NUMBER_ROOM, "%016" PRIx64,
             acq_graph_hash_first_names(graph, book->n_entities, book->n_relations));
    snprintf(numbers[1], NUMBER_ROOM, "%" PRIu32, book->n_entities);
    snprintf(numbers[2], NUMBER_ROOM, "%" PRIu32, book->n_relations);
    snprintf(numbers[3], NUMBER_ROOM, "%" PRIu32, book->best);
    acq_status status = print_names(book, graph, &relations, &entities, error);
    const acq_metadata own[OWN_METADATA] = {
        {"format", FORMAT},
        {"dictionary", numbers[0]},
        {"n_entities", numbers[1]},
        {"n_relations", numbers[2]},
        {"aggregate", acq_rule_aggregation_get_name(book->aggregation)},
        {"best", numbers[3]},
        {"relations", relations.bytes},
        {"entities", entities.bytes}};
    if (status == ACQ_OK)
        status = write_all(path, book, own, metadata, n_metadata, error);
    acq_text_deinit(&relations);
    acq_text_deinit(&entities);
    return status;
}

/* ---- reading ---- */

static acq_status check_format(const acq_safetensors *file, acq_error *error)
{
    const char *format = acq_safetensors_get_metadata(file, "format");
    if (format != NULL && strcmp(format, FORMAT) == 0)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INPUT,
                    "these are no rules of anycq (format \"%.40s\", not \"%s\"); learn some with "
                    "anycq train rules",
                    format == NULL ? "" : format, FORMAT);
}

static bool read_count(const acq_safetensors *file, const char *key, int base, uint64_t most,
                       uint64_t *out)
{
    const char *text = acq_safetensors_get_metadata(file, key);
    char *end = NULL;
    *out = text == NULL ? 0 : strtoull(text, &end, base);
    return text != NULL && *text != '\0' && *text != '-' && *end == '\0' && *out <= most;
}

static acq_status read_head(const acq_safetensors *file, acq_rulebook *book, acq_error *error)
{
    uint64_t n_entities, n_relations, best;
    const char *name = acq_safetensors_get_metadata(file, "aggregate");
    unsigned kind = 0;
    while (name != NULL && kind < ACQ_N_RULE_AGGREGATIONS &&
           strcmp(name, acq_rule_aggregation_get_name(kind)) != 0)
        kind++;
    if (!read_count(file, "n_entities", 10, UINT32_MAX - 2, &n_entities) ||
        !read_count(file, "n_relations", 10, UINT32_MAX - 2, &n_relations) ||
        !read_count(file, "best", 10, UINT32_MAX, &best) || n_relations % 2 != 0 || name == NULL ||
        kind == ACQ_N_RULE_AGGREGATIONS)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the rules do not say what graph they are of, or how they count together; "
                        "learn them again");
    book->n_entities = (uint32_t)n_entities;
    book->n_relations = (uint32_t)n_relations;
    book->best = (uint32_t)best;
    book->aggregation = (acq_rule_aggregation)kind;
    return ACQ_OK;
}

static acq_status read_rules(const acq_safetensors *file, acq_rulebook *book, acq_error *error)
{
    acq_parameters parameters = {0};
    acq_status status = check_format(file, error);
    if (status == ACQ_OK)
        status = read_head(file, book, error);
    if (status == ACQ_OK)
        status = acq_rulebook_shape(file, "", &parameters, error);
    if (status == ACQ_OK)
        status = acq_safetensors_load(file, &parameters, error);
    if (status == ACQ_OK)
        status = acq_rulebook_unpack(book, &parameters, error);
    acq_parameters_deinit(&parameters);
    return status;
}

static acq_status check_dictionary(const acq_safetensors *file, const acq_rulebook *book,
                                   const acq_graph *graph, acq_error *error)
{
    uint64_t made_for;
    if (read_count(file, "dictionary", 16, UINT64_MAX, &made_for) &&
        book->n_entities <= acq_graph_get_n_entities(graph) &&
        book->n_relations <= acq_graph_get_n_relations(graph) &&
        acq_graph_hash_first_names(graph, book->n_entities, book->n_relations) == made_for)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the rules were learnt on other names (%u entities, %u relations; the graph "
                    "has %u and %u); learn some on this graph",
                    book->n_entities, book->n_relations / 2, acq_graph_get_n_entities(graph),
                    acq_graph_get_n_relations(graph) / 2);
}

acq_status acq_rulebook_read(const char *path, const acq_graph *graph, acq_rulebook **out,
                             acq_error *error)
{
    acq_safetensors *file = NULL;
    acq_rulebook *book = acq_zalloc(1, sizeof *book);
    acq_status status =
        book == NULL ? acq_fail_memory(error) : acq_safetensors_read(path, &file, error);
    if (status == ACQ_OK)
        status = read_rules(file, book, error);
    if (status == ACQ_OK)
        status = check_dictionary(file, book, graph, error);
    acq_safetensors_free(file);
    if (status == ACQ_OK) {
        *out = book;
        return ACQ_OK;
    }
    acq_rulebook_free(book);
    acq_error_set_file(error, path);
    return status;
}

/* ---- without the graph ---- */

typedef struct piece {
    uint32_t id;
    uint32_t length;
    const char *text;
} piece;

struct acq_rulebook_file {
    acq_safetensors *file;
    acq_rulebook book;
    piece *relations, *entities; /* by id */
    size_t n_relations, n_entities, relations_room, entities_room;
};

static bool read_number(const char **at, uint32_t *out)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    unsigned long value = strtoul(*at, &end, 10);
    *out = (uint32_t)value;
    *at = end + 1;
    return *end == ':' && value < UINT32_MAX;
}

/* Takes "ID:LENGTH:NAME..." apart; without ids the pieces are counted. */
static acq_status read_names(const char *text, bool has_ids, piece **out, size_t *n, size_t *room,
                             acq_error *error)
{
    const char *at = text == NULL ? "" : text, *end = at + strlen(at);
    while (at < end) {
        piece one = {.id = (uint32_t)*n};
        bool is_good = (!has_ids || read_number(&at, &one.id)) && read_number(&at, &one.length) &&
                       at <= end && one.length <= (size_t)(end - at) &&
                       (*n == 0 || one.id > (*out)[*n - 1].id);
        if (!is_good)
            return acq_fail(error, ACQ_ERR_INPUT,
                            "the names in this file are damaged; learn the rules again");
        if (ACQ_RESERVE(*out, *room, *n + 1) != ACQ_OK)
            return acq_fail_memory(error);
        one.text = at;
        (*out)[(*n)++] = one;
        at += one.length;
    }
    return ACQ_OK;
}

static acq_status open_file(acq_rulebook_file *f, const char *path, acq_error *error)
{
    acq_status status = acq_safetensors_read(path, &f->file, error);
    if (status == ACQ_OK)
        status = read_rules(f->file, &f->book, error);
    if (status == ACQ_OK)
        status = read_names(acq_safetensors_get_metadata(f->file, "relations"), false,
                            &f->relations, &f->n_relations, &f->relations_room, error);
    if (status == ACQ_OK)
        status = read_names(acq_safetensors_get_metadata(f->file, "entities"), true, &f->entities,
                            &f->n_entities, &f->entities_room, error);
    return status;
}

acq_status acq_rulebook_open(const char *path, acq_rulebook_file **out, acq_error *error)
{
    acq_rulebook_file *f = acq_zalloc(1, sizeof *f);
    acq_status status = f == NULL ? acq_fail_memory(error) : open_file(f, path, error);
    if (status == ACQ_OK) {
        *out = f;
        return ACQ_OK;
    }
    acq_rulebook_close(f);
    acq_error_set_file(error, path);
    return status;
}

void acq_rulebook_close(acq_rulebook_file *f)
{
    if (f == NULL)
        return;
    acq_safetensors_free(f->file);
    acq_free(f->book.cycles);
    acq_free(f->book.constants);
    acq_free(f->relations);
    acq_free(f->entities);
    acq_free(f);
}

const acq_rulebook *acq_rulebook_file_get(const acq_rulebook_file *f)
{
    return &f->book;
}

const char *acq_rulebook_file_get_metadata(const acq_rulebook_file *f, const char *key)
{
    return acq_safetensors_get_metadata(f->file, key);
}

static void print_name(const piece *pieces, size_t n, uint32_t id, acq_text *out)
{
    size_t i;
    ACQ_SEARCH(i, 0, n, pieces[i].id < id);
    if (i < n && pieces[i].id == id)
        acq_text_add_bytes(out, pieces[i].text, pieces[i].length);
    else
        acq_text_format(out, "#%" PRIu32, id);
}

/* A term: a variable, or an entity's name in quotes. */
static void print_term(const acq_rulebook_file *f, acq_ent entity, const char *variable,
                       acq_text *out)
{
    if (entity == ACQ_NO_ID) {
        acq_text_add(out, variable);
        return;
    }
    acq_text_add_char(out, '"');
    print_name(f->entities, f->n_entities, entity, out);
    acq_text_add_char(out, '"');
}

static void print_cycle(const acq_rulebook_file *f, const acq_learnt_rule *rule, acq_text *out)
{
    static const char *const between[] = {"X", "A", "B"};
    unsigned n = acq_learnt_rule_get_hops(rule->body);
    acq_text_add(out, "(X, Y) <= ");
    for (unsigned i = 0; i < n; i++) {
        acq_text_add(out, i == 0 ? "" : ", ");
        print_name(f->relations, f->n_relations, rule->body[i], out);
        acq_text_format(out, "(%s, %s)", between[i], i + 1 == n ? "Y" : between[i + 1]);
    }
}

void acq_rulebook_file_print(const acq_rulebook_file *f, const acq_learnt_rule *rule, acq_text *out)
{
    print_name(f->relations, f->n_relations, rule->head, out);
    if (rule->constant == ACQ_NO_ID) {
        print_cycle(f, rule, out);
        return;
    }
    acq_text_add(out, "(X, ");
    print_term(f, rule->constant, "", out);
    acq_text_add(out, ") <= ");
    print_name(f->relations, f->n_relations, rule->body[0], out);
    acq_text_add(out, "(X, ");
    print_term(f, rule->other, "A", out);
    acq_text_add(out, ")");
}

/* The beginning of a file of safetensors names the format. */
bool acq_rulebook_is_one(const char *path)
{
    char *bytes = acq_alloc(MOST_FORMAT + 1, 1);
    int file = -1;
    size_t n = 0, got = 1;
    bool is_open = bytes != NULL && acq_file_get_kind(path) == ACQ_FILE_REGULAR &&
                   acq_file_open(path, &file, NULL) == ACQ_OK;
    while (is_open && got > 0 && n < MOST_FORMAT)
        if (acq_file_read_some(file, path, bytes + n, MOST_FORMAT - n, &got, NULL) == ACQ_OK)
            n += got;
        else
            got = 0;
    bool is_one = false;
    for (size_t i = 8; is_open && !is_one && i + sizeof FORMAT <= n; i++)
        is_one = memcmp(bytes + i, FORMAT, sizeof FORMAT - 1) == 0;
    if (is_open)
        acq_file_close(file);
    acq_free(bytes);
    return is_one;
}
