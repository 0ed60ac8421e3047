/* commands.h - the commands of `anycq`, in one table.
 *
 * A command is a function from its options to an exit code. To add one: a line here, its help in
 * commands.c, its options in options.h, its file in CMakeLists.txt. */
#ifndef ACQ_CLI_COMMANDS_H
#define ACQ_CLI_COMMANDS_H

#include "base/text.h"
#include "base/types.h"

/* name, least and most arguments, arguments, what it does in one line */
#define ACQ_COMMANDS(X)                                                                            \
    X(import, 1, SIZE_MAX, "SOURCE... -o GRAPH", "keep facts in a store")                          \
    X(info, 1, 1, "GRAPH", "what a graph holds")                                                   \
    X(ask, 1, 2, "GRAPH QUERY", "find answers, or prove that there are none")                      \
    X(check, 2, SIZE_MAX, "GRAPH QUERY VALUE...", "is this tuple an answer?")                      \
    X(predict, 2, 2, "GRAPH 'rel(head, ?)'", "links of one entity, most likely first")             \
    X(suggest, 1, 1, "GRAPH", "the likeliest missing facts, with the evidence")                    \
    X(add, 1, SIZE_MAX, "GRAPH 'rel(head, tail)'...", "add facts to a store")                      \
    X(remove, 1, SIZE_MAX, "GRAPH 'rel(head, tail)'...", "remove facts from a store")              \
    X(compact, 1, 1, "GRAPH", "fold a store's changes into it")                                    \
    X(export, 1, 1, "GRAPH [-o FILE]", "write a graph's facts as text")                            \
    X(complete, 1, 1, "GRAPH -o COMPLETION", "write one predictor's scored links to a file")       \
    X(merge, 1, SIZE_MAX, "SHARD... -o COMPLETION", "one completion of the shards of several")     \
    X(fit, 1, 1, "GRAPH [-o COMPLETION]", "from facts to links with a probability")                \
    X(sql, 0, 1, "QUERY", "a query as one SQL statement")                                          \
    X(draw, 1, 1, "QUERY -o FILE.svg", "a picture of a query")                                     \
    X(generate, 1, 1, "qac|qar|small|cqa --observed GRAPH -o FILE",                                \
      "make a benchmark from two graphs")                                                          \
    X(eval, 1, 1, "qac|qar|cqa|links --observed GRAPH | FOLDER",                                   \
      "judge answers, or the prediction of links")                                                 \
    X(reproduce, 1, 1, "FOLDER [-o DIR]", "the tables of the AnyCQ paper, published and ours")     \
    X(train, 1, SIZE_MAX, "KIND GRAPH... -o MODEL",                                                \
      "train a link predictor, or the learned search")                                             \
    X(serve, 1, SIZE_MAX, "GRAPH...", "answer over HTTP: SPARQL, JSON, assistants")                \
    X(mcp, 1, SIZE_MAX, "GRAPH...", "tools for assistants, over standard input and output")        \
    X(shell, 1, 1, "GRAPH", "ask one question after the other")

typedef enum acq_command_id {
#define ACQ_COMMAND_ID(name, least, most, arguments, summary) ACQ_COMMAND_##name,
    ACQ_COMMANDS(ACQ_COMMAND_ID)
#undef ACQ_COMMAND_ID
        ACQ_N_COMMANDS
} acq_command_id;

enum {
#define ACQ_COMMAND_BIT(name, least, most, arguments, summary)                                     \
    ACQ_ON_##name = INT64_C(1) << ACQ_COMMAND_##name,
    ACQ_COMMANDS(ACQ_COMMAND_BIT)
#undef ACQ_COMMAND_BIT
};

/* What the first argument of a command may choose. An option may be for some variants only; its
 * bits stand above those of the commands. */
#define ACQ_VARIANTS(X)                                                                            \
    X(train, complex, "GRAPH -o MODEL")                                                            \
    X(train, nbfnet, "GRAPH -o MODEL")                                                             \
    X(train, gnnqe, "GRAPH -o MODEL")                                                              \
    X(train, ultra, "GRAPH... -o MODEL")                                                           \
    X(train, rules, "GRAPH -o MODEL")                                                              \
    X(train, policy, "GRAPH... -o MODEL")                                                          \
    X(eval, qac, "--observed GRAPH --queries FILE...")                                             \
    X(eval, qar, "--observed GRAPH --queries FILE...")                                             \
    X(eval, cqa, "--observed GRAPH --queries FILE...")                                             \
    X(eval, links, "--observed GRAPH --truth GRAPH")

typedef enum acq_variant_id {
#define ACQ_VARIANT_ID(command, name, arguments) ACQ_VARIANT_##name,
    ACQ_VARIANTS(ACQ_VARIANT_ID)
#undef ACQ_VARIANT_ID
        ACQ_N_VARIANTS
} acq_variant_id;

enum {
    ACQ_FIRST_VARIANT_BIT = ACQ_N_COMMANDS,
#define ACQ_VARIANT_BIT(command, name, arguments)                                                  \
    ACQ_OF_##name = INT64_C(1) << (ACQ_FIRST_VARIANT_BIT + ACQ_VARIANT_##name),
    ACQ_VARIANTS(ACQ_VARIANT_BIT)
#undef ACQ_VARIANT_BIT
};

_Static_assert(ACQ_N_COMMANDS + ACQ_N_VARIANTS < 63, "each has a bit");

/* Exit codes. Of several queries the worst counts: 4, 2, 3, 1, 0. */
enum {
    ACQ_EXIT_YES = 0,       /* answered, yes */
    ACQ_EXIT_NO = 1,        /* none, no */
    ACQ_EXIT_USAGE = 2,     /* usage or input error */
    ACQ_EXIT_UNDECIDED = 3, /* the budget ran out */
    ACQ_EXIT_SYSTEM = 4,    /* I/O, memory, internal */
    ACQ_EXIT_INTERRUPTED = 130,
};

struct acq_options;

typedef struct acq_command {
    const char *name;
    const char *arguments;
    const char *summary;
    size_t least_args, most_args;
    int (*run)(const struct acq_options *options);
} acq_command;

const acq_command *acq_command_get(acq_command_id id);
const char *acq_command_get_help(acq_command_id id); /* the paragraphs after the usage line */
acq_command_id acq_command_find(const char *name);   /* ACQ_N_COMMANDS: no such */

typedef struct acq_variant {
    acq_command_id command;
    const char *name;
    const char *arguments;
} acq_variant;

const acq_variant *acq_variant_get(acq_variant_id id);
const char *acq_variant_get_help(acq_variant_id id); /* NULL: that of the command */
/* name may be NULL; ACQ_N_VARIANTS: no such variant of the command. */
acq_variant_id acq_variant_find(acq_command_id command, const char *name);
uint64_t acq_variant_get_bits(acq_command_id command); /* of all its variants */

#define ACQ_COMMAND_RUN(name, least, most, arguments, summary)                                     \
    int acq_cli_##name(const struct acq_options *options);
ACQ_COMMANDS(ACQ_COMMAND_RUN)
#undef ACQ_COMMAND_RUN

/* The texts of --help, made from the tables of commands and options. */
void acq_help_print(acq_text *out);   /* of anycq itself */
const char *acq_help_get_about(void); /* what GRAPH may be, an example, exit codes */
/* variant ACQ_N_VARIANTS: of the command as a whole. */
void acq_help_print_command(acq_command_id id, acq_variant_id variant, acq_text *out);

/* The defaults of a kind of training, for its help; of the policy also the paper's. */
void acq_train_print_defaults(const char *kind, acq_text *out);

/* The commit that the program was built from, shortened; "unknown" outside of git. The build writes
 * the file that has it. */
extern const char acq_commit[];

#endif
