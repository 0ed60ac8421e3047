/* change.c - facts added and removed; see store.h.
 *
 * `change` keeps the net difference to the links: an addition that is removed again leaves no row,
 * nor does a removal that is added again. Counts, sums and so the fingerprints follow each fact. */
#include "store/writer.h"

#include <string.h>

#include "graph/stored.h"
#include "base/text.h"

/* Above this many changes, or a tenth of the facts, but never below the floor: a compaction. 50,000
 * changes of one relation delay its loading by 20 ms, and folding them takes 0.1 s for a relation
 * of a million facts, 0.7 s when they are spread over 800 relations. */
static const uint64_t MOST_CHANGES = 50000, FEWEST_CHANGES = 1000;

/* One call of add or remove. */
typedef struct changing {
    acq_store_writer *writer;
    bool is_add;
    acq_store_report report;
    const char *unknown; /* the name that is to blame for ACQ_ERR_NAME */
    bool is_relation;    /* that one is a relation's */
} changing;

/* A fact by ids, its relation even. */
typedef struct fact_ids {
    acq_ent head, tail;
    acq_rel relation;
} fact_ids;

static acq_status check_name(const char *name, const char *what, acq_error *error)
{
    size_t length = strlen(name);
    if (length == 0)
        return acq_fail(error, ACQ_ERR_USAGE, "the %s has no name; give one", what);
    if (length > ACQ_NAME_MOST)
        return acq_fail(error, ACQ_ERR_LIMIT,
                        "the name of the %s has %zu bytes, more than %d; use a shorter one", what,
                        length, ACQ_NAME_MOST);
    if (acq_utf8_check(name, length) != length)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "the name of the %s is not UTF-8; convert it, for example with iconv",
                        what);
    return ACQ_OK;
}

static acq_status check_names(const acq_store_fact *fact, acq_error *error)
{
    acq_status status = check_name(fact->head, "head", error);
    if (status == ACQ_OK)
        status = check_name(fact->relation, "relation", error);
    return status == ACQ_OK ? check_name(fact->tail, "tail", error) : status;
}

/* Notes the name; the message waits for the end of the transaction, for it takes a while. */
static acq_status note_unknown(changing *c, const char *name, bool is_relation)
{
    c->unknown = name;
    c->is_relation = is_relation;
    return ACQ_ERR_NAME;
}

/* With the nearest name that there is, if the store can be read. */
static acq_status fail_unknown(const changing *c, acq_error *error)
{
    const char *kind = c->is_relation ? "relation" : "entity", *near = NULL;
    acq_graph *graph = NULL;
    if (acq_store_open(c->writer->db.path, &graph, NULL) == ACQ_OK)
        near = c->is_relation ? acq_graph_suggest_relation(graph, c->unknown, strlen(c->unknown))
                              : acq_graph_suggest_entity(graph, c->unknown, strlen(c->unknown));
    acq_status status =
        near == NULL
            ? acq_fail(error, ACQ_ERR_NAME, "the store has no %s \"%.150s\"", kind, c->unknown)
            : acq_fail(error, ACQ_ERR_NAME,
                       "the store has no %s \"%.150s\"; did you mean \"%.150s\"?", kind, c->unknown,
                       near);
    acq_graph_free(graph);
    return status;
}

/* The id of the relation as written: odd where a benchmark's inverse has a name of its own. */
static acq_status resolve_relation(changing *c, const char *name, acq_rel *out, acq_error *error)
{
    acq_catalog *catalog = &c->writer->catalog;
    size_t length = strlen(name);
    *out = acq_relations_find(&catalog->relations, &catalog->relation_labels, catalog->meta.is_rdf,
                              name, length);
    if (*out != ACQ_NO_ID)
        return ACQ_OK;
    if (!c->is_add)
        return note_unknown(c, name, true);
    *out = (acq_rel)catalog->meta.n_relations;
    c->report.new_relations++;
    return acq_writer_add_pair(c->writer, name, length, error);
}

static acq_status add_entity(acq_store_writer *writer, const char *key, size_t length, acq_ent *out,
                             acq_error *error)
{
    acq_store_meta *meta = &writer->catalog.meta;
    acq_ent id = (acq_ent)meta->n_entities;
    if (meta->n_entities + 1 >= ACQ_NO_ID - 1)
        return acq_fail(error, ACQ_ERR_LIMIT, "the store has as many entities as it can hold");
    acq_store_entity row = {.id = id, .key = key, .key_length = length};
    acq_db_bind_u64(writer->put_entity, 1, id);
    acq_db_bind_text(writer->put_entity, 2, key, length);
    acq_db_bind_u64(writer->put_entity, 3, acq_entity_checksum(meta->salt, &row));
    acq_status status = acq_db_finish(&writer->db, writer->put_entity, error);
    if (status != ACQ_OK)
        return status;
    meta->n_entities++;
    meta->entity_sum += acq_hash_name(id, key, length);
    writer->is_changed = true;
    *out = id;
    return ACQ_OK;
}

static acq_status resolve_entity(changing *c, const char *name, acq_ent *out, acq_error *error)
{
    acq_store_writer *writer = c->writer;
    size_t length = strlen(name);
    acq_status status = acq_entity_find(&writer->finder, name, length, out, error);
    if (status != ACQ_OK || *out != ACQ_NO_ID)
        return status;
    if (!c->is_add)
        return note_unknown(c, name, false);
    c->report.new_entities++;
    return add_entity(writer, name, length, out, error);
}

static acq_status resolve(changing *c, const acq_store_fact *fact, fact_ids *out, acq_error *error)
{
    acq_status status = check_names(fact, error);
    if (status == ACQ_OK)
        status = resolve_entity(c, fact->head, &out->head, error);
    if (status == ACQ_OK)
        status = resolve_relation(c, fact->relation, &out->relation, error);
    if (status == ACQ_OK)
        status = resolve_entity(c, fact->tail, &out->tail, error);
    if (status != ACQ_OK)
        return status;
    out->relation ^= fact->is_inverse;
    if (out->relation % 2 != 0)
        *out = (fact_ids){
            .head = out->tail, .tail = out->head, .relation = acq_inverse(out->relation)};
    return ACQ_OK;
}

static void bind_fact(sqlite3_stmt *statement, const fact_ids *fact)
{
    acq_db_bind_u64(statement, 1, fact->relation);
    acq_db_bind_u64(statement, 2, fact->head);
    acq_db_bind_u64(statement, 3, fact->tail);
}

/* Is the fact in the links that the last compaction wrote? */
static acq_status is_linked(acq_store_writer *writer, const fact_ids *fact, bool *out,
                            acq_error *error)
{
    const acq_links *links = NULL;
    *out = false;
    acq_status status = acq_writer_open_base(writer, fact->relation / 2, &links, error);
    if (status != ACQ_OK || fact->head >= links->n_entities)
        return status;
    acq_row row = acq_links_get_row(links, fact->head);
    *out = acq_row_find(row, fact->tail) < row.n;
    return ACQ_OK;
}

/* What is said of a fact now. */
typedef struct fact_state {
    bool has_change; /* `change` has a row for it */
    bool is_there;
} fact_state;

static acq_status look_up(acq_store_writer *writer, const fact_ids *fact, fact_state *out,
                          acq_error *error)
{
    sqlite3_stmt *find = writer->find_change;
    bind_fact(find, fact);
    acq_status status = acq_db_step(&writer->db, find, &out->has_change, error);
    if (status == ACQ_OK && out->has_change)
        out->is_there = sqlite3_column_int64(find, 0) != 0;
    sqlite3_reset(find);
    if (status == ACQ_OK && !out->has_change)
        status = is_linked(writer, fact, &out->is_there, error);
    return status;
}

/* Makes a fact that is there absent, or the other way round. */
static acq_status toggle(acq_store_writer *writer, const fact_ids *fact, const fact_state *state,
                         acq_error *error)
{
    acq_store_meta *meta = &writer->catalog.meta;
    acq_store_pair *pair = &writer->catalog.pairs[fact->relation / 2];
    bool is_added = !state->is_there;
    sqlite3_stmt *statement = state->has_change ? writer->drop_change : writer->put_change;
    bind_fact(statement, fact);
    if (!state->has_change)
        acq_db_bind_u64(statement, 4, is_added);
    acq_status status = acq_db_finish(&writer->db, statement, error);
    if (status != ACQ_OK)
        return status;
    uint64_t hash = acq_hash_fact(fact->relation, fact->head, fact->tail);
    meta->n_facts += is_added ? 1 : -1ULL;
    meta->fact_sum += is_added ? hash : -hash;
    meta->n_changes += state->has_change ? -1ULL : 1;
    acq_writer_touch(writer, fact->relation / 2);
    pair->n_changes += state->has_change ? -1ULL : 1;
    /* The row that goes says the opposite of what is done now. */
    uint64_t change = acq_change_hash(fact->relation, fact->head, fact->tail,
                                      state->has_change ? state->is_there : is_added);
    pair->changes_sum += state->has_change ? -change : change;
    return ACQ_OK;
}

static acq_status check_room(const acq_store_writer *writer, const fact_ids *fact, acq_error *error)
{
    const acq_store_pair *pair = &writer->catalog.pairs[fact->relation / 2];
    return pair->n_links + pair->n_changes + 1 < UINT32_MAX - 1
               ? ACQ_OK
               : acq_fail(error, ACQ_ERR_LIMIT, "a relation has more than %u facts",
                          UINT32_MAX - 2);
}

/* A store may hold plain names and RDF's side by side: the mark says that some are RDF's. */
static void mark_rdf(acq_store_writer *writer)
{
    acq_store_meta *meta = &writer->catalog.meta;
    writer->is_changed = writer->is_changed || !meta->is_rdf;
    meta->is_rdf = true;
}

static acq_status change_fact(changing *c, const acq_store_fact *fact, acq_error *error)
{
    fact_ids ids;
    fact_state state;
    if (c->is_add && fact->is_rdf)
        mark_rdf(c->writer);
    acq_status status = resolve(c, fact, &ids, error);
    if (status == ACQ_OK)
        status = check_room(c->writer, &ids, error);
    if (status == ACQ_OK)
        status = look_up(c->writer, &ids, &state, error);
    if (status != ACQ_OK)
        return status;
    if (state.is_there == c->is_add) {
        c->report.unchanged++;
        return ACQ_OK;
    }
    c->report.changed++;
    return toggle(c->writer, &ids, &state, error);
}

static bool wants_compaction(const acq_store_meta *meta)
{
    uint64_t most = meta->n_facts / 10;
    most = most > MOST_CHANGES ? MOST_CHANGES : most;
    most = most < FEWEST_CHANGES ? FEWEST_CHANGES : most;
    return meta->n_changes > most;
}

/* The facts are safe already, so that a compaction which fails only leaves them waiting. */
static void compact_if(changing *c, bool is_wanted)
{
    uint64_t ignored = 0;
    if (is_wanted)
        c->report.is_compacted = acq_writer_fold(c->writer, &ignored, NULL) == ACQ_OK;
}

static bool is_users_fault(acq_status status)
{
    return status == ACQ_ERR_USAGE || status == ACQ_ERR_LIMIT || status == ACQ_ERR_NAME;
}

static acq_status change_all(acq_store_writer *writer, const acq_store_fact *facts, size_t n,
                             bool is_add, acq_store_report *report, size_t *i_bad, acq_error *error)
{
    changing c = {.writer = writer, .is_add = is_add};
    size_t i = 0;
    if (i_bad != NULL)
        *i_bad = n;
    acq_status status = acq_writer_begin(writer, error);
    if (status != ACQ_OK)
        return status;
    for (; status == ACQ_OK && i < n; i++)
        status = change_fact(&c, &facts[i], error);
    if (is_users_fault(status) && i_bad != NULL)
        *i_bad = i - 1;
    bool is_full = wants_compaction(&writer->catalog.meta);
    status = acq_writer_end(writer, status, error);
    if (status != ACQ_OK)
        return status == ACQ_ERR_NAME && c.unknown != NULL ? fail_unknown(&c, error) : status;
    compact_if(&c, is_full);
    acq_sized_fill(report, &c.report, sizeof c.report);
    return ACQ_OK;
}

static acq_status check_facts(const char *function, const acq_store_fact *facts, size_t n,
                              size_t *i_bad, acq_error *error)
{
    size_t i = 0;
    while (facts != NULL && i < n && facts[i].head != NULL && facts[i].relation != NULL &&
           facts[i].tail != NULL)
        i++;
    if (i == n)
        return ACQ_OK;
    if (i_bad != NULL)
        *i_bad = facts == NULL ? n : i;
    return facts == NULL
               ? acq_fail(error, ACQ_ERR_USAGE, "%s: facts is NULL", function)
               : acq_fail(error, ACQ_ERR_USAGE, "%s: a name of facts[%zu] is NULL", function, i);
}

acq_status acq_store_add(acq_store_writer *writer, const acq_store_fact *facts, size_t n,
                         acq_store_report *report, size_t *i_bad, acq_error *error)
{
    ACQ_REQUIRE(writer, error);
    acq_status status = check_facts(__func__, facts, n, i_bad, error);
    return status != ACQ_OK ? status : change_all(writer, facts, n, true, report, i_bad, error);
}

acq_status acq_store_remove(acq_store_writer *writer, const acq_store_fact *facts, size_t n,
                            acq_store_report *report, size_t *i_bad, acq_error *error)
{
    ACQ_REQUIRE(writer, error);
    acq_status status = check_facts(__func__, facts, n, i_bad, error);
    return status != ACQ_OK ? status : change_all(writer, facts, n, false, report, i_bad, error);
}
