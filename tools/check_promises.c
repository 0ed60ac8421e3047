/* check_promises.c - are the promises of suggest and of ask --cover kept on facts that were hidden?
 *
 *   check_promises GRAPH HIDDEN COMPLETION [LEVEL]
 *
 * HIDDEN has facts that GRAPH lacks, as head, relation and tail between tabs. Of each, both ends
 * are asked for: in how many sets is the other end, and how large are these? Then the likeliest
 * links: how many were expected among the hidden ones, and how many are there? */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <anycq.h>

typedef struct fact {
    acq_ent head;
    acq_rel relation;
    acq_ent tail;
} fact;

typedef struct hidden {
    fact *all;
    size_t n, capacity;
} hidden;

static int fail(const acq_error *error)
{
    fprintf(stderr, "check_promises: %s: %s\n", error->file, error->message);
    return 2;
}

/* Facts whose names the graph knows. */
static int read_hidden(const acq_graph *graph, const char *path, hidden *out)
{
    char line[1 << 16];
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        perror(path);
        return 2;
    }
    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        char *head = strtok(line, "\t"), *relation = strtok(NULL, "\t"), *tail = strtok(NULL, "\t");
        if (tail == NULL)
            continue;
        fact one = {acq_graph_find_entity(graph, head, strlen(head)),
                    acq_graph_find_relation(graph, relation, strlen(relation)),
                    acq_graph_find_entity(graph, tail, strlen(tail))};
        if (one.head == UINT32_MAX || one.relation == UINT32_MAX || one.tail == UINT32_MAX)
            continue;
        if (out->n == out->capacity)
            out->all =
                realloc(out->all, (out->capacity = 2 * out->capacity + 64) * sizeof *out->all);
        out->all[out->n++] = one;
    }
    fclose(file);
    return 0;
}

static char *quote(char *out, const char *name)
{
    *out++ = '"';
    for (; *name != '\0'; *out++ = *name++)
        if (*name == '"' || *name == '\\')
            *out++ = '\\';
    *out++ = '"';
    *out = '\0';
    return out;
}

/* Is the other end in the set? *size: of the set. */
static int is_covered(const acq_graph *graph, const acq_predictor *predictor, const fact *one,
                      bool asks_head, double level, size_t *size)
{
    static char text[1 << 18];
    acq_error error = {0};
    acq_query *query = NULL;
    acq_covering *set = NULL;
    acq_cover_params params;
    acq_cover_params_init(&params);
    params.level = level;
    char *end = text + sprintf(text, "Q(x) := ");
    end = quote(end, acq_graph_get_relation_name(graph, one->relation));
    end += sprintf(end, asks_head ? "(x, " : "(");
    end = quote(end, acq_graph_get_entity_name(graph, asks_head ? one->tail : one->head));
    sprintf(end, asks_head ? ")" : ", x)");
    if (acq_query_new(graph, text, &query, &error) != ACQ_OK ||
        acq_cover_find(query, predictor, &params, &set, &error) != ACQ_OK)
        exit(fail(&error));
    *size = acq_covering_get_n(set);
    int is_in = 0;
    for (size_t i = 0; i < *size && !is_in; i++)
        is_in = acq_covering_get(set, i)->entity == (asks_head ? one->head : one->tail);
    acq_covering_free(set);
    acq_query_free(query);
    return is_in;
}

static int compare(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void check_cover(const acq_graph *graph, const acq_predictor *predictor, const hidden *facts,
                        double level)
{
    size_t n = 2 * facts->n, *sizes = malloc((n + 1) * sizeof *sizes);
    double covered = 0, sum = 0;
    for (size_t i = 0; i < n; i++) {
        covered += is_covered(graph, predictor, &facts->all[i / 2], i % 2, level, &sizes[i]);
        sum += (double)sizes[i];
    }
    qsort(sizes, n, sizeof *sizes, compare);
    printf("cover %g: %zu questions, %.3f covered, sets of %.0f entities (median %zu) of %u\n",
           level, n, covered / (double)n, sum / (double)n, sizes[n / 2],
           acq_graph_get_n_entities(graph));
    free(sizes);
}

static bool is_hidden(const hidden *facts, const acq_suggestion *link)
{
    for (size_t i = 0; i < facts->n; i++)
        if (facts->all[i].head == link->head && facts->all[i].relation == link->relation &&
            facts->all[i].tail == link->tail)
            return true;
    return false;
}

static int check_suggestions(const acq_predictor *predictor, const hidden *facts)
{
    acq_error error = {0};
    acq_suggestions *list = NULL;
    acq_suggest_params params;
    acq_suggest_params_init(&params);
    params.top = 400;
    if (acq_suggest(predictor, &params, &list, &error) != ACQ_OK)
        return fail(&error);
    double expected = 0, found = 0;
    for (size_t i = 0; i < acq_suggestions_get_n(list); i++) {
        expected += acq_suggestions_get(list, i)->p;
        found += is_hidden(facts, acq_suggestions_get(list, i));
        double n = (double)i + 1;
        if (i == 24 || i == 49 || i == 99 || i == 199 || i == 399)
            printf("top %zu: mean p %.2f, hidden %.2f\n", i + 1, expected / n, found / n);
    }
    acq_suggestions_free(list);
    return 0;
}

int main(int argc, char **argv)
{
    acq_error error = {0};
    acq_graph *graph = NULL;
    acq_predictor *predictor = NULL;
    hidden facts = {0};
    char spec[4096];
    if (argc < 4) {
        fprintf(stderr, "usage: check_promises GRAPH HIDDEN COMPLETION [LEVEL]\n");
        return 2;
    }
    snprintf(spec, sizeof spec, "completion:%s", argv[3]);
    if (acq_graph_open(argv[1], NULL, &graph, &error) != ACQ_OK ||
        acq_predictor_new(graph, spec, NULL, &predictor, &error) != ACQ_OK)
        return fail(&error);
    int code = read_hidden(graph, argv[2], &facts);
    if (code == 0) {
        check_cover(graph, predictor, &facts, argc > 4 ? atof(argv[4]) : .9);
        code = check_suggestions(predictor, &facts);
    }
    free(facts.all);
    acq_predictor_free(predictor);
    acq_graph_free(graph);
    return code;
}
