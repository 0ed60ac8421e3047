/* batch.h - inside the graph module: what one piece of a source holds, before it joins the rest.
 *
 *   piece ─▶ batch: local names (ids by first mention), facts over local ids, labels,
 *            bad lines with their reasons, counts; lines count from the piece's first
 *
 * A batch belongs to one thread at a time and needs nothing of the others, so pieces are parsed
 * in parallel; they then join in the order of the source. */
#ifndef ACQ_GRAPH_TEXT_BATCH_H
#define ACQ_GRAPH_TEXT_BATCH_H

#include "base/text.h"
#include "graph/text/read.h"

typedef enum acq_text_syntax {
    ACQ_TABS,
    ACQ_COMMAS,
    ACQ_IDS, /* of a kgindex.json */
    ACQ_NTRIPLES,
    ACQ_NQUADS,
    ACQ_TURTLE,
    ACQ_TRIG,
} acq_text_syntax;

static inline bool acq_syntax_is_rdf(acq_text_syntax syntax)
{
    return syntax >= ACQ_NTRIPLES;
}

/* What the parsing of one file goes by; the same for all its pieces. */
typedef struct acq_syntax_rules {
    acq_text_syntax syntax;
    bool strict;
    uint32_t n_entities, n_relations;  /* ACQ_IDS: ids are below these */
    char separator;                    /* ACQ_COMMAS: , or ; */
    size_t header_bytes, header_lines; /* to skip where the file begins, behind a byte order mark */
    bool is_reordered;                 /* columns are not head, relation, tail: */
    unsigned char columns[3];          /* where those stand */
    size_t n_more;                     /* columns behind these that the header names: left out */
    bool literals;                     /* RDF: literals are entities too */
    bool graphs;                       /* RDF: names of graphs are kept */
    const char *base;                  /* RDF: NULL: relative IRIs are bad */
    char blank_prefix[24];             /* RDF: tells blank nodes of several files apart */
} acq_syntax_rules;

typedef struct acq_local_names {
    acq_names names;
    uint32_t *hashes; /* by id: the merge needs them again */
    size_t capacity;
} acq_local_names;

/* A label that an RDF file gives; both texts are in label_text. */
typedef struct acq_local_label {
    size_t key, key_length;
    size_t text, text_length;
    acq_label_rank rank;
} acq_local_label;

typedef struct acq_bad_line {
    size_t line, column;
    size_t message; /* start in bad_text */
} acq_bad_line;

typedef struct acq_batch {
    const acq_syntax_rules *rules;
    acq_local_names entities, relations;
    acq_triple *facts; /* over local ids; ACQ_IDS: over those of the index */
    size_t n_facts, facts_capacity;
    acq_local_names graphs; /* rules->graphs; else nothing here is used: */
    uint32_t *fact_graphs;  /* of each fact, over local ids; ACQ_NO_ID: it stands in none */
    size_t fact_graphs_capacity;
    acq_text graph_key; /* of the graph at hand; empty: none */
    uint32_t graph;     /* its local id; ACQ_NO_ID: not asked for since the batch was cleared */
    acq_bad_line *bad;
    size_t n_bad, bad_capacity;
    acq_text bad_text; /* messages, each with its NUL */
    acq_local_label *labels;
    size_t n_labels, labels_capacity;
    acq_text label_text;
    acq_text unescaped[5];  /* RDF: subject, predicate, object, graph, datatype at hand */
    acq_text keys[3];       /* RDF: their keys */
    bool is_rdf;            /* some name is an IRI, blank node or literal */
    acq_read_report counts; /* of this batch */
    size_t n_lines;         /* by which later batches of the file are further down */
    acq_error error;        /* what ended the parsing, if anything did */
} acq_batch;

void acq_batch_init(acq_batch *batch, const acq_syntax_rules *rules); /* never fails */
void acq_batch_deinit(acq_batch *batch);
void acq_batch_clear(acq_batch *batch); /* keeps the memory */

/* Gives back what only parsing needs, if a long literal has made it large. */
void acq_batch_trim(acq_batch *batch);

/* Large enough to be handed on: for readers that are not given pieces. */
bool acq_batch_is_full(const acq_batch *batch);

/* Notes a bad line; ACQ_OK when parsing goes on, which it does unless strict. */
acq_status acq_batch_bad(acq_batch *batch, size_t line, size_t column, const char *format, ...)
    ACQ_PRINTF(4, 5);

/* The same complaint for every format: `count` fields where three are needed. */
acq_status acq_batch_bad_count(acq_batch *batch, size_t line, size_t column, size_t count);

/* A piece of a line with its place. raw is what stands in the file (between the quotes). */
typedef struct acq_field {
    const char *raw;
    size_t raw_length;
    const char *name; /* raw, or unescaped */
    size_t length;
    size_t line, column;
} acq_field;

/* Adds a fact by its names, or notes why the line is bad. is_text: the caller knows that no field
 * has a NUL byte or bad UTF-8. */
acq_status acq_batch_add_triple(acq_batch *batch, const acq_field fields[3], bool is_text);

/* An empty label counts as none. */
acq_status acq_batch_add_label(acq_batch *batch, const acq_field *key, const acq_field *label,
                               acq_label_rank rank);

/* Facts that follow stand in the graph of this key; NULL: in none. For rules->graphs. A key that is
 * too long is noted as a bad line. */
acq_status acq_batch_set_graph(acq_batch *batch, const acq_field *key);

/* Adds a fact by its ids. */
acq_status acq_batch_add_fact(acq_batch *batch, acq_triple fact);

/* Batches, in the order of the source, into the sink: the serial part of reading. Local names
 * become ids of the dictionary, facts follow them to the sink, bad lines are reported with their
 * places in the file. */
typedef struct acq_merger {
    const acq_sink *sink;
    acq_read_params params;
    acq_read_report report;
    acq_error *error;               /* the caller's; may be NULL */
    acq_error first_bad;            /* the first line left out */
    bool has_looked;                /* at the columns of this file */
    const char *file;               /* being read, for messages; borrowed until the end */
    acq_text_syntax syntax;         /* of that file */
    size_t n_lines;                 /* of the file, in earlier batches */
    uint64_t n_facts;               /* handed to the sink */
    uint64_t done;                  /* bytes of earlier files */
    uint64_t total;                 /* bytes of all files; 0: unknown */
    uint32_t *entities, *relations, *graphs; /* ids of a batch's names */
    size_t entities_capacity, relations_capacity, graphs_capacity;
} acq_merger;

void acq_merger_init(acq_merger *merger, const acq_sink *sink, const acq_read_params *params,
                     acq_error *error);
void acq_merger_deinit(acq_merger *merger);

/* The batches that follow are of this file. */
void acq_merger_start_file(acq_merger *merger, const char *file, acq_text_syntax syntax);

/* Takes over what the batch holds; then, if something ended its parsing, fails with that. */
acq_status acq_merger_take(acq_merger *merger, acq_batch *batch);

/* Tells the caller something about the file as a whole, or about a line that was not bad. */
void acq_merger_note(acq_merger *merger, size_t line, const char *format, ...) ACQ_PRINTF(3, 4);

/* Tells the caller how far reading is: `done` bytes of the current file. */
acq_status acq_merger_progress(acq_merger *merger, uint64_t done);

/* The report; an error when there was no fact. */
acq_status acq_merger_finish(acq_merger *merger, acq_read_report *report);

/* Judges a file of plain triples by its first bytes: separator, header, order of the columns. The
 * caller is told of a header. */
void acq_table_look(acq_syntax_rules *rules, acq_merger *merger, const char *bytes, size_t length);

/* Puts the fields of a line in the order head, relation, tail. */
static inline void acq_table_reorder(const acq_syntax_rules *rules, acq_field fields[3])
{
    const unsigned char *columns = rules->columns;
    acq_field ordered[3] = {fields[columns[0]], fields[columns[1]], fields[columns[2]]};
    for (int i = 0; i < 3; i++)
        fields[i] = ordered[i];
}

/* Tells the caller if the first facts of a file look as if its columns were swapped. */
acq_status acq_table_check_columns(acq_merger *merger, const acq_batch *batch);

#endif
