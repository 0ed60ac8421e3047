/* source.c - see source.h. Only looks at names and kinds; contents are the readers' matter. */
#include "graph/source.h"

#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "graph/file.h"

#define READABLE                                                                                   \
    "readable are triples in .tsv, .txt (tabs) or .csv, a *_kg.tsv beside a kgindex.json, or a "   \
    "folder of train/valid/test files"

static const char *const split_names[ACQ_SPLITS] = {"train", "valid", "test"};

static bool ends_with(const char *text, const char *ending)
{
    size_t n = strlen(text), m = strlen(ending);
    return n >= m && strcasecmp(text + n - m, ending) == 0;
}

/* A new string of up to three pieces; NULL when memory is out. */
static char *join(const char *a, size_t a_length, const char *b, const char *c)
{
    size_t n = strlen(b), m = strlen(c);
    char *joined = acq_alloc(a_length + n + m + 1, 1);
    if (joined == NULL)
        return NULL;
    memcpy(joined, a, a_length);
    memcpy(joined + a_length, b, n);
    memcpy(joined + a_length + n, c, m + 1);
    return joined;
}

/* Length of the folder part of a path, slash included; 0: the current folder. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

static bool exists(const char *path)
{
    acq_file_kind kind = acq_file_get_kind(path);
    return kind == ACQ_FILE_REGULAR || kind == ACQ_FILE_STREAM;
}

/* folder + name, kept in *out only if there is such a file. */
static acq_status find_file(const char *folder, size_t length, const char *stem, const char *rest,
                            char **out)
{
    char *path = join(folder, length, stem, rest);
    if (path == NULL)
        return ACQ_ERR_MEMORY;
    if (exists(path)) {
        *out = path;
    } else {
        *out = NULL;
        acq_free(path);
    }
    return ACQ_OK;
}

/* Known kinds that cannot be read, so that the message can call them by name. */
static const char *name_unsupported(const char *path)
{
    static const char *const kinds[][2] = {
        {".gz", "a compressed file"},
        {".bz2", "a compressed file"},
        {".xz", "a compressed file"},
        {".zst", "a compressed file"},
        {".zip", "an archive"},
        {".nt", "RDF N-Triples"},
        {".nq", "RDF N-Quads"},
        {".ttl", "RDF Turtle"},
        {".rdf", "RDF XML"},
        {".owl", "an OWL ontology"},
        {".jsonld", "JSON-LD"},
        {".sqlite", "a graph store"},
        {".db", "a graph store"},
        {".acq", "a graph store"},
        {".json", "a JSON file"},
        {".parquet", "a Parquet file"},
        {".safetensors", "a model's weights"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (ends_with(path, kinds[i][0]))
            return kinds[i][1];
    }
    return NULL;
}

static acq_status set_file(acq_source *source, const char *path, acq_error *error)
{
    char *index = NULL;
    if (ends_with(path, "_kg.tsv") &&
        find_file(path, folder_length(path), "kgindex.json", "", &index) != ACQ_OK)
        return acq_fail_memory(error);
    source->index = index;
    source->syntax[0] = index != NULL ? ACQ_IDS : ends_with(path, ".csv") ? ACQ_COMMAS : ACQ_TABS;
    source->files[0] = acq_copy_string(path);
    if (source->files[0] == NULL)
        return acq_fail_memory(error);
    source->n_files = 1;
    return ACQ_OK;
}

static bool is_readable_name(const char *path)
{
    return ends_with(path, ".tsv") || ends_with(path, ".txt") || ends_with(path, ".csv");
}

static acq_status init_file(acq_source *source, const char *path, acq_error *error)
{
    if (is_readable_name(path))
        return set_file(source, path, error);
    const char *kind = name_unsupported(path);
    if (kind != NULL)
        return acq_fail(error, ACQ_ERR_INPUT, "%s cannot be read here; %s", kind, READABLE);
    return acq_fail(error, ACQ_ERR_INPUT, "unknown kind of file; %s", READABLE);
}

/* The file of one split in a folder of plain triples: *out NULL when there is none. */
static acq_status find_split(const char *folder, size_t length, const char *split, char **out,
                             acq_syntax *syntax, acq_error *error)
{
    static const char *const endings[] = {".txt", ".tsv", ".csv"};
    *out = NULL;
    for (size_t i = 0; i < 3; i++) {
        char *found;
        if (find_file(folder, length, split, endings[i], &found) != ACQ_OK)
            return acq_fail_memory(error);
        if (found == NULL)
            continue;
        if (*out != NULL) {
            acq_free(found);
            acq_free(*out);
            *out = NULL;
            return acq_fail(error, ACQ_ERR_INPUT,
                            "the folder has more than one file for %s; name the file to read",
                            split);
        }
        *out = found;
        *syntax = i == 2 ? ACQ_COMMAS : ACQ_TABS;
    }
    return ACQ_OK;
}

static acq_status init_splits(acq_source *source, const char *folder, size_t length, size_t last,
                              acq_error *error)
{
    for (size_t i = 0; i <= last; i++) {
        acq_status status = find_split(folder, length, split_names[i], &source->files[i],
                                       &source->syntax[i], error);
        if (status != ACQ_OK)
            return status;
        if (source->files[i] == NULL && i == 0)
            return acq_fail(error, ACQ_ERR_INPUT,
                            "the folder holds no graph: neither kgindex.json and %s_kg.tsv nor "
                            "train.txt or train.tsv; %s",
                            split_names[last], READABLE);
        if (source->files[i] == NULL)
            return acq_fail(
                error, ACQ_ERR_INPUT,
                "the folder has no %s.txt or %s.tsv; ask for an earlier split or add it",
                split_names[i], split_names[i]);
        source->n_files = i + 1;
    }
    return ACQ_OK;
}

static acq_status init_folder(acq_source *source, const char *folder, size_t last, acq_error *error)
{
    size_t length = strlen(folder);
    char *index = NULL, *facts = NULL;
    if (find_file(folder, length, "kgindex.json", "", &index) != ACQ_OK ||
        find_file(folder, length, split_names[last], "_kg.tsv", &facts) != ACQ_OK) {
        acq_free(index);
        return acq_fail_memory(error);
    }
    if (index != NULL && facts != NULL) {
        source->index = index;
        source->files[0] = facts;
        source->syntax[0] = ACQ_IDS;
        source->n_files = 1;
        return ACQ_OK;
    }
    acq_free(index);
    acq_free(facts);
    return init_splits(source, folder, length, last, error);
}

/* The latest split that the folder has. */
static acq_status init_latest(acq_source *source, const char *folder, acq_error *error)
{
    for (size_t last = ACQ_SPLITS - 1; last > 0; last--) {
        acq_status status = init_folder(source, folder, last, NULL);
        if (status == ACQ_OK || status == ACQ_ERR_MEMORY)
            return status == ACQ_OK ? status : acq_fail_memory(error);
        acq_source_deinit(source);
    }
    return init_folder(source, folder, 0, error);
}

static acq_status find_last(const char *split, size_t *last, acq_error *error)
{
    if (split != NULL && strcmp(split, ACQ_SPLIT_LATEST) == 0) {
        *last = ACQ_SPLITS;
        return ACQ_OK;
    }
    for (size_t i = 0; i < ACQ_SPLITS; i++) {
        if (strcmp(split == NULL ? "train" : split, split_names[i]) == 0) {
            *last = i;
            return ACQ_OK;
        }
    }
    return acq_fail(error, ACQ_ERR_USAGE, "there is no split \"%.60s\"; use train, valid or test",
                    split);
}

static acq_status init_any(acq_source *source, const char *path, const char *split,
                           acq_error *error)
{
    size_t last = 0, length = strlen(path);
    acq_status status = find_last(split, &last, error);
    if (status != ACQ_OK)
        return status;
    switch (acq_file_get_kind(path)) {
    case ACQ_FILE_MISSING:
        return acq_fail(error, ACQ_ERR_INPUT, "there is no such file or folder; check the path");
    case ACQ_FILE_DEVICE:
        return acq_fail(error, ACQ_ERR_INPUT, "this is a device, not a graph; %s", READABLE);
    case ACQ_FILE_UNKNOWN:
        return acq_fail(error, ACQ_ERR_IO, "cannot look at the file; check the permissions");
    case ACQ_FILE_STREAM:
        return set_file(source, path, error);
    case ACQ_FILE_REGULAR:
        return init_file(source, path, error);
    case ACQ_FILE_FOLDER:
        break;
    }
    char *folder = join(path, length, length > 0 && path[length - 1] == '/' ? "" : "/", "");
    if (folder == NULL)
        return acq_fail_memory(error);
    status = last == ACQ_SPLITS ? init_latest(source, folder, error)
                                : init_folder(source, folder, last, error);
    acq_free(folder);
    return status;
}

acq_status acq_source_init(acq_source *source, const char *path, const char *split,
                           acq_error *error)
{
    *source = (acq_source){0};
    acq_status status = init_any(source, path, split, error);
    if (status != ACQ_OK) {
        acq_source_deinit(source);
        acq_error_set_file(error, path);
    }
    return status;
}

void acq_source_deinit(acq_source *source)
{
    for (size_t i = 0; i < ACQ_SPLITS; i++)
        acq_free(source->files[i]);
    acq_free(source->index);
    *source = (acq_source){0};
}
