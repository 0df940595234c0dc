/* SPDX-License-Identifier: MIT */
#include "report/report.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "cli/cli.h"

#define WARNINGS_SHOWN 20

struct choices {
    const char *output, *svg, *device, *type, *op, *baseline;
    int cold;
};

#define AT(member) offsetof(struct choices, member)
static const struct cli_option options[] = {
    {"output", 'o', OPTION_TEXT, AT(output), "PAGE.html", "the page (report.html unless --svg is given)"},
    {"svg", 0, OPTION_TEXT, AT(svg), "DIR", "drawings in place of a page, into this folder"},
    {"device", 'd', OPTION_TEXT, AT(device), "DEVICE", "drawings: whose runs (the device with most)"},
    {"type", 't', OPTION_TEXT, AT(type), TYPES_WHAT, "drawings: which type (the one with most runs)"},
    {"op", 0, OPTION_TEXT, AT(op), "N|T|H", "drawings: which operation (N where there is any)"},
    {"baseline", 0, OPTION_TEXT, AT(baseline), "KERNEL", "drawings: whom speed-ups refer to (auto)"},
    {"cold", 0, OPTION_FLAG, AT(cold), NULL, "drawings: times with flushed caches"},
    {0}};

/* Warnings go to standard error at once: they matter even if nothing is written in the end. */
static void show_warnings(struct session *s, const struct records *r)
{
    const char *line = r->warnings.data;
    progress_clear(s);
    for (int shown = 0; line && *line && shown < WARNINGS_SHOWN; shown++) {
        char text[1024], printable[4096];
        size_t size = strcspn(line, "\n");
        snprintf(text, sizeof text, "%.*s", (int)size, line);
        text_printable(printable, sizeof printable, text, "");
        fprintf(stderr, "heddle: %s\n", printable);
        line += size + 1;
    }
    if (r->warning_count > WARNINGS_SHOWN)
        fprintf(stderr, "heddle: and %lld more lines like these\n",
                (long long)r->warning_count - WARNINGS_SHOWN);
}

static heddle_status read_all(struct session *s, struct records *r)
{
    heddle_status status = HEDDLE_OK;
    for (int i = 0; i < s->operands; i++) {
        progress(s, i, s->operands, "%s", s->operand[i]);
        TRY(records_read(r, s->operand[i]));
    }
    TRY(records_finish(r));
    show_warnings(s, r);
    if (r->plottable == 0)
        TRY(fail(HEDDLE_BAD_FILE,
                 "%s%s: no verified run in %lld lines; heddle bench MATRIX... --json FILE makes some",
                 s->operand[0], s->operands > 1 ? ", ..." : "", (long long)r->lines));
done:
    return status;
}

static heddle_status write_page(struct session *s, const struct records *r, const char *path)
{
    heddle_status status = HEDDLE_OK;
    struct text page = {0};
    char runs[NUMBER_TEXT], bytes[NUMBER_TEXT], folder[PATH_MAX];
    /* a name that needs the folder in front of it */
    int below = path[0] != '/' && getcwd(folder, sizeof folder) != NULL;
    TRY(report_page(&page, r));
    TRY(output_text(path, &page));
    if (!s->quiet)
        out(s, "%s: %s runs, %s; open it in any browser: file://%s%s%s\n", path,
            text_count(runs, r->plottable), text_bytes(bytes, (double)page.size), below ? folder : "",
            below ? "/" : "", path);
done:
    text_free(&page);
    return status;
}

static heddle_status write_drawings(struct session *s, const struct records *r, const struct choices *c)
{
    heddle_status status = HEDDLE_OK;
    struct figure_choice choice = {c->device, c->type, c->op, c->baseline, c->cold};
    struct text path = {0}, svg = {0};
    TRY(figure_choose(&choice, r));
    if (mkdir(c->svg, 0777) != 0 && errno != EEXIST)
        TRY(fail(HEDDLE_FILE_ERROR, "%s: cannot be made: %s", c->svg, strerror(errno)));
    for (const struct figure *f = figures; f->name; f++) {
        text_free(&path);
        text_free(&svg);
        text_add(&path, "%s/%s.svg", c->svg, f->name);
        TRY(path.failed ? HEDDLE_NO_MEMORY : HEDDLE_OK);
        TRY(f->draw(&svg, r, &choice));
        TRY(output_text(path.data, &svg));
        if (!s->quiet)
            out(s, "%s: %s\n", path.data, f->what);
    }
    if (!s->quiet)
        out(s, "%s, %s, %s, %s; speed-ups over %s\n", choice.device, choice.value, choice.op,
            choice.cold ? "cold" : "warm", choice.baseline);
done:
    text_free(&path);
    text_free(&svg);
    return status;
}

static heddle_status run(struct session *s, void *into)
{
    heddle_status status = HEDDLE_OK;
    const struct choices *c = into;
    struct records r = {0};
    const char *page = c->output ? c->output : c->svg ? NULL : "report.html";
    if (!c->svg && (c->device || c->type || c->op || c->baseline || c->cold))
        TRY(fail(HEDDLE_BAD_ARGUMENT,
                 "--device, --type, --op, --baseline and --cold are for --svg; a page has all of them"));
    TRY(read_all(s, &r));
    if (page)
        TRY(write_page(s, &r, page));
    if (c->svg)
        TRY(write_drawings(s, &r, c));
done:
    records_free(&r);
    return status;
}

const struct page page_report = {
    .usage = "RECORDS... [-o PAGE.html] [--svg DIR]",
    .details =
        "Turns the records of heddle bench --json into one page that opens in any browser, offline:\n"
        "performance profiles, GFLOP/s and share of the floor over nonzeros, speed-ups over a baseline,\n"
        "geometric means by class, what formats cost and when they pay, and a page for each matrix.  With\n"
        "--svg, the main figures as drawings instead.  Lines that are broken, of a later version, not\n"
        "verified or contradictory are named and left out.  RECORDS may be packed by gzip or xz.\n"
        "\n"
        "Examples:\n"
        "  heddle bench set:smoke --kernel all --op N,T --json r.jsonl\n"
        "  heddle report r.jsonl -o page.html\n"
        "  heddle report bench/results/*.jsonl.xz --svg docs/figures --type f64 --op N\n",
    .option = options,
    .least = 1,
    .most = 1 << 20,
    .size = sizeof(struct choices),
    .run = run};
