/* train_fields.c - see train_fields.h. */
#include "cli/train_fields.h"

#include "cli/options.h"

static void set_field(void *field, const acq_train_field *row, const void *value)
{
    if (row->is_real)
        *(double *)field = *(const double *)value;
    else if (row->size == sizeof(uint32_t))
        *(uint32_t *)field = (uint32_t) * (const uint64_t *)value;
    else
        *(uint64_t *)field = *(const uint64_t *)value;
}

void acq_train_fields_take(const acq_train_field *fields, size_t n, const acq_options *options,
                           void *params)
{
    for (size_t i = 0; i < n; i++) {
        const char *value = (const char *)options + acq_option_get(fields[i].option)->offset;
        if (options->given[fields[i].option])
            set_field((char *)params + fields[i].offset, &fields[i], value);
    }
}

static void print_field(const void *field, const acq_train_field *row, acq_text *out)
{
    if (row->is_real)
        acq_text_format(out, "%g", *(const double *)field);
    else if (row->size == sizeof(uint32_t))
        acq_text_format(out, "%u", *(const uint32_t *)field);
    else
        acq_text_format(out, "%llu", (unsigned long long)*(const uint64_t *)field);
}

void acq_train_fields_print(const acq_train_field *fields, size_t n, const void *params,
                            acq_text *out)
{
    for (size_t i = 0; i < n; i++) {
        acq_text_format(out, "%s%s=", i == 0 ? "" : " ", acq_option_get(fields[i].option)->name);
        print_field((const char *)params + fields[i].offset, &fields[i], out);
    }
}
