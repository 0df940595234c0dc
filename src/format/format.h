/* SPDX-License-Identifier: MIT
 *
 * format.h: a format is a set of named arrays and dimensions; its size is known without building it.
 * Everything is made from a source in CSR (or sorted COO), in parallel, and the same for any number of
 * threads. */
#ifndef FORMAT_FORMAT_H
#define FORMAT_FORMAT_H

#include "format/layout.h"
#include "matrix/matrix.h"

enum format_id {
#define FORMAT(name) FORMAT_##name,
#include "format/formats.def"
#undef FORMAT
    FORMAT_COUNT
};

/* An option of a format or a kernel and the values that it takes: {"lanes", 0, VALUES(0, 2, 4, 8)}, or
 * WORDS(array of names). */
#define OPTIONS_MOST 6
#define OPTION_VALUES 12
struct option {
    const char *name; /* NULL ends a table */
    int64_t initial;
    int count;                    /* of `value` */
    int64_t value[OPTION_VALUES]; /* all that are allowed, the initial one among them */
    const char *const *word;      /* what the values 0, 1, ... are called; NULL: they are numbers */
};
#define VALUES(...) (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), {__VA_ARGS__}, NULL
#define WORDS(words)                                                                                         \
    WORDS_COUNTED(sizeof words / sizeof *words), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, words
/* No more than there is room for. */
#define WORDS_COUNTED(count) (int)((count) + 0 * sizeof(char[(count) <= OPTION_VALUES ? 1 : -1]))

/* The initial values of a table (NULL: there are none to set). */
void options_initial(int64_t value[OPTIONS_MOST], const struct option *table);

/* A value as people write it: "8", or the word for it. */
#define OPTION_SPELLED 24
void option_spell(char text[OPTION_SPELLED], const struct option *o, int64_t value);

/* What a GPU has counted for a format whose size depends on more than the longest row. */
struct counted {
    int64_t positions;     /* sell, csr16, tmpl, bundle: places, padding included */
    int64_t words, sorted; /* sell, bundle: 16-bit words of columns; has any row moved? */
    int64_t width, rest;   /* hyb: of its ELL part; entries behind that.  tmpl: entries of the rest */
    int64_t slices, offsets, rest_rows; /* tmpl; slices: bundle, too */
};

/* What a GPU has counted, for who asks again with the same options: whoever makes many storages of one
 * matrix counts once. */
struct notes {
    struct {
        int known;
        int64_t asked[OPTIONS_MOST], chosen[OPTIONS_MOST];
        struct counted counted;
        double ms; /* what counting took */
    } of[FORMAT_COUNT];
    struct templates
        *templates[2]; /* of tmpl and tmplv, found on the device (convert/csr_to_tmpl.c); NULL: none were */
};

/* What a format is made from.  Arrays are borrowed and must outlive whatever borrows them further. */
struct source {
    struct csr csr;     /* row_ptr may be NULL when `row` is given and only coo is wanted */
    const int32_t *row; /* size nnz: the row of each entry, or NULL */
    int64_t longest;    /* entries of the longest row; 0: not known, row_ptr tells */
    int64_t empty;      /* rows without entries, where `longest` is known */
    int omega;          /* csr5: lanes of a wave of the device that it is for; 0: 32 */
    const int *sigma;   /* csr5: the four numbers of that device's rule (csr5.c); NULL: those of NVIDIA */
    const struct counted *counted; /* NULL: not known, row_ptr tells */
    struct notes *notes;           /* NULL: nothing is kept */
};

/* A matrix in a format. */
struct stored {
    const struct format *format;
    int64_t rows, cols, nnz;
    heddle_type value, offset;
    int64_t dim[FORMAT_DIMS];
    int64_t bytes[FORMAT_ARRAYS]; /* of each array */
    void *array[FORMAT_ARRAYS];
    unsigned borrowed; /* bit i: array i belongs to the source */
};

struct format {
    const char *name;
    const char *array[FORMAT_ARRAYS + 1], *dim[FORMAT_DIMS + 1]; /* their names, ended by NULL */
    const struct option *options;                                /* NULL when there are none */
    int valued;     /* what it stores depends on values: they must not change */
    unsigned spare; /* bit i: some products do without array i */
    /* Fills dim, bytes and borrowed from the source and the options; HEDDLE_NO_KERNEL, with the reason,
     * for a matrix that this format should not hold. */
    heddle_status (*size)(struct stored *s, const struct source *A, const int64_t *option);
    /* Fills the arrays, which are allocated (or, when borrowed, still NULL). */
    heddle_status (*fill)(struct stored *s, const struct source *A);
    /* Fills what depends on values, in arrays that were filled before from the same pattern; NULL: fill
     * does. */
    heddle_status (*refill)(struct stored *s, const struct source *A);
    /* The CSR that s was made of, bit by bit, into arrays of its sizes; NULL: there is no such function. */
    void (*restore)(struct csr *A, const struct stored *s);
};

const struct format *format_at(enum format_id id);
int format_by_name(const char *name); /* -1 when there is none */

/* `option` may be NULL: the initial values.  The result has no arrays yet: stored_build makes them. */
heddle_status stored_size(struct stored *s, enum format_id id, const struct source *A, const int64_t *option);
heddle_status stored_build(struct stored *s, const struct source *A);
void stored_free(struct stored *s);
int64_t stored_bytes(const struct stored *s); /* all arrays */
int64_t stored_owned(const struct stored *s); /* those that are not borrowed */
int64_t stored_read(const struct stored *s);  /* what a product reads at least: no padding, and not what it
                                               * may do without */

/* HEDDLE_NO_KERNEL when `positions` places for nnz entries waste more than a padded format may: more than
 * PADDING_RATIO times the entries, and more than PADDING_FREE bytes. */
#define PADDING_RATIO 4
#define PADDING_FREE ((int64_t)64 << 20)
heddle_status padding_allowed(const char *format, const struct csr *A, int64_t positions);

/* The functions that exist once per type that moves values for others of its size: *_typed.c define them,
 * MOVED_TABLE the table of all (moved_variant is the index). */
#define MOVED_DECLARED(functions, name) extern const struct functions functions##__##name;
#define MOVED_LISTED(functions, name) [VARIANT_##name] = &functions##__##name,
#define MOVED_TABLE(functions)                                                                               \
    EACH_MOVED(MOVED_DECLARED, functions)                                                                    \
    const struct functions *const functions[VARIANT_COUNT] = {EACH_MOVED(MOVED_LISTED, functions)}

struct ell_functions {
    int64_t (*width)(const struct csr *A);
    void (*fill)(struct stored *s, const struct csr *A);
};
struct sell_functions {
    heddle_status (*plan)(struct stored *s, const struct csr *A); /* fills every array but row, col and val */
    heddle_status (*fill)(struct stored *s, const struct csr *A);
};
struct group_count {
    int64_t groups, columns;
};
struct group_functions {
    struct group_count (*count)(const struct csr *A);
    void (*fill)(struct stored *s, const struct csr *A);
};
struct bundle_functions { /* as for tmpl, below */
    heddle_status (*inspect)(struct counted *c, const struct csr *A, int64_t height, struct stored *s);
    void (*fill)(struct stored *s, const struct csr *A);
    void (*restore)(struct csr *A, const struct stored *s);
};
struct tmpl_functions {
    /* Finds templates and slices; `valued`: rows of a template have the same values.  With `s`, whose
     * arrays are there, fills all but the values of slices and rest. */
    heddle_status (*inspect)(struct counted *c, const struct csr *A, int64_t height, int valued,
                             struct stored *s);
    /* values and columns of slices and rest */
    void (*fill)(struct stored *s, const struct csr *A, int valued);
    /* The matrix that s was made of, into arrays of its size: in the order of the input, bit by bit. */
    void (*restore)(struct csr *A, const struct stored *s, int valued);
};
struct csr5_functions {
    void (*fill)(struct stored *s, const struct csr *A);
};
/* bundle: HEDDLE_NO_KERNEL where the longest row is longer than it can count. */
heddle_status bundle_fits(int64_t longest);
/* tmpl: HEDDLE_NO_KERNEL, with the reason, where there are too many templates (`offsets` of them all,
 * negative: not counted), or, of a matrix that is not small, more than half of the entries are left over. */
heddle_status tmpl_size(struct stored *s, const struct source *A, const int64_t *option, int valued);
heddle_status tmpl_fill(struct stored *s, const struct source *A, int valued);
extern const struct option tmpl_options[];
heddle_status tmpl_few(int64_t distinct, int64_t offsets);
heddle_status tmpl_covers(const struct csr *A, int64_t rest);
/* hyb: the split rule of `option` asks for the length of the row at this place when rows are ordered by
 * length. */
int64_t hyb_rank(const struct csr *A, const int64_t *option);
/* ... and makes this width of that length. */
int64_t hyb_width(const struct csr *A, const int64_t *option, int64_t length);
/* The width of ELL, and whether so much padding is allowed (`format` is named in the text).  Kernels count
 * along a row in 32 bits, and a little beyond its end. */
#define ELL_WIDTH_MOST (INT32_MAX - 1024)
heddle_status ell_width(int64_t *width, const char *format, const struct source *A);
extern const struct ell_functions *const ell_functions[VARIANT_COUNT];
extern const struct sell_functions *const sell_functions[VARIANT_COUNT];
extern const struct group_functions *const group_functions[VARIANT_COUNT];
extern const struct bundle_functions *const bundle_functions[VARIANT_COUNT];
extern const struct tmpl_functions *const tmpl_functions[VARIANT_COUNT];
extern const struct csr5_functions *const csr5_functions[VARIANT_COUNT];

#endif
