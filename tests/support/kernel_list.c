/* kernel_list.c - see kernel_list.h. */
#include "support/kernel_list.h"

size_t test_list_kernels(const acq_kernels *list[TEST_MAX_KERNELS])
{
    static const char *const names[] = {"generic", "avx2", "avx512"};
    size_t n = 0;
    list[n++] = &acq_kernels_wide;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const acq_kernels *found = acq_kernels_find(names[i]);
        if (found != NULL)
            list[n++] = found;
    }
    return n;
}
