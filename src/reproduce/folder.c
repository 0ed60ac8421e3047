/* folder.c - see paper.h. */
#include "reproduce/paper.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "reproduce/reproduce.h"

enum { MOST_WORD = 16, TYPES = 6 };

static const char *const split_names[] = {"train", "valid", "test"};

static const struct {
    const char *name, *type; /* as the benchmark numbers it */
} parts[ACQ_N_PARTS] = {
    {"2p", "type0001"}, {"3p", "type0002"},  {"pi", "type0006"},
    {"ip", "type0005"}, {"inp", "type0009"}, {"pin", "type0010"},
    {"3-hub", "3hub"},  {"4-hub", "4hub"},   {"5-hub", "5hub"},
};

const char *acq_repro_part_get_name(acq_repro_part part)
{
    return parts[part].name;
}

acq_status acq_repro_hash_file(const char *path, uint64_t *out, acq_error *error)
{
    char *bytes;
    size_t length;
    acq_status status = acq_file_read(path, &bytes, &length, error);
    if (status != ACQ_OK)
        return status;
    *out = acq_hash_bytes(bytes, length, 0) | 1; /* 0 means no file */
    acq_free(bytes);
    return ACQ_OK;
}

ACQ_PRINTF(2, 0)
static const char *print(acq_repro_folder *folder, const char *format, va_list args)
{
    char buffer[1024];
    int length = acq_format_list(buffer, sizeof buffer, format, args);
    size_t n = length < 0 ? 0 : (size_t)length;
    return acq_arena_copy_string(&folder->arena, buffer, n < sizeof buffer ? n : sizeof buffer - 1);
}

acq_status acq_repro_leave_out(acq_repro_folder *folder, acq_error *error, const char *why,
                               const char *what, ...)
{
    va_list args;
    va_start(args, what);
    const char *text = print(folder, what, args);
    va_end(args);
    acq_repro_omission *one = acq_arena_zalloc(&folder->arena, 1, sizeof *one);
    char *reason = acq_arena_copy_string(&folder->arena, why, strlen(why));
    if (text == NULL || one == NULL || reason == NULL)
        return acq_fail_memory(error);
    for (acq_repro_omission *o = folder->omissions; o != NULL; o = o->next)
        if (strcmp(o->what, text) == 0 && strcmp(o->why, reason) == 0)
            return ACQ_OK;
    *one = (acq_repro_omission){.what = text, .why = reason};
    *(folder->last_omission == NULL ? &folder->omissions : &folder->last_omission->next) = one;
    folder->last_omission = one;
    return ACQ_OK;
}

/* ---- names of files ---- */

typedef struct file_kind {
    bool is_qac, is_qar, is_test;
    int part; /* ACQ_N_PARTS: not said */
    int k;    /* 0: not said */
} file_kind;

static void take_word(file_kind *kind, const char *word, const char *before)
{
    kind->is_qac |= strcmp(word, "qac") == 0;
    kind->is_qar |= strcmp(word, "qar") == 0;
    kind->is_test |= strcmp(word, "test") == 0;
    for (int i = 0; i < ACQ_N_PARTS; i++)
        if (strcmp(word, parts[i].name) == 0 || strcmp(word, parts[i].type) == 0)
            kind->part = i;
    if (strcmp(word, "hub") == 0 && before[0] >= '3' && before[0] <= '5' && before[1] == '\0')
        kind->part = ACQ_PART_3hub + (before[0] - '3');
    size_t digits = strcspn(word, "0123456789");
    bool counts = (digits == 1 && word[0] == 'k') || strncmp(word, "efo", digits) == 0;
    if (counts && digits > 0 && strlen(word) == digits + 1)
        kind->k = word[digits] - '0';
}

/* Words of letters and digits, in small letters; what is longer is none that we know. */
static file_kind read_name(const char *name)
{
    file_kind kind = {.part = ACQ_N_PARTS};
    char word[MOST_WORD] = "", before[MOST_WORD] = "";
    size_t length = 0;
    for (const char *c = name;; c++) {
        if (isalnum((unsigned char)*c)) {
            if (length + 1 < MOST_WORD)
                word[length++] = (char)tolower((unsigned char)*c);
            continue;
        }
        word[length] = '\0';
        take_word(&kind, word, before);
        memcpy(before, word, sizeof word);
        length = 0;
        if (*c == '\0')
            return kind;
    }
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), n = strlen(end);
    return length > n && strcmp(name + length - n, end) == 0;
}

/* ---- one data set ---- */

static const char *join(acq_repro_folder *folder, const char *path, const char *name)
{
    size_t length = strlen(path), n = strlen(name);
    char *out = acq_arena_alloc(&folder->arena, length + n + 2, 1);
    if (out == NULL)
        return NULL;
    memcpy(out, path, length);
    while (length > 1 && out[length - 1] == '/')
        length--;
    out[length] = '/';
    memcpy(out + length + 1, name, n + 1);
    return out;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names in a folder but those that begin with a dot, in order. */
static acq_status list(acq_repro_folder *folder, const char *path, const char ***out, size_t *n_out,
                       acq_error *error)
{
    const char **names = NULL;
    size_t n = 0, capacity = 0;
    DIR *open = opendir(path);
    acq_status status = ACQ_OK;
    if (open == NULL) {
        acq_fail(error, ACQ_ERR_IO, "cannot read the folder: %s", strerror(errno));
        acq_error_set_file(error, path);
        return ACQ_ERR_IO;
    }
    for (struct dirent *entry; status == ACQ_OK && (entry = readdir(open)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        status = ACQ_RESERVE(names, capacity, n + 1);
        char *name = acq_arena_copy_string(&folder->arena, entry->d_name, strlen(entry->d_name));
        if (status != ACQ_OK || name == NULL)
            status = acq_fail_memory(error);
        else
            names[n++] = name;
    }
    closedir(open);
    if (n > 1)
        qsort(names, n, sizeof *names, compare_names);
    *out = names;
    *n_out = n;
    return status;
}

/* Is there a graph for this split? Found by the library when it is opened. */
static bool has_graph(const char *const *names, size_t n, const char *split)
{
    static const char *const endings[] = {"_kg.tsv", ".tsv", ".txt", ".csv", ".nt", ".ttl"};
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(split);
        if (strncmp(names[i], split, length) != 0)
            continue;
        for (size_t e = 0; e < sizeof endings / sizeof *endings; e++) {
            const char *rest = names[i] + length;
            size_t n_ending = strlen(endings[e]);
            bool is_begun = strncmp(rest, endings[e], n_ending) == 0;
            if (is_begun && (rest[n_ending] == '\0' || strcmp(rest + n_ending, ".gz") == 0))
                return true;
        }
    }
    return false;
}

/* Published rows are for these two, however their folder is spelt. */
static int find_paper(const char *name)
{
    char small[64] = "";
    for (size_t i = 0, n = 0; name[i] != '\0' && n + 1 < sizeof small; i++)
        if (isalnum((unsigned char)name[i]))
            small[n++] = (char)tolower((unsigned char)name[i]);
    return strncmp(small, "fb15k237", 8) == 0 ? 0 : strncmp(small, "nell", 4) == 0 ? 1 : -1;
}

static const char *base_name(acq_repro_folder *folder, const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    size_t from = length;
    while (from > 0 && path[from - 1] != '/')
        from--;
    return acq_arena_copy_string(&folder->arena, path + from, length - from);
}

/* Puts a file in its place; the first of two for the same place counts. */
static acq_status take_file(acq_repro_folder *folder, acq_repro_subject *subject,
                            const char *file_name, file_kind kind, acq_error *error)
{
    bool is_free = kind.k <= ACQ_MOST_FREE;
    bool is_known = kind.part < ACQ_N_PARTS && is_free &&
                    (kind.is_qac || acq_repro_part_is_hub((acq_repro_part)kind.part));
    if (!is_known)
        return acq_repro_leave_out(folder, error, "no table of the paper has such questions",
                                   "%s: %s", subject->name, file_name);
    acq_repro_file *place = kind.is_qac ? &subject->qac[kind.part]
                                        : &subject->qar[kind.part][kind.k == 0 ? 0 : kind.k - 1];
    if (place->hash != 0)
        return acq_repro_leave_out(folder, error, "another file is for the same questions",
                                   "%s: %s", subject->name, file_name);
    place->path = join(folder, subject->folder, file_name);
    if (place->path == NULL)
        return acq_fail_memory(error);
    return acq_repro_hash_file(place->path, &place->hash, error);
}

static acq_status fill_subject(acq_repro_folder *folder, acq_repro_subject *subject,
                               const char *const *names, size_t n, size_t *n_files,
                               acq_error *error)
{
    acq_status status = ACQ_OK;
    bool is_test = strcmp(subject->split, "test") == 0;
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        file_kind kind = read_name(names[i]);
        if (!ends_with(names[i], ".json") || kind.is_qac == kind.is_qar || kind.is_test != is_test)
            continue;
        (*n_files)++;
        status = take_file(folder, subject, names[i], kind, error);
    }
    return status;
}

static void add_subject(acq_repro_folder *folder, acq_repro_subject *subject)
{
    acq_repro_subject **end = &folder->subjects;
    while (*end != NULL)
        end = &(*end)->next;
    *end = subject;
    folder->n_subjects++;
}

/* split: 1 valid, 2 test. */
static acq_status read_split(acq_repro_folder *folder, const char *path, const char *const *names,
                             size_t n, int split, acq_error *error)
{
    acq_repro_subject *subject = acq_arena_zalloc(&folder->arena, 1, sizeof *subject);
    size_t n_files = 0;
    if (subject == NULL)
        return acq_fail_memory(error);
    *subject = (acq_repro_subject){.name = base_name(folder, path),
                                   .folder = path,
                                   .split = split_names[split],
                                   .observed_split = split_names[split - 1],
                                   .has_complete = has_graph(names, n, split_names[split])};
    if (subject->name == NULL)
        return acq_fail_memory(error);
    subject->paper = find_paper(subject->name);
    acq_status status = fill_subject(folder, subject, names, n, &n_files, error);
    if (status != ACQ_OK || n_files == 0)
        return status;
    if (!has_graph(names, n, subject->observed_split))
        return acq_repro_leave_out(folder, error, "the folder lacks the graph that they observe",
                                   "%s: %zu query files of %s (no %s_kg.tsv or %s.txt)",
                                   subject->name, n_files, subject->split, subject->observed_split,
                                   subject->observed_split);
    add_subject(folder, subject);
    return ACQ_OK;
}

static acq_status read_set(acq_repro_folder *folder, const char *path, bool is_inner,
                           acq_error *error)
{
    const char **names = NULL;
    size_t n = 0, before = folder->n_subjects;
    acq_status status = list(folder, path, &names, &n, error);
    if (status == ACQ_OK)
        status = read_split(folder, path, names, n, 1, error);
    if (status == ACQ_OK)
        status = read_split(folder, path, names, n, 2, error);
    bool is_graph = has_graph(names, n, "train");
    if (status == ACQ_OK && is_inner && is_graph && folder->n_subjects == before) {
        const char *name = base_name(folder, path);
        status = name == NULL
                     ? acq_fail_memory(error)
                     : acq_repro_leave_out(folder, error,
                                           "no query files (qac_valid_3hub.json, ...)", "%s", name);
    }
    acq_free(names);
    return status;
}

static acq_status read_sets(acq_repro_folder *folder, acq_error *error)
{
    const char **names = NULL;
    size_t n = 0;
    acq_status status = list(folder, folder->path, &names, &n, error);
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        const char *path = join(folder, folder->path, names[i]);
        if (path == NULL)
            status = acq_fail_memory(error);
        else if (acq_file_get_kind(path) == ACQ_FILE_FOLDER)
            status = read_set(folder, path, true, error);
    }
    acq_free(names);
    return status;
}

acq_status acq_repro_folder_init(acq_repro_folder *folder, const char *path, acq_error *error)
{
    *folder = (acq_repro_folder){.path = path};
    acq_arena_init(&folder->arena);
    if (acq_file_get_kind(path) != ACQ_FILE_FOLDER) {
        acq_fail(error, ACQ_ERR_INPUT,
                 "this is no folder; give one that holds graphs and query files");
        acq_error_set_file(error, path);
        return ACQ_ERR_INPUT;
    }
    acq_status status = read_set(folder, path, false, error);
    if (status == ACQ_OK && folder->n_subjects == 0)
        status = read_sets(folder, error);
    if (status != ACQ_OK || folder->n_subjects > 0)
        return status;
    acq_fail(error, ACQ_ERR_INPUT,
             "no data set: neither here nor one folder deeper is a graph (train_kg.tsv, "
             "train.txt) with query files (qac_valid_3hub.json, ...)");
    acq_error_set_file(error, path);
    return ACQ_ERR_INPUT;
}

void acq_repro_folder_deinit(acq_repro_folder *folder)
{
    acq_arena_deinit(&folder->arena);
    *folder = (acq_repro_folder){0};
}

static acq_status visit_subject(const acq_repro_subject *subject, acq_repro_questions_fn visit,
                                void *context, acq_error *error)
{
    const char *qac[ACQ_N_PARTS], *qar[ACQ_N_PARTS * ACQ_MOST_FREE];
    acq_repro_questions questions = {.name = subject->name,
                                     .folder = subject->folder,
                                     .observed_split = subject->observed_split,
                                     .split = subject->split,
                                     .qac = qac,
                                     .qar = qar};
    for (int p = 0; p < ACQ_N_PARTS; p++) {
        if (subject->qac[p].hash != 0)
            qac[questions.n_qac++] = subject->qac[p].path;
        for (int k = 0; k < ACQ_MOST_FREE; k++)
            if (subject->qar[p][k].hash != 0)
                qar[questions.n_qar++] = subject->qar[p][k].path;
    }
    return visit(context, &questions, error);
}

acq_status acq_repro_each(const char *path, acq_repro_questions_fn visit, void *context,
                          acq_error *error)
{
    acq_repro_folder folder;
    acq_status status = acq_repro_folder_init(&folder, path, error);
    for (const acq_repro_subject *s = folder.subjects; s != NULL && status == ACQ_OK; s = s->next)
        status = visit_subject(s, visit, context, error);
    acq_repro_folder_deinit(&folder);
    return status;
}
