/* routes.h - inside the room: a request and its connection, which http.c keeps, and what is
 * answered, which routes.c knows. */
#ifndef ACQ_SERVER_ROUTES_H
#define ACQ_SERVER_ROUTES_H

#include <microhttpd.h>
#include <netinet/in.h>

#include "server/http.h"
#include "server/parts.h"

typedef enum acq_phase { ACQ_READING, ACQ_WORKING, ACQ_WRITING } acq_phase;

typedef struct acq_connection {
    acq_http *http;
    int socket;
    struct sockaddr_in client; /* at the other end of it */
    _Atomic(acq_phase) phase;
    _Atomic int64_t since_ns;
    bool is_cut;
    struct acq_connection *next, *previous;
} acq_connection;

struct acq_http {
    acq_http_params params;
    acq_served served;
    struct MHD_Daemon *daemon;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t is_free;
    unsigned working, waiting;
    acq_connection *connections;
    pthread_t watchdog;
    atomic_bool is_stopping, must_end;
    _Atomic uint64_t requests, refused, errors, served_ns;
};

/* One request. */
typedef struct acq_request {
    acq_connection *from;
    acq_text body;
    bool is_begun, is_too_large;
    bool has_nul;    /* in its URL */
    bool must_close; /* where its end is, or whom it is for, can be read in two ways */
    bool is_post_only;
    bool is_place_taken; /* a worker's, by a stream of lines, which gives it back */
} acq_request;

/* A worker's place; false: too many wait already. */
bool acq_http_take_place(acq_http *http);
void acq_http_give_place(acq_http *http);

void acq_connection_set_phase(acq_connection *c, acq_phase now);

/* Has the client gone, or the server been told to end? For acq_call. */
bool acq_connection_is_over(void *context);

/* What the path asks for. */
enum MHD_Result acq_route(acq_request *r, struct MHD_Connection *to, const char *path,
                          const char *method);

/* Takes the bytes of the text. */
enum MHD_Result acq_send_bytes(acq_request *r, struct MHD_Connection *to, int status,
                               const char *type, acq_text *text);
enum MHD_Result acq_send_error(acq_request *r, struct MHD_Connection *to, int status,
                               const char *message);
enum MHD_Result acq_send_page(acq_request *r, struct MHD_Connection *to, const acq_page_file *file);

#endif
