/* train_options.c - the options of the four trainings: a resume with another value of any of them,
 * or with other graphs, is refused by name with both values; and what is not finite is an error in
 * each. */
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

#include "train/options.h"
#include "unit/train_case.h"

#define MODEL "model"

static char folder[] = "anycq-options-XXXXXX";
static train_case world, other;

static int set_up(void **state)
{
    (void)state;
    train_case_init_dense(&world, 40, 3, 90);
    train_case_init_dense(&other, 40, 3, 91);
    return mkdtemp(folder) == NULL || chdir(folder) != 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    train_case_deinit(&world);
    train_case_deinit(&other);
    return chdir("..") != 0 || rmdir(folder) != 0 ? -1 : 0; /* fails when something is left */
}

typedef struct kind_case {
    acq_train_kind kind;
    const char *checkpoint;
    const acq_train_option *small; /* what makes it quick */
    size_t n_small;
    const acq_train_option *others; /* another value of every option */
    size_t n_others;
} kind_case;

#define LIST(name) name, sizeof name / sizeof *name

static const acq_train_option complex_small[] = {{"rank", "4"}, {"epochs", "2"}};
static const acq_train_option complex_others[] = {{"seed", "2"},
                                                  {"rank", "5"},
                                                  {"rate", "0.2"},
                                                  {"last-rate", "0.02"},
                                                  {"batch", "32"},
                                                  {"candidates", "0"},
                                                  {"n3", "0.01"},
                                                  {"epochs", "3"},
                                                  {"init", "0.1"},
                                                  {"time", "5m"},
                                                  {"relation-weight", "0.5"},
                                                  {"reciprocal", NULL},
                                                  {"buckets", "3"},
                                                  {"bf16-buckets", NULL},
                                                  {"f32", NULL}};

static const acq_train_option nbfnet_small[] = {
    {"batch", "2"}, {"negatives", "4"}, {"batches", "3"}};
static const acq_train_option nbfnet_others[] = {
    {"seed", "2"},           {"batch", "3"},         {"negatives", "5"},
    {"temperature", "0.3"},  {"entities", "500"},    {"edge-dropout", "0.5"},
    {"edges", "999"},        {"keep-pairs", "yes"},  {"around", "60"},
    {"near", "7"},           {"rate", "0.001"},      {"decay", "0.1"},
    {"last-rate", "0.0002"}, {"beta1", "0.8"},       {"beta2", "0.99"},
    {"clip", "2"},           {"average", "0.5"},     {"batches", "4"},
    {"time", "1h"},          {"count-tails", "1"},   {"layers", "3"},
    {"sum", "yes"},          {"visit-nodes", "0.5"}, {"visit-edges", "0.5"}};

static const acq_train_option gnnqe_small[] = {{"batch", "2"}, {"batches", "3"}};
static const acq_train_option gnnqe_others[] = {
    {"seed", "2"},           {"batch", "3"},          {"temperature", "0.5"}, {"entities", "500"},
    {"edge-dropout", "0.5"}, {"edges", "999"},        {"near", "7"},          {"rate", "0.001"},
    {"decay", "0.1"},        {"last-rate", "0.0002"}, {"beta1", "0.8"},       {"beta2", "0.99"},
    {"clip", "2"},           {"average", "0.5"},      {"batches", "4"},       {"time", "1h"}};

static const acq_train_option ultra_small[] = {
    {"batch", "2"}, {"group", "1"}, {"negatives", "4"}, {"batches", "2"}, {"entities", "20"}};
static const acq_train_option ultra_others[] = {
    {"seed", "2"},    {"batch", "4"},     {"group", "2"},        {"tails", "2"},
    {"edges", "999"}, {"negatives", "5"}, {"entities", "21"},    {"temperature", "0.5"},
    {"near", "7"},    {"rate", "0.001"},  {"last-rate", "1e-6"}, {"decay", "0.1"},
    {"beta1", "0.8"}, {"beta2", "0.99"},  {"clip", "2"},         {"average", "0.5"},
    {"batches", "3"}, {"time", "1h"}};

static const acq_train_option rules_small[] = {{"batches", "2"}, {"facts", "5"}};
static const acq_train_option rules_others[] = {
    {"seed", "2"},         {"facts", "6"}, {"walks", "3"},       {"tries", "9"},
    {"heads", "50"},       {"most", "7"},  {"support", "3"},     {"confidence", "0.2"},
    {"similarity", "0.5"}, {"best", "3"},  {"aggregate", "max"}, {"batches", "3"},
    {"time", "1h"}};

static const acq_train_option policy_small[] = {
    {"dim", "3"},   {"seeds", "1"},   {"queries", "2"},      {"rollouts", "2"},
    {"steps", "3"}, {"batches", "2"}, {"held-queries", "1"}, {"held-steps", "1"}};
static const acq_train_option policy_others[] = {
    {"dim", "4"},           {"seeds", "2"},         {"queries", "3"},        {"rollouts", "3"},
    {"steps", "4"},         {"batches", "3"},       {"held-queries", "2"},   {"held-steps", "2"},
    {"held-terms", "3-9"},  {"hub-terms", "3-9"},   {"hub-share", "0.25"},   {"hub-from", "0.5"},
    {"hubs", "2"},          {"constants", "0.125"}, {"leaves-out", "0.125"}, {"most-atoms", "9"},
    {"discount", "0.5"},    {"floor", "0.001"},     {"scale", "4"},          {"reward-shift", "2"},
    {"check-share", "0.1"}, {"rate", "0.001"},      {"last-rate", "1e-6"},   {"decay", "0.1"},
    {"beta1", "0.8"},       {"beta2", "0.99"},      {"clip", "2"},           {"average", "0.5"},
    {"no-pe", NULL},        {"no-baseline", NULL},  {"time", "1h"},          {"shape-mix", "betae"},
    {"last-weights", NULL}};

static const kind_case cases[] = {
    {ACQ_TRAIN_COMPLEX, MODEL ".checkpoint", LIST(complex_small), LIST(complex_others)},
    {ACQ_TRAIN_NBFNET, MODEL ".checkpoint", LIST(nbfnet_small), LIST(nbfnet_others)},
    {ACQ_TRAIN_GNNQE, MODEL ".checkpoint", LIST(gnnqe_small), LIST(gnnqe_others)},
    {ACQ_TRAIN_ULTRA, MODEL ".checkpoint", LIST(ultra_small), LIST(ultra_others)},
    {ACQ_TRAIN_RULES, MODEL ".checkpoint", LIST(rules_small), LIST(rules_others)},
    {ACQ_TRAIN_POLICY, MODEL ".seed1.checkpoint", LIST(policy_small), LIST(policy_others)}};

enum { N_CASES = sizeof cases / sizeof *cases, MOST_OPTIONS = 16 };

static bool stop(void *context, const acq_train_progress *now)
{
    (void)context;
    (void)now;
    return false;
}

/* Options are the small ones, --resume if it is asked for, and one more; NULL: none. */
static acq_status train(const kind_case *c, const acq_graph *graph, bool resume,
                        const acq_train_option *more, acq_error *error)
{
    acq_train_option options[MOST_OPTIONS];
    acq_train_report report;
    size_t n = c->n_small;
    memcpy(options, c->small, n * sizeof *options);
    if (resume)
        options[n++] = (acq_train_option){"resume", NULL};
    if (more != NULL)
        options[n++] = *more;
    acq_train_run_params params = {.kind = c->kind,
                                   .graphs = &graph,
                                   .n_graphs = 1,
                                   .options = options,
                                   .n_options = n,
                                   .output = MODEL,
                                   .progress = resume ? NULL : stop};
    acq_status status = acq_train_run(&params, &report, error);
    acq_train_report_deinit(&report);
    return status;
}

static void remove_files(const kind_case *c)
{
    unlink(c->checkpoint);
    unlink(MODEL);
    unlink(MODEL ".csv");
    unlink(MODEL ".svg");
}

/* "--rank 4, not 5", the values as they are printed. */
static void assert_names(const char *message, const char *name)
{
    char words[100];
    snprintf(words, sizeof words, "the checkpoint was made with --%s ", name);
    if (strstr(message, words) == NULL || strstr(message, ", not ") == NULL)
        fail_msg("--%s: \"%s\"", name, message);
}

static void test_a_resume_with_any_other_option_is_refused_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CASES; i++) {
        const kind_case *c = &cases[i];
        acq_error error = {0};
        assert_int_equal(train(c, world.graph, false, NULL, &error), ACQ_ERR_INTERRUPTED);
        assert_int_equal(access(c->checkpoint, F_OK), 0);
        for (size_t j = 0; j < c->n_others; j++) {
            error = (acq_error){0};
            if (strcmp(c->others[j].name, "seed") == 0 && c->kind == ACQ_TRAIN_POLICY)
                continue; /* another file */
            assert_int_equal(train(c, world.graph, true, &c->others[j], &error), ACQ_ERR_INPUT);
            /* a time alone takes the place of a number of batches */
            bool is_time = strcmp(c->others[j].name, "time") == 0;
            assert_names(error.message,
                         is_time && c->kind != ACQ_TRAIN_COMPLEX ? "time" : c->others[j].name);
        }
        error = (acq_error){0};
        assert_int_equal(train(c, other.graph, true, NULL, &error), ACQ_ERR_INPUT);
        assert_non_null(strstr(error.message, "made with graphs "));
        static const acq_train_option threads = {"threads", "2"};
        assert_int_equal(train(c, world.graph, true, &threads, NULL), ACQ_OK);
        assert_int_equal(access(c->checkpoint, F_OK), -1);
        remove_files(c);
    }
}

/* Every option that the list of a kind has is among those tried above. */
static void test_no_option_is_forgotten(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CASES; i++) {
        const kind_case *c = &cases[i];
        acq_train_settings params;
        acq_text list = {0};
        acq_train_options_init(c->kind, &params);
        acq_train_options_print(c->kind, &params, &list);
        for (char *word = strtok(list.bytes, " "); word != NULL; word = strtok(NULL, " ")) {
            const char *value;
            word[strcspn(word, "=")] = '\0';
            if (strcmp(word, "checkpoint-every") != 0 &&
                !acq_train_options_find(c->others, c->n_others, word, &value))
                fail_msg("%s: --%s is not tried", acq_train_kind_get_name(c->kind), word);
        }
        acq_text_deinit(&list);
    }
}

static void test_wrong_options_are_told(void **state)
{
    (void)state;
    static const struct {
        acq_train_kind kind;
        acq_train_option option;
        const char *message;
    } bad[] = {
        {ACQ_TRAIN_COMPLEX, {"dim", "3"}, "train complex has no option \"dim\""},
        {ACQ_TRAIN_COMPLEX, {"rank", NULL}, "option --rank needs a value"},
        {ACQ_TRAIN_COMPLEX, {"rank", "4.5"}, "option --rank needs a whole number, not \"4.5\""},
        {ACQ_TRAIN_COMPLEX, {"rank", "0"}, "option --rank must be between 1 and 65536, not 0"},
        {ACQ_TRAIN_COMPLEX, {"rate", "0"}, "option --rate must be above 0"},
        {ACQ_TRAIN_COMPLEX, {"rate", "much"}, "option --rate needs a number, not \"much\""},
        {ACQ_TRAIN_COMPLEX, {"f32", "maybe"}, "option --f32 needs yes or no, not \"maybe\""},
        {ACQ_TRAIN_NBFNET,
         {"time", "5d"},
         "option --time needs a time like 90, 90s, 15m or 2h, not \"5d\""},
        {ACQ_TRAIN_NBFNET,
         {"batches", "0"},
         "a training without an end; give --batches N or --time TIME"},
        {ACQ_TRAIN_ULTRA, {"batch", "3"}, "option --batch must be a multiple of --group, 2"},
        {ACQ_TRAIN_POLICY, {"warm", "x"}, "train policy has no option \"warm\""},
        {ACQ_TRAIN_POLICY,
         {"hub-terms", "9-3"},
         "option --hub-terms needs two numbers from 2 to 1000, the smaller first, like 3-14, not "
         "\"9-3\""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        acq_train_settings params;
        acq_error error = {0};
        acq_train_options_init(bad[i].kind, &params);
        assert_int_equal(acq_train_options_set(bad[i].kind, &bad[i].option, 1, &params, &error),
                         ACQ_ERR_USAGE);
        assert_string_equal(error.message, bad[i].message);
    }
}

static void test_every_option_counts_over_the_paper(void **state)
{
    (void)state;
    static const acq_train_option given[] = {
        {"paper", NULL},       {"dim", "7"},         {"rate", "0.5"},
        {"last-rate", "0.25"}, {"decay", "0.125"},   {"clip", "3"},
        {"average", "0.75"},   {"queries", "8"},     {"rollouts", "9"},
        {"steps", "10"},       {"discount", "0.5"},  {"no-pe", "yes"},
        {"hub-share", ".375"}, {"hub-from", ".5"},   {"batches", "11"},
        {"hub-terms", "4-6"},  {"time", "1.5m"},     {"seed", "13"},
        {"seeds", "14"},       {"threads", "15"},    {"held-steps", "17"},
        {"beta1", "0.75"},     {"beta2", "0.875"},   {"held-queries", "16"},
        {"floor", "0.5"},      {"scale", "19"},      {"reward-shift", "3"},
        {"hubs", "20"},        {"constants", "21"},  {"leaves-out", ".25"},
        {"most-atoms", "2"},   {"dim", "6"},         {"checkpoint-every", "1h"},
        {"check-share", ".5"}, {"held-terms", "5-7"}};
    acq_train_settings params;
    acq_text text = {0};
    acq_train_options_init(ACQ_TRAIN_POLICY, &params);
    assert_int_equal(
        acq_train_options_set(ACQ_TRAIN_POLICY, given, sizeof given / sizeof *given, &params, NULL),
        ACQ_OK);
    acq_train_options_print(ACQ_TRAIN_POLICY, &params, &text);
    assert_string_equal(
        text.bytes,
        "dim=6 no-pe=yes queries=8 rollouts=9 steps=10 no-baseline=yes discount=0.5 floor=0.5 "
        "scale=19 reward-shift=3 rate=0.5 last-rate=0.25 beta1=0.75 beta2=0.875 decay=0.125 clip=3 "
        "average=0.75 "
        "batches=11 time=90 hub-share=0.375 hub-from=0.5 hub-terms=4-6 hubs=20 constants=21 "
        "leaves-out=0.25 most-atoms=2 check-share=0.5 shape-mix=betae last-weights=no seeds=14 "
        "held-queries=16 held-steps=17 "
        "held-terms=5-7 checkpoint-every=3600");
    assert_true(params.policy.seed == 13 && params.policy.n_threads == 15);
    acq_text_deinit(&text);
    acq_train_options_init(ACQ_TRAIN_POLICY, &params);
    assert_int_equal(acq_train_options_set(ACQ_TRAIN_POLICY, &(acq_train_option){"time", "2h"}, 1,
                                           &params, NULL),
                     ACQ_OK);
    assert_true(params.policy.batches == 0 && params.policy.seconds == 7200);
}

static void test_nell_has_a_configuration_of_its_own(void **state)
{
    (void)state;
    static const acq_train_option given[] = {{"paper-nell", NULL}, {"steps", "9"}};
    static const acq_train_option both[] = {{"paper-nell", NULL}, {"paper", NULL}};
    acq_train_settings params;
    acq_train_options_init(ACQ_TRAIN_POLICY, &params);
    assert_int_equal(acq_train_options_set(ACQ_TRAIN_POLICY, given, 2, &params, NULL), ACQ_OK);
    assert_true(params.policy.dim == 128 && params.policy.queries == 1);
    assert_true(params.policy.batches == 200000 && params.policy.steps == 9);
    assert_true(params.policy.reward_shift == 4);
    assert_int_equal(acq_train_options_set(ACQ_TRAIN_POLICY, both, 2, &params, NULL),
                     ACQ_ERR_USAGE);
}

static void assert_diverged(acq_status status, const acq_error *error)
{
    assert_int_equal(status, ACQ_ERR_INPUT);
    if (strstr(error->message, "is not a finite number; use a smaller --rate") == NULL)
        fail_msg("%s", error->message);
}

static void test_complex_that_overflows_is_an_error(void **state)
{
    (void)state;
    acq_train_complex_params params;
    acq_complex *model = NULL;
    acq_error error = {0};
    acq_train_complex_params_init(&params);
    params.rank = 4;
    params.scale = 1e30;
    assert_diverged(acq_train_complex(world.graph, &params, &model, &error), &error);
    error = (acq_error){0};
    params.scale = 2e12; /* scores are finite, gradients not all */
    params.n3 = 0;
    acq_status status = acq_train_complex(world.graph, &params, &model, &error);
    if (status == ACQ_OK)
        acq_complex_free(model);
    else
        assert_diverged(status, &error);
}

static void spoil(acq_parameters *parameters)
{
    for (size_t i = 0; i < parameters->n; i++)
        parameters->values[i] = parameters->values[i] == 0 ? 0 : 3e38F;
}

static void test_networks_that_overflow_are_errors(void **state)
{
    (void)state;
    const acq_graph *graph = world.graph;
    acq_train_settings params;
    acq_nbfnet *nbfnet = NULL, *trained_nbfnet = NULL;
    acq_ultra *ultra = NULL, *trained_ultra = NULL;
    acq_error error = {0};
    acq_train_nbfnet_params_init(&params.nbfnet);
    assert_int_equal(acq_nbfnet_new(acq_graph_get_n_relations(graph), 1, &nbfnet, NULL), ACQ_OK);
    spoil(&nbfnet->parameters);
    params.nbfnet.warm = nbfnet;
    assert_diverged(acq_train_nbfnet(graph, &params.nbfnet, &trained_nbfnet, &error), &error);
    error = (acq_error){0};
    acq_train_ultra_params_init(&params.ultra);
    assert_int_equal(acq_ultra_new(1, &ultra, NULL), ACQ_OK);
    spoil(&ultra->parameters);
    params.ultra.warm = ultra;
    assert_diverged(acq_train_ultra(&graph, 1, &params.ultra, &trained_ultra, &error), &error);
    acq_nbfnet_free(nbfnet);
    acq_ultra_free(ultra);
}

static void test_a_policy_that_overflows_is_an_error(void **state)
{
    (void)state;
    const acq_graph *graph = world.graph;
    acq_train_policy_params params;
    acq_train_policy_result result;
    acq_error error = {0};
    acq_train_policy_params_init(&params);
    params.dim = 3;
    params.n_seeds = 1;
    params.held_queries = params.held_steps = 1;
    params.score_scale = 1e308; /* rewards of which sums do not fit */
    params.baseline = false;
    assert_diverged(acq_train_policy(&graph, 1, &params, &result, &error), &error);
    acq_train_policy_result_deinit(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_resume_with_any_other_option_is_refused_by_name),
        cmocka_unit_test(test_no_option_is_forgotten),
        cmocka_unit_test(test_wrong_options_are_told),
        cmocka_unit_test(test_every_option_counts_over_the_paper),
        cmocka_unit_test(test_nell_has_a_configuration_of_its_own),
        cmocka_unit_test(test_complex_that_overflows_is_an_error),
        cmocka_unit_test(test_networks_that_overflow_are_errors),
        cmocka_unit_test(test_a_policy_that_overflows_is_an_error),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
