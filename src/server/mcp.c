/* mcp.c - see http.h. */
#include "server/http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define META      "io.modelcontextprotocol/"
#define STATELESS "2026-07-28"
#define HANDSHAKE "2025-11-25"

enum {
    PARSE_ERROR = -32700,
    INVALID_REQUEST = -32600,
    NO_METHOD = -32601,
    INVALID_PARAMS = -32602,
    HEADER_MISMATCH = -32020,
    UNSUPPORTED_VERSION = -32022,
    INTERNAL = -32603,
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
    "{\"name\":\"schema\",\"description\":\"What the graph holds: its relations with the number "
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
    "," LIMIT "," MIN_P "," GRAPH "}}," READS "}";

#define FACTS                                                                                      \
    "\"facts\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":1000,\"items\":{\"type\":"          \
    "\"object\","                                                                                  \
    "\"properties\":{\"head\":{\"type\":\"string\"},\"relation\":{\"type\":\"string\"},\"tail\":{" \
    "\"type\":\"string\"},\"inverse\":{\"type\":\"boolean\"}},\"required\":[\"head\","             \
    "\"relation\","                                                                                \
    "\"tail\"]}}"
#define WRITES(destroys)                                                                           \
    "\"annotations\":{\"readOnlyHint\":false,\"destructiveHint\":" destroys                        \
    ",\"openWorldHint\":false,\"idempotentHint\":true}"

/* With --writable also these. */
static const char WRITERS[] =
    ",{\"name\":\"add\",\"description\":\"Adds facts to the graph, all or none. Names that the "
    "graph "
    "lacks become new ones unless known is true: give true to be safe from misspellings.\","
    "\"inputSchema\":{\"type\":\"object\",\"properties\":{" FACTS
    ",\"known\":{\"type\":\"boolean\"}," GRAPH "},\"required\":[\"facts\"]}," WRITES(
        "false") "},"
                 "{\"name\":\"remove\",\"description\":\"Removes facts from the graph, all or "
                 "none.\","
                 "\"inputSchema\":{\"type\":\"object\",\"properties\":{" FACTS "," GRAPH
                 "},\"required\":[\"facts\"]}," WRITES("true") "}";

static const char INSTRUCTIONS[] =
    "Questions about an incomplete knowledge graph. Call schema for the relations and find_entity "
    "for exact names, then ask. p is the probability that an answer is true; kind says whether it "
    "rests on observed facts alone or on predictions.";

/* The service's name of a tool; NULL: there is none. */
static const char *find_tool(const acq_call *call, const char *name)
{
    static const char *const NAMES[][2] = {
        {"schema", "graph"},    {"find_entity", "names"}, {"ask", "ask"}, {"check", "check"},
        {"explain", "explain"}, {"suggest", "suggest"},   {"add", "add"}, {"remove", "remove"}};
    for (size_t i = 0; name != NULL && i < sizeof NAMES / sizeof *NAMES; i++) {
        if (strcmp(name, NAMES[i][0]) == 0 && acq_service_has(&call->service->params, NAMES[i][1]))
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

/* Revisions that begin with a handshake. */
static const char *const KNOWN[] = {HANDSHAKE, "2025-06-18", "2025-03-26", "2024-11-05"};

/* ---- methods; each gives {"result": ...} or {"error": ...} ---- */

static json_t *initialize(const json_t *params)
{
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

static json_t *list_tools(const acq_call *call)
{
    acq_text text = {0};
    acq_text_format(&text, "[%s%s]", TOOLS, call->service->params.is_writable ? WRITERS : "");
    json_t *tools = text.failed ? NULL : json_loads(text.bytes, 0, NULL);
    acq_text_deinit(&text);
    return tools == NULL ? NULL : json_pack("{s:{s:o}}", "result", "tools", tools);
}

/* The result of a tool, or what is wrong with the call, for the model to read. */
static json_t *make_content(json_t *object, bool is_error)
{
    char *text = json_dumps(object, ACQ_SERVICE_STYLE);
    if (text != NULL && strlen(text) > MOST_TEXT) {
        free(text);
        json_decref(object);
        object = json_pack("{s:{s:s,s:s}}", "error", "code", "limit", "message",
                           "the result is too long; ask again with a smaller \"limit\"");
        is_error = true;
        text = json_dumps(object, ACQ_SERVICE_STYLE);
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
    const char *tool = find_tool(call, json_string_value(json_object_get(params, "name")));
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

/* A header against what the message says; blanks around its value do not count. */
static bool is_header(const char *header, const char *wanted)
{
    size_t n = strlen(wanted);
    if (header == NULL)
        return false;
    header += strspn(header, " \t");
    return strncmp(header, wanted, n) == 0 && header[n + strspn(header + n, " \t")] == '\0';
}

static json_t *check_headers(const acq_mcp_request *request, const char *version,
                             const char *method, const json_t *params)
{
    const char *name = json_string_value(json_object_get(params, "name"));
    if (!request->is_http)
        return NULL;
    if (!is_header(request->version, version))
        return make_error(HEADER_MISMATCH, "MCP-Protocol-Version is not that of the message");
    if (!is_header(request->method, method))
        return make_error(HEADER_MISMATCH, "Mcp-Method is not the method of the message");
    if (strcmp(method, "tools/call") == 0 && name != NULL && !is_header(request->name, name))
        return make_error(HEADER_MISMATCH, "Mcp-Name is not the name of the tool");
    return NULL;
}

/* NULL: the request is one of the stateless revision. */
static json_t *check_stateless(const acq_mcp_request *request, const char *method,
                               const json_t *params)
{
    const json_t *meta = json_object_get(params, "_meta");
    const char *version = json_string_value(json_object_get(meta, META "protocolVersion"));
    if (version == NULL)
        return make_error(INVALID_PARAMS, "_meta lacks " META "protocolVersion");
    if (!json_is_object(json_object_get(meta, META "clientCapabilities")))
        return make_error(INVALID_PARAMS, "_meta lacks " META "clientCapabilities");
    json_t *failure = check_headers(request, version, method, params);
    if (failure != NULL)
        return failure;
    return strcmp(version, STATELESS) == 0 ? NULL : refuse_version(version);
}

static json_t *run_stateless(const acq_call *call, const acq_mcp_request *request,
                             const char *method, const json_t *params)
{
    json_t *response = check_stateless(request, method, params);
    if (response != NULL)
        return response;
    if (strcmp(method, "tools/list") == 0)
        response = list_tools(call);
    else if (strcmp(method, "tools/call") == 0)
        response = call_tool(call, params);
    else if (strcmp(method, "server/discover") == 0)
        response = discover();
    else
        response = make_error(NO_METHOD, "Method not found");
    if (response != NULL)
        stamp(response, method);
    return response;
}

static json_t *run_handshake(const acq_call *call, const acq_mcp_request *request,
                             const char *method, const json_t *params)
{
    bool is_known = request->version == NULL;
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
        is_known = is_known || is_header(request->version, KNOWN[i]);
    if (!is_known)
        return refuse_version(request->version);
    if (strcmp(method, "tools/list") == 0)
        return list_tools(call);
    if (strcmp(method, "tools/call") == 0)
        return call_tool(call, params);
    if (strcmp(method, "initialize") == 0)
        return initialize(params);
    if (strcmp(method, "ping") == 0)
        return json_pack("{s:{}}", "result");
    return make_error(NO_METHOD, "Method not found");
}

/* Told apart by what the request carries. */
static bool is_stateless(const acq_mcp_request *request, const char *method, const json_t *params)
{
    const json_t *meta = json_object_get(params, "_meta");
    return json_object_get(meta, META "protocolVersion") != NULL ||
           strcmp(method, "server/discover") == 0 || is_header(request->version, STATELESS);
}

/* HTTP's status of a response: before 2026 an error was a response like any other. */
static int find_status(const json_t *response, bool is_new)
{
    const json_t *code = json_object_get(json_object_get(response, "error"), "code");
    json_int_t value = json_integer_value(code);
    if (code == NULL)
        return 200;
    if (value == INTERNAL)
        return 500;
    if (value == PARSE_ERROR || value == INVALID_REQUEST || value == UNSUPPORTED_VERSION)
        return 400;
    return !is_new ? 200 : value == NO_METHOD ? 404 : 400;
}

static json_t *answer_message(const acq_call *call, const acq_mcp_request *request,
                              const json_t *message, int *status)
{
    const json_t *id = json_object_get(message, "id"), *params = json_object_get(message, "params");
    const json_t *named = json_object_get(message, "method");
    const char *method = json_string_value(named);
    const char *version = json_string_value(json_object_get(message, "jsonrpc"));
    bool has_id = json_is_string(id) || json_is_integer(id), is_new = false;
    json_t *response;
    if (!json_is_object(message) || version == NULL || strcmp(version, "2.0") != 0 ||
        (id != NULL && !has_id) || (named != NULL && method == NULL) || (params != NULL && !json_is_object(params))) {
        response = make_error(INVALID_REQUEST, "not a request of JSON-RPC 2.0");
    } else if (method == NULL || !has_id) {
        return NULL; /* a response, or a notification: nothing was asked */
    } else {
        is_new = is_stateless(request, method, params);
        response = is_new ? run_stateless(call, request, method, params)
                          : run_handshake(call, request, method, params);
    }
    if (response == NULL)
        response = make_error(INTERNAL, "out of memory");
    *status = find_status(response, is_new);
    json_object_set_new(response, "jsonrpc", json_string("2.0"));
    json_object_set_new(response, "id", has_id ? json_deep_copy(id) : json_null());
    return response;
}

char *acq_mcp_answer(const acq_call *call, const acq_mcp_request *request, int *status)
{
    json_t *parsed = json_loadb(request->message, request->length, JSON_REJECT_DUPLICATES, NULL);
    json_t *response;
    *status = 200;
    if (parsed == NULL) {
        *status = 400;
        response = make_error(PARSE_ERROR, "not one JSON object in UTF-8");
        json_object_set_new(response, "jsonrpc", json_string("2.0"));
        json_object_set_new(response, "id", json_null());
    } else {
        response = answer_message(call, request, parsed, status);
    }
    char *text = response == NULL ? NULL : json_dumps(response, ACQ_SERVICE_STYLE);
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
        acq_mcp_request request = {.message = line, .length = is_too_long ? 0 : length};
        int status;
        char *answer = acq_mcp_answer(&call, &request, &status);
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
