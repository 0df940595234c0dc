/* SPDX-License-Identifier: MIT */
#include "report/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double axis_at(const struct axis *a, double value)
{
    double low = a->low, high = a->high;
    if (a->log) {
        low = log(low);
        high = log(high);
        value = log(value);
    }
    return high > low ? a->from + (value - low) / (high - low) * (a->to - a->from) : (a->from + a->to) / 2;
}

void axis_hold(struct axis *a, double value)
{
    if (!isfinite(value) || (a->log && value <= 0))
        return;
    int empty = a->low == 0 && a->high == 0;
    a->low = empty || value < a->low ? value : a->low;
    a->high = empty || value > a->high ? value : a->high;
}

/* The largest 1, 2 or 5 times a power of ten up to value; with `above`, the smallest from it on. */
static double round_125(double value, int above)
{
    static const double steps[] = {1, 2, 5, 10};
    double power = pow(10, floor(log10(value) + 1e-9));
    for (int i = 0; i < 4; i++) {
        double here = steps[above ? i : 3 - i] * power;
        if (above ? here >= value * (1 - 1e-9) : here <= value * (1 + 1e-9))
            return here;
    }
    return power;
}

void axis_round(struct axis *a)
{
    if (a->log) {
        a->low = round_125(a->low, 0);
        a->high = round_125(a->high, 1);
        if (a->low == a->high) {
            a->low /= 2;
            a->high *= 2;
        }
    } else {
        double step = round_125((a->high > a->low ? a->high - a->low : 1) / 5, 1);
        a->high = a->low + ceil((a->high - a->low) / step - 1e-9) * step;
    }
}

/* ------------------------------------------------------------------ elements */

static void put_escaped(struct text *svg, const char *words)
{
    for (; *words; words++)
        if (*words == '<')
            text_add(svg, "&lt;");
        else if (*words == '>')
            text_add(svg, "&gt;");
        else if (*words == '&')
            text_add(svg, "&amp;");
        else if ((unsigned char)*words >= 0x20)
            text_add(svg, "%c", *words);
}

void svg_text(struct text *svg, double x, double y, enum anchor anchor, const char *colour, const char *words)
{
    static const char *const names[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    text_add(svg, "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\"%s>", x, y, colour, names[anchor]);
    put_escaped(svg, words);
    text_add(svg, "</text>\n");
}

void svg_line(struct text *svg, double x1, double y1, double x2, double y2, const char *style)
{
    text_add(svg, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2, style);
}

void svg_legend_add(struct text *svg, struct svg_legend *l, const char *name, const char *colour)
{
    double width = 26;
    for (const char *c = name; *c; c++)
        width += *c >= 'A' && *c <= 'Z' ? 8.8 : 6.9;
    if (l->x > 0 && l->x + width > l->width - 16) {
        l->x = 0;
        l->top += 19;
    }
    l->x = l->x > 0 ? l->x : 20;
    text_add(svg, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n", l->x, l->top - 4, colour);
    svg_text(svg, l->x + 9, l->top, ANCHOR_START, colour, name);
    l->x += width;
}

/* ------------------------------------------------------------------ ticks */

static void tick_words(char out[NUMBER_TEXT], double value, enum tick_text text)
{
    if (text == TICK_COUNT && value >= 999.5) {
        static const char *const units[] = {"k", "M", "G"};
        int unit = value >= 999.5e6 ? 2 : value >= 999.5e3 ? 1 : 0;
        snprintf(out, NUMBER_TEXT, "%.6g%s", value / pow(1000, unit + 1), units[unit]);
    } else if (text == TICK_PERCENT) {
        snprintf(out, NUMBER_TEXT, "%.6g %%", 100 * value);
    } else {
        snprintf(out, NUMBER_TEXT, "%.6g%s", value, text == TICK_TIMES ? "\xc3\x97" : "");
    }
}

#define TICKS_MOST 32

static int log_ticks(double tick[TICKS_MOST], const struct axis *a)
{
    int count = 0;
    double decades = log10(a->high / a->low);
    static const double steps[] = {1, 2, 5};
    for (double power = pow(10, floor(log10(a->low) + 1e-9)); power <= a->high * 1.001; power *= 10)
        for (int i = 0; i < 3; i++) {
            double value = power * steps[i];
            if ((i > 0 && decades > 2.6) || value < a->low * 0.999 || value > a->high * 1.001 ||
                count == TICKS_MOST)
                continue;
            tick[count++] = value;
        }
    return count;
}

static int ticks_of(double tick[TICKS_MOST], const struct axis *a)
{
    if (a->log)
        return log_ticks(tick, a);
    int count = 0;
    double step = round_125((a->high - a->low) / 5, 1);
    for (int i = 0; count < TICKS_MOST && a->low + i * step <= a->high + step / 1000; i++)
        tick[count++] = a->low + i * step;
    return count;
}

static const char grid[] = "stroke=\"" RULE "\" stroke-opacity=\".28\"";

void chart_x(struct chart *c, const char *label, enum tick_text text)
{
    double tick[TICKS_MOST];
    char words[NUMBER_TEXT];
    for (int i = 0, count = ticks_of(tick, &c->x); i < count; i++) {
        double x = axis_at(&c->x, tick[i]);
        svg_line(c->svg, x, c->y.from, x, c->y.to, grid);
        tick_words(words, tick[i], text);
        svg_text(c->svg, x, c->y.from + 17, ANCHOR_MIDDLE, INK, words);
    }
    svg_text(c->svg, (c->x.from + c->x.to) / 2, c->y.from + 36, ANCHOR_MIDDLE, INK, label);
}

void chart_y(struct chart *c, const char *label, enum tick_text text)
{
    double tick[TICKS_MOST];
    char words[NUMBER_TEXT];
    for (int i = 0, count = ticks_of(tick, &c->y); i < count; i++) {
        double y = axis_at(&c->y, tick[i]);
        svg_line(c->svg, c->x.from, y, c->x.to, y, grid);
        tick_words(words, tick[i], text);
        svg_text(c->svg, c->x.from - 8, y + 4, ANCHOR_END, INK, words);
    }
    svg_text(c->svg, 16, c->y.to - 12, ANCHOR_START, INK, label);
}

/* ------------------------------------------------------------------ the whole */

void chart_begin(struct chart *c, const char *title, const char *note)
{
    text_add(
        c->svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" "
        "role=\"img\" font-family=\"system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', "
        "Arial, sans-serif\" "
        "font-size=\"12\">\n<title>",
        c->width, c->height, c->width, c->height);
    put_escaped(c->svg, title);
    text_add(c->svg, "</title>\n<desc>");
    put_escaped(c->svg, note);
    text_add(c->svg, "</desc>\n<g font-size=\"16\" font-weight=\"600\">");
    svg_text(c->svg, 16, 26, ANCHOR_START, INK, title);
    text_add(c->svg, "</g>\n");
    svg_text(c->svg, 16, 46, ANCHOR_START, INK, note);
}

void chart_end(struct chart *c)
{
    text_add(c->svg, "</svg>\n");
}

void spread_labels(double *at, const int *order, int count, double gap, double low, double high)
{
    for (int i = 1; i < count; i++) /* down, each at least a gap below the one before */
        if (at[order[i]] < at[order[i - 1]] + gap)
            at[order[i]] = at[order[i - 1]] + gap;
    for (int i = count - 1; i >= 0; i--) { /* and back up where the last ones went too far */
        double most = i == count - 1 ? high : at[order[i + 1]] - gap;
        if (at[order[i]] > most)
            at[order[i]] = most;
    }
    if (count > 0 && at[order[0]] < low)
        at[order[0]] = low;
}
