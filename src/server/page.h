/* page.h - the files of the page, which are part of the program. */
#ifndef ACQ_SERVER_PAGE_H
#define ACQ_SERVER_PAGE_H

typedef struct acq_page_file {
    const char *path; /* "/", "/page/ask.js" */
    const char *type;
    const char *begin, *end;
} acq_page_file;

/* What a browser may do with the page (Content-Security-Policy), up to NULL: nothing but what comes
 * from this server. */
extern const char *const acq_page_policies[];

/* NULL: the page has no such file. */
const acq_page_file *acq_page_find(const char *path);

#endif
