/* autodiff.c - see autodiff.h. One backward function per operation; each adds to the gradients of
 * its inputs. */
#include "support/autodiff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_INPUTS = 3 };

typedef struct node {
    size_t rows, cols;
    double *values, *gradients;
    tape_var inputs[MOST_INPUTS];
    void (*backward)(tape *t, const struct node *self); /* NULL: an input */
    size_t *sources; /* of each element or row, where the operation chooses */
    double *kept;    /* what backward needs besides the values */
    double factor;
    size_t first;
} node;

struct tape {
    node *nodes;
    size_t n, capacity;
    double margin;
};

static void *take(size_t n, size_t size)
{
    void *block = calloc(n == 0 ? 1 : n, size);
    if (block == NULL)
        abort();
    return block;
}

static void require(int condition)
{
    if (!condition)
        abort();
}

tape *tape_new(void)
{
    tape *t = take(1, sizeof *t);
    t->margin = INFINITY;
    return t;
}

void tape_free(tape *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free(t->nodes[i].values);
        free(t->nodes[i].gradients);
        free(t->nodes[i].sources);
        free(t->nodes[i].kept);
    }
    free(t->nodes);
    free(t);
}

static tape_var append(tape *t, size_t rows, size_t cols,
                       void (*backward)(tape *t, const node *self))
{
    if (t->n == t->capacity) {
        t->capacity = t->capacity == 0 ? 64 : 2 * t->capacity;
        t->nodes = realloc(t->nodes, t->capacity * sizeof *t->nodes);
        require(t->nodes != NULL);
    }
    t->nodes[t->n] = (node){.rows = rows, .cols = cols, .backward = backward};
    t->nodes[t->n].values = take(rows * cols, sizeof(double));
    t->nodes[t->n].gradients = take(rows * cols, sizeof(double));
    return (tape_var)t->n++;
}

static double *gradients_of(tape *t, const node *self, int input)
{
    return t->nodes[self->inputs[input]].gradients;
}

static const node *input_of(const tape *t, const node *self, int input)
{
    return &t->nodes[self->inputs[input]];
}

static void note_margin(tape *t, double distance)
{
    if (distance > 0 && distance < t->margin)
        t->margin = distance;
}

tape_var tape_input(tape *t, size_t rows, size_t cols, const double *values)
{
    tape_var out = append(t, rows, cols, NULL);
    memcpy(t->nodes[out].values, values, rows * cols * sizeof *values);
    return out;
}

static void matmul_backward(tape *t, const node *self)
{
    const node *x = input_of(t, self, 0), *w = input_of(t, self, 1);
    for (size_t i = 0; i < self->rows; i++)
        for (size_t o = 0; o < self->cols; o++)
            for (size_t k = 0; k < x->cols; k++) {
                double g = self->gradients[i * self->cols + o];
                x->gradients[i * x->cols + k] += g * w->values[o * w->cols + k];
                w->gradients[o * w->cols + k] += g * x->values[i * x->cols + k];
            }
}

tape_var tape_matmul(tape *t, tape_var x, tape_var w)
{
    require(t->nodes[x].cols == t->nodes[w].cols);
    tape_var out = append(t, t->nodes[x].rows, t->nodes[w].rows, matmul_backward);
    node *self = &t->nodes[out], *left = &t->nodes[x], *right = &t->nodes[w];
    self->inputs[0] = x;
    self->inputs[1] = w;
    for (size_t i = 0; i < self->rows; i++)
        for (size_t o = 0; o < self->cols; o++)
            for (size_t k = 0; k < left->cols; k++)
                self->values[i * self->cols + o] +=
                    left->values[i * left->cols + k] * right->values[o * right->cols + k];
    return out;
}

/* Two inputs, the second of the same shape or one row that serves all. */
static tape_var append_pair(tape *t, tape_var a, tape_var b,
                            void (*backward)(tape *t, const node *self))
{
    const node *left = &t->nodes[a], *right = &t->nodes[b];
    require(left->cols == right->cols && (right->rows == left->rows || right->rows == 1));
    tape_var out = append(t, left->rows, left->cols, backward);
    t->nodes[out].inputs[0] = a;
    t->nodes[out].inputs[1] = b;
    return out;
}

static void add_backward(tape *t, const node *self)
{
    size_t n_right = input_of(t, self, 1)->rows * self->cols;
    for (size_t i = 0; i < self->rows * self->cols; i++) {
        gradients_of(t, self, 0)[i] += self->gradients[i];
        gradients_of(t, self, 1)[i % n_right] += self->gradients[i];
    }
}

tape_var tape_add(tape *t, tape_var a, tape_var b)
{
    tape_var out = append_pair(t, a, b, add_backward);
    node *self = &t->nodes[out];
    size_t n_right = t->nodes[b].rows * self->cols;
    for (size_t i = 0; i < self->rows * self->cols; i++)
        self->values[i] = t->nodes[a].values[i] + t->nodes[b].values[i % n_right];
    return out;
}

static void multiply_backward(tape *t, const node *self)
{
    const node *a = input_of(t, self, 0), *b = input_of(t, self, 1);
    for (size_t i = 0; i < self->rows * self->cols; i++) {
        a->gradients[i] += self->gradients[i] * b->values[i];
        b->gradients[i] += self->gradients[i] * a->values[i];
    }
}

tape_var tape_multiply(tape *t, tape_var a, tape_var b)
{
    require(t->nodes[a].rows == t->nodes[b].rows);
    tape_var out = append_pair(t, a, b, multiply_backward);
    node *self = &t->nodes[out];
    for (size_t i = 0; i < self->rows * self->cols; i++)
        self->values[i] = t->nodes[a].values[i] * t->nodes[b].values[i];
    return out;
}

/* One input, a result of the same shape. */
static tape_var append_map(tape *t, tape_var x, void (*backward)(tape *t, const node *self))
{
    tape_var out = append(t, t->nodes[x].rows, t->nodes[x].cols, backward);
    t->nodes[out].inputs[0] = x;
    return out;
}

static void scale_backward(tape *t, const node *self)
{
    for (size_t i = 0; i < self->rows * self->cols; i++)
        gradients_of(t, self, 0)[i] += self->factor * self->gradients[i];
}

tape_var tape_scale(tape *t, tape_var a, double factor, double shift)
{
    tape_var out = append_map(t, a, scale_backward);
    node *self = &t->nodes[out];
    self->factor = factor;
    for (size_t i = 0; i < self->rows * self->cols; i++)
        self->values[i] = factor * t->nodes[a].values[i] + shift;
    return out;
}

static void relu_backward(tape *t, const node *self)
{
    for (size_t i = 0; i < self->rows * self->cols; i++)
        if (self->values[i] > 0)
            gradients_of(t, self, 0)[i] += self->gradients[i];
}

tape_var tape_relu(tape *t, tape_var x)
{
    tape_var out = append_map(t, x, relu_backward);
    node *self = &t->nodes[out];
    for (size_t i = 0; i < self->rows * self->cols; i++) {
        self->values[i] = fmax(0, t->nodes[x].values[i]);
        note_margin(t, fabs(t->nodes[x].values[i]));
    }
    return out;
}

static void sigmoid_backward(tape *t, const node *self)
{
    for (size_t i = 0; i < self->rows * self->cols; i++)
        gradients_of(t, self, 0)[i] += self->gradients[i] * self->values[i] * (1 - self->values[i]);
}

tape_var tape_sigmoid(tape *t, tape_var x)
{
    tape_var out = append_map(t, x, sigmoid_backward);
    node *self = &t->nodes[out];
    for (size_t i = 0; i < self->rows * self->cols; i++)
        self->values[i] = 1 / (1 + exp(-t->nodes[x].values[i]));
    return out;
}

static void tanh_backward(tape *t, const node *self)
{
    for (size_t i = 0; i < self->rows * self->cols; i++)
        gradients_of(t, self, 0)[i] += self->gradients[i] * (1 - self->values[i] * self->values[i]);
}

tape_var tape_tanh(tape *t, tape_var x)
{
    tape_var out = append_map(t, x, tanh_backward);
    node *self = &t->nodes[out];
    for (size_t i = 0; i < self->rows * self->cols; i++)
        self->values[i] = tanh(t->nodes[x].values[i]);
    return out;
}

/* kept: the normalised values, then 1 / sqrt(variance + eps) of each row. With u the gradient of
 * a normalised row, dx = (u - mean u - normalised * mean(u * normalised)) / sqrt(...). */
static void layer_norm_backward(tape *t, const node *self)
{
    const node *x = input_of(t, self, 0), *gain = input_of(t, self, 1);
    size_t n = self->cols;
    for (size_t i = 0; i < self->rows; i++) {
        const double *dy = self->gradients + i * n, *normal = self->kept + i * n;
        double inverse = self->kept[self->rows * n + i], mean = 0, along = 0;
        for (size_t k = 0; k < n; k++) {
            mean += dy[k] * gain->values[k] / (double)n;
            along += dy[k] * gain->values[k] * normal[k] / (double)n;
            gain->gradients[k] += dy[k] * normal[k];
            gradients_of(t, self, 2)[k] += dy[k];
        }
        for (size_t k = 0; k < n; k++)
            x->gradients[i * n + k] +=
                inverse * (dy[k] * gain->values[k] - mean - normal[k] * along);
    }
}

static double normalise(const double *x, size_t n, double *out)
{
    double mean = 0, variance = 0;
    for (size_t k = 0; k < n; k++)
        mean += x[k] / (double)n;
    for (size_t k = 0; k < n; k++)
        variance += (x[k] - mean) * (x[k] - mean) / (double)n;
    double inverse = 1 / sqrt(variance + 1e-5);
    for (size_t k = 0; k < n; k++)
        out[k] = (x[k] - mean) * inverse;
    return inverse;
}

tape_var tape_layer_norm(tape *t, tape_var x, tape_var gain, tape_var shift)
{
    size_t n = t->nodes[x].cols;
    require(t->nodes[gain].cols == n && t->nodes[shift].cols == n);
    tape_var out = append_map(t, x, layer_norm_backward);
    node *self = &t->nodes[out];
    self->inputs[1] = gain;
    self->inputs[2] = shift;
    self->kept = take(self->rows * (n + 1), sizeof *self->kept);
    for (size_t i = 0; i < self->rows; i++) {
        double *normal = self->kept + i * n;
        self->kept[self->rows * n + i] = normalise(t->nodes[x].values + i * n, n, normal);
        for (size_t k = 0; k < n; k++)
            self->values[i * n + k] =
                normal[k] * t->nodes[gain].values[k] + t->nodes[shift].values[k];
    }
    return out;
}

static void gather_backward(tape *t, const node *self)
{
    for (size_t i = 0; i < self->rows; i++)
        for (size_t k = 0; k < self->cols; k++)
            gradients_of(t, self, 0)[self->sources[i] * self->cols + k] +=
                self->gradients[i * self->cols + k];
}

tape_var tape_gather_rows(tape *t, tape_var x, const size_t *rows, size_t n)
{
    size_t cols = t->nodes[x].cols;
    tape_var out = append(t, n, cols, gather_backward);
    node *self = &t->nodes[out];
    self->inputs[0] = x;
    self->sources = take(n, sizeof *self->sources);
    for (size_t i = 0; i < n; i++) {
        require(rows[i] < t->nodes[x].rows);
        self->sources[i] = rows[i];
        memcpy(self->values + i * cols, t->nodes[x].values + rows[i] * cols, cols * sizeof(double));
    }
    return out;
}

static void append_column_backward(tape *t, const node *self)
{
    size_t n = self->cols - 1;
    for (size_t i = 0; i < self->rows; i++)
        for (size_t k = 0; k < n; k++)
            gradients_of(t, self, 0)[i * n + k] += self->gradients[i * self->cols + k];
}

tape_var tape_append_column(tape *t, tape_var x, const double *column)
{
    size_t rows = t->nodes[x].rows, n = t->nodes[x].cols;
    tape_var out = append(t, rows, n + 1, append_column_backward);
    node *self = &t->nodes[out];
    self->inputs[0] = x;
    for (size_t i = 0; i < rows; i++) {
        memcpy(self->values + i * (n + 1), t->nodes[x].values + i * n, n * sizeof(double));
        self->values[i * (n + 1) + n] = column[i];
    }
    return out;
}

static void slice_backward(tape *t, const node *self)
{
    size_t cols = input_of(t, self, 0)->cols;
    for (size_t i = 0; i < self->rows; i++)
        for (size_t k = 0; k < self->cols; k++)
            gradients_of(t, self, 0)[i * cols + self->first + k] +=
                self->gradients[i * self->cols + k];
}

tape_var tape_slice_columns(tape *t, tape_var x, size_t first, size_t n)
{
    size_t rows = t->nodes[x].rows, cols = t->nodes[x].cols;
    require(first + n <= cols);
    tape_var out = append(t, rows, n, slice_backward);
    node *self = &t->nodes[out];
    self->inputs[0] = x;
    self->first = first;
    for (size_t i = 0; i < rows; i++)
        memcpy(self->values + i * n, t->nodes[x].values + i * cols + first, n * sizeof(double));
    return out;
}

static void choose_backward(tape *t, const node *self)
{
    for (size_t i = 0; i < self->rows * self->cols; i++)
        gradients_of(t, self, 0)[self->sources[i]] += self->gradients[i];
}

/* The first largest of the choices at column k; notes the distance to the next smaller one. */
static size_t choose(tape *t, const node *x, size_t width, size_t k, const tape_choice *choices,
                     size_t n)
{
    size_t best = choices[0].row * x->cols + choices[0].block * width + k;
    double second = -INFINITY;
    for (size_t c = 1; c < n; c++) {
        size_t at = choices[c].row * x->cols + choices[c].block * width + k;
        if (x->values[at] == x->values[best])
            continue;
        second = fmax(second, fmin(x->values[at], x->values[best]));
        if (x->values[at] > x->values[best])
            best = at;
    }
    note_margin(t, x->values[best] - second);
    return best;
}

tape_var tape_max(tape *t, tape_var x, size_t width, const tape_choice *choices,
                  const size_t *firsts, size_t n_sets)
{
    tape_var out = append(t, n_sets, width, choose_backward);
    node *self = &t->nodes[out];
    self->inputs[0] = x;
    self->sources = take(n_sets * width, sizeof *self->sources);
    for (size_t i = 0; i < n_sets; i++) {
        require(firsts[i] < firsts[i + 1]);
        for (size_t k = 0; k < width; k++) {
            size_t at =
                choose(t, &t->nodes[x], width, k, choices + firsts[i], firsts[i + 1] - firsts[i]);
            self->sources[i * width + k] = at;
            self->values[i * width + k] = t->nodes[x].values[at];
        }
    }
    return out;
}

/* sources: the maximum of each element's set; kept: 1 where the clip is not in force, then the
 * first row of each element's set and of the next one. */
static void log_softmax_backward(tape *t, const node *self)
{
    size_t n = self->rows;
    double *dx = gradients_of(t, self, 0);
    for (size_t i = 0; i < n; i++) {
        size_t first = (size_t)self->kept[n + i], end = (size_t)self->kept[2 * n + i];
        double total = 0;
        for (size_t j = first; j < end; j++)
            total += self->gradients[j];
        double g = (self->gradients[i] - exp(self->values[i]) * total) * self->kept[i];
        dx[i] += g;
        dx[self->sources[i]] -= g;
    }
}

static void log_softmax_set(tape *t, node *self, const double *x, size_t first, size_t end)
{
    size_t best = first, n = self->rows;
    double sum = 0;
    for (size_t i = first; i < end; i++)
        best = x[i] > x[best] ? i : best;
    for (size_t i = first; i < end; i++) {
        self->values[i] = fmax(x[i] - x[best], -100);
        note_margin(t, fabs(x[i] - x[best] + 100));
        sum += exp(self->values[i]);
        self->sources[i] = best;
        self->kept[i] = x[i] - x[best] > -100;
        self->kept[n + i] = (double)first;
        self->kept[2 * n + i] = (double)end;
    }
    for (size_t i = first; i < end; i++)
        self->values[i] -= log(sum);
}

tape_var tape_log_softmax(tape *t, tape_var x, const size_t *firsts, size_t n_sets)
{
    require(t->nodes[x].cols == 1 && firsts[n_sets] == t->nodes[x].rows);
    tape_var out = append_map(t, x, log_softmax_backward);
    node *self = &t->nodes[out];
    self->sources = take(self->rows, sizeof *self->sources);
    self->kept = take(3 * self->rows, sizeof *self->kept);
    for (size_t i = 0; i < n_sets; i++)
        log_softmax_set(t, self, t->nodes[x].values, firsts[i], firsts[i + 1]);
    return out;
}

static void log_exp_plus_backward(tape *t, const node *self)
{
    const node *x = input_of(t, self, 0);
    for (size_t i = 0; i < self->rows * self->cols; i++) /* e^x / (e^x + floor) */
        x->gradients[i] += self->gradients[i] * exp(x->values[i] - self->values[i]);
}

tape_var tape_log_exp_plus(tape *t, tape_var x, double floor)
{
    tape_var out = append_map(t, x, log_exp_plus_backward);
    node *self = &t->nodes[out];
    for (size_t i = 0; i < self->rows * self->cols; i++)
        self->values[i] = log(exp(t->nodes[x].values[i]) + floor);
    return out;
}

static void sum_backward(tape *t, const node *self)
{
    for (size_t i = 0; i < tape_get_size(t, self->inputs[0]); i++)
        gradients_of(t, self, 0)[i] += self->gradients[0];
}

tape_var tape_sum(tape *t, tape_var x)
{
    tape_var out = append(t, 1, 1, sum_backward);
    t->nodes[out].inputs[0] = x;
    for (size_t i = 0; i < tape_get_size(t, x); i++)
        t->nodes[out].values[0] += t->nodes[x].values[i];
    return out;
}

const double *tape_get(const tape *t, tape_var x)
{
    return t->nodes[x].values;
}

size_t tape_get_size(const tape *t, tape_var x)
{
    return t->nodes[x].rows * t->nodes[x].cols;
}

void tape_backward(tape *t, tape_var number)
{
    require(tape_get_size(t, number) == 1);
    t->nodes[number].gradients[0] = 1;
    for (size_t i = (size_t)number + 1; i-- > 0;)
        if (t->nodes[i].backward != NULL)
            t->nodes[i].backward(t, &t->nodes[i]);
}

const double *tape_get_gradient(const tape *t, tape_var x)
{
    return t->nodes[x].gradients;
}

double tape_get_margin(const tape *t)
{
    return t->margin;
}
