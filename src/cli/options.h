/* options.h - every option of every command in one table, parsed by one function.
 *
 *   KIND(field, name, letter, argument, default, low, high, commands, help)
 *
 * KIND fixes the type of the field in acq_options: FLAG bool, REAL double, COUNT uint64_t, TEXT
 * const char *, LIST words, TIME double (seconds, written as 90, 90s, 15m or 2h). Defaults are text
 * and go through the same parser as what the user writes; NULL means off (false, 0, NULL, empty),
 * and acq_options_has tells off from given. A name may have several rows that mean something else
 * to each command. A row with bits ACQ_OF_... is for these variants of its command only. */
#ifndef ACQ_CLI_OPTIONS_H
#define ACQ_CLI_OPTIONS_H

#include "base/types.h"
#include "cli/commands.h"
#include "train/options.h"

#define ACQ_ON_queries   (ACQ_ON_eval | ACQ_OF_qac | ACQ_OF_qar | ACQ_OF_cqa)
#define ACQ_ON_questions (ACQ_ON_ask | ACQ_ON_check | ACQ_ON_queries)
#define ACQ_ON_changes   (ACQ_ON_add | ACQ_ON_remove)
#define ACQ_ON_graphs                                                                              \
    (ACQ_ON_import | ACQ_ON_info | ACQ_ON_ask | ACQ_ON_check | ACQ_ON_predict | ACQ_ON_changes |   \
     ACQ_ON_export | ACQ_ON_complete | ACQ_ON_eval | ACQ_ON_train | ACQ_ON_fit | ACQ_ON_suggest |  \
     ACQ_ON_generate | ACQ_ON_shell)
#define ACQ_ON_servers (ACQ_ON_serve | ACQ_ON_mcp)
#define ACQ_ON_links                                                                               \
    (ACQ_ON_questions | ACQ_OF_links | ACQ_ON_predict | ACQ_ON_complete | ACQ_ON_suggest)
#define ACQ_ON_answers  (ACQ_ON_ask | ACQ_ON_check | ACQ_ON_predict | ACQ_ON_suggest)
#define ACQ_ON_policy   (ACQ_ON_train | ACQ_OF_policy)
#define ACQ_ON_adam     (ACQ_ON_policy | ACQ_ON_networks)
#define ACQ_ON_rules    (ACQ_ON_train | ACQ_OF_rules)
#define ACQ_ON_rates    (ACQ_ON_adam | ACQ_OF_complex)
#define ACQ_ON_complex  (ACQ_ON_train | ACQ_OF_complex)
#define ACQ_ON_networks (ACQ_ON_train | ACQ_OF_nbfnet | ACQ_OF_gnnqe | ACQ_OF_ultra)
#define ACQ_ON_tables   (ACQ_ON_eval | ACQ_OF_qac | ACQ_OF_qar | ACQ_OF_links)
#define ACQ_ON_shared   (ACQ_ON_generate | ACQ_ON_tables)
#define ACQ_ON_json                                                                                \
    (ACQ_ON_questions | ACQ_OF_links | ACQ_ON_import | ACQ_ON_info | ACQ_ON_predict |              \
     ACQ_ON_changes | ACQ_ON_compact | ACQ_ON_train | ACQ_ON_fit | ACQ_ON_suggest |                \
     ACQ_ON_generate)

#define ACQ_OPTIONS(FLAG, REAL, COUNT, TEXT, LIST, TIME)                                           \
    COUNT(limit, "limit", 0, "K", NULL, 1, 1e9, ACQ_ON_ask,                                        \
          "the K best answers (default 1, or the query's own LIMIT)")                              \
    FLAG(all, "all", 0, NULL, NULL, 0, 0, ACQ_ON_ask,                                              \
         "every answer; as --limit, for --engine exact")                                           \
    FLAG(explain, "explain", 0, NULL, NULL, 0, 0, ACQ_ON_answers,                                  \
         "show each atom with its fact, and the evidence for and against a predicted one")         \
    REAL(cover, "cover", 0, "C", NULL, 0.01, 0.999, ACQ_ON_ask,                                    \
         "of one atom with one entity: the set that contains a missing answer with probability C") \
    FLAG(new_only, "new", 0, NULL, NULL, 0, 0, ACQ_ON_ask,                                         \
         "only answers that observed facts alone do not give")                                     \
    REAL(min_p, "min-p", 0, "P", NULL, 0, 1, ACQ_ON_questions,                                     \
         "least probability of an answer; needs a calibrator (then default 0.5)")                  \
    REAL(suggest_min_p, "min-p", 0, "P", NULL, 0, 1, ACQ_ON_suggest,                               \
         "least probability of a suggestion")                                                      \
    TEXT(relation, "relation", 0, "NAME", NULL, 0, 0, ACQ_ON_suggest,                              \
         "only facts of this relation")                                                            \
    LIST(queries, "queries", 0, "FILE", NULL, 0, 0, ACQ_ON_ask | ACQ_ON_sql | ACQ_ON_queries,      \
         "queries from a file (- is standard input); eval takes several files")                    \
    COUNT(first, "first", 0, "N", NULL, 1, 1e12, ACQ_ON_sql | ACQ_ON_eval,                         \
          "only the first N instances, in file order; links: N of them, drawn by hash")            \
    COUNT(top, "top", 0, "K", "10", 1, 1e9, ACQ_ON_predict | ACQ_ON_suggest, "how many links")     \
    TEXT(output, "output", 'o', "FILE", NULL, 0, 0,                                                \
         ACQ_ON_import | ACQ_ON_export | ACQ_ON_complete | ACQ_ON_train | ACQ_ON_fit |             \
             ACQ_ON_merge | ACQ_ON_generate | ACQ_ON_draw | ACQ_ON_reproduce | ACQ_ON_tables,      \
         "where to write")                                                                         \
    TEXT(repro_tables, "tables", 0, "NAMES", NULL, 0, 0, ACQ_ON_reproduce,                         \
         "only these, with commas between: qac,qar,transfer,perfect,... (a wrong one lists all)")  \
    FLAG(quick, "quick", 0, NULL, NULL, 0, 0, ACQ_ON_reproduce,                                    \
         "a sample of every table, with short trainings; ends after 14 minutes unless --time")     \
    TEXT(models, "models", 0, "DIR", NULL, 0, 0, ACQ_ON_reproduce,                                 \
         "models that are there already, as DIR/FB15k-237/train/nbfnet or DIR/ultraquery")         \
    TIME(model_time, "model-time", 0, "TIME", NULL, 1, 1e7, ACQ_ON_reproduce,                      \
         "for each training, as 90s or 2h (default 12m, with --quick 30s)")                        \
    TIME(repro_time, "time", 0, "TIME", NULL, 0.001, 1e8, ACQ_ON_reproduce,                        \
         "most time for everything; what is not done by then is left out")                         \
    COUNT(repro_first, "first", 0, "N", NULL, 1, 1e9, ACQ_ON_reproduce,                            \
          "only the first N instances of each file")                                               \
    COUNT(repro_seed, "seed", 0, "N", "1", 0, 1e18, ACQ_ON_reproduce, "of searches and trainings") \
    COUNT(repro_threads, "threads", 0, "N", NULL, 1, 1024, ACQ_ON_reproduce,                       \
          "threads to work with (default: one per processor)")                                     \
    TEXT(format, "format", 0, "NAME", NULL, 0, 0, ACQ_ON_export,                                   \
         "tsv, csv or nt (default: by the ending of FILE, else nt for RDF and tsv for the rest)")  \
    TEXT(read_format, "format", 0, "NAME", NULL, 0, 0,                                             \
         ACQ_ON_graphs & ~(ACQ_ON_export | ACQ_ON_eval),                                           \
         "what the files hold, whatever their names: tsv, csv, nt, ttl, nq or trig")               \
    TEXT(from, "from", 0, "FILE", NULL, 0, 0, ACQ_ON_changes,                                      \
         "facts from whatever import takes (- is standard input)")                                 \
    FLAG(replace, "replace", 0, NULL, NULL, 0, 0, ACQ_ON_import,                                   \
         "take the place of a store even if its facts were changed")                               \
    FLAG(verify, "verify", 0, NULL, NULL, 0, 0, ACQ_ON_info,                                       \
         "read and check everything in a store")                                                   \
    TEXT(find, "find", 0, "PREFIX", NULL, 0, 0, ACQ_ON_info, "entities whose name begins so")      \
    COUNT(find_limit, "limit", 0, "N", "20", 1, 1e9, ACQ_ON_info,                                  \
          "names that --find shows, or rules")                                                     \
    TEXT(observed, "observed", 0, "GRAPH", NULL, 0, 0, ACQ_ON_eval | ACQ_ON_generate,              \
         "the observed graph")                                                                     \
    TEXT(complete_graph, "complete", 0, "GRAPH", NULL, 0, 0, ACQ_ON_generate,                      \
         "the complete graph, which has the observed facts and more")                              \
    COUNT(split_hubs, "hubs", 0, "N", "3", 3, 5, ACQ_ON_generate,                                  \
          "qac, qar: the paper's split of 3, 4 or 5 hubs")                                         \
    COUNT(free_variables, "free", 0, "K", "1", 1, 3, ACQ_ON_generate, "qar: free variables")       \
    TEXT(type, "type", 0, "NAME", NULL, 0, 0, ACQ_ON_generate,                                     \
         "small (default 2p), cqa (default all): 1p 2p 3p 2i 3i ip pi 2in 3in inp pin pni 2u up")  \
    COUNT(count, "count", 0, "N", "100", 1, 1e7, ACQ_ON_generate,                                  \
          "queries; of qar positive ones and as many negative, of cqa for each type")              \
    COUNT(terms, "terms", 0, "N", "15", 2, 200, ACQ_ON_generate,                                   \
          "the paper's n_min: entities besides the hubs; 12 for NELL")                             \
    REAL(constant_share, "constants", 0, "P", NULL, 0, 1e6, ACQ_ON_generate,                       \
         "the paper's p_const (default 0.6, 0.8 or 1 by --hubs)")                                  \
    REAL(leaf_share, "leaves", 0, "P", NULL, 0, 1, ACQ_ON_generate,                                \
         "the paper's p_out: leaves left out (default 0.95, 0.97 or 0.99 by --hubs)")              \
    FLAG(from_unobserved, "from-unobserved", 0, NULL, NULL, 0, 0, ACQ_ON_generate,                 \
         "begin at a fact that is not observed, as the published scripts do")                      \
    FLAG(one_per_pair, "one-per-pair", 0, NULL, NULL, 0, 0, ACQ_ON_generate,                       \
         "one atom for each pair of terms, as the published scripts do")                           \
    FLAG(published_sets, "published-sets", 0, NULL, NULL, 0, 0, ACQ_ON_generate,                   \
         "as published: correct candidates need not be seen where wrong ones are; qac: five")      \
    FLAG(near_negatives, "near", 0, NULL, NULL, 0, 0, ACQ_ON_generate,                             \
         "qar: negative queries that only one atom makes false")                                   \
    COUNT(answers, "answers", 0, "N", NULL, 1, 1e6, ACQ_ON_generate,                               \
          "most answers listed (default 500; cqa 1000: queries with more are left out)")           \
    TEXT(form, "form", 0, "NAME", "json", 0, 0, ACQ_ON_generate,                                   \
         "json as the benchmark has it, or text: queries with names, labels as comments")          \
    TIME(generate_time, "time", 0, "TIME", NULL, 0.001, 1e8, ACQ_ON_generate,                      \
         "most time, as 90, 90s, 15m or 2h; what was found by then is written")                    \
    COUNT(generate_seed, "seed", 0, "N", "1", 0, 1e18, ACQ_ON_generate,                            \
          "another seed, another benchmark")                                                       \
    COUNT(generate_threads, "threads", 0, "N", NULL, 1, 1024, ACQ_ON_generate,                     \
          "threads to draw with (default: one per processor)")                                     \
    TEXT(truth, "truth", 0, "GRAPH", NULL, 0, 0, ACQ_ON_eval,                                      \
         "the complete graph, to judge answers by the verifier")                                   \
    TEXT(filter, "filter", 0, "GRAPH", NULL, 0, 0, ACQ_ON_eval | ACQ_OF_links,                     \
         "links: more facts that hold, such as a test split; they do not compete for a rank")      \
    TEXT(negatives, "negatives", 0, "FILE", NULL, 0, 0, ACQ_ON_eval | ACQ_OF_links,                \
         "links: triples that are false, to decide between them and the new links")                \
    TEXT(atoms, "atoms", 0, "READING", NULL, 0, 0, ACQ_ON_queries,                                 \
         "written, pair or ordered-pair: which of parallel atoms count")                           \
    TEXT(predictor, "predictor", 0, "NAME", "auto", 0, 0,                                          \
         ACQ_ON_links | ACQ_ON_servers | ACQ_ON_shell,                                             \
         "observed, perfect:GRAPH, completion:FILE, ultra, complex|nbfnet|rules|ultra:MODEL")      \
    TEXT(direction, "direction", 0, "NAME", "both", 0, 0, ACQ_ON_links,                            \
         "both: a model's link scores the larger of its two directions; forward: as named")        \
    TEXT(scaling, "scaling", 0, "NAME", "fit", 0, 0, ACQ_ON_links,                                 \
         "complex: how scores become probabilities, fit or qto")                                   \
    REAL(visit, "visit", 0, "SHARE", NULL, 1e-9, 1, ACQ_ON_links,                                  \
         "ultra, nbfnet: entities that a row visits (1: all; large graphs: 4096 around the head)") \
    TEXT(engine, "engine", 0, "NAME", "exact", 0, 0, ACQ_ON_questions,                             \
         "exact (with proofs), policy, climb, random, sql, qto, fit, gnnqe or ultraquery")         \
    TEXT(sql_library, "sql-library", 0, "FILE", NULL, 0, 0, ACQ_ON_questions,                      \
         "sql: answer in DuckDB, whose libduckdb.so this is (default: in SQLite)")                 \
    TEXT(t_norm, "t-norm", 0, "NAME", "mixed", 0, 0, ACQ_ON_questions,                             \
         "fit: mixed (minimum within a variable, product along a link), product or minimum")       \
    REAL(negation_scale, "negation-scale", 0, "C", NULL, 0, 1e6, ACQ_ON_questions,                 \
         "qto, fit: not x is 1 - min(1, C x); QTO's authors have 3 and 6 (default 1)")             \
    REAL(input_threshold, "input-threshold", 0, "T", NULL, 0, 1, ACQ_ON_questions,                 \
         "gnnqe, ultraquery: degrees below T do not enter a projection")                           \
    REAL(threshold, "threshold", 0, "T", "0.5", 1e-6, 1, ACQ_ON_questions,                         \
         "least score of an answer; unless given, a calibrator decides by p")                      \
    REAL(binarize, "binarize", 0, "T", NULL, 1e-6, 1, ACQ_ON_questions,                            \
         "links of score T or more count 1, all others 0")                                         \
    REAL(negation_threshold, "negation-threshold", 0, "T", NULL, 0, 1, ACQ_ON_questions,           \
         "a negated atom holds when its link scores below T (with --prior: 1)")                    \
    REAL(prior, "prior", 0, "S", NULL, 1e-6, 0.999999, ACQ_ON_questions | ACQ_OF_links,            \
         "decide for candidates of which this share is true (eval: 0.5)")                          \
    FLAG(paper, "paper", 0, NULL, NULL, 0, 0, ACQ_ON_questions,                                    \
         "the paper's rule: policy, climb and random say none after the last step")                \
    REAL(time, "time", 0, "SECONDS", "60", 0.001, 1e8, ACQ_ON_questions | ACQ_OF_links,            \
         "time for the whole command; unless given, for each query")                               \
    COUNT(memory, "memory", 0, "MB", "4096", 1, 1e9, ACQ_ON_questions | ACQ_OF_links,              \
          "memory of the whole command; unless given, for each search")                            \
    REAL(suggest_time, "time", 0, "SECONDS", "60", 0.001, 1e8, ACQ_ON_suggest,                     \
         "time for the whole command")                                                             \
    TIME(whole_time, "time", 0, "TIME", NULL, 0.001, 1e8,                                          \
         ACQ_ON_predict | ACQ_ON_complete | ACQ_ON_import,                                         \
         "most time for everything, as 90, 90s, 15m or 2h")                                        \
    COUNT(whole_memory, "memory", 0, "MB", NULL, 16, 1e9,                                          \
          ACQ_ON_predict | ACQ_ON_complete | ACQ_ON_fit | ACQ_ON_train | ACQ_ON_suggest,           \
          "most memory for everything")                                                            \
    COUNT(import_memory, "memory", 0, "MB", "2048", 16, 1e9, ACQ_ON_import,                        \
          "memory to use; what does not fit is sorted on disk")                                    \
    COUNT(steps, "steps", 0, "N", NULL, 1, 1e18, ACQ_ON_questions,                                 \
          "most assignments tried (default 10000 for random and climb, 200 for policy)")           \
    COUNT(seed, "seed", 0, "N", "1", 0, 1e18, ACQ_ON_questions,                                    \
          "policy, climb, random: another seed, another run")                                      \
    TEXT(weights, "weights", 0, "NAME", "shipped", 0, 0, ACQ_ON_questions,                         \
         "policy: shipped, untrained, untrained:DIM or a FILE that train wrote")                   \
    COUNT(restart, "restart", 0, "N", NULL, 1, 1e18, ACQ_ON_questions,                             \
          "policy: begin anew after every N steps")                                                \
    TEXT(pe, "pe", 0, "LABELS", "exact", 0, 0, ACQ_ON_questions,                                   \
         "policy: what may hold, by the predictor (exact) or by observed facts (observed)")        \
    FLAG(trace, "trace", 0, NULL, NULL, 0, 0, ACQ_ON_ask | ACQ_ON_check,                           \
         "policy: a line for every step: score, best, classes, time")                              \
    ACQ_TRAIN_OPTIONS(FLAG, REAL, COUNT, TEXT, TIME)                                               \
    COUNT(threads, "threads", 0, "N", "1", 1, 1024, ACQ_ON_ask | ACQ_ON_eval,                      \
          "queries answered at the same time")                                                     \
    COUNT(import_threads, "threads", 0, "N", NULL, 1, 1024, ACQ_ON_import,                         \
          "threads to read with (default: one per processor)")                                     \
    TEXT(host, "host", 0, "ADDRESS", "127.0.0.1", 0, 0, ACQ_ON_serve,                              \
         "IPv4 address to listen at; others than 127.0.0.1 need --token-file")                     \
    COUNT(port, "port", 0, "N", "8321", 0, 65535, ACQ_ON_serve, "port to listen at; 0: any")       \
    TEXT(token_file, "token-file", 0, "FILE", NULL, 0, 0, ACQ_ON_serve,                            \
         "requests must carry the bearer token in the first line of FILE")                         \
    TEXT(cors, "cors", 0, "ORIGIN", NULL, 0, 0, ACQ_ON_serve,                                      \
         "web pages of this origin may read the answers")                                          \
    COUNT(workers, "workers", 0, "N", "4", 1, 1024, ACQ_ON_serve,                                  \
          "questions answered at the same time")                                                   \
    COUNT(queue, "queue", 0, "N", "64", 0, 100000, ACQ_ON_serve,                                   \
          "questions that wait; more are refused with 503")                                        \
    FLAG(writable, "writable", 0, NULL, NULL, 0, 0, ACQ_ON_servers,                                \
         "clients may add and remove facts of stores")                                             \
    COUNT(most, "most", 0, "N", "10000", 1, 1e7, ACQ_ON_servers, "most answers of one request")    \
    REAL(serve_time, "time", 0, "SECONDS", "10", 0.001, 1e6, ACQ_ON_servers,                       \
         "most time of one request")                                                               \
    COUNT(serve_memory, "memory", 0, "MB", "512", 1, 1e9, ACQ_ON_servers,                          \
          "memory of one request's search")                                                        \
    TEXT(earlier, "earlier", 0, "GRAPH", NULL, 0, 0, ACQ_ON_fit,                                   \
         "learn from what was added since this graph, in place of links held out")                 \
    TEXT(fit_predictor, "predictor", 0, "NAME", "auto", 0, 0, ACQ_ON_fit,                          \
         "complex, nbfnet, ultra, rules, all, or some, as complex+rules")                          \
    TEXT(effort, "effort", 0, "HOW", "normal", 0, 0, ACQ_ON_fit,                                   \
         "quick, normal or best: some 2, 15, 120 minutes on two cores for 300,000 facts")          \
    TEXT(ultra, "ultra", 0, "MODEL", NULL, 0, 0, ACQ_ON_fit,                                       \
         "weights of ultra in place of the shipped ones")                                          \
    TIME(tune, "tune", 0, "TIME", NULL, 0, 1e8, ACQ_ON_fit,                                        \
         "train the weights of ultra on for so long on this graph first, as 10m")                  \
    TIME(fit_time, "time", 0, "TIME", NULL, 0, 1e8, ACQ_ON_fit,                                    \
         "most time for everything, as 90s, 15m or 2h; trainings are cut to it")                   \
    REAL(hold_share, "hold-share", 0, "S", NULL, 0.001, 0.5, ACQ_ON_fit,                           \
         "share of the facts to hold out")                                                         \
    TEXT(hold, "hold", 0, "WHAT", NULL, 0, 0, ACQ_ON_fit,                                          \
         "hold out links, pairs (only those that leave no link between the two), or "              \
         "auto: by the graph")                                                                     \
    COUNT(fit_top, "top", 0, "K", NULL, 1, 1e6, ACQ_ON_fit,                                        \
          "links that each predictor proposes for (head, relation, ?)")                            \
    REAL(links_floor, "floor", 0, "P", NULL, 0, 0.999, ACQ_ON_fit | ACQ_ON_complete,               \
         "leave links out that score less")                                                        \
    TEXT(rows, "rows", 0, "SIDES", NULL, 0, 0, ACQ_ON_fit | ACQ_ON_complete,                       \
         "ask of each relation from both sides (default) or from the smaller one")                 \
    TEXT(tails, "tails", 0, "WHICH", NULL, 0, 0, ACQ_ON_fit | ACQ_ON_complete,                     \
         "propose all entities (default), or those seen with the relation")                        \
    FLAG(keep, "keep", 0, NULL, NULL, 0, 0, ACQ_ON_fit,                                            \
         "leave the trained models in COMPLETION.fit, which the next fit --resume uses")           \
    FLAG(no_rules, "no-rules", 0, NULL, NULL, 0, 0, ACQ_ON_fit, "mine no rules")                   \
    FLAG(no_neighbours, "no-neighbours", 0, NULL, NULL, 0, 0, ACQ_ON_fit,                          \
         "no evidence from what similar entities have")                                            \
    FLAG(no_lifts, "no-lifts", 0, NULL, NULL, 0, 0, ACQ_ON_fit,                                    \
         "no evidence from whole rows: for answers over rows that are made one by one")            \
    FLAG(pieces, "pieces", 0, NULL, NULL, 0, 0, ACQ_ON_fit,                                        \
         "in pieces, as a large graph is fitted: quicker, with less evidence for each link")       \
    TEXT(svg, "svg", 0, "FILE", NULL, 0, 0, ACQ_ON_fit,                                            \
         "where to draw the diagram (default COMPLETION.svg)")                                     \
    TEXT(shard, "shard", 0, "I/N", NULL, 0, 0, ACQ_ON_complete,                                    \
         "only the relations of the I-th of N shards, which merge puts together")                  \
    TEXT(work_shard, "shard", 0, "I/N", NULL, 0, 0, ACQ_ON_shared,                                 \
         "only the I-th of N parts of the work, left in -o FILE for --merge")                      \
    LIST(work_merge, "merge", 0, "SHARD", NULL, 0, 0, ACQ_ON_shared,                               \
         "the parts are there: the files that --shard 1/N to N/N wrote, with the same options")    \
    TEXT(split, "split", 0, "NAME", NULL, 0, 0, ACQ_ON_graphs,                                     \
         "folders: read up to and including train (default), valid or test")                       \
    FLAG(strict, "strict", 0, NULL, NULL, 0, 0, ACQ_ON_graphs,                                     \
         "a line that cannot be read is an error")                                                 \
    FLAG(no_header, "no-header", 0, NULL, NULL, 0, 0, ACQ_ON_graphs,                               \
         "the first line is a fact, even if it reads like head, relation, tail")                   \
    TEXT(base, "base", 0, "IRI", NULL, 0, 0, ACQ_ON_graphs,                                        \
         "RDF: what relative IRIs are relative to")                                                \
    FLAG(literals, "literals", 0, NULL, NULL, 0, 0, ACQ_ON_graphs,                                 \
         "RDF: numbers and texts are entities too")                                                \
    FLAG(named_graphs, "named-graphs", 0, NULL, NULL, 0, 0, ACQ_ON_graphs,                         \
         "RDF: keep which graphs facts stand in, for GRAPH of SPARQL")                             \
    TEXT(instructions, "instructions", 0, "SET", "auto", 0, 0,                                     \
         ACQ_ON_links | ACQ_ON_train | ACQ_ON_fit | ACQ_ON_shell | ACQ_ON_servers |                \
             ACQ_ON_reproduce,                                                                     \
         "nothing newer than generic, avx2, avx512, avx512-bf16 or amx is used")                   \
    FLAG(json, "json", 0, NULL, NULL, 0, 0, ACQ_ON_json, "one JSON object per line")               \
    TEXT(output_format, "output-format", 0, "NAME", "text", 0, 0,                                  \
         ACQ_ON_questions | ACQ_OF_links | ACQ_ON_answers | ACQ_ON_info | ACQ_ON_fit,              \
         "text, json (as --json), csv or tsv: a line of names, then one line per result")          \
    FLAG(help, "help", 'h', NULL, NULL, 0, 0, ~0, "this text")

typedef struct acq_words {
    const char **items; /* borrowed from argv */
    size_t n;
} acq_words;

enum acq_option_id {
#define ACQ_OPTION_ID(field, ...) ACQ_OPTION_##field,
    ACQ_OPTIONS(ACQ_OPTION_ID, ACQ_OPTION_ID, ACQ_OPTION_ID, ACQ_OPTION_ID, ACQ_OPTION_ID,
                ACQ_OPTION_ID)
#undef ACQ_OPTION_ID
        ACQ_N_OPTIONS
};

typedef struct acq_options {
#define ACQ_OPTION_FLAG(field, ...)  bool field;
#define ACQ_OPTION_REAL(field, ...)  double field;
#define ACQ_OPTION_COUNT(field, ...) uint64_t field;
#define ACQ_OPTION_TEXT(field, ...)  const char *field;
#define ACQ_OPTION_LIST(field, ...)  acq_words field;
#define ACQ_OPTION_TIME(field, ...)  double field;
    ACQ_OPTIONS(ACQ_OPTION_FLAG, ACQ_OPTION_REAL, ACQ_OPTION_COUNT, ACQ_OPTION_TEXT,
                ACQ_OPTION_LIST, ACQ_OPTION_TIME)
#undef ACQ_OPTION_FLAG
#undef ACQ_OPTION_REAL
#undef ACQ_OPTION_COUNT
#undef ACQ_OPTION_TEXT
#undef ACQ_OPTION_LIST
#undef ACQ_OPTION_TIME
    bool given[ACQ_N_OPTIONS];
    int64_t begin_ns; /* when the command began */
    char separator;   /* of --output-format csv and tsv; 0: no table for programs */
    acq_command_id command;
    acq_words args;     /* what is no option */
    const char **words; /* owned: room for args and lists */
} acq_options;

#define acq_options_has(options, field) ((options)->given[ACQ_OPTION_##field])

/* argv without program and command name. Deinit also after an error. */
acq_status acq_options_init(acq_options *options, acq_command_id command, int argc,
                            char *const *argv, acq_error *error);
void acq_options_deinit(acq_options *options);

/* Of --time, if it was given, which is for the whole command; INFINITY: it was not. */
double acq_options_get_seconds_left(const acq_options *options);

/* What the first argument chooses; ACQ_N_VARIANTS: nothing known. */
acq_variant_id acq_options_get_variant(const acq_options *options);

/* Which of a few known words was meant. */
typedef struct acq_nearest {
    const char *word; /* what was written */
    const char *best; /* nearest so far; NULL: nothing near */
    size_t distance;
} acq_nearest;

void acq_nearest_init(acq_nearest *nearest, const char *word);

/* Takes `known` when it is nearer than all before: at most a third of the letters may differ, and
 * two words of which one begins the other are near. Words over 63 bytes are near nothing. */
void acq_nearest_offer(acq_nearest *nearest, const char *known);

/* One row of the table, for the parser and the help. */
typedef enum acq_option_kind {
    ACQ_KIND_FLAG,
    ACQ_KIND_REAL,
    ACQ_KIND_COUNT,
    ACQ_KIND_TEXT,
    ACQ_KIND_LIST,
    ACQ_KIND_TIME,
} acq_option_kind;

typedef struct acq_option {
    const char *name;
    const char *argument; /* NULL: a flag */
    const char *help;
    const char *text_default; /* NULL: off */
    char letter;              /* 0: none */
    acq_option_kind kind;
    double low, high;  /* of numbers */
    uint64_t commands; /* bits ACQ_ON_... and ACQ_OF_... */
    size_t offset;     /* of its field in acq_options */
} acq_option;

const acq_option *acq_option_get(size_t i); /* i below ACQ_N_OPTIONS */

/* Does the row count for this command, and for this variant of it (ACQ_N_VARIANTS: for each)? */
bool acq_option_is_for(const acq_option *option, acq_command_id command, acq_variant_id variant);

#endif
