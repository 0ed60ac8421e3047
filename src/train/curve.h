/* curve.h - what a training went through, as CSV and as a picture. */
#ifndef ACQ_TRAIN_CURVE_H
#define ACQ_TRAIN_CURVE_H

#include "base/types.h"

typedef struct acq_curve_point {
    uint64_t seed, batch, episodes;
    double seconds;
    double solved; /* share of the episodes since the point before, 0 to 1 */
    double reward; /* their mean reward */
    double steps;  /* their mean number of steps */
    double loss, norm, rate;
    double hub_solved;  /* of hub-like queries; NAN: none yet */
    double held_solved; /* search success on generated queries kept aside; NAN: not measured here */
} acq_curve_point;

typedef struct acq_curve {
    acq_curve_point *points;
    size_t n, capacity;
} acq_curve;

void acq_curve_deinit(acq_curve *curve);
acq_status acq_curve_add(acq_curve *curve, const acq_curve_point *point);

/* One line per point, a header line first; NAN is an empty field. */
acq_status acq_curve_write_csv(const acq_curve *curve, const char *path, acq_error *error);
/* Does the file begin as write_csv begins one? */
bool acq_curve_is_one(const char *path);
/* Reads back what write_csv wrote, for --resume. */
acq_status acq_curve_read_csv(acq_curve *curve, const char *path, acq_error *error);
/* Solved rates against episodes, one line per seed, readable without colours; text as text. */
acq_status acq_curve_write_svg(const acq_curve *curve, const char *title, const char *path,
                               acq_error *error);

#endif
