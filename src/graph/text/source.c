/* source.c - which files a path stands for; see reader.h. Only looks at names and kinds; contents
 * are the readers' matter. */
#include "graph/text/reader.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/file.h"
#include "base/text.h"

#define READABLE                                                                                   \
    "readable are .tsv, .txt, .csv, .nt, .nq, .ttl, .trig, each also as .gz, and folders of them"

/* What a name ends in, before a .gz, says what the file holds. */
static const struct {
    const char *ending;
    acq_text_syntax syntax;
} kinds[] = {{".txt", ACQ_TABS},  {".tsv", ACQ_TABS},   {".csv", ACQ_COMMAS}, {".nt", ACQ_NTRIPLES},
             {".nq", ACQ_NQUADS}, {".ttl", ACQ_TURTLE}, {".trig", ACQ_TRIG}};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const char *const split_names[ACQ_SPLITS] = {"train", "valid", "test"};

static bool ends_with(const char *text, size_t length, const char *ending)
{
    size_t n = strlen(ending);
    return length >= n && acq_is_same_word(text + length - n, ending, n);
}

/* Length of a path without its .gz. */
static size_t plain_length(const char *path)
{
    size_t n = strlen(path);
    return ends_with(path, n, ".gz") ? n - 3 : n;
}

/* The endings are also the names of the formats. */
static bool find_format(const char *name, acq_text_syntax *out)
{
    for (size_t i = 0; i < KINDS; i++) {
        if (strcmp(name, kinds[i].ending + 1) == 0) {
            *out = kinds[i].syntax;
            return true;
        }
    }
    return false;
}

static bool find_syntax(const char *path, acq_text_syntax *out)
{
    for (size_t i = 0; i < KINDS; i++) {
        if (ends_with(path, plain_length(path), kinds[i].ending)) {
            *out = kinds[i].syntax;
            return true;
        }
    }
    return false;
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

#define UNPACK   "decompress it, or compress it with gzip instead"
#define UNZIP    "unpack it and name the files"
#define CONVERT  "convert it to N-Triples or Turtle, for example with rapper or riot"
#define TABULATE "save it as .csv"
#define NO_STORE                                                                                   \
    "its first bytes are not those of a database; import the graph again, or name the file by "    \
    "what it holds"

/* Known kinds that cannot be read, so that the message can call them by name and help. */
static acq_status fail_kind(const char *path, acq_error *error)
{
    static const struct {
        const char *ending, *name, *remedy;
    } others[] = {
        {".bz2", "a bzip2 file", UNPACK},
        {".xz", "an xz file", UNPACK},
        {".zst", "a zstd file", UNPACK},
        {".lz4", "an lz4 file", UNPACK},
        {".zip", "an archive", UNZIP},
        {".7z", "an archive", UNZIP},
        {".tar", "an archive", UNZIP},
        {".tgz", "an archive", UNZIP},
        {".rdf", "RDF/XML", CONVERT},
        {".owl", "an OWL ontology in RDF/XML", CONVERT},
        {".xml", "XML", CONVERT},
        {".jsonld", "JSON-LD", CONVERT},
        {".n3", "Notation3", CONVERT},
        {".hdt", "HDT", CONVERT},
        {".json", "JSON", READABLE},
        {".parquet", "Parquet", TABULATE},
        {".xlsx", "a spreadsheet", TABULATE},
        {".ods", "a spreadsheet", TABULATE},
        {".safetensors", "a file of weights", READABLE},
        {".db", "this as a store", NO_STORE},
        {".sqlite", "this as a store", NO_STORE},
        {".acq", "this as a store", NO_STORE},
    };
    size_t length = plain_length(path);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (ends_with(path, length, others[i].ending))
            return acq_fail(error, ACQ_ERR_INPUT, "cannot read %s; %s", others[i].name,
                            others[i].remedy);
    }
    return acq_fail(
        error, ACQ_ERR_INPUT,
        "unknown kind of file; say what it holds with --format tsv, csv, nt, ttl, nq or trig");
}

static acq_status set_file(acq_source *source, const char *path, acq_text_syntax syntax,
                           acq_error *error)
{
    char *index = NULL;
    if (ends_with(path, plain_length(path), "_kg.tsv") &&
        find_file(path, folder_length(path), "kgindex.json", "", &index) != ACQ_OK)
        return acq_fail_memory(error);
    source->index = index;
    source->syntax[0] = index != NULL ? ACQ_IDS : syntax;
    source->files[0] = acq_copy_string(path);
    if (source->files[0] == NULL)
        return acq_fail_memory(error);
    source->n_files = 1;
    return ACQ_OK;
}

/* is_any: the name need not tell what it holds. A pipe then holds triples separated by tabs. */
static acq_status init_file(acq_source *source, const char *path, bool is_any, acq_error *error)
{
    acq_text_syntax syntax = ACQ_TABS;
    if (find_syntax(path, &syntax) || is_any)
        return set_file(source, path, syntax, error);
    return fail_kind(path, error);
}

/* Takes a file of the split if *out has none yet. */
static acq_status offer_split(const char *folder, size_t length, const char *split,
                              const char *ending, char **out, acq_error *error)
{
    char *found;
    if (find_file(folder, length, split, ending, &found) != ACQ_OK)
        return acq_fail_memory(error);
    if (found == NULL)
        return ACQ_OK;
    if (*out == NULL) {
        *out = found;
        return ACQ_OK;
    }
    acq_free(found);
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the folder has more than one file for %s; name the file to read", split);
}

/* The file of one split in a folder: *out NULL when there is none. */
static acq_status find_split(const char *folder, size_t length, const char *split, char **out,
                             acq_text_syntax *syntax, acq_error *error)
{
    char ending[16];
    acq_status status = ACQ_OK;
    for (size_t i = 0; status == ACQ_OK && i < KINDS; i++) {
        status = offer_split(folder, length, split, kinds[i].ending, out, error);
        snprintf(ending, sizeof ending, "%s.gz", kinds[i].ending);
        if (status == ACQ_OK)
            status = offer_split(folder, length, split, ending, out, error);
    }
    if (status == ACQ_OK && *out != NULL)
        find_syntax(*out, syntax);
    return status;
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
                            "train.txt, train.tsv or the like; %s",
                            split_names[last], READABLE);
        if (source->files[i] == NULL)
            return acq_fail(
                error, ACQ_ERR_INPUT,
                "the folder has no %s.txt, %s.tsv or the like; ask for an earlier split or add it",
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
        find_file(folder, length, split_names[last], "_kg.tsv", &facts) != ACQ_OK ||
        (facts == NULL &&
         find_file(folder, length, split_names[last], "_kg.tsv.gz", &facts) != ACQ_OK)) {
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

static acq_status init_any(acq_source *source, const char *path, const acq_read_params *params,
                           acq_error *error)
{
    size_t last = 0, length = strlen(path);
    acq_status status = find_last(params->split, &last, error);
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
        return init_file(source, path, true, error);
    case ACQ_FILE_REGULAR:
        return init_file(source, path, params->format != NULL, error);
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

/* What the caller knows counts more than the names of the files. */
static acq_status set_format(acq_source *source, const char *format, acq_error *error)
{
    acq_text_syntax syntax;
    if (format == NULL)
        return ACQ_OK;
    if (source->index != NULL)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "this is a benchmark graph, ids beside a kgindex.json, and has no other "
                        "format; leave the format out");
    if (!find_format(format, &syntax))
        return acq_fail(error, ACQ_ERR_USAGE,
                        "there is no format \"%.60s\"; use tsv, csv, nt, ttl, nq or trig", format);
    for (size_t i = 0; i < source->n_files; i++)
        source->syntax[i] = syntax;
    return ACQ_OK;
}

acq_status acq_source_init(acq_source *source, const char *path, const acq_read_params *params,
                           acq_error *error)
{
    static const acq_read_params defaults;
    *source = (acq_source){0};
    params = params == NULL ? &defaults : params;
    acq_status status = init_any(source, path, params, error);
    if (status == ACQ_OK)
        status = set_format(source, params->format, error);
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
