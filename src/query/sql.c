/* sql.c - see print.h. A block is SELECT ... FROM ... WHERE for one conjunction:
 *
 *   variables of the block that a positive atom has  ->  the first such atom's column
 *   existentials that occur in one disjunction only  ->  left to its branches, which are blocks
 *   other variables                                  ->  a row of entities
 *
 * Long chains of AND and OR are written as balanced trees, because SQLite bounds the depth of an
 * expression by 1000. Cost: linear in the query, times the nesting of disjunctions. */

#include <string.h>

#include "base/memory.h"
#include "query/input.h"
#include "query/print.h"

typedef enum column { COLUMN_HEAD, COLUMN_TAIL, COLUMN_NAME } column;

/* Where a variable's value is: number 0 means nowhere yet. */
typedef struct place {
    uint32_t number; /* of the alias: f1, f2 for facts, e1, e2 for entities */
    column column;
} place;

typedef enum condition_kind {
    CONDITION_RELATION, /* alias.relation = ... */
    CONDITION_LEFT,     /* the column of the atom's left term = its value */
    CONDITION_RIGHT,
    CONDITION_NODE, /* the node itself */
} condition_kind;

typedef struct condition {
    condition_kind kind;
    const acq_node *node;
    uint32_t alias;
} condition;

typedef struct writer {
    const acq_query *query;
    const acq_sql_params *params;
    acq_text *out;
    acq_error *error;
    place *places;   /* by variable */
    uint32_t *seen;  /* by variable: the last child it was seen in, as a stamp */
    uint32_t *count; /* by variable: children of the current block that have it */
    uint32_t stamp, n_facts, n_entities;
} writer;

/* A conjunction and what is known about it. */
typedef struct block {
    acq_node *const *nodes;
    uint32_t n;
    condition *conditions;
    size_t n_conditions, conditions_capacity;
    uint32_t *owned; /* variables placed here, given back at the end */
    size_t n_owned, owned_capacity;
    uint32_t first_fact, first_entity; /* aliases of the block: from here to the writer's counts */
    uint32_t fact_limit;               /* atoms past it that bind nothing become EXISTS */
} block;

static bool is_plain(const char *name)
{
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    return name[0] != '\0' && name[n] == '\0' && strchr("0123456789", name[0]) == NULL;
}

static void print_in_quotes(acq_text *out, const char *text, size_t length, char quote)
{
    acq_text_add_char(out, quote);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == quote)
            acq_text_add_char(out, quote);
        acq_text_add_char(out, text[i]);
    }
    acq_text_add_char(out, quote);
}

static void print_table(writer *w, const char *name)
{
    if (is_plain(name))
        acq_text_add(w->out, name);
    else
        print_in_quotes(w->out, name, strlen(name), '"');
}

static void print_name(writer *w, const acq_query_name *name)
{
    if (name->is_id || (w->params->use_ids && name->id != ACQ_NO_ID))
        acq_text_format(w->out, "%u", name->is_inverse ? acq_inverse(name->id) : name->id);
    else
        print_in_quotes(w->out, name->text, name->length, '\'');
}

static void print_place(writer *w, place at)
{
    static const char *const COLUMNS[] = {"head", "tail", "name"};
    acq_text_format(w->out, "%c%u.%s", at.column == COLUMN_NAME ? 'e' : 'f', at.number,
                    COLUMNS[at.column]);
}

static void print_term(writer *w, acq_term term)
{
    if (term.is_variable)
        print_place(w, w->places[term.id]);
    else
        print_name(w, &w->query->constants[term.id]);
}

/* inverse(r)(x, y) is r(y, x). */
static column column_of(const writer *w, const acq_node *atom, bool is_left)
{
    return is_left != w->query->relations[atom->relation].is_inverse ? COLUMN_HEAD : COLUMN_TAIL;
}

static acq_status add_condition(writer *w, block *b, condition_kind kind, const acq_node *node,
                                uint32_t alias)
{
    if (ACQ_RESERVE(b->conditions, b->conditions_capacity, b->n_conditions + 1) != ACQ_OK)
        return acq_fail_memory(w->error);
    b->conditions[b->n_conditions++] = (condition){.kind = kind, .node = node, .alias = alias};
    return ACQ_OK;
}

static acq_status place_variable(writer *w, block *b, uint32_t variable, place at)
{
    if (ACQ_RESERVE(b->owned, b->owned_capacity, b->n_owned + 1) != ACQ_OK)
        return acq_fail_memory(w->error);
    b->owned[b->n_owned++] = variable;
    w->places[variable] = at;
    return ACQ_OK;
}

static bool is_unplaced(const writer *w, acq_term term)
{
    return term.is_variable && w->places[term.id].number == 0;
}

/* A term of an aliased atom: the first occurrence of a variable is its place, others compare. */
static acq_status add_term(writer *w, block *b, const acq_node *atom, bool is_left, uint32_t alias)
{
    acq_term term = is_left ? atom->left : atom->right;
    if (is_unplaced(w, term))
        return place_variable(w, b, term.id, (place){alias, column_of(w, atom, is_left)});
    return add_condition(w, b, is_left ? CONDITION_LEFT : CONDITION_RIGHT, atom, alias);
}

static acq_status add_atom(writer *w, block *b, const acq_node *atom)
{
    bool binds = is_unplaced(w, atom->left) || is_unplaced(w, atom->right);
    if (!binds && w->n_facts - b->first_fact >= b->fact_limit)
        return add_condition(w, b, CONDITION_NODE, atom, 0);
    uint32_t alias = ++w->n_facts;
    acq_status status = add_condition(w, b, CONDITION_RELATION, atom, alias);
    if (status == ACQ_OK)
        status = add_term(w, b, atom, true, alias);
    return status == ACQ_OK ? add_term(w, b, atom, false, alias) : status;
}

/* Counts in how many children each variable occurs; O(size of the child). */
static void count_term(writer *w, acq_term term)
{
    if (!term.is_variable || w->seen[term.id] == w->stamp)
        return;
    w->seen[term.id] = w->stamp;
    w->count[term.id]++;
}

static void count_node(writer *w, const acq_node *node)
{
    for (uint32_t i = 0; i < node->n_children; i++)
        count_node(w, node->children[i]);
    if (node->kind == ACQ_NODE_ATOM || node->kind == ACQ_NODE_EQUAL) {
        count_term(w, node->left);
        count_term(w, node->right);
    }
}

static acq_status place_in_entities(writer *w, block *b, acq_term term, bool may_wait)
{
    bool waits =
        may_wait && is_unplaced(w, term) && w->count[term.id] == 1 && term.id >= w->query->n_free;
    if (!is_unplaced(w, term) || waits)
        return ACQ_OK;
    return place_variable(w, b, term.id, (place){++w->n_entities, COLUMN_NAME});
}

/* Variables that no atom placed; may_wait: the child is a disjunction. */
static acq_status place_rest(writer *w, block *b, const acq_node *node, bool may_wait)
{
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; status == ACQ_OK && i < node->n_children; i++)
        status = place_rest(w, b, node->children[i], may_wait);
    if (status != ACQ_OK || (node->kind != ACQ_NODE_ATOM && node->kind != ACQ_NODE_EQUAL))
        return status;
    status = place_in_entities(w, b, node->left, may_wait);
    return status == ACQ_OK ? place_in_entities(w, b, node->right, may_wait) : status;
}

static void reset_counts(writer *w, const acq_node *node)
{
    for (uint32_t i = 0; i < node->n_children; i++)
        reset_counts(w, node->children[i]);
    if (node->left.is_variable)
        w->count[node->left.id] = 0;
    if (node->right.is_variable)
        w->count[node->right.id] = 0;
}

/* Atoms first: they place variables that the other children compare with. */
static acq_status collect(writer *w, block *b)
{
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; status == ACQ_OK && i < b->n; i++) {
        if (b->nodes[i]->kind == ACQ_NODE_ATOM)
            status = add_atom(w, b, b->nodes[i]);
        else
            status = add_condition(w, b, CONDITION_NODE, b->nodes[i], 0);
    }
    for (uint32_t i = 0; i < b->n; i++)
        reset_counts(w, b->nodes[i]);
    for (uint32_t i = 0; i < b->n; i++) {
        w->stamp++;
        count_node(w, b->nodes[i]);
    }
    for (uint32_t i = 0; status == ACQ_OK && i < b->n; i++)
        status = place_rest(w, b, b->nodes[i], b->nodes[i]->kind == ACQ_NODE_OR);
    return status;
}

static void give_back(writer *w, block *b)
{
    for (size_t i = 0; i < b->n_owned; i++)
        w->places[b->owned[i]] = (place){0};
    b->n_owned = 0;
    b->n_conditions = 0;
}

/* With too many tables, atoms that bind nothing move into EXISTS; then it fits or it does not. */
static acq_status collect_within_limit(writer *w, block *b)
{
    uint32_t most = w->params->most_tables;
    b->first_fact = w->n_facts;
    b->first_entity = w->n_entities;
    b->fact_limit = UINT32_MAX;
    for (int attempt = 0; attempt < 2; attempt++) {
        acq_status status = collect(w, b);
        uint32_t tables = w->n_facts - b->first_fact + w->n_entities - b->first_entity;
        if (status != ACQ_OK || most == 0 || tables <= most)
            return status;
        give_back(w, b);
        w->n_facts = b->first_fact;
        w->n_entities = b->first_entity;
        b->fact_limit = 0;
    }
    return acq_fail(w->error, ACQ_ERR_LIMIT,
                    "the SQL would join more than %u tables; split the query into parts", most);
}

static acq_status print_block(writer *w, acq_node *const *node, bool is_select);

static acq_status print_node(writer *w, acq_node *const *node);

static acq_status print_exists(writer *w, acq_node *const *node)
{
    acq_text_add(w->out, "EXISTS (SELECT 1");
    acq_status status = print_block(w, node, false);
    acq_text_add_char(w->out, ')');
    return status;
}

static bool has_unplaced(const writer *w, const acq_node *node)
{
    for (uint32_t i = 0; i < node->n_children; i++) {
        if (has_unplaced(w, node->children[i]))
            return true;
    }
    return (node->kind == ACQ_NODE_ATOM || node->kind == ACQ_NODE_EQUAL) &&
           (is_unplaced(w, node->left) || is_unplaced(w, node->right));
}

enum { CHAIN = 64 }; /* operands in a row before the chain is split in two */

static acq_status print_branches(writer *w, acq_node *const *branches, uint32_t n)
{
    if (n > CHAIN) {
        acq_text_add_char(w->out, '(');
        acq_status status = print_branches(w, branches, n / 2);
        acq_text_add(w->out, ") OR (");
        if (status == ACQ_OK)
            status = print_branches(w, branches + n / 2, n - n / 2);
        acq_text_add_char(w->out, ')');
        return status;
    }
    for (uint32_t i = 0; i < n; i++) {
        acq_text_add(w->out, i > 0 ? " OR " : "");
        acq_status status = has_unplaced(w, branches[i]) ? print_exists(w, &branches[i])
                                                         : print_node(w, &branches[i]);
        if (status != ACQ_OK)
            return status;
    }
    return ACQ_OK;
}

static acq_status print_or(writer *w, const acq_node *node)
{
    if (node->n_children == 0) {
        acq_text_add(w->out, "1 = 0");
        return ACQ_OK;
    }
    acq_text_add_char(w->out, '(');
    acq_status status = print_branches(w, node->children, node->n_children);
    acq_text_add_char(w->out, ')');
    return status;
}

static acq_status print_not(writer *w, acq_node *const *child)
{
    if ((*child)->kind == ACQ_NODE_EQUAL) {
        print_term(w, (*child)->left);
        acq_text_add(w->out, " <> ");
        print_term(w, (*child)->right);
        return ACQ_OK;
    }
    acq_text_add(w->out, "NOT ");
    if ((*child)->kind != ACQ_NODE_NOT)
        return print_node(w, child);
    acq_text_add_char(w->out, '(');
    acq_status status = print_node(w, child);
    acq_text_add_char(w->out, ')');
    return status;
}

/* A condition on placed variables. */
static acq_status print_node(writer *w, acq_node *const *node)
{
    switch ((*node)->kind) {
    case ACQ_NODE_EQUAL:
        print_term(w, (*node)->left);
        acq_text_add(w->out, " = ");
        print_term(w, (*node)->right);
        return ACQ_OK;
    case ACQ_NODE_NOT:
        return print_not(w, &(*node)->children[0]);
    case ACQ_NODE_OR:
        return print_or(w, *node);
    case ACQ_NODE_ATOM:
    case ACQ_NODE_AND:
        break;
    }
    return print_exists(w, node);
}

static acq_status print_condition(writer *w, const condition *c)
{
    acq_node *const node = (acq_node *)c->node;
    if (c->kind == CONDITION_NODE)
        return print_node(w, &node);
    if (c->kind == CONDITION_RELATION) {
        acq_text_format(w->out, "f%u.relation = ", c->alias);
        print_name(w, &w->query->relations[node->relation]);
        return ACQ_OK;
    }
    bool is_left = c->kind == CONDITION_LEFT;
    print_place(w, (place){c->alias, column_of(w, node, is_left)});
    acq_text_add(w->out, " = ");
    print_term(w, is_left ? node->left : node->right);
    return ACQ_OK;
}

static acq_status print_conditions(writer *w, const condition *conditions, size_t n)
{
    if (n > CHAIN) {
        acq_text_add_char(w->out, '(');
        acq_status status = print_conditions(w, conditions, n / 2);
        acq_text_add(w->out, ") AND (");
        if (status == ACQ_OK)
            status = print_conditions(w, conditions + n / 2, n - n / 2);
        acq_text_add_char(w->out, ')');
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        acq_text_add(w->out, i > 0 ? " AND " : "");
        acq_status status = print_condition(w, &conditions[i]);
        if (status != ACQ_OK)
            return status;
    }
    return ACQ_OK;
}

static void print_tables(writer *w, const char *table, char letter, uint32_t from, uint32_t to,
                         const char **separator)
{
    for (uint32_t i = from + 1; i <= to; i++) {
        acq_text_add(w->out, *separator);
        print_table(w, table);
        acq_text_format(w->out, " AS %c%u", letter, i);
        *separator = ", ";
    }
}

static void print_free(writer *w)
{
    for (uint32_t i = 0; i < w->query->n_free; i++) {
        const acq_query_name *name = &w->query->variables[i];
        acq_text_add(w->out, i > 0 ? ", " : " ");
        print_place(w, w->places[i]);
        acq_text_add(w->out, " AS ");
        print_in_quotes(w->out, name->text, name->length, '"');
    }
}

static acq_status print_collected(writer *w, const block *b, bool is_select)
{
    const char *separator = " FROM ";
    uint32_t last_fact = w->n_facts, last_entity = w->n_entities;
    if (is_select)
        print_free(w);
    print_tables(w, w->params->facts, 'f', b->first_fact, last_fact, &separator);
    print_tables(w, w->params->entities, 'e', b->first_entity, last_entity, &separator);
    if (b->n_conditions == 0)
        return ACQ_OK;
    acq_text_add(w->out, " WHERE ");
    return print_conditions(w, b->conditions, b->n_conditions);
}

/* Everything behind SELECT [DISTINCT], or behind SELECT 1. */
static acq_status print_block(writer *w, acq_node *const *node, bool is_select)
{
    bool is_and = (*node)->kind == ACQ_NODE_AND;
    block b = {.nodes = is_and ? (*node)->children : node, .n = is_and ? (*node)->n_children : 1};
    acq_status status = collect_within_limit(w, &b);
    if (status == ACQ_OK)
        status = print_collected(w, &b, is_select);
    give_back(w, &b);
    acq_free(b.conditions);
    acq_free(b.owned);
    return status;
}

static acq_status print_query(writer *w)
{
    const acq_query *query = w->query;
    if (query->n_free == 0) {
        acq_text_add(w->out, "SELECT ");
        acq_status status = print_exists(w, &query->root);
        acq_text_add(w->out, " AS ");
        print_in_quotes(w->out, query->name, strlen(query->name), '"');
        return status;
    }
    acq_text_add(w->out, "SELECT DISTINCT");
    acq_status status = print_block(w, &query->root, true);
    if (query->limit != 0)
        acq_text_format(w->out, " LIMIT %llu", (unsigned long long)query->limit);
    return status;
}

acq_status acq_query_print_sql(const acq_query *query, const acq_sql_params *params, acq_text *out,
                               acq_error *error)
{
    acq_sql_params defaults = ACQ_SQL_DEFAULT;
    size_t before = out->length;
    writer w = {
        .query = query, .params = params == NULL ? &defaults : params, .out = out, .error = error};
    w.places = acq_zalloc(query->n_variables, sizeof *w.places);
    w.seen = acq_zalloc(query->n_variables, sizeof *w.seen);
    w.count = acq_zalloc(query->n_variables, sizeof *w.count);
    acq_status status = w.places == NULL || w.seen == NULL || w.count == NULL
                            ? acq_fail_memory(error)
                            : print_query(&w);
    if (status == ACQ_OK)
        status = acq_text_finish(out, error);
    if (status != ACQ_OK)
        acq_printer_cut(out, before);
    acq_free(w.places);
    acq_free(w.seen);
    acq_free(w.count);
    return status;
}
