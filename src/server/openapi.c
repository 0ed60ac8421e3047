/* openapi.c - see parts.h. Every tool takes its arguments from the URL, a form or a JSON body;
 * tests/server/doors.c holds the document against what the server does. */
#include "server/parts.h"

#include "anycq.h"

/* ---- arguments ---- */

#define TEXT  "{\"type\":\"string\"}"
#define FLAG  "{\"type\":\"boolean\"}"
#define SHARE "{\"type\":\"number\",\"minimum\":0,\"maximum\":1}"
#define TIME  "{\"type\":\"number\",\"exclusiveMinimum\":0}"
#define COUNT "{\"type\":\"integer\",\"minimum\":1}"
#define TEXTS "{\"type\":\"array\",\"items\":" TEXT "}"

#define PARAMETER(name, place, needed, schema)                                                     \
    "{\"name\":\"" name "\",\"in\":\"" place "\",\"required\":" needed ",\"schema\":" schema "}"
#define MUST(name)           PARAMETER(name, "query", "true", TEXT)
#define LAST(name, schema)   PARAMETER(name, "query", "false", schema)
#define OPTION(name, schema) LAST(name, schema) ","

#define LIMIT   OPTION("limit", COUNT)
#define MIN_P   OPTION("min_p", SHARE)
#define SECONDS OPTION("time", TIME)
#define EXPLAIN OPTION("explain", FLAG)
#define NEW     OPTION("new", FLAG)
#define GRAPH   LAST("graph", TEXT)
#define RUN     OPTION("engine", TEXT) OPTION("steps", COUNT) OPTION("seed", COUNT)

#define QUESTION         MUST("query") "," LIMIT MIN_P SECONDS EXPLAIN RUN NEW
#define ASK_ARGUMENTS    QUESTION OPTION("trace", FLAG) OPTION("stream", FLAG) GRAPH
#define CHECK_ARGUMENTS  QUESTION OPTION("values", TEXTS) GRAPH
#define LINK             MUST("entity") "," MUST("relation") "," OPTION("inverse", FLAG)
#define LINK_ARGUMENTS   LINK LIMIT MIN_P NEW EXPLAIN GRAPH
#define SUGGEST_LIMITS   OPTION("relation", TEXT) LIMIT MIN_P SECONDS GRAPH
#define NAMES_ARGUMENTS  MUST("prefix") "," LIMIT OPTION("exact", FLAG) GRAPH
#define SPARQL_GRAPHS    OPTION("default-graph-uri", TEXTS) OPTION("named-graph-uri", TEXTS)
#define SPARQL_ARGUMENTS OPTION("query", TEXT) SPARQL_GRAPHS MIN_P LAST("time", TIME)
#define PATH_ARGUMENTS   PARAMETER("graph", "path", "true", TEXT) "," SPARQL_ARGUMENTS

/* ---- responses ---- */

#define FAULT_CONTENT "\"application/json\":{\"schema\":{\"$ref\":\"#/components/schemas/error\"}}"
#define FAULT(code, what)                                                                          \
    "\"" code "\":{\"description\":\"" what "\",\"content\":{" FAULT_CONTENT "}}"
#define FAULT_400  FAULT("400", "the request is wrong: error.message says how")
#define FAULT_401  FAULT("401", "the bearer token is missing or wrong")
#define FAULT_403  FAULT("403", "not allowed here")
#define FAULT_404  FAULT("404", "no graph of this name")
#define FAULT_406  FAULT("406", "no format of this result is accepted") ","
#define FAULT_413  FAULT("413", "too large")
#define FAULT_415  FAULT("415", "another type of body is wanted")
#define FAULT_503  FAULT("503", "too much at once, or out of time or memory")
#define FAULTS_4XX FAULT_400 "," FAULT_401 "," FAULT_403 "," FAULT_404 "," FAULT_413 "," FAULT_415
#define FAULTS     FAULTS_4XX "," FAULT_503

#define RESULT(types)      "\"200\":{\"description\":\"the result\",\"content\":{" types "}},"
#define GOOD(types)        "\"responses\":{" RESULT(types) FAULTS "}"
#define GOOD_SPARQL        "\"responses\":{" RESULT(SOLUTIONS) FAULT_406 FAULTS "}"
#define OBJECT             "\"application/json\":{\"schema\":{\"type\":\"object\"}}"
#define FORM               "\"application/x-www-form-urlencoded\":{\"schema\":{\"type\":\"object\"}}"
#define LINES              OBJECT ",\"application/x-ndjson\":{}"
#define JSON_AND_XML       "\"application/sparql-results+json\":{},\"application/sparql-results+xml\":{},"
#define TABLES             "\"text/csv\":{},\"text/tab-separated-values\":{},"
#define SOLUTIONS          JSON_AND_XML TABLES "\"application/n-triples\":{},\"text/turtle\":{}"
#define BODY(types)        "\"requestBody\":{\"content\":{" types "}}"
#define SPARQL_BODY        BODY(FORM ",\"application/sparql-query\":{}")
#define SUMMARY(text)      "\"summary\":\"" text "\","
#define PARAMETERS(listed) "\"parameters\":[" listed "],"

/* ---- paths ---- */

#define PATH(path, methods) "\"" path "\":{" methods "}"
#define GET(operation)      "\"get\":{" operation "}"
#define POST(operation)     "\"post\":{" operation "}"

#define READS_GET(summary, arguments, types) GET(SUMMARY(summary) PARAMETERS(arguments) GOOD(types))
#define READS_POST(summary, types)           POST(SUMMARY(summary) BODY(OBJECT "," FORM) "," GOOD(types))
#define READS_AS(path, summary, arguments, types)                                                  \
    PATH(path, READS_GET(summary, arguments, types) "," READS_POST(summary, types))
#define READS(path, summary, arguments) READS_AS(path, summary, arguments, OBJECT) ","

#define OR_DESCRIBES "; without a query, a description of the service"
#define SPARQL_GET(summary, arguments)                                                             \
    GET(SUMMARY(summary OR_DESCRIBES) PARAMETERS(arguments) GOOD_SPARQL)
#define SPARQL_POST(summary, arguments)                                                            \
    POST(SUMMARY(summary) PARAMETERS(arguments) SPARQL_BODY "," GOOD_SPARQL)
#define SPARQL(path, summary, arguments)                                                           \
    PATH(path, SPARQL_GET(summary, arguments) "," SPARQL_POST(summary, arguments)) ","

#define ENDS                  "\"head\":" TEXT ",\"relation\":" TEXT ",\"tail\":" TEXT ",\"inverse\":" FLAG
#define FACT                  "{\"type\":\"object\",\"required\":[\"head\",\"relation\",\"tail\"]," FACT_ENDS "}"
#define FACT_ENDS             "\"properties\":{" ENDS "}"
#define FACTS                 "{\"type\":\"array\",\"minItems\":1,\"maxItems\":1000,\"items\":" FACT "}"
#define CHANGES               "\"graph\":" TEXT ",\"known\":" FLAG ",\"facts\":" FACTS
#define CHANGE                "{\"type\":\"object\",\"required\":[\"facts\"],\"properties\":{" CHANGES "}}"
#define CHANGED               BODY("\"application/json\":{\"schema\":" CHANGE "}") "," GOOD(OBJECT)
#define WRITES(path, summary) PATH(path, POST(SUMMARY(summary "; with --writable") CHANGED)) ","

#define SAYS(type)                  "\"responses\":{\"200\":{\"description\":\"it\",\"content\":{\"" type "\":{}}}}"
#define SIMPLE(path, summary, type) PATH(path, GET(SUMMARY(summary) SAYS(type)))

#define MCP_RESPONSES                                                                              \
    "\"responses\":{" RESULT(OBJECT) "\"202\":{\"description\":\"nothing to say\"},"
#define MCP_SUMMARY SUMMARY("Model Context Protocol, one message")
#define AT_MCP      PATH("/mcp", POST(MCP_SUMMARY BODY(OBJECT) "," MCP_RESPONSES FAULTS "}")) ","

#define AT_SPARQL   SPARQL("/sparql", "SPARQL 1.1 Protocol", SPARQL_ARGUMENTS)
#define AT_GRAPH    SPARQL("/sparql/{graph}", "the same of a graph by its name", PATH_ARGUMENTS)
#define ASK_SUMMARY "answers of a query, most likely first; as lines, facts come first"
#define AT_ASK      READS_AS("/api/ask", ASK_SUMMARY, ASK_ARGUMENTS, LINES) ","
#define AT_CHECK    READS("/api/check", "is this tuple an answer?", CHECK_ARGUMENTS)
#define AT_EXPLAIN  READS("/api/explain", "the same with facts and reasons", CHECK_ARGUMENTS)
#define AT_PREDICT  READS("/api/predict", "links of one entity", LINK_ARGUMENTS)
#define AT_SUGGEST  READS("/api/suggest", "likely missing facts", SUGGEST_LIMITS)
#define AT_NAMES    READS("/api/names", "entities by the beginning of their name", NAMES_ARGUMENTS)
#define OF_GRAPH    "what a graph holds, and what its predicted links are worth"
#define AT_COUNTS   READS("/api/graph", OF_GRAPH, LIMIT GRAPH)
#define OF_QUERY    "a query taken apart: its variables and atoms"
#define AT_QUERY    READS("/api/query", OF_QUERY, MUST("query") "," GRAPH)
#define OF_ENTITY   "the facts of one entity, by relation"
#define AT_ENTITY   READS("/api/entity", OF_ENTITY, MUST("entity") "," GRAPH)
#define AT_EXAMPLES READS("/api/examples", "questions about this graph", GRAPH)
#define AT_TRUST    READS("/api/trust", "how true the predictor's p are", GRAPH)
#define AT_ADD      WRITES("/api/add", "adds facts to a store")
#define AT_REMOVE   WRITES("/api/remove", "removes facts from a store")
#define AT_PAGE     SIMPLE("/", "the page", "text/html") ","
#define AT_OPENAPI  SIMPLE("/openapi.json", "this document", "application/json") ","
#define AT_HEALTHZ  SIMPLE("/healthz", "is the server up?", "text/plain") ","
#define AT_METRICS  SIMPLE("/metrics", "counters for Prometheus", "text/plain")

#define OF_ANSWERS AT_ASK AT_CHECK AT_EXPLAIN AT_PREDICT AT_SUGGEST
#define OF_NAMES   AT_NAMES AT_COUNTS AT_QUERY AT_ENTITY AT_EXAMPLES AT_TRUST
#define OF_OTHERS  AT_ADD AT_REMOVE AT_MCP AT_PAGE AT_OPENAPI AT_HEALTHZ AT_METRICS
#define PATHS      AT_SPARQL AT_GRAPH OF_ANSWERS OF_NAMES OF_OTHERS

/* ---- the document ---- */

#define PLACE    "\"line\":" COUNT ",\"column\":" COUNT
#define WHAT     "\"properties\":{\"code\":" TEXT ",\"message\":" TEXT "," PLACE "}"
#define ERROR    "{\"type\":\"object\",\"required\":[\"code\",\"message\"]," WHAT "}"
#define FAILURE  "{\"type\":\"object\",\"properties\":{\"error\":" ERROR "}}"
#define SECURITY "{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"}}"
#define SCHEMAS  "\"schemas\":{\"error\":" FAILURE "},\"securitySchemes\":" SECURITY
#define INFO     "\"info\":{\"title\":\"anycq\",\"version\":\"" ACQ_VERSION "\"}"
#define HEAD     "{\"openapi\":\"3.1.0\"," INFO

const char acq_openapi_document[] = HEAD ",\"paths\":{" PATHS "},\"components\":{" SCHEMAS "}}";
