/* http.h - the HTTP server: routes, limits, and what a connection may cost. */
#ifndef ACQ_SERVER_HTTP_H
#define ACQ_SERVER_HTTP_H

#include "server/service.h"

typedef struct acq_http_params {
    acq_service_params service;
    const char *host; /* an address of this machine */
    unsigned port;    /* 0: any that is free */
    unsigned workers; /* questions that are answered at the same time */
    unsigned queue;   /* that wait for a worker; more are refused with 503 */
    unsigned connections;
    size_t most_body;     /* bytes */
    double read_seconds;  /* a client may take to send a request, or to be idle */
    double write_seconds; /* and to take the response */
    const char *token;    /* bearer token that requests must carry; NULL: none */
    const char *origin;   /* CORS: the origin that may read responses; NULL: none */
} acq_http_params;

typedef struct acq_http acq_http;

/* Serves until acq_http_stop, on threads of its own. *port is the one in use. */
acq_status acq_http_start(const acq_http_params *params, acq_http **out, unsigned *port,
                          acq_error *error);

/* Opens the graphs anew; requests under way go on with the old ones. After an error the old ones
 * stay. */
acq_status acq_http_reload(acq_http *http, acq_error *error);

/* No new connections; requests under way have `grace` seconds to end, then they are stopped. */
void acq_http_stop(acq_http *http, double grace);

#endif
