/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "convert/service.h"

const struct scalars scalars[SCALARS] = {
    {.alpha = 1}, {.alpha = -2, .beta = 0.5}, {.alpha = 1, .beta = 1}, {.beta = 3}, {.alpha = 0},
    {.alpha = 3}};

const heddle_type trial_types[VARIANT_COUNT][2] = {
#define VARIANT(name, elem, real, off, value, offset) {value, offset},
#include "matrix/variants.def"
#undef VARIANT
};

struct scalars trial_scalars(const struct trial *t, int i)
{
    static const double imaginary[SCALARS][2] = {{0, 0}, {1, -2}, {0, 0}, {0, -1}, {0, 0}, {3, 0}};
    struct scalars s = scalars[i];
    if (is_complex(t->A.value)) {
        s.alpha = awkward_complex(s.alpha, imaginary[i][0]);
        s.beta = awkward_complex(s.beta, imaginary[i][1]);
    }
    return s;
}

heddle_op trial_last_op(int variant)
{
    return is_complex(trial_types[variant][0]) ? HEDDLE_H : HEDDLE_T;
}

int trial_slow(void)
{
    return getenv("HEDDLE_SLOW_TESTS") != NULL;
}

int trial_has_turn(int d, int i)
{
    return trial_slow() || getenv("HEDDLE_TEST_DEVICES") || getenv("HEDDLE_TEST_KERNELS") || (d + i) % 2 == 0;
}

int trial_brief(void)
{
#ifdef __SANITIZE_ADDRESS__
    return !trial_slow();
#else
    return 0;
#endif
}

void trial_on_devices(void (*body)(const struct device *d))
{
    const char *asked = getenv("HEDDLE_TEST_DEVICES"),
               *names[] = {"emu:wave=32,seed=1", "emu:wave=64,seed=2"};
    for (int i = 0; i < (asked ? 1 : 2); i++) {
        struct device d = {.kind = DEVICE_gpu};
        int64_t live = mem_live();
        CHECK_OK(gpu_open(&d.gpu, asked ? asked : names[i]));
        if (d.gpu)
            body(&d);
        gpu_close(d.gpu);
        CHECK_THAT(mem_live() == live, "%lld allocations are left", (long long)(mem_live() - live));
    }
}

char *trial_at(const struct trial *t, void *p, int64_t i)
{
    return (char *)p + i * (int64_t)vector_size(t->A.value);
}

int64_t trial_bytes(const struct trial *t)
{
    return (t->n_y + 2 * GUARD) * (int64_t)vector_size(t->A.value);
}

void trial_new(struct trial *t, const struct awkward *w, int variant, heddle_op op, int exact)
{
    CHECK_OK(awkward_make(&t->A, w, trial_types[variant][0], trial_types[variant][1]));
    if (!exact)
        awkward_randomise(&t->A, 7);
    t->matrix = w->name;
    t->op = op;
    t->n_x = op == HEDDLE_N ? w->cols : w->rows;
    t->n_y = op == HEDDLE_N ? w->rows : w->cols;
    t->x_here = awkward_vector(t->n_x, vector_type(t->A.value), 3, exact);
    t->y0 = awkward_vector(t->n_y + 2 * GUARD, vector_type(t->A.value), 4, exact);
    t->got = awkward_vector(t->n_y + 2 * GUARD, vector_type(t->A.value), 5, exact);
    t->exact = mem_alloc(t->n_y, sizeof *t->exact);
    awkward_reference(t->exact, &t->A, op, t->x_here);
    CHECK_OK(device_csr_upload(&t->device, &t->on_device, &t->A));
    CHECK_OK(device_alloc(&t->device, &t->x, t->n_x * (int64_t)vector_size(t->A.value)));
    CHECK_OK(device_copy(&t->device, t->x, t->x_here, t->n_x * (int64_t)vector_size(t->A.value)));
    CHECK_OK(device_alloc(&t->device, &t->y, trial_bytes(t)));
    t->view = (struct view){.format = HEDDLE_CSR, .csr = t->on_device};
}

void trial_free(struct trial *t)
{
    csr_free(&t->A);
    device_csr_free(&t->device, &t->on_device);
    device_free(&t->device, t->x);
    device_free(&t->device, t->y);
    mem_free(t->x_here);
    mem_free(t->y0);
    mem_free(t->got);
    mem_free(t->exact);
    for (int i = 0; i < SCALARS + 2; i++)
        mem_free(t->want[i].y);
    for (int i = 0; i < 2; i++)
        mem_free(t->special[i]);
    device_csr_free(&t->device, &t->other[0].csr);
    device_free(&t->device, t->other[1].coo.row);
}

void trial_set_y(struct trial *t, double _Complex beta)
{
    memcpy(t->got, t->y0, (size_t)trial_bytes(t));
    for (int64_t i = 0; beta == 0 && i < t->n_y; i++)
        awkward_put(t->got, vector_type(t->A.value), i + GUARD, NAN);
    CHECK_OK(device_copy(&t->device, t->y, t->got, trial_bytes(t)));
    CHECK_OK(device_sync(&t->device));
}

/* y behind an exact product; NULL: there are too many pairs of scalars already. */
static const void *wanted(struct trial *t, struct scalars s)
{
    const heddle_type type = vector_type(t->A.value);
    for (int i = 0; i < SCALARS + 2; i++) {
        struct trial_want *w = &t->want[i];
        if (w->y && w->s.alpha == s.alpha && w->s.beta == s.beta)
            return w->y;
        if (w->y)
            continue;
        *w = (struct trial_want){s, mem_alloc(t->n_y, type_size(type))};
        for (int64_t k = 0; k < t->n_y; k++)
            awkward_put(w->y, type, k,
                        awkward_want(&t->exact[k], (struct awkward_scalars){s.alpha, s.beta},
                                     value_at(t->y0, type, k + GUARD)));
        return w->y;
    }
    return NULL;
}

int64_t trial_wrong(struct trial *t, struct scalars s, int exact)
{
    int64_t wrong = 0;
    const heddle_type type = vector_type(t->A.value);
    size_t guard = GUARD * type_size(type);
    const void *want = exact ? wanted(t, s) : NULL;
    if (!want || memcmp(trial_at(t, t->got, GUARD), want, (size_t)t->n_y * type_size(type)) != 0)
        for (int64_t i = 0; i < t->n_y; i++)
            wrong += !awkward_good(value_at(t->got, type, i + GUARD), &t->exact[i],
                                   (struct awkward_scalars){s.alpha, s.beta},
                                   value_at(t->y0, type, i + GUARD), type, exact);
    wrong += memcmp(t->got, t->y0, guard) != 0;
    wrong += memcmp(trial_at(t, t->got, t->n_y + GUARD), trial_at(t, t->y0, t->n_y + GUARD), guard) != 0;
    return wrong;
}

/* A kernel with options, one for other devices or operations, or one whose storage does not suit every
 * matrix; what is not stored by rows has other kernels. */
static int may_refuse(const struct trial *t)
{
    const struct kernel *k = kernel_by_name(t->kernel);
    return !k || k->device != t->device.kind || (t->op == HEDDLE_N && !(k->ops & OPS_N)) ||
           (k->format != FORMAT_csr && k->format != FORMAT_coo) || t->view.format != HEDDLE_CSR;
}

struct bound *trial_bind(struct trial *t)
{
    struct bound *b;
    heddle_status status = bound_new(&b, &t->device, t->kernel, &t->view, t->op);
    CHECK_THAT(status == HEDDLE_OK ||
                   (may_refuse(t) && status == HEDDLE_NO_KERNEL && !b && heddle_last_error()[0]),
               "%s on %s, '%s': %s (%s)", t->kernel, t->name, t->matrix, heddle_status_name(status),
               heddle_last_error());
    return b;
}

void trial_multiply(struct trial *t, struct bound *b, struct scalars s)
{
    trial_set_y(t, s.beta);
    CHECK_OK(bound_run(b, s, t->x, trial_at(t, t->y, GUARD)));
    CHECK_OK(device_read(&t->device, t->got, t->y, trial_bytes(t)));
}

const struct awkward *trial_matrix(const char *name)
{
    for (int i = 0; i < awkward_count; i++)
        if (strcmp(awkward[i].name, name) == 0)
            return &awkward[i];
    return NULL;
}

void trial_pair_new(struct trial_pair *p, const struct device *d, const char *name)
{
    CHECK_OK(awkward_make(&p->here, trial_matrix(name), HEDDLE_F64, HEDDLE_I32));
    p->there = (struct view){.format = HEDDLE_CSR};
    CHECK_OK(device_csr_upload(d, &p->there.csr, &p->here));
    CHECK_OK(look_new(&p->there.look, d, &p->there));
}

void trial_pair_free(struct trial_pair *p, const struct device *d)
{
    csr_free(&p->here);
    look_free(&p->there.look, d);
    device_csr_free(d, &p->there.csr);
}

struct view trial_as_coo(const struct device *d, const struct view *A)
{
    struct view v = {.format = HEDDLE_COO};
    void *row;
    CHECK_OK(device_alloc(d, &row, A->csr.nnz * 4));
    CHECK_OK(gpu_csr_to_coo(d, row, &A->csr));
    v.coo = (struct coo){A->csr.rows, A->csr.cols, A->csr.nnz, A->csr.value, row, A->csr.col, A->csr.val};
    return v;
}

void *trial_zeros(const struct device *d, int64_t n)
{
    void *p;
    CHECK_OK(device_alloc(d, &p, n * 8));
    CHECK_OK(device_fill(d, p, 0, n * 8));
    return p;
}

struct room trial_room_new(const struct device *d, const struct view *A)
{
    struct room room = immediate_room(d, A);
    room.workspace = trial_zeros(d, (room.workspace_bytes + 7) / 8);
    room.counters = trial_zeros(d, (room.counters_bytes + 7) / 8);
    return room;
}

void trial_room_free(const struct device *d, struct room *room)
{
    device_free(d, room->workspace);
    device_free(d, room->counters);
}

int64_t trial_wrong_entries(const struct device *d, const struct view *A, const struct csr *here,
                            heddle_op op, struct bound *b)
{
    int64_t n_x = op == HEDDLE_N ? here->cols : here->rows, n_y = op == HEDDLE_N ? here->rows : here->cols,
            count = 0;
    double *x = awkward_vector(n_x, HEDDLE_F64, 3, 1), *y = awkward_vector(n_y, HEDDLE_F64, 4, 1);
    struct exact *want = mem_alloc(n_y, sizeof *want);
    void *x_there = trial_zeros(d, n_x), *y_there = trial_zeros(d, n_y);
    const char *ran;
    struct scalars s = {.alpha = 2, .beta = -1};
    struct room room = trial_room_new(d, A);
    CHECK_OK(device_copy(d, x_there, x, n_x * 8));
    CHECK_OK(device_copy(d, y_there, y, n_y * 8));
    CHECK_OK(b ? bound_run(b, s, x_there, y_there)
               : immediate_run(d, A, op, s, x_there, y_there, &room, &ran));
    double *got = awkward_vector(n_y, HEDDLE_F64, 5, 1);
    CHECK_OK(device_read(d, got, y_there, n_y * 8));
    awkward_reference(want, here, op != HEDDLE_N, x);
    for (int64_t i = 0; i < n_y; i++)
        count +=
            !awkward_good(got[i], &want[i], (struct awkward_scalars){s.alpha, s.beta}, y[i], HEDDLE_F64, 1);
    device_free(d, x_there);
    device_free(d, y_there);
    trial_room_free(d, &room);
    mem_free(x);
    mem_free(y);
    mem_free(got);
    mem_free(want);
    return count;
}

/* ---- properties ---- */

void trial_products(struct trial *t, int exact, int pairs)
{
    struct bound *b = trial_bind(t);
    for (int i = 0; b && i < pairs; i++) {
        const struct scalars s = trial_scalars(t, i);
        trial_multiply(t, b, s);
        int64_t wrong = trial_wrong(t, s, exact);
        CHECK_THAT(
            wrong == 0,
            "%s on %s, '%s', op %d, type %s/%d, threads %d, isa %s, alpha %g, beta %g: %lld entries are "
            "wrong",
            t->kernel, t->name, t->matrix, t->op, value_name(t->A.value), t->A.offset, t->device.threads,
            isa_name(t->device.isa), (double)s.alpha, (double)s.beta, (long long)wrong);
    }
    bound_free(b);
}

/* The kernel's name, and option i with its j-th value; the others with their last, if `others` says so. */
static void spell(char *spec, size_t size, const char *name, const struct option *o, int i, int j, int others)
{
    int n = snprintf(spec, size, "%s", name);
    for (int k = 0; o[k].name; k++) {
        char value[OPTION_SPELLED];
        option_spell(value, &o[k], o[k].value[k == i ? j : o[k].count - 1]);
        if (k == i || others)
            n += snprintf(spec + n, size - (size_t)n, "%c%s=%s", strchr(spec, ':') ? ',' : ':', o[k].name,
                          value);
    }
}

void trial_options(struct trial *t, int pairs)
{
    const char *name = t->kernel;
    const struct option *o = kernel_options(kernel_by_name(name));
    const int several = o[0].name && o[1].name;
    for (int others = 0; others <= several; others++)
        for (int i = 0; o[i].name; i++)
            for (int j = 0; j < o[i].count; j++) {
                char spec[128];
                spell(spec, sizeof spec, name, o, i, j, others);
                t->kernel = spec;
                trial_products(t, 1, pairs);
            }
    t->kernel = name;
}

static void make_other(struct trial *t)
{
    const struct device *d = &t->device;
    struct csr transposed, there;
    struct coo entries;
    void *row = NULL;
    CHECK_OK(csr_transpose(&transposed, &t->A));
    CHECK_OK(coo_from_csr(&entries, &t->A));
    CHECK_OK(device_csr_upload(d, &there, &transposed));
    CHECK_OK(device_alloc(d, &row, (entries.nnz + 1) * (int64_t)sizeof *entries.row));
    CHECK_OK(device_copy(d, row, entries.row, entries.nnz * (int64_t)sizeof *entries.row));
    CHECK_OK(device_sync(d));
    t->other[0] = (struct view){.format = HEDDLE_CSC, .csr = there};
    t->other[1] = (struct view){.format = HEDDLE_COO,
                                .coo = {entries.rows, entries.cols, entries.nnz, entries.value, row,
                                        t->on_device.col, t->on_device.val}};
    csr_free(&transposed);
    coo_free(&entries);
}

void trial_other_storage(struct trial *t, int pairs)
{
    if (!t->other[1].coo.row)
        make_other(t);
    for (int i = 0; i < 2; i++) {
        t->view = t->other[i];
        trial_products(t, 1, pairs);
    }
    t->view = (struct view){.format = HEDDLE_CSR, .csr = t->on_device};
}

void trial_repeatable(struct trial *t)
{
    struct bound *b = kernel_by_name(t->kernel)->repeatable ? trial_bind(t) : NULL;
    void *first = mem_alloc(trial_bytes(t), 1);
    for (int i = 0; b && i < 3; i++) {
        trial_multiply(t, b, (struct scalars){.alpha = 1.5, .beta = 0.25});
        if (i == 0)
            memcpy(first, t->got, (size_t)trial_bytes(t));
        CHECK_THAT(memcmp(first, t->got, (size_t)trial_bytes(t)) == 0, "%s, '%s' differs from run to run",
                   t->kernel, t->matrix);
    }
    mem_free(first);
    bound_free(b);
}

void trial_inputs_not_read(struct trial *t)
{
    struct bound *b = trial_bind(t);
    if (b) {
        trial_set_y(t, 2);
        CHECK_OK(bound_run(b, (struct scalars){.beta = 2}, (void *)(uintptr_t)8, trial_at(t, t->y, GUARD)));
        CHECK_OK(device_read(&t->device, t->got, t->y, trial_bytes(t)));
        CHECK_THAT(trial_wrong(t, (struct scalars){.beta = 2}, 1) == 0, "%s, '%s': alpha = 0", t->kernel,
                   t->matrix);
    }
    bound_free(b);
}

/* Puts one number into an array here and into the same on the device. */
static void poke(struct trial *t, void *here, void *there, heddle_type type, int64_t i, double _Complex value)
{
    const int64_t size = (int64_t)type_size(type);
    awkward_put(here, type, i, value);
    CHECK_OK(device_copy(&t->device, (char *)there + i * size, (char *)here + i * size, size));
    CHECK_OK(device_sync(&t->device));
}

/* What is real is as IEEE arithmetic has it.  Of complex products the parts mix, in an order that is the
 * kernel's: where one is not finite, one of the result is not. */
static int is_special_as(double _Complex got, const struct exact *want, heddle_type type)
{
    const double re = (double)want->sum, im = (double)want->imaginary;
    if (!is_complex(type))
        return isnan(re) ? isnan(__real__ got) : __real__ got == re;
    if (isfinite(re) && isfinite(im))
        return __real__ got == re && __imag__ got == im;
    return !isfinite(__real__ got) || !isfinite(__imag__ got);
}

void trial_specials(struct trial *t)
{
    if (t->A.nnz == 0)
        return;
    uint64_t random = (uint64_t)t->A.nnz;
    const heddle_type type = vector_type(t->A.value);
    const int64_t bad[2][2] = {{0, (int64_t)(test_random(&random) % (uint64_t)t->n_x)},
                               {t->n_x - 1, t->n_x / 2}};
    const int64_t bad_k = t->A.nnz / 3;
    double _Complex x_before[2], val_before = value_at(t->A.val, t->A.value, bad_k);
    poke(t, t->A.val, t->on_device.val, t->A.value, bad_k, NAN);
    struct bound *b = trial_bind(t);
    for (int i = 0; b && i < 2; i++) {
        int64_t wrong = 0;
        for (int k = 0; k < 2; k++) {
            x_before[k] = value_at(t->x_here, type, bad[i][k]);
            poke(t, t->x_here, t->x, type, bad[i][k], k ? NAN : INFINITY);
        }
        if (!t->special[i]) {
            t->special[i] = mem_alloc(t->n_y, sizeof *t->special[i]);
            awkward_reference(t->special[i], &t->A, t->op, t->x_here);
        }
        trial_multiply(t, b, (struct scalars){.alpha = 1});
        for (int64_t k = 0; k < t->n_y; k++)
            wrong += !is_special_as(value_at(t->got, type, k + GUARD), &t->special[i][k], type);
        CHECK_THAT(wrong == 0, "%s, '%s', op %d: Inf at x[%lld] and NaN at x[%lld] are in %lld wrong entries",
                   t->kernel, t->matrix, t->op, (long long)bad[i][0], (long long)bad[i][1], (long long)wrong);
        for (int k = 1; k >= 0; k--) /* the two may be one */
            poke(t, t->x_here, t->x, type, bad[i][k], x_before[k]);
    }
    bound_free(b);
    poke(t, t->A.val, t->on_device.val, t->A.value, bad_k, val_before);
}

#define SHIFTED 4 /* arrays of a trial */

/* Room for `bytes` bytes up to the end of a page, behind which nobody may read: the same for all trials, one
 * for each `which`. */
static void *at_the_edge(int which, int64_t bytes)
{
    static struct {
        char *end;
        int64_t bytes;
    } room[SHIFTED];
    const int64_t page = sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
    if (!room[which].end || whole > room[which].bytes) {
        char *p =
            mmap(NULL, (size_t)(whole + page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED || mprotect(p + whole, (size_t)page, PROT_NONE) != 0)
            abort();
        if (room[which].end)
            munmap(room[which].end - room[which].bytes, (size_t)(room[which].bytes + page));
        room[which].end = p + whole;
        room[which].bytes = whole;
    }
    return room[which].end - bytes;
}

/* A copy of an array of elements of `by` bytes: on a GPU it begins one element behind what alloc gives, which
 * is *base; on a CPU it ends where a page does, and *base is NULL. */
static void *shifted(struct trial *t, int which, void **base, const void *here, int64_t bytes, int64_t by)
{
    *base = NULL;
    if (t->device.kind == DEVICE_gpu)
        CHECK_OK(device_alloc(&t->device, base, bytes + by));
    void *p = *base ? (char *)*base + by : at_the_edge(which, bytes);
    CHECK_OK(device_copy(&t->device, p, here, bytes));
    return p;
}

void trial_unaligned(struct trial *t, int pairs)
{
    int64_t size = (int64_t)type_size(t->A.value), offset = (int64_t)type_size(t->A.offset),
            entry = (int64_t)vector_size(t->A.value);
    void *base[SHIFTED], *x = t->x;
    t->view.csr.val = shifted(t, 0, &base[0], t->A.val, t->A.nnz * size, size);
    t->view.csr.col = shifted(t, 1, &base[1], t->A.col, t->A.nnz * 4, 4);
    t->view.csr.row_ptr = shifted(t, 2, &base[2], t->A.row_ptr, (t->A.rows + 1) * offset, offset);
    t->x = shifted(t, 3, &base[3], t->x_here, t->n_x * entry, entry);
    CHECK_OK(device_sync(&t->device));
    trial_products(t, 1, pairs);
    for (int i = 0; i < SHIFTED; i++)
        device_free(&t->device, base[i]);
    t->view.csr = t->on_device;
    t->x = x;
}
