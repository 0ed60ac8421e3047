/* decimal.c - see value.h. */
#include "sparql/value.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { MOST_SCALE = 36 };

/* Takes zeros off the end of the fraction, so that equal numbers mostly look alike. */
static acq_decimal trim(acq_decimal a)
{
    while (a.scale > 0 && a.digits % 10 == 0) {
        a.digits /= 10;
        a.scale--;
    }
    return a;
}

bool acq_decimal_read(const char *text, size_t length, acq_decimal *out, bool *is_valid)
{
    acq_decimal a = {0};
    size_t i = 0;
    bool has_digit = false, has_point = false, is_exact = true;
    bool is_negative = length > 0 && text[0] == '-';
    for (size_t at = 0; at < length; at++)
        has_digit |= text[at] >= '0' && text[at] <= '9';
    i += length > 0 && (text[0] == '-' || text[0] == '+');
    while (length > i && memchr(text + i, '.', length - i) != NULL && text[length - 1] == '0')
        length--; /* zeros behind the point */
    for (; i < length; i++) {
        if (text[i] == '.' && !has_point) {
            has_point = true;
            continue;
        }
        if (text[i] < '0' || text[i] > '9') {
            *is_valid = false;
            return true;
        }
        is_exact = is_exact && !__builtin_mul_overflow(a.digits, 10, &a.digits) &&
                   !__builtin_add_overflow(a.digits, text[i] - '0', &a.digits);
        a.scale += has_point;
    }
    if (is_negative)
        a.digits = -a.digits;
    *out = a;
    *is_valid = has_digit;
    return is_exact && a.scale <= MOST_SCALE;
}

/* The same number with more places. */
static bool scale_up(acq_decimal *a, int scale)
{
    for (; a->scale < scale; a->scale++) {
        if (__builtin_mul_overflow(a->digits, 10, &a->digits))
            return false;
    }
    return true;
}

static bool align(acq_decimal *a, acq_decimal *b)
{
    *a = trim(*a);
    *b = trim(*b);
    int scale = a->scale > b->scale ? a->scale : b->scale;
    return scale_up(a, scale) && scale_up(b, scale);
}

bool acq_decimal_add(acq_decimal a, acq_decimal b, acq_decimal *out)
{
    if (!align(&a, &b) || __builtin_add_overflow(a.digits, b.digits, &out->digits))
        return false;
    out->scale = a.scale;
    return true;
}

bool acq_decimal_multiply(acq_decimal a, acq_decimal b, acq_decimal *out)
{
    a = trim(a);
    b = trim(b);
    if (__builtin_mul_overflow(a.digits, b.digits, &out->digits) ||
        a.scale + b.scale > MOST_SCALE)
        return false;
    out->scale = a.scale + b.scale;
    return true;
}

bool acq_decimal_divide(acq_decimal a, acq_decimal b, acq_decimal *out)
{
    enum { PLACES = 18 };
    if (!align(&a, &b))
        return false;
    acq_int128 whole = a.digits / b.digits, rest = a.digits % b.digits, digits = whole;
    for (int i = 0; i < PLACES; i++) {
        if (__builtin_mul_overflow(rest, 10, &rest) ||
            __builtin_mul_overflow(digits, 10, &digits) ||
            __builtin_add_overflow(digits, rest / b.digits, &digits))
            return false;
        rest %= b.digits;
    }
    *out = trim((acq_decimal){.digits = digits, .scale = PLACES});
    return true;
}

/* Without a common scale, which may have too many digits: by whole parts, then digit by digit. */
int acq_decimal_compare(acq_decimal a, acq_decimal b)
{
    acq_int128 tens_a = 1, tens_b = 1;
    for (int i = 0; i < a.scale; i++)
        tens_a *= 10;
    for (int i = 0; i < b.scale; i++)
        tens_b *= 10;
    acq_int128 whole_a = a.digits / tens_a, whole_b = b.digits / tens_b;
    acq_int128 rest_a = a.digits % tens_a, rest_b = b.digits % tens_b;
    if (whole_a != whole_b)
        return whole_a < whole_b ? -1 : 1;
    while (tens_a > 1 || tens_b > 1) {
        tens_a = tens_a > 1 ? tens_a / 10 : 1;
        tens_b = tens_b > 1 ? tens_b / 10 : 1;
        acq_int128 digit_a = rest_a / tens_a, digit_b = rest_b / tens_b;
        if (digit_a != digit_b)
            return digit_a < digit_b ? -1 : 1;
        rest_a %= tens_a;
        rest_b %= tens_b;
    }
    return 0;
}

size_t acq_decimal_write(acq_decimal a, bool is_integer, char out[ACQ_DECIMAL_TEXT])
{
    char digits[ACQ_DECIMAL_TEXT];
    size_t n = 0, length = 0;
    a = trim(a);
    bool is_negative = a.digits < 0;
    for (int place = 0; a.digits != 0 || place <= a.scale; place++) {
        int digit = (int)(a.digits % 10);
        if (place == a.scale && a.scale > 0)
            digits[n++] = '.';
        digits[n++] = (char)('0' + (digit < 0 ? -digit : digit));
        a.digits /= 10;
    }
    if (is_negative)
        out[length++] = '-';
    while (n > 0)
        out[length++] = digits[--n];
    if (!is_integer && memchr(out, '.', length) == NULL) {
        out[length++] = '.';
        out[length++] = '0';
    }
    out[length] = '\0';
    return length;
}

/* By its text, so that the machine rounds once. */
double acq_decimal_get_double(acq_decimal a)
{
    char text[ACQ_DECIMAL_TEXT];
    acq_decimal_write(a, a.scale == 0, text);
    return acq_read_double(text, NULL);
}
