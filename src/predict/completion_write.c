/* completion_write.c - write a completion under a temporary name, then put it in place.
 *
 *   open: the calibrator as bytes ─▶ add: two blocks a relation ─▶ attach: reasons ─▶ finish: empty
 *   blocks for the rest, then the frame around them; the header comes last: until then the file has
 * zeros in its place and no name
 *
 * Both directions get the codes of one quantisation, so their scores are the same bits. */
#include "predict/completion.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "graph/build.h"
#include "predict/completion_file.h"

/* ---- the file as it grows ---- */

/* The least version that can say all of it. */
static uint32_t get_version(const acq_completion_header *facts)
{
    if (facts->reasons_length > 0)
        return ACQ_COMPLETION_VERSION;
    return facts->calibrator_length == 0 && facts->shard_of == 0 ? 1 : 2;
}

static void fill_header(acq_completion_output *output, const acq_completion_header *facts)
{
    acq_completion_header *header = &output->header;
    *header = *facts;
    memcpy(header->magic, ACQ_COMPLETION_MAGIC, sizeof header->magic);
    header->version = get_version(facts);
    header->name_length = (uint32_t)strlen(output->name);
    header->header_length =
        acq_completion_get_header_size(header) + (uint32_t)acq_pad8(header->name_length);
    header->calibrator_checksum =
        acq_completion_attached_checksum(output->calibrator, header->calibrator_length);
    header->n_links = header->reasons_length = 0; /* known in the end */
    output->at = header->header_length;
}

acq_status acq_completion_output_init(acq_completion_output *output, const char *path,
                                      const acq_completion_header *facts, const char *name,
                                      const void *calibrator, acq_error *error)
{
    *output = (acq_completion_output){.file = {.file = -1}, .calibrator = calibrator};
    memcpy(output->name, name, strlen(name));
    fill_header(output, facts);
    acq_status status = acq_new_file_init(&output->file, path, "the completion", error);
    output->entries = acq_zalloc(facts->n_relations, sizeof *output->entries);
    if (status == ACQ_OK && output->entries == NULL)
        status = acq_fail_memory(error);
    return status;
}

acq_status acq_completion_output_note(acq_completion_output *output, acq_rel relation,
                                      uint32_t n_heads, uint32_t n_links, uint64_t checksum,
                                      acq_error *error)
{
    uint64_t length = acq_completion_block_length(n_heads, n_links);
    if (n_links == UINT32_MAX)
        return acq_fail(error, ACQ_ERR_LIMIT, "relation %u has too many links", relation);
    output->entries[relation] = (acq_completion_entry){.offset = output->at,
                                                       .length = length,
                                                       .n_heads = n_heads,
                                                       .n_links = n_links,
                                                       .checksum = checksum};
    output->at += length;
    output->header.n_links += n_links;
    return ACQ_OK;
}

acq_status acq_completion_output_put(acq_completion_output *output, acq_rel relation,
                                     const void *block, uint32_t n_heads, uint32_t n_links,
                                     acq_error *error)
{
    uint64_t length = acq_completion_block_length(n_heads, n_links);
    acq_status status = acq_new_file_put(&output->file, block, length, output->at, error);
    return status == ACQ_OK
               ? acq_completion_output_note(output, relation, n_heads, n_links,
                                            acq_completion_block_checksum(block, length, relation),
                                            error)
               : status;
}

/* The bytes at the end of the file. */
static acq_status append(acq_completion_output *output, const void *bytes, uint64_t length,
                         acq_error *error)
{
    acq_status status =
        length == 0 ? ACQ_OK : acq_new_file_put(&output->file, bytes, length, output->at, error);
    output->at += length;
    return status;
}

static acq_status put_header(acq_completion_output *output, acq_error *error)
{
    acq_completion_header *header = &output->header;
    uint32_t size = acq_completion_get_header_size(header);
    header->file_length = output->at;
    header->checksum = acq_completion_header_checksum(header, output->name);
    acq_status status =
        acq_new_file_put(&output->file, output->name, acq_pad8(header->name_length), size, error);
    return status == ACQ_OK ? acq_new_file_put(&output->file, header, size, 0, error) : status;
}

acq_status acq_completion_output_finish(acq_completion_output *output, acq_error *error)
{
    acq_completion_header *header = &output->header;
    acq_status status =
        append(output, output->calibrator, acq_pad8(header->calibrator_length), error);
    header->reasons_checksum =
        acq_completion_attached_checksum(output->reasons, header->reasons_length);
    if (status == ACQ_OK)
        status = append(output, output->reasons, acq_pad8(header->reasons_length), error);
    header->directory_offset = output->at;
    header->directory_checksum =
        acq_completion_directory_checksum(output->entries, header->n_relations);
    if (status == ACQ_OK)
        status =
            append(output, output->entries, header->n_relations * sizeof *output->entries, error);
    if (status == ACQ_OK)
        status = put_header(output, error);
    return status == ACQ_OK ? acq_new_file_finish(&output->file, error) : status;
}

void acq_completion_output_deinit(acq_completion_output *output)
{
    acq_new_file_deinit(&output->file);
    acq_free(output->entries);
}

/* ---- the links of a predictor ---- */

static acq_status check_params(const acq_completion_params *params, acq_error *error)
{
    if (!(params->floor >= 0.0 && params->floor <= 1.0))
        return acq_fail(error, ACQ_ERR_USAGE, "the floor must be a score from 0 to 1");
    if (strlen(params->predictor) > ACQ_COMPLETION_NAME_MOST)
        return acq_fail(error, ACQ_ERR_LIMIT, "the predictor's name has more than %d bytes",
                        ACQ_COMPLETION_NAME_MOST);
    if (params->shard.of > 0 && params->shard.part >= params->shard.of)
        return acq_fail(error, ACQ_ERR_USAGE, "there is no shard %u of %u", params->shard.part + 1,
                        params->shard.of);
    return ACQ_OK;
}

static void fill_writer(acq_completion_writer *writer, const acq_completion_params *params)
{
    writer->floor_code = acq_score_encode_floor(params->floor);
    writer->floor = fmaxf((float)params->floor, acq_score_decode(ACQ_CODE_LEAST));
    writer->certain = params->certain;
    if (params->shard.of > 1)
        writer->shard = params->shard;
}

/* Bytes as the file will hold them; NULL: none. */
static acq_status pad(const void *bytes, size_t length, void **out, acq_error *error)
{
    if (length == 0)
        return ACQ_OK;
    *out = acq_zalloc(1, acq_pad8(length));
    if (*out == NULL)
        return acq_fail_memory(error);
    memcpy(*out, bytes, length);
    return ACQ_OK;
}

static acq_status open_output(acq_completion_writer *writer, const char *path,
                              const acq_completion_params *params, acq_error *error)
{
    acq_status status =
        pad(params->calibrator, params->calibrator_length, &writer->calibrator, error);
    if (status != ACQ_OK)
        return status;
    acq_completion_header facts = {
        .n_entities = acq_graph_get_n_entities(writer->graph),
        .n_relations = acq_graph_get_n_relations(writer->graph),
        .dictionary_fingerprint = acq_graph_get_dictionary_fingerprint(writer->graph),
        .graph_fingerprint = acq_graph_get_fingerprint(writer->graph),
        .floor = params->floor,
        .calibrator_length = params->calibrator_length,
        .shard_part = writer->shard.part,
        .shard_of = writer->shard.of,
        .reasons_length = params->has_reasons,
    };
    return acq_completion_output_init(&writer->output, path, &facts, params->predictor,
                                      writer->calibrator, error);
}

acq_status acq_completion_writer_open(const char *path, const acq_graph *graph,
                                      const acq_completion_params *params,
                                      acq_completion_writer **out, acq_error *error)
{
    acq_status status = check_params(params, error);
    if (status != ACQ_OK)
        return status;
    acq_completion_writer *writer = acq_zalloc(1, sizeof *writer);
    if (writer == NULL)
        return acq_fail_memory(error);
    writer->graph = graph;
    fill_writer(writer, params);
    status = open_output(writer, path, params, error);
    if (status != ACQ_OK) {
        acq_completion_writer_close(writer);
        return status;
    }
    *out = writer;
    return ACQ_OK;
}

uint16_t acq_completion_writer_encode(acq_completion_writer *writer, float score, bool observed)
{
    if (score < writer->floor)
        return 0;
    uint16_t code = acq_score_encode(score);
    if (code < writer->floor_code)
        code = writer->floor_code;
    if (code == ACQ_CODE_CERTAIN && !observed) {
        if (!writer->certain)
            return ACQ_CODE_PREDICTED < writer->floor_code ? 0 : ACQ_CODE_PREDICTED;
        writer->output.header.flags |= ACQ_COMPLETION_CERTAIN;
    }
    return code;
}

/* Links worth storing, as (head, tail, code): a code is a whole number that fits a float. */
static size_t select_links(acq_completion_writer *writer, const acq_links *links,
                           const acq_links *observed, acq_link *out)
{
    size_t n = 0;
    for (uint32_t i = 0; i < links->n_heads; i++) {
        acq_row row = acq_links_get_row_at(links, i);
        acq_row facts = acq_links_get_row(observed, links->heads[i]);
        size_t f = 0;
        for (size_t j = 0; j < row.n; j++) {
            while (f < facts.n && facts.tails[f] < row.tails[j])
                f++;
            bool is_fact = f < facts.n && facts.tails[f] == row.tails[j];
            uint16_t code = acq_completion_writer_encode(
                writer, row.scores == NULL ? 1.0F : row.scores[j], is_fact);
            if (code != 0)
                out[n++] = (acq_link){links->heads[i], row.tails[j], (float)code};
        }
    }
    return n;
}

static acq_status put_block(acq_completion_writer *writer, acq_rel relation, const acq_links *rows,
                            acq_error *error)
{
    uint64_t length = acq_completion_block_length(rows->n_heads, rows->n_links);
    char *block = acq_zalloc(1, length);
    if (block == NULL)
        return acq_fail_memory(error);
    size_t heads = rows->n_heads * sizeof(acq_ent), offsets = heads + sizeof(uint32_t);
    size_t tails = rows->n_links * sizeof(acq_ent);
    memcpy(block, rows->heads, heads);
    memcpy(block + heads, rows->offsets, offsets);
    memcpy(block + heads + offsets, rows->tails, tails);
    uint16_t *codes = (uint16_t *)(void *)(block + heads + offsets + tails);
    for (uint32_t i = 0; i < rows->n_links; i++)
        codes[i] = (uint16_t)rows->scores[i];
    acq_status status = acq_completion_output_put(&writer->output, relation, block, rows->n_heads,
                                                  rows->n_links, error);
    acq_free(block);
    return status;
}

static acq_status put_direction(acq_completion_writer *writer, acq_rel relation, acq_link *links,
                                size_t n, acq_error *error)
{
    acq_links *rows;
    acq_status status = acq_links_new(links, n, writer->output.header.n_entities, true, &rows);
    if (status == ACQ_ERR_MEMORY)
        return acq_fail_memory(error);
    if (status != ACQ_OK)
        return acq_fail(error, status, "relation %u has too many links", relation);
    status = put_block(writer, relation, rows, error);
    acq_links_free(rows);
    return status;
}

static void turn(acq_link *links, size_t n)
{
    for (size_t i = 0; i < n; i++)
        links[i] = (acq_link){links[i].tail, links[i].head, links[i].score};
}

/* The even direction first, so that the file does not tell which one was added. */
static acq_status put_both(acq_completion_writer *writer, acq_rel relation, acq_link *links,
                           size_t n, acq_error *error)
{
    acq_rel even = relation & ~1U;
    if (relation != even)
        turn(links, n);
    acq_status status = put_direction(writer, even, links, n, error);
    if (status != ACQ_OK)
        return status;
    turn(links, n);
    return put_direction(writer, acq_inverse(even), links, n, error);
}

acq_status acq_completion_writer_check(const acq_completion_writer *writer, acq_rel relation,
                                       acq_error *error)
{
    if (relation >= writer->output.header.n_relations)
        return acq_fail(error, ACQ_ERR_USAGE, "links of relation %u are not of this graph",
                        relation);
    if (writer->output.entries[relation].offset != 0)
        return acq_fail(error, ACQ_ERR_USAGE, "relation %u was added twice", relation);
    if (!acq_shard_has(writer->shard, relation))
        return acq_fail(error, ACQ_ERR_USAGE, "relation %u is not of shard %u of %u", relation,
                        writer->shard.part + 1, writer->shard.of);
    return ACQ_OK;
}

static acq_status check_added(const acq_completion_writer *writer, acq_rel relation,
                              const acq_links *links, acq_error *error)
{
    const char *reason = "";
    acq_status status = acq_completion_writer_check(writer, relation, error);
    if (status != ACQ_OK)
        return status;
    if (links->n_entities != writer->output.header.n_entities)
        return acq_fail(error, ACQ_ERR_USAGE, "links of relation %u are not of this graph",
                        relation);
    if (!acq_links_check(links, &reason))
        return acq_fail(error, ACQ_ERR_INPUT, "links of relation %u cannot be stored: %s", relation,
                        reason);
    return ACQ_OK;
}

acq_status acq_completion_writer_add(acq_completion_writer *writer, acq_rel relation,
                                     const acq_links *links, acq_error *error)
{
    const acq_links *observed = NULL;
    acq_status status = check_added(writer, relation, links, error);
    if (status == ACQ_OK)
        status = acq_graph_open_links(writer->graph, relation, &observed, error);
    if (status != ACQ_OK)
        return status;
    acq_link *chosen = acq_alloc(links->n_links, sizeof *chosen);
    if (chosen == NULL)
        return acq_fail_memory(error);
    size_t n = select_links(writer, links, observed, chosen);
    status = put_both(writer, relation, chosen, n, error);
    acq_free(chosen);
    return status;
}

static acq_status put_missing(acq_completion_writer *writer, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (acq_rel r = 0; status == ACQ_OK && r < writer->output.header.n_relations; r += 2) {
        if (writer->output.entries[r].offset == 0)
            status = put_both(writer, r, NULL, 0, error);
    }
    return status;
}

acq_status acq_completion_writer_attach_reasons(acq_completion_writer *writer, const void *bytes,
                                                size_t length, acq_error *error)
{
    acq_completion_output *output = &writer->output;
    if (output->header.version < 3 || writer->reasons != NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "this completion takes no reasons");
    acq_status status = pad(bytes, length, &writer->reasons, error);
    output->reasons = writer->reasons;
    output->header.reasons_length = status == ACQ_OK ? length : 0;
    return status;
}

acq_status acq_completion_writer_finish(acq_completion_writer *writer, acq_error *error)
{
    acq_status status = put_missing(writer, error);
    return status == ACQ_OK ? acq_completion_output_finish(&writer->output, error) : status;
}

void acq_completion_writer_close(acq_completion_writer *writer)
{
    if (writer == NULL)
        return;
    acq_completion_output_deinit(&writer->output);
    acq_free(writer->calibrator);
    acq_free(writer->reasons);
    acq_free(writer);
}

static acq_status report(const acq_completion_write_params *params, uint64_t done, uint64_t of,
                         acq_error *error)
{
    return params->progress == NULL || params->progress(params->context, done, of)
               ? ACQ_OK
               : acq_fail(error, ACQ_ERR_INTERRUPTED, "interrupted");
}

static acq_status add_all(acq_completion_writer *writer, const acq_predictor *predictor,
                          const acq_completion_write_params *params, acq_error *error)
{
    acq_status status = ACQ_OK;
    acq_rel n = writer->output.header.n_relations;
    for (acq_rel r = 0; status == ACQ_OK && r < n; r += 2) {
        const acq_links *links = NULL;
        status = report(params, r / 2, n / 2, error);
        if (status != ACQ_OK || !acq_shard_has(writer->shard, r))
            continue;
        status = acq_predictor_open_links(predictor, r, &links, error);
        if (status == ACQ_OK)
            status = acq_completion_writer_add(writer, r, links, error);
        acq_predictor_forget_links(predictor, r);
    }
    if (status == ACQ_OK)
        status = report(params, n / 2, n / 2, error);
    return status;
}

static acq_status pack_calibrator(const acq_predictor *predictor, void **bytes, size_t *length,
                                  acq_error *error)
{
    const acq_calibrator_ops *ops = predictor->calibrator_ops;
    if (predictor->calibrator == NULL || ops == NULL)
        return ACQ_OK;
    return ops->write_memory(predictor->calibrator, bytes, length, error);
}

acq_status acq_completion_write(const char *path, const acq_predictor *predictor,
                                const acq_completion_write_params *params, acq_error *error)
{
    acq_completion_params inside = {.predictor = predictor->name,
                                    .floor = params->floor,
                                    .certain = true,
                                    .shard = params->shard};
    acq_completion_writer *writer = NULL;
    void *bytes = NULL;
    acq_status status = pack_calibrator(predictor, &bytes, &inside.calibrator_length, error);
    inside.calibrator = bytes;
    if (status == ACQ_OK)
        status = acq_completion_writer_open(path, predictor->graph, &inside, &writer, error);
    if (status == ACQ_OK)
        status = add_all(writer, predictor, params, error);
    if (status == ACQ_OK)
        status = acq_completion_writer_finish(writer, error);
    acq_completion_writer_close(writer);
    acq_free(bytes);
    return status;
}
