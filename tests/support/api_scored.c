/* api_scored.c - see api_scored.h. */
#include "support/api_scored.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/memory.h"
#include "graph/build.h"
#include "predict/completion.h"
#include "support/api_case.h"
#include "support/calibrator.h"

static void write_links(const char *path, const acq_completion_params *params)
{
    acq_rel born_in = acq_graph_find_relation(f.graph, "born_in", 7);
    acq_ent cy = acq_graph_find_entity(f.graph, "Cy", 2);
    acq_link believed[] = {{cy, acq_graph_find_entity(f.graph, "Paris", 5), 0.8F},
                           {cy, acq_graph_find_entity(f.graph, "London", 6), 0.3F}};
    acq_completion_writer *writer;
    acq_links *links;
    assert_int_equal(acq_links_new(believed, 2, acq_graph_get_n_entities(f.graph), true, &links),
                     ACQ_OK);
    assert_int_equal(acq_completion_writer_open(path, f.graph, params, &writer, NULL), ACQ_OK);
    assert_int_equal(acq_completion_writer_add(writer, born_in, links, NULL), ACQ_OK);
    assert_int_equal(acq_completion_writer_finish(writer, NULL), ACQ_OK);
    acq_completion_writer_close(writer);
    acq_links_free(links);
}

void api_write_scored(const char *path, bool is_calibrated)
{
    acq_completion_params params = {.predictor = "test", .floor = .01};
    void *bytes = NULL;
    acq_calibrator *calibrator = is_calibrated ? acq_test_calibrator(.2) : NULL;
    if (is_calibrated)
        assert_int_equal(
            acq_calibrator_write_memory(calibrator, &bytes, &params.calibrator_length, NULL),
            ACQ_OK);
    params.calibrator = bytes;
    write_links(path, &params);
    acq_calibrator_free(calibrator);
    acq_free(bytes);
}
