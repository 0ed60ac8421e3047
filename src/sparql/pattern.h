/* pattern.h - regular expressions of XPath, which SPARQL's regex takes, by way of PCRE2.
 *
 * The pattern is read by XPath's grammar and written anew for PCRE2, so that both mean the same:
 * what XPath does not have ((?...), \b, ...) is an error of the pattern, what PCRE2 cannot say
 * (classes that are subtracted, \i, \c, blocks) is refused. */
#ifndef ACQ_SPARQL_PATTERN_H
#define ACQ_SPARQL_PATTERN_H

#include "base/types.h"

typedef struct acq_pattern acq_pattern;

/* *out NULL with ACQ_OK: pattern or flags are no XPath. ACQ_ERR_LIMIT: refused, *reason says what;
 * lives for ever. */
acq_status acq_pattern_new(const char *text, size_t length, const char *flags, size_t n_flags,
                           acq_pattern **out, const char **reason);
void acq_pattern_free(acq_pattern *pattern);

/* Was it made of these? */
bool acq_pattern_is(const acq_pattern *pattern, const char *text, size_t length, const char *flags,
                    size_t n_flags);

/* 1: it matches somewhere, 0: it does not, -1: it takes too long to tell. */
int acq_pattern_match(acq_pattern *pattern, const char *text, size_t length);

#endif
