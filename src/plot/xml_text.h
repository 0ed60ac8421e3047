/* xml_text.h - any text as the content of an XML element: titles of pictures. */
#ifndef ACQ_PLOT_XML_TEXT_H
#define ACQ_PLOT_XML_TEXT_H

#include "base/text.h"

/* Markup is escaped, and what XML cannot hold is replaced; at most `most` characters, then "…". */
void acq_xml_add_text(acq_text *text, const char *string, size_t most);

#endif
