/* decimal.h - exact decimal numbers of up to 38 digits. Functions return false when a result has
 * more. */
#ifndef ACQ_SPARQL_DECIMAL_H
#define ACQ_SPARQL_DECIMAL_H

#include "sparql/value.h"

/* [sign] digits ["." digits], at least one digit; *is_valid false: it is none. */
bool acq_decimal_read(const char *text, size_t length, acq_decimal *out, bool *is_valid);
bool acq_decimal_add(acq_decimal a, acq_decimal b, acq_decimal *out);
bool acq_decimal_multiply(acq_decimal a, acq_decimal b, acq_decimal *out);
bool acq_decimal_divide(acq_decimal a, acq_decimal b, acq_decimal *out); /* b is not 0; 18 places */
int acq_decimal_compare(acq_decimal a, acq_decimal b);                   /* -1, 0, 1 */
double acq_decimal_get_double(acq_decimal a);

/* Its canonical text; returns the length. */
enum { ACQ_DECIMAL_TEXT = 48 };
size_t acq_decimal_write(acq_decimal a, bool is_integer, char out[ACQ_DECIMAL_TEXT]);

#endif
