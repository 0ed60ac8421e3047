/* plain.h - a store as anybody's SQLite sees it. */
#ifndef TEST_DURABILITY_PLAIN_H
#define TEST_DURABILITY_PLAIN_H

/* Opens it as the sqlite3 tool would, folds its log in, and asserts that SQLite finds nothing
 * wrong. A missing file is fine. */
void plain_check(const char *path);

#endif
