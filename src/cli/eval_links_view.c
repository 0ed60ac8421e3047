/* eval_links_view.c - the result of eval links, for people and for programs. What a rank means is
 * said with it: numbers of other rules do not compare. */
#include <math.h>
#include <stdio.h>

#include "cli/eval_links.h"
#include "cli/report.h"
#include "cli/reliability_view.h"
#include "cli/width.h"

static void print_share(acq_text *out, const char *label, double share)
{
    acq_text_format(out, "%-*s%.2f%%\n", ACQ_SIZE_LABEL, label, 100 * share);
}

static void print_links(const acq_links_view *view, const acq_eval_links_result *result,
                        acq_text *out)
{
    char text[128];
    snprintf(text, sizeof text, "%llu, both directions; %llu have a score",
             (unsigned long long)result->n_links, (unsigned long long)result->n_ranked);
    acq_size_print_text(out, "predictor", view->predictor);
    acq_size_print_text(out, "new links", text);
}

static void print_rules(const acq_links_view *view, acq_text *out)
{
    char text[512];
    snprintf(text, sizeof text,
             "other tails that are observed%s true%s%.300s are left out of a ranking",
             view->filter == NULL ? " or" : ",", view->filter == NULL ? "" : " or in ",
             view->filter == NULL ? "" : view->filter);
    acq_size_print_text(out, "filter", text);
    acq_size_print_text(out, "ties",
                        view->is_model
                            ? "the mean of the best and the worst rank among equals"
                            : "the mean of the best and the worst rank among equals; links without "
                              "a score are equal, behind all others");
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

void acq_links_view_print(const acq_links_view *view, const acq_eval_links_result *result,
                          acq_text *out)
{
    print_links(view, result, out);
    acq_text_format(out, "%-*s%.4f\n", ACQ_SIZE_LABEL, "MRR", result->mrr);
    print_share(out, "Hits@1", result->hits1);
    print_share(out, "Hits@3", result->hits3);
    print_share(out, "Hits@10", result->hits10);
    print_rules(view, out);
    if (result->has_table)
        acq_reliability_view_print(
            &result->table,
            "links with a score that are not observed, by stated probability;\n"
            "log-loss beside that of each relation's true share of these:",
            out);
    if (view->decisions != NULL)
        print_decisions(view->decisions, view->prior, out);
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

void acq_links_view_print_json(const acq_links_view *view, const acq_eval_links_result *result,
                               acq_text *out)
{
    json_t *object = json_object();
    json_object_set_new(object, "task", json_string("links"));
    json_object_set_new(object, "observed", acq_json_text(view->observed));
    json_object_set_new(object, "truth", acq_json_text(view->truth));
    json_object_set_new(object, "predictor", acq_json_text(view->predictor));
    json_object_set_new(object, "links", acq_json_count(result->n_links));
    json_object_set_new(object, "ranked", acq_json_count(result->n_ranked));
    json_object_set_new(object, "mrr", json_real(result->mrr));
    json_object_set_new(object, "hits1", json_real(100 * result->hits1));
    json_object_set_new(object, "hits3", json_real(100 * result->hits3));
    json_object_set_new(object, "hits10", json_real(100 * result->hits10));
    json_object_set_new(
        object, "filter",
        json_string(view->filter == NULL ? "observed and true" : "observed, true and known"));
    json_object_set_new(object, "ties", json_string("mean"));
    if (result->has_table)
        acq_reliability_view_set(object, &result->table);
    if (view->decisions != NULL)
        set_decisions(object, view->decisions, view->prior);
    json_object_set_new(object, "seconds", json_real(result->seconds));
    acq_json_add_line(out, object);
}
