/* types.c - writing error details; see types.h for the contract. */
#include "base/types.h"

#include <stdio.h>
#include <string.h>

static void record(acq_error *error, acq_status code, size_t line, size_t column,
                   const char *format, va_list args)
{
    if (error == NULL || error->code != ACQ_OK)
        return;
    error->code = code;
    error->line = line;
    error->column = column;
    vsnprintf(error->message, sizeof error->message, format, args);
}

acq_status acq_fail(acq_error *error, acq_status code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    record(error, code, 0, 0, format, args);
    va_end(args);
    return code;
}

acq_status acq_fail_at(acq_error *error, acq_status code, size_t line, size_t column,
                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    record(error, code, line, column, format, args);
    va_end(args);
    return code;
}

acq_status acq_fail_memory(acq_error *error)
{
    return acq_fail(error, ACQ_ERR_MEMORY, "out of memory");
}

void acq_error_set_file(acq_error *error, const char *file)
{
    if (error != NULL && error->code != ACQ_OK && error->file[0] == '\0')
        snprintf(error->file, sizeof error->file, "%s", file);
}

const char *acq_status_name(acq_status status)
{
    switch (status) {
    case ACQ_OK:
        return "ok";
    case ACQ_ERR_USAGE:
        return "usage";
    case ACQ_ERR_PARSE:
        return "parse";
    case ACQ_ERR_INPUT:
        return "input";
    case ACQ_ERR_NAME:
        return "unknown name";
    case ACQ_ERR_LIMIT:
        return "limit";
    case ACQ_ERR_IO:
        return "input/output";
    case ACQ_ERR_MEMORY:
        return "memory";
    case ACQ_ERR_INTERRUPTED:
        return "interrupted";
    case ACQ_ERR_INTERNAL:
        break;
    }
    return "internal";
}
