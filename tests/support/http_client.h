/* http_client.h - tests: starts `anycq serve` on a free port, and talks to it by plain sockets. One
 * server at a time. */
#ifndef ACQ_TESTS_SUPPORT_HTTP_CLIENT_H
#define ACQ_TESTS_SUPPORT_HTTP_CLIENT_H

#include <stddef.h>
#include <sys/types.h>

/* options: further ones, NULL at the end. Ends the test when it does not start. */
pid_t http_client_start(const char *program, const char *graph, const char *const *options);

/* A connection to it. */
int http_client_open(void);
void http_client_send(int s, const char *bytes, size_t n);

/* The status of the first response; 0: the connection was closed, or nothing came in 4 seconds.
 * body (may be NULL) gets the whole of it, with its head, as far as there is room. */
int http_client_read(int s, char *body, size_t room);

/* Sends a request with a JSON body (NULL: GET without one) and gives the body of the response, for
 * free(), which may be of any size; *status is its status. */
char *http_client_ask(const char *path, const char *headers, const char *json, int *status);

double http_client_now(void); /* seconds */

#endif
