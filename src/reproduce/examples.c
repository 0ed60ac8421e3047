/* examples.c - the paper's figure of query graphs: the first formula of each 3-hub file with one
 * free variable, and the largest of its first hundred, as QUERY-SET-SPLIT-1.svg and -2.svg. */
#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "reproduce/models.h"
#include "reproduce/render.h"

enum { PICTURES = 2, MOST_FORMULAS = 100 };

static const char *make_path(acq_repro_plan *plan, const acq_repro_subject *subject, int i)
{
    char slug[96];
    size_t n = 0;
    for (const char *c = subject->name; *c != '\0' && n + 1 < sizeof slug; c++)
        slug[n++] = isalnum((unsigned char)*c) ? *c : '-';
    slug[n] = '\0';
    return acq_repro_print(plan, "%s/query-%s-%s-%d.svg", plan->settings->output, slug,
                           subject->split, i + 1);
}

/* The picture goes to a file of its own and from there into the page. */
static acq_status add_picture(acq_text *out, const char *formula, const char *path,
                              acq_error *error)
{
    char *bytes;
    size_t length;
    acq_status status = acq_draw(formula, path, error);
    if (status == ACQ_OK)
        status = acq_file_read(path, &bytes, &length, error);
    if (status != ACQ_OK)
        return status;
    acq_text_add_bytes(out, bytes, length);
    acq_free(bytes);
    return ACQ_OK;
}

static void choose(const acq_json *file, const char *formulas[PICTURES])
{
    size_t n = 0, longest = 0;
    for (const acq_json *f = file->first; f != NULL && n < MOST_FORMULAS; f = f->next, n++) {
        size_t length = strlen(f->name);
        if (n == 0)
            formulas[0] = f->name;
        else if (length > longest) {
            longest = length;
            formulas[1] = f->name;
        }
    }
}

static acq_status add_pictures(acq_text *out, acq_repro_plan *plan,
                               const acq_repro_subject *subject, const acq_json *file,
                               acq_error *error)
{
    const char *formulas[PICTURES] = {0};
    acq_status status = ACQ_OK;
    if (file->kind != ACQ_JSON_OBJECT)
        return ACQ_OK;
    choose(file, formulas);
    for (int i = 0; i < PICTURES && status == ACQ_OK; i++) {
        const char *path = make_path(plan, subject, i);
        acq_error own = {0};
        if (path == NULL)
            return acq_fail_memory(error);
        if (formulas[i] == NULL)
            continue;
        status = add_picture(out, formulas[i], path, &own);
        if (status == ACQ_ERR_IO || status == ACQ_ERR_MEMORY)
            return acq_fail(error, status, "%s", own.message);
        status = ACQ_OK; /* a formula that cannot be drawn is none to show */
    }
    return status;
}

acq_status acq_repro_add_examples(acq_text *out, acq_repro_plan *plan,
                                  const acq_repro_subject *subject, acq_error *error)
{
    const acq_repro_file *questions = &subject->qar[ACQ_PART_3hub][0];
    char *bytes;
    size_t length, n_repeated;
    acq_arena arena;
    const acq_json *file;
    if (questions->hash == 0)
        return ACQ_OK;
    acq_status status = acq_file_read(questions->path, &bytes, &length, error);
    if (status != ACQ_OK)
        return status;
    acq_arena_init(&arena);
    if (acq_json_parse_loose(bytes, length, &arena, &file, &n_repeated, NULL) == ACQ_OK)
        status = add_pictures(out, plan, subject, file, error);
    acq_arena_deinit(&arena);
    acq_free(bytes);
    return status;
}
