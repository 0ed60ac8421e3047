/* openapi.c - see openapi.h. Every tool takes its arguments from the URL or from a JSON body. */
#include "server/openapi.h"

#include "anycq.h"

#define TEXT   "{\"type\":\"string\"}"
#define NUMBER "{\"type\":\"number\"}"
#define COUNT  "{\"type\":\"integer\",\"minimum\":1}"
#define PARAMETER(name, required, schema)                                                          \
    "{\"name\":\"" name "\",\"in\":\"query\",\"required\":" required ",\"schema\":" schema "}"
#define GRAPH PARAMETER("graph", "false", TEXT)
#define LIMIT PARAMETER("limit", "false", COUNT)
#define ANSWER                                                                                     \
    "\"responses\":{\"200\":{\"description\":\"the result\"},\"400\":{\"description\":\"the "      \
    "request is wrong: error.message says how\"},\"503\":{\"description\":\"too much at once, or " \
    "out of time\"}}"
#define ROUTE(path, summary, parameters)                                                           \
    "\"" path "\":{\"get\":{\"summary\":\"" summary "\",\"parameters\":[" parameters "]," ANSWER   \
    "},\"post\":{\"summary\":\"" summary "\",\"requestBody\":{\"content\":{\"application/json\":"  \
    "{\"schema\":{\"type\":\"object\"}}}}," ANSWER "}}"

const char acq_openapi_document[] =
    "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"anycq\",\"version\":\"" ACQ_VERSION
    "\"},\"paths\":{"
    ROUTE("/sparql", "SPARQL 1.1 Protocol", PARAMETER("query", "true", TEXT)) ","
    ROUTE("/sparql/{graph}", "the same of a graph by its name", PARAMETER("query", "true", TEXT)) ","
    ROUTE("/api/ask", "answers of a query",
          PARAMETER("query", "true", TEXT) "," LIMIT "," PARAMETER("min_p", "false", NUMBER) ","
          PARAMETER("time", "false", NUMBER) "," GRAPH) ","
    ROUTE("/api/check", "is this tuple an answer?",
          PARAMETER("query", "true", TEXT) "," PARAMETER("values", "false", TEXT) "," GRAPH) ","
    ROUTE("/api/explain", "the same with facts and reasons",
          PARAMETER("query", "true", TEXT) "," PARAMETER("values", "false", TEXT) "," GRAPH) ","
    ROUTE("/api/predict", "links of one entity",
          PARAMETER("entity", "true", TEXT) "," PARAMETER("relation", "true", TEXT) ","
          PARAMETER("inverse", "false", TEXT) "," LIMIT "," GRAPH) ","
    ROUTE("/api/suggest", "likely missing facts",
          PARAMETER("relation", "false", TEXT) "," LIMIT "," PARAMETER("min_p", "false", NUMBER) ","
          GRAPH) ","
    ROUTE("/api/names", "entities by the beginning of their name",
          PARAMETER("prefix", "true", TEXT) "," LIMIT "," GRAPH) ","
    ROUTE("/api/graph", "what a graph holds", GRAPH) ","
    "\"/mcp\":{\"post\":{\"summary\":\"Model Context Protocol, one message\"," ANSWER "}},"
    "\"/healthz\":{\"get\":{\"summary\":\"is the server up?\"," ANSWER "}},"
    "\"/metrics\":{\"get\":{\"summary\":\"counters for Prometheus\"," ANSWER "}}}}";
