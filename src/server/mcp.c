/* mcp.c - see mcp.h. */
#include "server/mcp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define META      "io.modelcontextprotocol/"
#define STATELESS "2026-07-28"
#define HANDSHAKE "2025-11-25"

enum {
    PARSE_ERROR = -32700,
    INVALID_REQUEST = -32600,
    NO_METHOD = -32601,
    INVALID_PARAMS = -32602,
    UNSUPPORTED_VERSION = -32022,
    MOST_TEXT = 200000, /* bytes of one result */
};

#define QUERY                                                                                      \
    "{\"type\":\"string\",\"description\":\"Q(x) := exists y. directed(y, \\\"Oppenheimer\\\") & " \
    "born_in(y, x), or SPARQL\"}"
#define GRAPH                                                                                      \
    "\"graph\":{\"type\":\"string\",\"description\":\"name of the graph; default: the first\"}"
#define LIMIT "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100}"
#define MIN_P "\"min_p\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1}"
#define READS                                                                                      \
    "\"annotations\":{\"readOnlyHint\":true,\"openWorldHint\":false,\"idempotentHint\":true}"

/* The list of tools, as tools/list gives it. */
static const char TOOLS[] =
    "[{\"name\":\"schema\",\"description\":\"What the graph holds: its relations with the number "
    "of their facts. Call this first.\",\"inputSchema\":{\"type\":\"object\",\"properties\":{" GRAPH
    "}}," READS "},"
    "{\"name\":\"find_entity\",\"description\":\"Entities whose name begins with a prefix; names "
    "in "
    "queries must be spelled exactly.\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
    "\"prefix\":{\"type\":\"string\",\"minLength\":1}," LIMIT "," GRAPH
    "},\"required\":[\"prefix\"]}," READS "},"
    "{\"name\":\"ask\",\"description\":\"Answers of a query, also predicted ones, each with its "
    "probability p and whether it rests on observed facts alone.\",\"inputSchema\":{\"type\":"
    "\"object\",\"properties\":{\"query\":" QUERY "," LIMIT "," MIN_P "," GRAPH
    "},\"required\":[\"query\"]}," READS "},"
    "{\"name\":\"check\",\"description\":\"Is this tuple an answer of the query? values: one name "
    "for each free "
    "variable.\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"query\":" QUERY
    ",\"values\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}," GRAPH
    "},\"required\":[\"query\",\"values\"]}," READS "},"
    "{\"name\":\"explain\",\"description\":\"As check, with every atom, its fact, and the reasons "
    "of a predicted one.\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"query\":" QUERY
    ",\"values\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}," GRAPH
    "},\"required\":[\"query\",\"values\"]}," READS "},"
    "{\"name\":\"suggest\",\"description\":\"The likeliest missing facts, each with its reasons."
    "\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"relation\":{\"type\":\"string\"}"
    "," LIMIT "," MIN_P "," GRAPH "}}," READS "}]";

static const char INSTRUCTIONS[] =
    "Questions about an incomplete knowledge graph. Call schema for the relations and find_entity "
    "for exact names, then ask. p is the probability that an answer is true; kind says whether it "
    "rests on observed facts alone or on predictions.";

/* The service's name of a tool; NULL: there is none. */
static const char *find_tool(const char *name)
{
    static const char *const NAMES[][2] = {{"schema", "graph"},    {"find_entity", "names"},
                                           {"ask", "ask"},         {"check", "check"},
                                           {"explain", "explain"}, {"suggest", "suggest"}};
    for (size_t i = 0; name != NULL && i < sizeof NAMES / sizeof *NAMES; i++) {
        if (strcmp(name, NAMES[i][0]) == 0)
            return NAMES[i][1];
    }
    return NULL;
}

static json_t *make_error(int code, const char *message)
{
    return json_pack("{s:{s:i,s:s}}", "error", "code", code, "message", message);
}

static json_t *make_info(void)
{
    return json_pack("{s:s,s:s}", "name", "anycq", "version", acq_get_version());
}

/* ---- methods; each gives {"result": ...} or {"error": ...} ---- */

static json_t *initialize(const json_t *params)
{
    static const char *const KNOWN[] = {HANDSHAKE, "2025-06-18", "2025-03-26", "2024-11-05"};
    const char *wanted = json_string_value(json_object_get(params, "protocolVersion"));
    const char *version = HANDSHAKE;
    if (wanted == NULL)
        return make_error(INVALID_PARAMS, "initialize needs protocolVersion");
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
        version = strcmp(wanted, KNOWN[i]) == 0 ? KNOWN[i] : version;
    return json_pack("{s:{s:s,s:{s:{}},s:o,s:s}}", "result", "protocolVersion", version,
                     "capabilities", "tools", "serverInfo", make_info(), "instructions",
                     INSTRUCTIONS);
}

static json_t *discover(void)
{
    return json_pack("{s:{s:[s,s],s:{s:{}},s:s}}", "result", "supportedVersions", STATELESS,
                     HANDSHAKE, "capabilities", "tools", "instructions", INSTRUCTIONS);
}

static json_t *list_tools(void)
{
    json_t *tools = json_loads(TOOLS, 0, NULL);
    return tools == NULL ? NULL : json_pack("{s:{s:o}}", "result", "tools", tools);
}

/* The result of a tool, or what is wrong with the call, for the model to read. */
static json_t *make_content(json_t *object, bool is_error)
{
    char *text = json_dumps(object, JSON_COMPACT);
    if (text != NULL && strlen(text) > MOST_TEXT) {
        free(text);
        json_decref(object);
        object = json_pack("{s:{s:s,s:s}}", "error", "code", "limit", "message",
                           "the result is too long; ask again with a smaller \"limit\"");
        is_error = true;
        text = json_dumps(object, JSON_COMPACT);
    }
    json_t *result =
        text == NULL ? NULL
                     : json_pack("{s:{s:[{s:s,s:s}],s:O,s:b}}", "result", "content", "type", "text",
                                 "text", text, "structuredContent", object, "isError", is_error);
    free(text);
    json_decref(object);
    return result;
}

static json_t *call_tool(const acq_call *call, const json_t *params)
{
    const json_t *arguments = json_object_get(params, "arguments");
    const char *tool = find_tool(json_string_value(json_object_get(params, "name")));
    json_t *nothing = json_object();
    int status;
    if (tool == NULL || (arguments != NULL && !json_is_object(arguments))) {
        json_decref(nothing);
        return make_error(INVALID_PARAMS, tool == NULL ? "no such tool; tools/list names them"
                                                       : "arguments must be an object");
    }
    json_t *object = acq_service_run(call, tool, arguments == NULL ? nothing : arguments, &status);
    json_decref(nothing);
    return object == NULL ? NULL : make_content(object, status != 200);
}

/* ---- one message ---- */

/* What the stateless revision adds to every result. */
static void stamp(json_t *response, const char *method)
{
    json_t *result = json_object_get(response, "result");
    if (result == NULL)
        return;
    json_object_set_new(result, "resultType", json_string("complete"));
    json_object_set_new(result, "_meta", json_pack("{s:o}", META "serverInfo", make_info()));
    if (strcmp(method, "tools/call") != 0) {
        json_object_set_new(result, "ttlMs", json_integer(60000));
        json_object_set_new(result, "cacheScope", json_string("public"));
    }
}

static json_t *refuse_version(const char *version)
{
    json_t *response = make_error(UNSUPPORTED_VERSION, "Unsupported protocol version");
    json_object_set_new(json_object_get(response, "error"), "data",
                        json_pack("{s:[s,s],s:o}", "supported", STATELESS, HANDSHAKE, "requested",
                                  acq_service_text(version)));
    return response;
}

static json_t *run_method(const acq_call *call, const char *method, const json_t *params)
{
    const json_t *meta = json_object_get(params, "_meta");
    const json_t *claimed = json_object_get(meta, META "protocolVersion");
    const char *version = json_string_value(claimed);
    bool is_stateless = claimed != NULL || strcmp(method, "server/discover") == 0;
    if (claimed != NULL && (version == NULL || strcmp(version, STATELESS) != 0))
        return refuse_version(version == NULL ? "" : version);
    if (claimed != NULL && !json_is_object(json_object_get(meta, META "clientCapabilities")))
        return make_error(INVALID_PARAMS, "_meta lacks " META "clientCapabilities");
    json_t *response = NULL;
    if (strcmp(method, "tools/list") == 0)
        response = list_tools();
    else if (strcmp(method, "tools/call") == 0)
        response = call_tool(call, params);
    else if (is_stateless && strcmp(method, "server/discover") == 0)
        response = discover();
    else if (!is_stateless && strcmp(method, "initialize") == 0)
        response = initialize(params);
    else if (!is_stateless && strcmp(method, "ping") == 0)
        response = json_pack("{s:{}}", "result");
    else
        response = make_error(NO_METHOD, "Method not found");
    if (is_stateless && response != NULL)
        stamp(response, method);
    return response;
}

static json_t *answer_message(const acq_call *call, const json_t *message)
{
    const json_t *id = json_object_get(message, "id"), *params = json_object_get(message, "params");
    const char *method = json_string_value(json_object_get(message, "method"));
    const char *version = json_string_value(json_object_get(message, "jsonrpc"));
    bool has_id = json_is_string(id) || json_is_integer(id);
    json_t *response;
    if (!json_is_object(message) || version == NULL || strcmp(version, "2.0") != 0 ||
        (id != NULL && !has_id) || (params != NULL && !json_is_object(params)))
        response = make_error(INVALID_REQUEST, "not a request of JSON-RPC 2.0");
    else if (method == NULL)
        return NULL; /* a response: nothing was asked */
    else if (!has_id)
        return NULL; /* a notification */
    else
        response = run_method(call, method, params);
    if (response == NULL)
        response = make_error(-32603, "out of memory");
    json_object_set_new(response, "jsonrpc", json_string("2.0"));
    json_object_set_new(response, "id", has_id ? json_deep_copy(id) : json_null());
    return response;
}

char *acq_mcp_answer(const acq_call *call, const char *message, size_t length)
{
    json_t *parsed = json_loadb(message, length, JSON_REJECT_DUPLICATES, NULL);
    json_t *response;
    if (parsed == NULL) {
        response = make_error(PARSE_ERROR, "not one JSON object in UTF-8");
        json_object_set_new(response, "jsonrpc", json_string("2.0"));
        json_object_set_new(response, "id", json_null());
    } else {
        response = answer_message(call, parsed);
    }
    char *text = response == NULL ? NULL : json_dumps(response, JSON_COMPACT);
    json_decref(response);
    json_decref(parsed);
    return text;
}

/* ---- standard input and output ---- */

/* One line of at most ACQ_MCP_MOST_MESSAGE bytes; the rest of a longer one is skipped. */
static bool read_line(char *line, size_t *length, bool *is_too_long)
{
    int c;
    *length = 0;
    *is_too_long = false;
    while ((c = getc(stdin)) != EOF && c != '\n') {
        if (*length < ACQ_MCP_MOST_MESSAGE)
            line[(*length)++] = (char)c;
        else
            *is_too_long = true;
    }
    return c != EOF || *length > 0;
}

acq_status acq_mcp_serve(acq_served *served, acq_error *error)
{
    char *line = malloc(ACQ_MCP_MOST_MESSAGE);
    size_t length;
    bool is_too_long, is_good = line != NULL;
    while (is_good && read_line(line, &length, &is_too_long)) {
        if (length == 0)
            continue;
        acq_service *service = acq_served_join(served);
        acq_call call = {.service = service, .served = served};
        char *answer = acq_mcp_answer(&call, line, is_too_long ? 0 : length);
        acq_service_leave(service);
        if (answer != NULL)
            is_good = printf("%s\n", answer) >= 0 && fflush(stdout) == 0;
        free(answer);
    }
    if (line == NULL)
        return acq_fail_memory(error);
    free(line);
    return is_good ? ACQ_OK : acq_fail(error, ACQ_ERR_IO, "cannot write to standard output");
}
