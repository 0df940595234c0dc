/* SPDX-License-Identifier: MIT
 *
 * Where threads meet.  Whoever comes last finds everyone waiting, checks that all came to the same line,
 * works out what each of them gets, and makes them ready.  A thread that can never be joined by all it
 * waits for is an error, found when
 *   - one of those has left the kernel (before or after it began to wait),
 *   - all of them wait, but not at the same line,
 *   - nobody can run any more. */
#include "gpu/emu_global.h"
#include <stdatomic.h>

#include <stdio.h>
#include <string.h>

static const char *const op_names[] = {
    [EMU_SYNC] = "barrier",
    [EMU_WAVE_SYNC] = "wave sync",
    [EMU_SHFL] = "shuffle",
    [EMU_SHFL_UP] = "shuffle up",
    [EMU_SHFL_DOWN] = "shuffle down",
    [EMU_SHFL_XOR] = "shuffle xor",
    [EMU_FOLD] = "reduction",
    [EMU_BALLOT] = "ballot",
    [EMU_ANY] = "any",
    [EMU_ALL] = "all",
};

const char *emu_file(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int in_helper(const struct emu_wait *wait)
{
    return strstr(wait->site, "/collective_") != NULL && wait->caller != NULL;
}

/* "the barrier at page.c:12", "the shuffle at collective_of.h:15, called at page.c:30" */
static const char *place_text(char text[160], const struct emu_wait *wait)
{
    if (in_helper(wait))
        snprintf(text, 160, "%s at %.40s, called at %.80s,", op_names[wait->op], emu_file(wait->site),
                 emu_file(wait->caller));
    else
        snprintf(text, 160, "%s at %.120s", op_names[wait->op], emu_file(wait->site));
    return text;
}

/* `waiter` waits for `missing`, in vain. */
static _Noreturn void missed(struct emu_worker *w, int waiter, int missing)
{
    const struct emu_wave *wave = &w->wave[w->thread[missing].wave];
    char here[160], there[160];
    place_text(here, &w->wait[waiter]);
    if (wave->exited >> w->thread[missing].lane & 1)
        emu_stop(w, waiter, "divergent %s: thread %d has left the kernel", here, missing);
    emu_stop(w, waiter, "divergent %s: thread %d is at the %s", here, missing,
             place_text(there, &w->wait[missing]));
}

static int same_text(const char *a, const char *b)
{
    /* One line can be two texts, where a page's macro or header is compiled twice. */
    return a == b || (a && b && strcmp(a, b) == 0);
}

static inline int same_place(const struct emu_wait *a, const struct emu_wait *b)
{
    if (a->op == b->op && a->site == b->site && a->caller == b->caller)
        return 1; /* nearly always, without a look at the texts */
    return a->op == b->op && same_text(a->site, b->site) &&
           (same_text(a->caller, b->caller) || !in_helper(a));
}

void emu_left(struct emu_worker *w, int thread)
{
    const struct emu_thread *t = &w->thread[thread];
    struct emu_wave *wave = &w->wave[t->wave];
    wave->exited |= (uint64_t)1 << t->lane;
    w->live--;
    if (w->at_barrier > 0)
        missed(w, w->first_at_barrier, thread);
    for (uint64_t lanes = wave->waiting; lanes; lanes &= lanes - 1) {
        int waiter = t->wave * w->width + __builtin_ctzll(lanes);
        if (w->wait[waiter].group >> t->lane & 1)
            missed(w, waiter, thread);
    }
}

/* Everyone waits.  Names a lane that waits for its wave, and one of those that did not come; if there is
 * none, then all are at barriers, whose lines are compared as they come. */
_Noreturn void emu_deadlock(struct emu_worker *w)
{
    for (int i = 0; i < w->view.size; i++) {
        const struct emu_wait *wait = &w->wait[i];
        if (wait->op == EMU_SYNC || !(w->wave[w->thread[i].wave].waiting >> w->thread[i].lane & 1))
            continue;
        for (uint64_t lanes = wait->group; lanes; lanes &= lanes - 1) {
            int other = w->thread[i].wave * w->width + __builtin_ctzll(lanes);
            if (w->wait[other].group != wait->group || !same_place(wait, &w->wait[other]))
                missed(w, i, other);
        }
    }
    emu_stop(w, 0, "no thread can go on: please report this as a defect of the emulator");
}

/* -------------------------------------------------------- the block --------------------------- */

static void release_all(struct emu_worker *w, const struct emu_thread *but)
{
    for (int i = 0; i < w->waves; i++) {
        w->wave[i].ready = w->wave[i].waiting;
        w->wave[i].waiting = 0;
    }
    w->wave[but->wave].ready &= ~((uint64_t)1 << but->lane);
    w->at_barrier = 0;
    w->period++;
    if (w->watch)
        emu_watch_barrier(w);
}

/* The lowest thread that has left. */
static int first_exited(const struct emu_worker *w)
{
    int i = 0;
    while (!(w->wave[w->thread[i].wave].exited >> w->thread[i].lane & 1))
        i++;
    return i;
}

void emu_sync(const char *site)
{
    const struct emu_thread *self = emu_now;
    struct emu_worker *w = emu_worker_now();
    struct emu_wait *wait = &w->wait[self->thread];
    wait->site = site;
    wait->caller = self->caller;
    wait->op = EMU_SYNC;
    wait->group = 0;
    w->wave[self->wave].waiting |= (uint64_t)1 << self->lane;
    if (w->at_barrier == 0)
        w->first_at_barrier = self->thread;
    else if (!same_place(wait, &w->wait[w->first_at_barrier]))
        missed(w, w->first_at_barrier, self->thread);
    if (w->live < w->view.size)
        missed(w, self->thread, first_exited(w));
    if (++w->at_barrier == w->view.size)
        release_all(w, self);
    else
        emu_wait(w);
}

/* -------------------------------------------------------- a wave ------------------------------ */

/* The values lie on the stacks of those who wait. */
static void fold_all(struct emu_wait *first, uint64_t group)
{
    void *value[64];
    int lanes = 0;
    for (uint64_t left = group; left; left &= left - 1)
        value[lanes++] = (void *)(uintptr_t)first[__builtin_ctzll(left)].in;
    first[__builtin_ctzll(group)].fold(value, lanes);
}

/* Everyone of the group waits: what does each get? */
static void exchange(struct emu_wave *wave, struct emu_wait *first, uint64_t group)
{
    enum emu_op op = first[__builtin_ctzll(group)].op;
    uint64_t ballot = 0;
    if (op == EMU_FOLD) {
        fold_all(first, group);
        return;
    }
    for (uint64_t lanes = group; lanes; lanes &= lanes - 1)
        ballot |= (first[__builtin_ctzll(lanes)].in & 1) << __builtin_ctzll(lanes);
    uint64_t vote = op == EMU_BALLOT ? ballot : op == EMU_ANY ? ballot != 0 : ballot == group;
    for (uint64_t lanes = group; lanes; lanes &= lanes - 1) {
        struct emu_wait *wait = &first[__builtin_ctzll(lanes)];
        wait->out = op >= EMU_BALLOT ? vote : first[wait->source].in;
    }
    if (op == EMU_WAVE_SYNC)
        wave->syncs++;
}

/* The thread has said in its wait what it wants; returns what it gets. */
static uint64_t meet(struct emu_worker *w, const struct emu_thread *self, struct emu_wait *wait)
{
    struct emu_wave *wave = &w->wave[self->wave];
    struct emu_wait *first = wait - self->lane; /* of the wave */
    int base = self->thread - self->lane;
    uint64_t group = wait->group;
    if (wave->exited & group)
        missed(w, self->thread, base + __builtin_ctzll(wave->exited & group));
    wave->waiting |= (uint64_t)1 << self->lane;
    if ((wave->waiting & group) != group) {
        emu_wait(w);
        return wait->out;
    }
    for (uint64_t lanes = group; lanes; lanes &= lanes - 1) {
        int lane = __builtin_ctzll(lanes);
        if (first[lane].group != group || !same_place(wait, &first[lane]))
            missed(w, self->thread, base + lane);
    }
    exchange(wave, first, group);
    wave->waiting &= ~group;
    wave->ready |= group & ~((uint64_t)1 << self->lane);
    return wait->out;
}

static inline struct emu_wait *come(struct emu_worker *w, const struct emu_thread *self, const char *site,
                                    enum emu_op op, uint64_t in)
{
    struct emu_wait *wait = &w->wait[self->thread];
    wait->site = site;
    wait->caller = self->caller;
    wait->op = op;
    wait->in = in;
    wait->source = self->lane;
    wait->group = w->wave[self->wave].exists;
    return wait;
}

void emu_wave_sync(const char *site)
{
    const struct emu_thread *self = emu_now;
    struct emu_worker *w = emu_worker_now();
    meet(w, self, come(w, self, site, EMU_WAVE_SYNC, 0));
}

uint64_t emu_vote(const char *site, enum emu_op op, int condition)
{
    const struct emu_thread *self = emu_now;
    struct emu_worker *w = emu_worker_now();
    return meet(w, self, come(w, self, site, op, (uint64_t)condition));
}

/* The lane that a shuffle reads; one's own where the group has no such lane. */
static int source_of(enum emu_op op, int lane, int by, int lanes)
{
    int begin = lane & -lanes, place = lane & (lanes - 1);
    switch (op) {
    case EMU_SHFL_UP:
        return by <= place ? lane - by : lane;
    case EMU_SHFL_DOWN:
        return by < lanes - place ? lane + by : lane;
    case EMU_SHFL_XOR:
        return begin + ((place ^ by) & (lanes - 1));
    default:
        return begin + (by & (lanes - 1));
    }
}

void emu_fence(void)
{
    struct emu_worker *w = emu_worker_now();
    if (w->watch)
        emu_watch_fence(w);
    atomic_thread_fence(memory_order_seq_cst);
}

void emu_after_previous(void)
{
    struct emu_worker *w = emu_worker_now();
    if (w->watch)
        emu_watch_previous(w);
}

/* Only the lanes of its group need come. */
static void join_group(struct emu_worker *w, const struct emu_thread *self, struct emu_wait *wait, int lanes)
{
    if (lanes < 1 || lanes > w->width || (lanes & (lanes - 1)) != 0)
        emu_stop(w, self->thread, "%s at %s among %d lanes: not a power of two up to the wave's %d",
                 op_names[wait->op], emu_file(wait->site), lanes, w->width);
    wait->group &= ~(uint64_t)0 >> (64 - lanes) << (self->lane & -lanes);
}

void emu_together(const char *site, void *value, int lanes, emu_fold *fold)
{
    const struct emu_thread *self = emu_now;
    struct emu_worker *w = emu_worker_now();
    struct emu_wait *wait = come(w, self, site, EMU_FOLD, (uint64_t)(uintptr_t)value);
    join_group(w, self, wait, lanes);
    wait->fold = fold;
    if (__builtin_popcountll(wait->group) < lanes)
        emu_stop(w, self->thread, "%s at %s among %d lanes of a wave that has %d", op_names[EMU_FOLD],
                 emu_file(site), lanes, __builtin_popcountll(w->wave[self->wave].exists));
    meet(w, self, wait);
}

uint64_t emu_shuffle(const char *site, enum emu_op op, uint64_t bits, int by, int lanes)
{
    const struct emu_thread *self = emu_now;
    struct emu_worker *w = emu_worker_now();
    struct emu_wait *wait = come(w, self, site, op, bits);
    join_group(w, self, wait, lanes);
    if (by < 0 || (op == EMU_SHFL_XOR && by >= lanes))
        emu_stop(w, self->thread, "%s by %d at %s among %d lanes", op_names[op], by, emu_file(site), lanes);
    wait->source = source_of(op, self->lane, by, lanes);
    if (!(wait->group >> wait->source & 1))
        emu_stop(w, self->thread, "%s at %s reads lane %d of a wave that has %d", op_names[op],
                 emu_file(site), wait->source, __builtin_popcountll(w->wave[self->wave].exists));
    return meet(w, self, wait);
}
