/* report.h - what the user gets to read: data on stdout, errors and notes on stderr.
 *
 * A command writes to an acq_output and flushes it, so that queries answered by several threads
 * come out whole and in order. With --json an error is also an object on stdout:
 * {"error":{"code":...,"file":...,"line":...,"column":...,"message":...}}. */
#ifndef ACQ_CLI_REPORT_H
#define ACQ_CLI_REPORT_H

#include <jansson.h>

#include "base/text.h"
#include "cli/options.h"

typedef struct acq_output {
    acq_text data;  /* for stdout */
    acq_text notes; /* for stderr */
    bool streams;   /* nobody else prints meanwhile: long output may go out in pieces */
} acq_output;

void acq_output_init(acq_output *output);
void acq_output_deinit(acq_output *output);

/* Writes both and empties them. Returns `code`, or ACQ_EXIT_SYSTEM when memory ran out on the way
 * or stdout could not be written, which is then said on stderr. */
int acq_output_flush(acq_output *output, int code);

/* Writes what has gathered when it is much and the output streams. What cannot be written is
 * noticed by the flush at the end. */
void acq_output_relieve(acq_output *output);

/* The same for notes, at once however few they are. */
void acq_output_relieve_notes(acq_output *output);

/* Flush and deinit. */
int acq_output_finish(acq_output *output, int code);

/* "anycq: note: ..." */
void acq_report_note(acq_output *output, const char *format, ...) ACQ_PRINTF(2, 3);

/* "anycq: FILE:LINE:COLUMN: message", the parts that are known, and below it the line of `source`
 * (the text the column counts in; NULL: none) with a mark. Returns the exit code. */
int acq_report_error(acq_output *output, const acq_options *options, const acq_error *error,
                     const char *source);

/* The same for a command that writes a file; an interrupt, wherever it was noticed, is said in the
 * same words. */
int acq_report_stop(acq_output *output, const acq_options *options, const acq_error *error);

/* For commands that fail before they have an output: reports and flushes. */
int acq_report_failure(const acq_options *options, const acq_error *error);

/* What a path is called in messages: "-" is standard input. */
const char *acq_report_name_file(const char *path);

int acq_report_get_exit_code(acq_status status);

/* The worse of two exit codes: 4, 2, 3, 1, 0. */
int acq_report_worse(int a, int b);

/* At the start of the program: from then on JSON that memory was missing for fails (acq_json_add)
 * instead of lacking members. Holds for the whole process, as jansson's allocator does. */
void acq_json_init(void);

/* JSON values from our strings and numbers. Built with jansson; NULL, its sign of a failed
 * allocation, passes through every call and makes the line fail as a whole. Bytes that are no UTF-8
 * become U+FFFD: JSON cannot hold them. */
json_t *acq_json_text(const char *text);

json_t *acq_json_count(uint64_t n);
json_t *acq_json_hash(uint64_t hash); /* 16 hexadecimal digits */

/* What reading found, as members of `object`. */
void acq_json_set_read(json_t *object, const acq_read_report *report);

/* Appends value and releases it; a failure shows in acq_text_finish. */
void acq_json_add(acq_text *out, json_t *value);

/* Appends value as one line and releases it; a failure shows in acq_text_finish. */
void acq_json_add_line(acq_text *out, json_t *value);

#endif
