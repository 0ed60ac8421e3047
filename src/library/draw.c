/* draw.c - the graph of a query as a picture: terms are nodes, atoms are arrows.
 *
 *   free variable   large disc      existential variable   small disc      constant   square
 *   atom            arrow with its relation; negated: dashed, with a "!"; equality: "="
 *
 * Several atoms between two terms share an arrow each way and list their relations. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "plot/plot.h"
#include "query/print.h"
#include "query/query.h"

/* ---- layout ----
 *
 * Places for the nodes: springs along edges, repulsion between all nodes (Fruchterman and Reingold
 * 1991), cooled in a fixed number of rounds from a circle, so that equal graphs look alike.
 * O(rounds * nodes^2): for hundreds of nodes. Works in a unit square and stretches the result to
 * the box. */

typedef struct arrow {
    uint32_t from, to;
} arrow;

typedef struct frame {
    double left, top, right, bottom;
} frame;

enum { ROUNDS = 600 };

static const double LEAST_DISTANCE = 1e-3;
static const double GRAVITY = 0.02; /* keeps parts that hang on nothing in the picture */

/* On a circle, one node after the other by steps of 3, so that neighbours do not all touch. */
static void place_on_circle(acq_plot_spot *spots, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t round = i * 3 / n;
        double place = (double)(i * 3 % n) + (double)round * 0.31;
        double angle = 2 * 3.14159265358979 * place / (double)n;
        spots[i] = (acq_plot_spot){.5 + .4 * cos(angle), .5 + .4 * sin(angle)};
    }
}

typedef struct forces {
    const arrow *edges;
    size_t n_edges, n;
    double ideal; /* length of an edge */
    acq_plot_spot *spots;
} forces;

static acq_plot_spot push(const forces *f, size_t i)
{
    acq_plot_spot sum = {(.5 - f->spots[i].x) * GRAVITY, (.5 - f->spots[i].y) * GRAVITY};
    for (size_t j = 0; j < f->n; j++) {
        double x = f->spots[i].x - f->spots[j].x, y = f->spots[i].y - f->spots[j].y;
        double d2 = fmax(x * x + y * y, LEAST_DISTANCE * LEAST_DISTANCE);
        if (j == i)
            continue;
        sum.x += x / d2 * f->ideal * f->ideal;
        sum.y += y / d2 * f->ideal * f->ideal;
    }
    return sum;
}

static acq_plot_spot pull(const forces *f, size_t i)
{
    acq_plot_spot sum = {0, 0};
    for (size_t k = 0; k < f->n_edges; k++) {
        size_t from = f->edges[k].from, to = f->edges[k].to;
        if ((from != i && to != i) || from == to)
            continue;
        size_t other = from == i ? to : from;
        double x = f->spots[other].x - f->spots[i].x, y = f->spots[other].y - f->spots[i].y;
        double distance = sqrt(x * x + y * y);
        sum.x += x * distance / f->ideal;
        sum.y += y * distance / f->ideal;
    }
    return sum;
}

/* Node by node: each sees where those before it have gone. */
static void relax(const forces *f, double step)
{
    for (size_t i = 0; i < f->n; i++) {
        acq_plot_spot a = push(f, i), b = pull(f, i);
        double x = a.x + b.x, y = a.y + b.y, length = sqrt(x * x + y * y);
        double scale = length > step ? step / length : 1.0;
        f->spots[i].x += x * scale;
        f->spots[i].y += y * scale;
    }
}

static void stretch(acq_plot_spot *spots, size_t n, frame box)
{
    frame from = {1e9, 1e9, -1e9, -1e9};
    for (size_t i = 0; i < n; i++) {
        from.left = fmin(from.left, spots[i].x);
        from.right = fmax(from.right, spots[i].x);
        from.top = fmin(from.top, spots[i].y);
        from.bottom = fmax(from.bottom, spots[i].y);
    }
    double width = fmax(from.right - from.left, LEAST_DISTANCE);
    double height = fmax(from.bottom - from.top, LEAST_DISTANCE);
    for (size_t i = 0; i < n; i++) {
        spots[i].x = box.left + (spots[i].x - from.left) / width * (box.right - box.left);
        spots[i].y = box.top + (spots[i].y - from.top) / height * (box.bottom - box.top);
    }
}

/* spots: room for n. */
static void lay_out(const arrow *edges, size_t n_edges, size_t n, frame box, acq_plot_spot *spots)
{
    forces f = {edges, n_edges, n, .7 / sqrt((double)(n > 0 ? n : 1)), spots};
    place_on_circle(spots, n);
    for (int round = 0; round < ROUNDS; round++)
        relax(&f, .1 * (1.0 - (double)round / ROUNDS) + 1e-4);
    stretch(spots, n, box);
}

/* ---- draw ---- */

enum { WIDTH = 960, SIDE = 90, TOP = 90, LINE = 13, MOST_NAME = 28 };

typedef struct drawing {
    const acq_query *query;
    acq_plot plot;
    arrow *edges; /* of the atoms, in the order of the tree */
    const acq_node **atoms;
    bool *negated;
    size_t n_edges;
    acq_plot_spot *spots; /* variables, then constants */
    size_t n_nodes;
} drawing;

static void deinit(drawing *d)
{
    acq_free(d->edges);
    acq_free(d->atoms);
    acq_free(d->negated);
    acq_free(d->spots);
}

static acq_status init(drawing *d, const acq_query *query)
{
    size_t n = query->n_atoms;
    *d = (drawing){.query = query, .n_nodes = (size_t)query->n_variables + query->n_constants};
    d->edges = acq_alloc(n, sizeof *d->edges);
    d->atoms = acq_alloc(n, sizeof *d->atoms);
    d->negated = acq_alloc(n, sizeof *d->negated);
    d->spots = acq_alloc(d->n_nodes, sizeof *d->spots);
    bool ok = d->edges != NULL && d->atoms != NULL && d->negated != NULL && d->spots != NULL;
    return ok ? ACQ_OK : ACQ_ERR_MEMORY;
}

static uint32_t node_of(const acq_query *query, acq_term term)
{
    return term.is_variable ? term.id : query->n_variables + term.id;
}

static void collect(drawing *d, const acq_node *node, bool is_negated)
{
    if (node->kind == ACQ_NODE_ATOM || node->kind == ACQ_NODE_EQUAL) {
        d->atoms[d->n_edges] = node;
        d->negated[d->n_edges] = is_negated;
        d->edges[d->n_edges++] =
            (arrow){node_of(d->query, node->left), node_of(d->query, node->right)};
        return;
    }
    bool below = node->kind == ACQ_NODE_NOT ? !is_negated : is_negated;
    for (uint32_t i = 0; i < node->n_children; i++)
        collect(d, node->children[i], below);
}

/* A name that is too long keeps its end, which tells relations like /film/film/genre apart. */
static void add_name(acq_text *out, const acq_query_name *name)
{
    size_t skip = name->length > MOST_NAME ? name->length - MOST_NAME : 0;
    while (skip < name->length && ((unsigned char)name->text[skip] & 0xC0) == 0x80)
        skip++;
    acq_text_add(out, skip > 0 ? "..." : "");
    acq_text_add_bytes(out, name->text + skip, name->length - skip);
}

static void add_relation(drawing *d, size_t i, acq_plot_spot at)
{
    acq_text text;
    const acq_node *atom = d->atoms[i];
    acq_text_init(&text);
    acq_text_add(&text, d->negated[i] ? "!" : "");
    if (atom->kind == ACQ_NODE_EQUAL) {
        acq_text_add(&text, "=");
    } else {
        const acq_query_name *name = &d->query->relations[atom->relation];
        acq_text_add(&text, name->is_inverse ? "inverse " : "");
        add_name(&text, name);
    }
    if (!text.failed)
        acq_plot_add_text(&d->plot, at.x, at.y, text.bytes);
    d->plot.text.failed = d->plot.text.failed || text.failed;
    acq_text_deinit(&text);
}

static bool joins(const arrow *a, const arrow *b)
{
    return (a->from == b->from && a->to == b->to) || (a->from == b->to && a->to == b->from);
}

/* The relation stands at the middle, below those of earlier atoms between the same two. */
static void add_edge(drawing *d, size_t i)
{
    const arrow *edge = &d->edges[i];
    acq_plot_spot from = d->spots[edge->from], to = d->spots[edge->to];
    size_t n_before = 0;
    for (size_t j = 0; j < i; j++)
        n_before += joins(&d->edges[j], edge);
    acq_plot_spot middle = {(from.x + to.x) / 2 + 4, (from.y + to.y) / 2 + LINE * (double)n_before};
    acq_plot_add_arrow(&d->plot, from, to, 11, d->negated[i]);
    add_relation(d, i, middle);
}

static void add_node(drawing *d, uint32_t i)
{
    enum { EXISTENTIAL, FREE, CONSTANT };
    const acq_query *query = d->query;
    bool is_variable = i < query->n_variables;
    const acq_query_name *name =
        is_variable ? &query->variables[i] : &query->constants[i - query->n_variables];
    acq_text text;
    acq_text_init(&text);
    add_name(&text, name);
    if (!is_variable)
        acq_plot_add_square(&d->plot, d->spots[i], 6, CONSTANT, text.bytes);
    else if (i < query->n_free)
        acq_plot_add_disc(&d->plot, d->spots[i], 10, FREE, text.bytes);
    else
        acq_plot_add_disc(&d->plot, d->spots[i], 6, EXISTENTIAL, text.bytes);
    if (!text.failed)
        acq_plot_add_text(&d->plot, d->spots[i].x + 12, d->spots[i].y - 8, text.bytes);
    d->plot.text.failed = d->plot.text.failed || text.failed;
    acq_text_deinit(&text);
}

static void draw(drawing *d, const char *title)
{
    int height = 420 + 14 * (int)(d->n_nodes < 60 ? d->n_nodes : 60);
    acq_plot_begin(&d->plot, WIDTH, height, title,
                   "large disc: free variable, small disc: existential, square: constant, dashed: "
                   "negated");
    lay_out(d->edges, d->n_edges, d->n_nodes, (frame){SIDE, TOP, WIDTH - 2 * SIDE, height - 50},
            d->spots);
    for (size_t i = 0; i < d->n_edges; i++)
        add_edge(d, i);
    for (uint32_t i = 0; i < d->n_nodes; i++)
        add_node(d, i);
}

/* A formula of the benchmark, whose names all look like r1, s1, e1 or f1; else text or SPARQL. */
static acq_status parse(const char *text, acq_query **out, acq_error *error)
{
    if (acq_query_parse_benchmark(text, strlen(text), out, NULL) == ACQ_OK)
        return ACQ_OK;
    return acq_query_parse(text, strlen(text), out, error);
}

acq_status acq_draw(const char *query, const char *path, acq_error *error)
{
    ACQ_REQUIRE(query, error);
    ACQ_REQUIRE(path, error);
    enum { MOST_NODES = 2000 };
    acq_query *parsed;
    drawing d;
    acq_status status = parse(query, &parsed, error);
    if (status != ACQ_OK)
        return status;
    if ((size_t)parsed->n_variables + parsed->n_constants > MOST_NODES) {
        acq_query_free(parsed);
        return acq_fail(error, ACQ_ERR_LIMIT, "a picture has %d terms at most", MOST_NODES);
    }
    if (init(&d, parsed) != ACQ_OK) {
        status = acq_fail_memory(error);
    } else {
        collect(&d, parsed->root, false);
        draw(&d, query);
        status = acq_plot_finish(&d.plot, path, "the picture", error);
    }
    deinit(&d);
    acq_query_free(parsed);
    return status;
}
