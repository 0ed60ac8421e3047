/* reliability_table.c - bins, sums, gap and loss against plain arithmetic; the table fits 80
 * columns; the diagram is whole, escaped, or not there. */
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

#include "base/hash.h"
#include "calibrate/calibrator.h"

static void test_every_probability_falls_into_its_bin(void **state)
{
    (void)state;
    acq_reliability table;
    acq_reliability_init(&table);
    assert_true(table.bins[0].low == 0 && table.bins[12].high == 1);
    for (int i = 0; i < ACQ_RELIABILITY_BINS; i++) {
        double low = table.bins[i].low;
        assert_true(i == 0 || low == table.bins[i - 1].high);
        acq_reliability_add(&table, low, false, 1, .5);
        acq_reliability_add(&table, nextafter(table.bins[i].high, 0), true, 1, .5);
        assert_int_equal(table.bins[i].n, 2);
    }
    acq_reliability_add(&table, 1, true, 1, .5);
    assert_int_equal(table.bins[12].n, 3);
}

static void test_sums_and_losses_are_those_of_the_definition(void **state)
{
    (void)state;
    acq_reliability table, parts[2];
    acq_random random = acq_random_start(1, 1);
    double loss = 0, base_loss = 0, weights = 0, stated = 0;
    acq_reliability_init(&table);
    acq_reliability_init(&parts[0]);
    acq_reliability_init(&parts[1]);
    for (int i = 0; i < 1000; i++) {
        double p = .41 + .08 * acq_random_unit(&random), weight = 1 + acq_random_unit(&random);
        bool is_true = acq_random_unit(&random) < p;
        acq_reliability_add(&table, p, is_true, weight, .3);
        acq_reliability_add(&parts[i % 2], p, is_true, weight, .3);
        loss -= weight * log(is_true ? p : 1 - p);
        base_loss -= weight * log(is_true ? .3 : .7);
        weights += weight;
        stated += weight * p;
    }
    assert_true(fabs(table.log_loss - loss) < 1e-9);
    assert_true(fabs(table.base_log_loss - base_loss) < 1e-9);
    assert_true(fabs(table.bins[7].stated - stated) < 1e-9);
    acq_reliability_merge(&parts[0], &parts[1]);
    assert_true(fabs(parts[0].weight - weights) < 1e-9);
    assert_true(fabs(parts[0].log_loss - loss) < 1e-9);
    assert_int_equal(parts[0].bins[7].n, 1000);
    assert_true(fabs(parts[0].bins[7].truth - table.bins[7].truth) < 1e-9);
}

static void test_no_more_become_true_than_were_not(void **state)
{
    (void)state;
    acq_reliability table, all_true;
    acq_reliability_init(&table);
    acq_reliability_init(&all_true);
    for (int i = 0; i < 10; i++) {
        acq_reliability_add(&table, .95, i < 8, 1, .5);
        acq_reliability_add(&all_true, .95, true, 1, .5);
    }
    for (int i = 0; i < 8; i++)
        acq_reliability_add_true(&table, .95, .9, .5); /* 7.2, but there are 2 */
    assert_true(fabs(table.bins[12].truth - 10) < 1e-9);
    assert_true(fabs(table.log_loss - all_true.log_loss) < 1e-9);
    assert_true(fabs(table.base_log_loss - all_true.base_log_loss) < 1e-9);
}

static void test_certain_mistakes_cost_much_but_not_all(void **state)
{
    (void)state;
    acq_reliability table;
    acq_reliability_init(&table);
    acq_reliability_add(&table, 1, false, 1, 0);
    acq_reliability_add(&table, 0, true, 1, 1);
    assert_true(isfinite(table.log_loss) && table.log_loss > 40);
    assert_true(isfinite(table.base_log_loss));
}

static void test_the_gap_is_that_of_bins_with_enough(void **state)
{
    (void)state;
    acq_reliability table;
    acq_reliability_init(&table);
    assert_true(acq_reliability_get_gap(&table, 0) == 0);
    for (int i = 0; i < 300; i++)
        acq_reliability_add(&table, .75, i % 3 != 0, 1, .5); /* 2/3 are true */
    for (int i = 0; i < 10; i++)
        acq_reliability_add(&table, .95, false, 1, .5);
    assert_true(fabs(acq_reliability_get_gap(&table, 200) - (.75 - 2 / 3.)) < 1e-9);
    assert_true(fabs(acq_reliability_get_gap(&table, 10) - .95) < 1e-9);
    assert_true(acq_reliability_get_gap(&table, 1000) == 0);
}

static acq_reliability make_table(void)
{
    acq_reliability table;
    acq_random random = acq_random_start(2, 2);
    acq_reliability_init(&table);
    for (int i = 0; i < 20000; i++) {
        double unit = acq_random_unit(&random), p = unit * unit * unit;
        acq_reliability_add(&table, p, acq_random_unit(&random) < p * .9, 1e6, .25);
    }
    return table;
}

static void test_the_diagram_is_escaped_and_whole(void **state)
{
    (void)state;
    acq_reliability table = make_table();
    char path[] = "reliability-XXXXXX", text[20000] = "";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(acq_reliability_write_svg(&table, "p < 1 & \"q\" \xff", path, NULL), ACQ_OK);
    FILE *in = fopen(path, "r");
    size_t length = fread(text, 1, sizeof text - 1, in);
    fclose(in);
    unlink(path);
    assert_true(length < sizeof text - 1);
    assert_non_null(strstr(text, "p &#60; 1 &#38; &#34;q&#34;"));
    assert_non_null(strstr(text, "</svg>\n"));
    assert_null(strstr(text, "nan"));
    acq_error error = {0};
    assert_int_equal(acq_reliability_write_svg(&table, "t", "nowhere/at/all.svg", &error),
                     ACQ_ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_probability_falls_into_its_bin),
        cmocka_unit_test(test_sums_and_losses_are_those_of_the_definition),
        cmocka_unit_test(test_no_more_become_true_than_were_not),
        cmocka_unit_test(test_certain_mistakes_cost_much_but_not_all),
        cmocka_unit_test(test_the_gap_is_that_of_bins_with_enough),
        cmocka_unit_test(test_the_diagram_is_escaped_and_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
