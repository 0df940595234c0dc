/* SPDX-License-Identifier: MIT
 *
 * Every kernel x type x operation x scalars against the reference. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "bench/guarded.h"
#include "bench/proof.h"
#include "cli/checking.h"
#include "subject/fill.h"

struct choices {
    const char *device;
    struct words kernels, types, ops, vectors, layouts;
    const char *json;
};

#define AT(member) offsetof(struct choices, member)
static const struct cli_option options[] = {
    {"device", 'd', OPTION_TEXT, AT(device), "DEVICE", "where to compute (auto)"},
    {"kernel", 'k', OPTION_LIST, AT(kernels), "K,...|all", "what to check (all)"},
    {"type", 't', OPTION_LIST, AT(types), "T,...",
     "types of the numbers: f32, f64, c32, c64, f16, bf16, f32v64 (f32,f64)"},
    {"op", 0, OPTION_LIST, AT(ops), "N,T,H", "A itself, its transpose, of complex numbers its adjoint (all)"},
    {"vectors", 0, OPTION_LIST, AT(vectors), "K,...", VECTORS_WHAT},
    {"layout", 0, OPTION_LIST, AT(layouts), "rows,columns", "how several vectors lie (both)"},
    {"json", 0, OPTION_JSON, AT(json), "FILE", JSON_WHAT},
    {0}};

/* Scalars, each with the error that it hunts. */
static const struct {
    double alpha[2], beta[2]; /* the second part where numbers are complex */
    int y_is_nan, x_is_nan;
} cases[CASES + 1] = {
    {{1, 0}, {0, 0}, 1, 0},          /* beta = 0 must not read y */
    {{-1.5, 0.75}, {0.5, -2}, 0, 0}, /* factors that are forgotten, or applied twice */
    {{0, 0}, {2, -1}, 0, 1},         /* alpha = 0 must not read x */
    {{-1, 1}, {2, -1}, 0, 0},        /* of the product of integers */
};
#define INTEGERS CASES

static struct scalars scalars_of(int i, heddle_type type)
{
    struct scalars s = {.alpha = cases[i].alpha[0], .beta = cases[i].beta[0]};
    if (is_complex(type)) {
        IM(s.alpha) = cases[i].alpha[1];
        IM(s.beta) = cases[i].beta[1];
    }
    return s;
}

/* The matrix in one type, with vectors for one operation and the references of all cases.  Products are
 * given vectors that lie on the device, so that a kernel meets the y that is laid out for it, and no copy
 * that was staged on the way. */
struct bench_top {
    struct csr csr; /* with values of its own, where the matrix was not loaded in this type */
    void *own_val;
    heddle_matrix *A;
    void *x, *nan, *y0, *y;
    void *x_there, *nan_there; /* on the device; on a CPU x and nan themselves */
    struct guarded y_there;
    int64_t n; /* numbers of y, of all vectors */
    struct references references[CASES];
    struct proof proof;
};

static heddle_status new_vector(void **v, heddle_type type, int64_t n)
{
    return (*v = mem_alloc(n, type_size(type))) ? HEDDLE_OK : HEDDLE_NO_MEMORY;
}

/* The rows of op(A) are what the reference sums: they are made once for all cases, for a large matrix is
 * turned slowly. */
static heddle_status find_references(struct bench_top *b, heddle_op op, struct vector_group vectors)
{
    heddle_status status = HEDDLE_OK;
    struct csr turned = {0};
    if (op != HEDDLE_N)
        TRY(csr_transpose(&turned, &b->csr));
    for (int i = 0; i < CASES; i++) {
        const struct scalars s = scalars_of(i, b->csr.value);
        struct equation p = {.A = &b->csr,
                             .op = op,
                             .alpha = s.alpha,
                             .beta = s.beta,
                             .x = cases[i].x_is_nan ? b->nan : b->x,
                             .y0 = cases[i].y_is_nan ? b->nan : b->y0,
                             .transposed = op != HEDDLE_N ? &turned : NULL};
        TRY(references_new(&b->references[i], &p, vectors, reference_new));
    }
done:
    csr_free(&turned);
    return status;
}

static heddle_status to_device(void **there, const struct device *d, void *here, int64_t bytes)
{
    heddle_status status = HEDDLE_OK;
    *there = here;
    if (d->kind == DEVICE_cpu)
        return HEDDLE_OK;
    TRY(device_alloc(d, there, bytes));
    TRY(device_copy(d, *there, here, bytes));
    TRY(device_sync(d));
done:
    return status;
}

static heddle_status ready(struct bench_top *b, heddle *h, const struct csr *A, const struct kind *kind)
{
    heddle_status status = HEDDLE_OK;
    const heddle_type type = kind->type;
    const heddle_op op = kind->op;
    const int64_t vectors = vectors_count(kind->vectors);
    int64_t longer = vectors * (A->rows > A->cols ? A->rows : A->cols);
    b->n = vectors * (op == HEDDLE_N ? A->rows : A->cols);
    TRY(values_as(&b->csr, A, type));
    b->own_val = b->csr.val != A->val ? b->csr.val : NULL;
    TRY(matrix_of(&b->A, h, &b->csr));
    const heddle_type vector = vector_type(type);
    const int64_t size = (int64_t)type_size(vector);
    TRY(new_vector(&b->x, vector, longer));
    TRY(new_vector(&b->nan, vector, longer));
    TRY(new_vector(&b->y0, vector, b->n));
    TRY(new_vector(&b->y, vector, b->n));
    fill_random(b->x, vector, longer);
    fill_nan(b->nan, vector, longer);
    fill_random(b->y0, vector, b->n);
    TRY(to_device(&b->x_there, &h->device, b->x, longer * size));
    TRY(to_device(&b->nan_there, &h->device, b->nan, longer * size));
    TRY(guarded_new(&b->y_there, &h->device, b->n * size));
    TRY(find_references(b, op, kind->vectors));
    TRY(proof_new(&b->proof, h, b->A, &b->csr, op, kind->vectors, scalars_of(INTEGERS, type)));
done:
    return status;
}

static void release(struct bench_top *b, const struct device *d)
{
    proof_free(&b->proof);
    for (int i = 0; i < CASES; i++)
        references_free(&b->references[i]);
    guarded_free(&b->y_there);
    if (d->kind == DEVICE_gpu) {
        device_free(d, b->x_there);
        device_free(d, b->nan_there);
    }
    heddle_matrix_free(b->A);
    mem_free(b->own_val);
    mem_free(b->x);
    mem_free(b->nan);
    mem_free(b->y0);
    mem_free(b->y);
}

static void told_scalars(struct outcome *o, struct scalars s, const char *kind, const char *text)
{
    char alpha[COMPLEX_TEXT], beta[COMPLEX_TEXT];
    snprintf(o->text, sizeof o->text, "alpha %s, beta %s%s: %s", text_complex(alpha, s.alpha, 6),
             text_complex(beta, s.beta, 6), kind, text);
}

/* What is wrong with the y that a kernel left, for people; "" when nothing is. */
static void look_at(struct bench_top *b, int i, int whole, int64_t outside, struct outcome *o)
{
    struct verdict v;
    char text[VERDICT_TEXT];
    references_judge(&v, text, &b->references[i], b->y);
    o->error = fmax(o->error, whole ? v.error : INFINITY);
    if ((!v.passed || !whole) && !o->wrong) {
        if (!whole) {
            int64_t size = (int64_t)vector_size(b->csr.value),
                    entry = (outside < 0 ? outside - size + 1 : outside) / size;
            snprintf(text, sizeof text, "it wrote %s y: entry %lld of a vector of %lld",
                     outside < 0 ? "before" : "past the end of", (long long)entry, (long long)b->n);
        }
        told_scalars(o, scalars_of(i, b->csr.value), "", text);
    }
    o->wrong |= !v.passed || !whole;
}

/* A rule of the device that a kernel breaks is as wrong as a number, if the device lives on. */
static int broke_a_rule(heddle_status status, const struct candidate *c, struct scalars s, struct outcome *o)
{
    if (status != HEDDLE_DEVICE_ERROR || device_sync(&c->h->device) != HEDDLE_OK)
        return 0;
    if (!o->wrong) /* the first thing that went wrong is told */
        told_scalars(o, s, "", heddle_last_error());
    o->wrong = 1;
    o->error = INFINITY;
    return 1;
}

static heddle_status judge_integers(const struct bench_top *b, struct candidate *c, struct outcome *o)
{
    struct verdict v;
    char text[VERDICT_TEXT];
    heddle_status status = proof_of(&b->proof, c, &v, text);
    if (broke_a_rule(status, c, b->proof.scalars, o))
        return HEDDLE_OK;
    TRY(status);
    o->error = fmax(o->error, v.error);
    if (!v.passed && !o->wrong)
        told_scalars(o, b->proof.scalars, ", integers", text);
    o->wrong |= !v.passed;
done:
    return status;
}

/* One prepared kernel through all cases, and at last with integers. */
static heddle_status judge(struct bench_top *b, struct candidate *c, struct outcome *o)
{
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < CASES; i++) {
        int whole;
        int64_t outside;
        const struct scalars s = scalars_of(i, b->csr.value);
        TRY(guarded_set(&b->y_there, cases[i].y_is_nan ? b->nan : b->y0));
        status = candidate_run(c, s, cases[i].x_is_nan ? b->nan_there : b->x_there, b->y_there.y);
        if (broke_a_rule(status, c, s, o))
            return HEDDLE_OK;
        TRY(status);
        TRY(guarded_get(&b->y_there, b->y, &whole, &outside));
        look_at(b, i, whole, outside, o);
    }
    TRY(judge_integers(b, c, o));
done:
    return status;
}

static heddle_status check_kernel(struct checking *k, struct bench_top *b, const struct kind *kind,
                                  const char *name, struct outcome *o)
{
    struct candidate c = {0};
    char product[PRODUCT_NAME];
    *o = (struct outcome){0};
    heddle_status status = candidate_new(&c, k->h, b->A, kind->op, kind->vectors, name);
    const int made = status == HEDDLE_OK;
    if (made)
        status = judge(b, &c, o);
    candidate_free(&c);
    if (status == HEDDLE_NOT_SUPPORTED ||
        (!made && (status == HEDDLE_NO_KERNEL || status == HEDDLE_NO_MEMORY))) {
        *o = (struct outcome){.skipped = 1};
        k->starved += status == HEDDLE_NO_MEMORY;
        snprintf(o->text, sizeof o->text, "%s", heddle_last_error());
        return HEDDLE_OK;
    }
    if (status == HEDDLE_DEVICE_ERROR) { /* the device is lost, and with it the rest of the check */
        snprintf(o->text, sizeof o->text, "%s", heddle_last_error());
        return fail(status, "%s, %s, %s: %s", name, type_name(b->csr.value),
                    product_name(product, kind->op, kind->vectors), o->text);
    }
    return status;
}

/* Every kernel in a type that the matrix or the device does not have. */
static void skip_kind(struct checking *k, int kind)
{
    for (int i = 0; i < k->kernels.count; i++) {
        struct outcome *o = &k->outcome[i][kind];
        *o = (struct outcome){.skipped = 1};
        snprintf(o->text, sizeof o->text, "%s", heddle_last_error());
    }
    k->done += k->kernels.count;
}

/* Every combination of a matrix that cannot be read. */
static void skip_matrix(struct checking *k)
{
    for (int kind = 0; kind < k->kinds; kind++)
        skip_kind(k, kind);
}

static heddle_status check_matrix(struct checking *k, const struct subject *subject)
{
    heddle_status status = HEDDLE_OK;
    struct loaded m = {0};
    struct bench_top b = {0};
    progress(k->s, k->done, k->total, "%s", subject->name);
    status = subject_load_widest(&m, subject);
    k->unread = status != HEDDLE_OK && k->several;
    if (k->unread) {
        k->starved += status == HEDDLE_NO_MEMORY ? (int64_t)k->kernels.count * k->kinds : 0;
        k->unreadable +=
            status == HEDDLE_BAD_FILE || status == HEDDLE_FILE_ERROR || status == HEDDLE_BAD_ARGUMENT;
        skip_matrix(k);
        status = HEDDLE_OK;
        goto done;
    }
    TRY(status);
    for (int kind = 0; kind < k->kinds; kind++) {
        const struct kind *at = &k->kind[kind];
        char product[PRODUCT_NAME];
        status = ready(&b, k->h, &m.csr, at);
        const int skipped = status == HEDDLE_NOT_SUPPORTED;
        if (skipped) /* in this type alone */
            skip_kind(k, kind);
        else
            TRY(status);
        for (int i = 0; i < k->kernels.count && !skipped; i++) {
            progress(k->s, k->done++, k->total, "%s %s %s %s", subject->name, type_name(at->type),
                     product_name(product, at->op, at->vectors), k->kernels.name[i]);
            TRY(check_kernel(k, &b, at, k->kernels.name[i], &k->outcome[i][kind]));
        }
        status = HEDDLE_OK;
        release(&b, &k->h->device);
        b = (struct bench_top){0};
    }
done:
    release(&b, &k->h->device);
    loaded_free(&m);
    return status;
}

static heddle_status check_all(struct checking *k, const struct subject_list *list)
{
    heddle_status status = HEDDLE_OK;
    k->total = list->count * k->kernels.count * k->kinds;
    k->several = list->count > 1;
    TRY(NEW_ZEROED(k->outcome, k->kernels.count));
    for (int64_t i = 0; i < list->count; i++) {
        TRY(check_matrix(k, &list->item[i]));
        checking_count(k);
        progress_clear(k->s);
        if (k->json_wanted) {
            checking_tell_json(k, &list->item[i]);
        } else if (!k->s->quiet) {
            checking_tell_people(k, &list->item[i]);
            TRY(out_flush(k->s));
        }
    }
done:
    return status;
}

static heddle_status finish(struct checking *k, const struct subject_list *list)
{
    char matrices[NUMBER_TEXT], products[NUMBER_TEXT], skipped[NUMBER_TEXT], wrong[NUMBER_TEXT];
    char verified[NUMBER_TEXT], total[NUMBER_TEXT];
    k->s->wrong = k->wrong > 0;
    if (!k->json_wanted) {
        out(k->s, "%s %s, %s products: %s of %s combinations verified, %s wrong, %s skipped\n",
            text_count(matrices, list->count), list->count == 1 ? "matrix" : "matrices",
            text_count(products, k->products), text_count(verified, k->total - k->wrong - k->skipped),
            text_count(total, k->total), text_count(wrong, k->wrong), text_count(skipped, k->skipped));
        return HEDDLE_OK;
    }
    json_end_array(&k->json);
    json_int(&k->json, "products", k->products);
    json_int(&k->json, "wrong", k->wrong);
    json_int(&k->json, "skipped", k->skipped);
    json_end_object(&k->json);
    return out_json(k->s, &k->json);
}

/* A bit for each value of an option that takes several. */
static heddle_status want_type(void *wanted, const char *word)
{
    heddle_type type = HEDDLE_F64;
    heddle_status status = type_choice(word, &type);
    *(unsigned *)wanted |= 1u << type;
    return status;
}

static heddle_status want_op(void *wanted, const char *word)
{
    heddle_op op = HEDDLE_N;
    heddle_status status = op_choice(word, &op);
    *(unsigned *)wanted |= 1u << op;
    return status;
}

static heddle_status choose_kinds(struct checking *k, const struct choices *c)
{
    heddle_status status = HEDDLE_OK;
    unsigned types = 0, ops = 0;
    struct vector_group vectors[KIND_VECTORS] = {ONE_VECTOR};
    int listed = 0;
    TRY(vectors_choice(&c->vectors, &c->layouts, "rows,columns", vectors, KIND_VECTORS, &listed));
    for (int i = 0; i < c->types.count; i++)
        TRY(each_word(c->types.item[i], want_type, &types));
    for (int i = 0; i < c->ops.count; i++)
        TRY(each_word(c->ops.item[i], want_op, &ops));
    types = types ? types : 1u << HEDDLE_F32 | 1u << HEDDLE_F64;
    for (int v = 0; v < (listed ? listed : 1); v++)
        for (int i = 0; i < TYPES_MOST; i++)
            for (heddle_op op = HEDDLE_N; op <= (is_complex(types_known[i]) ? HEDDLE_H : HEDDLE_T); op++)
                if (types >> types_known[i] & 1 && (!ops || ops >> op & 1))
                    k->kind[k->kinds++] = (struct kind){types_known[i], op, vectors[v]};
    if (k->kinds == 0)
        TRY(fail(HEDDLE_BAD_ARGUMENT, "--op H is of complex numbers: --type c32,c64"));
done:
    return status;
}

static heddle_status run(struct session *s, void *into)
{
    heddle_status status = HEDDLE_OK;
    const struct choices *c = into;
    struct subject_list list = {0};
    struct checking *k = NULL;
    TRY(NEW_ZEROED(k, 1));
    k->s = s;
    k->json_wanted = c->json != NULL;
    TRY(choose_kinds(k, c));
    TRY(heddle_open(&k->h, c->device));
    for (int i = 0; i < (c->kernels.count ? c->kernels.count : 1); i++)
        TRY(candidates_add(&k->kernels, c->kernels.count ? c->kernels.item[i] : "all",
                           device_kind_name(k->h->device.kind)));
    for (int i = 0; i < s->operands; i++)
        TRY(subjects_add(&list, s->operand[i]));
    json_object(&k->json, NULL);
    json_int(&k->json, "schema", RECORD_SCHEMA);
    json_string(&k->json, "record", "check");
    json_array(&k->json, "results");
    TRY(check_all(k, &list));
    TRY(finish(k, &list));
    if (k->unreadable > 0) {
        TRY(out_flush(s));
        TRY(fail(HEDDLE_BAD_FILE, "%d of %lld matrices could not be read; see above why", k->unreadable,
                 (long long)list.count));
    }
    if (k->starved > 0 && k->wrong == 0) {
        TRY(out_flush(s));
        TRY(fail(HEDDLE_NO_MEMORY,
                 "%lld combinations were skipped for want of memory and are not verified; see above which",
                 (long long)k->starved));
    }
done:
    if (k) {
        json_free(&k->json);
        mem_free(k->outcome);
        heddle_close(k->h);
    }
    mem_free(k);
    subjects_free(&list);
    return status;
}

const struct page page_check = {
    .usage = "MATRIX... [--device D] [--kernel K,...|all] [--type T,...] [--op N,T,H]\n"
             "              [--vectors K,...] [--layout rows,columns] [--json [FILE]]",
    .details =
        "Multiplies with every kernel, in every type of --type, with A, its transpose and of complex\n"
        "numbers its adjoint (H), for several alpha and beta, and compares each entry of y with a reference\n"
        "of twice the precision.  A number below 1 is the largest error as a share of what rounding may\n"
        "cause.  y lies on the device, full of NaN where beta is 0 and between guard words: a kernel that\n"
        "reads y, leaves out a row or writes outside of y is wrong, too.  One more product, of integers,\n"
        "must be right to the last bit.  The exit status is 1 when a result is wrong, 2 when something\n"
        "could not be read or was skipped for want of memory.\n"
        "\n"
        "With --vectors the products have so many vectors at once, by rows and by columns, and each vector\n"
        "of the result is compared.\n"
        "\n"
        "Examples:\n"
        "  heddle check a.mtx\n"
        "  heddle check set:smoke --kernel cpu_csr,cpu_sell:slice=8,window=64\n"
        "  heddle check set:smoke --vectors 2,8,32 --kernel auto,plan\n"
        "  heddle check gen:band:n=4145852,lower=249,upper=268 --type f32 --op N  (over 2^31 entries)\n",
    .option = options,
    .least = 1,
    .most = 1 << 20,
    .size = sizeof(struct choices),
    .run = run};
