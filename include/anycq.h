/* anycq.h - answers to existential first-order queries over incomplete knowledge graphs.
 *
 *   acq_error error = {0};
 *   acq_graph *graph;
 *   acq_query *query;
 *   acq_predictor *predictor;
 *   acq_result *result;
 *   acq_graph_open("world.tsv", NULL, &graph, &error);
 *   acq_query_new(graph, "Q(x) := capital_of(x, \"France\")", &query, &error);
 *   acq_predictor_new(graph, "observed", NULL, &predictor, &error);
 *   acq_ask(query, predictor, NULL, &result, &error);
 *   if (acq_result_get_outcome(result) == ACQ_RESULT_ANSWERED)
 *       puts(acq_result_get_value(result, 0, "x"));
 *
 * Errors. Every fallible function returns an acq_status and describes a failure in an optional
 * acq_error, which must be zeroed before its first use: the first message wins until
 * acq_error_clear. Outputs are written only on success. "None" and "undecided" are results, never
 * errors. A NULL where an argument is needed is ACQ_ERR_USAGE with the argument's name; functions
 * without a status then give 0, false, NULL, NaN, UINT32_MAX or "".
 *
 * Structs. Parameters begin with their size, which acq_..._params_init sets along with the
 * defaults; NULL means defaults. The same holds for structs that the library fills. So a program
 * keeps running with a newer library, whose structs have more fields, and with an older one as long
 * as it leaves the fields alone that the older one does not know: setting one of them is
 * ACQ_ERR_USAGE.
 *
 * Progress. Long calls take a callback in their parameters. It is called a few times a second at
 * most by whichever thread does the work, never by two at a time; returning false stops the call,
 * with ACQ_ERR_INTERRUPTED where files are made, with what was found so far where questions are
 * asked. Call no function of this library from it but getters and acq_cursor_stop.
 *
 * Lifetimes. Whatever has a _new or _open has a _free, and _free(NULL) is legal. A graph outlives
 * its queries and predictors; a query and a predictor outlive the results made with them. Every
 * const char * handed out is borrowed from the handle it was asked of.
 *
 * Threads. Graphs, queries, predictors, policies and results never change once made: any number of
 * threads may use one at the same time, a stored graph included, and asking the same query twice at
 * once is fine. A store writer is for one thread at a time. Only _free needs the handle for itself.
 * The library keeps no global state but acq_limit_instructions, prints nothing and never exits.
 *
 * Stores. A graph kept in one file may be read by any number of processes while one writes. An
 * open graph is a snapshot: it goes on answering as of its opening; open it anew to see what was
 * added since. */
#ifndef ANYCQ_H
#define ANYCQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ACQ_VERSION "0.2.0"

#if defined(__GNUC__)
#define ACQ_API __attribute__((visibility("default")))
#else
#define ACQ_API
#endif

typedef uint32_t acq_ent; /* an entity of a graph, 0 .. n-1 */
typedef uint32_t acq_rel; /* a relation; r xor 1 is its inverse */

typedef enum acq_status {
    ACQ_OK = 0,
    ACQ_ERR_USAGE,       /* an argument or option is wrong */
    ACQ_ERR_PARSE,       /* a text cannot be read: line and column say where */
    ACQ_ERR_INPUT,       /* a file's content is wrong */
    ACQ_ERR_NAME,        /* no such entity or relation */
    ACQ_ERR_LIMIT,       /* a stated limit is exceeded */
    ACQ_ERR_IO,          /* the system could not read or write */
    ACQ_ERR_MEMORY,      /* out of memory */
    ACQ_ERR_INTERNAL,    /* a bug: please report it */
    ACQ_ERR_INTERRUPTED, /* the caller asked to stop */
} acq_status;

typedef struct acq_error {
    acq_status code;
    size_t line;       /* from 1; 0: unknown */
    size_t column;     /* from 1, in bytes; 0: unknown */
    char file[256];    /* "" when no file is involved */
    char message[512]; /* one sentence, with the remedy */
} acq_error;

typedef struct acq_graph acq_graph;         /* observed facts with their names */
typedef struct acq_query acq_query;         /* a query, its names looked up in a graph */
typedef struct acq_predictor acq_predictor; /* what is believed: every link with a score */
typedef struct acq_policy acq_policy;       /* weights of the learned search */
typedef struct acq_result acq_result;       /* what came out of one question */

ACQ_API const char *acq_get_version(void); /* of the library at run time */
ACQ_API const char *acq_status_name(acq_status status);
ACQ_API void acq_error_clear(acq_error *error); /* ready for the next call; NULL is legal */

/* Sets of instructions round differently: with a limit ("generic", "avx2", "avx512", "avx512-bf16"
 * or "amx"; "auto" is none) a newer processor computes the same numbers as an older one. It holds
 * for the whole process and is settled by the first call that computes: ACQ_ERR_USAGE when another
 * one is. */
ACQ_API acq_status acq_limit_instructions(const char *set, acq_error *error);

/* How far a long call is; borrowed, for the time of the callback. Later versions may add fields. */
typedef struct acq_progress {
    const char *phase; /* "reading", "sorting", "training", ... */
    uint64_t done;     /* of total, in whatever unit the phase has (reading: bytes) */
    uint64_t total;    /* 0: unknown, as with a pipe */
    uint64_t facts;    /* reading: so far */
    double loss;       /* training: of the last epoch or step; 0 elsewhere */
    const char *text;  /* a sentence for people; NULL: none */
} acq_progress;

/* Returning false stops the call. */
typedef bool (*acq_progress_fn)(void *context, const acq_progress *now);

/* ---- graphs ---- */

/* Called for each line that is left out, unless strict. */
typedef void (*acq_left_out_fn)(void *context, const acq_error *line);

/* What became of the lines of a text. */
typedef struct acq_read_report {
    size_t size;         /* set by the caller: sizeof report */
    uint64_t lines;      /* read */
    uint64_t bad;        /* left out, with a reason each */
    uint64_t duplicates; /* left out silently, counted */
    uint64_t completed;  /* inverse facts that a benchmark file lacked and we added */
    uint64_t literals;   /* RDF: statements left out because their object is a literal */
    uint64_t labels;     /* RDF: rdfs:label statements taken as labels */
} acq_read_report;

typedef struct acq_graph_params {
    size_t size;
    const char *split;  /* folders: "train" (NULL), "valid" or "test", up to and including;
                           "latest": all that the folder has */
    const char *format; /* tsv, csv, nt, ttl, nq or trig; NULL: by the endings of the names */
    bool strict;        /* the first bad line is an error */
    acq_left_out_fn left_out;
    acq_progress_fn progress;
    void *context;           /* for left_out, note and progress, which come one at a time */
    unsigned threads;        /* 0: as many as the machine has */
    const char *base;        /* RDF: what relative IRIs are relative to */
    bool literals;           /* RDF: literal objects are entities too */
    acq_read_report *report; /* filled when a text was read, zeros for a store; NULL: not wanted */
    bool no_header;          /* the first line is a fact, even if it reads like a header */
    acq_left_out_fn note;    /* about a whole file: a header was left out, columns look swapped */
    bool named_graphs;       /* RDF: which graphs facts stand in is kept, for SPARQL's GRAPH */
} acq_graph_params;

ACQ_API void acq_graph_params_init_sized(acq_graph_params *params, size_t size);
static inline void acq_graph_params_init(acq_graph_params *params)
{
    acq_graph_params_init_sized(params, sizeof *params);
}

/* Opens a store, or reads triples (.tsv, .txt, .csv), RDF (.nt, .ttl, .nq, .trig), any of these
 * compressed (.gz), a benchmark's *_kg.tsv beside its kgindex.json, or a folder of them. params
 * (NULL: defaults) say how to read and do not concern a store. */
ACQ_API acq_status acq_graph_open(const char *path, const acq_graph_params *params, acq_graph **out,
                                  acq_error *error);
ACQ_API void acq_graph_free(acq_graph *graph);

ACQ_API uint32_t acq_graph_get_n_entities(const acq_graph *graph);
ACQ_API uint32_t acq_graph_get_n_relations(const acq_graph *graph); /* both directions */
ACQ_API uint64_t acq_graph_get_n_facts(const acq_graph *graph);     /* inverses not counted */

/* "" for an id that is not below the count. A name is what people read, the label where RDF has
 * one; a key tells it from all others: the IRI, `_:blank` node or literal of RDF, else the name. */
ACQ_API const char *acq_graph_get_entity_name(const acq_graph *graph, acq_ent entity);
ACQ_API const char *acq_graph_get_relation_name(const acq_graph *graph, acq_rel relation);
ACQ_API const char *acq_graph_get_entity_key(const acq_graph *graph, acq_ent entity);
ACQ_API const char *acq_graph_get_relation_key(const acq_graph *graph, acq_rel relation);

/* Of the two relations of a pair, plain graphs name one: the other is written inverse(name). */
ACQ_API bool acq_graph_is_named(const acq_graph *graph, acq_rel relation);
ACQ_API bool acq_graph_is_rdf(const acq_graph *graph); /* keys may differ from names */

/* A name that a damaged store could not give is "(unreadable)"; this returns the reason then, and
 * ACQ_OK as long as all could be read. */
ACQ_API acq_status acq_graph_get_failure(const acq_graph *graph, acq_error *error);

/* By key or name; UINT32_MAX when unknown. */
ACQ_API acq_ent acq_graph_find_entity(const acq_graph *graph, const char *name, size_t length);
ACQ_API acq_rel acq_graph_find_relation(const acq_graph *graph, const char *name, size_t length);

/* The nearest known name by edit distance, for "did you mean"; NULL: nothing is near. Reads all
 * names. */
ACQ_API const char *acq_graph_suggest_entity(const acq_graph *graph, const char *name,
                                             size_t length);
ACQ_API const char *acq_graph_suggest_relation(const acq_graph *graph, const char *name,
                                               size_t length);

/* Entities whose key or name begins with `prefix`, keys and names each in byte order, until visit
 * returns false. An entity may come twice. With length 0 all names come, in any order. */
typedef bool (*acq_name_fn)(void *context, acq_ent entity, const char *name, size_t length);
ACQ_API acq_status acq_graph_each_name(const acq_graph *graph, const char *prefix, size_t length,
                                       acq_name_fn visit, void *context, acq_error *error);

/* Is the fact observed? False for ids that the graph does not have. */
ACQ_API bool acq_graph_has_fact(const acq_graph *graph, acq_ent head, acq_rel relation,
                                acq_ent tail);

/* 64-bit hash of names, ids and facts: equal for equal graphs, wherever they are kept. */
ACQ_API uint64_t acq_graph_get_fingerprint(const acq_graph *graph);

/* Of names and ids alone: what a completion or a model of the graph must fit. */
ACQ_API uint64_t acq_graph_get_dictionary_fingerprint(const acq_graph *graph);

/* How often a relation is observed. A stored graph loads it. */
typedef struct acq_relation_counts {
    size_t size;    /* set by the caller: sizeof counts */
    uint64_t facts; /* of it or, which are the same, of its inverse */
    uint64_t heads; /* entities that have such a fact */
    uint64_t tails;
} acq_relation_counts;

ACQ_API acq_status acq_graph_count_relation(const acq_graph *graph, acq_rel relation,
                                            acq_relation_counts *counts, acq_error *error);

/* Takes text piece by piece; what it returns ends the writing unless it is ACQ_OK. */
typedef acq_status (*acq_put_fn)(void *context, const char *bytes, size_t length, acq_error *error);

typedef struct acq_graph_write_params {
    size_t size;
    const char *format; /* "tsv", "csv" or "nt"; NULL: nt for RDF, else tsv */
    acq_put_fn put;     /* required */
    acq_progress_fn progress;
    void *context; /* for put and progress */
} acq_graph_write_params;

ACQ_API void acq_graph_write_params_init_sized(acq_graph_write_params *params, size_t size);
static inline void acq_graph_write_params_init(acq_graph_write_params *params)
{
    acq_graph_write_params_init_sized(params, sizeof *params);
}

/* The graph as text that acq_graph_open reads back: each fact once, by relation, head and tail in
 * the order of their ids, so that equal graphs give equal bytes. A name that the format cannot hold
 * is ACQ_ERR_INPUT. n_facts may be NULL. */
ACQ_API acq_status acq_graph_write(const acq_graph *graph, const acq_graph_write_params *params,
                                   uint64_t *n_facts, acq_error *error);

/* ---- stores ---- */

/* Does the file begin as a store (an SQLite database) does? Anything else is read as text. */
ACQ_API bool acq_store_is_database(const char *path);

/* What an import found and made. */
typedef struct acq_store_create_report {
    size_t size; /* set by the caller: sizeof report */
    uint64_t facts;
    uint32_t entities;
    uint32_t relations;  /* as users count them: pairs */
    uint64_t file_bytes; /* of the store */
    uint64_t runs;       /* sorted pieces that went to disk; 0: all fitted into memory */
    double seconds;
} acq_store_create_report;

typedef struct acq_store_params {
    size_t size;
    const acq_graph_params *read; /* how to read the sources; NULL: defaults */
    uint64_t memory_bytes;        /* 0: 2 GB; what does not fit is sorted on disk */
    bool replace;                 /* an existing store gives way even if facts were added to it */
    acq_store_create_report *report; /* NULL: not wanted */
    /* Told the name of the file that grows until the store is complete, for a program that wants to
     * remove it when it is killed; NULL: nobody is. */
    void (*begin)(void *context, const char *partial);
    void *context; /* for begin */
} acq_store_params;

ACQ_API void acq_store_params_init_sized(acq_store_params *params, size_t size);
static inline void acq_store_params_init(acq_store_params *params)
{
    acq_store_params_init_sized(params, sizeof *params);
}

/* Everything that acq_graph_open reads, merged into a new store. `path` appears when it is
 * complete; after an error or a stop nothing is left behind. params NULL: defaults. */
ACQ_API acq_status acq_store_create(const char *const *sources, size_t n_sources, const char *path,
                                    const acq_store_params *params, acq_error *error);

/* One handle per writer. A second writer, in whatever process, waits for up to ten seconds. */
typedef struct acq_store_writer acq_store_writer;

ACQ_API acq_status acq_store_writer_open(const char *path, acq_store_writer **out,
                                         acq_error *error);
ACQ_API void acq_store_writer_free(acq_store_writer *writer);

/* Who is told of compactions before each relation, in changes (phase "compacting"); false ends the
 * one under way. progress NULL: nobody. */
ACQ_API void acq_store_writer_watch(acq_store_writer *writer, acq_progress_fn progress,
                                    void *context);

/* Names are keys or labels. A name that is not known becomes a new entity or relation when it is
 * added, and is an error when it is removed. */
typedef struct acq_store_fact {
    const char *head;
    const char *relation;
    const char *tail;
    bool is_inverse; /* inverse(relation) was meant */
    bool is_rdf;     /* add: the names are RDF's, as keys are; the store then counts as RDF */
} acq_store_fact;    /* arrays of it are passed: it stays as it is */

typedef struct acq_store_report {
    size_t size;            /* set by the caller: sizeof report */
    uint64_t changed;       /* facts that were not there (add) or were there (remove) */
    uint64_t unchanged;     /* the others */
    uint64_t new_entities;  /* add */
    uint64_t new_relations; /* add */
    bool is_compacted;      /* so many changes waited that they were folded in */
} acq_store_report;

/* All or nothing; what returns ACQ_OK survives a power failure. report may be NULL. On error
 * *i_bad, if not NULL, is the fact that is to blame, or n when none is. */
ACQ_API acq_status acq_store_add(acq_store_writer *writer, const acq_store_fact *facts, size_t n,
                                 acq_store_report *report, size_t *i_bad, acq_error *error);
ACQ_API acq_status acq_store_remove(acq_store_writer *writer, const acq_store_fact *facts, size_t n,
                                    acq_store_report *report, size_t *i_bad, acq_error *error);

/* The same with the facts of a text of any kind that acq_graph_open reads. read NULL: defaults; its
 * report counts labels, which are left out: only an import takes them. */
ACQ_API acq_status acq_store_add_from(acq_store_writer *writer, const char *path,
                                      const acq_graph_params *read, acq_store_report *report,
                                      acq_error *error);
ACQ_API acq_status acq_store_remove_from(acq_store_writer *writer, const char *path,
                                         const acq_graph_params *read, acq_store_report *report,
                                         acq_error *error);

/* Folds all changes into the links and gives freed space back; add does so by itself when many
 * changes wait. Answers are the same before and after. n_folded may be NULL. After a stop by
 * acq_store_writer_watch (ACQ_ERR_INTERRUPTED) the next call goes on. */
ACQ_API acq_status acq_store_compact(acq_store_writer *writer, uint64_t *n_folded,
                                     acq_error *error);

/* What a store says of itself. */
typedef struct acq_store_summary {
    size_t size; /* set by the caller: sizeof summary */
    uint32_t format;
    bool is_rdf;
    uint64_t changes;    /* waiting for a compaction */
    uint64_t file_bytes; /* the database itself */
    uint64_t log_bytes;  /* beside it, not yet in it */
    char sources[512];   /* what it was imported from, as given */
} acq_store_summary;

ACQ_API acq_status acq_store_describe(const char *path, acq_store_summary *summary,
                                      acq_error *error);

/* Reads and checks everything: every link and name, their counts and fingerprints. progress may be
 * NULL. */
ACQ_API acq_status acq_store_verify(const char *path, acq_progress_fn progress, void *context,
                                    acq_error *error);

/* ---- queries ---- */

/* Parses (text syntax or SPARQL) and looks every name up in the graph. ACQ_ERR_PARSE and
 * ACQ_ERR_NAME come with line and column. */
ACQ_API acq_status acq_query_new(const acq_graph *graph, const char *text, acq_query **out,
                                 acq_error *error);
ACQ_API void acq_query_free(acq_query *query);

/* Variables count from 0, the free ones first, in the order of the query's head. */
ACQ_API size_t acq_query_get_n_variables(const acq_query *query);
ACQ_API size_t acq_query_get_n_free(const acq_query *query);
ACQ_API const char *acq_query_get_variable(const acq_query *query, size_t i); /* NULL: no such */

/* LIMIT of SPARQL, which acq_ask leaves to the caller's params; 0: none. */
ACQ_API uint64_t acq_query_get_limit(const acq_query *query);

/* SPARQL gives a solution as often as there are ways to it; answers of acq_ask come once. Would a
 * SELECT give some twice, or order or skip them? Then acq_solve is the function to ask. */
ACQ_API bool acq_query_needs_solve(const acq_query *query);

/* A sentence when a variable is written like a known entity and quotes may be missing; else "". */
ACQ_API const char *acq_query_get_hint(const acq_query *query);

/* One atom of a query. Its conditions are what "and" joins at the top. */
typedef struct acq_query_atom {
    size_t size;                         /* set by the caller: sizeof atom */
    size_t condition;                    /* that it belongs to, from 0 */
    bool is_alone;                       /* it is the condition, or its negation: no "or" is near */
    bool is_negated;                     /* the query negates it */
    acq_rel relation;                    /* UINT32_MAX: an equality */
    acq_ent head, tail;                  /* UINT32_MAX: a variable */
    size_t head_variable, tail_variable; /* SIZE_MAX: an entity */
} acq_query_atom;

/* Atoms count from 0, in the order of the query; false: no such one. get walks the query up to it. */
ACQ_API size_t acq_query_get_n_atoms(const acq_query *query);
ACQ_API bool acq_query_get_atom(const acq_query *query, size_t i, acq_query_atom *out);

/* The query as one SQL statement over facts(head, relation, tail) and entities(name), for SQLite
 * and DuckDB. No graph is involved: names stay names. `put` gets it whole, on one line, with its
 * semicolon and line end. More than 64 tables in one FROM are ACQ_ERR_LIMIT. */
ACQ_API acq_status acq_sql_translate(const char *query, acq_put_fn put, void *context,
                                     acq_error *error);

/* The same for a benchmark's query file (JSON): a statement for each of its instances, in file
 * order, at most `first` of them (0: all). They are about ids, not names. */
ACQ_API acq_status acq_sql_translate_file(const char *path, uint64_t first, acq_put_fn put,
                                          void *context, acq_error *error);

/* ---- predictors ---- */

/* What opening a predictor found out. */
typedef struct acq_predictor_report {
    size_t size;               /* set by the caller: sizeof report */
    uint64_t unknown_entities; /* perfect: names of the other graph that this one lacks */
    uint64_t dropped_facts;    /* perfect: facts left out for that reason, or an unknown relation */
    uint64_t denied_facts;     /* perfect: facts of this graph that the other lacks: they score 0 */
    bool is_outdated;          /* completion: made from other facts of the same entities */
} acq_predictor_report;

typedef struct acq_predictor_params {
    size_t size;
    const char *graph_path;       /* auto: looks for a completion beside this file, or in it */
    const acq_graph_params *read; /* perfect: how to read the other graph; NULL: defaults */
    const char *direction;        /* complex, nbfnet, ultra:MODEL: "both" or "forward" */
    const char *scaling;          /* complex: "fit" or "qto" */
    const char *rows;             /* models: which rows are made, "both" or "smaller" */
    const char *tails;            /* models: which tails these propose, "all" or "seen" */
    double floor;                 /* models: least score of a link; 0: the model's own */
    uint64_t memory_bytes;        /* models: of links kept; 0: no limit */
    unsigned threads;             /* 0: as many as the machine has */
    acq_predictor_report *report; /* NULL: not wanted */
    double visit;                 /* nbfnet, ultra: share of the entities that a row visits, up
                                   * to 1; 0: all, and on large graphs 4,096 around the head */
    bool learnt_earlier;          /* ultra: what was kept of an earlier state of the graph is used
                                     and not learnt anew */
} acq_predictor_params;

ACQ_API void acq_predictor_params_init_sized(acq_predictor_params *params, size_t size);
static inline void acq_predictor_params_init(acq_predictor_params *params)
{
    acq_predictor_params_init_sized(params, sizeof *params);
}

/* spec: "observed" (facts and nothing else), "perfect:GRAPH" (the facts of another graph are
 * true), "completion:FILE" (made by acq_complete or acq_fit_completion), "ultra" (what
 * the graph teaches about its links, without a model), "complex:MODEL", "nbfnet:MODEL", "rules:MODEL" or "ultra:MODEL"
 * ("ultra:shipped": the network that the library brings along);
 * "auto": the completion beside params->graph_path, else "ultra" (on more than two million facts by
 * a network around the question), else "observed". Files are read and checked at once; models make rows when questions need them, which
 * they keep. Open one and share it: it belongs to `graph`, which must outlive it. */
ACQ_API acq_status acq_predictor_new(const acq_graph *graph, const char *spec,
                                     const acq_predictor_params *params, acq_predictor **out,
                                     acq_error *error);
ACQ_API void acq_predictor_free(acq_predictor *predictor);

/* The same as "perfect:GRAPH" for a graph that is open: the facts of `complete` are true, in the
 * ids of `graph`; names are matched. complete may be freed afterwards. name is what the predictor
 * is called. When no fact of it is about entities of `graph` that is no error: report, which may be
 * NULL, counts them. */
ACQ_API acq_status acq_predictor_new_of_facts(const acq_graph *graph, const acq_graph *complete,
                                              const char *name, acq_predictor **out,
                                              acq_predictor_report *report, acq_error *error);

/* Is this a spec? Opens nothing. */
ACQ_API acq_status acq_predictor_check_spec(const char *spec, acq_error *error);

ACQ_API const char *acq_predictor_get_name(const acq_predictor *predictor); /* what auto came to */

/* A sentence that the user should see; NULL: none. */
ACQ_API const char *acq_predictor_get_note(const acq_predictor *predictor);

/* Are its scores probabilities, so that answers have one? */
ACQ_API bool acq_predictor_is_calibrated(const acq_predictor *predictor);
ACQ_API double acq_predictor_get_floor(const acq_predictor *predictor); /* least score of a link */

/* How good probabilities are: stated and true shares of the candidates whose probability lies in a
 * bin, which are decades and tenths: [0,.001) [.001,.01) [.01,.05) [.05,.1) [.1,.2) ... [.9,1].
 * Both structs stay as they are. */
enum { ACQ_RELIABILITY_BINS = 13 };

typedef struct acq_reliability_bin {
    double low, high;
    double weight;        /* candidates, weighted */
    uint64_t n;           /* rows */
    double stated, truth; /* weighted sums of p and of the labels */
} acq_reliability_bin;

typedef struct acq_reliability {
    acq_reliability_bin bins[ACQ_RELIABILITY_BINS];
    double log_loss, base_log_loss; /* weighted sums; base: what the base rate alone would get */
    double weight;
} acq_reliability;

/* Largest |stated - true| share over bins with a weight of at least `least`. */
ACQ_API double acq_reliability_get_gap(const acq_reliability *table, double least);

/* The table of its links, on facts that were held out of the graph when its calibrator learnt, by
 * trees that had not seen them. False where it is not known, as for acq_predictor_get_quality. */
ACQ_API bool acq_predictor_get_reliability(const acq_predictor *predictor, acq_reliability *out);

/* Can the links of a relation be trusted? What those with p >= 0.5 were worth on facts that were
 * held out of the graph when its calibrator learnt. */
typedef struct acq_relation_quality {
    size_t size;   /* set by the caller: sizeof quality */
    uint64_t held; /* facts of the relation that were held out */
    double said;   /* links with p >= 0.5, of one graph that lacks as many facts as were held out */
    double right;  /* of these about so many are true */
} acq_relation_quality;

/* False where it is not known: the calibrator learnt on another graph, or keeps no counts, or what
 * learns at first use has not been asked for a link yet. */
ACQ_API bool acq_predictor_get_quality(const acq_predictor *predictor, acq_rel relation,
                                       acq_relation_quality *out);

/* ---- links ---- */

typedef struct acq_prediction {
    acq_ent entity;
    double score; /* with a calibrated predictor: the probability of the link */
    bool is_observed;
} acq_prediction;

typedef struct acq_predictions acq_predictions;

/* The links of one entity: every tail of relation(entity, ?) that scores at least the predictor's
 * floor, most likely first; among equal scores observed ones first, then by name. For
 * relation(?, entity) give the inverse, relation ^ 1. */
ACQ_API acq_status acq_predict(const acq_predictor *predictor, acq_ent entity, acq_rel relation,
                               acq_predictions **out, acq_error *error);

/* The same for n entities, which models do faster together: out[i] is that of entities[i]. */
ACQ_API acq_status acq_predict_rows(const acq_predictor *predictor, const acq_ent *entities,
                                    size_t n, acq_rel relation, acq_predictions **out,
                                    acq_error *error);
/* The same within a time; ACQ_ERR_INTERRUPTED when it is over, or progress says so. params NULL: no
 * limit. */
typedef struct acq_predict_params {
    size_t size;
    double seconds; /* 0: no limit */
    acq_progress_fn progress;
    void *context;
} acq_predict_params;

ACQ_API void acq_predict_params_init_sized(acq_predict_params *params, size_t size);
static inline void acq_predict_params_init(acq_predict_params *params)
{
    acq_predict_params_init_sized(params, sizeof *params);
}

ACQ_API acq_status acq_predict_within(const acq_predictor *predictor, acq_ent entity,
                                      acq_rel relation, const acq_predict_params *params,
                                      acq_predictions **out, acq_error *error);

ACQ_API size_t acq_predictions_get_n(const acq_predictions *predictions);
ACQ_API const acq_prediction *acq_predictions_get(const acq_predictions *predictions, size_t i);
ACQ_API void acq_predictions_free(acq_predictions *predictions);

/* ---- reasons ---- */

/* A rule that was mined from the graph and concludes the link. */
typedef struct acq_reason_rule {
    const char *body;        /* "born_in(X, Z) & city_in(Z, Y)": where it holds, the link does... */
    const char *middle;      /* the name of Z; "" for a body without one */
    acq_ent middle_id;       /* UINT32_MAX: none */
    uint64_t support, cases; /* ...in so many of these cases */
} acq_reason_rule;

/* One part of what the probability of a predicted link was made of. */
typedef struct acq_reason {
    /* "rules", "similar" (entities), "rank" (by a model), "head", "tail" (facts of the relation
     * that the link's head, or tail, has) */
    const char *kind;
    const char *text; /* a sentence; relations as the graph names them */
    double weight;    /* change of the log-odds: above 0 for the link, below 0 against it */
    const char *model;            /* rank: "ComplEx", "NBFNet", "ULTRA"; else "" */
    uint64_t rank, of;            /* rank: of the tail for the head; 0: not asked */
    uint64_t back_rank, back_of;  /* rank: of the head for the tail; 0: not asked */
    uint64_t count, total;        /* similar: have it, of so many; head, tail: facts, entities that
                                     have any; rules: support and cases of the first */
    const acq_reason_rule *rules; /* rules: the most confident ones */
    size_t n_rules;
    const acq_ent *entities; /* similar: those that have it */
    size_t n_entities;
} acq_reason; /* borrowed from its list; later versions may add fields */

typedef struct acq_reasons acq_reasons;

/* The evidence for a predicted link and against it: strongest first, that against it last. An
 * observed link has none. With a model this scores the link's row again. */
ACQ_API acq_status acq_reasons_find(const acq_predictor *predictor, acq_ent head, acq_rel relation,
                                    acq_ent tail, acq_reasons **out, acq_error *error);
ACQ_API size_t acq_reasons_get_n(const acq_reasons *reasons);
ACQ_API const acq_reason *acq_reasons_get(const acq_reasons *reasons, size_t i);
ACQ_API const char *acq_reasons_get_note(const acq_reasons *reasons); /* why there are none; "" */
ACQ_API void acq_reasons_free(acq_reasons *reasons);

/* ---- suggestions ---- */

typedef struct acq_suggestion {
    acq_ent head;
    acq_rel relation; /* even: the named direction */
    acq_ent tail;
    double p;         /* that the link is true */
    const char *text; /* as the query language has it, names in quotes; lives with the list */
} acq_suggestion;

/* What the list rests on. */
typedef struct acq_suggest_report {
    size_t size;     /* set by the caller: sizeof report */
    uint64_t found;  /* links with at least min_p, of which the list has the best */
    double expected; /* how many of the list are true, by their probabilities: their sum */
    uint64_t rows;   /* (entity, relation) to look at */
    uint64_t rows_done;
    const char *spent; /* what ended it before all rows were done: "time", "interrupt"; else "" */
} acq_suggest_report;

typedef struct acq_suggest_params {
    size_t size;
    acq_rel relation;         /* UINT32_MAX: all */
    uint64_t top;             /* 10: so many at most */
    double min_p;             /* 0: least probability */
    double seconds;           /* 60: time limit for making rows; 0: none */
    acq_progress_fn progress; /* done and total are rows; false: what was found so far */
    void *context;
} acq_suggest_params;

ACQ_API void acq_suggest_params_init_sized(acq_suggest_params *params, size_t size);
static inline void acq_suggest_params_init(acq_suggest_params *params)
{
    acq_suggest_params_init_sized(params, sizeof *params);
}

typedef struct acq_suggestions acq_suggestions;

/* The likeliest links that are not observed, most likely first; at least one end of each is seen
 * with its relation. The predictor must be calibrated. A completion is read through; models make
 * rows until the time is up, relations with few rows first. params NULL: defaults. */
ACQ_API acq_status acq_suggest(const acq_predictor *predictor, const acq_suggest_params *params,
                               acq_suggestions **out, acq_error *error);
ACQ_API size_t acq_suggestions_get_n(const acq_suggestions *list);
ACQ_API const acq_suggestion *acq_suggestions_get(const acq_suggestions *list, size_t i);
ACQ_API void acq_suggestions_get_report(const acq_suggestions *list, acq_suggest_report *out);
ACQ_API void acq_suggestions_free(acq_suggestions *list);

/* ---- completions ---- */

/* A completion can be made in parts, on several machines: part 1 of n has every n-th relation. A
 * part is no predictor; acq_merge makes one of all. */
typedef struct acq_complete_params {
    size_t size;
    double floor;            /* least score of a link, at least the predictor's own; 0: that */
    uint32_t part, of_parts; /* 2, 8: the second of eight; 0, 0: the whole */
    acq_progress_fn progress;
    void *context;
} acq_complete_params;

ACQ_API void acq_complete_params_init_sized(acq_complete_params *params, size_t size);
static inline void acq_complete_params_init(acq_complete_params *params)
{
    acq_complete_params_init_sized(params, sizeof *params);
}

/* Writes all links of a predictor, and its calibrator, to a file for "completion:FILE". The file
 * appears whole or not at all. params NULL: defaults. */
ACQ_API acq_status acq_complete(const acq_predictor *predictor, const char *path,
                                const acq_complete_params *params, acq_error *error);

/* All parts, in any order, become the file that one call would have written, byte for byte. An
 * error names the part that is missing, there twice, damaged or of another completion. progress may
 * be NULL; false stops with ACQ_ERR_INTERRUPTED, and nothing is written. */
ACQ_API acq_status acq_merge(const char *const *parts, size_t n, const char *path,
                             acq_progress_fn progress, void *context, acq_error *error);

typedef struct acq_completion_report {
    size_t size; /* set by the caller: sizeof report */
    uint32_t n_entities, n_relations;
    uint64_t n_links; /* both directions */
    double floor;
    bool is_calibrated;
    uint32_t part, of_parts; /* 0, 0: the whole */
} acq_completion_report;

/* Where the predictor "auto" looks for the completion of the graph at graph_path: GRAPH.completion
 * beside a file or store, `completion` in a folder. ACQ_ERR_LIMIT when `out` is too small. */
ACQ_API acq_status acq_completion_find_path(const char *graph_path, char *out, size_t size,
                                            acq_error *error);

/* What a completion file says of itself; its links are not read. */
ACQ_API acq_status acq_completion_read_report(const char *path, acq_completion_report *report,
                                              acq_error *error);

/* ---- ranks ---- */

/* Processes that share one piece of work ("ranks", as MPI calls them), each with the same graph,
 * predictor and parameters: each does its part, and all get the whole result, that of one process. */
typedef struct acq_ranks {
    uint32_t rank, n; /* this one, from 0; how many */
    /* All ranks call it with n bytes, which each has left zero but for its part; afterwards all
     * have all parts. */
    acq_status (*join)(void *context, void *bytes, size_t n, acq_error *error);
    void *context;
    /* The same with n numbers, which are added up: all get the same bits. */
    acq_status (*sum)(void *context, float *values, size_t n, acq_error *error);
} acq_ranks; /* stays as it is */

/* ---- fits ---- */

/* From which probability on a yes serves F1 best, on generated queries of which half of the
 * candidates are true. */
typedef struct acq_fit_decision {
    double p;       /* 0: no questions */
    double f1;      /* mean over questions, yes from p on */
    double f1_half; /* yes from 0.5 on */
} acq_fit_decision; /* stays as it is */

typedef struct acq_fit_completion_report {
    size_t size;         /* set by the caller: sizeof report */
    uint64_t held;       /* links held out, which the probabilities were learnt from */
    uint64_t covered;    /* of these, among the candidates */
    uint64_t candidates; /* in all */
    uint64_t links;      /* of the completion */
    double seconds;
    acq_reliability link_table;        /* links, by what trees stated that had not seen them */
    acq_reliability answer_table;      /* the same of answers of generated queries */
    acq_fit_decision small, hub;       /* of small queries, of large ones */
    acq_reliability denial_table;      /* of these answers, those with a negated link */
    acq_reliability if_table;          /* the same by p_if_answered, of queries with an answer */
    uint64_t n_questions, n_trees;     /* that probabilities were learnt from and by: */
    uint64_t all_questions, all_trees; /* less than these where `seconds` do not suffice */
    double collect_seconds;            /* of the evidence of all links, part of `seconds` */
    const char *hold;                  /* what was held out: "links" or "pairs"; static */
    uint64_t n_rows, all_rows;         /* of a large graph: rows scored, of so many; else 0 */
} acq_fit_completion_report;

/* How good the probabilities of one relation's links are, by trees that had not seen them. */
typedef struct acq_fit_relation {
    const char *name;   /* while the call runs */
    uint64_t held;      /* held out and proposed, in all samples */
    double said, right; /* links with p >= 0.5 in one of them, and about how many are true */
} acq_fit_relation;     /* stays as it is */

/* What a part of the evidence is worth: by how much the log-loss of held-out links rises when trees
 * learn without it. */
typedef struct acq_fit_part {
    const char *name; /* "complex", "rulebook", "neighbours", "rules" (mined ones), ...; static */
    double worth;     /* .05: by 5 %; below 0: it does harm */
} acq_fit_part;       /* stays as it is */

typedef struct acq_fit_completion_params {
    size_t size;
    const char *models;       /* "complex", "nbfnet", "ultra", "all", or some: "complex+ultra";
                                 "auto": complex, on small graphs what needs no training */
    const acq_graph *earlier; /* learn from what was added since, not from links held out */
    double hold_share;        /* 0.087: of the facts, held out */
    double epochs;            /* of ComplEx; 0: by effort */
    uint32_t rank;            /* of ComplEx; 0: by effort */
    double seconds;           /* what the whole may take; 0: as long as the epochs take */
    double floor;             /* 0.002: least probability of a link that is kept */
    uint64_t seed;            /* 1: a fit repeats with it, at any number of threads */
    unsigned threads;         /* 0: as many as the machine has */
    bool resume;              /* go on with PATH.fit, which a stopped fit leaves */
    const char *svg;          /* a picture of how good the probabilities are; NULL: none */
    acq_progress_fn progress; /* false: ACQ_ERR_INTERRUPTED, PATH.fit stays */
    void *context;
    acq_fit_completion_report *report; /* NULL: not wanted */
    const char *hold;   /* what is held out: "links", or "pairs": those that leave no link between
                           the two entities; "auto": pairs on large graphs where a quarter of the
                           facts or more join entities that another relation joins too */
    uint32_t top;       /* 64: links that each model proposes for (head, relation, ?) */
    const char *rows;   /* each relation is asked of from "both" sides, or from the "smaller" */
    const char *tails;  /* "all" entities are proposed, or those "seen" with the relation */
    const char *ultra;  /* file with the weights of ultra; NULL: the shipped ones */
    bool no_rules;      /* mine no rules */
    bool no_neighbours; /* no evidence from what similar entities have */
    bool no_lifts;      /* no evidence from whole rows: answers over rows made one by one */
    bool f32;           /* ComplEx: f32, also where the processor is faster with bfloat16 */
    double seconds_before; /* of `seconds`, spent before the call: reading the graph */
    /* Called for each relation, with `relation_context`, when its links are known; NULL: not. */
    void (*relation)(void *relation_context, const acq_fit_relation *quality);
    void *relation_context;
    /* Told once, of a fit in pieces, what will run; the text is valid until it returns. NULL: not. */
    void (*note)(void *note_context, const char *text);
    void *note_context;
    bool pieces; /* fit in pieces, as a large graph is: quicker, with less evidence for a link */
    double tune_seconds; /* train the weights of ultra on for so long on this graph; 0: do not */
    /* Called for each part of the evidence, with `part_context`; NULL: not measured. */
    void (*part)(void *part_context, const acq_fit_part *part);
    void *part_context;
    const char *effort; /* "quick", "normal" or "best": some 2, 15, 120 minutes on two cores for
                           300,000 facts. With models "auto" it chooses these */
    bool keep;          /* PATH.fit stays with the trained models, which `resume` goes on with */
    const acq_ranks *ranks; /* processes that share trainings and rows; the first writes, and all
                               see one folder. NULL: none */
} acq_fit_completion_params;

ACQ_API void acq_fit_completion_params_init_sized(acq_fit_completion_params *params, size_t size);
static inline void acq_fit_completion_params_init(acq_fit_completion_params *params)
{
    acq_fit_completion_params_init_sized(params, sizeof *params);
}

/* Are the parameters in range, and is `ultra` a file of weights? Nothing is written. */
ACQ_API acq_status acq_fit_completion_check(const acq_fit_completion_params *params,
                                            acq_error *error);

/* In one line what a fit of the graph with these parameters will do. */
ACQ_API acq_status acq_fit_completion_plan(const acq_graph *graph,
                                           const acq_fit_completion_params *params, char *out,
                                           size_t size, acq_error *error);

/* Learns links and their probabilities from the graph's own facts and writes them to `path`, for
 * the predictor "completion:PATH". The file appears whole or not at all. Costs minutes to hours:
 * trainings with all threads, memory by the largest relation. params NULL: defaults. Where
 * `seconds` do not suffice, ACQ_ERR_LIMIT; PATH.fit stays. */
ACQ_API acq_status acq_fit_completion(const acq_graph *graph, const char *path,
                                      const acq_fit_completion_params *params, acq_error *error);

/* ---- policies ---- */

/* Weights for the engine "policy". spec: "shipped" (in the library), "untrained" or
 * "untrained:DIM" (random, from the seed: what training starts from), or a file made by
 * `anycq train policy`. A policy belongs to no graph and outlives the questions asked with it. */
ACQ_API acq_status acq_policy_open(const char *spec, uint64_t seed, acq_policy **out,
                                   acq_error *error);
ACQ_API void acq_policy_free(acq_policy *policy);
ACQ_API const char *acq_policy_get_name(const acq_policy *policy); /* its file, or the spec */

/* ---- questions ---- */

/* The names of the engines: exact, random, climb, policy, qto, ...; NULL past the last. */
ACQ_API const char *acq_get_engine(size_t i);

/* One step of the policy search; borrowed, for the time of the callback. */
typedef struct acq_trace_step {
    uint64_t step;      /* 0: the initial assignment */
    double score, best; /* of this assignment, of the best so far */
    uint32_t n_classes; /* of values, all terms together */
    double ms;          /* since the step before */
    double flops;       /* of the step's network */
} acq_trace_step;

typedef void (*acq_trace_fn)(void *context, const acq_trace_step *step);

typedef struct acq_ask_params {
    size_t size;
    const char *engine;        /* "exact" proves what it says; "policy", "climb", "random" find; "qto",
                                  "fit", "gnnqe", "ultraquery" score tree-shaped queries of
                                  one free variable by fuzzy sets, in a logic of their own */
    double threshold;          /* least score of an answer, at most 1; 0: 0.5, or by min_p alone;
                                  gnnqe 0.25, ultraquery 0.2 */
    double binarize;           /* 0 is off: links of this score or more count 1, others 0 */
    double negation_threshold; /* a negated atom holds below this score; negative: off, or 1 */
    uint64_t limit;            /* 1: this many best answers; 0: all; policy, climb, random: one */
    double seconds;            /* 60: time limit; 0: none */
    uint64_t memory_bytes;     /* 0: no limit */
    uint64_t steps;            /* most assignments tried; 0: 10,000, policy 200; not for exact */
    uint64_t seed;             /* 1: all but exact repeat with it */
    bool paper;                /* all but exact: nothing found means none */
    const acq_policy *policy;  /* policy: its weights; NULL: the shipped ones, opened each time */
    uint64_t restart;          /* policy: begin anew after so many steps; 0: never */
    bool observed_pe;          /* policy: what may hold is judged by observed facts alone */
    double prior;              /* decide for candidates of which this share is true; -1: by p */
    double min_p;              /* 0.5: least probability of an answer */
    uint64_t stream;           /* number of the question: others than exact draw by seed and it */
    acq_progress_fn progress;  /* false: an undecided result, or what was found; NULL: none */
    void *context;             /* for progress and trace */
    acq_trace_fn trace;        /* policy: told of every step; NULL: none */
    bool new_only; /* ask, engine exact: only answers that observed facts alone do not give; the
                      likeliest candidate is then one of these. Cursors and checks do not heed it */
    double row_seconds; /* 2.5: most time to predict what the question needs; 0: `seconds` */
    double negation_scale;  /* qto, fit: not x is 1 - min(1, this x); 0: 1 */
    double input_threshold; /* gnnqe, ultraquery: lesser degrees do not enter a projection */
    const char *t_norm;     /* fit: "mixed" (NULL), the minimum within a variable and the product
                               along a link; "product" or "minimum" for both */
    const char *sql_library; /* sql: DuckDB's libduckdb.so, loaded when it is needed; NULL: SQLite */
} acq_ask_params;

/* Probabilities. Where the predictor has a calibrator ("ultra", and a completion made by `anycq
 * fit`), each answer has p, the probability that it is one in the completed graph. p belongs to
 * graph, predictor, query and tuple: whatever else is asked or shown, and however the query is
 * written, it is the same number. It obeys the laws of probability: a link's p is that of the query
 * which asks for it, its negation has 1 - p, a condition never raises it, an alternative never lowers
 * it, and p is 1 only when observed facts alone make the answer. p decides: answers have at least
 * min_p and come with the most likely first. Unless set, threshold is then the least score that the
 * predictor gives at all. A prior is for another population: candidates of which that share is
 * true; the probability among these then decides, and unless set negation_threshold is 1: facts
 * refute. binarize and paper leave probabilities out. Without a calibrator prior and min_p do
 * nothing. */

ACQ_API void acq_ask_params_init_sized(acq_ask_params *params, size_t size);
static inline void acq_ask_params_init(acq_ask_params *params)
{
    acq_ask_params_init_sized(params, sizeof *params);
}

/* Which tuples answer the query? The query and the predictor must be of the same acq_graph handle;
 * two opens of one file are two graphs, for it may have changed in between. params NULL: defaults.
 * Where more tuples have the same p (without a calibrator: score) than the limit leaves room for,
 * those made of observed facts come first, and among these, as among the others, those that the
 * search meets first: always the same ones, and the same from acq_ask and from a cursor.
 * The result is the caller's and borrows query, predictor and graph. progress is told of the phase
 * "predicting" with done in rows of links, or "searching" with done in milliseconds of total, which
 * is 0 without a time limit. */
ACQ_API acq_status acq_ask(const acq_query *query, const acq_predictor *predictor,
                           const acq_ask_params *params, acq_result **out, acq_error *error);

/* Is this tuple an answer? values: one entity name or key per free variable. */
ACQ_API acq_status acq_check(const acq_query *query, const acq_predictor *predictor,
                             const char *const *values, size_t n_values,
                             const acq_ask_params *params, acq_result **out, acq_error *error);

/* The same for many tuples: values has n_tuples rows of one name per free variable, results room
 * for n_tuples. Result i is that of acq_check of tuple i with the stream params->stream + i. All
 * are made or none; an unknown name is ACQ_ERR_NAME with the tuple's number in the message. seconds
 * are for each; when progress stops one the others are undecided. The policy search takes them as
 * one batch. */
ACQ_API acq_status acq_check_many(const acq_query *query, const acq_predictor *predictor,
                                  const char *const *values, size_t n_tuples,
                                  const acq_ask_params *params, acq_result **results,
                                  acq_error *error);

/* ---- sets that cover ---- */

typedef struct acq_covered {
    acq_ent entity;
    double p;     /* that the link is true; 0: the completion does not have it */
    double score; /* the order of the set: 1 - p, above 1 for links that the completion lacks */
} acq_covered;

typedef struct acq_cover_report {
    size_t size;       /* set by the caller: sizeof report */
    double level;      /* that was asked for */
    uint64_t held;     /* held-out links that the promise was learnt from */
    bool is_pooled;    /* these are of all relations: the one asked for had too few */
    uint64_t observed; /* facts that answer the query; they are not in the set */
    uint64_t entities; /* of the graph */
} acq_cover_report;

typedef struct acq_cover_params {
    size_t size;
    double level; /* 0.9: probability that the set contains the true entity */
} acq_cover_params;

ACQ_API void acq_cover_params_init_sized(acq_cover_params *params, size_t size);
static inline void acq_cover_params_init(acq_cover_params *params)
{
    acq_cover_params_init_sized(params, sizeof *params);
}

typedef struct acq_covering acq_covering;

/* The smallest set of entities, none of them observed there, that contains the other end of a
 * missing fact with the given probability, if missing facts are like those that the fit held out.
 * The query must be one atom with one entity and its free variable, the predictor a completion made
 * by a fit; anything else is ACQ_ERR_USAGE. Most likely first. params NULL: defaults. */
ACQ_API acq_status acq_cover_find(const acq_query *query, const acq_predictor *predictor,
                                  const acq_cover_params *params, acq_covering **out,
                                  acq_error *error);
ACQ_API size_t acq_covering_get_n(const acq_covering *covering);
ACQ_API const acq_covered *acq_covering_get(const acq_covering *covering, size_t i);
ACQ_API void acq_covering_get_report(const acq_covering *covering, acq_cover_report *out);
ACQ_API void acq_covering_free(acq_covering *covering);

/* ---- results ---- */

typedef enum acq_result_outcome {
    ACQ_RESULT_ANSWERED,  /* at least one answer */
    ACQ_RESULT_NONE,      /* nothing reaches the threshold, which is proved, or min_p (see
                             acq_result_get_best_probability), or the paper's rule */
    ACQ_RESULT_UNDECIDED, /* the budget ran out first */
} acq_result_outcome;

ACQ_API acq_result_outcome acq_result_get_outcome(const acq_result *result);

/* Are the answers proved to be the best ones, or all? */
ACQ_API bool acq_result_is_complete(const acq_result *result);

/* What ended the search: "time", "memory", "steps", "interrupt" (progress, acq_cursor_stop), "rows"
 * (row_seconds), or "" when nothing did. */
ACQ_API const char *acq_result_get_spent(const acq_result *result);

/* A sentence that the user should see; "" when there is none. */
ACQ_API const char *acq_result_get_note(const acq_result *result);
ACQ_API uint64_t acq_result_get_nodes(const acq_result *result); /* values tried */

/* What it took, and by which parameters. */
typedef struct acq_result_stats {
    size_t size;           /* set by the caller: sizeof stats */
    double seconds;        /* wall clock */
    uint64_t nodes;        /* values tried in branching, or steps */
    uint64_t revisions;    /* exact: domain revisions */
    uint64_t memory_bytes; /* of the search, at its peak */
    double flops;          /* policy */
    uint64_t classes;      /* policy: of values at the end */
    double threshold;      /* in force */
    uint64_t n_candidates; /* whose probabilities were compared; 0: no calibrator */
    bool has_more;         /* candidates of lesser scores were not looked at */
    bool is_by_rows;       /* the model predicted what this question needs, not all links */
    /* What observed facts alone say, which holds whatever is predicted: answered, none (proved), or
     * undecided where it was not found out. */
    acq_result_outcome facts;
    uint64_t n_rows;      /* is_by_rows: (head, relation, ?) that were predicted */
    uint64_t n_rows_left; /* that could matter and were left out */
} acq_result_stats;

ACQ_API void acq_result_get_stats(const acq_result *result, acq_result_stats *stats);

/* Do its answers have probabilities? */
ACQ_API bool acq_result_has_probabilities(const acq_result *result);

/* Answers count from 0, best first. ACQ_LIKELIEST in the place of a number is the candidate that
 * acq_result_get_best_probability is about, answer or not. */
#define ACQ_LIKELIEST SIZE_MAX

ACQ_API size_t acq_result_get_n_answers(const acq_result *result);
ACQ_API double acq_result_get_score(const acq_result *result, size_t i_answer);

/* p: how likely the answer is true; NaN without a calibrator. */
ACQ_API double acq_result_get_probability(const acq_result *result, size_t i_answer);

/* How likely it is true if the question has an answer at all, at least p; NaN without a calibrator,
 * or without free variables. */
ACQ_API double acq_result_get_probability_if_answered(const acq_result *result, size_t i_answer);

/* The same among candidates of which the share `prior` is true; NaN unless there is a prior. */
ACQ_API double acq_result_get_prior_probability(const acq_result *result, size_t i_answer);

/* Of an ask: how likely there is any answer; of a check, or a query without free variables: p of
 * it, supported or not. NaN without a calibrator. */
ACQ_API double acq_result_get_whole_probability(const acq_result *result);

/* Of the most likely candidate, answer or not, by what decides: what min_p would have to be. NaN
 * without a calibrator, or without any candidate. */
ACQ_API double acq_result_get_best_probability(const acq_result *result);

/* Of a check, or of a query without free variables, that no link supports: how likely it is all
 * the same. NaN: not known, or another case. */
ACQ_API double acq_result_get_unsupported_probability(const acq_result *result);

/* Value of a variable, free or witness, by its name; NULL when there is no such one. */
ACQ_API const char *acq_result_get_value(const acq_result *result, size_t i_answer,
                                         const char *variable);
ACQ_API const char *acq_result_get_value_at(const acq_result *result, size_t i_answer,
                                            size_t i_variable);

/* The same as an entity of the graph, whose key programs can rely on; UINT32_MAX: no such one. */
ACQ_API acq_ent acq_result_get_entity(const acq_result *result, size_t i_answer, size_t i_variable);
ACQ_API void acq_result_free(acq_result *result);

/* ---- conflicts ---- */

/* Why there is none: conditions of the query that cannot hold together, and of which none can be
 * left out. Empty unless "none" is proved. Costs an exact search for each condition, at most
 * `seconds` in all (0: one second); when they run out the list may be longer than need be. */
typedef struct acq_conflict acq_conflict;
ACQ_API acq_status acq_result_find_conflict(const acq_result *result, double seconds,
                                            acq_conflict **out, acq_error *error);
ACQ_API size_t acq_conflict_get_n(const acq_conflict *conflict);
ACQ_API const char *acq_conflict_get_text(const acq_conflict *conflict, size_t i); /* NULL: none */
/* Which condition of the query it is (acq_query_atom.condition); SIZE_MAX: there is no such one. */
ACQ_API size_t acq_conflict_get_condition(const acq_conflict *conflict, size_t i);
ACQ_API void acq_conflict_free(acq_conflict *conflict);

/* ---- cursors ---- */

/* Answers one at a time, facts first.
 *
 *   acq_cursor_open(query, predictor, &params, &cursor, &error);
 *   while (acq_cursor_next(cursor, &answer, &error) == ACQ_OK && answer != NULL)
 *       puts(acq_result_get_value(answer, 0, "x"));
 *   outcome = acq_result_get_outcome(acq_cursor_get_result(cursor));
 *
 * It hands out the tuples that acq_ask finds with the same params, each once: with the engine
 * "exact", first answers made of observed facts, as they are found, then the rest, best first, when
 * it is proved or time is up. Queries that negate relations, and other engines, give all at the
 * end: facts may be contradicted by predictions there. Later versions may do so earlier.
 * seconds count from the opening. One thread at a time may use a cursor. */
typedef struct acq_cursor acq_cursor;
ACQ_API acq_status acq_cursor_open(const acq_query *query, const acq_predictor *predictor,
                                   const acq_ask_params *params, acq_cursor **out,
                                   acq_error *error);

/* The next answer as a result with that one answer, borrowed until the next call; NULL: there is
 * no other. */
ACQ_API acq_status acq_cursor_next(acq_cursor *cursor, const acq_result **out, acq_error *error);

/* The same with all answers that are there without further search, at least one. */
ACQ_API acq_status acq_cursor_next_some(acq_cursor *cursor, const acq_result **out,
                                        acq_error *error);

/* Ends the search under way, from another thread or a progress callback: acq_cursor_next hands out
 * what was found and then NULL. */
ACQ_API void acq_cursor_stop(acq_cursor *cursor);

/* The result as a whole, borrowed: outcome, what was spent, note, all answers. NULL until
 * acq_cursor_next has given NULL. */
ACQ_API const acq_result *acq_cursor_get_result(const acq_cursor *cursor);
ACQ_API void acq_cursor_free(acq_cursor *cursor); /* at any time */

/* ---- evidence ---- */

typedef enum acq_fact_kind {
    ACQ_FACT_OBSERVED,  /* in the graph */
    ACQ_FACT_PREDICTED, /* not in the graph; the predictor gives it `link` */
    ACQ_FACT_ABSENT,    /* neither: link is 0 */
    ACQ_FACT_EQUALITY,  /* head = tail was asked: no link involved */
} acq_fact_kind;

typedef struct acq_fact {
    const char *relation; /* "" for an equality */
    bool is_inverse;      /* relation is written inverse(relation) */
    const char *head;
    const char *tail;
    bool is_negated; /* the query negates it */
    acq_fact_kind kind;
    double link;         /* the predictor's score of the link itself; calibrated: its probability */
    double score;        /* what the atom, with its negation, contributes */
    bool is_used;        /* false: a branch of an `or` that the answer does not need */
    acq_rel relation_id; /* UINT32_MAX for an equality; keys tell what names may not */
    acq_ent head_id, tail_id;
    const char *text; /* as the query language has it, names in quotes */
} acq_fact;           /* borrowed from its list; later versions may add fields */

typedef struct acq_evidence_list acq_evidence_list;

/* Why one answer holds: one fact per atom, in the order of the query. */
ACQ_API acq_status acq_result_explain(const acq_result *result, size_t i_answer,
                                      acq_evidence_list **out, acq_error *error);
ACQ_API size_t acq_evidence_list_get_n(const acq_evidence_list *list);
ACQ_API const acq_fact *acq_evidence_list_get(const acq_evidence_list *list, size_t i);

/* True when no prediction takes part. */
ACQ_API bool acq_evidence_list_is_observed(const acq_evidence_list *list);
ACQ_API void acq_evidence_list_free(acq_evidence_list *list);

/* ---- SPARQL ---- */

/* SPARQL as its standard has it: multisets, ORDER BY, values (1 = 1.0), unbound variables.
 *
 *   acq_solve(graph, "SELECT ?x { ?x <knows>+ ?y } ORDER BY ?x", NULL, NULL, &solutions, &error);
 *   for (size_t i = 0; i < acq_solutions_get_n(solutions); i++)
 *       puts(acq_solutions_get_term(solutions, i, 0).text);
 *
 * Solutions made of observed facts are exactly those of the standard. With a predictor, predicted
 * ones join them where the query has a formula (acq_query_new takes it): each once, with its p.
 * What is not supported is refused by its name (ACQ_ERR_PARSE). A name that the graph lacks means
 * no solution there, with a warning. */

/* Is it SPARQL, by its first words? */
ACQ_API bool acq_is_sparql(const char *text);

typedef enum acq_solutions_form {
    ACQ_SOLUTIONS_ROWS,       /* SELECT */
    ACQ_SOLUTIONS_BOOLEAN,    /* ASK */
    ACQ_SOLUTIONS_STATEMENTS, /* CONSTRUCT: rows of subject, predicate, object */
} acq_solutions_form;

typedef enum acq_rdf_kind {
    ACQ_RDF_UNBOUND,
    ACQ_RDF_IRI,
    ACQ_RDF_BLANK,
    ACQ_RDF_LITERAL,
    ACQ_RDF_NAME, /* of a plain graph: any text */
} acq_rdf_kind;

typedef struct acq_rdf_value {
    acq_rdf_kind kind;
    const char *text; /* IRI, label of the blank node without _:, text of the literal; "" */
    size_t length;
    const char *datatype; /* of a literal without a language; else "" */
    const char *language; /* of a literal; else "" */
    const char *key;      /* as acq_graph_get_entity_key gives it */
    acq_ent entity;       /* UINT32_MAX: the graph has no such entity */
} acq_rdf_value;          /* texts are the solutions' */

typedef struct acq_solve_params {
    size_t size;
    const acq_ask_params *ask; /* how predictions are asked for: min_p, engine, ...; its seconds and
                                  memory_bytes hold for the whole; NULL: defaults */
    uint64_t most;             /* rows at most, besides LIMIT; 0: all */
    bool facts_only;           /* no predictions */
    uint64_t default_limit;    /* LIMIT of a query that has none, and is no CONSTRUCT; 0: none */

    /* IRIs of named graphs, in place of FROM and FROM NAMED; none of either: as the query says. */
    const char *const *default_graphs, *const *named_graphs;
    size_t n_default_graphs, n_named_graphs;
} acq_solve_params;

ACQ_API void acq_solve_params_init_sized(acq_solve_params *params, size_t size);
static inline void acq_solve_params_init(acq_solve_params *params)
{
    acq_solve_params_init_sized(params, sizeof *params);
}

typedef struct acq_solutions acq_solutions;

/* predictor NULL: facts only. The solutions borrow graph and predictor. When time, memory or
 * progress ends it, what was found is given, and acq_solutions_get_spent tells. */
ACQ_API acq_status acq_solve(const acq_graph *graph, const char *sparql,
                             const acq_predictor *predictor, const acq_solve_params *params,
                             acq_solutions **out, acq_error *error);
ACQ_API acq_solutions_form acq_solutions_get_form(const acq_solutions *solutions);
ACQ_API size_t acq_solutions_get_n_variables(const acq_solutions *solutions);
ACQ_API const char *acq_solutions_get_variable(const acq_solutions *solutions, size_t i);
ACQ_API size_t acq_solutions_get_n(const acq_solutions *solutions); /* rows; of ASK 1 (yes) or 0 */
ACQ_API acq_rdf_value acq_solutions_get_term(const acq_solutions *solutions, size_t row,
                                             size_t column);

/* Does the row rest on predictions? And its p: 1 for facts, NaN without a calibrator. */
ACQ_API bool acq_solutions_is_predicted(const acq_solutions *solutions, size_t row);
ACQ_API double acq_solutions_get_probability(const acq_solutions *solutions, size_t row);

/* Why the row holds, one fact per atom; ACQ_ERR_USAGE for a query without a formula. */
ACQ_API acq_status acq_solutions_explain(const acq_solutions *solutions, size_t row,
                                         acq_evidence_list **out, acq_error *error);

/* What ended the work before it was complete, as acq_result_get_spent; "most" when params->most
 * did; "" when nothing did. */
ACQ_API const char *acq_solutions_get_spent(const acq_solutions *solutions);

/* Sentences for the user, "" when there is none: about a name that the graph lacks; why predictions
 * take no part. */
ACQ_API const char *acq_solutions_get_warning(const acq_solutions *solutions);
ACQ_API const char *acq_solutions_get_note(const acq_solutions *solutions);
ACQ_API void acq_solutions_free(acq_solutions *solutions);

/* ---- evaluation ---- */

/* An engine and a predictor judged on query files of the AnyCQ benchmark. Classification (QAC):
 * each candidate of each set is one yes or no. Retrieval (QAR): each query is one tuple, or none.
 */
typedef enum acq_bench_task { ACQ_TASK_QAC, ACQ_TASK_QAR } acq_bench_task;

enum { ACQ_BENCH_LIST_END = 500 }; /* published answer lists stop at this many */

/* Shares and F1 values are percentages, NaN where there is nothing to share. docs/glossary.md has
 * the words; `seen` is a correct candidate that the observed graph has, in some fact, at its end of
 * every positive atom. */
typedef struct acq_qac_metrics {
    double f1, f1_matched, wrong_accepted, recall_seen, recall_unseen;
} acq_qac_metrics;

typedef struct acq_qar_metrics {
    double f1, precision, recall, recall_easy, recall_hard, f1_paper;
    double f1_verified; /* by the verifier on the truth; NaN without one */
} acq_qar_metrics;

typedef struct acq_times {
    double mean, p50, p99, max; /* in the unit of the input; percentiles by nearest rank */
} acq_times;

typedef struct acq_eval_row {
    acq_bench_task task;
    const char *file; /* the last part of its path; "total" */
    const char *engine, *predictor;
    const char *atoms; /* how parallel atoms were read: "written", ...; in the total "mixed" where
                          files differ */
    bool says_atoms;   /* the file itself says so */
    size_t n_doubles;  /* QAC: tuples listed as both correct and wrong, which count as both */
    double prior;      /* NAN for QAR without a calibrator */
    double min_p;      /* least p of a yes or an answer; NAN: no calibrator, the score decides */
    size_t n_queries;  /* formulas */
    size_t n_sets;     /* QAC: candidate sets; QAR: instances */
    size_t n_decisions;
    acq_qac_metrics qac, always_yes; /* QAC only, like auc_matched */
    double auc_matched;
    acq_qar_metrics qar; /* QAR only; f1_verified is NAN without a truth graph */
    size_t n_undecided;
    size_t n_unlisted; /* QAR: counted as wrong because a list that may be cut off lacks them */
    acq_times ms;      /* per decision */
    uint64_t nodes, revisions; /* summed over the decisions */
    const char *weights;       /* of the policy search; NULL: another engine */
    double classes_mean;       /* policy: at the last step of a decision */
    double gflop;              /* policy: of a decision, mean */
    /* What was odd about the file. All but the instances left out are scored, as the published
     * scorer does. */
    size_t n_extra;      /* groundings with names that the formula does not have */
    size_t n_answerless; /* QAR: type "e" or "h" and no listed answer: nothing can be right */
    size_t n_denied;     /* QAR: type "n" and listed answers: the type counts */
    size_t n_repeated;   /* instances equal to one before them */
    size_t n_replaced;   /* JSON members whose name comes again: the last one counts */
    size_t n_left_out;   /* instances without a meaning, not scored */
    const char *why_out; /* the first of these, and why; NULL: there is none */
    size_t n_correct;    /* QAC: correct candidates; QAR: queries that have an answer */
    size_t n_right;      /* of these, those that got a yes, or an answer that is right */
    size_t n_easy;       /* QAR: queries with an answer in the observed graph; QAC: 0 */
} acq_eval_row;                /* borrowed from its evaluation; later versions may add fields */

typedef struct acq_evaluate_params {
    size_t size;
    const acq_ask_params *ask; /* how each question is asked; NULL: defaults. A negative prior means
                                  0.5 here; progress, trace and stream are not used */
    const acq_predictor *truth; /* "perfect:GRAPH", judges QAR answers; NULL: none */
    const char *atoms;          /* which of parallel atoms count: "written", "pair" or
                                   "ordered-pair"; NULL: what each file's labels follow */
    uint64_t first;             /* instances taken of each file; 0: all */
    unsigned threads;           /* 0: as many as the machine has */
    acq_progress_fn progress;   /* after decisions of the calling thread; counts instances */
    void *context;
    double seconds; /* for all; what is left then is undecided; 0: no limit */
    const acq_ranks *ranks; /* NULL: this process does all */
} acq_evaluate_params;

ACQ_API void acq_evaluate_params_init_sized(acq_evaluate_params *params, size_t size);
static inline void acq_evaluate_params_init(acq_evaluate_params *params)
{
    acq_evaluate_params_init_sized(params, sizeof *params);
}

/* Are the parameters in range? Nothing is read. */
ACQ_API acq_status acq_evaluate_check(const acq_evaluate_params *params, acq_error *error);

typedef struct acq_evaluation acq_evaluation;

/* The observed graph is the predictor's, which outlives the evaluation, as params->ask->policy
 * does. Everything but the times is the same at any number of threads. When progress stops it,
 * ACQ_ERR_INTERRUPTED. */
ACQ_API acq_status acq_evaluate(const acq_predictor *predictor, acq_bench_task task,
                                const char *const *files, size_t n_files,
                                const acq_evaluate_params *params, acq_evaluation **out,
                                acq_error *error);

/* A row for each file in their order, and the total last; NULL past it. */
ACQ_API size_t acq_evaluation_get_n(const acq_evaluation *evaluation);
ACQ_API const acq_eval_row *acq_evaluation_get(const acq_evaluation *evaluation, size_t i);

/* A row as `anycq eval --json` prints it, a line with its end; all of them as a table of 80
 * columns. */
ACQ_API const char *acq_evaluation_get_json(const acq_evaluation *evaluation, size_t i);
ACQ_API const char *acq_evaluation_get_table(const acq_evaluation *evaluation);
ACQ_API void acq_evaluation_free(acq_evaluation *evaluation);

/* Ranking of hard answers, as the literature on complex query answering measures: each of them among
 * the entities that are no answers, a tie counting one half; means over the hard answers of a query,
 * then over the queries of a type. */
typedef struct acq_cqa_row {
    const char *type; /* "2p", ...; the last row, "mean", is over the types */
    size_t n_queries, n_hard;
    size_t n_unranked; /* queries that the engine cannot rank, or had no time for: left out */
    double mrr, hits1, hits3, hits10; /* percent; NAN: nothing was ranked */
    double ms;                        /* of a query, mean */
} acq_cqa_row; /* borrowed from its ranking; later versions may add fields */

typedef struct acq_ranking acq_ranking;

/* One file, as tools/convert_betae or acq_generate ("cqa") makes it. Engines: "exact" ranks by p, or
 * without a calibrator by score; "qto", "fit", "gnnqe" and "ultraquery" by their degrees.
 * params->truth and atoms are not used; `first` is of each type, spread over it. */
ACQ_API acq_status acq_rank_file(const acq_predictor *predictor, const char *path,
                                 const acq_evaluate_params *params, acq_ranking **out,
                                 acq_error *error);
ACQ_API size_t acq_ranking_get_n(const acq_ranking *ranking);
ACQ_API const acq_cqa_row *acq_ranking_get(const acq_ranking *ranking, size_t i);
/* Queries without a meaning, which were left out, and why the first was (NULL: there is none). */
ACQ_API size_t acq_ranking_get_left_out(const acq_ranking *ranking, const char **why);
ACQ_API void acq_ranking_free(acq_ranking *ranking);

/* Yes or no for single links: true ones that were not observed against false ones. */
typedef struct acq_links_decisions {
    uint64_t n_true, n_false;     /* one direction of each; observed ones are left out */
    uint64_t true_yes, false_yes; /* said yes to */
    uint64_t n_undecided;         /* counted as no */
    double accuracy;              /* share of right decisions */
} acq_links_decisions;            /* stays as it is */

/* The new links, and the candidates of the table, of one case: what the observed graph shows of
 * their head and tail. Seen is a head that has an observed fact of the same relation, and a tail
 * that such a fact has. */
enum { ACQ_LINKS_HEAD_SEEN = 1, ACQ_LINKS_TAIL_SEEN = 2, ACQ_LINKS_CASES = 4 };

typedef struct acq_links_case {
    uint64_t n_links, n_ranked;
    double mrr, hits1, hits3, hits10; /* 0 without links */
    acq_reliability table;            /* with a table; base: as in that of the report */
} acq_links_case;                     /* stays as it is */

typedef struct acq_links_report {
    size_t size;       /* set by the caller: sizeof report */
    uint64_t n_links;  /* directed */
    uint64_t n_ranked; /* of these, with a score of the predictor's own */
    double mrr, hits1, hits3, hits10;
    bool is_model;  /* ranked by the raw scores of all entities; else by the scores of links */
    bool has_table; /* the scores are probabilities */
    acq_reliability table; /* candidates: every link with a score above 0 that is not observed, one
                            * direction of each; base: the true share of its relation's */
    bool has_decisions;
    double prior; /* of the decisions; NaN: they are by score */
    acq_links_decisions decisions;
    double seconds;   /* of the ranking */
    uint64_t n_first; /* with a table: true links that are the likeliest new one of a row */
    acq_links_case cases[ACQ_LINKS_CASES]; /* by ACQ_LINKS_HEAD_SEEN and ACQ_LINKS_TAIL_SEEN */
} acq_links_report;

typedef struct acq_evaluate_links_params {
    size_t size;
    const acq_predictor *filter;    /* more links that hold, not asked for; NULL: none are known */
    const acq_predictor *negatives; /* links that are false: decide between them and the true ones,
                                       as acq_check would; NULL: no decisions */
    const acq_ask_params *ask;      /* how these are decided, as in acq_evaluate_params */
    uint64_t first;                 /* at most so many links, drawn by hash; 0: all */
    unsigned threads;               /* 0: as many as the machine has */
    acq_progress_fn progress;       /* phases "ranking" and "deciding", in thousandths */
    void *context;
    const acq_ranks *ranks; /* share the ranking; NULL: this process does all */
} acq_evaluate_links_params;

ACQ_API void acq_evaluate_links_params_init_sized(acq_evaluate_links_params *params, size_t size);
static inline void acq_evaluate_links_params_init(acq_evaluate_links_params *params)
{
    acq_evaluate_links_params_init_sized(params, sizeof *params);
}

/* Link prediction judged: filtered MRR and Hits@k of every link of `truth` that the predictor's
 * graph lacks, in both directions; ties give the mean rank. "complex:", "nbfnet:", "rules:" and
 * "ultra:MODEL" are judged by their raw scores of all entities, and decide nothing; any other predictor by the
 * scores of its links, which may be probabilities too. truth, filter and negatives are
 * "perfect:..." of the same graph. params NULL: defaults. */
ACQ_API acq_status acq_evaluate_links(const acq_predictor *predictor, const acq_predictor *truth,
                                      const acq_evaluate_links_params *params,
                                      acq_links_report *report, acq_error *error);

/* ---- making benchmarks ---- */

typedef struct acq_generate_report {
    size_t size;           /* set by the caller: sizeof report */
    uint64_t n_queries;    /* written; negative ones too */
    uint64_t n_negative;   /* qar: queries without an answer */
    uint64_t n_trivial;    /* positive queries with an answer in the observed graph */
    uint64_t n_candidates; /* qac, small: correct and wrong ones; cqa: answers */
    uint64_t n_easy, n_hard, n_wrong;
    uint64_t n_unseen;   /* qac, small: correct candidates that are not seen at the free variable */
    uint64_t n_capped;   /* queries with more answers than are listed */
    uint64_t n_checked;  /* labels that were checked once more, one by one, all right */
    uint64_t n_tries;    /* places that were drawn */
    uint64_t n_unfit;    /* of these: no query there, or one that the observed graph contains */
    uint64_t n_easy_only; /* no hard answer */
    uint64_t n_costly;    /* the answers could not be listed within the work */
    uint64_t n_no_set;    /* no candidate set, or no entity that makes the query false */
    double terms, atoms, constants; /* of a query, mean */
    uint64_t n_left_out; /* facts of the complete graph about names that the observed one lacks */
} acq_generate_report;

typedef struct acq_generate_params {
    size_t size;
    const char *kind; /* "qac", "qar", "small" or "cqa" */
    const char *type; /* small, cqa: one of 1p 2p 3p 2i 3i ip pi 2in 3in inp pin pni 2u up; NULL:
                         small 2p, cqa all of them */
    uint32_t hubs;    /* 3, 4 or 5: the paper's split; 0: 3 */
    uint32_t free_variables; /* qar: 1 to 3; 0: 1 */
    uint64_t count;          /* queries (cqa: of each type; qar: positive ones); 0: 100 */
    uint64_t seed;
    uint32_t terms;          /* the paper's n_min: 15 for FB15k-237, 12 for NELL; 0: 15 */
    double constants, leaves; /* the paper's p_const and p_out; negative: those of the split */
    bool from_unobserved;     /* begin at a fact that is not observed, as the published scripts */
    bool one_per_pair;        /* one atom for each pair of terms, as the published scripts */
    bool published_sets;      /* correct candidates need not be seen where wrong ones are */
    bool near_negatives;      /* qar: queries that only one atom makes false */
    uint64_t answers;         /* most listed: 0: 500, cqa 1000 (queries with more are left out) */
    const char *form;         /* "json" (the benchmark's; cqa: BetaE's nesting) or "text": queries
                                 with names, labels as comments; NULL: json */
    unsigned threads;         /* 0: as many as the machine has */
    double seconds;           /* the queries that are found by then are written; 0: no limit */
    acq_progress_fn progress; /* counts queries */
    void *context;
    const acq_ranks *ranks; /* processes that share the tries; the first writes. NULL: none */
    /* Without ranks: makes number `part`, from 1, of `of_parts` shards of the work, written to
     * `path`; 0, 0: all of it. */
    uint32_t part, of_parts;
    const char *const *shards; /* the files of all shards: puts them together, to the bytes of */
    size_t n_shards;           /* one run; 0: none */
} acq_generate_params;

ACQ_API void acq_generate_params_init_sized(acq_generate_params *params, size_t size);
static inline void acq_generate_params_init(acq_generate_params *params)
{
    acq_generate_params_init_sized(params, sizeof *params);
}

/* Writes a benchmark to `path`: queries drawn from the facts of `complete`, labelled by exact search
 * in both graphs, every label checked by the verifier. Names are matched; ids in the file are those
 * of `observed`. A seed gives one file at any number of threads. Where the graph has fewer such
 * queries than asked for, those that were found are written and report->n_queries says how many;
 * none at all is ACQ_ERR_INPUT. params NULL: defaults; report may be NULL. */
ACQ_API acq_status acq_generate(const acq_graph *observed, const acq_graph *complete,
                                const char *path, const acq_generate_params *params,
                                acq_generate_report *report, acq_error *error);

/* A picture of a query as SVG: constants, existential and free variables told apart, negated atoms
 * dashed. No graph is read; a formula of the benchmark, as in (r1(s1,e1))&(r2(e1,f1)), will do. */
ACQ_API acq_status acq_draw(const char *query, const char *path, acq_error *error);

/* ---- training ---- */

typedef struct acq_train_option {
    const char *name;  /* as on the command line, without the dashes: "rate", "resume", "warm" */
    const char *value; /* "0.1", "15m"; of a flag: NULL, "yes" or "no" */
} acq_train_option;

typedef struct acq_train_params {
    size_t size;
    const acq_train_option
        *options; /* those of `anycq help train KIND`; the last of a name counts */
    size_t n_options;
    const char *const *names; /* of the graphs, for the model's metadata; NULL: none */
    const char *commit;       /* the same; NULL: none */
    acq_progress_fn progress; /* done and total are batches, for complex thousandths of an epoch */
    void *context;
    double seconds_before; /* of the option "time", spent before the call: reading the graph */
    const acq_ranks *ranks; /* processes that share each batch; the first writes. NULL: none */
} acq_train_params;

ACQ_API void acq_train_params_init_sized(acq_train_params *params, size_t size);
static inline void acq_train_params_init(acq_train_params *params)
{
    acq_train_params_init_sized(params, sizeof *params);
}

/* Are these options of this kind, and their values in range? Nothing is read or written. */
ACQ_API acq_status acq_train_check(const char *kind, const acq_train_option *options,
                                   size_t n_options, acq_error *error);

typedef struct acq_trained acq_trained;

/* Trains "complex", "nbfnet", "gnnqe" or "rules" on one graph, "ultra" or "policy" on any number, and writes
 * the model to `output`. Beside it lie checkpoints while it trains, and the curve of a policy. When
 * progress stops it, ACQ_ERR_INTERRUPTED, the option "resume" goes on from there, as if it had
 * never stopped; with any other option or graph that is refused by name. A loss that is not finite
 * is ACQ_ERR_INPUT. params and out may be NULL. */
ACQ_API acq_status acq_train(const char *kind, const acq_graph *const *graphs, size_t n_graphs,
                             const char *output, const acq_train_params *params, acq_trained **out,
                             acq_error *error);

typedef struct acq_train_summary { /* texts and lists are the trained model's */
    size_t size;
    const char *kind;
    const char *unit; /* of done: "epochs" or "batches" */
    double done;
    double loss;    /* smoothed; 0 for a policy */
    double seconds; /* earlier runs that were resumed included */
    uint64_t seed;  /* of a policy the best one */
    unsigned threads;
    const char *options; /* "rank=256 rate=0.1 ..." */
    uint64_t episodes;   /* from here on: of a policy */
    double held_solved;  /* share of generated queries that the best seed solves */
    uint64_t first_seed; /* n_seeds of them in a row */
    uint32_t n_seeds;
    const double *seeds_held; /* as held_solved, of each */
    uint32_t dim;
    bool uses_pe;
    uint64_t
        held_queries; /* hub-like ones of these queries: the option, or as many as fit the time */
    uint64_t n_rules; /* of rules: how many */
} acq_train_summary;

/* out->size is the caller's. */
ACQ_API void acq_trained_get(const acq_trained *trained, acq_train_summary *out);
ACQ_API void acq_trained_free(acq_trained *trained);

/* ---- rules, to be read ---- */

typedef struct acq_rule_reader acq_rule_reader;

/* Does the file begin as one that acq_train("rules") wrote? False also where it cannot be read. */
ACQ_API bool acq_rules_is_model(const char *path);

/* The graph is not needed: the names are in the file. */
ACQ_API acq_status acq_rule_reader_open(const char *path, acq_rule_reader **out, acq_error *error);
ACQ_API void acq_rule_reader_close(acq_rule_reader *reader);

typedef struct acq_rules_summary { /* texts are the reader's */
    size_t size;
    uint64_t n_rules;
    uint64_t n_with_entities; /* that name an entity; the others are cycles of one to three hops */
    uint32_t n_entities, n_relations; /* of the graph */
    const char *aggregation;          /* "clusters", "noisy-or" or "max" */
    const char *data;                 /* what they were learnt on; NULL: the file does not say */
    const char *options;
} acq_rules_summary;

/* out->size is the caller's. */
ACQ_API void acq_rule_reader_describe(const acq_rule_reader *reader, acq_rules_summary *out);

typedef struct acq_rule_view {
    size_t size;
    const char *text; /* "born_in(X, Y) <= lives_in(X, A), city_of(A, Y)", until the next one */
    double confidence; /* support / (pairs + 5) */
    uint32_t support;  /* pairs that are facts */
    uint32_t pairs;    /* that the body links, as many as were looked at */
    uint32_t cluster;  /* of rules with the same head that conclude the same */
} acq_rule_view;

/* The i-th rule, most confident first; false: there are not so many. out->size is the caller's. */
ACQ_API bool acq_rule_reader_get(acq_rule_reader *reader, uint64_t i, acq_rule_view *out);

#ifdef __cplusplus
}
#endif
#endif
