/* SPDX-License-Identifier: MIT */
#include "convert/convert.h"

#include <string.h>

#include "convert/service.h"
#include "matrix/typed.h"

heddle_status device_csr_validate(const struct device *d, const struct csr *A)
{
    return d->kind == DEVICE_gpu ? gpu_csr_validate(d, A) : csr_validate(A);
}

heddle_status device_coo_validate(const struct device *d, const struct coo *A)
{
    return d->kind == DEVICE_gpu ? gpu_coo_validate(d, A) : coo_validate(A);
}

heddle_status device_row_lengths(const struct device *d, heddle_lengths *lengths, const struct csr *A)
{
    if (d->kind == DEVICE_gpu)
        return gpu_row_lengths(d, lengths, A);
    functions_of(A)->lengths(lengths, A);
    return HEDDLE_OK;
}

heddle_status device_values_narrow(const struct device *d, int *exact, void *to, heddle_type narrower,
                                   const void *val, int64_t n)
{
    if (d->kind == DEVICE_gpu)
        return gpu_narrow(d, exact, to, narrower, val, n);
    *exact = values_narrow(to, narrower, val, n);
    return HEDDLE_OK;
}

heddle_status device_csr_from_coo(const struct device *d, struct csr *B, const struct coo *A)
{
    heddle_status status = HEDDLE_OK;
    if (d->kind == DEVICE_cpu)
        return csr_from_coo(B, A);
    TRY(device_csr_new(d, B,
                       &(struct csr){.rows = A->rows,
                                     .cols = A->cols,
                                     .nnz = A->nnz,
                                     .value = A->value,
                                     .offset = offset_for(A->nnz)}));
    TRY(gpu_coo_to_csr(d, B, A->row));
    TRY(device_copy(d, B->col, A->col, A->nnz * (int64_t)sizeof *A->col));
    TRY(device_copy(d, B->val, A->val, A->nnz * (int64_t)type_size(A->value)));
done:
    if (status != HEDDLE_OK)
        device_csr_free(d, B);
    return status;
}

heddle_status device_csr_transpose_into(const struct device *d, struct csr *B, const struct csr *A)
{
    return d->kind == DEVICE_gpu ? gpu_csr_transpose(d, B, A) : csr_transpose_into(B, A);
}

heddle_status device_csr_transpose(const struct device *d, struct csr *B, const struct csr *A)
{
    heddle_status status;
    if (d->kind == DEVICE_cpu)
        return csr_transpose(B, A);
    TRY(device_csr_new(
        d, B,
        &(struct csr){
            .rows = A->cols, .cols = A->rows, .nnz = A->nnz, .value = A->value, .offset = A->offset}));
    TRY(gpu_csr_transpose(d, B, A));
done:
    if (status != HEDDLE_OK)
        device_csr_free(d, B);
    return status;
}

/* -------------------------------------------------------- formats ----------------------------- */

static heddle_status fill_coo(const struct device *d, struct stored *s, const struct source *A)
{
    s->array[COO_COL] = A->csr.col;
    s->array[COO_VAL] = A->csr.val;
    return gpu_csr_to_coo(d, s->array[COO_ROW], &A->csr);
}

static heddle_status fill_ell(const struct device *d, struct stored *s, const struct source *A)
{
    return gpu_csr_to_ell(d, s, &A->csr);
}

static heddle_status fill_csr5(const struct device *d, struct stored *s, const struct source *A)
{
    return gpu_csr_to_csr5(d, s, &A->csr);
}

static heddle_status fill_sell(const struct device *d, struct stored *s, const struct source *A)
{
    return gpu_csr_to_sell(d, s, &A->csr);
}

static heddle_status fill_hyb(const struct device *d, struct stored *s, const struct source *A)
{
    return gpu_csr_to_hyb(d, s, &A->csr);
}

static heddle_status fill_csr16(const struct device *d, struct stored *s, const struct source *A)
{
    return gpu_csr_to_csr16(d, s, &A->csr);
}

static heddle_status fill_tmpl(const struct device *d, struct stored *s, const struct source *A)
{
    return gpu_csr_to_tmpl(d, s, &A->csr, A->notes ? A->notes->templates[s->format->valued] : NULL);
}

static heddle_status refill_tmpl(const struct device *d, struct stored *s, const struct source *A)
{
    return gpu_csr_to_tmpl_values(d, s, &A->csr);
}

static heddle_status fill_bundle(const struct device *d, struct stored *s, const struct source *A)
{
    return gpu_csr_to_bundle(d, s, &A->csr);
}

static heddle_status refill_bundle(const struct device *d, struct stored *s, const struct source *A)
{
    return gpu_csr_to_bundle_values(d, s, &A->csr);
}

static heddle_status count_lengths(const struct device *d, struct source *told, struct counted *c,
                                   int64_t *option)
{
    heddle_lengths lengths;
    (void)c, (void)option;
    if (told->longest) /* whoever asks for many formats has looked once */
        return HEDDLE_OK;
    heddle_status status = device_row_lengths(d, &lengths, &told->csr);
    told->longest = lengths.longest;
    told->empty = lengths.empty;
    return status;
}

/* slice=0: as high as a wave is wide. */
static heddle_status count_sell(const struct device *d, struct source *told, struct counted *c,
                                int64_t *option)
{
    option[0] = option[0] ? option[0] : gpu_info_of(d->gpu)->wave;
    told->counted = c;
    return gpu_sell_count(d, c, &told->csr, option[0], option[1]);
}

static heddle_status count_hyb(const struct device *d, struct source *told, struct counted *c,
                               int64_t *option)
{
    told->counted = c;
    return gpu_hyb_count(d, c, &told->csr, option);
}

static heddle_status count_tmpl(const struct device *d, struct source *told, struct counted *c,
                                int64_t *option)
{
    option[0] = option[0] ? option[0] : gpu_info_of(d->gpu)->wave;
    told->counted = c;
    return gpu_tmpl_count(d, c, &told->csr, option[0], 0, told->notes ? &told->notes->templates[0] : NULL);
}

static heddle_status count_tmplv(const struct device *d, struct source *told, struct counted *c,
                                 int64_t *option)
{
    option[0] = option[0] ? option[0] : gpu_info_of(d->gpu)->wave;
    told->counted = c;
    return gpu_tmpl_count(d, c, &told->csr, option[0], 1, told->notes ? &told->notes->templates[1] : NULL);
}

static heddle_status count_bundle(const struct device *d, struct source *told, struct counted *c,
                                  int64_t *option)
{
    option[0] = option[0] ? option[0] : gpu_info_of(d->gpu)->wave;
    told->counted = c;
    return gpu_bundle_count(d, c, &told->csr, option[0]);
}

static heddle_status count_csr16(const struct device *d, struct source *told, struct counted *c,
                                 int64_t *option)
{
    (void)option;
    told->counted = c;
    return gpu_csr16_count(d, c, &told->csr);
}

/* How a GPU fills the arrays of a format; a source whose arrays serve as they are needs no such function.
 * A format whose size depends on row_ptr, which the host cannot read, is told what it asks for. */
typedef heddle_status gpu_fill(const struct device *d, struct stored *s, const struct source *A);
typedef heddle_status gpu_count(const struct device *d, struct source *told, struct counted *c,
                                int64_t *option);
static const struct {
    gpu_fill *fill;
    gpu_count *count; /* NULL: sizes are enough */
    gpu_fill *refill; /* values alone; NULL: as fill */
} ways[FORMAT_COUNT] = {
    [FORMAT_coo] = {fill_coo, NULL, NULL},
    [FORMAT_ell] = {fill_ell, count_lengths, NULL},
    [FORMAT_ellr] = {fill_ell, count_lengths, NULL},
    [FORMAT_sell] = {fill_sell, count_sell, NULL},
    [FORMAT_hyb] = {fill_hyb, count_hyb, NULL},
    [FORMAT_csr16] = {fill_csr16, count_csr16, NULL},
    [FORMAT_csr5] = {fill_csr5, count_lengths, NULL},
    [FORMAT_bundle] = {fill_bundle, count_bundle, refill_bundle},
    [FORMAT_tmpl] = {fill_tmpl, count_tmpl, refill_tmpl},
    [FORMAT_tmplv] = {fill_tmpl, count_tmplv, NULL},
};

/* As ways[id].count, but asks the notes first. */
static heddle_status count_once(const struct device *d, enum format_id id, struct source *told,
                                struct counted *c, int64_t *option)
{
    heddle_status status = HEDDLE_OK;
    int64_t asked[OPTIONS_MOST];
    struct notes *n = told->notes;
    double begin = device_clock(d);
    memcpy(asked, option, sizeof asked);
    if (n && n->of[id].known && memcmp(n->of[id].asked, asked, sizeof asked) == 0) {
        memcpy(option, n->of[id].chosen, sizeof asked);
        *c = n->of[id].counted;
        told->counted = c;
        return HEDDLE_OK;
    }
    TRY(ways[id].count(d, told, c, option));
    if (n && told->counted) {
        n->of[id].known = 1;
        n->of[id].counted = *c;
        n->of[id].ms = device_clock(d) - begin;
        memcpy(n->of[id].asked, asked, sizeof asked);
        memcpy(n->of[id].chosen, option, sizeof asked);
    }
done:
    return status;
}

void device_notes_free(const struct device *d, struct notes *n)
{
    gpu_tmpl_forget(d, n->templates[0]);
    gpu_tmpl_forget(d, n->templates[1]);
    *n = (struct notes){0};
}

heddle_status device_stored_size(const struct device *d, struct stored *s, enum format_id id,
                                 const struct source *A, const int64_t *option)
{
    heddle_status status = HEDDLE_OK;
    int64_t chosen[OPTIONS_MOST] = {0};
    struct source told = *A;
    struct counted counted = {0};
    if (d->kind == DEVICE_cpu)
        return stored_size(s, id, A, option);
    if (id != FORMAT_csr && !ways[id].fill)
        return fail(HEDDLE_NO_KERNEL, "GPUs have no conversion to %s", format_at(id)->name);
    told.omega = gpu_info_of(d->gpu)->wave;
    told.sigma = gpu_arch(d->gpu)->sigma;
    if (option)
        memcpy(chosen, option, sizeof chosen);
    else
        options_initial(chosen, format_at(id)->options);
    if (ways[id].count)
        TRY(count_once(d, id, &told, &counted, chosen));
    TRY(stored_size(s, id, &told, chosen));
done:
    return status;
}

/* Then there is nothing to fill: pointers are passed on. */
static int borrows_all(const struct stored *s)
{
    int i = 0;
    while (s->format->array[i] && s->borrowed >> i & 1)
        i++;
    return !s->format->array[i];
}

heddle_status device_stored_fill(const struct device *d, struct stored *s, const struct source *A)
{
    if (d->kind == DEVICE_cpu || borrows_all(s))
        return s->format->fill(s, A);
    return ways[format_by_name(s->format->name)].fill(d, s, A);
}

heddle_status device_stored_refill(const struct device *d, struct stored *s, const struct source *A)
{
    int id = format_by_name(s->format->name);
    if (d->kind == DEVICE_cpu && s->format->refill)
        return s->format->refill(s, A);
    if (d->kind == DEVICE_gpu && ways[id].refill)
        return ways[id].refill(d, s, A);
    return device_stored_fill(d, s, A);
}

heddle_status device_stored_build(const struct device *d, struct stored *s, const struct source *A)
{
    heddle_status status = HEDDLE_OK;
    if (d->kind == DEVICE_cpu || borrows_all(s))
        return stored_build(s, A);
    for (int i = 0; s->format->array[i]; i++)
        if (!(s->borrowed >> i & 1))
            TRY(device_alloc(d, &s->array[i], s->bytes[i]));
    TRY(device_stored_fill(d, s, A));
done:
    if (status != HEDDLE_OK)
        device_stored_free(d, s);
    return status;
}

void device_stored_free(const struct device *d, struct stored *s)
{
    for (int i = 0; i < FORMAT_ARRAYS; i++) {
        if (!(s->borrowed >> i & 1))
            device_free(d, s->array[i]);
        s->array[i] = NULL;
    }
}
