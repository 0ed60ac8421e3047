/* text.c - see text.h. */
#include "base/text.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

void acq_text_init(acq_text *text)
{
    *text = (acq_text){0};
}

void acq_text_deinit(acq_text *text)
{
    acq_free(text->bytes);
    *text = (acq_text){0};
}

void acq_text_clear(acq_text *text)
{
    text->length = 0;
    text->failed = false;
    if (text->bytes != NULL)
        text->bytes[0] = '\0';
}

void acq_text_add_bytes(acq_text *text, const char *bytes, size_t length)
{
    size_t need = text->length + length + 1;
    if (text->failed || ACQ_RESERVE(text->bytes, text->capacity, need) != ACQ_OK) {
        text->failed = true;
        return;
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

void acq_text_add(acq_text *text, const char *piece)
{
    acq_text_add_bytes(text, piece, strlen(piece));
}

void acq_text_add_char(acq_text *text, char c)
{
    acq_text_add_bytes(text, &c, 1);
}

void acq_text_format(acq_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    size_t need = text->length + (size_t)(length < 0 ? 0 : length) + 1;
    if (length < 0 || text->failed || ACQ_RESERVE(text->bytes, text->capacity, need) != ACQ_OK) {
        text->failed = true;
        return;
    }
    va_start(args, format);
    vsnprintf(text->bytes + text->length, (size_t)length + 1, format, args);
    va_end(args);
    text->length += (size_t)length;
}

acq_status acq_text_finish(const acq_text *text, acq_error *error)
{
    return text->failed ? acq_fail_memory(error) : ACQ_OK;
}

acq_status acq_text_take(acq_text *text, char **out, acq_error *error)
{
    acq_text_add_bytes(text, "", 0);
    if (acq_text_finish(text, error) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    *out = text->bytes;
    *text = (acq_text){0};
    return ACQ_OK;
}
