/* files.h - benchmark query files, read into plain structs.
 *
 *   { FORMULA: [ INSTANCE, ... ], ..., "atoms": READING }      the last member is optional
 *   QAC instance   [ grounding, {"f1": [[id], ...]} correct, {"f1": [[id], ...]} wrong ]
 *   QAR instance   [ grounding, {"f1&f2": [[id, id], ...]} answers, "e" | "h" | "n" ]
 *
 * A grounding maps every r and s name of the formula to an id. Formulas and instances keep the
 * order of the file. Tuples are stored in the order of the query's free variables, whatever
 * order the file's key names them in.
 *
 * Published files are not clean. What has a meaning is taken, scored as the published scorer does,
 * and counted (acq_bench_dirt); an instance without a meaning is left out, and only that
 * instance. Everything is checked here, so that evaluation cannot fail on a file's content. An
 * error, or the reason why an instance was left out, names formula, instance and member,
 * counted from 1. */
#ifndef ACQ_EVAL_FILES_H
#define ACQ_EVAL_FILES_H

#include "base/json.h"
#include "base/memory.h"
#include "query/query.h"

typedef struct acq_bench_tuples {
    acq_ent *values; /* n times n_free ids */
    size_t n;
} acq_bench_tuples;

typedef struct acq_bench_instance {
    uint32_t formula;         /* index */
    uint32_t *ids;            /* of the formula's names, in their order */
    acq_bench_tuples correct; /* QAC: correct candidates; QAR: answers */
    acq_bench_tuples wrong;   /* QAC only */
    char type;                /* QAR: 'e', 'h' or 'n'; QAC: 0 */
} acq_bench_instance;

typedef struct acq_bench_formula {
    const char *text;
    size_t length;
    acq_query *query;   /* parsed as written, not grounded */
    const char **names; /* what a grounding must give ids to: relations, then constants */
    size_t n_names;
    size_t number;   /* in the file, from 1: formulas without a meaning count too */
    size_t first, n; /* its instances, without those that were left out */
} acq_bench_formula;

/* What is odd about a file. All but the last is scored. */
typedef struct acq_bench_dirt {
    size_t n_extra;      /* groundings with names that the formula does not have: not used */
    size_t n_unlisted;   /* QAR: type "e" or "h", no answer listed: positive, nothing is right */
    size_t n_denied;     /* QAR: type "n", answers listed: negative, as the type says */
    size_t n_repeated;   /* instances equal to one before them: each counts */
    size_t n_replaced;   /* members of an object whose name comes again: the last one counts */
    size_t n_left_out;   /* instances without a meaning */
    const char *why_out; /* of the first of these, with its place; NULL: there is none */
} acq_bench_dirt;

typedef struct acq_bench_file {
    acq_arena arena;
    const char *path;
    acq_bench_task task;
    acq_bench_formula *formulas;
    size_t n_formulas;
    acq_bench_instance *instances; /* in file order */
    size_t n_instances;
    acq_bench_dirt dirt;
    size_t n_doubles; /* QAC: tuples that an instance lists as correct and as wrong */
    bool has_atoms;   /* the file names the reading its labels follow */
    acq_atoms_reading atoms;
} acq_bench_file;

typedef struct acq_bench_limits {
    uint32_t n_entities, n_relations; /* ids must be below; UINT32_MAX: any id */
} acq_bench_limits;

acq_status acq_bench_file_read(const char *path, acq_bench_task task, acq_bench_limits limits,
                               acq_bench_file **out, acq_error *error);

/* The same from memory; path is only a name. */
acq_status acq_bench_file_parse(const char *bytes, size_t length, const char *path,
                                acq_bench_task task, acq_bench_limits limits, acq_bench_file **out,
                                acq_error *error);

void acq_bench_file_free(acq_bench_file *file);

/* Leaves out the formulas that have no meaning under this reading of parallel atoms. */
acq_status acq_bench_file_keep_readable(acq_bench_file *file, acq_atoms_reading reading,
                                        acq_error *error);

const char *acq_bench_task_get_name(acq_bench_task task); /* "qac", "qar" */

/* The last part of the path. */
const char *acq_bench_file_get_name(const acq_bench_file *file);

/* The reading its labels follow: what the file says of itself, else pair for QAC files with
 * "hub" in their name and written for the rest. */
acq_atoms_reading acq_bench_file_get_atoms(const acq_bench_file *file);

/* Is `tuple` (n_free ids) in the list? O(n). */
bool acq_bench_tuples_contain(const acq_bench_tuples *tuples, const acq_ent *tuple,
                              uint32_t n_free);

/* ---- inside ----
 *
 * Inside the reader of query files: what its two halves share. */

/* What is being read, for the checks and for the place that an error names. */
typedef struct acq_bench_reader {
    acq_bench_file *file;
    acq_bench_limits limits;
    size_t i_formula, i_instance; /* counted from 0; i_instance within the formula */
    size_t i_written;             /* where the formula is put */
    const acq_bench_formula *formula;
    const acq_query *query; /* of this formula */
    acq_error *error;       /* of the instance that is being read */
} acq_bench_reader;

/* One instance, from JSON to ids. ACQ_ERR_INPUT, with the reason in reader->error: it has no
 * meaning. */
acq_status acq_bench_read_instance(const acq_bench_reader *reader, const acq_json *json,
                                   acq_bench_instance *out);

#endif
