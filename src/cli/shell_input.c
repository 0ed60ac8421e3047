/* shell_input.c - see shell.h. libedit edits the line and keeps the history, in
 * $XDG_STATE_HOME/anycq/history or ~/.local/state/anycq/history.
 *
 * Tab completes a command after a dot at the beginning, an entity inside quotes, an IRI after <,
 * anything else as the name of a relation. Signals are blocked but while the terminal is waited
 * for, so that none is lost between the question whether one came and the waiting. */
#include "cli/shell.h"

#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "cli/interrupt.h"
#include "cli/table.h"

enum { HISTORY_LINES = 1000, MOST_NAMES = 40, MOST_LOOKED_AT = 20000, PATH_ROOM = 4096 };

struct acq_shell_input {
    const acq_graph *graph;
    const char *const *words;
    size_t n_words;
    char prompt[32];
    EditLine *editor; /* NULL: no terminal */
    History *history;
    char path[PATH_ROOM]; /* of the history; "": nowhere */
    char *line;           /* of getline */
    bool is_cancelled;    /* by a Ctrl-C at the editor */
    size_t room;
};

/* ---- the terminal ---- */

static char *get_prompt(EditLine *editor)
{
    acq_shell_input *input = NULL;
    el_get(editor, EL_CLIENTDATA, &input);
    return input->prompt;
}

static void block_signals(sigset_t *before)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, before);
}

/* 1: a byte; 0: the end; -1: a signal or an error. */
static int read_byte(unsigned char *out)
{
    sigset_t before;
    block_signals(&before);
    struct pollfd wait = {.fd = STDIN_FILENO, .events = POLLIN};
    int n = -1;
    while (!acq_interrupt_is_asked() && (n = ppoll(&wait, 1, NULL, &before)) < 0 && errno == EINTR)
        continue;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (n <= 0)
        return -1;
    return (int)read(STDIN_FILENO, out, 1);
}

static size_t count_bytes(unsigned char first)
{
    return first < 0xC2 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

/* A terminal that makes a signal of Ctrl-C throws away what was typed before it, so that reading a
 * byte which poll has seen could wait for ever. The editor's modes know Ctrl-C as a signal. */
static void take_ctrl_c(void)
{
    struct termios now;
    if (tcgetattr(STDIN_FILENO, &now) != 0 || (now.c_lflag & ICANON) != 0 ||
        now.c_cc[VINTR] == _POSIX_VDISABLE)
        return;
    now.c_cc[VINTR] = _POSIX_VDISABLE;
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &now);
}

/* A character, whatever the locale says of its bytes. Ctrl-C is one like any other here (see
 * take_ctrl_c), and ends the line. */
static int get_character(EditLine *editor, wchar_t *out)
{
    enum { CTRL_C = 3 };
    unsigned char bytes[4] = {0};
    acq_shell_input *input = NULL;
    el_get(editor, EL_CLIENTDATA, &input);
    take_ctrl_c();
    int got = read_byte(bytes);
    input->is_cancelled = got == 1 && bytes[0] == CTRL_C;
    if (got <= 0 || input->is_cancelled)
        return got <= 0 ? got : -1;
    size_t n = count_bytes(bytes[0]), i = 1;
    while (i < n && (got = read_byte(&bytes[i])) == 1)
        i++;
    if (i < n)
        return got;
    bool is_good = acq_utf8_check((const char *)bytes, n) == n;
    *out = is_good ? (wchar_t)acq_utf8_decode((const char *)bytes, &n) : L'?';
    return 1;
}

/* ---- completion ---- */

typedef struct search {
    const char *prefix;
    size_t length;
    char *common; /* what all that fit begin with; NULL: nothing fits */
    acq_text list;
    size_t n, n_looked_at;
    bool has_failed;
} search;

static bool is_typeable(const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7F)
            return false;
    }
    return acq_utf8_check(name, length) == length;
}

static void shorten_common(search *s, const char *name, size_t length)
{
    size_t n = 0;
    while (n < length && s->common[n] == name[n])
        n++;
    while (n > 0 && ((unsigned char)s->common[n] & 0xC0) == 0x80)
        n--;
    s->common[n] = '\0';
}

/* Names with control characters cannot be typed, so they are not offered. */
static bool offer(search *s, const char *name, size_t length)
{
    if (length < s->length || memcmp(name, s->prefix, s->length) != 0 || !is_typeable(name, length))
        return true;
    if (s->common == NULL && (s->common = acq_alloc(length + 1, 1)) == NULL) {
        s->has_failed = true;
        return false;
    }
    if (s->n++ == 0) {
        memcpy(s->common, name, length);
        s->common[length] = '\0';
    } else {
        shorten_common(s, name, length);
    }
    if (s->n <= MOST_NAMES) {
        acq_text_add(&s->list, "  ");
        acq_width_add_cut(&s->list, name, ACQ_COLUMNS - 2);
        acq_text_add_char(&s->list, '\n');
    }
    return true;
}

static bool offer_entity(void *context, acq_ent entity, const char *name, size_t length)
{
    (void)entity;
    search *s = context;
    return offer(s, name, length) && ++s->n_looked_at < MOST_LOOKED_AT;
}

static void offer_relations(search *s, const acq_graph *graph)
{
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph); r++) {
        const char *name = acq_graph_get_relation_name(graph, r);
        if (acq_graph_is_named(graph, r))
            offer(s, name, strlen(name));
    }
}

static void offer_words(search *s, const acq_shell_input *input)
{
    for (size_t i = 0; i < input->n_words; i++)
        offer(s, input->words[i], strlen(input->words[i]));
}

/* The word before the cursor: where it begins, and the quote or < that opens it, or 0. */
static const char *find_word(const char *line, const char *cursor, char *opened)
{
    const char *begin = line;
    *opened = '\0';
    for (const char *c = line; c < cursor; c++) {
        bool is_quoted = *opened == '"';
        if (is_quoted && *c == '\\' && c + 1 < cursor) {
            c++;
        } else if (*c == '"' || (!is_quoted && *c == '<') || (*opened == '<' && *c == '>')) {
            *opened = *opened != '\0' ? '\0' : *c;
            begin = c + 1;
        } else if (*opened == '\0' && strchr(" \t(),&|!=:", *c) != NULL) {
            begin = c + 1;
        }
    }
    return begin;
}

/* Quotes and backslashes of a name stand behind a backslash, as they are typed. */
static bool escape(const char *name, char opened, acq_text *out)
{
    for (; *name != '\0'; name++) {
        if (opened == '"' && (*name == '"' || *name == '\\'))
            acq_text_add_char(out, '\\');
        acq_text_add_char(out, *name);
    }
    return !out->failed && out->length > 0;
}

static void unescape(char *text, char opened)
{
    char *to = text;
    for (const char *from = text; *from != '\0'; from++) {
        if (opened == '"' && *from == '\\' && from[1] != '\0')
            from++;
        *to++ = *from;
    }
    *to = '\0';
}

static unsigned char insert(EditLine *editor, const search *s, char opened)
{
    acq_text rest;
    acq_text_init(&rest);
    bool has_more = escape(s->common + s->length, opened, &rest);
    if (s->n == 1 && opened != '\0')
        acq_text_add_char(&rest, opened == '"' ? '"' : '>');
    bool is_inserted = !rest.failed && rest.length > 0 && el_insertstr(editor, rest.bytes) == 0;
    acq_text_deinit(&rest);
    if (is_inserted && (has_more || s->n == 1))
        return CC_REFRESH;
    if (s->n < 2 || s->list.failed)
        return CC_REFRESH_BEEP;
    fprintf(stdout, "\n%s", s->list.bytes);
    if (s->n > MOST_NAMES)
        fprintf(stdout, "  and %s\n", s->n < MOST_LOOKED_AT ? "more" : "many more");
    fflush(stdout);
    return CC_REDISPLAY;
}

static void look_for(const acq_shell_input *input, char opened, bool is_command, search *s)
{
    if (is_command) {
        offer_words(s, input);
    } else if (opened == '\0') {
        offer_relations(s, input->graph);
    } else if (s->length > 0) { /* all names of a large graph help nobody */
        acq_error error = {0};
        s->has_failed = acq_graph_each_name(input->graph, s->prefix, s->length, offer_entity, s,
                                            &error) != ACQ_OK;
    }
}

static unsigned char complete(EditLine *editor, int key)
{
    (void)key;
    acq_shell_input *input = NULL;
    const LineInfo *info = el_line(editor);
    char opened;
    el_get(editor, EL_CLIENTDATA, &input);
    const char *begin = find_word(info->buffer, info->cursor, &opened);
    size_t length = (size_t)(info->cursor - begin);
    char *prefix = acq_alloc(length + 1, 1);
    if (prefix == NULL)
        return CC_ERROR;
    memcpy(prefix, begin, length);
    prefix[length] = '\0';
    unescape(prefix, opened);
    search s = {.prefix = prefix, .length = strlen(prefix)};
    acq_text_init(&s.list);
    look_for(input, opened, begin == info->buffer && prefix[0] == '.', &s);
    unsigned char done = s.n == 0 || s.has_failed ? CC_REFRESH_BEEP : insert(editor, &s, opened);
    acq_text_deinit(&s.list);
    acq_free(s.common);
    acq_free(prefix);
    return done;
}

/* ---- the history ---- */

/* Makes the folders of a path. */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
}

static void find_history(acq_shell_input *input)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    bool has_state = state != NULL && state[0] == '/', has_home = home != NULL && home[0] == '/';
    int n = snprintf(input->path, sizeof input->path, "%s%s/anycq/history",
                     has_state  ? state
                     : has_home ? home
                                : "",
                     has_state ? "" : "/.local/state");
    if ((!has_state && !has_home) || n < 0 || (size_t)n >= sizeof input->path)
        input->path[0] = '\0';
}

static void load_history(acq_shell_input *input)
{
    HistEvent event;
    find_history(input);
    history(input->history, &event, H_SETSIZE, HISTORY_LINES);
    history(input->history, &event, H_SETUNIQUE, 1);
    acq_file_kind kind = input->path[0] == '\0' ? ACQ_FILE_MISSING : acq_file_get_kind(input->path);
    if (kind == ACQ_FILE_MISSING ||
        (kind == ACQ_FILE_REGULAR && acq_file_get_size(input->path) == 0))
        return;
    if (kind != ACQ_FILE_REGULAR || history(input->history, &event, H_LOAD, input->path) < 0)
        input->path[0] = '\0'; /* something else has this name: it is left alone */
}

/* What was asked may be private: nobody else reads it. */
static void save_history(acq_shell_input *input)
{
    HistEvent event;
    if (input->path[0] == '\0')
        return;
    make_folders(input->path);
    mode_t before = umask(0077);
    history(input->history, &event, H_SAVE, input->path);
    umask(before);
}

void acq_shell_input_remember(acq_shell_input *input, const char *text)
{
    HistEvent event;
    if (input->editor != NULL && text[0] != '\0')
        history(input->history, &event, H_ENTER, text);
}

/* ---- lines ---- */

static void open_editor(acq_shell_input *input)
{
    if (setlocale(LC_CTYPE, "") == NULL || MB_CUR_MAX == 1)
        setlocale(LC_CTYPE, "C.UTF-8");
    input->history = history_init();
    input->editor = input->history == NULL ? NULL : el_init("anycq", stdin, stdout, stderr);
    if (input->editor == NULL)
        return;
    el_set(input->editor, EL_CLIENTDATA, input);
    el_set(input->editor, EL_PROMPT, get_prompt);
    el_set(input->editor, EL_EDITOR, "emacs");
    el_set(input->editor, EL_HIST, history, input->history);
    el_set(input->editor, EL_GETCFN, get_character);
    el_set(input->editor, EL_ADDFN, "complete", "complete a name", complete);
    el_set(input->editor, EL_BIND, "^I", "complete", NULL);
    el_set(input->editor, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_source(input->editor, NULL); /* ~/.editrc */
    load_history(input);
}

acq_shell_input *acq_shell_input_new(const acq_graph *graph, const char *const *words, size_t n)
{
    acq_shell_input *input = acq_zalloc(1, sizeof *input);
    if (input == NULL)
        return NULL;
    *input = (acq_shell_input){.graph = graph, .words = words, .n_words = n};
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
        open_editor(input);
    return input;
}

void acq_shell_input_free(acq_shell_input *input)
{
    if (input == NULL)
        return;
    if (input->editor != NULL) {
        save_history(input);
        el_end(input->editor);
    }
    if (input->history != NULL)
        history_end(input->history);
    free(input->line);
    acq_free(input);
}

bool acq_shell_input_is_terminal(const acq_shell_input *input)
{
    return input->editor != NULL;
}

static void take(const char *bytes, size_t length, acq_text *line)
{
    while (length > 0 && (bytes[length - 1] == '\n' || bytes[length - 1] == '\r'))
        length--;
    acq_text_add_bytes(line, bytes, length);
}

static acq_shell_read read_edited(acq_shell_input *input, acq_text *line)
{
    int n = 0;
    acq_interrupt_hold(NULL, 0);
    acq_interrupt_set_grace(0);
    el_resize(input->editor);
    el_set(input->editor, EL_PREP_TERM, 1); /* before the prompt: then nobody types too early */
    input->is_cancelled = false;
    const char *bytes = el_gets(input->editor, &n);
    int number = input->is_cancelled ? SIGINT : acq_interrupt_get_number();
    acq_interrupt_release();
    if (number != 0) {
        fputc('\n', stdout);
        return number == SIGINT ? ACQ_SHELL_INTERRUPT : ACQ_SHELL_LEAVE;
    }
    if (bytes == NULL || n <= 0) {
        fputc('\n', stdout);
        return ACQ_SHELL_END;
    }
    take(bytes, (size_t)n, line);
    return ACQ_SHELL_LINE;
}

acq_shell_read acq_shell_input_next(acq_shell_input *input, const char *prompt, acq_text *line)
{
    acq_text_clear(line);
    acq_text_add(line, "");
    acq_format(input->prompt, sizeof input->prompt, "%s", prompt);
    if (input->editor != NULL)
        return read_edited(input, line);
    ssize_t n = getline(&input->line, &input->room, stdin);
    if (n < 0)
        return ACQ_SHELL_END;
    take(input->line, (size_t)n, line);
    return ACQ_SHELL_LINE;
}
