/* iri.c - see iri.h. serd knows the rules of RFC 3986. */
#include "graph/text/iri.h"

#include <serd/serd.h>
#include <string.h>

static const char PLAIN[] = "urn:anycq:";

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool acq_iri_is_absolute(const char *iri, size_t length)
{
    if (length == 0 || !is_letter(iri[0]))
        return false;
    for (size_t i = 1; i < length; i++) {
        if (iri[i] == ':')
            return true;
        if (!is_letter(iri[i]) && !is_digit(iri[i]) && strchr("+-.", iri[i]) == NULL)
            return false;
    }
    return false;
}

static size_t append(const void *bytes, size_t length, void *out)
{
    acq_text_add_bytes(out, bytes, length);
    return length;
}

void acq_iri_resolve(acq_text *out, const char *iri, size_t length, const char *base)
{
    SerdURI relative, against, result;
    acq_text copy;
    acq_text_init(&copy);
    acq_text_add_bytes(&copy, iri, length);
    if (copy.failed) {
        out->failed = true;
    } else {
        serd_uri_parse((const uint8_t *)copy.bytes, &relative);
        serd_uri_parse((const uint8_t *)base, &against);
        serd_uri_resolve(&relative, &against, &result);
        serd_uri_serialise(&result, append, out);
    }
    acq_text_deinit(&copy);
}

acq_status acq_iri_check_base(const char *base, acq_error *error)
{
    bool is_good = acq_iri_is_absolute(base, strlen(base));
    for (const char *p = base; is_good && *p != '\0'; p++)
        is_good = acq_iri_allows((unsigned char)*p);
    if (is_good)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE,
                    "the base \"%.200s\" is not a whole IRI; give one like http://example.org/",
                    base);
}

bool acq_iri_is_plain_name(const char *iri, size_t length)
{
    size_t n = sizeof PLAIN - 1;
    return length >= n && memcmp(iri, PLAIN, n) == 0;
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool acq_iri_decode_plain_name(acq_text *out, const char *iri, size_t length)
{
    for (size_t i = sizeof PLAIN - 1; i < length; i++) {
        if (iri[i] != '%') {
            acq_text_add_char(out, iri[i]);
            continue;
        }
        int high = length - i > 2 ? hex_value(iri[i + 1]) : -1;
        int low = length - i > 2 ? hex_value(iri[i + 2]) : -1;
        if (high < 0 || low < 0)
            return false;
        acq_text_add_char(out, (char)(high << 4 | low));
        i += 2;
    }
    return true;
}
