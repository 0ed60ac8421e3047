/* graph_gz.c - compressed triples: any bytes as a .gz, and any bytes packed, which must read as
 * they do when they are not. */
#include <zlib.h>

#include "graph_properties.h"

/* Appends the bytes as one member. */
static void pack(acq_text *out, const char *bytes, size_t length)
{
    z_stream z = {0};
    must(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    size_t room = deflateBound(&z, length) + 32;
    char *packed = malloc(room);
    must(packed != NULL);
    z.next_in = (Bytef *)bytes;
    z.avail_in = (uInt)length;
    z.next_out = (Bytef *)packed;
    z.avail_out = (uInt)room;
    must(deflate(&z, Z_FINISH) == Z_STREAM_END);
    acq_text_add_bytes(out, packed, z.total_out);
    deflateEnd(&z);
    free(packed);
}

/* In two members, cut at a place that the bytes choose. */
static void check_packed(const acq_memory_source *plain)
{
    acq_text packed;
    acq_graph *a = NULL, *b = NULL;
    acq_read_params params = {.threads = 1};
    size_t cut = plain->length == 0 ? 0 : (unsigned char)plain->bytes[0] % plain->length;
    acq_text_init(&packed);
    pack(&packed, plain->bytes, cut);
    pack(&packed, plain->bytes + cut, plain->length - cut);
    acq_memory_source source = {
        .name = "packed.gz", .bytes = packed.bytes, .length = packed.length, .syntax = ACQ_TABS};
    acq_status status = acq_graph_read_memory(plain, &params, &a, NULL, NULL);
    must(acq_graph_read_memory(&source, &params, &b, NULL, NULL) == status);
    if (status == ACQ_OK)
        must(acq_graph_get_fingerprint(a) == acq_graph_get_fingerprint(b));
    acq_graph_free(a);
    acq_graph_free(b);
    acq_text_deinit(&packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    acq_memory_source source = {.name = "input.gz",
                                .bytes = size == 0 ? "" : (const char *)data,
                                .length = size,
                                .syntax = ACQ_TABS};
    check_source_with(&source, (acq_read_params){0});
    source.name = "input.tsv";
    if (size < 2 || memcmp(data, "\x1f\x8b", 2) != 0)
        check_packed(&source);
    return 0;
}
