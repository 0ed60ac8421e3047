/* shipped.c - the weights that ship with the library: models/anycq-policy.safetensors as it was
 * when the library was built, put among its constants by the assembler. ACQ_SHIPPED_POLICY is the
 * path of the file, which the build gives as a string. */
#include "search/policy/model.h"

extern const unsigned char acq_shipped_policy_begin[], acq_shipped_policy_end[];

/* Local to the library: hidden, so that a shared one needs no relocation for them. */
__asm__(".pushsection .rodata,\"a\",%progbits\n"
        ".balign 64\n"
        ".globl acq_shipped_policy_begin\n"
        ".hidden acq_shipped_policy_begin\n"
        "acq_shipped_policy_begin:\n"
        ".incbin \"" ACQ_SHIPPED_POLICY "\"\n"
        ".globl acq_shipped_policy_end\n"
        ".hidden acq_shipped_policy_end\n"
        "acq_shipped_policy_end:\n"
        ".byte 0\n"
        ".popsection\n");

acq_status acq_policy_new_shipped(acq_policy **out, acq_error *error)
{
    acq_safetensors *file;
    size_t length = (uintptr_t)acq_shipped_policy_end - (uintptr_t)acq_shipped_policy_begin;
    acq_status status =
        acq_safetensors_read_memory(acq_shipped_policy_begin, length, "shipped", &file, error);
    if (status != ACQ_OK)
        return status;
    status = acq_policy_new_loaded(file, "shipped", out, error);
    acq_safetensors_free(file);
    return status;
}
