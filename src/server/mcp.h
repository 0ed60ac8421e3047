/* mcp.h - the Model Context Protocol: tools for assistants, one JSON-RPC message at a time.
 *
 * Two revisions, told apart by what a request carries: 2026-07-28 has the protocol's version in
 * params._meta of every request, and no handshake; 2025-11-25 and before begin with `initialize`.
 * Nothing is remembered between messages. */
#ifndef ACQ_SERVER_MCP_H
#define ACQ_SERVER_MCP_H

#include "server/service.h"

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
