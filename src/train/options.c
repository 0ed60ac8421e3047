/* options.c - see options.h.
 *
 * One row per option and kind says which field of the kind's parameters it is. Everything else is
 * read off these rows: setting, printing, the identity. So an option that is added here is part of
 * the identity, and a resume with another value of it is refused. */
#include "train/options.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"

enum { NUMBER_ROOM = 40, MOST_TERMS = 1000 };

typedef enum option_id {
#define ID(field, ...) OPTION_##field,
    ACQ_TRAIN_OPTIONS(ID, ID, ID, ID, ID)
#undef ID
} option_id;

typedef enum value_type { TYPE_FLAG, TYPE_REAL, TYPE_COUNT, TYPE_TEXT, TYPE_TIME } value_type;

typedef struct option_row {
    const char *name;
    value_type type;
    double low, high;
} option_row;

static const option_row table[] = {
#define FLAG(field, name, letter, argument, preset, low, high, ...)  {name, TYPE_FLAG, low, high},
#define REAL(field, name, letter, argument, preset, low, high, ...)  {name, TYPE_REAL, low, high},
#define COUNT(field, name, letter, argument, preset, low, high, ...) {name, TYPE_COUNT, low, high},
#define TEXT(field, name, letter, argument, preset, low, high, ...)  {name, TYPE_TEXT, low, high},
#define TIME(field, name, letter, argument, preset, low, high, ...)  {name, TYPE_TIME, low, high},
    ACQ_TRAIN_OPTIONS(FLAG, REAL, COUNT, TEXT, TIME)
#undef FLAG
#undef REAL
#undef COUNT
#undef TEXT
#undef TIME
};

/* How an option is kept in the parameters. */
typedef enum field_type {
    FIELD_U32,
    FIELD_U64,
    FIELD_REAL,
    FIELD_FLAG,      /* bool */
    FIELD_NOT,       /* bool, which the flag makes false */
    FIELD_SHARE,     /* a double: the option over the rate, which is the double before it */
    FIELD_TERMS,     /* two uint32_t: A-B */
    FIELD_PRECISION, /* the flag makes it f32 */
    FIELD_AGGREGATION,
    FIELD_MIX,
} field_type;

enum { IN_IDENTITY = 1, IN_LIST = 2 }; /* where an option is printed */

typedef struct field {
    option_id option;
    field_type type;
    size_t offset;
    unsigned shown;
} field;

#define FIELD_AS(params, option, type, member, shown)                                              \
    {                                                                                              \
        OPTION_##option, type, offsetof(params, member), shown                                     \
    }
#define FIELD_OF(params, option, member)                                                           \
    FIELD_AS(params, option,                                                                       \
             _Generic(((params *)NULL)->member, double                                             \
                      : FIELD_REAL, uint64_t                                                       \
                      : FIELD_U64, uint32_t                                                        \
                      : FIELD_U32),                                                                \
             member, IN_IDENTITY | IN_LIST)
/* What a run is free to change when it goes on. */
#define FREE_FIELDS(params)                                                                        \
    FIELD_AS(params, checkpoint_every, FIELD_REAL, checkpoint_seconds, IN_LIST),                   \
        FIELD_AS(params, train_threads, FIELD_U32, n_threads, 0),                                  \
        FIELD_AS(params, train_seed, FIELD_U64, seed, IN_IDENTITY)
#define ADAM_FIELDS(params)                                                                        \
    FIELD_OF(params, rate, optimizer.rate), FIELD_OF(params, last_rate, optimizer.last_rate),      \
        FIELD_OF(params, beta1, optimizer.beta1), FIELD_OF(params, beta2, optimizer.beta2),        \
        FIELD_OF(params, decay, optimizer.decay), FIELD_OF(params, clip, optimizer.clip),          \
        FIELD_OF(params, average, optimizer.average), FIELD_OF(params, batches, batches),          \
        FIELD_OF(params, train_time, seconds)
#define NETWORK_FIELDS(params)                                                                     \
    FIELD_OF(params, most_entities, most_entities), FIELD_OF(params, most_edges, most_edges),      \
        FIELD_OF(params, most_near, most_near), ADAM_FIELDS(params), FREE_FIELDS(params)

_Static_assert(sizeof(unsigned) == sizeof(uint32_t), "threads are kept as a uint32_t");

static const field complex_fields[] = {
#define FIELD(option, member) FIELD_OF(acq_train_complex_params, option, member)
    FIELD(rank, rank),
    FIELD(rate, rate),
    FIELD_AS(acq_train_complex_params, last_rate, FIELD_SHARE, last_rate, IN_IDENTITY | IN_LIST),
    FIELD(batch, batch),
    FIELD(candidates, candidates),
    FIELD(n3, n3),
    FIELD(relation_weight, relation_weight),
    FIELD(init, scale),
    FIELD_AS(acq_train_complex_params, reciprocal, FIELD_FLAG, reciprocal, IN_IDENTITY | IN_LIST),
    FIELD(buckets, buckets),
    FIELD_AS(acq_train_complex_params, half_buckets, FIELD_FLAG, half_buckets,
             IN_IDENTITY | IN_LIST),
    FIELD(epochs, epochs),
    FIELD(train_time, seconds),
    FIELD_AS(acq_train_complex_params, f32, FIELD_PRECISION, precision, IN_IDENTITY | IN_LIST),
    FREE_FIELDS(acq_train_complex_params),
#undef FIELD
};

static const field nbfnet_fields[] = {
#define FIELD(option, member) FIELD_OF(acq_train_nbfnet_params, option, member)
    FIELD(batch, batch),
    FIELD(train_negatives, negatives),
    FIELD(most_counted, most_counted),
    FIELD(temperature, temperature),
    FIELD(edge_dropout, edge_dropout),
    FIELD(most_around, most_around),
    FIELD(layers, layers),
    FIELD_AS(acq_train_nbfnet_params, sums, FIELD_FLAG, sums, IN_IDENTITY | IN_LIST),
    FIELD(visit_nodes, visit_nodes),
    FIELD(visit_edges, visit_edges),
    FIELD_AS(acq_train_nbfnet_params, keep_pairs, FIELD_NOT, drops_pairs, IN_IDENTITY | IN_LIST),
    NETWORK_FIELDS(acq_train_nbfnet_params),
#undef FIELD
};

static const field gnnqe_fields[] = {
#define FIELD(option, member) FIELD_OF(acq_train_nbfnet_params, option, member)
    FIELD(batch, batch),
    FIELD(temperature, temperature),
    FIELD(walk_dropout, edge_dropout),
    NETWORK_FIELDS(acq_train_nbfnet_params),
#undef FIELD
};

static const field ultra_fields[] = {
#define FIELD(option, member) FIELD_OF(acq_train_ultra_params, option, member)
    FIELD(batch, batch),
    FIELD(group, group),
    FIELD(train_tails, tails),
    FIELD(train_negatives, negatives),
    FIELD(temperature, temperature),
    NETWORK_FIELDS(acq_train_ultra_params),
#undef FIELD
};

static const field rules_fields[] = {
#define FIELD(option, member) FIELD_OF(acq_train_rules_params, option, member)
    FIELD(rule_facts, learn.facts),
    FIELD(rule_walks, learn.walks),
    FIELD(rule_tries, learn.tries),
    FIELD(rule_heads, learn.heads),
    FIELD(rule_most, learn.most),
    FIELD(rule_support, learn.support),
    FIELD(rule_confidence, learn.confidence),
    FIELD(rule_similarity, learn.similarity),
    FIELD_AS(acq_train_rules_params, rule_aggregate, FIELD_AGGREGATION, learn.aggregation,
             IN_IDENTITY | IN_LIST),
    FIELD(rule_best, learn.best),
    FIELD(batches, batches),
    FIELD(train_time, seconds),
    FREE_FIELDS(acq_train_rules_params),
#undef FIELD
};

static const field policy_fields[] = {
#define FIELD(option, member) FIELD_OF(acq_train_policy_params, option, member)
#define SPECIAL(option, type, member)                                                              \
    FIELD_AS(acq_train_policy_params, option, type, member, IN_IDENTITY | IN_LIST)
    FIELD(dim, dim),
    SPECIAL(no_pe, FIELD_NOT, uses_pe),
    FIELD(train_queries, queries),
    FIELD(rollouts, rollouts),
    FIELD(train_steps, steps),
    SPECIAL(no_baseline, FIELD_NOT, baseline),
    FIELD(discount, discount),
    FIELD(floor, floor),
    FIELD(scale, score_scale),
    FIELD(reward_shift, reward_shift),
    ADAM_FIELDS(acq_train_policy_params),
    FIELD(hub_share, hub_share),
    FIELD(hub_from, hub_from),
    SPECIAL(hub_terms, FIELD_TERMS, hub.least_terms),
    FIELD(hubs, hub.most_hubs),
    FIELD(constants, hub.constants),
    FIELD(leaves_out, hub.leaves_out),
    FIELD(most_atoms, hub.most_atoms),
    FIELD(check_share, check_share),
    SPECIAL(shape_mix, FIELD_MIX, mix),
    SPECIAL(last_weights, FIELD_FLAG, keeps_last),
    FIELD(seeds, n_seeds),
    FIELD(held_queries, held_queries),
    FIELD(held_steps, held_steps),
    SPECIAL(held_terms, FIELD_TERMS, held_hub.least_terms),
    FREE_FIELDS(acq_train_policy_params),
#undef FIELD
#undef SPECIAL
};

_Static_assert(offsetof(acq_hub_params, most_terms) ==
                   offsetof(acq_hub_params, least_terms) + sizeof(uint32_t),
               "A-B are two numbers in a row");
_Static_assert(offsetof(acq_train_complex_params, last_rate) ==
                   offsetof(acq_train_complex_params, rate) + sizeof(double),
               "the rate stands before its last share");

typedef struct kind_row {
    const char *name;
    const field *fields;
    size_t n;
} kind_row;

static const kind_row kinds[ACQ_N_TRAIN_KINDS] = {
    [ACQ_TRAIN_COMPLEX] = {"complex", complex_fields, sizeof complex_fields / sizeof(field)},
    [ACQ_TRAIN_NBFNET] = {"nbfnet", nbfnet_fields, sizeof nbfnet_fields / sizeof(field)},
    [ACQ_TRAIN_GNNQE] = {"gnnqe", gnnqe_fields, sizeof gnnqe_fields / sizeof(field)},
    [ACQ_TRAIN_ULTRA] = {"ultra", ultra_fields, sizeof ultra_fields / sizeof(field)},
    [ACQ_TRAIN_RULES] = {"rules", rules_fields, sizeof rules_fields / sizeof(field)},
    [ACQ_TRAIN_POLICY] = {"policy", policy_fields, sizeof policy_fields / sizeof(field)},
};

const char *acq_train_kind_get_name(acq_train_kind kind)
{
    return kinds[kind].name;
}

acq_train_kind acq_train_kind_find(const char *name)
{
    size_t kind = 0;
    while (kind < ACQ_N_TRAIN_KINDS && strcmp(kinds[kind].name, name) != 0)
        kind++;
    return (acq_train_kind)kind;
}

void acq_train_options_init(acq_train_kind kind, acq_train_settings *params)
{
    switch (kind) {
    case ACQ_TRAIN_COMPLEX:
        acq_train_complex_params_init(&params->complex);
        params->complex.seed = 1;
        break;
    case ACQ_TRAIN_NBFNET:
        acq_train_nbfnet_params_init(&params->nbfnet);
        break;
    case ACQ_TRAIN_GNNQE:
        acq_train_gnnqe_params_init(&params->nbfnet);
        break;
    case ACQ_TRAIN_ULTRA:
        acq_train_ultra_params_init(&params->ultra);
        break;
    case ACQ_TRAIN_RULES:
        acq_train_rules_params_init(&params->rules);
        break;
    default:
        acq_train_policy_params_init(&params->policy);
    }
}

/* The number at the start of a text; returns where it ends. */
static const char *parse_real(const char *text, double *out)
{
    char copy[NUMBER_ROOM];
    size_t length = strspn(text, "+-.0123456789eE");
    if (length == 0 || length >= sizeof copy)
        return text;
    memcpy(copy, text, length);
    copy[length] = '\0';
    char *end;
    *out = acq_read_double(copy, &end);
    return text + (end - copy);
}

static acq_status fail_range(const option_row *row, const char *text, acq_error *error)
{
    return acq_fail(error, ACQ_ERR_USAGE, "option --%s must be between %.10g and %.10g, not %.100s",
                    row->name, row->low, row->high, text);
}

static acq_status fail_form(const option_row *row, const char *form, const char *text,
                            acq_error *error)
{
    return acq_fail(error, ACQ_ERR_USAGE, "option --%s needs %s, not \"%.100s\"", row->name, form,
                    text);
}

/* A number, or a time as 90, 90s, 15m or 2h. */
static acq_status read_real(const option_row *row, const char *text, double *out, acq_error *error)
{
    static const char units[] = "smh";
    bool is_time = row->type == TYPE_TIME;
    const char *end = parse_real(text, out);
    const char *unit = *end == '\0' ? units : is_time ? strchr(units, *end) : NULL;
    if (end == text || !isfinite(*out) || unit == NULL || (*end != '\0' && end[1] != '\0'))
        return fail_form(row, is_time ? "a time like 90, 90s, 15m or 2h" : "a number", text, error);
    for (; unit > units; unit--)
        *out *= 60;
    return *out < row->low || *out > row->high ? fail_range(row, text, error) : ACQ_OK;
}

static acq_status read_count(const option_row *row, const char *text, uint64_t *out,
                             acq_error *error)
{
    size_t n_digits = strspn(text, "0123456789");
    if (n_digits == 0 || text[n_digits] != '\0')
        return fail_form(row, "a whole number", text, error);
    errno = 0;
    *out = strtoull(text, NULL, 10);
    bool is_in = errno == 0 && (double)*out >= row->low && (double)*out <= row->high;
    return is_in ? ACQ_OK : fail_range(row, text, error);
}

static acq_status read_flag(const option_row *row, const char *text, bool *out, acq_error *error)
{
    *out = text == NULL || strcmp(text, "yes") == 0;
    if (*out || strcmp(text, "no") == 0)
        return ACQ_OK;
    return fail_form(row, "yes or no", text, error);
}

/* A-B, both at least 2. */
static acq_status read_terms(const option_row *row, const char *text, uint32_t *out,
                             acq_error *error)
{
    char *end;
    unsigned long least = strtoul(text, &end, 10), most = 0;
    bool is_range =
        isdigit((unsigned char)text[0]) && *end == '-' && isdigit((unsigned char)end[1]);
    if (is_range)
        most = strtoul(end + 1, &end, 10);
    if (!is_range || *end != '\0' || least < 2 || most < least || most > MOST_TERMS)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "option --%s needs two numbers from 2 to %d, the smaller first, like "
                        "3-14, not \"%.100s\"",
                        row->name, MOST_TERMS, text);
    out[0] = (uint32_t)least;
    out[1] = (uint32_t)most;
    return ACQ_OK;
}

static acq_status read_aggregation(const option_row *row, const char *text,
                                   acq_rule_aggregation *out, acq_error *error)
{
    for (unsigned i = 0; i < ACQ_N_RULE_AGGREGATIONS; i++)
        if (strcmp(text, acq_rule_aggregation_get_name((acq_rule_aggregation)i)) == 0) {
            *out = (acq_rule_aggregation)i;
            return ACQ_OK;
        }
    return fail_form(row, "clusters, noisy-or or max", text, error);
}

static const char *const mixes[] = {[ACQ_MIX_EVEN] = "even", [ACQ_MIX_BETAE] = "betae"};

static acq_status read_mix(const option_row *row, const char *text, acq_shape_mix *out,
                           acq_error *error)
{
    for (unsigned i = 0; i < sizeof mixes / sizeof *mixes; i++)
        if (strcmp(text, mixes[i]) == 0) {
            *out = (acq_shape_mix)i;
            return ACQ_OK;
        }
    return fail_form(row, "even or betae", text, error);
}

static acq_status set_field(const field *f, const char *text, void *params, acq_error *error)
{
    const option_row *row = &table[f->option];
    void *at = (char *)params + f->offset;
    acq_status status;
    uint64_t count = 0;
    double real = 0;
    bool flag = false;
    switch (f->type) {
    case FIELD_U32:
    case FIELD_U64:
        status = read_count(row, text, &count, error);
        if (status == ACQ_OK && f->type == FIELD_U64)
            *(uint64_t *)at = count;
        else if (status == ACQ_OK)
            *(uint32_t *)at = (uint32_t)count;
        return status;
    case FIELD_FLAG:
    case FIELD_NOT:
    case FIELD_PRECISION:
        status = read_flag(row, text, &flag, error);
        if (status == ACQ_OK && f->type != FIELD_PRECISION)
            *(bool *)at = f->type == FIELD_NOT ? !flag : flag;
        else if (status == ACQ_OK)
            *(acq_precision *)at = flag ? ACQ_PRECISION_F32 : ACQ_PRECISION_AUTO;
        return status;
    case FIELD_TERMS:
        return read_terms(row, text, at, error);
    case FIELD_AGGREGATION:
        return read_aggregation(row, text, at, error);
    case FIELD_MIX:
        return read_mix(row, text, at, error);
    default:
        status = read_real(row, text, &real, error);
        if (status == ACQ_OK)
            *(double *)at = f->type == FIELD_SHARE ? real / ((double *)at)[-1] : real;
        return status;
    }
}

bool acq_train_options_find(const acq_train_option *options, size_t n, const char *name,
                            const char **value)
{
    for (size_t i = n; i-- > 0;)
        if (strcmp(options[i].name, name) == 0) {
            *value = options[i].value;
            return true;
        }
    return false;
}

/* The row of a name among the options of a kind; NULL: it has none. */
static const option_row *find_row(acq_train_kind kind, const char *name)
{
    static const unsigned of_policy[] = {OPTION_train_paper, OPTION_paper_nell, OPTION_rewards};
    for (size_t i = 0; i < 3 && kind == ACQ_TRAIN_POLICY; i++)
        if (strcmp(name, table[of_policy[i]].name) == 0)
            return &table[of_policy[i]];
    bool has_warm = kind != ACQ_TRAIN_RULES && kind != ACQ_TRAIN_POLICY;
    if (has_warm && strcmp(name, table[OPTION_warm].name) == 0)
        return &table[OPTION_warm];
    if (strcmp(name, table[OPTION_resume].name) == 0)
        return &table[OPTION_resume];
    for (size_t i = 0; i < kinds[kind].n; i++) {
        const option_row *row = &table[kinds[kind].fields[i].option];
        if (strcmp(name, row->name) == 0)
            return row;
    }
    return NULL;
}

static acq_status check_names(acq_train_kind kind, const acq_train_option *options, size_t n,
                              acq_error *error)
{
    for (size_t i = 0; i < n; i++) {
        if (options[i].name == NULL)
            return acq_fail(error, ACQ_ERR_USAGE, "option %zu of the training has no name", i + 1);
        const option_row *row = find_row(kind, options[i].name);
        if (row == NULL)
            return acq_fail(error, ACQ_ERR_USAGE, "train %s has no option \"%.100s\"",
                            kinds[kind].name, options[i].name);
        if (options[i].value == NULL && row->type != TYPE_FLAG)
            return acq_fail(error, ACQ_ERR_USAGE, "option --%s needs a value", row->name);
    }
    return ACQ_OK;
}

/* What no single option can say. */
static acq_status check_together(acq_train_kind kind, const acq_train_settings *params,
                                 acq_error *error)
{
    const acq_train_ultra_params *ultra = &params->ultra;
    bool ends = true;
    if (kind == ACQ_TRAIN_NBFNET || kind == ACQ_TRAIN_GNNQE)
        ends = params->nbfnet.batches > 0 || params->nbfnet.seconds > 0;
    if (kind == ACQ_TRAIN_ULTRA)
        ends = ultra->batches > 0 || ultra->seconds > 0;
    if (kind == ACQ_TRAIN_RULES)
        ends = params->rules.batches > 0 || params->rules.seconds > 0;
    if (kind == ACQ_TRAIN_POLICY)
        ends = params->policy.batches > 0 || params->policy.seconds > 0;
    if (kind == ACQ_TRAIN_COMPLEX && !(params->complex.rate > 0))
        return acq_fail(error, ACQ_ERR_USAGE, "option --rate must be above 0");
    if (kind == ACQ_TRAIN_ULTRA && ultra->batch % ultra->group != 0)
        return acq_fail(error, ACQ_ERR_USAGE, "option --batch must be a multiple of --group, %u",
                        ultra->group);
    return ends ? ACQ_OK
                : acq_fail(error, ACQ_ERR_USAGE,
                           "a training without an end; give --batches N or --time TIME");
}

static void follow_clock(acq_train_kind kind, acq_train_settings *params)
{
    if (kind == ACQ_TRAIN_NBFNET || kind == ACQ_TRAIN_GNNQE)
        params->nbfnet.batches = 0;
    if (kind == ACQ_TRAIN_ULTRA)
        params->ultra.batches = 0;
    if (kind == ACQ_TRAIN_RULES)
        params->rules.batches = 0;
    if (kind == ACQ_TRAIN_POLICY)
        params->policy.batches = 0;
}

static acq_status begin_as_paper(const acq_train_option *options, size_t n,
                                 acq_train_policy_params *params, acq_error *error)
{
    const char *value = NULL;
    bool is_paper = false, is_nell = false;
    acq_status status = ACQ_OK;
    if (acq_train_options_find(options, n, "paper", &value))
        status = read_flag(&table[OPTION_train_paper], value, &is_paper, error);
    if (status == ACQ_OK && acq_train_options_find(options, n, "paper-nell", &value))
        status = read_flag(&table[OPTION_paper_nell], value, &is_nell, error);
    if (is_paper && is_nell)
        return acq_fail(error, ACQ_ERR_USAGE, "--paper and --paper-nell are two configurations");
    if (is_paper)
        acq_train_policy_params_init_paper(params);
    else if (is_nell)
        acq_train_policy_params_init_paper_nell(params);
    return status;
}

acq_status acq_train_options_set(acq_train_kind kind, const acq_train_option *options, size_t n,
                                 acq_train_settings *params, acq_error *error)
{
    const char *value = NULL;
    acq_status status = check_names(kind, options, n, error);
    if (status == ACQ_OK && kind == ACQ_TRAIN_POLICY)
        status = begin_as_paper(options, n, &params->policy, error);
    if (status == ACQ_OK && acq_train_options_find(options, n, "time", &value) &&
        !acq_train_options_find(options, n, "batches", &value))
        follow_clock(kind, params);
    for (size_t i = 0; i < kinds[kind].n && status == ACQ_OK; i++) {
        const field *f = &kinds[kind].fields[i];
        if (acq_train_options_find(options, n, table[f->option].name, &value))
            status = set_field(f, value, params, error);
    }
    return status == ACQ_OK ? check_together(kind, params, error) : status;
}

/* As short as it is read back. */
static void print_real(double value, bool is_exact, acq_text *out)
{
    char text[NUMBER_ROOM];
    int digits = is_exact ? 15 : 6;
    do
        acq_format(text, sizeof text, "%.*g", digits++, value);
    while (is_exact && digits <= 17 && acq_read_double(text, NULL) != value);
    acq_text_add(out, text);
}

static void print_field(const field *f, const void *params, bool is_exact, acq_text *out)
{
    const void *at = (const char *)params + f->offset;
    const uint32_t *small = at;
    const double *real = at;
    switch (f->type) {
    case FIELD_U32:
        acq_text_format(out, "%" PRIu32, *small);
        break;
    case FIELD_U64:
        acq_text_format(out, "%" PRIu64, *(const uint64_t *)at);
        break;
    case FIELD_FLAG:
    case FIELD_NOT:
        acq_text_add(out, *(const bool *)at == (f->type == FIELD_FLAG) ? "yes" : "no");
        break;
    case FIELD_PRECISION:
        acq_text_add(out, *(const acq_precision *)at == ACQ_PRECISION_AUTO  ? "no"
                          : *(const acq_precision *)at == ACQ_PRECISION_F32 ? "yes"
                                                                            : "never");
        break;
    case FIELD_TERMS:
        acq_text_format(out, "%" PRIu32 "-%" PRIu32, small[0], small[1]);
        break;
    case FIELD_MIX:
        acq_text_add(out, mixes[*(const acq_shape_mix *)at]);
        break;
    case FIELD_AGGREGATION:
        acq_text_add(out, acq_rule_aggregation_get_name(*(const acq_rule_aggregation *)at));
        break;
    default:
        print_real(f->type == FIELD_SHARE ? real[-1] * *real : *real, is_exact, out);
    }
}

static void print_fields(acq_train_kind kind, const void *params, unsigned shown,
                         const char *prefix, acq_text *out)
{
    for (size_t i = 0; i < kinds[kind].n; i++) {
        const field *f = &kinds[kind].fields[i];
        if ((f->shown & shown) == 0)
            continue;
        acq_text_format(out, "%s%s%s=", i == 0 ? "" : " ", prefix, table[f->option].name);
        print_field(f, params, (shown & IN_IDENTITY) != 0, out);
    }
}

void acq_train_options_print(acq_train_kind kind, const void *params, acq_text *out)
{
    print_fields(kind, params, IN_LIST, "", out);
}

static uint64_t hash_weights(const acq_parameters *weights)
{
    uint64_t hash = weights->n;
    for (size_t i = 0; i < weights->n; i++) {
        uint32_t bits;
        memcpy(&bits, &weights->values[i], sizeof bits);
        hash = acq_random_mix(hash ^ bits);
    }
    return hash;
}

acq_status acq_train_print_identity(acq_train_kind kind, const void *params,
                                    const acq_graph *const *graphs, size_t n_graphs,
                                    const acq_parameters *warm, acq_text *out, acq_error *error)
{
    print_fields(kind, params, IN_IDENTITY, "--", out);
    const char *name = table[kind == ACQ_TRAIN_POLICY ? OPTION_rewards : OPTION_warm].name;
    acq_text_format(out, " --%s=", name);
    if (warm == NULL)
        acq_text_add(out, "nothing");
    else
        acq_text_format(out, "%016" PRIx64, hash_weights(warm));
    for (size_t i = 0; i < n_graphs; i++)
        acq_text_format(out, "%s%016" PRIx64, i == 0 ? " graphs=" : ",",
                        acq_graph_get_fingerprint(graphs[i]));
    acq_text_format(out, " kind=%s", kinds[kind].name);
    return acq_text_finish(out, error);
}
