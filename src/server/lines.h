/* lines.h - a response that grows: one thread asks and writes lines, the connection's thread sends
 * them. So a slow client keeps nobody's place, and the lines come as they are found. */
#ifndef ACQ_SERVER_LINES_H
#define ACQ_SERVER_LINES_H

#include "server/service.h"

typedef struct acq_lines acq_lines;

typedef struct acq_lines_params {
    bool (*is_over)(void *context); /* asked now and then; true ends the question */
    void (*end)(void *context);     /* told by the thread that asked, when it has */
    void *context;
} acq_lines_params;

/* Takes arguments and a use of the service, also on failure: then *failure and *status tell. */
acq_lines *acq_lines_new(acq_service *service, acq_served *served, json_t *arguments,
                         const acq_lines_params *params, json_t **failure, int *status);

/* Waits for bytes: how many, 0 at the end. */
size_t acq_lines_read(acq_lines *lines, char *out, size_t room);

/* Ends the question. */
void acq_lines_free(acq_lines *lines);

#endif
