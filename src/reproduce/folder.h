/* folder.h - what a folder holds: data sets, their splits and their query files, found by names.
 *
 *   FOLDER/FB15k-237/train_kg.tsv, valid_kg.tsv, kgindex.json       the graphs
 *   FOLDER/FB15k-237/qac_valid_type0001.json, qar_valid_3hub_efo2.json  the questions
 *
 * A folder with a graph in it is one data set; else each folder in it may be one. Validation
 * observes train and is judged on valid; testing observes valid and is judged on test. What a file
 * is about is read from the words of its name: qac or qar; valid or test (none: valid); type0001 or
 * 2p and so on, 3hub or 3-hub, efo2 or k2. */
#ifndef ACQ_REPRODUCE_FOLDER_H
#define ACQ_REPRODUCE_FOLDER_H

#include "base/memory.h"

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

#endif
