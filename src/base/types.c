/* types.c - writing error details; see types.h for the contract. */
#include "base/types.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

ACQ_PRINTF(5, 0)
static void record(acq_error *error, acq_status code, size_t line, size_t column,
                   const char *format, va_list args)
{
    if (error == NULL || error->code != ACQ_OK)
        return;
    error->code = code;
    error->line = line;
    error->column = column;
    acq_format_list(error->message, sizeof error->message, format, args);
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

void acq_error_clear(acq_error *error)
{
    if (error != NULL)
        *error = (acq_error){0};
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

void acq_sized_init(void *caller, size_t size, const void *own, size_t own_size)
{
    if (caller == NULL || size < sizeof size)
        return;
    memset(caller, 0, size);
    memcpy(caller, own, least(size, own_size));
    memcpy(caller, &size, sizeof size);
}

static bool is_zero(const unsigned char *bytes, size_t n)
{
    size_t i = 0;
    while (i < n && bytes[i] == 0)
        i++;
    return i == n;
}

acq_status acq_sized_read(const char *function, const void *caller, void *own, size_t own_size,
                          acq_error *error)
{
    size_t size;
    if (caller == NULL)
        return ACQ_OK;
    memcpy(&size, caller, sizeof size);
    if (size < sizeof size)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "%s: the size of params is not set; begin with its _init", function);
    if (size > own_size && !is_zero((const unsigned char *)caller + own_size, size - own_size))
        return acq_fail(error, ACQ_ERR_USAGE,
                        "%s: params has a field that version %s of the library does not know",
                        function, ACQ_VERSION);
    memcpy(own, caller, least(size, own_size));
    memcpy(own, &own_size, sizeof own_size);
    return ACQ_OK;
}

void acq_sized_fill(void *caller, const void *own, size_t own_size)
{
    size_t size;
    if (caller == NULL)
        return;
    memcpy(&size, caller, sizeof size);
    if (size >= sizeof size)
        acq_sized_init(caller, size, own, own_size);
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
