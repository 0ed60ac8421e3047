/* protocol.h - the SPARQL 1.1 Protocol: a query and an Accept header in, a document out. */
#ifndef ACQ_SERVER_PROTOCOL_H
#define ACQ_SERVER_PROTOCOL_H

#include "base/text.h"
#include "server/service.h"

/* What goes back: text, or where there is something wrong the object. */
typedef struct acq_reply {
    int status;
    const char *type;
    acq_text text;
    json_t *failure; /* NULL: text */
} acq_reply;

typedef struct acq_protocol_request {
    const json_t *arguments; /* query, time, min_p, ...; others are not heeded */
    const char *graph;       /* name; NULL: the first */
    const char *accept;      /* NULL: none was sent */
    const char *host;        /* as the client calls the server; NULL: not known */
    bool is_get;             /* without a query it asks for the description of the service */
} acq_protocol_request;

void acq_protocol_answer(const acq_call *call, const acq_protocol_request *request,
                         acq_reply *reply);

#endif
