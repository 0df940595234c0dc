/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "base/thread.h"

#include <sched.h>
#include <stdatomic.h>

#include "base/environment.h"

static int processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n < 1 ? 1 : n;
}

#ifdef _OPENMP

#include <omp.h>

int threads_default(void)
{
    int n = omp_get_max_threads();
    return n < 1 ? processors() : n > THREADS_MOST ? THREADS_MOST : n;
}

const char *threads_backend(void)
{
    return _OPENMP >= 202011 ? "OpenMP 5.1" : _OPENMP >= 201811 ? "OpenMP 5.0" : "OpenMP 4.5";
}

void team_run(int threads, team_work *work, void *argument)
{
    if (threads <= 1 || omp_in_parallel()) {
        work(argument, &(struct team){0, 1});
        return;
    }
#pragma omp parallel num_threads(threads)
    {
        struct team team = {omp_get_thread_num(), omp_get_num_threads()};
        work(argument, &team);
    }
}

void team_barrier(const struct team *team)
{
    if (team->threads > 1) {
#pragma omp barrier
    }
}

#else

#include <pthread.h>
#include <stdlib.h>

/* A pool that grows to the largest team ever asked for.  One team runs at a time: a second caller waits for its turn,
 * so that a barrier always has its threads.  The workers sleep between teams and end with the process. */
static struct {
    pthread_mutex_t turn;  /* held by the thread whose team is running */
    pthread_mutex_t lock;  /* guards everything below */
    pthread_cond_t start, finished, passed;
    int workers;           /* threads created, the caller not counted */
    int threads;           /* of the running team */
    int running;           /* workers of the team that have not finished */
    int waiting;           /* threads that have come to the barrier */
    unsigned long round;   /* counts barriers */
    unsigned long job;     /* counts teams */
    team_work *work;
    void *argument;
} pool = {.turn = PTHREAD_MUTEX_INITIALIZER,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .start = PTHREAD_COND_INITIALIZER,
          .finished = PTHREAD_COND_INITIALIZER,
          .passed = PTHREAD_COND_INITIALIZER};

static _Thread_local int in_team;

static void *worker(void *number)
{
    int self = (int)(intptr_t)number;
    unsigned long seen = 0;
    in_team = 1;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.job == seen || self >= pool.threads) {
            seen = pool.job;
            pthread_cond_wait(&pool.start, &pool.lock);
        }
        seen = pool.job;
        struct team team = {self, pool.threads};
        team_work *work = pool.work;
        void *argument = pool.argument;
        pthread_mutex_unlock(&pool.lock);
        work(argument, &team);
        pthread_mutex_lock(&pool.lock);
        if (--pool.running == 0)
            pthread_cond_signal(&pool.finished);
    }
    return NULL;
}

/* Called with the lock held: as many workers as the system grants, up to `wanted`. */
static int grow(int wanted)
{
    while (pool.workers < wanted) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, worker, (void *)(intptr_t)(pool.workers + 1)) != 0)
            break;
        pthread_detach(thread);
        pool.workers++;
    }
    return pool.workers < wanted ? pool.workers : wanted;
}

int threads_default(void)
{
    const char *text = environment("OMP_NUM_THREADS");
    long n = text ? strtol(text, NULL, 10) : 0;
    return n >= 1 && n <= THREADS_MOST ? (int)n : processors();
}

const char *threads_backend(void)
{
    return "POSIX threads";
}

void team_run(int threads, team_work *work, void *argument)
{
    if (threads <= 1 || in_team) {
        work(argument, &(struct team){0, 1});
        return;
    }
    pthread_mutex_lock(&pool.turn);
    pthread_mutex_lock(&pool.lock);
    pool.running = grow(threads - 1);
    pool.threads = pool.running + 1;
    pool.work = work;
    pool.argument = argument;
    pool.job++;
    struct team team = {0, pool.threads};
    pthread_cond_broadcast(&pool.start);
    pthread_mutex_unlock(&pool.lock);
    in_team = 1;
    work(argument, &team);
    in_team = 0;
    pthread_mutex_lock(&pool.lock);
    while (pool.running > 0)
        pthread_cond_wait(&pool.finished, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
    pthread_mutex_unlock(&pool.turn);
}

void team_barrier(const struct team *team)
{
    if (team->threads <= 1)
        return;
    pthread_mutex_lock(&pool.lock);
    unsigned long round = pool.round;
    if (++pool.waiting == team->threads) {
        pool.waiting = 0;
        pool.round++;
        pthread_cond_broadcast(&pool.passed);
    } else {
        while (pool.round == round)
            pthread_cond_wait(&pool.passed, &pool.lock);
    }
    pthread_mutex_unlock(&pool.lock);
}

#endif

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
