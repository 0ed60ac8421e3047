/* server_sparql.c - any bytes as a query to the SPARQL Protocol, behind PREFIX and, as the first
 * byte says, ASK, SELECT * or CONSTRUCT; the second byte chooses the format. What is refused says
 * why; JSON is JSON in UTF-8, whatever the names are. */
#include "server/parts.h"
#include "server_graph.h"

static const char *const FORMS[] = {"", "ASK {", "SELECT * {", "SELECT DISTINCT ?x {",
                                    "CONSTRUCT { ?x ?y ?z } WHERE {"};
static const char *const ACCEPT[] = {
    "application/sparql-results+json, text/turtle", "application/sparql-results+xml",
    "text/csv, application/n-triples", "text/tab-separated-values", "*/*"};

static void check(const acq_reply *reply, bool is_json)
{
    if (reply->failure != NULL) {
        const json_t *error = json_object_get(reply->failure, "error");
        assert(reply->status >= 400 && strlen(acq_argument_get_text(error, "message")) > 0);
        return;
    }
    assert(reply->status == 200 && !reply->text.failed);
    if (is_json && strstr(reply->type, "json") != NULL) {
        json_t *object = json_loadb(reply->text.bytes, reply->text.length, 0, NULL);
        assert(json_is_object(object));
        json_decref(object);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    acq_text text = {0};
    size_t form = size > 0 ? data[0] % 5 : 0, accept = size > 1 ? data[1] % 5 : 0;
    if (size < 2)
        return 0;
    acq_text_add(&text, "PREFIX : <http://e/> PREFIX x: <http://www.w3.org/2001/XMLSchema#> ");
    acq_text_add(&text, FORMS[form]);
    acq_text_add_bytes(&text, (const char *)data + 2, size - 2);
    json_t *query = json_string(text.bytes);
    if (query != NULL) {
        acq_service *service = acq_served_join(fuzz_served());
        acq_call call = {.service = service, .served = fuzz_served()};
        json_t *arguments = json_pack("{s:o}", "query", query);
        acq_protocol_request request = {.arguments = arguments, .accept = ACCEPT[accept]};
        acq_reply reply;
        acq_protocol_answer(&call, &request, &reply);
        check(&reply, accept == 0);
        acq_text_deinit(&reply.text);
        json_decref(reply.failure);
        json_decref(arguments);
        acq_service_leave(service);
    }
    acq_text_deinit(&text);
    return 0;
}
