/* value.h - RDF terms as SPARQL's operators see them.
 *
 * A term is known by its key (graph.h): an IRI, _:blank or a literal as N-Triples spells it. Its
 * value adds what the literal means: 1, 01 and 1.0 are three terms with one value. Numbers of
 * integer and decimal types are exact, up to 38 digits; float and double are as the machine has
 * them. A literal whose text is not of its datatype, or whose datatype is not known, is OTHER: it
 * equals itself, and any other comparison with it is an error, as SPARQL has it.
 *
 * Errors of evaluation are values: they drop a row of a filter, or not (true || error is true). */
#ifndef ACQ_SPARQL_VALUE_H
#define ACQ_SPARQL_VALUE_H

#include "base/memory.h"

__extension__ typedef __int128 acq_int128;

typedef enum acq_value_kind {
    ACQ_VALUE_ERROR, /* unbound, or the result of an operation on the wrong types */
    ACQ_VALUE_BLANK,
    ACQ_VALUE_IRI,
    ACQ_VALUE_STRING, /* xsd:string */
    ACQ_VALUE_TAGGED, /* with a language */
    ACQ_VALUE_BOOLEAN,
    ACQ_VALUE_INTEGER, /* and types derived from it */
    ACQ_VALUE_DECIMAL,
    ACQ_VALUE_FLOAT,
    ACQ_VALUE_DOUBLE,
    ACQ_VALUE_DATETIME,
    ACQ_VALUE_DATE,
    ACQ_VALUE_OTHER,
} acq_value_kind;

/* digits * 10^-scale */
typedef struct acq_decimal {
    acq_int128 digits;
    int scale; /* 0 .. 36 */
} acq_decimal;

typedef struct acq_value {
    acq_value_kind kind;
    const char *text; /* of an IRI, without <>, a blank node or a literal; no escapes left */
    size_t length;
    const char *tag; /* language, or IRI of the datatype */
    size_t tag_length;
    bool boolean;
    bool has_zone;       /* DATETIME, DATE */
    acq_decimal decimal; /* INTEGER, DECIMAL; DATETIME, DATE: seconds since 1970 */
    double real;         /* FLOAT, DOUBLE */
} acq_value;

/* Where values are made: texts in the arena. `failed` is set when a number is beyond what is
 * computed exactly, or memory is out: then no result may be used. */
typedef struct acq_value_room {
    acq_arena *arena;
    acq_status failed;
    const char *reason;
} acq_value_room;

static inline bool acq_value_is_literal(const acq_value *value)
{
    return value->kind >= ACQ_VALUE_STRING;
}

static inline bool acq_value_is_number(const acq_value *value)
{
    return value->kind >= ACQ_VALUE_INTEGER && value->kind <= ACQ_VALUE_DOUBLE;
}

/* The value of a key. is_plain: the graph is no RDF, any name is an IRI. */
acq_value acq_value_of_key(acq_value_room *room, const char *key, bool is_plain);

acq_value acq_value_of_boolean(bool boolean);
acq_value acq_value_of_string(const char *text, size_t length);
acq_value acq_value_of_iri(const char *text, size_t length);
acq_value acq_value_error(void);

/* A literal by its parts; the datatype may be any. */
acq_value acq_value_of_literal(acq_value_room *room, const char *text, size_t length,
                               const char *datatype, size_t datatype_length);

/* 1, 0, or -1 for an error: the effective boolean value. */
int acq_value_test(const acq_value *value);

/* 1, 0, or -1 for an error: a = b, a < b; and without an error, sameTerm(a, b). */
int acq_value_equals(acq_value_room *room, const acq_value *a, const acq_value *b);
int acq_value_is_less(acq_value_room *room, const acq_value *a, const acq_value *b);
bool acq_value_is_same(const acq_value *a, const acq_value *b);

/* + - * / */
acq_value acq_value_compute(acq_value_room *room, char op, const acq_value *a, const acq_value *b);
acq_value acq_value_negate(acq_value_room *room, const acq_value *a);

/* xsd:integer(a) and so on. */
acq_value acq_value_cast(acq_value_room *room, const acq_value *a, const char *datatype);

/* The order of ORDER BY, made total: <0, 0, >0. */
int acq_value_compare(const acq_value *a, const acq_value *b);

/* ---- decimal ----
 *
 * Exact decimal numbers of up to 38 digits. Functions return false when a result has
 * more. */

/* [sign] digits ["." digits], at least one digit; *is_valid false: it is none. */
bool acq_decimal_read(const char *text, size_t length, acq_decimal *out, bool *is_valid);
bool acq_decimal_add(acq_decimal a, acq_decimal b, acq_decimal *out);
bool acq_decimal_multiply(acq_decimal a, acq_decimal b, acq_decimal *out);
bool acq_decimal_divide(acq_decimal a, acq_decimal b, acq_decimal *out); /* b is not 0; 18 places */
int acq_decimal_compare(acq_decimal a, acq_decimal b);                   /* -1, 0, 1 */
double acq_decimal_get_double(acq_decimal a);

/* Its canonical text; returns the length. */
enum { ACQ_DECIMAL_TEXT = 48 };
size_t acq_decimal_write(acq_decimal a, bool is_integer, char out[ACQ_DECIMAL_TEXT]);

#endif
