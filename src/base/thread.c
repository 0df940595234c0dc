/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/thread.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/timer.h"

/* -------------------------------------------------------- waiting ----------------------------- */

/* A number that one thread changes and others wait for.  They look at it for a while, because products
 * follow one another within microseconds and a thread that sleeps takes tens of them to wake up; then they
 * sleep. */
struct signal {
    atomic_uint value;
    atomic_int sleepers;
};

#define SPIN_MS 0.05 /* about what it takes to wake up */
#define LOOKS 32     /* between two looks at the clock */

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile(
        "isb" ::
            : "memory"); /* about as long as a pause of x86; yield is over at once on most cores */
#endif
}

/* Waits until the value is another than `old`. */
static void wait_for_change(struct signal *s, unsigned old, int spins)
{
    double begin = spins ? now_ms() : 0;
    do {
        for (int i = 0; i < LOOKS; i++) {
            if (atomic_load_explicit(&s->value, memory_order_acquire) != old)
                return;
            relax();
        }
    } while (spins && now_ms() - begin < SPIN_MS);
    /* Who changes the value looks for sleepers afterwards, and the system looks at the value once more
     * before it lets one sleep: one of the two sees the other. */
    atomic_fetch_add(&s->sleepers, 1);
    while (atomic_load(&s->value) == old)
        syscall(SYS_futex, &s->value, FUTEX_WAIT_PRIVATE, old, NULL, NULL, 0);
    atomic_fetch_sub(&s->sleepers, 1);
}

static void signal_change(struct signal *s)
{
    atomic_fetch_add(&s->value, 1);
    if (atomic_load(&s->sleepers) > 0)
        syscall(SYS_futex, &s->value, FUTEX_WAKE_PRIVATE, THREADS_MOST, NULL, NULL, 0);
}

/* -------------------------------------------------------- workers ----------------------------- */

/* What the threads of a team have in common; on the stack of the one that called team_run, who is the last
 * to leave. */
struct crew {
    team_work *work;
    void *argument;
    int threads;
    int spins;            /* there is a processor for each thread: waiting may look, not sleep */
    atomic_int arrived;   /* at the barrier */
    struct signal passed; /* counts barriers */
};

/* Two lines of the cache: what the caller writes, and what the worker does. */
struct worker {
    _Alignas(64) struct signal given; /* counts jobs */
    struct crew *crew;                /* of the last job */
    struct worker *next;              /* of the same team */
    int thread;                       /* in the team */
    int taken;                        /* by a team; guarded by the pool's lock */
    _Alignas(64) struct signal done;  /* counts jobs: as many as were given, or one less */
};

/* All workers of the process.  There are at most as many as the largest team has asked for, or one fewer
 * than there are processors: teams that run at the same time share them, and do with fewer threads instead
 * of getting into each other's way. */
static struct {
    pthread_mutex_t lock; /* guards everything below */
    int workers;          /* made so far */
    int most;             /* to be made */
    int refused;          /* the system would not make another: it is not asked again */
    int active;           /* threads of all teams that run now */
    int processors;       /* 0: not looked at yet */
    struct worker worker[THREADS_MOST];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local int in_team;

static int processors(void)
{
    cpu_set_t set;
    int n =
        sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n;
}

int threads_default(void)
{
    const char *text = environment("OMP_NUM_THREADS");
    long n = text ? strtol(text, NULL, 10) : 0;
    return n < 1 ? processors() : n > THREADS_MOST ? THREADS_MOST : (int)n;
}

static void *serve(void *argument)
{
    struct worker *w = argument;
    unsigned seen = 0;
    int spins = 0;
    in_team = 1;
    for (;;) {
        wait_for_change(&w->given, seen, spins);
        seen++;
        spins = w->crew->spins;
        w->crew->work(w->crew->argument, &(struct team){w->thread, w->crew->threads, w->crew});
        signal_change(&w->done);
    }
    return NULL;
}

/* A child after fork has the memory of the workers, but not the workers.  The lock is held across the
 * fork, so that all of this is whole. */
static void before_fork(void)
{
    pthread_mutex_lock(&pool.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&pool.lock);
}

static void after_fork_in_child(void)
{
    pool.workers = pool.refused = pool.active = pool.processors = 0;
    pthread_mutex_unlock(&pool.lock);
}

static void start_pool(void)
{
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* No work needs more.  Where addresses are limited (ulimit -v), stacks leave most of them to matrices. */
#define STACK_BYTES (1 << 20)
#define STACKS_SHARE 8

static int most_stacks(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur / STACKS_SHARE / STACK_BYTES >= THREADS_MOST)
        return THREADS_MOST;
    return (int)(limit.rlim_cur / STACKS_SHARE / STACK_BYTES);
}

/* Signals are for the threads of the program, but for those that say what the thread itself did wrong. */
static int create(struct worker *w)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0)
        return 0;
    sigfillset(&all);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(&all, own[i]);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    *w = (struct worker){.thread = 0};
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&thread, &attributes, serve, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return code == 0;
}

/* Called with the lock held: the first worker at or behind `from` that nobody has, or a new one; the
 * number of workers when there is none.  The lowest first, so that a team's threads are the same each
 * time, and find near them what they have written. */
static int free_worker(int from)
{
    while (from < pool.workers && pool.worker[from].taken)
        from++;
    if (from == pool.workers && from < pool.most && !pool.refused) {
        pool.refused = from >= most_stacks() || !create(&pool.worker[from]);
        pool.workers += !pool.refused;
    }
    return from;
}

static struct worker *take_workers(struct crew *crew, int wanted)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct worker *first = NULL, **last = &first;
    pthread_once(&once, start_pool);
    pthread_mutex_lock(&pool.lock);
    if (!pool.processors) {
        pool.processors = processors();
        pool.most = pool.most < pool.processors - 1 ? pool.processors - 1 : pool.most;
    }
    pool.most = pool.most < wanted ? wanted : pool.most;
    for (int i = free_worker(0); i < pool.workers && crew->threads <= wanted; i = free_worker(i + 1)) {
        struct worker *w = *last = &pool.worker[i];
        w->taken = 1;
        w->crew = crew;
        w->thread = crew->threads++;
        w->next = NULL;
        last = &w->next;
    }
    pool.active += crew->threads;
    crew->spins = pool.active <= pool.processors;
    pthread_mutex_unlock(&pool.lock);
    return first;
}

static void give_workers_back(const struct crew *crew, struct worker *first)
{
    pthread_mutex_lock(&pool.lock);
    for (struct worker *w = first; w; w = w->next)
        w->taken = 0;
    pool.active -= crew->threads;
    pthread_mutex_unlock(&pool.lock);
}

/* -------------------------------------------------------- teams ------------------------------- */

void team_run(int threads, team_work *work, void *argument)
{
    if (threads <= 1 || in_team) {
        work(argument, &(struct team){0, 1, NULL});
        return;
    }
    struct crew crew = {.work = work, .argument = argument, .threads = 1};
    struct worker *first = take_workers(&crew, (threads < THREADS_MOST ? threads : THREADS_MOST) - 1);
    for (struct worker *w = first; w; w = w->next)
        signal_change(&w->given);
    in_team = 1;
    work(argument, &(struct team){0, crew.threads, &crew});
    in_team = 0;
    for (struct worker *w = first; w; w = w->next)
        wait_for_change(&w->done, atomic_load(&w->given.value) - 1, crew.spins);
    give_workers_back(&crew, first);
}

void team_barrier(const struct team *team)
{
    struct crew *crew = team->crew;
    if (team->threads <= 1)
        return;
    unsigned round = atomic_load(&crew->passed.value);
    if (atomic_fetch_add(&crew->arrived, 1) == team->threads - 1) {
        atomic_store(&crew->arrived, 0);
        signal_change(&crew->passed);
    } else {
        wait_for_change(&crew->passed, round, crew->spins);
    }
}

struct parts {
    part_work *work;
    void *argument;
    int parts;
    atomic_int next; /* the first part that nobody has taken */
};

static void take_parts(void *argument, const struct team *team)
{
    struct parts *p = argument;
    (void)team;
    for (int part; (part = atomic_fetch_add(&p->next, 1)) < p->parts;)
        p->work(p->argument, part);
}

void parts_run(int parts, part_work *work, void *argument)
{
    struct parts p = {work, argument, parts, 0};
    int threads = threads_default();
    team_run(threads < parts ? threads : parts, take_parts, &p);
}
