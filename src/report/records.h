/* SPDX-License-Identifier: MIT
 *
 * records.h: what a report is made of, read from the files that `heddle bench --json` writes.  A line that
 * is broken, comes from a later version, is not verified or contradicts itself or another line is named in
 * a warning and left out.  Members that are not known are passed over, and so are kinds of records. */
#ifndef REPORT_RECORDS_H
#define REPORT_RECORDS_H

#include "base/text.h"
#include "report/names.h"

#define WARNINGS_KEPT 200 /* texts; all are counted */
#define HISTOGRAM_MOST 64
#define RUN_LAUNCHES 6

struct place { /* in the files, for warnings */
    int64_t file, line;
};

/* Numbers that a matrix record holds; what is unknown is NAN.  The page shows them under these names. */
#define MATRIX_STATS(STAT)                                                                                   \
    STAT(row_shortest, "row", "shortest")                                                                    \
    STAT(row_longest, "row", "longest")                                                                      \
    STAT(row_empty, "row", "empty")                                                                          \
    STAT(row_mean, "row", "mean")                                                                            \
    STAT(row_deviation, "row", "deviation")                                                                  \
    STAT(col_shortest, "col", "shortest")                                                                    \
    STAT(col_longest, "col", "longest")                                                                      \
    STAT(col_empty, "col", "empty")                                                                          \
    STAT(col_mean, "col", "mean")                                                                            \
    STAT(col_deviation, "col", "deviation")                                                                  \
    STAT(lower_bandwidth, NULL, "lower_bandwidth")                                                           \
    STAT(upper_bandwidth, NULL, "upper_bandwidth")                                                           \
    STAT(diagonal, NULL, "diagonal")                                                                         \
    STAT(repeats, NULL, "repeats")                                                                           \
    STAT(pattern_symmetry, NULL, "pattern_symmetry")                                                         \
    STAT(numeric_symmetry, NULL, "numeric_symmetry") STAT(distinct_values, NULL, "distinct_values")

enum {
#define STAT(name, object, member) STAT_##name,
    MATRIX_STATS(STAT)
#undef STAT
        STAT_COUNT
};
extern const char *const stat_names[STAT_COUNT];

struct record_matrix {
    int64_t name, origin, spec; /* numbers of strings, -1 for none */
    int64_t rows, cols, nnz;
    double stat[STAT_COUNT];
    int bins;
    int64_t histogram[HISTOGRAM_MOST]; /* rows of 0, 1, 2..3, 4..7, ... entries */
    int picture_rows, picture_cols;
    char *picture; /* see record_picture; NULL when there is none */
    struct place place;
    int described; /* by a matrix record */
};

struct record_run {
    int64_t matrix;                                         /* number of a matrix */
    int64_t device, kernel, ran, format, op, value, offset; /* numbers of strings; ran and format may be -1 */
    int64_t date, version, skipped, driver; /* numbers of strings, or -1; a processor has no driver */
    double warm_ms, cold_ms, convert_ms, prepare_ms; /* NAN: not measured */
    double spread, bytes, held_bytes, floor_ms, error, break_even;
    int64_t repetitions;
    int launches; /* 0: not known */
    double launched_ms[RUN_LAUNCHES];
    int transposed, repeatable;
    int out; /* contradicts another: left out */
    struct place place;
};

struct records {
    struct names strings, files;
    struct record_matrix *matrix;
    int64_t matrices, matrix_capacity;
    struct record_run
        *run; /* verified ones, and skipped ones with their reason; of the same measurement the latest */
    int64_t runs, run_capacity;
    struct record_run
        *earlier; /* verified ones that were measured again: the page can go back to a version or a day */
    int64_t earlier_runs, earlier_capacity;
    int64_t plottable; /* runs with a time */
    struct names matrix_keys, origins, run_keys, kinds;
    int64_t *origin_matrix; /* size origins.capacity: the matrix that an origin stands for */
    int64_t origin_capacity;
    int64_t lines, measured_again, passed_over; /* other kinds of records */
    struct text warnings;                       /* a line each, up to WARNINGS_KEPT */
    int64_t warning_count;
};

/* Reads a file into r, which is zeroed at first.  Only a file that cannot be read fails, and memory. */
heddle_status records_read(struct records *r, const char *path);
/* After the last file: drops what contradicts, counts what is left. */
heddle_status records_finish(struct records *r);
void records_free(struct records *r);

/* Keeps "file:line: text". */
void records_warn(struct records *r, struct place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A picture is kept as letters: A to Z and a to z for 1 to 52, the share of the fullest cell on a scale of
 * logarithms, and a decimal number for as many empty cells. */
#define PICTURE_LEVELS 52

static inline const char *record_text(const struct records *r, int64_t number)
{
    return number < 0 ? NULL : r->strings.item[number];
}

/* Within src/report: one line that was parsed. */
struct json_tree;
heddle_status record_add_run(struct records *r, const struct json_tree *t, struct place place);
heddle_status record_add_matrix(struct records *r, const struct json_tree *t, struct place place);
/* The matrix that a line speaks of, added if it is new; -1 with a warning when the line's sizes are not in
 * order. */
heddle_status record_matrix_of(struct records *r, const struct json_tree *t, struct place place,
                               int64_t *matrix);
/* After the last line: a generated matrix that has the name and sizes of one from a file is called "NAME
 * (generated)". */
heddle_status records_tell_apart(struct records *r);
/* *number = -1 for a member that is not there. */
heddle_status record_string(struct records *r, const struct json_tree *t, const char *key, int64_t *number);
/* The array with room for one more item; NULL when memory runs out. */
void *record_room(void *array, int64_t count, int64_t *capacity, size_t size);

#endif
