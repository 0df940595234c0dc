/* SPDX-License-Identifier: MIT */
#include "subject/subject.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "subject/fill.h"

#define STDIN_PATH "/dev/stdin" /* "-" among matrices; pipes are read as files are */
#define NAMES_MOST 128          /* families, sets and members that a suggestion looks through */

static heddle_status copied(char **out, const char *text, size_t n)
{
    *out = mem_alloc((int64_t)n + 1, 1);
    if (!*out)
        return HEDDLE_NO_MEMORY;
    memcpy(*out, text, n);
    (*out)[n] = 0;
    return HEDDLE_OK;
}

static void subject_free(struct subject *s)
{
    mem_free(s->name);
    mem_free(s->origin);
    mem_free(s->spec);
}

void subjects_free(struct subject_list *list)
{
    for (int64_t i = 0; i < list->count; i++)
        subject_free(&list->item[i]);
    mem_free(list->item);
    *list = (struct subject_list){0};
}

/* One more item; name_size characters of `name`, spec NULL for a file. */
static heddle_status add(struct subject_list *list, const char *name, size_t name_size, const char *origin,
                         const char *spec, const struct set_member *member)
{
    heddle_status status = HEDDLE_OK;
    struct subject s = {.member = member};
    if (list->count == list->capacity) {
        int64_t capacity = 2 * list->capacity + 8;
        struct subject *item = mem_resize(list->item, list->count, capacity, sizeof *item);
        if (!item)
            return HEDDLE_NO_MEMORY;
        list->item = item;
        list->capacity = capacity;
    }
    TRY(copied(&s.name, name, name_size));
    TRY(copied(&s.origin, origin, strlen(origin)));
    if (spec)
        TRY(copied(&s.spec, spec, strlen(spec)));
    list->item[list->count++] = s;
    return HEDDLE_OK;
done:
    subject_free(&s);
    return status;
}

/* Endings of matrix files.  Those of archives and compression stand behind the others' ("cant.mtx.gz"). */
static const char *const endings[] = {".gz",  ".xz",  ".tar", ".tgz", ".mtx", ".mm",  ".rb",
                                      ".hb",  ".rua", ".rsa", ".rra", ".pua", ".psa", ".pra",
                                      ".rza", ".pza", ".iua", ".isa", ".hdl"};

/* The name without its directory and endings; *matrix tells whether there was an ending of a matrix file. */
static const char *base_name(const char *path, size_t *size, int *matrix)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = strlen(name), before;
    *matrix = 0;
    do {
        before = n;
        for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
            size_t e = strlen(endings[i]);
            if (n > e && strncmp(name + n - e, endings[i], e) == 0) {
                n -= e;
                *matrix |= i > 1; /* compression alone says nothing */
            }
        }
    } while (n != before);
    *size = n;
    return name;
}

static heddle_status add_file(struct subject_list *list, const char *path)
{
    size_t size;
    int matrix;
    const char *name = base_name(path, &size, &matrix);
    return add(list, name, size, path, NULL, NULL);
}

/* Is this an entry that a directory offers as a matrix?  Others (README, vectors "..._b.mtx" included) are
 * the user's own business: only the ending decides. */
static int is_matrix(const struct dirent *entry)
{
    size_t size;
    int matrix;
    base_name(entry->d_name, &size, &matrix);
    return matrix && entry->d_name[0] != '.';
}

static heddle_status add_directory(struct subject_list *list, const char *directory)
{
    heddle_status status = HEDDLE_OK;
    struct dirent **entries = NULL;
    struct text path = {0};
    int count = scandir(directory, &entries, is_matrix, alphasort);
    if (count < 0)
        return fail(HEDDLE_FILE_ERROR, "%s: %s", directory, strerror(errno));
    if (count == 0)
        status = fail(HEDDLE_BAD_ARGUMENT,
                      "%s: no matrix file in this directory (.mtx, .rb, .hdl, .tar.gz, ...)", directory);
    for (int i = 0; i < count && status == HEDDLE_OK; i++) {
        text_add(&path, "%s%s%s", directory, text_ends(directory, "/") ? "" : "/", entries[i]->d_name);
        status = path.failed ? HEDDLE_NO_MEMORY : add_file(list, path.data);
        text_free(&path);
    }
    for (int i = 0; i < count; i++)
        free(entries[i]); /* scandir's own memory */
    free(entries);
    return status;
}

static heddle_status add_member(struct subject_list *list, const struct set *set,
                                const struct set_member *member)
{
    struct text origin = {0};
    text_add(&origin, "set:%s/%s", set->name, member->name);
    heddle_status status =
        origin.failed ? HEDDLE_NO_MEMORY
                      : add(list, member->name, strlen(member->name), origin.data, member->spec, member);
    text_free(&origin);
    return status;
}

static heddle_status no_member(const struct set *set, const char *name)
{
    const char *names[NAMES_MOST];
    int count = 0;
    for (; count < set->count && count < NAMES_MOST; count++)
        names[count] = set->member[count].name;
    const char *near = nearest(name, names, count);
    return fail(HEDDLE_BAD_ARGUMENT, "set:%s has no member '%s'%s%s%s", set->name, name,
                near ? "; did you mean '" : "", near ? near : " (heddle gen --list names them)",
                near ? "'?" : "");
}

/* DIRECTORY/MEMBER: the one file in it that is called so, with its endings or without; *found tells
 * whether there is such a directory. */
static heddle_status add_from_directory(struct subject_list *list, const char *text, int *found)
{
    heddle_status status = HEDDLE_OK;
    const char *slash = strrchr(text, '/'), *member = slash ? slash + 1 : "";
    struct text directory = {0};
    struct subject_list all = {0};
    struct stat info;
    *found = 0;
    text_add(&directory, "%.*s", slash ? (int)(slash - text) : 0, text);
    if (!slash || !*member || directory.failed || stat(directory.data, &info) != 0 || !S_ISDIR(info.st_mode))
        goto done;
    *found = 1;
    TRY(add_directory(&all, directory.data));
    int64_t before = list->count;
    for (int64_t i = 0; i < all.count; i++)
        if (strcmp(all.item[i].name, member) == 0 ||
            strcmp(strrchr(all.item[i].origin, '/') + 1, member) == 0)
            TRY(add_file(list, all.item[i].origin));
    if (list->count == before)
        status = fail(HEDDLE_BAD_ARGUMENT, "set:%s: there is no matrix file '%s' in %s", text, member,
                      directory.data);
done:
    subjects_free(&all);
    text_free(&directory);
    return status;
}

static heddle_status no_set(const char *name)
{
    struct text known = {0};
    for (int i = 0; i < set_count(); i++)
        text_add(&known, " %s", set_at(i)->name);
    heddle_status status = fail(HEDDLE_BAD_ARGUMENT,
                                *name ? "'set:%s' is neither a set (there are:%s) nor a directory"
                                      : "'set:%s' needs a name: one of the sets (%s ) or a directory",
                                name, known.failed ? "" : known.data);
    text_free(&known);
    return status;
}

static heddle_status add_set(struct subject_list *list, const char *text)
{
    heddle_status status = HEDDLE_OK;
    char name[SPEC_TEXT] = "";
    size_t size = strcspn(text, "/");
    struct stat info;
    if (size < sizeof name)
        memcpy(name, text, size);
    const struct set *set = set_by_name(name);
    int found = 0;
    if (!set && stat(text, &info) == 0 && S_ISDIR(info.st_mode))
        return add_directory(list, text);
    if (!set) {
        status = add_from_directory(list, text, &found);
        return found ? status : no_set(text);
    }
    const char *member = text[size] && text[size + 1] ? text + size + 1 : NULL;
    for (int i = 0; i < set->count; i++)
        if (!member || strcmp(set->member[i].name, member) == 0) {
            TRY(add_member(list, set, &set->member[i]));
            found = 1;
        }
    if (!found)
        status = no_member(set, member ? member : "");
done:
    return status;
}

/* gen:SPEC, with the family looked up now, so that a typing error is found before hours of work. */
static heddle_status add_family(struct subject_list *list, const char *text)
{
    const char *spec = text + strlen("gen:"), *names[NAMES_MOST];
    struct spec parsed;
    heddle_status status = spec_parse(&parsed, spec);
    int count = 0;
    if (status != HEDDLE_OK)
        return status;
    for (; count < family_count() && count < NAMES_MOST; count++) {
        names[count] = family_at(count)->name;
        if (strcmp(parsed.name, names[count]) == 0)
            return add(list, spec, strlen(spec), text, spec, NULL);
    }
    const char *near = nearest(parsed.name, names, count);
    return fail(HEDDLE_BAD_ARGUMENT, "there is no family '%s'%s%s%s", parsed.name,
                near ? "; did you mean '" : "", near ? near : " (heddle gen --list names them)",
                near ? "'?" : "");
}

/* What someone may have meant who named a file that is not there. */
static heddle_status no_file(const char *path, int error)
{
    size_t size = strcspn(path, ":");
    for (int i = 0; i < family_count(); i++) {
        const char *name = family_at(i)->name;
        if (strlen(name) == size && strncmp(name, path, size) == 0)
            return fail(HEDDLE_FILE_ERROR, "%s: %s; for the family write gen:%s", path, strerror(error),
                        path);
    }
    const struct set *set = set_by_name(path);
    return set ? fail(HEDDLE_FILE_ERROR, "%s: %s; for the set write set:%s", path, strerror(error), path)
               : fail(HEDDLE_FILE_ERROR, "%s: %s", path, strerror(error));
}

static const char transpose[] = "transpose:";

/* "transpose:" in front of the names of what `text` stands for. */
static heddle_status add_transposed(struct subject_list *list, const char *text)
{
    heddle_status status = HEDDLE_OK;
    struct subject_list plain = {0};
    struct text name = {0}, origin = {0};
    TRY(subjects_add(&plain, text));
    for (int64_t i = 0; i < plain.count; i++) {
        const struct subject *s = &plain.item[i];
        if (s->transposed)
            TRY(fail(HEDDLE_BAD_ARGUMENT, "%s%s: once is enough; twice gives the matrix itself", transpose,
                     text));
        text_free(&name);
        text_free(&origin);
        text_add(&name, "%s%s", transpose, s->name);
        text_add(&origin, "%s%s", transpose, s->origin);
        TRY(name.failed || origin.failed ? HEDDLE_NO_MEMORY : HEDDLE_OK);
        TRY(add(list, name.data, strlen(name.data), origin.data, s->spec, NULL));
        list->item[list->count - 1].transposed = 1;
    }
done:
    subjects_free(&plain);
    text_free(&name);
    text_free(&origin);
    return status;
}

heddle_status subjects_add(struct subject_list *list, const char *text)
{
    struct stat info;
    if (strncmp(text, transpose, strlen(transpose)) == 0)
        return add_transposed(list, text + strlen(transpose));
    if (strncmp(text, "gen:", 4) == 0)
        return add_family(list, text);
    if (strncmp(text, "set:", 4) == 0)
        return add_set(list, text + 4);
    if (strcmp(text, "-") == 0)
        return add(list, "stdin", strlen("stdin"), STDIN_PATH, NULL, NULL);
    if (stat(text, &info) != 0)
        return no_file(text, errno);
    if (S_ISDIR(info.st_mode))
        return fail(HEDDLE_FILE_ERROR, "%s: is a directory; for all matrices in it write set:%s", text, text);
    return add_file(list, text);
}

static heddle_status load_plain(struct loaded *m, const struct subject *subject, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    const char *path = subject->origin + (subject->transposed ? strlen(transpose) : 0);
    if (subject->spec)
        return gen_matrix(&m->csr, subject->spec, value);
    TRY(file_read(&m->file, path, value));
    m->from_file = 1;
    TRY(file_matrix_check(&m->file, path));
    m->csr = m->file.csr;
done:
    return status;
}

heddle_status subject_load(struct loaded *m, const struct subject *subject, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct csr other = {0};
    *m = (struct loaded){0};
    TRY(load_plain(m, subject, value));
    if (subject->transposed) {
        TRY(csr_transpose(&other, &m->csr));
        loaded_free(m);
        m->csr = other;
    }
done:
    if (status != HEDDLE_OK)
        loaded_free(m);
    return status;
}

heddle_status subject_load_widest(struct loaded *m, const struct subject *subject)
{
    heddle_status status = HEDDLE_OK;
    struct csr wide = {0};
    TRY(subject_load(m, subject, HEDDLE_TYPE_DEFAULT));
    const heddle_type widest = is_complex(m->csr.value) ? HEDDLE_C64 : HEDDLE_F64;
    if (m->csr.value != widest) {
        TRY(csr_retype(&wide, &m->csr, widest, m->csr.offset));
        loaded_free(m);
        m->csr = wide;
    }
done:
    if (status != HEDDLE_OK)
        loaded_free(m);
    return status;
}

heddle_status values_as(struct csr *B, const struct csr *A, heddle_type value)
{
    *B = *A;
    B->value = value;
    if (value == A->value)
        return HEDDLE_OK;
    if (is_complex(A->value) && !is_complex(value))
        return fail(HEDDLE_NOT_SUPPORTED, "the matrix is complex: it has no values of %s", value_name(value));
    B->val = mem_alloc(A->nnz, type_size(value));
    if (!B->val)
        return HEDDLE_NO_MEMORY;
    fill_converted(B->val, value, A->val, A->value, A->nnz);
    if (is_complex(value) && !is_complex(A->value))
        fill_imaginary(B->val, value, A->nnz);
    return HEDDLE_OK;
}

void loaded_free(struct loaded *m)
{
    if (m->from_file)
        file_matrix_free(&m->file);
    else
        csr_free(&m->csr);
    *m = (struct loaded){0};
}

heddle_status matrix_of(heddle_matrix **A, heddle *h, const struct csr *csr)
{
    heddle_csr_desc desc = {
        .rows = csr->rows,
        .cols = csr->cols,
        .nnz = csr->nnz,
        .row_ptr = csr->row_ptr,
        .col = csr->col,
        .val = csr->val,
        .types = {value_type(csr->value), csr->offset, HEDDLE_I32, vector_type(csr->value)}};
    return heddle_csr(A, h, &desc);
}
