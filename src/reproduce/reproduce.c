/* reproduce.c - see reproduce.h. */
#include "reproduce/reproduce.h"

#include "base/budget.h"
#include "reproduce/models.h"
#include "reproduce/render.h"

static const double QUICK_SECONDS = 840;

static acq_status prepare(acq_repro_plan *plan, const acq_repro_settings *settings,
                          acq_error *error)
{
    acq_status status = acq_repro_plan_init(plan, settings, error);
    const char *jobs = status == ACQ_OK ? acq_repro_print(plan, "%s/jobs", settings->output) : NULL;
    if (status == ACQ_OK)
        status = jobs == NULL ? acq_fail_memory(error) : acq_repro_make_folder(jobs, error);
    return status;
}

/* Also after an interrupt: what is done is shown. */
static acq_status render(acq_repro_plan *plan, acq_error *error)
{
    acq_status status = acq_repro_write_tables(plan, error);
    return status == ACQ_OK ? acq_repro_write_page(plan, error) : status;
}

acq_status acq_reproduce(const acq_repro_settings *given, acq_repro_report *report,
                         acq_error *error)
{
    acq_repro_settings settings = *given;
    acq_repro_plan plan;
    int64_t begin = acq_clock_ns();
    *report = (acq_repro_report){0};
    if (settings.quick && settings.seconds <= 0)
        settings.seconds = QUICK_SECONDS;
    acq_status status = prepare(&plan, &settings, error);
    if (status == ACQ_OK) {
        status = acq_repro_run(&plan, report, error);
        if (status == ACQ_OK || status == ACQ_ERR_INTERRUPTED) {
            acq_status rendered = render(&plan, status == ACQ_OK ? error : NULL);
            status = status == ACQ_OK ? rendered : status;
        }
    }
    for (const acq_repro_omission *o = plan.folder.omissions; o != NULL; o = o->next)
        report->n_left_out++;
    report->seconds = 1e-9 * (double)(acq_clock_ns() - begin);
    acq_repro_plan_deinit(&plan);
    return status;
}
