/* gemm_peers.c - see gemm.h. oneDNN is measured twice: as a plain product, which lays b out at
 * every call as OpenBLAS does, and with weights laid out before, as ours are. */
#include "gemm.h"

#include <cblas.h>
#include <dnnl.h>
#include <stdlib.h>

#include "common.h"
#include "tensor/kernels.h"

static void *prepare_ours(const gemm_case *gemm)
{
    acq_packed *packed = malloc(sizeof *packed);
    if (packed == NULL || acq_packed_init(packed, gemm->k, gemm->n) != ACQ_OK)
        bench_die("out of memory");
    acq_packed_fill_transposed(packed, gemm->b, gemm->n);
    return packed;
}

static void run_ours(void *prepared, const gemm_case *gemm)
{
    acq_kernels_get_best()->gemm(gemm->m, gemm->a, gemm->k, prepared, NULL, 0, gemm->c, gemm->n);
}

static void finish_ours(void *prepared)
{
    acq_packed_deinit(prepared);
    free(prepared);
}

const gemm_peer gemm_ours = {"anycq", prepare_ours, run_ours, finish_ours};

static void *prepare_openblas(const gemm_case *gemm)
{
    (void)gemm;
    openblas_set_num_threads(1);
    return NULL;
}

static void run_openblas(void *prepared, const gemm_case *gemm)
{
    (void)prepared;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)gemm->m, (int)gemm->n, (int)gemm->k,
                1, gemm->a, (int)gemm->k, gemm->b, (int)gemm->n, 0, gemm->c, (int)gemm->n);
}

static void finish_nothing(void *prepared)
{
    (void)prepared;
}

const gemm_peer gemm_openblas = {"OpenBLAS", prepare_openblas, run_openblas, finish_nothing};

static void need_dnnl(dnnl_status_t status)
{
    if (status != dnnl_success)
        bench_die("oneDNN fails with status %d", (int)status);
}

static void *prepare_nothing(const gemm_case *gemm)
{
    (void)gemm;
    return NULL;
}

static void run_onednn(void *prepared, const gemm_case *gemm)
{
    (void)prepared;
    need_dnnl(dnnl_sgemm('N', 'N', (dnnl_dim_t)gemm->m, (dnnl_dim_t)gemm->n, (dnnl_dim_t)gemm->k, 1,
                         gemm->a, (dnnl_dim_t)gemm->k, gemm->b, (dnnl_dim_t)gemm->n, 0, gemm->c,
                         (dnnl_dim_t)gemm->n));
}

const gemm_peer gemm_onednn = {"oneDNN", prepare_nothing, run_onednn, finish_nothing};

typedef struct packed_product {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_desc_t description;
    dnnl_primitive_t primitive;
    dnnl_memory_t a, b, c;
} packed_product;

static dnnl_memory_desc_t describe(size_t rows, size_t cols, dnnl_format_tag_t tag)
{
    dnnl_dims_t sizes = {(dnnl_dim_t)rows, (dnnl_dim_t)cols};
    dnnl_memory_desc_t description;
    need_dnnl(dnnl_memory_desc_init_by_tag(&description, 2, sizes, dnnl_f32, tag));
    return description;
}

static dnnl_memory_t hold(const packed_product *p, dnnl_memory_desc_t description, void *data)
{
    dnnl_memory_t memory;
    need_dnnl(dnnl_memory_create(&memory, &description, p->engine, data));
    return memory;
}

/* b from rows into the layout that the primitive wants. */
static void lay_out(packed_product *p, const gemm_case *gemm)
{
    dnnl_memory_desc_t from = describe(gemm->k, gemm->n, dnnl_ab);
    const dnnl_memory_desc_t *to =
        dnnl_primitive_desc_query_md(p->description, dnnl_query_weights_md, 0);
    dnnl_memory_t rows = hold(p, from, gemm->b);
    p->b = hold(p, *to, DNNL_MEMORY_ALLOCATE);
    dnnl_primitive_desc_t description;
    dnnl_primitive_t reorder;
    need_dnnl(
        dnnl_reorder_primitive_desc_create(&description, &from, p->engine, to, p->engine, NULL));
    need_dnnl(dnnl_primitive_create(&reorder, description));
    dnnl_exec_arg_t arguments[] = {{DNNL_ARG_FROM, rows}, {DNNL_ARG_TO, p->b}};
    need_dnnl(dnnl_primitive_execute(reorder, p->stream, 2, arguments));
    need_dnnl(dnnl_stream_wait(p->stream));
    dnnl_primitive_destroy(reorder);
    dnnl_primitive_desc_destroy(description);
    dnnl_memory_destroy(rows);
}

static void *prepare_packed(const gemm_case *gemm)
{
    packed_product *p = malloc(sizeof *p);
    dnnl_matmul_desc_t product;
    if (p == NULL)
        bench_die("out of memory");
    need_dnnl(dnnl_engine_create(&p->engine, dnnl_cpu, 0));
    need_dnnl(dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags));
    dnnl_memory_desc_t a = describe(gemm->m, gemm->k, dnnl_ab);
    dnnl_memory_desc_t b = describe(gemm->k, gemm->n, dnnl_format_tag_any);
    dnnl_memory_desc_t c = describe(gemm->m, gemm->n, dnnl_ab);
    need_dnnl(dnnl_matmul_desc_init(&product, &a, &b, NULL, &c));
    need_dnnl(dnnl_primitive_desc_create(&p->description, &product, NULL, p->engine, NULL));
    need_dnnl(dnnl_primitive_create(&p->primitive, p->description));
    p->a = hold(p, a, gemm->a);
    p->c = hold(p, c, gemm->c);
    lay_out(p, gemm);
    return p;
}

static void run_packed(void *prepared, const gemm_case *gemm)
{
    (void)gemm;
    packed_product *p = prepared;
    dnnl_exec_arg_t arguments[] = {
        {DNNL_ARG_SRC, p->a}, {DNNL_ARG_WEIGHTS, p->b}, {DNNL_ARG_DST, p->c}};
    need_dnnl(dnnl_primitive_execute(p->primitive, p->stream, 3, arguments));
    need_dnnl(dnnl_stream_wait(p->stream));
}

static void finish_packed(void *prepared)
{
    packed_product *p = prepared;
    dnnl_memory_destroy(p->a);
    dnnl_memory_destroy(p->b);
    dnnl_memory_destroy(p->c);
    dnnl_primitive_destroy(p->primitive);
    dnnl_primitive_desc_destroy(p->description);
    dnnl_stream_destroy(p->stream);
    dnnl_engine_destroy(p->engine);
    free(p);
}

const gemm_peer gemm_onednn_packed = {"oneDNN packed", prepare_packed, run_packed, finish_packed};
