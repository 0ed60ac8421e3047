/* commas.c - loaded into a command (LD_PRELOAD): it runs as a program would that has taken over a locale
 * with decimal commas before it calls the library. */
#include <locale.h>
#include <unistd.h>

__attribute__((constructor)) static void enter_commas(void)
{
    if (setlocale(LC_ALL, "") == NULL || localeconv()->decimal_point[0] != ',')
        _exit(99);
}
