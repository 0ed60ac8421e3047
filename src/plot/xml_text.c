/* xml_text.c - see xml_text.h. */
#include "plot/xml_text.h"

#include <string.h>

#include "base/utf8.h"

void acq_xml_add_text(acq_text *text, const char *string, size_t most)
{
    size_t left = strlen(string);
    for (size_t n = 0; left > 0; n++) {
        size_t length = 1;
        bool is_good = acq_utf8_check(string, left < 4 ? left : 4) > 0;
        if (n == most) {
            acq_text_add(text, "…");
            return;
        }
        if (is_good)
            acq_utf8_decode(string, &length);
        if (!is_good || (unsigned char)*string < ' ')
            acq_text_add(text, is_good ? " " : "�");
        else if (strchr("<>&\"", *string) != NULL)
            acq_text_format(text, "&#%d;", *string);
        else
            acq_text_add_bytes(text, string, length);
        string += length;
        left -= length;
    }
}
