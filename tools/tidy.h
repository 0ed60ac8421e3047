/* tidy.h - included before every source by tools/tidy: the analyzer looks at one source at a time
 * and does not know that these never return ACQ_OK. */
#include "base/types.h"

#define acq_fail(error, code, ...)    ((void)(acq_fail)(error, code, __VA_ARGS__), (code))
#define acq_fail_at(error, code, ...) ((void)(acq_fail_at)(error, code, __VA_ARGS__), (code))
#define acq_fail_memory(error)        ((void)(acq_fail_memory)(error), ACQ_ERR_MEMORY)
