/* commands.c - the table of commands and their help; see commands.h. */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/table.h"

#define IMPORT_HELP                                                                                \
    "Reads facts and keeps them in a store: one file that opens at once, whatever its\n"           \
    "size, and that add, remove and compact change. SOURCE is triples (.tsv, .txt,\n"              \
    ".csv), RDF (.nt, .ttl, .nq, .trig), any of these compressed (.gz), a benchmark's\n"           \
    "*_kg.tsv beside its kgindex.json, or a folder of them; several are merged.\n"                 \
    "\n"                                                                                           \
    "GRAPH appears when it is complete; an interrupt leaves nothing behind. It takes\n"            \
    "the place of an older store; where facts of that one were changed since its\n"                \
    "import, only with --replace. RDF: entities are called by their rdfs:label,\n"                 \
    "literals are left out unless --literals, graphs are merged, with --named-graphs\n"            \
    "also kept apart.\n"

#define INFO_HELP                                                                                  \
    "Counts entities, relations and facts, lists the largest relations, and says\n"                \
    "what was left out while reading; of a store, its format, sources, size and the\n"             \
    "number of changes that wait for a compaction. A store has no --split, and was\n"              \
    "read with --strict, --base and --literals when it was imported.\n"                            \
    "\n"                                                                                           \
    "Of a model that train rules made: its most confident rules, each with its\n"                  \
    "confidence, the pairs that its body links and how many of them are facts;\n"                  \
    "--limit N shows more, --output-format tsv all of them.\n"

#define CHANGE_HELP                                                                                \
    "Facts are written as in queries: names in quotes or as they stand, IRIs in\n"                 \
    "<...>, inverse(rel)(tail, head) the other way round. Put a name that holds a\n"               \
    "comma in quotes. All facts of one command change the store together or not at\n"              \
    "all, and what the command reports survives a power failure. Queries that run\n"               \
    "meanwhile see the graph as it was.\n"

#define ADD_HELP                                                                                   \
    "  anycq add films.acq 'directed(Greta Gerwig, \"Little Women\")'\n"                           \
    "\n" CHANGE_HELP "\n"                                                                          \
    "A name that is not known becomes a new entity or relation, which is reported.\n"

#define REMOVE_HELP                                                                                \
    "  anycq remove films.acq 'directed(Greta Gerwig, \"Little Women\")'\n"                        \
    "\n" CHANGE_HELP "\n"                                                                          \
    "Every name must be known. A fact that is not there is counted and does no harm.\n"

#define COMPACT_HELP                                                                               \
    "Folds the changes of add and remove into the links they belong to and gives\n"                \
    "freed space back. Answers are the same before, meanwhile and after; add does it\n"            \
    "by itself when many changes have gathered.\n"

#define SERVE_HELP                                                                                 \
    "  anycq serve films.acq people.ttl\n"                                                         \
    "  curl 'http://127.0.0.1:8321/api/ask?query=directed(x,\"Barbie\")'\n"                        \
    "\n"                                                                                           \
    "Answers questions about graphs over HTTP: the SPARQL 1.1 Protocol at /sparql and\n"           \
    "/sparql/NAME, JSON at /api/..., the Model Context Protocol at /mcp. The name of\n"            \
    "a graph is that of its file without its ending; /openapi.json lists everything.\n"            \
    "The server only reads, unless --writable is given. SIGHUP opens the graphs anew,\n"           \
    "SIGTERM ends it when the requests under way are answered. It speaks plain HTTP:\n"            \
    "docs/server.md shows a proxy with TLS.\n"

#define MCP_HELP                                                                                   \
    "Serves the Model Context Protocol on standard input and output, for assistants:\n"            \
    "tools schema, find_entity, ask, check, explain and suggest. Both the revision\n"              \
    "2026-07-28 and those that begin with initialize are understood. The same is at\n"             \
    "/mcp of anycq serve.\n"

#define REPRODUCE_HELP                                                                             \
    "  anycq reproduce data -o tables --quick\n"                                                   \
    "\n"                                                                                           \
    "Makes every table and figure of the AnyCQ paper from a folder of graphs and\n"                \
    "query files, or of such folders: Markdown, CSV, SVG and DIR/index.html, with\n"               \
    "the published rows beside ours. Files are found by their names: train_kg.tsv\n"               \
    "or train.txt, valid and test likewise; qac_valid_type0001.json (or 2p),\n"                    \
    "qac_test_3hub.json, qar_valid_3hub_efo1.json. What the folder lacks is left out\n"            \
    "and listed. Links and weights that a row needs are trained unless --models, or\n"             \
    "FOLDER/models, has them.\n"                                                                   \
    "\n"                                                                                           \
    "Each result is kept in DIR/jobs as soon as it is there. After an interrupt the\n"             \
    "same command goes on, and after a change it does again what depends on it.\n"

#define SHELL_HELP                                                                                 \
    "  anycq shell films.acq\n"                                                                    \
    "  anycq> .explain on\n"                                                                       \
    "  anycq> directed(x, \"Oppenheimer\")\n"                                                      \
    "\n"                                                                                           \
    "Asks one question after the other of a graph that stays open. Each is written as\n"           \
    "for ask, over several lines if need be; .help lists what else a line may be. Any\n"           \
    "option of ask is a setting there: .limit 5, .engine policy, .time 10.\n"                      \
    "\n"                                                                                           \
    "On a terminal lines can be edited, Tab completes commands, relations and, in\n"               \
    "quotes, entities, and the history is kept in $XDG_STATE_HOME/anycq/history\n"                 \
    "(~/.local/state). Ctrl-C cancels a question, not the shell. Elsewhere lines are\n"            \
    "read to the end, and the exit code is the worst, as of ask --queries.\n"

#define EXPORT_HELP                                                                                \
    "Writes every fact once, to standard output or to a file, which appears when it\n"             \
    "is complete. A FILE that ends in .gz is compressed. import reads all formats:\n"              \
    "\n"                                                                                           \
    "  tsv  head, relation, tail between tabs; no names with tabs or line ends\n"                  \
    "  csv  the same with commas, and quotes where they are needed\n"                              \
    "  nt   N-Triples, with labels; names that are no IRIs become <urn:anycq:NAME>\n"              \
    "\n"                                                                                           \
    "The order is that of the graph's ids, so equal graphs give equal files.\n"

#define QUESTION_HELP                                                                              \
    "  Q(x) := exists y. directed(y, \"Oppenheimer\") & born_in(y, x)\n"                           \
    "\n"                                                                                           \
    "and: & , and    or: | or    not: ! not    x != y, x = y    ( ) nest freely.\n"                \
    "With an exists list, bare words that are neither free nor listed are names;\n"                \
    "without one, every bare word is a variable and names are quoted. SPARQL SELECT\n"             \
    "and ASK work too.\n"

#define JSON_HELP                                                                                  \
    "With --json each query gives one object on one line: query, outcome (answered,\n"             \
    "none, undecided), reason, complete, answers (values, witness, score, kind,\n"                 \
    "atoms), engine, predictor, threshold, nodes, revisions, ms, memory; with the\n"               \
    "policy search also weights, classes, flops, note and trace. Where RDF labels\n"               \
    "are shown, keys has the IRIs. An error is text on standard error and\n"                       \
    "also {\"error\":{\"code\",\"file\",\"line\",\"column\",\"message\"}} on standard output.\n"

#define ASK_HELP                                                                                   \
    "Finds the best answer, the K best, or all of them:\n"                                         \
    "\n" QUESTION_HELP "\n"                                                                        \
    "Prints each answer with its score and whether it rests on observed facts alone\n"             \
    "or on predictions, or \"none\" when it is proved that nothing reaches the\n"                  \
    "threshold or, with probabilities, when no candidate has the p of --min-p, or\n"               \
    "\"undecided\" when the budget ran out. A query without free variables is\n"                   \
    "answered yes or none.\n"                                                                      \
    "\n"                                                                                           \
    "--queries FILE holds one query per line; blank lines and lines that begin with\n"             \
    "# are left out. A bad query is reported and the others still run. The exit code\n"            \
    "is the worst: 4, then 2 if any was bad, 3 if any is undecided, 1 if any has\n"                \
    "none, 0 if all are answered.\n"                                                               \
    "\n" JSON_HELP

#define CHECK_HELP                                                                                 \
    "Is the tuple of VALUEs, one per free variable in the head's order, an answer?\n"              \
    "\n" QUESTION_HELP "\n"                                                                        \
    "Prints yes with the score, no when it is proved that the score is below the\n"                \
    "threshold or, with probabilities, when p is below --min-p, or undecided. A\n"                 \
    "query without free variables takes no VALUE.\n"                                               \
    "\n" JSON_HELP "check adds verdict (yes, no, undecided).\n"

#define PREDICT_HELP                                                                               \
    "Lists what stands in the place of ?, best score first. Either side may be ?;\n"               \
    "names need no quotes here, IRIs go in <...>. inverse(rel) turns a relation\n"                 \
    "round.\n"                                                                                     \
    "Exit code 1 when there is no link at all.\n"

#define SUGGEST_HELP                                                                               \
    "Lists the likeliest links that the graph lacks, most likely first, with the\n"                \
    "probability that each is true; --explain gives the evidence for it and against\n"             \
    "it. The notes at the end say how many of the list are true by these\n"                        \
    "probabilities and, where that was tested on held-out facts, how far each\n"                   \
    "relation of the list can be trusted. With a completion made by fit all links\n"               \
    "are compared; without one, rows are predicted for as long as --time allows,\n"                \
    "relations with few rows first, and a note says how many were looked at.\n"                    \
    "\n"                                                                                           \
    "--output-format tsv and csv have the columns head, relation, tail and p; what\n"              \
    "is left of them after a look goes into a store with add GRAPH --from FILE.\n"                 \
    "--json: predictor, suggestions (head, relation, tail, p, with --explain\n"                    \
    "reasons), relations (relation, held, said, right: links with p >= 0.5 and how\n"              \
    "many of these are true), found, expected, mean_p, rows, rows_done, reason\n"                  \
    "(null, time, interrupt). Exit code 1 when there is none, 3 when the time ran\n"               \
    "out first.\n"

#define COMPLETE_HELP                                                                              \
    "Writes every scored link of --predictor to a file that ask, check and eval take\n"            \
    "as --predictor completion:FILE. The file appears when it is complete; an\n"                   \
    "interrupt leaves nothing behind.\n"                                                           \
    "\n"                                                                                           \
    "Several machines can share the work: --shard 1/8 to 8/8 write the shards that\n"              \
    "merge makes one completion of, the same as if one machine had made it.\n"

#define MERGE_HELP                                                                                 \
    "Joins the shards that complete --shard wrote to one completion. Name each of\n"               \
    "them once, in any order; they must be of the same graph, predictor and floor.\n"              \
    "Every part is checked on the way.\n"

#define FIT_HELP                                                                                   \
    "Learns from the facts of a graph which links it lacks, and how likely each one\n"             \
    "is: holds some links out (or those that GRAPH has and --earlier lacks), trains\n"             \
    "predictors on the rest, mines rules, compares similar entities, learns from the\n"            \
    "held-out links how likely a link, and an answer, is true, trains on everything,\n"            \
    "and writes the links with their p. Without -o they go beside the graph, as\n"                 \
    "GRAPH.completion (in a folder: completion), where ask, check and predict find it\n"           \
    "by themselves; elsewhere they take it as --predictor completion:FILE.\n"                      \
    "\n"                                                                                           \
    "Two tables, and COMPLETION.svg, tell how good the probabilities are: of links\n"              \
    "that the trees had not seen, and of answers to generated queries. Where a yes\n"              \
    "should begin for the best F1 on these is told too; check says yes from 0.5 on.\n"             \
    "\n"                                                                                           \
    "The first line says what will be trained and held out. What each part of the\n"               \
    "evidence is worth is told too: how much worse links are predicted without it.\n"              \
    "\n"                                                                                           \
    "COMPLETION.fit is a folder with what is done so far. An interrupt keeps it, and\n"            \
    "so does --keep: with --resume a fit uses the models that were trained. A seed\n"              \
    "gives the same file at any --threads, on one kind of processor, if --time does\n"             \
    "not end a training.\n"                                                                        \
    "\n"                                                                                           \
    "With --json one object: completion, picture, graph, fingerprint, held, covered,\n"            \
    "candidates, links, link_table, answer_table, denial_table (of queries that deny\n"            \
    "a link), if_answered_table (log_loss, base_log_loss, gap, bins), small_queries,\n"            \
    "large_queries (min_p, f1, f1_half; null: none were answered), parts (part,\n"                 \
    "worth), hold, seconds.\n"

#define SQL_HELP                                                                                   \
    "Prints a query as one SQL statement over the tables facts(head, relation, tail)\n"            \
    "and entities(name), for SQLite or DuckDB. It finds answers among observed facts.\n"           \
    "--queries FILE takes a file with one query per line, or a benchmark's FILE.json,\n"           \
    "each instance of which gives a statement with integer ids.\n"

#define DRAW_HELP                                                                                  \
    "Draws the graph of a query: free variables as large discs, existential ones as\n"             \
    "small ones, constants as squares, atoms as arrows with their relations, negated\n"            \
    "ones dashed. QUERY is text, SPARQL or a benchmark's formula; no graph is read.\n"

#define GENERATE_HELP                                                                              \
    "Draws queries from the complete graph and labels them by exact search in both\n"              \
    "graphs: an easy answer holds in the observed graph, a hard one only in the\n"                 \
    "complete one. Every label is checked once more. A seed gives one file.\n"                     \
    "\n"                                                                                           \
    "  qac    large queries, each with as many correct as wrong candidates\n"                      \
    "  qar    large queries of 1 to 3 free variables, with their answers or none\n"                \
    "  small  candidates for one of fourteen small types\n"                                        \
    "  cqa    small queries with easy and hard answers, to be ranked\n"                            \
    "\n"                                                                                           \
    "Large queries are drawn as the AnyCQ paper describes. Wrong candidates are seen\n"            \
    "in the observed graph at the free variable's end of every positive atom; here\n"              \
    "correct ones are too, unless --published-sets, so that \"never seen there\" says\n"           \
    "nothing. The files are read by eval.\n"                                                       \
    "\n"                                                                                           \
    "Several machines can share the work: each of --shard 1/8 to 8/8 writes a shard\n"             \
    "to its -o FILE; the same command with --merge and all eight writes the queries.\n"            \
    "\n"                                                                                           \
    "With --json one object: kind, file, queries, negative, trivial, candidates,\n"                \
    "easy, hard, wrong (in percent), unseen, capped, checked, terms, atoms, constants\n"           \
    "(means), tries, unfit, easy_only, costly, no_set, seconds.\n"

#define EVAL_HELP                                                                                  \
    "Runs an engine with a predictor over benchmark query files and prints quality\n"              \
    "and times. qac: classification; qar: retrieval. With --json also, for the\n"                  \
    "policy search, its weights, and of a decision the mean number of classes of\n"                \
    "values at the last step (classes_mean) and of operations (gflop).\n"                          \
    "\n"                                                                                           \
    "eval FOLDER runs over all query files of a folder, or of the folders in it, as\n"             \
    "reproduce finds them; without --predictor over observed facts alone.\n"                       \
    "\n"                                                                                           \
    "Several machines can share the work: each of --shard 1/8 to 8/8 leaves its part\n"            \
    "in -o FILE, and the same command with --merge and all eight prints the tables.\n"

#define EVAL_CQA_HELP                                                                              \
    "Ranks the hard answers of queries and prints, for each type of query, mean\n"                 \
    "reciprocal rank (MRR) and Hits@1, 3 and 10, in percent. A hard answer is ranked\n"            \
    "among the entities that are no answers, easy or hard; of entities with the same\n"            \
    "score one half counts. Means are over the hard answers of a query, then over the\n"           \
    "queries of a type, then over the types. FILE is made by generate cqa, or from a\n"            \
    "BetaE folder by tools/convert_betae.\n"                                                       \
    "\n"                                                                                           \
    "--engine exact ranks by probability, or without a calibrator by score; qto, fit,\n"           \
    "gnnqe and ultraquery by their degrees. A path that is denied (pni) is no\n"                   \
    "existential query; exact ranks \"A and not B\" by p(A) - p(A and B). What an\n"               \
    "engine cannot rank is counted and left out.\n"                                                \
    "\n"                                                                                           \
    "With --json one object for each type and the mean: task, file, type, engine,\n"               \
    "predictor, queries, hard, unranked, mrr, hits1, hits3, hits10, ms.\n"

#define EVAL_LINKS_HELP                                                                            \
    "Asks a predictor for every link of --truth that the observed graph lacks, in\n"               \
    "both directions, (head, relation, ?), and prints at which rank it is found: mean\n"           \
    "reciprocal rank (MRR) and the share within the first 1, 3 and 10. Other tails\n"              \
    "that are observed or true are left out of a ranking; among equals the mean rank\n"            \
    "counts. complex:, nbfnet:, rules: and ultra: MODELs are judged by their scores\n"             \
    "of all entities, any other predictor by the scores of its links. Where these are\n"           \
    "probabilities, a table compares the stated with the true share.\n"                            \
    "\n"                                                                                           \
    "The same is printed for four cases: is the head seen, in an observed fact of the\n"           \
    "relation, and is the tail? The head is the entity that is asked about; in the\n"              \
    "tables it is the head of the relation as the graph names it.\n"                               \
    "\n"                                                                                           \
    "--filter GRAPH has more facts that hold but are not asked for, such as a test\n"              \
    "split: they are left out of rankings and tables, as in published figures.\n"                  \
    "\n"                                                                                           \
    "--negatives FILE has triples that are known to be false: how often is the\n"                  \
    "decision of check, at --prior (default 0.5), right for them and the new links?\n"             \
    "\n"                                                                                           \
    "With --json one object: task, observed, truth, predictor, links, ranked, mrr,\n"              \
    "hits1, hits3, hits10 (in percent), filter, ties, seconds; with probabilities\n"               \
    "log_loss, base_log_loss, gap, bins (low, high, n, stated, true); cases, each\n"               \
    "with seen (both, head, tail, neither), links, ranked, mrr and so on; with\n"                  \
    "negatives prior, accuracy, true_links, true_yes, false_links, false_yes,\n"                   \
    "undecided.\n"

#define TRAIN_HELP                                                                                 \
    "Trains a model on the facts of a graph:\n"                                                    \
    "\n"                                                                                           \
    "  complex  links by vectors of entities and relations; for this graph, fast\n"                \
    "  nbfnet   links by the paths between entities; for graphs with these relations\n"            \
    "  gnnqe    the network of nbfnet inside small queries, --engine gnnqe\n"                      \
    "  ultra    links by how relations meet; for any graph, trained on several\n"                  \
    "  rules    links by rules that people can read; for this graph, minutes\n"                    \
    "  policy   the learned search, --engine policy; for any graph\n"                              \
    "\n"                                                                                           \
    "anycq train KIND --help lists the options of each kind.\n"

#define RESUME_HELP                                                                                \
    "MODEL.checkpoint is there while it trains. An interrupt keeps it: the same\n"                 \
    "command with --resume goes on where it was, and begins anew where there is none.\n"           \
    "A seed gives the same weights at any --threads, on one kind of processor, if the\n"           \
    "clock does not end the training.\n"                                                           \
    "\n"                                                                                           \
    "With --json the last line is an object: model, kind, seed, loss, seconds,\n"                  \
    "threads, options, graphs.\n"

#define TRAIN_COMPLEX_HELP                                                                         \
    "Trains ComplEx: a complex vector for each entity and relation, by the\n"                      \
    "cross-entropy of tails, heads and relations with the N3 norm, Adagrad. The model\n"           \
    "is for this graph and what it grows to: --predictor complex:MODEL.\n"                         \
    "\n" RESUME_HELP

#define TRAIN_NBFNET_HELP                                                                          \
    "Trains NBFNet as in GNN-QE: messages along the paths from the head, 4 layers of\n"            \
    "width 32. With --visit-nodes layers visit a part of the graph, chosen by a\n"                 \
    "priority that is learnt, as in A*Net; rows do so too, --visit 1 excepted. The\n"              \
    "model is for graphs with the same relations: --predictor nbfnet:MODEL.\n"                     \
    "\n" RESUME_HELP

#define TRAIN_GNNQE_HELP                                                                           \
    "Trains GNN-QE: NBFNet as the projection between fuzzy sets of entities, on small\n"           \
    "queries read off the facts, in the shares that BetaE's files have. The model is\n"            \
    "an NBFNet: --engine gnnqe --predictor nbfnet:MODEL. One of train nbfnet is a\n"               \
    "good start: --warm MODEL.\n"                                                                  \
    "\n" RESUME_HELP

#define TRAIN_ULTRA_HELP                                                                           \
    "Trains ULTRA on one graph or several, mixed: a network on the graph of relations\n"           \
    "that share entities, and one on the entities. The model is for any graph:\n"                  \
    "--predictor ultra:MODEL.\n"                                                                   \
    "\n" RESUME_HELP

#define TRAIN_RULES_HELP                                                                           \
    "Learns rules in the manner of AnyBURL, for --predictor rules:MODEL:\n"                        \
    "\n"                                                                                           \
    "  h(X, Y) <= b(X, A), c(A, B), d(B, Y)   one to three hops\n"                                 \
    "  h(X, \"c\") <= b(X, \"d\")               entities on both sides, on either end\n"           \
    "  h(X, \"c\") <= b(X, A)                 an entity in the head\n"                             \
    "\n"                                                                                           \
    "The confidence of a rule is support / (pairs + 5): of the pairs that its body\n"              \
    "links, as many as were looked at, the share that are facts. The more time, the\n"             \
    "more rules of three hops. anycq info MODEL prints them.\n"                                    \
    "\n"                                                                                           \
    "--aggregate says how rules that conclude the same link count together: max, the\n"            \
    "best one; noisy-or, the --best ones as if they were independent; clusters, the\n"             \
    "best one of each group of rules that mostly conclude the same links.\n"                       \
    "\n"                                                                                           \
    "MODEL.checkpoint is there while it learns; --resume goes on from it. A seed\n"                \
    "gives the same rules at any --threads if the clock does not end the learning.\n"              \
    "\n"                                                                                           \
    "With --json the last line is an object: model, kind, seed, rules, batches,\n"                 \
    "seconds, threads, options, graphs.\n"

#define TRAIN_POLICY_HELP                                                                          \
    "Trains the weights of --engine policy on queries generated from the facts of the\n"           \
    "graphs: nine small shapes and, once these are solved, hub-like ones. The model\n"             \
    "is for any graph: ask, check and eval take it as --weights MODEL.\n"                          \
    "--paper has the paper's configuration for FB15k-237, --paper-nell that for NELL;\n"           \
    "the authors' release takes its rewards from a ComplEx model: --rewards MODEL.\n"              \
    "\n"                                                                                           \
    "Writes MODEL (safetensors), and the training curve as MODEL.csv and MODEL.svg.\n"             \
    "Checkpoints, MODEL.seedN.checkpoint, are there while it trains. An interrupt\n"               \
    "keeps them: the same command with --resume goes on where it was, and begins\n"                \
    "anew where there is none. A seed gives the same weights at any --threads, on\n"               \
    "one kind of processor, if --batches and not --time ends the training.\n"                      \
    "\n"                                                                                           \
    "With --json the last line is an object: model, curve, picture, dim, labels,\n"                \
    "seed, held_solved, seeds, episodes, batches, seconds, threads, options, graphs.\n"

static const char *const helps[ACQ_N_COMMANDS] = {
    [ACQ_COMMAND_import] = IMPORT_HELP,
    [ACQ_COMMAND_info] = INFO_HELP,
    [ACQ_COMMAND_ask] = ASK_HELP,
    [ACQ_COMMAND_check] = CHECK_HELP,
    [ACQ_COMMAND_predict] = PREDICT_HELP,
    [ACQ_COMMAND_add] = ADD_HELP,
    [ACQ_COMMAND_remove] = REMOVE_HELP,
    [ACQ_COMMAND_compact] = COMPACT_HELP,
    [ACQ_COMMAND_export] = EXPORT_HELP,
    [ACQ_COMMAND_complete] = COMPLETE_HELP,
    [ACQ_COMMAND_sql] = SQL_HELP,
    [ACQ_COMMAND_eval] = EVAL_HELP,
    [ACQ_COMMAND_train] = TRAIN_HELP,
    [ACQ_COMMAND_merge] = MERGE_HELP,
    [ACQ_COMMAND_reproduce] = REPRODUCE_HELP,
    [ACQ_COMMAND_draw] = DRAW_HELP,
    [ACQ_COMMAND_generate] = GENERATE_HELP,
    [ACQ_COMMAND_fit] = FIT_HELP,
    [ACQ_COMMAND_suggest] = SUGGEST_HELP,
    [ACQ_COMMAND_serve] = SERVE_HELP,
    [ACQ_COMMAND_mcp] = MCP_HELP,
    [ACQ_COMMAND_shell] = SHELL_HELP,
};

static const char *const variant_helps[ACQ_N_VARIANTS] = {
    [ACQ_VARIANT_complex] = TRAIN_COMPLEX_HELP, [ACQ_VARIANT_nbfnet] = TRAIN_NBFNET_HELP,
    [ACQ_VARIANT_ultra] = TRAIN_ULTRA_HELP,     [ACQ_VARIANT_policy] = TRAIN_POLICY_HELP,
    [ACQ_VARIANT_links] = EVAL_LINKS_HELP,      [ACQ_VARIANT_rules] = TRAIN_RULES_HELP,
    [ACQ_VARIANT_cqa] = EVAL_CQA_HELP,          [ACQ_VARIANT_gnnqe] = TRAIN_GNNQE_HELP,
};

static const acq_variant variants[ACQ_N_VARIANTS] = {
#define VARIANT(command_, name_, arguments_)                                                       \
    {.command = ACQ_COMMAND_##command_, .name = #name_, .arguments = arguments_},
    ACQ_VARIANTS(VARIANT)
#undef VARIANT
};

_Static_assert((int)ACQ_N_COMMANDS <= ACQ_FIRST_VARIANT_BIT &&
                   ACQ_FIRST_VARIANT_BIT + (int)ACQ_N_VARIANTS < 64,
               "commands and variants share 64 bits");

static const acq_command commands[ACQ_N_COMMANDS] = {
#define ENTRY(name_, least, most, arguments_, summary_)                                            \
    {.name = #name_,                                                                               \
     .arguments = arguments_,                                                                      \
     .summary = summary_,                                                                          \
     .least_args = least,                                                                          \
     .most_args = most,                                                                            \
     .run = acq_cli_##name_},
    ACQ_COMMANDS(ENTRY)
#undef ENTRY
};

const acq_command *acq_command_get(acq_command_id id)
{
    return &commands[id];
}

const char *acq_command_get_help(acq_command_id id)
{
    return helps[id];
}

acq_command_id acq_command_find(const char *name)
{
    unsigned i = 0;
    while (i < ACQ_N_COMMANDS && strcmp(commands[i].name, name) != 0)
        i++;
    return (acq_command_id)i;
}

const acq_variant *acq_variant_get(acq_variant_id id)
{
    return &variants[id];
}

const char *acq_variant_get_help(acq_variant_id id)
{
    return variant_helps[id];
}

acq_variant_id acq_variant_find(acq_command_id command, const char *name)
{
    unsigned i = 0;
    while (i < ACQ_N_VARIANTS &&
           (name == NULL || variants[i].command != command || strcmp(variants[i].name, name) != 0))
        i++;
    return (acq_variant_id)i;
}

uint64_t acq_variant_get_bits(acq_command_id command)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < ACQ_N_VARIANTS; i++)
        bits |= variants[i].command == command ? UINT64_C(1) << (ACQ_FIRST_VARIANT_BIT + i) : 0;
    return bits;
}

/* ---- help ----
 *
 * The texts of --help; see commands.h. */

enum { COMMAND_COLUMN = 13, OPTION_COLUMN = 30 };

const char *acq_help_get_about(void)
{
    return "GRAPH is a store made by import, or is read on the fly: a file of triples\n"
           "(.tsv or .txt with tabs, .csv), RDF (.nt, .ttl, .nq, .trig), any of these\n"
           "compressed (.gz), a benchmark's *_kg.tsv beside its kgindex.json, or a folder\n"
           "of them.\n"
           "\n"
           "  anycq ask films.tsv 'Q(x) := exists y. directed(y, \"Oppenheimer\")\n"
           "                                & born_in(y, x)' --explain\n"
           "\n"
           "Exit codes: 0 answered or yes, 1 none or no, 2 usage or input error,\n"
           "3 undecided, 4 input/output, memory or internal error. Data goes to standard\n"
           "output, notes and errors to standard error.\n";
}

void acq_help_print(acq_text *out)
{
    acq_text_add(out, "anycq " ACQ_VERSION
                      ": answers to existential first-order queries over incomplete\n"
                      "knowledge graphs, each with a proof or the facts it rests on.\n\n"
                      "usage: anycq COMMAND ARGUMENT... [--option VALUE | --option=VALUE]...\n\n");
    for (unsigned i = 0; i < ACQ_N_COMMANDS; i++) {
        const acq_command *command = acq_command_get(i);
        acq_text_format(out, "  %-*s%s\n", COMMAND_COLUMN - 2, command->name, command->summary);
    }
    acq_text_add(out, "\nanycq COMMAND --help tells more; anycq --version prints the version.\n\n");
    acq_text_add(out, acq_help_get_about());
}

static void print_option(const acq_option *option, acq_text *out)
{
    size_t start = out->length;
    if (option->letter != 0)
        acq_text_format(out, "  -%c, ", option->letter);
    else
        acq_text_add(out, "  ");
    acq_text_format(out, "--%s%s%s", option->name, option->argument == NULL ? "" : " ",
                    option->argument == NULL ? "" : option->argument);
    size_t used = acq_width_since(out, start);
    acq_width_pad(out, used < OPTION_COLUMN ? OPTION_COLUMN - used : 2);
    char text[256];
    if (option->text_default == NULL)
        snprintf(text, sizeof text, "%s", option->help);
    else
        snprintf(text, sizeof text, "%s (default %s)", option->help, option->text_default);
    acq_width_wrap(out, text, OPTION_COLUMN, OPTION_COLUMN, ACQ_COLUMNS);
    acq_text_add_char(out, '\n');
}

/* The help of train alone lists what all its variants have, that of eval everything. */
static bool is_listed(const acq_option *option, acq_command_id id, acq_variant_id variant)
{
    bool is_whole = variant == ACQ_N_VARIANTS && id != ACQ_COMMAND_train;
    return is_whole ? (option->commands & (UINT64_C(1) << id)) != 0
                    : acq_option_is_for(option, id, variant);
}

static void print_usage(acq_command_id id, acq_variant_id variant, acq_text *out)
{
    const acq_command *command = acq_command_get(id);
    const char *help = acq_command_get_help(id), *own = NULL;
    acq_text_format(out, "usage: anycq %s ", command->name);
    if (variant == ACQ_N_VARIANTS) {
        acq_text_add(out, command->arguments);
    } else {
        const acq_variant *one = acq_variant_get(variant);
        acq_text_format(out, "%s %s", one->name, one->arguments);
        own = acq_variant_get_help(variant);
    }
    acq_text_format(out, " [OPTION]...\n\n%s\n", own == NULL ? help : own);
}

void acq_help_print_command(acq_command_id id, acq_variant_id variant, acq_text *out)
{
    print_usage(id, variant, out);
    for (size_t i = 0; i < ACQ_N_OPTIONS; i++) {
        const acq_option *option = acq_option_get(i);
        if (is_listed(option, id, variant))
            print_option(option, out);
    }
    if (id == ACQ_COMMAND_train && variant != ACQ_N_VARIANTS)
        acq_train_print_defaults(acq_variant_get(variant)->name, out);
}
