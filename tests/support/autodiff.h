/* autodiff.h - gradients from a tape of matrix operations, in double.
 *
 * Every function appends one matrix and computes it; tape_backward then visits them in reverse.
 * Slow and plain on purpose: it is what other gradients are compared with, and it is itself
 * compared with finite differences (tests/parity/autodiff.c). Row major; running out of memory
 * or shapes that do not fit end the process.
 *
 * Gradients jump where a maximum has two candidates or a ReLU is at 0. tape_get_margin says how
 * near to such a place the computation came, so that a comparison in single precision can leave
 * those cases out. */
#ifndef ACQ_TESTS_SUPPORT_AUTODIFF_H
#define ACQ_TESTS_SUPPORT_AUTODIFF_H

#include <stddef.h>
#include <stdint.h>

typedef struct tape tape;
typedef uint32_t tape_var;

tape *tape_new(void);
void tape_free(tape *t);

tape_var tape_input(tape *t, size_t rows, size_t cols, const double *values); /* copied */
tape_var tape_matmul(tape *t, tape_var x, tape_var w); /* x[m x k] w[n x k]' as PyTorch's Linear */
tape_var tape_add(tape *t, tape_var a, tape_var b);    /* same shape, or b one row for all */
tape_var tape_multiply(tape *t, tape_var a, tape_var b);               /* element by element */
tape_var tape_scale(tape *t, tape_var a, double factor, double shift); /* factor a + shift */
tape_var tape_relu(tape *t, tape_var x);
tape_var tape_sigmoid(tape *t, tape_var x);
tape_var tape_tanh(tape *t, tape_var x);
tape_var tape_layer_norm(tape *t, tape_var x, tape_var gain, tape_var shift); /* eps 1e-5 */
tape_var tape_gather_rows(tape *t, tape_var x, const size_t *rows, size_t n);
tape_var tape_append_column(tape *t, tape_var x, const double *column);
tape_var tape_slice_columns(tape *t, tape_var x, size_t first, size_t n);

/* A block of columns of one row: x[row][block * width .. (block + 1) * width). */
typedef struct tape_choice {
    size_t row, block;
} tape_choice;

/* Row i is the maximum over choices[firsts[i] .. firsts[i + 1]), element by element; the gradient
 * goes to the first choice that has it. No set may be empty. */
tape_var tape_max(tape *t, tape_var x, size_t width, const tape_choice *choices,
                  const size_t *firsts, size_t n_sets);

/* x is a column; rows firsts[i] .. firsts[i + 1] are one distribution:
 * o' = max(o - max o, -100), log p = o' - log sum exp o'. */
tape_var tape_log_softmax(tape *t, tape_var x, const size_t *firsts, size_t n_sets);

tape_var tape_log_exp_plus(tape *t, tape_var x, double floor); /* log(exp(x) + floor) */
tape_var tape_sum(tape *t, tape_var x);                        /* one number */

const double *tape_get(const tape *t, tape_var x);
size_t tape_get_size(const tape *t, tape_var x); /* rows * columns */

/* Gradients of a number with respect to everything before it. Once per tape. */
void tape_backward(tape *t, tape_var number);
const double *tape_get_gradient(const tape *t, tape_var x);

/* The least distance from a jump of the gradient so far; exact ties do not count. */
double tape_get_margin(const tape *t);

#endif
