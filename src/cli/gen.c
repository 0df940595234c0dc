/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/timer.h"
#include "cli/cli.h"

struct choices {
    const char *output, *type;
    int list;
    const char *json;
};

static const struct cli_option options[] = {
    {"output", 'o', OPTION_TEXT, offsetof(struct choices, output), "FILE",
     "where to; the ending names the format"},
    {"type", 't', OPTION_TEXT, offsetof(struct choices, type), TYPES_WHAT,
     "type of the values (f64; c64 of values=complex)"},
    {"list", 'l', OPTION_FLAG, offsetof(struct choices, list), NULL,
     "families with their parameters, and sets"},
    {"json", 0, OPTION_JSON, offsetof(struct choices, json), "FILE", JSON_WHAT},
    {0}};

static const struct column family_columns[] = {
    {"family", 0, 0}, {"what; parameters with their defaults", 0, 0}, {0}};
static const struct column set_columns[] = {{"set", 0, 0}, {"matrices", 1, 0}, {"what", 0, 0}, {0}};
static const struct column member_columns[] = {
    {"member", 0, 0}, {"spec", 0, 0}, {"stands in for", 0, 0}, {0}};

static void list_all(struct session *s)
{
    struct table t;
    table_begin(&t, family_columns);
    for (int i = 0; i < family_count(); i++)
        table_add(&t, "%s\t%s\n\t" DIM "%s", family_at(i)->name, family_at(i)->what,
                  family_at(i)->parameters);
    table_end(&t, s);
    out(s, "\n");
    table_begin(&t, set_columns);
    for (int i = 0; i < set_count(); i++)
        table_add(&t, "set:%s\t%d\t%s", set_at(i)->name, set_at(i)->count, set_at(i)->what);
    table_end(&t, s);
}

static void set_json(struct json *j, const struct set *set)
{
    json_object(j, NULL);
    json_string(j, "name", set->name);
    json_string(j, "what", set->what);
    json_array(j, "members");
    for (int i = 0; i < set->count; i++) {
        const struct set_member *m = &set->member[i];
        json_object(j, NULL);
        json_string(j, "name", m->name);
        json_string(j, "spec", m->spec);
        if (m->published.where) { /* a figure that is not known is left out */
            json_string(j, "stands_in_for", m->published.where);
            json_int(j, "rows", m->published.rows);
            json_int(j, "cols", m->published.cols);
            json_int(j, "nnz", m->published.nnz);
        }
        json_end_object(j);
    }
    json_end_array(j);
    json_end_object(j);
}

static heddle_status list_json(struct session *s)
{
    struct json j = {0};
    json_object(&j, NULL);
    json_array(&j, "families");
    for (int i = 0; i < family_count(); i++) {
        json_object(&j, NULL);
        json_string(&j, "name", family_at(i)->name);
        json_string(&j, "what", family_at(i)->what);
        json_string(&j, "parameters", family_at(i)->parameters);
        json_end_object(&j);
    }
    json_end_array(&j);
    json_array(&j, "sets");
    for (int i = 0; i < set_count(); i++)
        set_json(&j, set_at(i));
    json_end_array(&j);
    json_end_object(&j);
    return out_json(s, &j);
}

/* The members of one set: heddle gen --list set:paper. */
static heddle_status list_set(struct session *s, const char *text)
{
    struct table t;
    const struct set *set = strncmp(text, "set:", 4) == 0 ? set_by_name(text + 4) : NULL;
    if (!set)
        return fail(HEDDLE_BAD_ARGUMENT, "%s is not a set (heddle gen --list names them)", text);
    table_begin(&t, member_columns);
    for (int i = 0; i < set->count; i++)
        table_add(&t, "%s\t%s\t%s", set->member[i].name, set->member[i].spec,
                  set->member[i].published.where ? set->member[i].published.where : "");
    table_end(&t, s);
    return HEDDLE_OK;
}

/* A family may be named with or without gen: in front, and a member of a set is as good. */
static heddle_status find(struct subject_list *list, const char *name)
{
    struct text full = {0};
    if (strncmp(name, "gen:", 4) == 0 || strncmp(name, "set:", 4) == 0)
        return one_subject(list, name);
    text_add(&full, "gen:%s", name);
    heddle_status status = full.failed ? HEDDLE_NO_MEMORY : one_subject(list, full.data);
    text_free(&full);
    return status;
}

static heddle_status run(struct session *s, void *into)
{
    heddle_status status = HEDDLE_OK;
    const struct choices *c = into;
    struct subject_list list = {0};
    struct loaded m = {0};
    heddle_type type = 0;
    double begin = now_ms();
    if (c->list && c->json)
        return list_json(s);
    if (c->list && s->operands > 0)
        return list_set(s, s->operand[0]);
    if (c->list) {
        list_all(s);
        return HEDDLE_OK;
    }
    if (s->operands == 0 || !c->output)
        return fail(HEDDLE_BAD_ARGUMENT, s->operands == 0
                                             ? "gen needs a family: heddle gen grid3d:n=20 -o a.mtx"
                                             : "gen needs a file to write: -o FILE");
    if (c->type)
        TRY(type_choice(c->type, &type));
    TRY(find(&list, s->operand[0]));
    progress(s, 0, 2, "making %s", list.item[0].name);
    TRY(subject_load(&m, &list.item[0], type));
    progress_clear(s);
    progress(s, 1, 2, "writing %s", c->output);
    TRY(file_write(&m.csr, c->output));
    told_written(s, c->output, &m.csr, now_ms() - begin);
done:
    loaded_free(&m);
    subjects_free(&list);
    return status;
}

const struct page page_gen = {
    .usage = "FAMILY[:key=value,...] -o FILE",
    .details =
        "Makes a matrix; the same spec gives the same matrix on every machine.  --list shows the families\n"
        "with their parameters, --list set:NAME the members of a set.  FILE ends in .mtx, .mtx.gz, .rb,\n"
        ".rb.gz, .hdl, .petsc or .petsc64.  Every family takes values=complex: random real and imaginary\n"
        "parts.\n"
        "\n"
        "Examples:\n"
        "  heddle gen grid3d:n=100 -o a.mtx\n"
        "  heddle gen set:paper/cant -o cant.hdl\n"
        "  heddle gen --list\n",
    .option = options,
    .least = 0,
    .most = 1,
    .size = sizeof(struct choices),
    .run = run};
