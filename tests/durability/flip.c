/* flip.c - one byte of a store is changed, and the command asks, checks, exports and verifies:
 * each time the right output, or an error that says so. Usage: PROGRAM ANYCQ [OFFSETS [SEED]].
 *
 * Besides random offsets of the whole file, a quarter as many in its first pages, which hold what
 * SQLite and the store say about themselves. Whatever any command notices, verifying must. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "durability/command.h"
#include "durability/options.h"
#include "durability/scratch.h"

enum { MOST_ARGUMENTS = 8, FIRST_PAGES = 32768, MOST_MESSAGES = 100 };

#define WORLD ACQ_SOURCE_DIR "/data/world/observed.tsv"

/* "STORE" stands for the store. Only observed facts: what a predictor has time for is no matter of
 * the store. */
#define OBSERVED "--predictor", "observed"
static const char *const QUESTIONS[][MOST_ARGUMENTS] = {
    {"ask", "STORE", "Q(x) := borders(x, \"France\") & !currency(x, \"Euro\")", "--all", OBSERVED},
    {"ask", "STORE", "Q(x) := exists y, f. married_to(x, y) & acted_in(x, f) & acted_in(y, f)",
     "--all", OBSERVED},
    {"ask", "STORE",
     "Q(f) := directed(\"Christopher Nolan\", f) & composed_music_for(\"John Williams\", f)",
     OBSERVED},
    {"check", "STORE", "Q(x) := borders(x, \"France\")", "Spain", OBSERVED},
    {"check", "STORE", "Q(x) := borders(x, \"France\")", "Peru", OBSERVED},
    {"export", "STORE"},
    {"info", "STORE", "--verify"},
};

enum { N_QUESTIONS = sizeof QUESTIONS / sizeof QUESTIONS[0], I_VERIFY = N_QUESTIONS - 1 };

static const char *const CHANGES[][MOST_ARGUMENTS] = {
    {"add", "STORE", "borders(\"Peru\", \"Atlantis\")", "borders(\"Atlantis\", \"Brazil\")"},
    {"remove", "STORE", "borders(\"Spain\", \"Portugal\")"},
};

typedef struct tally {
    uint64_t right, refused_input, refused_system; /* exit as always; 2; 4 */
} tally;

typedef struct message {
    char text[160];
    uint64_t n;
} message;

typedef struct bench {
    const char *program;
    test_scratch scratch;
    scratch_name store, log, shared;
    unsigned char *bytes; /* of the whole store */
    size_t n_bytes;
    command right[N_QUESTIONS];
    tally tallies[N_QUESTIONS];
    message messages[MOST_MESSAGES];
} bench;

static void run(const bench *b, const char *const *words, command *out)
{
    const char *arguments[MOST_ARGUMENTS + 2] = {b->program};
    for (size_t i = 0; i < MOST_ARGUMENTS && words[i] != NULL; i++)
        arguments[i + 1] = strcmp(words[i], "STORE") == 0 ? b->store : words[i];
    command_start(out, arguments);
    command_wait(out);
}

/* Takes the digits of times out: "0.2 ms" becomes " ms". */
static void cut_times(char *text)
{
    for (char *at = text; (at = strstr(at, " ms")) != NULL;) {
        char *digit = at;
        while (digit > text && strchr("0123456789.", digit[-1]) != NULL)
            digit--;
        memmove(digit, at, strlen(at) + 1);
        at = digit + 1;
    }
}

static void ask(const bench *b, size_t question, command *out)
{
    run(b, QUESTIONS[question], out);
    cut_times(out->said);
}

static void read_store(bench *b)
{
    FILE *file = fopen(b->store, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    b->n_bytes = (size_t)ftell(file);
    rewind(file);
    b->bytes = malloc(b->n_bytes);
    assert_non_null(b->bytes);
    assert_int_equal(fread(b->bytes, 1, b->n_bytes, file), b->n_bytes);
    fclose(file);
}

static void write_store(const bench *b)
{
    unlink(b->log);
    unlink(b->shared);
    FILE *file = fopen(b->store, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(b->bytes, 1, b->n_bytes, file), b->n_bytes);
    fclose(file);
}

static void must_run(const bench *b, const char *const *words)
{
    command c;
    run(b, words, &c);
    if (c.code != 0)
        fail_msg("%s: exit %d: %s", words[0], c.code, c.complained);
    command_deinit(&c);
}

static void set_up(bench *b, const char *program)
{
    static const char *const import[MOST_ARGUMENTS] = {"import", WORLD, "-o", "STORE"};
    *b = (bench){.program = program};
    scratch_make(&b->scratch);
    scratch_path(&b->scratch, "store", b->store);
    scratch_path(&b->scratch, "store-wal", b->log);
    scratch_path(&b->scratch, "store-shm", b->shared);
    must_run(b, import);
    for (size_t i = 0; i < sizeof CHANGES / sizeof CHANGES[0]; i++)
        must_run(b, CHANGES[i]);
    assert_int_equal(access(b->log, F_OK), -1); /* all of it is in the one file */
    read_store(b);
    for (size_t i = 0; i < N_QUESTIONS; i++) {
        ask(b, i, &b->right[i]);
        assert_true(b->right[i].code == 0 || b->right[i].code == 1);
    }
}

static void tear_down(bench *b)
{
    for (size_t i = 0; i < N_QUESTIONS; i++)
        command_deinit(&b->right[i]);
    free(b->bytes);
    scratch_remove(&b->scratch);
}

/* The first line after the file's name, its numbers replaced by N. */
static void simplify(const char *text, char *out, size_t room)
{
    size_t n = 0;
    for (; *text != '\0' && *text != '\n' && n + 1 < room; text++) {
        bool is_digit = *text >= '0' && *text <= '9';
        if (!is_digit || n == 0 || out[n - 1] != 'N')
            out[n++] = is_digit ? 'N' : *text;
    }
    out[n] = '\0';
}

static void count_message(bench *b, const char *text)
{
    message new = {.n = 1};
    simplify(strstr(text, b->store) + strlen(b->store), new.text, sizeof new.text);
    for (size_t i = 0; i < MOST_MESSAGES; i++) {
        message *m = &b->messages[i];
        if (m->n == 0) {
            *m = new;
            return;
        }
        if (strcmp(m->text, new.text) == 0) {
            m->n++;
            return;
        }
    }
}

static bool is_prefix(const char *prefix, const char *text)
{
    return strncmp(prefix, text, strlen(prefix)) == 0;
}

/* true: the output is right; false: a clear error. Anything else fails the test. */
static bool judge(bench *b, size_t question, const command *got, const char *where)
{
    const command *right = &b->right[question];
    tally *t = &b->tallies[question];
    if (got->code == right->code && strcmp(got->said, right->said) == 0) {
        t->right++;
        return true;
    }
    if (got->code != 2 && got->code != 4)
        fail_msg("%s: %s ended with %d\nsaid: %.400s\ncomplained: %.400s", where,
                 QUESTIONS[question][0], got->code, got->said, got->complained);
    if (strstr(got->complained, b->store) == NULL || !is_prefix(got->said, right->said))
        fail_msg("%s: %s (exit %d)\nsaid: %.400s\ncomplained: %.400s", where,
                 QUESTIONS[question][0], got->code, got->said, got->complained);
    t->refused_input += got->code == 2;
    t->refused_system += got->code == 4;
    count_message(b, got->complained);
    return false;
}

static void flip(bench *b, size_t offset, unsigned char mask)
{
    char where[64];
    bool is_noticed = false, is_verified = true;
    snprintf(where, sizeof where, "byte %zu xor %u", offset, mask);
    b->bytes[offset] ^= mask;
    for (size_t i = 0; i < N_QUESTIONS; i++) {
        command got;
        write_store(b);
        ask(b, i, &got);
        bool is_right = judge(b, i, &got, where);
        is_noticed = is_noticed || !is_right;
        if (i == I_VERIFY)
            is_verified = is_right;
        command_deinit(&got);
    }
    if (is_noticed && is_verified)
        fail_msg("%s: a command noticed what verifying did not", where);
    b->bytes[offset] ^= mask;
}

static void report(const bench *b)
{
    for (size_t i = 0; i < N_QUESTIONS; i++)
        print_message("%-7s %5llu right, %5llu refused with exit 2, %5llu with exit 4\n",
                      QUESTIONS[i][0], (unsigned long long)b->tallies[i].right,
                      (unsigned long long)b->tallies[i].refused_input,
                      (unsigned long long)b->tallies[i].refused_system);
    for (size_t i = 0; i < MOST_MESSAGES && b->messages[i].n > 0; i++)
        print_message("%6llu %s\n", (unsigned long long)b->messages[i].n, b->messages[i].text);
}

static void test_a_flipped_byte_gives_the_right_answer_or_an_error(void **state)
{
    const test_options *options = ((void **)*state)[0];
    acq_random random = acq_random_start(options->seed, 0);
    bench b;
    set_up(&b, ((void **)*state)[1]);
    print_message("a store of %zu bytes\n", b.n_bytes);
    for (uint64_t i = 0; i < options->rounds + options->rounds / 4; i++) {
        size_t within = i < options->rounds || b.n_bytes < FIRST_PAGES ? b.n_bytes : FIRST_PAGES;
        size_t offset = (size_t)acq_random_below(&random, within);
        flip(&b, offset, (unsigned char)(1 + acq_random_below(&random, 255)));
    }
    report(&b);
    tear_down(&b);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    test_options options = test_options_read(argc - 1, argv + 1, 32);
    void *both[] = {&options, argv[1]};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_a_flipped_byte_gives_the_right_answer_or_an_error, both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
