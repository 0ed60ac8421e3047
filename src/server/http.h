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

/* No new connections; waits until requests under way have ended, `grace` seconds at most. Gives the
 * socket that listened: for a process that ends now. */
int acq_http_finish(acq_http *http, double grace);

/* The same; requests that are not through then are stopped. */
void acq_http_stop(acq_http *http, double grace);

/* ---- mcp ----
 *
 * The Model Context Protocol: tools for assistants, one JSON-RPC message at a time.
 *
 * Two revisions, told apart by what a request carries: 2026-07-28 has the protocol's version in
 * params._meta of every request, and no handshake; 2025-11-25 and before begin with `initialize`.
 * Nothing is remembered between messages. */

enum { ACQ_MCP_MOST_MESSAGE = 1 << 20 };

/* One message, and how it came. */
typedef struct acq_mcp_request {
    const char *message;
    size_t length;
    bool is_http;        /* then the stateless revision wants the three headers: */
    const char *version; /* MCP-Protocol-Version; NULL: was not sent */
    const char *method;  /* Mcp-Method */
    const char *name;    /* Mcp-Name: of the tool that is called */
} acq_mcp_request;

/* The response as one line without its end, for free(); NULL: none is due. *status is HTTP's. */
char *acq_mcp_answer(const acq_call *call, const acq_mcp_request *request, int *status);

/* Messages from standard input, one a line, until it ends; responses to standard output. */
acq_status acq_mcp_serve(acq_served *served, acq_error *error);

#endif
