/* SPDX-License-Identifier: MIT */
#include "base/timer.h"
#include "cli/cli.h"

struct choices {
    const char *type;
};

static const struct cli_option options[] = {{"type", 't', OPTION_TEXT, offsetof(struct choices, type),
                                             TYPES_WHAT, "type of the values (as stored, else f64)"},
                                            {0}};

static heddle_status run(struct session *s, void *into)
{
    heddle_status status = HEDDLE_OK;
    const struct choices *c = into;
    struct subject_list list = {0};
    struct loaded m = {0};
    heddle_type type = 0;
    double begin = now_ms();
    if (c->type)
        TRY(type_choice(c->type, &type));
    TRY(one_subject(&list, s->operand[0]));
    progress(s, 0, 2, "reading %s", list.item[0].name);
    TRY(subject_load(&m, &list.item[0], type));
    progress_clear(s);
    progress(s, 1, 2, "writing %s", s->operand[1]);
    TRY(file_write(&m.csr, s->operand[1]));
    told_written(s, s->operand[1], &m.csr, now_ms() - begin);
done:
    loaded_free(&m);
    subjects_free(&list);
    return status;
}

const struct page page_convert = {
    .usage = "IN OUT [--type T]",
    .details =
        "Reads a matrix and writes it in the format that OUT's ending names: .mtx, .mtx.gz, .rb, .rb.gz,\n"
        ".hdl, .petsc or .petsc64 (PETSc's binary matrices, as its builds with 32- or 64-bit indices read\n"
        "them).\n"
        "IN is a file, gen:FAMILY:... or set:SET/MEMBER.  A .hdl file opens at once, whatever its size:\n"
        "convert what you read often.  OUT appears only when it is complete.\n"
        "\n"
        "Examples:\n"
        "  heddle convert cant.tar.gz cant.hdl\n"
        "  heddle convert set:paper/cant cant.mtx.gz\n",
    .option = options,
    .least = 2,
    .most = 2,
    .size = sizeof(struct choices),
    .run = run};
