/* SPDX-License-Identifier: MIT
 *
 * scattered.c: rows whose lengths follow a profile and whose columns are drawn at random: anywhere, around
 * the diagonal, around a slanted line (least squares), or where many others are too (power laws). */
#include "gen/families.h"

/* One rule serves all of them. */
struct scattered {
    struct scatter rule;
    const struct profile *profile;
    int64_t rows, cols;
    uint64_t seed;
};

static int64_t scatter_length(const void *self, int64_t row)
{
    const struct scattered *s = self;
    return profile_length(s->profile, row);
}

static int64_t wish_far(const struct scattered *s, struct random *r)
{
    if (!s->rule.popular)
        return random_below(r, s->cols);
    uint64_t u = random_next(r) >> 43, cube = u * u * u >> 32; /* u has 21 bits, its cube 63 */
    return (int64_t)((cube * (uint64_t)s->cols) >> 31);
}

static int64_t scatter_place(const void *self, int64_t row, int64_t length, int32_t *col)
{
    const struct scattered *s = self;
    struct random r = random_for(s->seed, row);
    int64_t own = s->rows == s->cols ? row : row * s->cols / s->rows, far = s->rule.far;
    for (int64_t k = 0; k < length; k++) {
        int64_t wish = far == 100 || (far > 0 && random_percent(&r, far))
                         ? wish_far(s, &r)
                         : own + (k % 3 - 1) * s->rule.strip + random_normal(&r, s->rule.sigma);
        col[k] = reflect(wish, s->cols);
    }
    sort_columns(col, length);
    settle(col, length, s->cols);
    return length;
}

heddle_status build_scatter(struct csr *A, const struct scatter *rule, const struct options *o,
                            const struct profile *profile, heddle_type value)
{
    struct scattered s = {*rule, profile, o->rows, o->cols, (uint64_t)o->seed};
    struct maker m = {.rows = o->rows, .cols = o->cols, .seed = s.seed, .value = value, .self = &s};
    m.length = scatter_length;
    m.place = scatter_place;
    return build(A, &m);
}

static heddle_status make_scatter(struct csr *A, struct spec *spec, heddle_type value,
                                  const struct scatter *rule, const struct options *o,
                                  const struct profile_wish *wish)
{
    heddle_status status = HEDDLE_OK;
    struct profile profile = {0};
    TRY(no_more_keys(spec));
    TRY(family_profile(&profile, wish, spec));
    TRY(build_scatter(A, rule, o, &profile, value));
done:
    profile_free(&profile);
    return status;
}

heddle_status make_random(struct csr *A, struct spec *spec, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct options o = {.n = 10000, .mean = 1000, .shortest = 1};
    struct scatter s = {.far = 100};
    TRY(options_read(&o, spec));
    struct profile_wish wish = options_wish(&o);
    TRY(options_empty(&wish, &o, spec));
    TRY(make_scatter(A, spec, value, &s, &o, &wish));
done:
    return status;
}

heddle_status make_gauss(struct csr *A, struct spec *spec, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct options o = {.n = 10000, .mean = 2200, .shortest = 1};
    struct scatter s = {.sigma = 1000};
    TRY(options_read(&o, spec));
    TRY(spec_int(spec, "sigma", 0, SIZE_MOST, &s.sigma));
    struct profile_wish wish = options_wish(&o);
    TRY(options_empty(&wish, &o, spec));
    TRY(make_scatter(A, spec, value, &s, &o, &wish));
done:
    return status;
}

heddle_status make_lsq(struct csr *A, struct spec *spec, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct options o = {.n = 20000, .narrow = 16, .mean = 400, .shortest = 1};
    struct scatter s = {.sigma = 20, .far = 5};
    TRY(options_read(&o, spec));
    TRY(spec_int(spec, "sigma", 0, SIZE_MOST, &s.sigma));
    TRY(spec_int(spec, "strip", 0, SIZE_MOST, &s.strip));
    TRY(spec_int(spec, "far", 0, 100, &s.far));
    struct profile_wish wish = options_wish(&o);
    TRY(options_empty(&wish, &o, spec));
    TRY(make_scatter(A, spec, value, &s, &o, &wish));
done:
    return status;
}

/* -------------------------------------------------------- powerlaw ---------------------------- */

heddle_status make_powerlaw(struct csr *A, struct spec *spec, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct options o = {.n = 20000, .mean = 400, .shortest = 1};
    struct scatter s = {.sigma = 50, .popular = 1};
    int64_t exponent = 210, local = 50;
    TRY(options_read(&o, spec));
    TRY(spec_int(spec, "sigma", 0, SIZE_MOST, &s.sigma));
    TRY(spec_hundredths(spec, "exponent", 110, 1000, &exponent));
    TRY(spec_int(spec, "local", 0, 100, &local));
    s.far = 100 - local;
    /* what a row may take of the columns: a square root's worth times the mean, as in webs */
    if (o.longest == 0)
        o.longest = o.rows > 400 ? root2((uint64_t)o.rows) * (1 + o.nnz / o.rows) : 0;
    struct profile_wish wish = options_wish(&o);
    TRY(options_empty(&wish, &o, spec));
    if (o.longest > o.cols || o.longest > wish.nnz - wish.shortest * (o.rows - wish.empty - 1)) {
        wish.longest = 0;
        wish.most = o.cols;
    }
    wish.shape = SHAPE_POWER;
    wish.exponent = exponent;
    TRY(make_scatter(A, spec, value, &s, &o, &wish));
done:
    return status;
}

/* -------------------------------------------------------- empty ------------------------------- */

/* Rows without entries between others of 1 to 2 mean - 1.  Clustered ones begin each quarter of the
 * matrix. */
struct empties {
    int64_t rows, cols, mean, share, clustered;
    uint64_t seed;
    struct permutation order;
};

static int64_t empty_length(const void *self, int64_t row)
{
    const struct empties *e = self;
    int64_t quarter = e->rows / 4 + 1;
    int is_empty = e->clustered ? row % quarter < quarter * e->share / 100
                                : permute(&e->order, row) < e->rows * e->share / 100;
    int64_t most = 2 * e->mean - 1 < e->cols ? 2 * e->mean - 1 : e->cols;
    return is_empty ? 0 : 1 + below(hash1(e->seed ^ 1, row), most);
}

static int64_t empty_place(const void *self, int64_t row, int64_t length, int32_t *col)
{
    const struct empties *e = self;
    struct random r = random_for(e->seed, row);
    for (int64_t k = 0; k < length; k++)
        col[k] = reflect(row + random_normal(&r, 1 + e->cols / 20), e->cols);
    sort_columns(col, length);
    settle(col, length, e->cols);
    return length;
}

heddle_status make_empty(struct csr *A, struct spec *spec, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct options o = {.n = 10000};
    struct empties e = {.mean = 8, .share = 50};
    TRY(options_size(&o, spec, 0, SIZE_MOST));
    o.rows = o.n;
    TRY(spec_int(spec, "rows", 0, SIZE_MOST, &o.rows));
    o.cols = o.rows;
    TRY(spec_int(spec, "cols", o.rows > 0, SIZE_MOST, &o.cols));
    TRY(spec_int(spec, "mean", 1, SIZE_MOST / 2, &e.mean));
    TRY(spec_int(spec, "share", 0, 100, &e.share));
    TRY(spec_choice(spec, "mode", "scattered|clustered", &e.clustered));
    e.rows = o.rows, e.cols = o.cols, e.seed = (uint64_t)o.seed;
    e.order = permutation_for(e.seed, e.rows);
    struct maker m = {.rows = o.rows, .cols = o.cols, .seed = e.seed, .self = &e};
    m.length = empty_length;
    m.place = empty_place;
    TRY(finish(A, &m, spec, value));
done:
    return status;
}
