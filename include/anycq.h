/* anycq.h - placeholder until the engine lands. */
#ifndef ANYCQ_H
#define ANYCQ_H
#include <stddef.h>
#include <stdint.h>
typedef uint32_t acq_ent; /* an entity of a graph, 0 .. n-1 */
typedef uint32_t acq_rel; /* a relation; r xor 1 is its inverse */
typedef enum acq_status {
    ACQ_OK = 0,
    ACQ_ERR_USAGE,    /* an argument or option is wrong */
    ACQ_ERR_PARSE,    /* a text cannot be read: line and column say where */
    ACQ_ERR_INPUT,    /* a file's content is wrong */
    ACQ_ERR_NAME,     /* no such entity or relation */
    ACQ_ERR_LIMIT,    /* a stated limit is exceeded */
    ACQ_ERR_IO,       /* the system could not read or write */
    ACQ_ERR_MEMORY,   /* out of memory */
    ACQ_ERR_INTERNAL, /* a bug: please report it */
} acq_status;
typedef struct acq_error {
    acq_status code;
    size_t line;       /* from 1; 0: unknown */
    size_t column;     /* from 1, in bytes; 0: unknown */
    char file[256];    /* "" when no file is involved */
    char message[512]; /* one sentence, with the remedy */
} acq_error;
const char *acq_status_name(acq_status status);
#endif
