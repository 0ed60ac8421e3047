/* lexer.c - see lexer.h. One token of look-ahead; linear in the text. */
#include "query/text/lexer.h"

#include <string.h>

#include "base/text.h"

static const struct {
    const char *word;
    acq_token_kind kind;
} RESERVED[] = {
    {"exists", ACQ_TOKEN_EXISTS}, {"forall", ACQ_TOKEN_FORALL}, {"not", ACQ_TOKEN_NOT},
    {"and", ACQ_TOKEN_AND},       {"or", ACQ_TOKEN_OR},         {"inverse", ACQ_TOKEN_INVERSE},
};

/* Characters that look right on paper, and what to do about them. */
#define WRITTEN_AS_QUOTE "is written \" here"
static const struct {
    const char *seen;
    const char *hint;
} TYPOGRAPHIC[] = {
    {"“", WRITTEN_AS_QUOTE},
    {"”", WRITTEN_AS_QUOTE},
    {"„", WRITTEN_AS_QUOTE},
    {"‘", WRITTEN_AS_QUOTE},
    {"’", WRITTEN_AS_QUOTE},
    {"«", WRITTEN_AS_QUOTE},
    {"»", WRITTEN_AS_QUOTE},
    {"∧", "is written & here"},
    {"∨", "is written | here"},
    {"¬", "is written ! here"},
    {"≠", "is written != here"},
    {"∃", "is written exists here"},
    {"∀", "(universal quantification) is not supported; only exists is"},
    {"→", "(implication) is not supported; write !a | b"},
    {"\u00A0", "(a no-break space) is no blank here; type a plain one"},
    {"\uFEFF", "(a byte order mark) is not part of a query; remove it"},
};

static acq_token_kind reserved_kind(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof RESERVED / sizeof *RESERVED; i++) {
        if (strlen(RESERVED[i].word) == length && acq_is_same_word(RESERVED[i].word, word, length))
            return RESERVED[i].kind;
    }
    return ACQ_TOKEN_WORD;
}

/* Is the word one that cannot stand for a variable or an unquoted name? */
static bool is_reserved(const char *word, size_t length)
{
    return reserved_kind(word, length) != ACQ_TOKEN_WORD;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* What to say about the character at text[0]; NULL when it is an ordinary one. */
static const char *hint_for(const char *text, size_t length, size_t *seen_length)
{
    if (length == 0 || (unsigned char)text[0] < 0x80)
        return NULL;
    for (size_t i = 0; i < sizeof TYPOGRAPHIC / sizeof *TYPOGRAPHIC; i++) {
        size_t n = strlen(TYPOGRAPHIC[i].seen);
        if (n <= length && memcmp(TYPOGRAPHIC[i].seen, text, n) == 0) {
            *seen_length = n;
            return TYPOGRAPHIC[i].hint;
        }
    }
    return NULL;
}

static size_t word_length(const char *text, size_t length)
{
    size_t n = 0, seen;
    while (n < length && acq_scan_is_name_char(text[n]) &&
           hint_for(text + n, length - n, &seen) == NULL)
        n += (unsigned char)text[n] < 0x80 ? 1 : acq_utf8_length(text + n, length - n);
    return n;
}

bool acq_lexer_is_word(const char *text, size_t length)
{
    return length > 0 && !is_digit(text[0]) && word_length(text, length) == length &&
           !is_reserved(text, length);
}

void acq_lexer_init(acq_lexer *lexer, const char *text, size_t length)
{
    *lexer = (acq_lexer){0};
    acq_scan_init(&lexer->in, text, length);
    acq_lexer_next(lexer);
}

void acq_lexer_deinit(acq_lexer *lexer)
{
    acq_scan_deinit(&lexer->in);
}

#define FAIL_AT(lexer, offset, ...)                                                                \
    ((lexer)->token.kind = ACQ_TOKEN_BAD, ACQ_SCAN_NOTE(&(lexer)->in, offset, __VA_ARGS__))

bool acq_lexer_opens_next(acq_lexer *lexer)
{
    size_t at = lexer->in.at, line_start = lexer->in.line_start;
    uint32_t line = lexer->in.line;
    acq_scan_skip_blanks(&lexer->in);
    bool opens = lexer->in.at < lexer->in.length && lexer->in.text[lexer->in.at] == '(';
    lexer->in.at = at;
    lexer->in.line_start = line_start;
    lexer->in.line = line;
    return opens;
}

static void take(acq_lexer *lexer, acq_token_kind kind, size_t length)
{
    lexer->token.kind = kind;
    lexer->token.source_length = length;
    lexer->in.at += length;
}

/* name = '<' any characters but '<', '>' and line ends '>' */
static void read_bracketed(acq_lexer *lexer)
{
    size_t start = lexer->in.at, i = start + 1;
    while (i < lexer->in.length && strchr("<>\n", lexer->in.text[i]) == NULL)
        i++;
    if (i == start + 1 && i < lexer->in.length && lexer->in.text[i] == '>') {
        FAIL_AT(lexer, start, "'<>' is an empty name; inequality is written x != y");
        return;
    }
    if (i == lexer->in.length || lexer->in.text[i] != '>') {
        FAIL_AT(lexer, start, "the name that begins with '<' does not end on this line; add '>'");
        return;
    }
    lexer->token.text = lexer->in.text + start + 1;
    lexer->token.length = i - start - 1;
    take(lexer, ACQ_TOKEN_NAME, i + 1 - start);
}

static char escaped(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 't':
        return '\t';
    case 'r':
        return '\r';
    case '"':
    case '\\':
        return c;
    default:
        return '\0';
    }
}

/* Copies the pieces between escapes; false: an escape that does not exist. */
static bool decode(acq_lexer *lexer, size_t begin, size_t end)
{
    acq_text_clear(&lexer->in.decoded);
    for (size_t i = begin; i < end;) {
        const char *next = memchr(lexer->in.text + i, '\\', end - i);
        size_t stop = next == NULL ? end : (size_t)(next - lexer->in.text);
        acq_text_add_bytes(&lexer->in.decoded, lexer->in.text + i, stop - i);
        if (next == NULL)
            break;
        char c = escaped(next[1]);
        if (c == '\0') {
            acq_shown shown =
                acq_input_show(next, 1 + acq_utf8_length(next + 1, lexer->in.length - stop - 1));
            FAIL_AT(lexer, stop, "unknown escape %s; a name in quotes knows \\\" \\\\ \\n \\r \\t",
                    shown.text);
            return false;
        }
        acq_text_add_char(&lexer->in.decoded, c);
        i = stop + 2;
    }
    if (acq_text_finish(&lexer->in.decoded, &lexer->in.problem) != ACQ_OK) {
        lexer->token.kind = ACQ_TOKEN_BAD;
        return false;
    }
    return true;
}

/* Where the name that begins at i ends: a quote, the end of the line or of the text. */
static size_t find_quote(const acq_lexer *lexer, size_t i, bool *escapes)
{
    const char *begin = lexer->in.text + i, *quote = memchr(begin, '"', lexer->in.length - i);
    size_t n = quote == NULL ? 0 : (size_t)(quote - begin);
    *escapes = false;
    if (quote != NULL && memchr(begin, '\\', n) == NULL && memchr(begin, '\n', n) == NULL)
        return i + n;
    while (i < lexer->in.length && lexer->in.text[i] != '"' && lexer->in.text[i] != '\n') {
        bool escape = lexer->in.text[i] == '\\';
        *escapes |= escape;
        i += escape && i + 1 < lexer->in.length && lexer->in.text[i + 1] != '\n' ? 2 : 1;
    }
    return i;
}

/* name = '"' (any character but '"', '\' and line ends | '\' one of "\nrt)* '"' */
static void read_quoted(acq_lexer *lexer)
{
    bool escapes;
    size_t start = lexer->in.at, i = find_quote(lexer, start + 1, &escapes);
    if (i >= lexer->in.length || lexer->in.text[i] != '"') {
        FAIL_AT(lexer, start, "the name that begins with '\"' does not end on this line; add '\"'");
        return;
    }
    if (i == start + 1) {
        FAIL_AT(lexer, start, "a name cannot be empty; write it between the quotes");
        return;
    }
    lexer->token.text = lexer->in.text + start + 1;
    lexer->token.length = i - start - 1;
    if (escapes) {
        if (!decode(lexer, start + 1, i))
            return;
        lexer->token.text = lexer->in.decoded.bytes;
        lexer->token.length = lexer->in.decoded.length;
    }
    take(lexer, ACQ_TOKEN_NAME, i + 1 - start);
}

static void read_word(acq_lexer *lexer)
{
    const char *word = lexer->in.text + lexer->in.at;
    size_t n = word_length(word, lexer->in.length - lexer->in.at);
    if (is_digit(word[0])) {
        acq_shown shown = acq_input_show(word, n);
        FAIL_AT(lexer, lexer->in.at,
                "'%s' begins with a digit; a name like this goes in quotes: \"%s\"", shown.text,
                shown.text);
        return;
    }
    lexer->token.text = word;
    lexer->token.length = n;
    take(lexer, reserved_kind(word, n), n);
}

/* Marks of other notations, with the one used here. */
static const char *other_notation(const char *text, size_t length)
{
    static const char *const PAIRS[][2] = {
        {"&&", "'&&' is written '&' here"},
        {"||", "'||' is written '|' here"},
        {"==", "'==' is written '=' here"},
        {"->", "'->' (implication) is not supported; write !a | b"},
        {"=>", "'=>' (implication) is not supported; write !a | b"},
        {"/\\", "'/\\' is written '&' here"},
        {"\\/", "'\\/' is written '|' here"},
        {"?", "variables are written without '?' here, as in relation(x, y)"},
        {"$", "variables are written without '$' here, as in relation(x, y)"},
        {"'", "names go in double quotes here: \"...\""},
        {"~", "'~' is written '!' here"},
        {"{", "'{' belongs to SPARQL, whose queries begin with SELECT, ASK, PREFIX or BASE"},
        {"[", "'[' has no meaning here; group with ( and )"},
        {";", "';' has no meaning here; atoms are joined with '&', one query at a time"},
    };
    for (size_t i = 0; i < sizeof PAIRS / sizeof *PAIRS; i++) {
        size_t n = PAIRS[i][0][1] == '\0' ? 1 : 2;
        if (PAIRS[i][0][0] == text[0] && n <= length && memcmp(PAIRS[i][0], text, n) == 0)
            return PAIRS[i][1];
    }
    return NULL;
}

static acq_token_kind mark_kind(const char *text, size_t length, size_t *n)
{
    static const char MARKS[] = "(),.&|!=";
    static const acq_token_kind KINDS[] = {ACQ_TOKEN_OPEN, ACQ_TOKEN_CLOSE, ACQ_TOKEN_COMMA,
                                           ACQ_TOKEN_DOT,  ACQ_TOKEN_AND,   ACQ_TOKEN_OR,
                                           ACQ_TOKEN_NOT,  ACQ_TOKEN_EQUAL};
    *n = 2;
    if (length >= 2 && text[0] == '!' && text[1] == '=')
        return ACQ_TOKEN_DIFFERENT;
    if (length >= 2 && text[0] == ':' && (text[1] == '=' || text[1] == '-'))
        return ACQ_TOKEN_DEFINE;
    *n = 1;
    const char *mark = strchr(MARKS, text[0]);
    return mark == NULL ? ACQ_TOKEN_BAD : KINDS[mark - MARKS];
}

static void read_mark(acq_lexer *lexer)
{
    const char *text = lexer->in.text + lexer->in.at;
    size_t left = lexer->in.length - lexer->in.at, n;
    const char *hint = other_notation(text, left);
    acq_token_kind kind = mark_kind(text, left, &n);
    if (hint != NULL) {
        FAIL_AT(lexer, lexer->in.at, "%s", hint);
    } else if (kind == ACQ_TOKEN_BAD) {
        acq_shown shown = acq_input_show(text, 1);
        FAIL_AT(lexer, lexer->in.at,
                "unexpected character '%s'; a name with special characters goes in quotes: \"...\"",
                shown.text);
    } else {
        take(lexer, kind, n);
    }
}

static bool is_typographic(acq_lexer *lexer)
{
    size_t n;
    const char *text = lexer->in.text + lexer->in.at;
    const char *hint = hint_for(text, lexer->in.length - lexer->in.at, &n);
    if (hint == NULL)
        return false;
    FAIL_AT(lexer, lexer->in.at, "'%s' %s", acq_input_show(text, n).text, hint);
    return true;
}

void acq_lexer_next(acq_lexer *lexer)
{
    if (lexer->token.kind == ACQ_TOKEN_BAD)
        return;
    acq_scan_skip_blanks(&lexer->in);
    lexer->token = (acq_token){.kind = ACQ_TOKEN_END,
                               .place = acq_scan_get_place(&lexer->in, lexer->in.at),
                               .source = lexer->in.text + lexer->in.at};
    if (lexer->in.at == lexer->in.length)
        return;
    char c = lexer->in.text[lexer->in.at];
    if (is_typographic(lexer))
        return;
    if (c == '"')
        read_quoted(lexer);
    else if (c == '<')
        read_bracketed(lexer);
    else if (acq_scan_is_name_char(c))
        read_word(lexer);
    else
        read_mark(lexer);
}

acq_shown acq_lexer_show(const acq_lexer *lexer)
{
    const acq_token *token = &lexer->token;
    return acq_scan_show(token->source, token->source_length, token->kind == ACQ_TOKEN_END);
}
