/* eval_links.c - `anycq eval links`: a predictor of links judged by the links that it did not see;
 * and reliability tables, as eval links and fit show them.
 *
 * complex:, nbfnet: and ultra: are judged by their raw scores of all entities, any other predictor
 * by the scores of its links, and where it has a calibrator these as probabilities too. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/eval.h"
#include "cli/progress.h"
#include "cli/setup.h"
#include "cli/table.h"

/* ---- reliability tables ---- */

enum { LEAST = 50 }; /* candidates of a bin whose gap counts */

/* Where the true share is likely to be, 95 in 100: Wilson's interval. */
typedef struct share_range {
    double low, high;
} share_range;

static share_range find_range(const acq_reliability_bin *bin)
{
    double n = fmax(1, (double)bin->n), z2 = 1.96 * 1.96;
    double share = fmin(1, bin->truth / bin->weight);
    double middle = (share + z2 / (2 * n)) / (1 + z2 / n);
    double width = sqrt(z2 * (share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n);
    return (share_range){fmax(0, middle - width), fmin(1, middle + width)};
}

static void print_bin(const acq_reliability_bin *bin, bool is_last, acq_text *out)
{
    char range[32];
    if (bin->weight <= 0)
        return;
    share_range likely = find_range(bin);
    acq_format(range, sizeof range, "[%g, %g%s", bin->low, bin->high, is_last ? "]" : ")");
    acq_text_format(out, "%-13s %13.0f %9.4f %9.4f  %.3f to %.3f %8.4f\n", range, bin->weight,
                    bin->stated / bin->weight, bin->truth / bin->weight, likely.low, likely.high,
                    fabs(bin->stated - bin->truth) / bin->weight);
}

typedef struct reliability_means {
    double stated, truth, log_loss, base; /* 0 of no candidates */
} reliability_means;

static reliability_means get_means(const acq_reliability *table)
{
    reliability_means sums = {.log_loss = table->log_loss, .base = table->base_log_loss};
    double n = table->weight > 0 ? table->weight : 1;
    for (int i = 0; i < ACQ_RELIABILITY_BINS; i++) {
        sums.stated += table->bins[i].stated;
        sums.truth += table->bins[i].truth;
    }
    return (reliability_means){sums.stated / n, sums.truth / n, sums.log_loss / n, sums.base / n};
}

/* A row per bin with candidates, stated share, true share, gap. */
static void print_table(const acq_reliability *table, acq_text *out)
{
    acq_text_format(out, "%-13s %13s %9s %9s  %14s %8s\n", "p", "candidates", "stated", "true",
                    "95 % sure", "gap");
    for (int i = 0; i < ACQ_RELIABILITY_BINS; i++)
        print_bin(&table->bins[i], i + 1 == ACQ_RELIABILITY_BINS, out);
    if (table->weight <= 0)
        return;
    reliability_means means = get_means(table);
    acq_text_format(out, "%-13s %13.0f %9.4f %9.4f  %14s %8.4f\n", "all", table->weight,
                    means.stated, means.truth, "", fabs(means.stated - means.truth));
    acq_text_format(out, "log-loss %.5f, of the base rates alone %.5f\n", means.log_loss,
                    means.base);
}

/* Candidates with p >= 0.5, the true ones among them, and the largest gap of their bins. */
typedef struct said_links {
    double n, n_true, gap;
} said_links;

static said_links count_said(const acq_reliability *table)
{
    said_links said = {0};
    for (int i = 0; i < ACQ_RELIABILITY_BINS; i++) {
        const acq_reliability_bin *bin = &table->bins[i];
        if (bin->low < .5 || bin->weight <= 0)
            continue;
        said.n += bin->weight;
        said.n_true += bin->truth;
        if (bin->weight >= LEAST)
            said.gap = fmax(said.gap, fabs(bin->stated - bin->truth) / bin->weight);
    }
    return said;
}

void acq_reliability_view_print(const acq_reliability *table, const char *title, acq_text *out)
{
    acq_text_format(out, "\n%s\n", title);
    print_table(table, out);
    acq_reliability_view_print_gap(table, "gap", out);
    said_links said = count_said(table);
    acq_text_format(out, "%-*s%.0f with p >= 0.5, %.0f of them true", ACQ_SIZE_LABEL, "said",
                    said.n, said.n_true);
    if (said.n > 0)
        acq_text_format(out, " (%.1f%%)", 100 * said.n_true / said.n);
    acq_text_add(out, "\n");
}

void acq_reliability_view_print_gap(const acq_reliability *table, const char *label, acq_text *out)
{
    acq_text_format(out, "%-*s%.3f at most at p >= 0.5, %.3f anywhere, in bins of %d or more\n",
                    ACQ_SIZE_LABEL, label, count_said(table).gap,
                    acq_reliability_get_gap(table, LEAST), LEAST);
}

static json_t *make_bins(const acq_reliability *table)
{
    json_t *bins = json_array();
    for (size_t i = 0; i < ACQ_RELIABILITY_BINS; i++) {
        const acq_reliability_bin *bin = &table->bins[i];
        json_t *one = json_object();
        json_object_set_new(one, "low", json_real(bin->low));
        json_object_set_new(one, "high", json_real(bin->high));
        json_object_set_new(one, "n", acq_json_count(bin->n));
        if (bin->weight > 0) {
            json_object_set_new(one, "stated", json_real(bin->stated / bin->weight));
            json_object_set_new(one, "true", json_real(bin->truth / bin->weight));
        }
        json_array_append_new(bins, one);
    }
    return bins;
}

void acq_reliability_view_set(json_t *object, const acq_reliability *table)
{
    reliability_means means = get_means(table);
    json_object_set_new(object, "log_loss", json_real(means.log_loss));
    json_object_set_new(object, "base_log_loss", json_real(means.base));
    said_links said = count_said(table);
    json_object_set_new(object, "gap", json_real(acq_reliability_get_gap(table, LEAST)));
    json_object_set_new(object, "gap_said", json_real(said.gap));
    json_object_set_new(object, "said", json_real(said.n));
    json_object_set_new(object, "said_true", json_real(said.n_true));
    json_object_set_new(object, "bins", make_bins(table));
}

/* ---- the result, for people and for programs ----
 *
 * What a rank means is said with it: numbers of other rules do not compare. */

static void print_share(acq_text *out, const char *label, double share)
{
    acq_text_format(out, "%-*s%.2f%%\n", ACQ_SIZE_LABEL, label, 100 * share);
}

static void print_links(const acq_options *options, const acq_links_report *result, acq_text *out)
{
    char text[128];
    snprintf(text, sizeof text, "%llu, both directions; %llu have a score",
             (unsigned long long)result->n_links, (unsigned long long)result->n_ranked);
    acq_size_print_text(out, "predictor", options->predictor);
    acq_size_print_text(out, "new links", text);
}

static void print_rules(const acq_options *options, bool is_model, acq_text *out)
{
    char text[512];
    snprintf(text, sizeof text,
             "other tails that are observed%s true%s%.300s are left out of a ranking",
             options->filter == NULL ? " or" : ",", options->filter == NULL ? "" : " or in ",
             options->filter == NULL ? "" : options->filter);
    acq_size_print_text(out, "filter", text);
    acq_size_print_text(out, "ties",
                        is_model
                            ? "the mean of the best and the worst rank among equals"
                            : "the mean of the best and the worst rank among equals; links without "
                              "a score are equal, behind all others");
}

/* ---- the four cases ---- */

/* Of case i, as people and as programs read it. */
static const struct {
    const char *label, *name;
} cases[ACQ_LINKS_CASES] = {
    {"neither", "neither"}, {"head", "head"}, {"tail", "tail"}, {"head and tail", "both"}};

static void print_ranks_of_cases(const acq_links_report *result, acq_text *out)
{
    acq_text_format(out,
                    "\nthe same by which ends are seen, in observed facts of the relation:\n"
                    "%-*s%12s %9s %9s %9s %9s\n",
                    ACQ_SIZE_LABEL, "seen", "new links", "MRR", "Hits@1", "Hits@3", "Hits@10");
    for (size_t i = ACQ_LINKS_CASES; i-- > 0;) {
        const acq_links_case *one = &result->cases[i];
        acq_text_format(out, "%-*s%12llu", ACQ_SIZE_LABEL, cases[i].label,
                        (unsigned long long)one->n_links);
        if (one->n_links > 0)
            acq_text_format(out, " %9.4f %8.2f%% %8.2f%% %8.2f%%", one->mrr, 100 * one->hits1,
                            100 * one->hits3, 100 * one->hits10);
        acq_text_add(out, "\n");
    }
}

/* The table of each case in one line. */
static void print_tables_of_cases(const acq_links_report *result, acq_text *out)
{
    acq_text_format(out,
                    "\nthe same by which ends are seen; gap: the largest in bins of %d or more:\n"
                    "%-*s%11s %7s %7s %8s %8s %6s %6s %6s\n",
                    LEAST, ACQ_SIZE_LABEL, "seen", "candidates", "stated", "true", "log-loss",
                    "base", "said", "true", "gap");
    for (size_t i = ACQ_LINKS_CASES; i-- > 0;) {
        const acq_reliability *table = &result->cases[i].table;
        said_links said = count_said(table);
        reliability_means means = get_means(table);
        acq_text_format(out, "%-*s%11.0f", ACQ_SIZE_LABEL, cases[i].label, table->weight);
        if (table->weight > 0)
            acq_text_format(out, " %7.4f %7.4f %8.5f %8.5f %6.0f %6.0f %6.3f", means.stated,
                            means.truth, means.log_loss, means.base, said.n, said.n_true,
                            acq_reliability_get_gap(table, LEAST));
        acq_text_add(out, "\n");
    }
}

static void set_ranks(json_t *object, const acq_links_case *all)
{
    json_object_set_new(object, "links", acq_json_count(all->n_links));
    json_object_set_new(object, "ranked", acq_json_count(all->n_ranked));
    json_object_set_new(object, "mrr", json_real(all->mrr));
    json_object_set_new(object, "hits1", json_real(100 * all->hits1));
    json_object_set_new(object, "hits3", json_real(100 * all->hits3));
    json_object_set_new(object, "hits10", json_real(100 * all->hits10));
}

static json_t *make_cases(const acq_links_report *result)
{
    json_t *all = json_array();
    for (size_t i = ACQ_LINKS_CASES; i-- > 0;) {
        const acq_links_case *one = &result->cases[i];
        json_t *object = json_object();
        json_object_set_new(object, "seen", json_string(cases[i].name));
        set_ranks(object, one);
        if (result->has_table) {
            reliability_means means = get_means(&one->table);
            json_object_set_new(object, "candidates", json_real(one->table.weight));
            json_object_set_new(object, "stated", json_real(means.stated));
            json_object_set_new(object, "true", json_real(means.truth));
            acq_reliability_view_set(object, &one->table);
        }
        json_array_append_new(all, object);
    }
    return all;
}

static void print_decisions(const acq_links_decisions *all, double prior, acq_text *out)
{
    acq_text_format(out, "\n%-*s%.2f%% of yes or no, ", ACQ_SIZE_LABEL, "accuracy",
                    100 * all->accuracy);
    if (isnan(prior))
        acq_text_add(out, "by a score of 0.5: there is no calibrator\n");
    else
        acq_text_format(out, "at --prior %g\n", prior);
    acq_text_format(out, "%-*s%llu, %llu of them yes\n", ACQ_SIZE_LABEL, "true links",
                    (unsigned long long)all->n_true, (unsigned long long)all->true_yes);
    acq_text_format(out, "%-*s%llu, %llu of them yes\n", ACQ_SIZE_LABEL, "false links",
                    (unsigned long long)all->n_false, (unsigned long long)all->false_yes);
    if (all->n_undecided > 0)
        acq_size_print_count(out, "undecided", all->n_undecided);
}

static void print_report(const acq_options *options, const acq_links_report *result, acq_text *out)
{
    print_links(options, result, out);
    acq_text_format(out, "%-*s%.4f\n", ACQ_SIZE_LABEL, "MRR", result->mrr);
    print_share(out, "Hits@1", result->hits1);
    print_share(out, "Hits@3", result->hits3);
    print_share(out, "Hits@10", result->hits10);
    print_rules(options, result->is_model, out);
    print_ranks_of_cases(result, out);
    if (result->has_table)
        acq_reliability_view_print(
            &result->table,
            "links with a score that are not observed, by stated probability;\n"
            "log-loss beside that of each relation's true share of these:",
            out);
    if (result->has_table)
        acq_text_format(out, "%-*s%llu true links are the likeliest new one of a row\n",
                        ACQ_SIZE_LABEL, "first", (unsigned long long)result->n_first);
    if (result->has_table)
        print_tables_of_cases(result, out);
    if (result->has_decisions)
        print_decisions(&result->decisions, result->prior, out);
}

static void set_decisions(json_t *object, const acq_links_decisions *all, double prior)
{
    json_object_set_new(object, "prior", isnan(prior) ? json_null() : json_real(prior));
    json_object_set_new(object, "accuracy", json_real(100 * all->accuracy));
    json_object_set_new(object, "true_links", acq_json_count(all->n_true));
    json_object_set_new(object, "true_yes", acq_json_count(all->true_yes));
    json_object_set_new(object, "false_links", acq_json_count(all->n_false));
    json_object_set_new(object, "false_yes", acq_json_count(all->false_yes));
    json_object_set_new(object, "undecided", acq_json_count(all->n_undecided));
}

static void print_json(const acq_options *options, const acq_links_report *result, acq_text *out)
{
    json_t *object = json_object();
    json_object_set_new(object, "task", json_string("links"));
    json_object_set_new(object, "observed", acq_json_text(options->observed));
    json_object_set_new(object, "truth", acq_json_text(options->truth));
    json_object_set_new(object, "predictor", acq_json_text(options->predictor));
    set_ranks(object, &(acq_links_case){.n_links = result->n_links,
                                        .n_ranked = result->n_ranked,
                                        .mrr = result->mrr,
                                        .hits1 = result->hits1,
                                        .hits3 = result->hits3,
                                        .hits10 = result->hits10});
    json_object_set_new(
        object, "filter",
        json_string(options->filter == NULL ? "observed and true" : "observed, true and known"));
    json_object_set_new(object, "ties", json_string("mean"));
    json_object_set_new(object, "cases", make_cases(result));
    if (result->has_table) {
        acq_reliability_view_set(object, &result->table);
        json_object_set_new(object, "first", acq_json_count(result->n_first));
    }
    if (result->has_decisions)
        set_decisions(object, &result->decisions, result->prior);
    json_object_set_new(object, "seconds", json_real(result->seconds));
    acq_json_add_line(out, object);
}

/* ---- the command ---- */

typedef struct links_job {
    const acq_options *options;
    acq_output output;
    acq_setup setup;
    acq_predictor *truth, *filter, *negatives;
    acq_links_report report;
    acq_shared_work shared;
} links_job;

/* complex:, nbfnet: and ultra:MODEL are judged by their raw scores. */
static bool is_model(const char *spec)
{
    static const char *const prefixes[] = {"complex:", "nbfnet:", "rules:", "ultra:"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(spec, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static acq_status check_given(const acq_options *options, acq_error *error)
{
    if (options->observed == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "name the observed graph: --observed GRAPH");
    if (options->truth == NULL)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "name the graph that has the links to predict: --truth GRAPH");
    if (!acq_options_has(options, predictor) || strcmp(options->predictor, "auto") == 0)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "eval wants its predictor named: --predictor completion:FILE, "
                        "complex:MODEL, nbfnet:MODEL, rules:MODEL or ultra:MODEL");
    if (options->negatives != NULL && is_model(options->predictor))
        return acq_fail(error, ACQ_ERR_USAGE,
                        "raw scores decide nothing: --negatives needs --predictor completion:FILE");
    if (acq_options_has(options, prior) && options->negatives == NULL)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "option --prior of eval links needs --negatives FILE");
    return ACQ_OK;
}

/* path NULL: the option is not given. */
static acq_status open_links(links_job *job, const char *option, const char *path,
                             acq_predictor **out, acq_error *error)
{
    return path == NULL ? ACQ_OK
                        : acq_eval_open_truth(job->options, option, path, job->setup.graph,
                                              &job->output, out, error);
}

static acq_status open_all(links_job *job, acq_error *error)
{
    const acq_options *options = job->options;
    acq_status status =
        acq_setup_init(&job->setup, options, options->observed, &job->output, error);
    if (status == ACQ_OK)
        status = acq_shared_work_init(&job->shared, options, job->setup.graph, error);
    if (status == ACQ_OK)
        status = open_links(job, "truth", options->truth, &job->truth, error);
    if (status == ACQ_OK)
        status = open_links(job, "filter", options->filter, &job->filter, error);
    if (status == ACQ_OK)
        status = open_links(job, "negatives", options->negatives, &job->negatives, error);
    return status;
}

static acq_status evaluate(links_job *job, acq_error *error)
{
    const acq_options *options = job->options;
    acq_bar progress;
    acq_ask_params ask;
    acq_evaluate_links_params params;
    acq_status status = acq_setup_read_ask(options, &ask, error);
    if (status != ACQ_OK)
        return status;
    acq_evaluate_links_params_init(&params);
    params.filter = job->filter;
    params.negatives = job->negatives;
    params.ask = &ask;
    params.first = options->first;
    params.threads = (unsigned)options->threads;
    params.ranks = acq_shared_work_get_ranks(&job->shared);
    params.progress = acq_eval_show;
    params.context = &progress;
    job->report.size = sizeof job->report;
    acq_bar_init(&progress, "links");
    status = acq_evaluate_links(job->setup.predictor, job->truth, &params, &job->report, error);
    acq_bar_deinit(&progress);
    return status == ACQ_OK ? acq_graph_get_failure(job->setup.graph, error) : status;
}

int acq_eval_links_command(const acq_options *options)
{
    links_job job = {.options = options};
    acq_error error = {0};
    int code = ACQ_EXIT_YES;
    acq_output_init(&job.output);
    acq_status status = check_given(options, &error);
    if (status == ACQ_OK)
        status = open_all(&job, &error);
    if (status == ACQ_OK)
        status = evaluate(&job, &error);
    if (status == ACQ_OK && job.shared.is_shard)
        status = acq_shared_work_finish(&job.shared, options, &job.output, &error);
    if (status != ACQ_OK)
        code = acq_report_error(&job.output, options, &error, NULL);
    else if (job.shared.is_shard)
        code = ACQ_EXIT_YES;
    else if (options->json || options->separator != '\0')
        print_json(options, &job.report, &job.output.data);
    else
        print_report(options, &job.report, &job.output.data);
    if (status == ACQ_OK)
        acq_table_from_json(&job.output.data, options->separator);
    acq_shared_work_deinit(&job.shared);
    acq_predictor_free(job.truth);
    acq_predictor_free(job.filter);
    acq_predictor_free(job.negatives);
    acq_setup_deinit(&job.setup);
    return acq_output_finish(&job.output, code);
}
