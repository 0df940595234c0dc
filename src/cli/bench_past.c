/* SPDX-License-Identifier: MIT
 *
 * A bench that goes on: what its file of records holds is not measured again. */
#include <string.h>
#include <sys/stat.h>

#include "cli/benching.h"

/* Whatever is in the file stays there unless all of it are records: a name that was mistaken must not cost
 * a matrix. */
heddle_status benching_records(struct benching *k, const char *path, int fresh)
{
    heddle_status status = HEDDLE_OK;
    struct stat info;
    if (stat(path, &info) == 0 && S_ISREG(info.st_mode)) {
        TRY(past_read(&k->past, path));
        if (k->past.foreign > 0)
            TRY(fail(HEDDLE_BAD_FILE,
                     "%.400s:%lld: this is no record of heddle bench, so nothing is added to the file or "
                     "taken from "
                     "it; name another file",
                     path, (long long)k->past.foreign));
        if (fresh)
            past_free(&k->past);
    }
    k->to_file = 1;
    TRY(output_grow(&k->file, path, k->past.whole));
done:
    return status;
}

/* The earlier record of a run by this version on this device, or NULL. */
static const struct past_run *before(const struct benching *k, const struct run *r)
{
    const struct device *d = r->device;
    int gpu = d->kind == DEVICE_gpu;
    struct past_run what = {.device = gpu ? gpu_info_of(d->gpu)->name : "cpu",
                            .isa = gpu ? gpu_info_of(d->gpu)->arch : isa_name(d->isa),
                            .threads = d->threads,
                            .origin = r->subject->origin,
                            .kernel = r->kernel,
                            .value = r->value,
                            .op = r->op,
                            .vectors = r->vectors};
    const struct past_run *found = past_find(&k->past, &what);
    if (!found || strcmp(found->version, heddle_version()) != 0)
        return NULL;
    int lacks_cold = k->bench.cold.most > 0 && found->verified && found->cold.repetitions == 0;
    return lacks_cold ? NULL : found;
}

int benching_known(void *argument, const struct run *r)
{
    const struct benching *k = argument;
    return r->kernel ? before(k, r) != NULL : past_describes(&k->past, r->subject->origin);
}

heddle_status benching_take_over(struct benching *k)
{
    heddle_status status = HEDDLE_OK;
    struct bench *b = &k->bench;
    const int choices = bench_vectors(b);
    int64_t per_matrix = (int64_t)b->type_count * b->op_count * choices * b->kernels.count;
    for (int64_t i = 0; i < k->list.count * per_matrix; i++) {
        const struct subject *subject = &k->list.item[i / per_matrix];
        int kernel = (int)(i % b->kernels.count), vectors = (int)(i / b->kernels.count % choices);
        int op = (int)(i / b->kernels.count / choices % b->op_count);
        int type = (int)(i / b->kernels.count / choices / b->op_count % b->type_count);
        struct run r = {.subject = subject,
                        .device = &b->h->device,
                        .kernel = b->kernels.name[kernel],
                        .op = b->op[op],
                        .vectors = b->vectors[vectors],
                        .value = b->type[type]};
        const struct past_run *p = bench_has(r.value, r.op) ? before(k, &r) : NULL;
        if (!p)
            continue;
        k->kept++;
        k->done++;
        k->verified += p->verified;
        k->skipped += p->skipped;
        k->wrong += !p->verified && !p->skipped;
        if (k->brief)
            benching_brief_add(k, &r, p->verified ? p->warm.median_ms : 0);
        if (k->twins && p->verified)
            TRY(benching_price(k, &r, p->cold.repetitions > 0 ? p->cold.median_ms : p->warm.median_ms));
        if (k->peers && p->verified)
            TRY(versus_add(&k->versus, subject, r.kernel, r.value, r.op, r.vectors,
                           p->cold.repetitions > 0 ? p->cold.median_ms : p->warm.median_ms));
    }
done:
    return status;
}
