/* types.h - the words that every module speaks: ids, status codes, error details.
 *
 * Fallible functions return acq_status and describe the failure in an optional
 * acq_error. The first message wins: a caller that adds context never overwrites
 * the reason. "No answer" and "budget spent" are results, never errors. */
#ifndef ACQ_BASE_TYPES_H
#define ACQ_BASE_TYPES_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "anycq.h"

#define ACQ_NO_ID UINT32_MAX /* no such entity, relation, variable, row */

typedef uint32_t acq_var;

#if defined(__GNUC__)
#define ACQ_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define ACQ_PRINTF(text, first)
#endif

/* Records code and message unless *error already holds one; returns code, so that
 * `return acq_fail(error, ACQ_ERR_INPUT, "...")` reads as one act. error may be NULL. */
acq_status acq_fail(acq_error *error, acq_status code, const char *format, ...) ACQ_PRINTF(3, 4);

/* The same with a place in the input: line and column count from 1, 0 means unknown. */
acq_status acq_fail_at(acq_error *error, acq_status code, size_t line, size_t column,
                       const char *format, ...) ACQ_PRINTF(5, 6);

/* The one message for a failed allocation. */
acq_status acq_fail_memory(acq_error *error);

/* Names the file the error was found in, once. */
void acq_error_set_file(acq_error *error, const char *file);

/* Refuses a public function's NULL argument by both their names. */
#define ACQ_REQUIRE(argument, error)                                                               \
    do {                                                                                           \
        if ((argument) == NULL)                                                                    \
            return acq_fail(error, ACQ_ERR_USAGE, "%s: %s is NULL", __func__, #argument);          \
    } while (0)

/* The structs of anycq.h that begin with their size, so that the caller's may have fewer fields
 * than ours (an older header) or more (a newer one). init    defaults into the caller's struct;
 * NULL is legal read    the caller's fields over the defaults in *own; given NULL: these stay. A
 * field that we do not know must be 0, as init left it. fill    our fields into the caller's
 * struct; NULL is legal */
void acq_sized_init(void *caller, size_t size, const void *own, size_t own_size);
acq_status acq_sized_read(const char *function, const void *caller, void *own, size_t own_size,
                          acq_error *error);
void acq_sized_fill(void *caller, const void *own, size_t own_size);

/* inverse(r) = r xor 1: relations come in pairs everywhere. */
static inline acq_rel acq_inverse(acq_rel relation)
{
    return relation ^ 1U;
}

#endif
