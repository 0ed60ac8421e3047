/* shipped.c - files among the constants of the library, put there by the assembler. The build gives
 * their paths as ACQ_SHIPPED_ULTRA and ACQ_SHIPPED_CALIBRATOR, if both are there, and as
 * ACQ_SHIPPED_PRIOR. */
#include "calibrate/calibrator.h"

/* Local to the library: hidden, so that a shared one needs no relocation for them. */
#define SHIP(name, path)                                                                           \
    extern const unsigned char acq_shipped_##name##_begin[], acq_shipped_##name##_end[];           \
    __asm__(".pushsection .rodata,\"a\",%progbits\n"                                               \
            ".balign 64\n"                                                                         \
            ".globl acq_shipped_" #name "_begin\n"                                                 \
            ".hidden acq_shipped_" #name "_begin\n"                                                \
            "acq_shipped_" #name "_begin:\n"                                                       \
            ".incbin \"" path "\"\n"                                                               \
            ".globl acq_shipped_" #name "_end\n"                                                   \
            ".hidden acq_shipped_" #name "_end\n"                                                  \
            "acq_shipped_" #name "_end:\n"                                                         \
            ".byte 0\n"                                                                            \
            ".popsection\n")

#define LENGTH(name)                                                                               \
    ((size_t)((uintptr_t)acq_shipped_##name##_end - (uintptr_t)acq_shipped_##name##_begin))

#ifdef ACQ_SHIPPED_ULTRA

SHIP(ultra, ACQ_SHIPPED_ULTRA);
SHIP(calibrator, ACQ_SHIPPED_CALIBRATOR);

bool acq_shipped_has_ultra(void)
{
    return true;
}

acq_status acq_ultra_new_shipped(acq_ultra **out, acq_error *error)
{
    return acq_ultra_read_memory(acq_shipped_ultra_begin, LENGTH(ultra), "shipped", out, error);
}

acq_status acq_calibrator_new_shipped(acq_calibrator **out, acq_error *error)
{
    return acq_calibrator_read_memory(acq_shipped_calibrator_begin, LENGTH(calibrator), "shipped",
                                      out, error);
}

#else

static acq_status refuse(acq_error *error)
{
    return acq_fail(error, ACQ_ERR_USAGE,
                    "this build has no ULTRA weights; name some: --predictor ultra:MODEL, or fit "
                    "--ultra MODEL");
}

bool acq_shipped_has_ultra(void)
{
    return false;
}

acq_status acq_ultra_new_shipped(acq_ultra **out, acq_error *error)
{
    (void)out;
    return refuse(error);
}

acq_status acq_calibrator_new_shipped(acq_calibrator **out, acq_error *error)
{
    (void)out;
    return refuse(error);
}

#endif

#ifdef ACQ_SHIPPED_PRIOR

SHIP(prior, ACQ_SHIPPED_PRIOR);

acq_status acq_prior_new_shipped(acq_boost **out, acq_error *error)
{
    acq_calibrator *file;
    acq_status status =
        acq_calibrator_read_memory(acq_shipped_prior_begin, LENGTH(prior), "shipped", &file, error);
    if (status != ACQ_OK)
        return status;
    *out = file->link;
    file->link = NULL;
    acq_calibrator_free(file);
    return ACQ_OK;
}

#else

acq_status acq_prior_new_shipped(acq_boost **out, acq_error *error)
{
    (void)error;
    *out = NULL;
    return ACQ_OK;
}

#endif
