/* openapi.c - see parts.h. Every tool takes its arguments from the URL, a form or a JSON body;
 * tests/server/doors.c holds the document against what the server does. */
#include "server/parts.h"

#include "anycq.h"

#define TEXT  "{\"type\":\"string\"}"
#define FLAG  "{\"type\":\"boolean\"}"
#define SHARE "{\"type\":\"number\",\"minimum\":0,\"maximum\":1}"
#define TIME  "{\"type\":\"number\",\"exclusiveMinimum\":0}"
#define COUNT "{\"type\":\"integer\",\"minimum\":1}"
#define TEXTS "{\"type\":\"array\",\"items\":" TEXT "}"
#define PARAMETER(name, required, schema)                                                          \
    "{\"name\":\"" name "\",\"in\":\"query\",\"required\":" required ",\"schema\":" schema "}"
#define OPTION(name, schema) PARAMETER(name, "false", schema)
#define NAMED_GRAPH          "{\"name\":\"graph\",\"in\":\"path\",\"required\":true,\"schema\":" TEXT "}"
#define GRAPH                OPTION("graph", TEXT)
#define LIMIT                OPTION("limit", COUNT)
#define MIN_P                OPTION("min_p", SHARE)
#define QUESTION                                                                                   \
    PARAMETER("query", "true", TEXT)                                                               \
    "," LIMIT "," MIN_P                                                                            \
    "," OPTION("time", TIME) "," OPTION("explain", FLAG) "," OPTION("engine", TEXT) "," OPTION(    \
        "new", FLAG) "," OPTION("steps", COUNT) "," OPTION("seed", COUNT) "," GRAPH

#define FAULT(code, what)                                                                          \
    "\"" code "\":{\"description\":\"" what "\",\"content\":{\"application/json\":{\"schema\":{"   \
    "\"$ref\":\"#/components/schemas/error\"}}}}"
#define FAULTS                                                                                               \
    FAULT("400", "the request is wrong: error.message says how")                                             \
    "," FAULT("401", "the bearer token is missing or wrong") "," FAULT("403", "not allowed here") "," FAULT( \
        "404",                                                                                               \
        "no graph of this name") "," FAULT("413",                                                            \
                                           "too large") "," FAULT("415",                                     \
                                                                  "another type of body is "                 \
                                                                  "wanted") "," FAULT("503",                 \
                                                                                      "too much "            \
                                                                                      "at once, "            \
                                                                                      "or out of "           \
                                                                                      "time or "             \
                                                                                      "memory")
#define GOOD(types)                                                                                \
    "\"responses\":{\"200\":{\"description\":\"the result\",\"content\":{" types "}}," FAULTS "}"
#define JSON  "\"application/json\":{\"schema\":{\"type\":\"object\"}}"
#define LINES JSON ",\"application/x-ndjson\":{}"
#define SOLUTIONS                                                                                  \
    "\"application/sparql-results+json\":{},\"application/sparql-results+xml\":{},\"text/"         \
    "csv\":{},"                                                                                    \
    "\"text/tab-separated-values\":{},\"application/n-triples\":{},\"text/turtle\":{}"
#define BODY(types) "\"requestBody\":{\"content\":{" types "}}"
#define OBJECT      "\"application/json\":{\"schema\":{\"type\":\"object\"}}"
#define FORM        "\"application/x-www-form-urlencoded\":{\"schema\":{\"type\":\"object\"}}"
#define READS(path, summary, parameters, good)                                                     \
    "\"" path "\":{\"get\":{\"summary\":\"" summary "\",\"parameters\":[" parameters               \
    "]," GOOD(good) "},\"post\":{\"summary\":\"" summary                                           \
                    "\"," BODY(OBJECT "," FORM) "," GOOD(good) "}}"
#define SPARQL(path, summary, before)                                                              \
    "\"" path "\":{\"get\":{\"summary\":\"" summary "; without a query, a description of the "     \
    "service\",\"parameters\":[" before OPTION(                                                    \
        "query",                                                                                   \
        TEXT) "," MIN_P                                                                            \
              "," OPTION("time", TIME) "]," GOOD(                                                  \
                  SOLUTIONS) "},\"post\":{\"summary\":\"" summary                                  \
                             "\",\"parameters\":[" before OPTION("query", TEXT) "]," BODY(         \
                                 FORM ",\"application/sparql-query\":{}") "," GOOD(SOLUTIONS) "}}"
#define WRITES(path, summary)                                                                      \
    "\"" path "\":{\"post\":{\"summary\":\"" summary "; with --writable\"," BODY(                  \
        "\"application/json\":{\"schema\":{\"type\":\"object\",\"required\":[\"facts\"],"          \
        "\"properties\":{\"graph\":" TEXT ",\"known\":" FLAG ",\"facts\":{\"type\":\"array\","     \
        "\"minItems\":1,\"maxItems\":1000,\"items\":{\"type\":\"object\",\"required\":[\"head\","  \
        "\"relation\",\"tail\"],\"properties\":{\"head\":" TEXT ",\"relation\":" TEXT              \
        ",\"tail\":" TEXT ",\"inverse\":" FLAG "}}}}}}") "," GOOD(JSON) "}}"
#define SIMPLE(path, summary, type)                                                                \
    "\"" path "\":{\"get\":{\"summary\":\"" summary                                                \
    "\",\"responses\":{\"200\":{\"description\":\"it\",\"content\":{\"" type "\":{}}}}}}"

const char acq_openapi_document[] =
    "{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"anycq\",\"version\":\"" ACQ_VERSION
    "\"},\"paths\":{" SPARQL("/sparql", "SPARQL 1.1 Protocol", "") "," SPARQL(
        "/sparql/{graph}", "the same of a graph by its name",
        NAMED_GRAPH
        ",") "," READS("/api/ask",
                       "answers of a query, most likely first; as lines, facts come first",
                       QUESTION "," OPTION("trace", FLAG) "," OPTION("stream", FLAG),
                       LINES) "," READS("/api/check", "is this tuple an answer?",
                                        QUESTION "," OPTION("values", TEXTS),
                                        JSON) "," READS("/api/explain",
                                                        "the same with facts and reasons",
                                                        QUESTION "," OPTION("values", TEXTS),
                                                        JSON) "," READS("/api/predict",
                                                                        "links of one entity",
                                                                        PARAMETER("entity", "true", TEXT) "," PARAMETER(
                                                                            "relation", "true",
                                                                            TEXT) "," OPTION("inver"
                                                                                             "se",
                                                                                             FLAG) "," LIMIT
                                                                                                   "," MIN_P
                                                                                                   "," OPTION("new", FLAG) "," OPTION(
                                                                                                       "explain",
                                                                                                       FLAG) "," GRAPH,
                                                                        JSON) "," READS("/api/"
                                                                                        "suggest",
                                                                                        "likely "
                                                                                        "missing "
                                                                                        "facts",
                                                                                        OPTION(
                                                                                            "relati"
                                                                                            "on",
                                                                                            TEXT) "," LIMIT
                                                                                                  "," MIN_P
                                                                                                  "," OPTION(
                                                                                                      "time",
                                                                                                      TIME) "," GRAPH,
                                                                                        JSON) "," READS("/api/names",
                                                                                                        "entities by the beginning of their name",
                                                                                                        PARAMETER(
                                                                                                            "prefix",
                                                                                                            "true",
                                                                                                            TEXT) "," LIMIT
                                                                                                                  "," OPTION("exact", FLAG) "," GRAPH,
                                                                                                        JSON) "," READS("/api/graph",
                                                                                                                        "what a graph holds, and what its predicted links are worth",
                                                                                                                        LIMIT
                                                                                                                        "," GRAPH,
                                                                                                                        JSON) "," READS("/api/query", "a query taken apart: its variables and atoms",
                                PARAMETER("query", "true", TEXT) "," GRAPH,
                                JSON) "," READS("/api/entity", "the facts of one entity, by relation",
                                                PARAMETER("entity", "true", TEXT) "," GRAPH,
                                                JSON) "," READS("/api/examples", "questions about this graph", GRAPH,
                                                                JSON) "," READS("/api/trust", "how true the predictor's p are", GRAPH,
                                                                                JSON) "," WRITES("/api/add", "adds facts to a store") "," WRITES("/api/remove", "removes facts from a store") ","
                                                                                                                                                                                                                                      "\"/mcp\":{\"post\":{\"summary\":\"Model Context Protocol, one message\"," BODY(OBJECT) ","
                                                                                                                                                                                                                                                                                                                              "\"responses\":{\"200\":{\"description\":\"the response\",\"content\":{" JSON
                                                                                                                                                                                                                                                                                                                              "}},\"202\":{"
                                                                                                                                                                                                                                                                                                                              "\"description\":\"nothing to say\"}," FAULTS "}}}," SIMPLE("/openapi.json",
                                                                                                                                                                                                                                                                                                                                                                                          "this document", "application/json") "," SIMPLE("/healthz",
                                                                                                                                                                                                                                                                                                                                                                                                                                          "is the server up?", "text/plain") "," SIMPLE("/metrics",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "counters for Prometheus", "text/plain") "},\"components\":{\"schemas\":{\"error\":{\"type\":\"object\",\"properties\":{\"error\":{"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 "\"type\":\"object\",\"required\":[\"code\",\"message\"],\"properties\":{\"code\":" TEXT ",\"message\":" TEXT
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 ",\"line\":" COUNT
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 ",\"column\":" COUNT
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 "}}}}},\"securitySchemes\":{"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 "\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"}}}}";
