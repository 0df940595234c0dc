/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "subject/describe.h"

struct choices {
    const char *type, *json;
};

static const struct cli_option options[] = {
    {"type", 't', OPTION_TEXT, offsetof(struct choices, type), TYPES_WHAT,
     "its values, and its sizes, in this type (as stored, else f64)"},
    {"json", 0, OPTION_JSON, offsetof(struct choices, json), "FILE", JSON_WHAT},
    {0}};

/* Bytes in each storage format that any kernel uses. */
struct format_sizes {
    int count;
    struct {
        const char *format;
        int64_t bytes; /* -1: it cannot be stored that way */
    } item[WORDS_MOST];
};

struct facts {
    const struct subject *subject;
    heddle_type value;
    heddle_stats stats;
    struct format_sizes sizes;
};

static void find_sizes(struct format_sizes *sizes, heddle *h, const heddle_matrix *A)
{
    heddle_kernel_desc k;
    for (int i = 0; i < heddle_kernel_count() && heddle_kernel_info(i, &k) == HEDDLE_OK; i++) {
        int known = 0;
        for (int n = 0; n < sizes->count; n++)
            known |= strcmp(sizes->item[n].format, k.format) == 0;
        if (known || sizes->count == WORDS_MOST)
            continue;
        int64_t *bytes = &sizes->item[sizes->count].bytes;
        sizes->item[sizes->count++].format = k.format;
        if (heddle_format_bytes(h, A, k.format, bytes) != HEDDLE_OK)
            *bytes = -1;
    }
}

static heddle_status find_facts(struct facts *f)
{
    heddle_status status = HEDDLE_OK;
    heddle *h = NULL;
    heddle_matrix *A = NULL;
    struct loaded m = {0};
    TRY(subject_load(&m, f->subject, f->value));
    f->value = m.csr.value;
    TRY(heddle_open(&h, "cpu"));
    TRY(matrix_of(&A, h, &m.csr));
    TRY(heddle_statistics(h, A, &f->stats));
    find_sizes(&f->sizes, h, A);
done:
    heddle_matrix_free(A);
    heddle_close(h);
    loaded_free(&m);
    return status;
}

static heddle_status as_json(struct session *s, const struct facts *f)
{
    struct json j = {0};
    json_object(&j, NULL);
    json_int(&j, "schema", RECORD_SCHEMA);
    json_string(&j, "record", "info");
    json_string(&j, "matrix", f->subject->name);
    json_string(&j, "origin", f->subject->origin);
    json_string(&j, "spec", f->subject->spec);
    json_string(&j, "value", type_name(f->value));
    record_statistics(&j, &f->stats);
    record_published(&j, f->subject);
    json_object(&j, "bytes");
    for (int i = 0; i < f->sizes.count; i++)
        if (f->sizes.item[i].bytes >= 0)
            json_int(&j, f->sizes.item[i].format, f->sizes.item[i].bytes);
        else
            json_string(&j, f->sizes.item[i].format, NULL);
    json_end_object(&j);
    json_end_object(&j);
    return out_json(s, &j);
}

/* ------------------------------------------------------------------ for people */

static void line_count(struct session *s, const char *name, int64_t n)
{
    char text[NUMBER_TEXT];
    out(s, "  %-22s %16s\n", name, text_count(text, n));
}

static void line_share(struct session *s, const char *name, double share)
{
    out(s, "  %-22s %14.2f %%\n", name, 100 * share);
}

/* Rows and columns side by side. */
static void lengths(struct session *s, const heddle_lengths *row, const heddle_lengths *col)
{
    const struct {
        const char *name;
        int64_t of_row, of_col;
    } count[] = {{"shortest", row->shortest, col->shortest},
                 {"longest", row->longest, col->longest},
                 {"empty", row->empty, col->empty}};
    char rows[NUMBER_TEXT], cols[NUMBER_TEXT];
    out(s, "\n%-24s %16s %16s\n", "entries", "a row", "a column");
    out(s, "  %-22s %16.2f %16.2f\n", "mean", row->mean, col->mean);
    out(s, "  %-22s %16.2f %16.2f\n", "deviation", row->deviation, col->deviation);
    for (int i = 0; i < 3; i++)
        out(s, "  %-22s %16s %16s\n", count[i].name, text_count(rows, count[i].of_row),
            text_count(cols, count[i].of_col));
}

/* What is published of the original beside what the stand-in has. */
static void published(struct session *s, const struct facts *f)
{
    static const struct column columns[] = {
        {"", 0, 0}, {"this", 1, 0}, {"published", 1, 0}, {"difference", 1, 0}, {0}};
    const struct set_member *m = f->subject->member;
    const struct {
        const char *name;
        double here, there; /* there < 0 or 0: not known */
    } row[] = {{"rows", (double)f->stats.rows, (double)m->published.rows},
               {"columns", (double)f->stats.cols, (double)m->published.cols},
               {"nonzeros", (double)f->stats.nnz, (double)m->published.nnz},
               {"longest row", (double)f->stats.row.longest, (double)m->published.longest},
               {"row deviation", f->stats.row.deviation, m->published.deviation}};
    struct table t;
    out(s, "\nstands in for a matrix of %s\n", m->published.where);
    table_begin(&t, columns);
    for (int i = 0; i < 5; i++) {
        char here[NUMBER_TEXT], there[NUMBER_TEXT];
        int whole = i<4, known = row[i].there> 0 || (!whole && row[i].there == 0);
        if (!known)
            continue;
        text_count(here, (int64_t)row[i].here);
        text_count(there, (int64_t)row[i].there);
        if (!whole) {
            snprintf(here, sizeof here, "%.2f", row[i].here);
            snprintf(there, sizeof there, "%.2f", row[i].there);
        }
        double difference = row[i].here - row[i].there;
        table_add(&t, "  %s\t%s\t%s\t%+.2f %%", row[i].name, here, there,
                  difference == 0 ? 0 : 100 * difference / row[i].there);
    }
    table_end(&t, s);
}

static void sizes(struct session *s, const struct facts *f)
{
    out(s, "\nbytes (%s)\n", type_name(f->value));
    for (int i = 0; i < f->sizes.count; i++) {
        char text[NUMBER_TEXT] = "not storable";
        if (f->sizes.item[i].bytes >= 0)
            text_bytes(text, (double)f->sizes.item[i].bytes);
        out(s, "  %-22s %16s\n", f->sizes.item[i].format, text);
    }
}

static void for_people(struct session *s, const struct facts *f)
{
    const heddle_stats *a = &f->stats;
    char count[NUMBER_TEXT];
    out(s, "%s", f->subject->origin);
    if (f->subject->spec && f->subject->member)
        out(s, " = gen:%s", f->subject->spec);
    out(s, "\n");
    line_count(s, "rows", a->rows);
    line_count(s, "columns", a->cols);
    line_count(s, "nonzeros", a->nnz);
    lengths(s, &a->row, &a->col);
    out(s, "\nstructure\n");
    line_count(s, "lower bandwidth", a->lower_bandwidth);
    line_count(s, "upper bandwidth", a->upper_bandwidth);
    line_count(s, "on the diagonal", a->diagonal);
    if (a->rows == a->cols) {
        line_share(s, "pattern symmetry", a->pattern_symmetry);
        line_share(s, "numeric symmetry", a->numeric_symmetry);
        line_share(s, "numeric skew symmetry", a->numeric_skew);
        if (is_complex(f->value))
            line_share(s, "hermitian symmetry", a->hermitian_symmetry);
    }
    out(s, "  %-22s %16s\n", "columns in order", a->sorted ? "yes" : "no");
    line_count(s, "repeated entries", a->repeats);
    out(s, "  %-22s %16s\n", "distinct values",
        a->distinct_values > 65536 ? "over 65,536" : text_count(count, a->distinct_values));
    sizes(s, f);
    if (f->subject->member && f->subject->member->published.where)
        published(s, f);
}

static heddle_status run(struct session *s, void *into)
{
    heddle_status status = HEDDLE_OK;
    const struct choices *c = into;
    struct subject_list list = {0};
    heddle_type type = 0;
    if (c->type)
        TRY(type_choice(c->type, &type));
    for (int i = 0; i < s->operands; i++)
        TRY(subjects_add(&list, s->operand[i]));
    for (int64_t i = 0; i < list.count; i++) {
        struct facts facts = {.subject = &list.item[i], .value = type};
        progress(s, i, list.count, "looking at %s", list.item[i].name);
        TRY(find_facts(&facts));
        progress_clear(s);
        if (c->json) {
            TRY(as_json(s, &facts));
            continue;
        }
        if (i > 0)
            out(s, "\n");
        for_people(s, &facts);
    }
done:
    subjects_free(&list);
    return status;
}

const struct page page_info = {
    .usage = "MATRIX... [--type T] [--json [FILE]]",
    .details =
        "Size, row and column lengths, bandwidth, symmetry, distinct values, and the bytes that the matrix\n"
        "takes in every storage format.  A member of a set that stands in for a published matrix is shown\n"
        "beside it.\n"
        "\n"
        "Examples:\n"
        "  heddle info a.mtx\n"
        "  heddle info set:paper/cant b.mtx\n"
        "  zcat b.mtx.gz | heddle info -\n"
        "  heddle info gen:rmat:n=1e5 --json\n",
    .option = options,
    .least = 1,
    .most = 1 << 20,
    .size = sizeof(struct choices),
    .run = run};
