/* calibrator_file.c - calibrators come back from a file as they were; files that are damaged, cut
 * or of something else are refused; what --prior does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "calibrate/calibrator.h"
#include "calibrate/learn.h"
#include "unit/boost_case.h"

enum { ROWS = 400, MOST_ALLOCATIONS = 1000 };

static double rising(const float *x)
{
    return isnan(x[0]) ? 1 : 2 * (double)x[0];
}

static void add_quality(acq_calibrator *calibrator)
{
    const acq_link_quality all[] = {{.held = 7, .said = 4.5, .right = 3.25}, {0}, {.held = 1}};
    assert_int_equal(acq_calibrator_set_quality(calibrator, all, 3, NULL), ACQ_OK);
    for (int i = 0; i < 100; i++)
        acq_reliability_add(&calibrator->reliability, i / 100.0, i % 3 == 0, .5, .25);
}

/* Parts: one bit each for link, balanced, quality. */
static acq_calibrator *make_calibrator(unsigned parts)
{
    acq_calibrator *calibrator = acq_calibrator_new();
    acq_boost **places[2] = {&calibrator->link, &calibrator->balanced};
    for (uint32_t i = 0; i < 2; i++) {
        boost_case rows = boost_case_make(ROWS, 2 + i, .1, rising, i);
        acq_boost_params params = boost_case_params();
        params.n_trees = 3 + i;
        params.depth = 2 + i;
        if ((parts >> i & 1U) != 0)
            *places[i] = boost_case_fit(&rows, &params);
        boost_case_free(&rows);
    }
    if ((parts >> 2 & 1U) != 0)
        add_quality(calibrator);
    calibrator->joint = .4375;
    calibrator->if_slope = 1.25;
    calibrator->if_shift = -.5;
    calibrator->unsupported_balanced = .125;
    calibrator->open_balanced = .25;
    snprintf(calibrator->models, sizeof calibrator->models, "complex+ultra");
    snprintf(calibrator->graph, sizeof calibrator->graph, "a \"graph\" of länder");
    return calibrator;
}

static void check_boost(const acq_boost *wanted, const acq_boost *found)
{
    assert_int_equal(wanted == NULL, found == NULL);
    if (wanted == NULL)
        return;
    uint32_t n_features = acq_boost_get_n_features(wanted);
    assert_int_equal(acq_boost_get_n_features(found), n_features);
    boost_case rows = boost_case_make(ROWS, n_features, .2, rising, 99);
    for (size_t i = 0; i < ROWS; i++)
        assert_true(acq_boost_score(wanted, rows.x + i * n_features) ==
                    acq_boost_score(found, rows.x + i * n_features));
    boost_case_free(&rows);
}

static void check_same(const acq_calibrator *wanted, const acq_calibrator *found)
{
    check_boost(wanted->link, found->link);
    check_boost(wanted->balanced, found->balanced);
    assert_true(wanted->joint == found->joint);
    assert_true(wanted->if_slope == found->if_slope && wanted->if_shift == found->if_shift);
    assert_true(wanted->unsupported_balanced == found->unsupported_balanced);
    assert_true(wanted->open_balanced == found->open_balanced);
    assert_int_equal(wanted->n_quality, found->n_quality);
    for (uint32_t i = 0; i < wanted->n_quality; i++) {
        assert_int_equal(wanted->quality[i].held, found->quality[i].held);
        assert_true(wanted->quality[i].said == found->quality[i].said);
        assert_true(wanted->quality[i].right == found->quality[i].right);
    }
    assert_true(fabs(wanted->reliability.weight - found->reliability.weight) < 1e-5);
    assert_true(fabs(wanted->reliability.log_loss - found->reliability.log_loss) < 1e-5);
    for (int i = 0; i < ACQ_RELIABILITY_BINS; i++) {
        const acq_reliability_bin *a = &wanted->reliability.bins[i],
                                  *b = &found->reliability.bins[i];
        assert_true(a->low == b->low && a->high == b->high && a->n == b->n);
        assert_true(fabs(a->stated - b->stated) < 1e-5 && fabs(a->truth - b->truth) < 1e-5);
    }
    assert_string_equal(wanted->models, found->models);
    assert_string_equal(wanted->graph, found->graph);
}

static void test_any_parts_come_back(void **state)
{
    (void)state;
    for (unsigned parts = 0; parts < 8; parts++) {
        acq_calibrator *made = make_calibrator(parts), *back = NULL;
        void *bytes = NULL, *again = NULL;
        size_t length, length_again;
        assert_int_equal(acq_calibrator_write_memory(made, &bytes, &length, NULL), ACQ_OK);
        assert_int_equal(acq_calibrator_read_memory(bytes, length, "m", &back, NULL), ACQ_OK);
        check_same(made, back);
        assert_int_equal(acq_calibrator_write_memory(back, &again, &length_again, NULL), ACQ_OK);
        assert_int_equal(length, length_again);
        assert_memory_equal(bytes, again, length);
        acq_free(bytes);
        acq_free(again);
        acq_calibrator_free(made);
        acq_calibrator_free(back);
    }
    acq_calibrator_free(NULL);
}

/* The same bytes with other shares in the metadata, of the same length. */
static acq_status read_with_shares(const char *shares, acq_calibrator **out, acq_error *error)
{
    acq_calibrator *made = make_calibrator(3);
    void *bytes = NULL;
    size_t length;
    assert_int_equal(acq_calibrator_write_memory(made, &bytes, &length, NULL), ACQ_OK);
    char *place = memmem(bytes, length, "0 0.125000 0.250000", 19);
    assert_non_null(place);
    assert_int_equal(strlen(shares), 19);
    memcpy(place, shares, 19);
    acq_status status = acq_calibrator_read_memory(bytes, length, "m", out, error);
    acq_free(bytes);
    acq_calibrator_free(made);
    return status;
}

static void test_shares_must_be_shares(void **state)
{
    (void)state;
    static const char *const bad[] = {"1 0.125000 0.250000", "0 -.125000 0.250000",
                                      "0 0.125000 nan     ", "0 0.125000         ",
                                      "0 0.125000 0.25000x", "                   "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        acq_calibrator *read = NULL;
        acq_error error = {0};
        assert_int_equal(read_with_shares(bad[i], &read, &error), ACQ_ERR_INPUT);
        assert_non_null(strstr(error.message, "shares"));
        assert_null(read);
    }
}

static void test_shares_follow_the_prior(void **state)
{
    (void)state;
    acq_calibrator *c = make_calibrator(0);
    assert_float_equal(acq_calibrator_get_unsupported_p(c, .5), .125, 1e-12);
    assert_float_equal(acq_calibrator_get_unsupported_p(c, .875), .5, 1e-12); /* odds 1/7 times 7 */
    assert_float_equal(acq_calibrator_get_open_prior(c, .5), .75, 1e-12);     /* over odds 1/3 */
    assert_float_equal(acq_calibrator_get_open_prior(c, .25), .5, 1e-12);
    c->open_balanced = c->unsupported_balanced = 0; /* not known */
    assert_float_equal(acq_calibrator_get_open_prior(c, .3), .3, 1e-12);
    assert_float_equal(acq_calibrator_get_unsupported_p(c, .3), 0, 1e-12);
    acq_calibrator_free(c);
}

static void test_a_file_has_the_same_bytes(void **state)
{
    (void)state;
    char path[] = "calibrator-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    acq_calibrator *made = make_calibrator(3), *back = NULL;
    void *bytes = NULL;
    size_t length;
    assert_int_equal(acq_calibrator_write(path, made, NULL), ACQ_OK);
    assert_int_equal(acq_calibrator_write_memory(made, &bytes, &length, NULL), ACQ_OK);
    close(file);
    FILE *in = fopen(path, "rb");
    char *found = malloc(length + 1);
    assert_int_equal(fread(found, 1, length + 1, in), length);
    fclose(in);
    assert_memory_equal(bytes, found, length);
    assert_int_equal(acq_calibrator_read(path, &back, NULL), ACQ_OK);
    check_same(made, back);
    free(found);
    unlink(path);
    acq_error error = {0};
    assert_int_equal(acq_calibrator_read(path, &back, &error), ACQ_ERR_INPUT);
    assert_string_equal(error.file, path);
    acq_free(bytes);
    acq_calibrator_free(made);
    acq_calibrator_free(back);
}

static void test_no_trees_come_back(void **state)
{
    (void)state;
    acq_calibrator made = {.if_slope = 1}, *back = NULL;
    acq_boost_params params = boost_case_params();
    void *bytes = NULL;
    size_t length;
    acq_boost_data none = {.n_features = 2};
    assert_int_equal(acq_boost_fit(&none, &params, &made.balanced, NULL), ACQ_OK);
    assert_int_equal(acq_calibrator_write_memory(&made, &bytes, &length, NULL), ACQ_OK);
    assert_int_equal(acq_calibrator_read_memory(bytes, length, "m", &back, NULL), ACQ_OK);
    check_boost(made.balanced, back->balanced);
    acq_free(bytes);
    acq_boost_free(made.balanced);
    acq_calibrator_free(back);
}

/* ---- what it says ---- */

static void test_the_prior_scales_the_odds_of_the_balanced_part(void **state)
{
    (void)state;
    acq_calibrator *calibrator = make_calibrator(3);
    float x[4] = {.3F, 0, 0, 0};
    double balanced = acq_boost_score(calibrator->balanced, x);
    double p = acq_calibrator_get_prior_p(calibrator, x, .5);
    assert_true(fabs(p - 1 / (1 + exp(-balanced))) < 1e-12);
    p = acq_calibrator_get_prior_p(calibrator, x, .2);
    assert_true(fabs(p / (1 - p) - exp(balanced) * .25) < 1e-12);
    acq_calibrator_free(calibrator);
}

static void test_missing_parts_say_nothing(void **state)
{
    (void)state;
    acq_calibrator empty = {0};
    float x[4] = {0};
    assert_true(isnan(acq_calibrator_get_prior_p(&empty, x, .5)));
}

static void test_p_if_answered_is_at_least_p(void **state)
{
    (void)state;
    acq_calibrator *c = make_calibrator(0);
    double logit = 1.25 * log(.25 / .75) - .5;
    assert_true(fabs(acq_calibrator_get_p_if_answered(c, .02, .08) - 1 / (1 + exp(-logit))) <
                1e-12);
    assert_true(acq_calibrator_get_p_if_answered(c, .6, .6) ==
                acq_calibrator_get_p_if_answered(c, .594, .6)); /* .99 at most */
    assert_true(acq_calibrator_get_p_if_answered(c, 1, 1) == 1);
    assert_true(acq_calibrator_get_p_if_answered(c, .5, .99) == .5); /* the curve says less */
    acq_calibrator_free(c);
}

/* ---- damage ---- */

static acq_status read_copy(const char *bytes, size_t length, acq_error *error)
{
    acq_calibrator *back = NULL;
    char *exact = malloc(length + (length == 0)); /* for the address sanitizer */
    memcpy(exact, bytes, length);
    acq_status status = acq_calibrator_read_memory(exact, length, "m", &back, error);
    free(exact);
    assert_int_equal(status == ACQ_OK, back != NULL);
    if (status == ACQ_OK && back->link != NULL) {
        float x[512] = {0};
        assert_false(isnan(acq_boost_score(back->link, x)));
    }
    acq_calibrator_free(back);
    return status;
}

static void test_changed_and_cut_files_never_do_harm(void **state)
{
    (void)state;
    acq_calibrator *made = make_calibrator(1);
    void *bytes = NULL;
    size_t length;
    assert_int_equal(acq_calibrator_write_memory(made, &bytes, &length, NULL), ACQ_OK);
    char *copy = bytes;
    for (size_t i = 0; i < length; i++) {
        for (int bit = 0; bit < 8; bit += 1 + (int)(i % 3)) {
            acq_error error = {0};
            copy[i] = (char)(copy[i] ^ 1 << bit);
            acq_status status = read_copy(copy, length, &error);
            assert_int_equal(status, error.code);
            copy[i] = (char)(copy[i] ^ 1 << bit);
        }
    }
    for (size_t n = 0; n < length; n++)
        assert_int_not_equal(read_copy(copy, n, NULL), ACQ_OK);
    acq_free(bytes);
    acq_calibrator_free(made);
}

/* Tensors of a calibrator with one part: two trees of depth 1 over two features. */
typedef struct tensors {
    float start[4], splits[2], thresholds[2], leaves[4], curve[56];
    uint32_t n_nodes, n_start;
    const char *format, *extra;
} tensors;

static const tensors good = {.start = {2, .5F, 2, 1},
                             .splits = {0, 3},
                             .thresholds = {.1F, .2F},
                             .leaves = {1, 2, 3, 4},
                             .curve = {-1, -.5F, 1, .5F},
                             .n_nodes = 1,
                             .n_start = 4,
                             .format = "anycq-calibrator-1"};

static void expect(tensors given, const char *message)
{
    acq_shape shapes[6] = {{"link.start", given.n_start, 0},
                           {"link.splits", 2 / given.n_nodes, given.n_nodes},
                           {"link.thresholds", 2, 1},
                           {"link.leaves", 2, 2},
                           {"link.curve", 28, 2},
                           {given.extra, 1, 0}};
    acq_metadata metadata[] = {{"format", given.format}, {"models", "complex"}, {"graph", "g"}};
    const float *sources[5] = {given.start, given.splits, given.thresholds, given.leaves,
                               given.curve};
    acq_parameters parameters;
    void *bytes = NULL;
    size_t length;
    acq_error error = {0};
    assert_int_equal(acq_parameters_init(&parameters, shapes, given.extra == NULL ? 5 : 6), ACQ_OK);
    for (int i = 0; i < 5; i++)
        memcpy(parameters.values + parameters.tensors[i].offset, sources[i],
               acq_tensor_get_length(&parameters.tensors[i]) * sizeof(float));
    assert_int_equal(acq_safetensors_write_memory(&parameters, metadata, 3, &bytes, &length, NULL),
                     ACQ_OK);
    acq_status status = read_copy(bytes, length, &error);
    if (message == NULL ? status != ACQ_OK
                        : status != ACQ_ERR_INPUT || strstr(error.message, message) == NULL)
        fail_msg("\"%s\", expected \"%s\"", error.message, message);
    acq_parameters_deinit(&parameters);
    acq_free(bytes);
}

#define CHANGE(change, message)                                                                    \
    do {                                                                                           \
        tensors given = good;                                                                      \
        given.change;                                                                              \
        expect(given, message);                                                                    \
    } while (0)

static void test_wrong_tensors_are_refused(void **state)
{
    (void)state;
    expect(good, NULL);
    CHANGE(splits[1] = 4, "a feature that there is not");
    CHANGE(splits[0] = -1, "a feature that there is not");
    CHANGE(splits[0] = .5F, "a feature that there is not");
    CHANGE(splits[0] = 1e30F, "a feature that there is not");
    CHANGE(splits[0] = NAN, "must be finite");
    CHANGE(thresholds[1] = NAN, "must be finite");
    CHANGE(thresholds[1] = INFINITY, "must be finite");
    CHANGE(leaves[3] = INFINITY, "must be finite");
    CHANGE(start[1] = NAN, "must be finite");
    CHANGE(start[0] = 0, "number of features");
    CHANGE(start[0] = 1.5F, "number of features");
    CHANGE(start[0] = 257, "number of features");
    CHANGE(start[0] = -2, "number of features");
    CHANGE(n_nodes = 2, "no depth");
    CHANGE(format = "anycq-policy-1", "no calibrator");
    CHANGE(start[2] = 29, "an impossible curve");
    CHANGE(start[2] = .5F, "an impossible curve");
    CHANGE(start[3] = 3, "more trees of a prior than trees");
    CHANGE(start[3] = -1, "more trees of a prior than trees");
    CHANGE(n_start = 3, NULL); /* as version 0.1 wrote them */
    CHANGE(n_start = 2, "link.start");
    CHANGE(curve[0] = 1, "a curve that falls");
    CHANGE(curve[1] = 1, "a curve that falls");
    CHANGE(curve[1] = NAN, "must be finite");
    CHANGE(extra = "other", "6 tensors, expected 5");
}

/* ---- memory ---- */

static void test_every_failed_allocation_is_reported(void **state)
{
    (void)state;
#ifdef ACQ_FAULTS
    acq_calibrator *made = make_calibrator(5);
    void *bytes = NULL;
    size_t length = 0, n = 0;
    acq_status status = ACQ_ERR_MEMORY;
    while (status != ACQ_OK && n < MOST_ALLOCATIONS) {
        acq_error error = {0};
        acq_faults_fail_at(++n);
        status = acq_calibrator_write_memory(made, &bytes, &length, &error);
        acq_faults_fail_at(0);
        assert_int_equal(error.code, status);
    }
    assert_true(n > 4 && status == ACQ_OK);
    status = ACQ_ERR_MEMORY;
    for (n = 0; status != ACQ_OK && n < MOST_ALLOCATIONS;) {
        acq_calibrator *back = NULL;
        acq_error error = {0};
        acq_faults_fail_at(++n);
        status = acq_calibrator_read_memory(bytes, length, "m", &back, &error);
        acq_faults_fail_at(0);
        assert_int_equal(error.code, status);
        assert_int_equal(status == ACQ_OK, back != NULL);
        acq_calibrator_free(back);
    }
    assert_true(n > 10 && status == ACQ_OK);
    acq_free(bytes);
    acq_calibrator_free(made);
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_parts_come_back),
        cmocka_unit_test(test_shares_must_be_shares),
        cmocka_unit_test(test_shares_follow_the_prior),
        cmocka_unit_test(test_a_file_has_the_same_bytes),
        cmocka_unit_test(test_no_trees_come_back),
        cmocka_unit_test(test_the_prior_scales_the_odds_of_the_balanced_part),
        cmocka_unit_test(test_missing_parts_say_nothing),
        cmocka_unit_test(test_p_if_answered_is_at_least_p),
        cmocka_unit_test(test_changed_and_cut_files_never_do_harm),
        cmocka_unit_test(test_wrong_tensors_are_refused),
        cmocka_unit_test(test_every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
