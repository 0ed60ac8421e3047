/* paper.h - the tables of the AnyCQ paper: what each row is, how we make ours, and the numbers that
 * were published (of the test splits).
 *
 * A table is data: rows, columns and a measure. A row names an engine, the links it runs on and,
 * for the policy search, its weights. Published numbers are kept here and nowhere else; nothing
 * that we measure is ever written into them. */
#ifndef ACQ_REPRODUCE_PAPER_H
#define ACQ_REPRODUCE_PAPER_H

#include "base/memory.h"

/* ---- folder ----
 *
 * What a folder holds: data sets, their splits and their query files, found by names.
 *
 *   FOLDER/FB15k-237/train_kg.tsv, valid_kg.tsv, kgindex.json       the graphs
 *   FOLDER/FB15k-237/qac_valid_type0001.json, qar_valid_3hub_efo2.json  the questions
 *
 * A folder with a graph in it is one data set; else each folder in it may be one. Validation
 * observes train and is judged on valid; testing observes valid and is judged on test. What a file
 * is about is read from the words of its name: qac or qar; valid or test (none: valid); type0001 or
 * 2p and so on, 3hub or 3-hub, efo2 or k2. */

/* Where questions stand in the tables, in the paper's order. */
typedef enum acq_repro_part {
    ACQ_PART_2p,
    ACQ_PART_3p,
    ACQ_PART_pi,
    ACQ_PART_ip,
    ACQ_PART_inp,
    ACQ_PART_pin,
    ACQ_PART_3hub,
    ACQ_PART_4hub,
    ACQ_PART_5hub,
    ACQ_N_PARTS
} acq_repro_part;

enum { ACQ_MOST_FREE = 3 }; /* free variables of a retrieval file */

const char *acq_repro_part_get_name(acq_repro_part part); /* "2p", "3-hub" */

static inline bool acq_repro_part_is_hub(acq_repro_part part)
{
    return part >= ACQ_PART_3hub;
}

typedef struct acq_repro_file {
    const char *path;
    uint64_t hash; /* of its bytes; 0 for a part without a file */
} acq_repro_file;

/* One data set in one split: an observed graph, the graph it is judged on, its questions. */
typedef struct acq_repro_subject {
    const char *name;   /* of the folder */
    const char *folder; /* its path */
    const char *split;  /* "valid" or "test": of the questions */
    const char *observed_split;
    int paper; /* whose published rows stand beside: 0 FB15k-237, 1 NELL; -1 nobody's */
    bool has_complete;
    acq_repro_file qac[ACQ_N_PARTS];
    acq_repro_file qar[ACQ_N_PARTS][ACQ_MOST_FREE]; /* hubs only */
    struct acq_repro_subject *next;
} acq_repro_subject;

/* Something that was not found, or could not be done. */
typedef struct acq_repro_omission {
    const char *what, *why;
    struct acq_repro_omission *next;
} acq_repro_omission;

typedef struct acq_repro_folder {
    acq_arena arena; /* of all that hangs on it */
    const char *path;
    acq_repro_subject *subjects; /* by name, then valid before test */
    size_t n_subjects;
    acq_repro_omission *omissions, *last_omission;
} acq_repro_folder;

/* Deinit also after an error. A folder without any data set is ACQ_ERR_INPUT. */
acq_status acq_repro_folder_init(acq_repro_folder *folder, const char *path, acq_error *error);
void acq_repro_folder_deinit(acq_repro_folder *folder);

/* Said in the outputs; twice the same is said once. */
acq_status acq_repro_leave_out(acq_repro_folder *folder, acq_error *error, const char *why,
                               const char *what, ...) ACQ_PRINTF(4, 5);

/* Hash of a file's bytes. */
acq_status acq_repro_hash_file(const char *path, uint64_t *out, acq_error *error);

/* ---- paper ---- */

enum { ACQ_PAPERS = 2, ACQ_MOST_COLUMNS = 12, ACQ_MOST_ROWS = 10 };

typedef enum acq_repro_columns {
    ACQ_COLUMNS_QAC,  /* nine parts */
    ACQ_COLUMNS_QAR,  /* k = 1, 2, 3 and total of three hub parts */
    ACQ_COLUMNS_HUBS, /* these totals */
} acq_repro_columns;

typedef enum acq_repro_measure {
    ACQ_MEASURE_F1,
    ACQ_MEASURE_MATCHED,     /* f1_matched */
    ACQ_MEASURE_WRONG,       /* wrong_accepted */
    ACQ_MEASURE_RECALL_EASY, /* of questions that the observed graph answers */
    ACQ_MEASURE_F1_EASY,     /* 2 R / (1 + R) of this recall, as the published figures have it */
    ACQ_MEASURE_F1_HARD,
    ACQ_MEASURE_ALWAYS_YES, /* f1 of the answerer that always says yes */
    /* of the files; easy and hard by what the engine, over observed facts, finds */
    ACQ_MEASURE_QUERIES,
    ACQ_MEASURE_CANDIDATES,
    ACQ_MEASURE_EASY_SHARE,
    ACQ_MEASURE_HARD_SHARE,
    ACQ_MEASURE_WRONG_SHARE,
    ACQ_MEASURE_TRIVIAL, /* retrieval queries that the observed graph answers */
} acq_repro_measure;

/* What the links of a row are made by. */
typedef enum acq_repro_links {
    ACQ_REPRO_OBSERVED,
    ACQ_REPRO_PERFECT,
    ACQ_REPRO_COMPLEX,     /* FIT's scaling, one score for both directions of a link */
    ACQ_REPRO_COMPLEX_QTO, /* rows as they are */
    ACQ_REPRO_COMPLEX_FIT,
    ACQ_REPRO_NBFNET,
    ACQ_REPRO_GNNQE, /* NBFNet trained on queries */
    ACQ_REPRO_ULTRA,
    ACQ_REPRO_ULTRAQUERY,
    ACQ_REPRO_FITTED, /* `anycq fit`, with probabilities; --quick: what the graph teaches */
} acq_repro_links;

typedef enum acq_repro_weights {
    ACQ_WEIGHTS_NONE, /* another engine than policy */
    ACQ_WEIGHTS_SHIPPED,
    ACQ_WEIGHTS_EACH, /* a row for every data set, with weights trained on its observed graph */
    ACQ_WEIGHTS_NO_PE,
    ACQ_WEIGHTS_UNTRAINED,
} acq_repro_weights;

typedef struct acq_repro_row {
    const char *label; /* as in the paper; EACH: "... trained on" */
    const char *ours;  /* how we make it, for readers */
    const char *engine;
    acq_repro_links links;
    acq_repro_weights weights;
    acq_repro_measure measure;
    double seconds;                                 /* time limit of a question; 0: 60 */
    bool small_only;                                /* the engine is for small queries */
    bool is_paper_s;                                /* a row of the paper; else one that we add */
    const double *published[ACQ_PAPERS];            /* for the columns; below 0: no number */
    const double *transfer[ACQ_PAPERS][ACQ_PAPERS]; /* EACH: judged on, trained on */
} acq_repro_row;

typedef struct acq_repro_table {
    const char *id; /* its file name */
    const char *title;
    const char *about[3]; /* sentences below the title, up to the first NULL */
    acq_repro_columns columns;
    acq_repro_row rows[ACQ_MOST_ROWS]; /* up to the first without a label */
} acq_repro_table;

const acq_repro_table *acq_repro_get_table(size_t i); /* NULL past the last */

size_t acq_repro_get_n_columns(acq_repro_columns columns);
/* "2p"; "3-hub, k=1", "3-hub, total"; "3-hub". */
const char *acq_repro_get_column(acq_repro_columns columns, size_t i);

const char *acq_repro_get_paper(int paper); /* "FB15k-237" or "NELL" */

/* Links count as true from this score on, as the paper has it; 0: as they are. */
double acq_repro_get_binarize(acq_repro_links links, int paper, bool is_hub);

static inline bool acq_repro_measure_is_count(acq_repro_measure measure)
{
    return measure == ACQ_MEASURE_QUERIES || measure == ACQ_MEASURE_CANDIDATES ||
           measure == ACQ_MEASURE_TRIVIAL;
}

#endif
