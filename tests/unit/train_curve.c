/* train_curve.c - the curve as CSV, there and back, and as a picture whose texts stay apart. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "train/train.h"

#define HEADER                                                                                     \
    "seed,batch,episodes,seconds,solved,reward,steps,loss,norm,rate,hub_solved,held_solved\n"

enum { MOST_TEXTS = 200, MOST_ALLOCATIONS = 1000 };

static char folder[] = "anycq-curve-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    return chdir("..") != 0 || rmdir(folder) != 0 ? -1 : 0;
}

static char *load(const char *path)
{
    char *text = NULL;
    size_t length = 0;
    assert_int_equal(acq_file_read(path, &text, &length, NULL), ACQ_OK);
    assert_int_equal(strlen(text), length);
    return text;
}

static void save(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
}

static void add(acq_curve *curve, uint64_t seed, uint64_t episodes, double solved, double hub,
                double held)
{
    acq_curve_point point = {.seed = seed,
                             .batch = episodes / 10,
                             .episodes = episodes,
                             .seconds = (double)episodes / 1000,
                             .solved = solved,
                             .reward = -1.5,
                             .steps = 12,
                             .loss = 1e-9,
                             .norm = 1 / 3.0,
                             .rate = .001,
                             .hub_solved = hub,
                             .held_solved = held};
    assert_int_equal(acq_curve_add(curve, &point), ACQ_OK);
}

/* ---- CSV ---- */

static void test_lines_are_as_documented(void **state)
{
    (void)state;
    acq_curve curve = {0};
    add(&curve, 1, 2000, .25, NAN, NAN);
    add(&curve, UINT64_MAX, 4000, 1, .5, .125);
    curve.points[1].norm = INFINITY;
    assert_int_equal(acq_curve_write_csv(&curve, "c.csv", NULL), ACQ_OK);
    char *text = load("c.csv");
    assert_string_equal(text,
                        HEADER "1,200,2000,2,0.25,-1.5,12,1e-09,0.333333333,0.001,,\n"
                               "18446744073709551615,400,4000,4,1,-1.5,12,1e-09,inf,0.001,0.5,"
                               "0.125\n");
    acq_free(text);
    unlink("c.csv");
    acq_curve_deinit(&curve);
}

static void test_a_curve_read_and_written_again_is_the_same_file(void **state)
{
    (void)state;
    acq_random random = acq_random_start(1, 0);
    acq_curve curve = {0}, read = {0};
    for (uint64_t i = 0; i < 300; i++)
        add(&curve, i % 3, i * 1000, acq_random_unit(&random),
            i % 4 == 0 ? NAN : acq_random_unit(&random),
            i % 5 != 0 ? NAN : acq_random_unit(&random));
    add(&read, 9, 9, 9, 9, 9); /* what was there goes */
    assert_int_equal(acq_curve_write_csv(&curve, "a.csv", NULL), ACQ_OK);
    assert_int_equal(acq_curve_read_csv(&read, "a.csv", NULL), ACQ_OK);
    assert_int_equal(read.n, 300);
    assert_int_equal(read.points[299].episodes, 299000);
    assert_true(isnan(read.points[0].hub_solved) && !isnan(read.points[0].held_solved));
    assert_true(fabs(read.points[7].solved - curve.points[7].solved) < 1e-9);
    assert_int_equal(acq_curve_write_csv(&read, "b.csv", NULL), ACQ_OK);
    char *a = load("a.csv"), *b = load("b.csv");
    assert_string_equal(a, b);
    acq_free(a);
    acq_free(b);
    unlink("a.csv");
    unlink("b.csv");
    acq_curve_deinit(&curve);
    acq_curve_deinit(&read);
}

static void test_no_points_are_a_curve_too(void **state)
{
    (void)state;
    acq_curve curve = {0};
    assert_int_equal(acq_curve_write_csv(&curve, "none.csv", NULL), ACQ_OK);
    assert_int_equal(acq_curve_read_csv(&curve, "none.csv", NULL), ACQ_OK);
    assert_int_equal(curve.n, 0);
    assert_int_equal(acq_curve_write_svg(&curve, "nothing", "none.svg", NULL), ACQ_OK);
    unlink("none.csv");
    unlink("none.svg");
    acq_curve_deinit(&curve);
}

static void test_other_files_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t line;
        const char *message;
    } cases[] = {
        {"", 1, "this is not a training curve: its columns are others"},
        {"a,b,c\n1,2,3\n", 1, "this is not a training curve: its columns are others"},
        {HEADER "1,2,3\n", 2, "column 3 (episodes) is not as a training writes it; start anew"},
        {HEADER "1,2,3,4,5,6,7,8,9,10,11,12", 2,
         "column 12 (held_solved) is not as a training writes it; start anew"},
        {HEADER "1,2,3,4,5,6,7,8,9,10,11,12,13\n", 2,
         "column 12 (held_solved) is not as a training writes it; start anew"},
        {HEADER "1,2,3,4,5,6,7,8,9,10,,\n\n", 3,
         "column 1 (seed) is not as a training writes it; start anew"},
        {HEADER "1,2,3,4,5,6,7,8,9,10,,\n1,2,3,x,5,6,7,8,9,10,,\n", 3,
         "column 4 (seconds) is not as a training writes it; start anew"},
        {HEADER "1,2,3, 4,5,6,7,8,9,10,,\n", 2,
         "column 4 (seconds) is not as a training writes it; start anew"},
        {HEADER "-1,2,3,4,5,6,7,8,9,10,,\n", 2,
         "column 1 (seed) is not as a training writes it; start anew"},
        {HEADER "1,2.5,3,4,5,6,7,8,9,10,,\n", 2,
         "column 2 (batch) is not as a training writes it; start anew"},
        {HEADER "18446744073709551616,2,3,4,5,6,7,8,9,10,,\n", 2,
         "column 1 (seed) is not as a training writes it; start anew"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        acq_curve curve = {0};
        acq_error error = {0};
        add(&curve, 1, 2, 3, 4, 5);
        save("bad.csv", cases[i].text);
        assert_int_equal(acq_curve_read_csv(&curve, "bad.csv", &error), ACQ_ERR_INPUT);
        assert_string_equal(error.message, cases[i].message);
        assert_int_equal(error.line, cases[i].line);
        assert_string_equal(error.file, "bad.csv");
        assert_int_equal(curve.n, 1);
        acq_curve_deinit(&curve);
    }
    unlink("bad.csv");
}

/* ---- the picture ---- */

typedef struct text_box {
    double left, right, top, bottom;
    char text[128];
} text_box;

static double get_attribute(const char *tag, const char *name, double otherwise)
{
    char key[32];
    snprintf(key, sizeof key, " %s=\"", name);
    const char *end = strchr(tag, '>'), *found = strstr(tag, key);
    return found == NULL || found > end ? otherwise : atof(found + strlen(key));
}

/* About the room that a text takes in a common sans-serif font. */
static text_box get_box(const char *tag)
{
    text_box box;
    const char *start = strchr(tag, '>') + 1, *end = strstr(tag, "</text>");
    double size = get_attribute(tag, "font-size", 12), y = get_attribute(tag, "y", 0);
    snprintf(box.text, sizeof box.text, "%.*s", (int)(end - start), start);
    double width = .6 * size * (double)(end - start), x = get_attribute(tag, "x", 0);
    const char *anchor = strstr(tag, "text-anchor=\"");
    bool is_end = anchor != NULL && anchor < start && strncmp(anchor + 13, "end", 3) == 0;
    bool is_middle = anchor != NULL && anchor < start && strncmp(anchor + 13, "middle", 6) == 0;
    box.left = is_end ? x - width : is_middle ? x - width / 2 : x;
    box.right = box.left + width;
    box.top = y - .75 * size;
    box.bottom = y + .2 * size;
    return box;
}

static void assert_apart(const text_box *a, const text_box *b)
{
    bool is_apart =
        a->right <= b->left || b->right <= a->left || a->bottom <= b->top || b->bottom <= a->top;
    if (!is_apart)
        fail_msg("\"%s\" and \"%s\" overlap", a->text, b->text);
}

/* All texts are in the picture and none covers another. */
static void check_texts(const char *svg)
{
    static text_box boxes[MOST_TEXTS];
    size_t n = 0;
    for (const char *tag = svg; (tag = strstr(tag, "<text ")) != NULL; tag++) {
        assert_true(n < MOST_TEXTS);
        boxes[n] = get_box(tag);
        if (boxes[n].left < 0 || boxes[n].right > 800 || boxes[n].top < 0 || boxes[n].bottom > 480)
            fail_msg("\"%s\" is outside", boxes[n].text);
        for (size_t i = 0; i < n; i++)
            assert_apart(&boxes[i], &boxes[n]);
        n++;
    }
    assert_true(n > 5);
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        n++;
    return n;
}

static char *draw(const acq_curve *curve, const char *title)
{
    assert_int_equal(acq_curve_write_svg(curve, title, "c.svg", NULL), ACQ_OK);
    char *svg = load("c.svg");
    unlink("c.svg");
    return svg;
}

static void test_texts_of_any_curve_stay_apart(void **state)
{
    (void)state;
    for (uint64_t c = 0; c < 60; c++) {
        acq_random random = acq_random_start(2, c);
        acq_curve curve = {0};
        uint64_t n_seeds = 1 + acq_random_below(&random, 9), points = 1 + c % 40;
        uint64_t pace = (uint64_t)pow(10, 8 * acq_random_unit(&random));
        for (uint64_t i = 0; i < points; i++) {
            for (uint64_t s = 0; s < n_seeds; s++) {
                double solved = 1 - acq_random_unit(&random) / (double)(1 + i);
                add(&curve, 1 + s, (i + 1) * pace, solved, c % 3 == 0 ? NAN : solved / 2,
                    c % 2 == 0 || i % 4 != 0 ? NAN : 1);
            }
        }
        char *svg = draw(&curve, "Training of the policy network, a title of some length");
        check_texts(svg);
        size_t panels = 1 + (c % 3 != 0) + (c % 2 != 0);
        assert_int_equal(count(svg, "<polyline "), panels * n_seeds);
        assert_int_equal(count(svg, ">seed "), panels * n_seeds);
        acq_free(svg);
        acq_curve_deinit(&curve);
    }
}

static void test_lines_are_told_apart_by_dash_and_name(void **state)
{
    (void)state;
    acq_curve curve = {0};
    for (uint64_t i = 0; i < 10; i++) {
        add(&curve, 7, i * 100, .5, NAN, NAN);
        add(&curve, 5, i * 100, .25, NAN, NAN);
    }
    char *svg = draw(&curve, "t");
    const char *first = strstr(svg, "stroke-dasharray=\"none\" points=\"56.0,333.0 ");
    const char *second = strstr(svg, "stroke-dasharray=\"7 3\" points=\"56.0,250.0 ");
    assert_true(first != NULL && second != NULL);
    assert_non_null(strstr(svg, ">seed 5</text>"));
    assert_non_null(strstr(svg, ">seed 7</text>"));
    acq_free(svg);
    acq_curve_deinit(&curve);
}

static void test_a_line_of_one_point_is_seen(void **state)
{
    (void)state;
    acq_curve curve = {0};
    add(&curve, 1, 100, .5, NAN, 2);
    char *svg = draw(&curve, "t");
    assert_int_equal(count(svg, "<circle "), 2);
    assert_non_null(strstr(svg, "cy=\"250.0\""));
    assert_non_null(strstr(svg, "cy=\"84.0\"")); /* more than all is drawn as all */
    acq_free(svg);
    acq_curve_deinit(&curve);
}

static void test_many_points_and_seeds_are_still_a_small_picture(void **state)
{
    (void)state;
    acq_curve curve = {0};
    for (uint64_t i = 0; i < 20000; i++)
        add(&curve, i % 40, i, (double)(i % 10) / 10, NAN, NAN);
    char *svg = draw(&curve, "t");
    assert_true(strlen(svg) < 200000);
    assert_int_equal(count(svg, "<polyline "), 40);
    assert_int_equal(count(svg, ">seed "), 24);
    check_texts(svg);
    acq_free(svg);
    acq_curve_deinit(&curve);
}

static void test_titles_are_escaped_and_cut(void **state)
{
    (void)state;
    acq_curve curve = {0};
    add(&curve, 1, 100, .5, NAN, NAN);
    char *svg = draw(&curve, "a<b> & \"c\"\n\xff \xc3\xa9");
    assert_non_null(
        strstr(svg, "<title>a&#60;b&#62; &#38; &#34;c&#34; \xef\xbf\xbd \xc3\xa9</title>"));
    acq_free(svg);
    char title[300];
    memset(title, 'x', sizeof title - 1);
    title[sizeof title - 1] = '\0';
    svg = draw(&curve, title);
    check_texts(svg);
    acq_free(svg);
    acq_curve_deinit(&curve);
}

#ifdef ACQ_FAULTS
static acq_status write_and_read(const acq_curve *curve, acq_curve *read, acq_error *error)
{
    acq_status status = acq_curve_write_csv(curve, "f.csv", error);
    if (status == ACQ_OK)
        status = acq_curve_write_svg(curve, "title", "f.svg", error);
    return status == ACQ_OK ? acq_curve_read_csv(read, "f.csv", error) : status;
}

static void test_every_failed_allocation_is_reported(void **state)
{
    (void)state;
    acq_curve curve = {0};
    acq_status status = ACQ_ERR_MEMORY;
    size_t n = 1;
    for (uint64_t i = 0; i < 20; i++)
        add(&curve, i % 2, i * 100, .5, .5, .5);
    for (; status != ACQ_OK && n < MOST_ALLOCATIONS; n++) {
        acq_curve read = {0};
        acq_error error = {0};
        acq_faults_fail_at(n);
        status = write_and_read(&curve, &read, &error);
        acq_faults_fail_at(0);
        assert_int_equal(error.code, status);
        assert_true(status == ACQ_OK || (status == ACQ_ERR_MEMORY && read.n == 0));
        acq_curve_deinit(&read);
    }
    assert_true(status == ACQ_OK && n > 6);
    unlink("f.csv");
    unlink("f.svg");
    acq_curve_deinit(&curve);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_are_as_documented),
        cmocka_unit_test(test_a_curve_read_and_written_again_is_the_same_file),
        cmocka_unit_test(test_no_points_are_a_curve_too),
        cmocka_unit_test(test_other_files_are_refused),
        cmocka_unit_test(test_texts_of_any_curve_stay_apart),
        cmocka_unit_test(test_lines_are_told_apart_by_dash_and_name),
        cmocka_unit_test(test_a_line_of_one_point_is_seen),
        cmocka_unit_test(test_many_points_and_seeds_are_still_a_small_picture),
        cmocka_unit_test(test_titles_are_escaped_and_cut),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_reported),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
