/* writer.h - what the functions that change a store share.
 *
 *   begin ─▶ the catalog is read, an older format upgraded ─▶ changes ─▶ end: rows of touched
 *   relations and meta written, if anything changed, and committed; or everything undone
 *
 * One transaction per call, BEGIN IMMEDIATE: from begin to end nobody else writes. */
#ifndef ACQ_STORE_WRITER_H
#define ACQ_STORE_WRITER_H

#include "store/catalog.h"

/* The links of an even relation without the changes, kept between calls: they stay as they are
 * until a compaction, and their sum tells. */
typedef struct acq_writer_base {
    acq_links *links; /* NULL: not loaded */
    uint64_t sum;
} acq_writer_base;

struct acq_store_writer {
    acq_db db;
    acq_entity_finder finder;
    sqlite3_stmt *find_change, *put_change, *drop_change, *put_entity, *put_pair;

    /* In a transaction: */
    acq_catalog catalog;
    bool is_changed;  /* meta must be written */
    bool *is_touched; /* by pair: its row must be written */
    size_t touched_capacity;

    acq_writer_base *bases; /* by pair */
    size_t n_bases, bases_capacity;
    int n_logged; /* pages in the -wal file after the last commit */

    acq_progress_fn progress; /* of compactions; may be NULL */
    void *context;
};

acq_status acq_writer_begin(acq_store_writer *writer, acq_error *error);

/* Commits when status is ACQ_OK; undoes everything otherwise, or when the commit fails. Returns
 * what came of it. */
acq_status acq_writer_end(acq_store_writer *writer, acq_status status, acq_error *error);

/* To be called before a pair changes. */
void acq_writer_touch(acq_store_writer *writer, size_t i_pair);

/* A new pair of relations in the catalog, touched. */
acq_status acq_writer_add_pair(acq_store_writer *writer, const char *key, size_t length,
                               acq_error *error);

/* The links of an even relation as the last compaction left them. */
acq_status acq_writer_open_base(acq_store_writer *writer, size_t i_pair, const acq_links **out,
                                acq_error *error);

/* Folds changes until they are all gone; *n_folded counts them. */
acq_status acq_writer_fold(acq_store_writer *writer, uint64_t *n_folded, acq_error *error);

#endif
