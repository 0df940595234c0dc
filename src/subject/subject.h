/* SPDX-License-Identifier: MIT
 *
 * subject.h: where matrices come from, as people name them on the command line.
 *
 *     cant.mtx                 a file of any kind that Heddle reads
 *     gen:grid3d:n=100         a family with parameters
 *     set:smoke                every member of a set
 *     set:paper/cant           one member of a set
 *     set:DIRECTORY            every matrix file in a directory, in order of their names
 *     transpose:set:paper/cant any of these, transposed
 *
 * A name that is a set wins over a directory of the same name: write set:./smoke for the directory.
 * Expanding costs nothing; matrices are then loaded one after another, each freed before the next. */
#ifndef SUBJECT_SUBJECT_H
#define SUBJECT_SUBJECT_H

#include "gen/gen.h"
#include "io/io.h"

struct subject {
    char *name;   /* short, for tables: "cant", "grid3d:n=100" */
    char *origin; /* what loads exactly this matrix again: "cant.mtx", "gen:grid3d:n=100", "set:paper/cant" */
    char *spec;   /* of the family, or NULL for a file, whose path is `origin` */
    const struct set_member *member; /* of a set, or NULL */
    int transposed;                  /* its origin says so, too */
};

struct subject_list {
    struct subject *item;
    int64_t count, capacity;
};

/* Adds what `text` stands for.  Files are not opened yet; unknown families, sets and members, missing
 * files and directories without a matrix fail with what to write instead. */
heddle_status subjects_add(struct subject_list *list, const char *text);
void subjects_free(struct subject_list *list);

/* A matrix in memory; its arrays belong to the file or to the heap. */
struct loaded {
    struct csr csr;
    struct file_matrix file;
    int from_file;
};

/* `value` 0: as stored, else f64.  The contents are checked in any case. */
heddle_status subject_load(struct loaded *m, const struct subject *subject, heddle_type value);
/* In f64, or c64 where it is complex: what any type is made from. */
heddle_status subject_load_widest(struct loaded *m, const struct subject *subject);
void loaded_free(struct loaded *m);

/* B = A in another type of values, with A's pattern: the caller frees B->val if it is not A's.  A real matrix
 * gets imaginary parts where it becomes complex, so that conjugates differ (fill_imaginary); a complex one
 * does not become real: HEDDLE_NOT_SUPPORTED. */
heddle_status values_as(struct csr *B, const struct csr *A, heddle_type value);

/* A public matrix that borrows the arrays of `csr`. */
heddle_status matrix_of(heddle_matrix **A, heddle *h, const struct csr *csr);

/* The known word that is nearest to `word`, or NULL when none is near: for "did you mean". */
const char *nearest(const char *word, const char *const *known, int count);

#endif
