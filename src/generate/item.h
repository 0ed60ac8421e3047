/* item.h - inside generate: one try, and what becomes of it. */
#ifndef ACQ_GENERATE_ITEM_H
#define ACQ_GENERATE_ITEM_H

#include "generate/base.h"
#include "generate/labels.h"

typedef enum acq_generate_kind {
    ACQ_GENERATE_QAC,
    ACQ_GENERATE_QAR,
    ACQ_GENERATE_SMALL,
    ACQ_GENERATE_CQA,
} acq_generate_kind;

typedef enum acq_item_fate {
    ACQ_ITEM_GOOD,
    ACQ_ITEM_UNFIT,     /* no query at the place that was drawn */
    ACQ_ITEM_EASY_ONLY, /* no hard answer */
    ACQ_ITEM_COSTLY,    /* not all answers could be listed */
    ACQ_ITEM_NO_SET,    /* no candidates to choose from */
} acq_item_fate;

/* A query with its labels, ready to be written. */
typedef struct acq_item {
    acq_item_fate fate;
    acq_text formula; /* the key of the benchmark's file; cqa: the type */
    acq_text body;    /* the instance, or with names a line for the query and one for each label */
    acq_generate_report counts; /* of this query alone */
} acq_item;

void acq_item_deinit(acq_item *item);

typedef struct acq_item_source {
    const acq_generate_params *params; /* settled */
    acq_generate_kind kind;
    acq_base_params base;
    acq_worlds_pair worlds;
    const acq_sampler *sampler; /* of the complete graph */
} acq_item_source;

/* Try number `number`: type is that of small and cqa, is_negative that of qar. */
typedef struct acq_item_wish {
    uint64_t number;
    unsigned type;
    bool is_negative;
} acq_item_wish;

acq_status acq_item_make(const acq_item_source *source, acq_base_room *room, acq_item_wish wish,
                         acq_item *out, acq_error *error);

#endif
