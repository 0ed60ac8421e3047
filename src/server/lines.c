/* lines.c - see parts.h. */
#include "server/parts.h"

#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

struct acq_lines {
    acq_lines_params params;
    acq_service *service;
    json_t *arguments;
    acq_call call;
    acq_asking *asking;
    pthread_t thread;
    bool has_thread;
    atomic_bool is_unwanted;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    acq_text text; /* lines that are not sent yet, from `at` on */
    size_t at;
    bool is_done;
};

static bool is_over(void *context)
{
    acq_lines *s = context;
    return s->is_unwanted || s->params.is_over(s->params.context);
}

static bool add_line(void *context, const char *kind, const char *json, size_t length)
{
    acq_lines *s = context;
    pthread_mutex_lock(&s->lock);
    acq_text_format(&s->text, "{\"%s\":", kind);
    acq_text_add_bytes(&s->text, json, length);
    acq_text_add(&s->text, "}\n");
    bool is_good = !s->text.failed && !s->is_unwanted;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return is_good;
}

static void *run(void *context)
{
    acq_lines *s = context;
    acq_asking_run(s->asking, add_line, s);
    s->params.end(s->params.context);
    pthread_mutex_lock(&s->lock);
    s->is_done = true;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

acq_lines *acq_lines_new(acq_service *service, acq_served *served, json_t *arguments,
                         const acq_lines_params *params, json_t **failure, int *status)
{
    acq_lines *s = acq_zalloc(1, sizeof *s);
    *failure = NULL;
    if (s == NULL) {
        acq_service_leave(service);
        json_decref(arguments);
        *failure = acq_service_fail(503, "memory", "out of memory", status);
        return NULL;
    }
    s->params = *params;
    s->service = service;
    s->arguments = arguments;
    s->call = (acq_call){.service = service, .served = served, .is_over = is_over, .context = s};
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->asking = acq_asking_new(&s->call, arguments, failure, status);
    if (s->asking != NULL && pthread_create(&s->thread, NULL, run, s) != 0)
        *failure = acq_service_fail(503, "memory", "no thread is free", status);
    s->has_thread = *failure == NULL;
    if (*failure == NULL)
        return s;
    acq_lines_free(s);
    return NULL;
}

size_t acq_lines_read(acq_lines *s, char *out, size_t room)
{
    pthread_mutex_lock(&s->lock);
    while (s->at == s->text.length && !s->is_done)
        pthread_cond_wait(&s->changed, &s->lock);
    size_t n = s->text.length - s->at;
    n = n > room ? room : n;
    if (n > 0)
        memcpy(out, s->text.bytes + s->at, n);
    s->at += n;
    if (s->at == s->text.length) {
        acq_text_clear(&s->text);
        s->at = 0;
    }
    pthread_mutex_unlock(&s->lock);
    return n;
}

void acq_lines_free(acq_lines *s)
{
    if (s == NULL)
        return;
    s->is_unwanted = true;
    if (s->has_thread)
        pthread_join(s->thread, NULL);
    acq_asking_free(s->asking);
    acq_service_leave(s->service);
    json_decref(s->arguments);
    acq_text_deinit(&s->text);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
    acq_free(s);
}
