/* kernel_list.h - every set of kernels that runs here, the test-only "wide" one among them. */
#ifndef TEST_KERNEL_LIST_H
#define TEST_KERNEL_LIST_H

#include "tensor/kernels.h"

extern const acq_kernels acq_kernels_wide;

enum { TEST_MAX_KERNELS = 4 };

/* Fills list, returns how many. */
size_t test_list_kernels(const acq_kernels *list[TEST_MAX_KERNELS]);

#endif
