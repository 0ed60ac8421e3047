/* server_mcp.c - any bytes as a message of the Model Context Protocol: no response, or one object
 * with the version, an id, and either a result or an error. */
#include "server/http.h"
#include "server_graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    acq_service *service = acq_served_join(fuzz_served());
    acq_call call = {.service = service, .served = fuzz_served()};
    acq_mcp_request request = {.message = (const char *)data, .length = size};
    int status;
    char *answer = acq_mcp_answer(&call, &request, &status);
    assert(status == 200 || status >= 400);
    acq_service_leave(service);
    if (answer == NULL)
        return 0;
    json_t *object = json_loads(answer, JSON_REJECT_DUPLICATES, NULL);
    assert(json_is_object(object) && json_object_get(object, "id") != NULL);
    assert((json_object_get(object, "result") == NULL) !=
           (json_object_get(object, "error") == NULL));
    assert(strcmp(json_string_value(json_object_get(object, "jsonrpc")), "2.0") == 0);
    assert(strchr(answer, '\n') == NULL);
    json_decref(object);
    free(answer);
    return 0;
}
