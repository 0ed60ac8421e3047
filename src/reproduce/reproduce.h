/* reproduce.h - every table and figure of the AnyCQ paper from a folder of graphs and query files,
 * ours beside the published rows.
 *
 *   paper.h   what there is, and the tables as data
 *   plan.h    rows into jobs       models.h  the links that rows need, made where not given
 *   run.c     jobs into results, each kept in DIR/jobs as it is done
 *   render.h  results into Markdown, CSV, SVG and one page
 *
 * A client of anycq.h: what it measures, anybody can measure with the same calls. */
#ifndef ACQ_REPRODUCE_REPRODUCE_H
#define ACQ_REPRODUCE_REPRODUCE_H

#include "base/types.h"

/* What is going on; borrowed, for the time of the call. */
typedef struct acq_repro_news {
    const char *what;          /* the job, or the model that is made */
    size_t done, total;        /* jobs */
    double seconds;            /* of a job that has just ended; below 0: it is under way */
    double left;               /* estimate for all the rest; below 0: not known yet */
    const acq_progress *inner; /* how far the job is; NULL: not told */
} acq_repro_news;

typedef struct acq_repro_settings {
    const char *folder;
    const char *output;   /* a folder, made where it is missing */
    const char *models;   /* a folder with models that are given; NULL: none */
    const char *commit;   /* of the build */
    const char *tables;   /* 'qac,perfect': only these; NULL: all */
    bool quick;           /* a sample of every table */
    uint64_t first;       /* instances of each file; 0: all, quick a few */
    double model_seconds; /* for each training; 0: 12 minutes, quick 30 seconds */
    double seconds;       /* for everything; 0: no limit, quick 14 minutes */
    uint64_t seed;
    unsigned threads; /* 0: as many as the machine has */
    /* False stops. `note` gets a sentence. */
    bool (*tell)(void *context, const acq_repro_news *news);
    void (*note)(void *context, const char *text);
    void *context;
} acq_repro_settings;

/* The questions of one data set about one split, for whoever wants to ask them otherwise; borrowed,
 * for the time of the call. */
typedef struct acq_repro_questions {
    const char *name, *folder, *observed_split, *split;
    const char **qac, **qar; /* paths */
    size_t n_qac, n_qar;
} acq_repro_questions;

/* What returns another status than ACQ_OK ends the listing. */
typedef acq_status (*acq_repro_questions_fn)(void *context, const acq_repro_questions *questions,
                                             acq_error *error);

acq_status acq_repro_each(const char *path, acq_repro_questions_fn visit, void *context,
                          acq_error *error);

typedef struct acq_repro_report {
    size_t n_jobs, n_run, n_kept, n_failed;
    size_t n_left_out; /* things that the tables lack */
    double seconds;
} acq_repro_report;

/* ACQ_ERR_INTERRUPTED when `tell` stopped it: what was done by then is kept and shown, and the same
 * call goes on. A job that fails is left out by name; only a folder without data sets, or an
 * output that cannot be written, is an error. */
acq_status acq_reproduce(const acq_repro_settings *given, acq_repro_report *report,
                         acq_error *error);

#endif
