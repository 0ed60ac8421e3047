/* tools.h - inside the room: the tools that service.h lists, one function each, and how their
 * arguments are checked. */
#ifndef ACQ_SERVER_TOOLS_H
#define ACQ_SERVER_TOOLS_H

#include "server/service.h"

typedef json_t *(*acq_tool_fn)(const acq_call *call, const json_t *arguments, int *status);

json_t *acq_tools_ask(const acq_call *call, const json_t *arguments, int *status);
json_t *acq_tools_add(const acq_call *call, const json_t *arguments, int *status);
json_t *acq_tools_remove(const acq_call *call, const json_t *arguments, int *status);
json_t *acq_tools_query(const acq_call *call, const json_t *arguments, int *status);
json_t *acq_tools_entity(const acq_call *call, const json_t *arguments, int *status);
json_t *acq_tools_examples(const acq_call *call, const json_t *arguments, int *status);
json_t *acq_tools_trust(const acq_call *call, const json_t *arguments, int *status);

/* The graph that the arguments name, which acq_tools_check_arguments has found. */
const acq_served_graph *acq_tools_find_graph(const acq_call *call, const json_t *arguments);

/* NULL, or what is wrong: an argument that the tool does not have, or no such graph. */
json_t *acq_tools_check_arguments(const char *tool, const acq_served_graph *g,
                                  const json_t *arguments, int *status);

/* "the graph has no entity ...; did you mean ...?" */
json_t *acq_tools_fail_name(const acq_graph *graph, const char *kind, const char *name,
                            int *status);

#endif
