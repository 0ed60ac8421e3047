/* results.c - see results.h. */
#include "support/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "graph/graph.h"
#include "graph/text/rdf.h"
#include "graph/text/read.h"

#define RS   "http://www.w3.org/2001/sw/DataAccess/tests/result-set#"
#define TYPE "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

/* Also where assert is compiled out. */
static void must(bool holds)
{
    if (!holds)
        abort();
}

results *results_new(void)
{
    results *r = calloc(1, sizeof *r);
    must(r != NULL);
    return r;
}

void results_free(results *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->n_rows; i++) {
        for (size_t j = 0; j < RESULTS_MOST_COLUMNS; j++)
            free(r->rows[i][j]);
        free(r->rows[i]);
    }
    for (size_t i = 0; i < r->n_columns; i++)
        free(r->columns[i]);
    free(r);
}

size_t results_column(results *r, const char *name)
{
    for (size_t i = 0; i < r->n_columns; i++) {
        if (strcmp(r->columns[i], name) == 0)
            return i;
    }
    must(r->n_columns < RESULTS_MOST_COLUMNS);
    r->columns[r->n_columns] = strdup(name);
    return r->n_columns++;
}

char **results_add_row(results *r)
{
    must(r->n_rows < RESULTS_MOST_ROWS);
    char **row = calloc(RESULTS_MOST_COLUMNS, sizeof *row);
    must(row != NULL);
    r->rows[r->n_rows++] = row;
    return row;
}

void results_set(results *r, char **row, const char *column, char *cell)
{
    size_t i = results_column(r, column);
    free(row[i]);
    row[i] = cell;
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    char *text = calloc(1, 1 << 20);
    must(text != NULL);
    size_t n = fread(text, 1, (1 << 20) - 1, file);
    text[n] = '\0';
    fclose(file);
    return text;
}

/* ---- terms ---- */

static char *take(acq_text *text)
{
    char *copy = strdup(text->bytes == NULL ? "" : text->bytes);
    acq_text_deinit(text);
    return copy;
}

static char *make_literal(const char *text, const char *language, const char *datatype)
{
    acq_text out = {0};
    acq_rdf_write_literal(&out, text, strlen(text));
    if (language != NULL && language[0] != '\0')
        acq_text_format(&out, "@%s", language);
    else if (datatype != NULL && datatype[0] != '\0' && strcmp(datatype, ACQ_XSD "string") != 0)
        acq_text_format(&out, "^^<%s>", datatype);
    return take(&out);
}

static char *make_blank(const char *label)
{
    acq_text out = {0};
    acq_text_format(&out, "_:%s", label);
    return take(&out);
}

/* ---- XML ---- */

static void decode_xml(char *text)
{
    static const struct {
        const char *name;
        char c;
    } ENTITIES[] = {
        {"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    char *out = text;
    for (char *at = text; *at != '\0';) {
        size_t i = 0;
        for (; i < 5 && strncmp(at, ENTITIES[i].name, strlen(ENTITIES[i].name)) != 0; i++)
            ;
        if (i < 5) {
            *out++ = ENTITIES[i].c;
            at += strlen(ENTITIES[i].name);
        } else if (strncmp(at, "&#", 2) == 0) {
            char *end;
            uint32_t code =
                (uint32_t)(at[2] == 'x' ? strtoul(at + 3, &end, 16) : strtoul(at + 2, &end, 10));
            out += acq_utf8_encode(code, out);
            at = end + 1;
        } else {
            *out++ = *at++;
        }
    }
    *out = '\0';
}

/* The value of an attribute of the tag at `tag`; "" when there is none. */
static char *attribute(const char *tag, const char *name)
{
    const char *end = strchr(tag, '>'), *at = tag;
    size_t n = strlen(name);
    while ((at = strstr(at, name)) != NULL && at < end) {
        if (at[n] == '=' && (at[-1] == ' ' || at[-1] == '\n' || at[-1] == '\t')) {
            const char *close = strchr(at + n + 2, at[n + 1]);
            char *value = strndup(at + n + 2, (size_t)(close - at - (long)n - 2));
            decode_xml(value);
            return value;
        }
        at++;
    }
    return strdup("");
}

/* Text of an element whose tag begins at `tag`. */
static char *content(const char *tag)
{
    const char *start = strchr(tag, '>');
    if (start[-1] == '/')
        return strdup("");
    const char *end = strchr(start, '<');
    char *text = strndup(start + 1, (size_t)(end - start - 1));
    decode_xml(text);
    return text;
}

static char *read_xml_term(const char *binding, const char *end)
{
    const char *tag = strchr(binding + 1, '<');
    if (tag == NULL || tag > end)
        return strdup("");
    char *text = content(tag), *cell;
    if (strncmp(tag, "<uri", 4) == 0)
        return text;
    if (strncmp(tag, "<bnode", 6) == 0) {
        cell = make_blank(text);
    } else {
        char *language = attribute(tag, "xml:lang"), *datatype = attribute(tag, "datatype");
        cell = make_literal(text, language, datatype);
        free(language);
        free(datatype);
    }
    free(text);
    return cell;
}

static void read_xml_row(results *r, const char *row, const char *end)
{
    char **cells = results_add_row(r);
    const char *at = row;
    while ((at = strstr(at, "<binding")) != NULL && at < end) {
        char *name = attribute(at, "name");
        results_set(r, cells, name, read_xml_term(at, end));
        free(name);
        at++;
    }
}

static results *read_xml(const char *text)
{
    results *r = results_new();
    const char *at = strstr(text, "<boolean>");
    if (at != NULL) {
        r->is_boolean = true;
        r->boolean = strncmp(at + 9, "true", 4) == 0;
        return r;
    }
    for (at = text; (at = strstr(at, "<variable")) != NULL; at++) {
        char *name = attribute(at, "name");
        results_column(r, name);
        free(name);
    }
    for (at = text; (at = strstr(at, "<result")) != NULL; at++) {
        if (at[7] == 's')
            continue;
        const char *close = strchr(at, '>'), *end = strstr(at, "</result>");
        if (close[-1] == '/')
            results_add_row(r);
        else
            read_xml_row(r, at, end);
    }
    return r;
}

/* ---- JSON ---- */

static const char *text_of(const acq_json *object, const char *name)
{
    const acq_json *member = acq_json_get(object, name);
    return member == NULL ? "" : member->text;
}

static results *read_json(const char *text)
{
    acq_arena arena;
    const acq_json *root = NULL;
    results *r = results_new();
    acq_arena_init(&arena);
    must(acq_json_parse(text, strlen(text), &arena, &root, NULL) == ACQ_OK);
    const acq_json *boolean = acq_json_get(root, "boolean");
    if (boolean != NULL) {
        r->is_boolean = true;
        r->boolean = boolean->kind == ACQ_JSON_TRUE;
        acq_arena_deinit(&arena);
        return r;
    }
    const acq_json *names = acq_json_get(acq_json_get(root, "head"), "vars");
    for (const acq_json *v = names->first; v != NULL; v = v->next)
        results_column(r, v->text);
    const acq_json *rows = acq_json_get(acq_json_get(root, "results"), "bindings");
    for (const acq_json *row = rows->first; row != NULL; row = row->next) {
        char **cells = results_add_row(r);
        for (const acq_json *b = row->first; b != NULL; b = b->next) {
            const char *type = text_of(b, "type"), *value = text_of(b, "value");
            results_set(r, cells, b->name,
                        strcmp(type, "uri") == 0 ? strdup(value)
                        : strcmp(type, "bnode") == 0
                            ? make_blank(value)
                            : make_literal(value, text_of(b, "xml:lang"), text_of(b, "datatype")));
        }
    }
    acq_arena_deinit(&arena);
    return r;
}

/* ---- Turtle: a table in the result-set vocabulary, or statements ---- */

static acq_row get_row(const acq_graph *graph, acq_ent entity, const char *relation, bool inverse)
{
    const acq_links *links = NULL;
    acq_rel r = acq_graph_find_relation(graph, relation, strlen(relation));
    if (r == ACQ_NO_ID)
        return (acq_row){0};
    must(acq_graph_open_links(graph, inverse ? acq_inverse(r) : r, &links, NULL) == ACQ_OK);
    return acq_links_get_row(links, entity);
}

static const char *get_text(const acq_graph *graph, acq_ent entity, const char *relation)
{
    acq_row row = get_row(graph, entity, relation, false);
    return row.n == 0 ? NULL : acq_graph_get_entity_key(graph, row.tails[0]);
}

/* The text between the quotes; tables hold plain names there. */
static char *unquote(const char *key)
{
    const char *end = strrchr(key, '"');
    return strndup(key + 1, (size_t)(end - key - 1));
}

static void read_table_row(results *r, const acq_graph *graph, acq_ent solution, size_t at)
{
    acq_row bindings = get_row(graph, solution, RS "binding", false);
    char **cells = r->rows[at];
    for (size_t i = 0; i < bindings.n; i++) {
        char *name = unquote(get_text(graph, bindings.tails[i], RS "variable"));
        results_set(r, cells, name, strdup(get_text(graph, bindings.tails[i], RS "value")));
        free(name);
    }
}

static results *read_table(const acq_graph *graph, acq_ent set)
{
    results *r = results_new();
    const char *boolean = get_text(graph, set, RS "boolean");
    if (boolean != NULL) {
        r->is_boolean = true;
        r->boolean = strstr(boolean, "true") != NULL;
        return r;
    }
    acq_row names = get_row(graph, set, RS "resultVariable", false);
    for (size_t i = 0; i < names.n; i++) {
        char *name = unquote(acq_graph_get_entity_key(graph, names.tails[i]));
        results_column(r, name);
        free(name);
    }
    acq_row solutions = get_row(graph, set, RS "solution", false);
    for (size_t i = 0; i < solutions.n; i++)
        results_add_row(r);
    for (size_t i = 0; i < solutions.n; i++) {
        const char *index = get_text(graph, solutions.tails[i], RS "index");
        read_table_row(r, graph, solutions.tails[i],
                       index == NULL ? i : strtoul(index + 1, NULL, 10) - 1);
    }
    return r;
}

static results *read_statements(const acq_graph *graph)
{
    results *r = results_new();
    r->is_graph = true;
    for (acq_rel rel = 0; rel < acq_graph_get_n_relations(graph); rel += 2) {
        const acq_links *links = NULL;
        must(acq_graph_open_links(graph, rel, &links, NULL) == ACQ_OK);
        for (uint32_t i = 0; i < links->n_heads; i++) {
            acq_row row = acq_links_get_row_at(links, i);
            for (size_t j = 0; j < row.n; j++) {
                char **cells = results_add_row(r);
                results_set(r, cells, "subject",
                            strdup(acq_graph_get_entity_key(graph, links->heads[i])));
                results_set(r, cells, "predicate", strdup(acq_graph_get_relation_key(graph, rel)));
                results_set(r, cells, "object",
                            strdup(acq_graph_get_entity_key(graph, row.tails[j])));
            }
        }
    }
    return r;
}

static results *read_turtle(const char *path)
{
    const char *const paths[] = {path};
    acq_graph *graph = NULL;
    acq_read_params params = {.strict = true, .literals = true, .base = "http://test/data"};
    if (acq_graph_read(paths, 1, &params, &graph, NULL, NULL) != ACQ_OK)
        return NULL;
    acq_ent type = acq_graph_find_entity(graph, RS "ResultSet", strlen(RS "ResultSet"));
    acq_row sets = type == ACQ_NO_ID ? (acq_row){0} : get_row(graph, type, TYPE, true);
    results *r = sets.n == 1 ? read_table(graph, sets.tails[0]) : read_statements(graph);
    acq_graph_free(graph);
    return r;
}

/* The text of the next element of this name before `end`; *tag is where it begins. */
static char *element(const char *at, const char *end, const char *name, const char **tag)
{
    *tag = strstr(at, name);
    if (*tag == NULL || *tag >= end)
        return NULL;
    const char *open = strchr(*tag, '>') + 1;
    if (open[-2] == '/')
        return strdup("");
    char *text = strndup(open, (size_t)(strchr(open, '<') - open));
    decode_xml(text);
    return text;
}

static char *read_rdf_value(const char *tag, char *text)
{
    char *resource = attribute(tag, "rdf:resource"), *node = attribute(tag, "rdf:nodeID");
    char *type = attribute(tag, "rdf:datatype"), *language = attribute(tag, "xml:lang");
    char *value = resource[0] != '\0' ? strdup(resource)
                  : node[0] != '\0'   ? make_blank(node)
                                      : make_literal(text, language, type);
    free(resource);
    free(node);
    free(type);
    free(language);
    free(text);
    return value;
}

/* A table as RDF/XML, in the one shape that the tests of ORDER BY have: solutions by their index.
 */
static results *read_rdf_xml(const char *text)
{
    results *r = results_new();
    const char *tag, *at = text, *all = text + strlen(text);
    for (char *name; (name = element(at, all, "<rs:resultVariable", &tag)) != NULL; at = tag + 1) {
        results_column(r, name);
        free(name);
    }
    for (at = text; (at = strstr(at, "<rs:solution")) != NULL; at++) {
        const char *end = strstr(at, "</rs:solution>"), *in = at;
        char **cells = results_add_row(r), *name;
        while ((name = element(in, end, "<rs:variable", &tag)) != NULL) {
            char *value = element(tag, end, "<rs:value", &in);
            results_set(r, cells, name, read_rdf_value(in, value));
            free(name);
            in++;
        }
    }
    return r;
}

/* <iri>, _:blank, "literal"..., or a number as Turtle has it. */
static char *read_tsv_term(const char *cell)
{
    size_t n = strlen(cell);
    if (cell[0] == '<')
        return strndup(cell + 1, n - 2);
    if (cell[0] == '_')
        return make_blank(cell + 2);
    if (cell[0] == '"')
        return strdup(cell);
    char number[64];
    snprintf(number, sizeof number, "%s", cell);
    if (strchr(number, 'e') != NULL)
        *strchr(number, 'e') = 'E'; /* as the data of that test has it, which the file changes */
    return make_literal(number, NULL,
                        strpbrk(cell, "eE") != NULL ? ACQ_XSD "double"
                        : strchr(cell, '.') != NULL ? ACQ_XSD "decimal"
                                                    : ACQ_XSD "integer");
}

static results *read_tsv(char *text)
{
    results *r = results_new();
    char *rest = NULL, *line = strtok_r(text, "\n", &rest);
    for (char *at = line; at != NULL;) {
        char *name = strsep(&at, "\t");
        results_column(r, name + (name[0] == '?'));
    }
    while ((line = strtok_r(NULL, "\n", &rest)) != NULL) {
        char **cells = results_add_row(r);
        for (size_t i = 0; line != NULL && i < r->n_columns; i++) {
            const char *cell = strsep(&line, "\t");
            if (cell[0] != '\0')
                results_set(r, cells, r->columns[i], read_tsv_term(cell));
        }
    }
    return r;
}

results *results_read(const char *path)
{
    const char *ending = strrchr(path, '.');
    if (strcmp(ending, ".ttl") == 0 || strcmp(ending, ".nt") == 0)
        return read_turtle(path);
    char *text = read_file(path);
    if (text == NULL)
        return NULL;
    results *r = strcmp(ending, ".srx") == 0   ? read_xml(text)
                 : strcmp(ending, ".srj") == 0 ? read_json(text)
                 : strcmp(ending, ".rdf") == 0 ? read_rdf_xml(text)
                 : strcmp(ending, ".tsv") == 0 ? read_tsv(text)
                                               : NULL;
    free(text);
    return r;
}

/* ---- comparison ---- */

enum { MOST_BLANKS = 200 };

/* Which blank node of one table is which of the other, so far. */
typedef struct matching {
    const results *expected, *got;
    size_t columns[RESULTS_MOST_COLUMNS]; /* of expected in got */
    const char *left[MOST_BLANKS], *right[MOST_BLANKS];
    size_t n_blanks, steps;
    bool used[RESULTS_MOST_ROWS];
} matching;

static bool match_blank(matching *m, const char *a, const char *b)
{
    for (size_t i = 0; i < m->n_blanks; i++) {
        if (strcmp(m->left[i], a) == 0 || strcmp(m->right[i], b) == 0)
            return strcmp(m->left[i], a) == 0 && strcmp(m->right[i], b) == 0;
    }
    must(m->n_blanks < MOST_BLANKS);
    m->left[m->n_blanks] = a;
    m->right[m->n_blanks++] = b;
    return true;
}

static bool match_row(matching *m, char **a, char **b)
{
    for (size_t i = 0; i < m->expected->n_columns; i++) {
        const char *x = a[i] == NULL ? "" : a[i];
        const char *y = b[m->columns[i]] == NULL ? "" : b[m->columns[i]];
        bool blanks = strncmp(x, "_:", 2) == 0 && strncmp(y, "_:", 2) == 0;
        if (blanks ? !match_blank(m, x, y) : strcmp(x, y) != 0)
            return false;
    }
    return true;
}

static bool match_from(matching *m, size_t i, bool is_ordered)
{
    if (i == m->expected->n_rows)
        return true;
    for (size_t j = 0; j < m->got->n_rows && m->steps < 2000000; j++) {
        size_t n_blanks = m->n_blanks;
        m->steps++;
        if (m->used[j] || (is_ordered && j != i))
            continue;
        if (match_row(m, m->expected->rows[i], m->got->rows[j])) {
            m->used[j] = true;
            if (match_from(m, i + 1, is_ordered))
                return true;
            m->used[j] = false;
        }
        m->n_blanks = n_blanks;
    }
    return false;
}

/* Every row of `of` is also in `in`. */
static bool covers(matching *m, const results *of, const results *in)
{
    for (size_t i = 0; i < of->n_rows; i++) {
        bool found = false;
        for (size_t j = 0; !found && j < in->n_rows; j++)
            found = of == m->expected ? match_row(m, of->rows[i], in->rows[j])
                                      : match_row(m, in->rows[j], of->rows[i]);
        if (!found)
            return false;
    }
    return true;
}

bool results_match(const results *expected, const results *got, results_rule rule)
{
    static matching m;
    m = (matching){.expected = expected, .got = got};
    if (expected->is_boolean || got->is_boolean)
        return expected->is_boolean == got->is_boolean && expected->boolean == got->boolean;
    if (expected->n_columns != got->n_columns)
        return expected->n_rows == 0 && got->n_rows == 0;
    for (size_t i = 0; i < expected->n_columns; i++) {
        size_t j = 0;
        while (j < got->n_columns && strcmp(expected->columns[i], got->columns[j]) != 0)
            j++;
        if (j == got->n_columns)
            return false;
        m.columns[i] = j;
    }
    if (rule == RESULTS_LAX)
        return got->n_rows <= expected->n_rows && covers(&m, expected, got) &&
               covers(&m, got, expected);
    return expected->n_rows == got->n_rows && match_from(&m, 0, rule == RESULTS_ORDERED);
}
