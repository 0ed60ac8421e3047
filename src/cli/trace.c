/* trace.c - see trace.h. */
#include "cli/trace.h"

#include "base/memory.h"
#include "cli/json.h"

void acq_trace_init(acq_trace *trace, acq_output *output, bool is_json)
{
    *trace = (acq_trace){.output = output, .is_json = is_json};
}

void acq_trace_deinit(acq_trace *trace)
{
    acq_free(trace->steps);
    *trace = (acq_trace){0};
}

static void keep(acq_trace *trace, const acq_trace_step *step)
{
    if (ACQ_RESERVE(trace->steps, trace->capacity, trace->n + 1) == ACQ_OK)
        trace->steps[trace->n] = *step;
    else
        trace->output->data.failed = true;
}

static void print(acq_trace *trace, const acq_trace_step *step)
{
    acq_text *notes = &trace->output->notes;
    if (trace->n == 0)
        acq_text_format(notes, "%8s%10s%10s%10s%10s%10s\n", "step", "score", "best", "classes",
                        "ms", "MFLOP");
    acq_text_format(notes, "%8llu%10.4g%10.4g%10u%10.3f%10.3f\n", (unsigned long long)step->step,
                    step->score, step->best, step->n_classes, step->ms, step->flops / 1e6);
    acq_output_relieve_notes(trace->output);
}

void acq_trace_add(void *context, const acq_trace_step *step)
{
    acq_trace *trace = context;
    if (trace->output->data.failed)
        return;
    if (trace->is_json)
        keep(trace, step);
    else
        print(trace, step);
    trace->n += !trace->output->data.failed;
    trace->last = *step;
    trace->ms += step->ms;
    trace->flops += step->flops;
}

void acq_trace_finish(acq_trace *trace)
{
    if (trace->is_json || trace->n == 0)
        return;
    uint64_t n = trace->last.step;
    double mflop = trace->flops / 1e6;
    acq_text_format(&trace->output->notes,
                    "   total  %llu step%s, best %.4g, %.1f ms, %.1f MFLOP, %.1f GFLOP/s\n",
                    (unsigned long long)n, n == 1 ? "" : "s", trace->last.best, trace->ms, mflop,
                    trace->ms > 0 ? mflop / trace->ms : 0.0);
}

static json_t *make_step(const acq_trace_step *step)
{
    json_t *object = json_object();
    json_object_set_new(object, "step", acq_json_count(step->step));
    json_object_set_new(object, "score", json_real(step->score));
    json_object_set_new(object, "best", json_real(step->best));
    json_object_set_new(object, "classes", acq_json_count(step->n_classes));
    json_object_set_new(object, "ms", json_real(step->ms));
    json_object_set_new(object, "flops", json_real(step->flops));
    return object;
}

json_t *acq_trace_make_json(const acq_trace *trace)
{
    json_t *list = json_array();
    for (size_t i = 0; i < trace->n; i++)
        json_array_append_new(list, make_step(&trace->steps[i]));
    return list;
}
