/* SPDX-License-Identifier: MIT
 *
 * matrix.js: one matrix: what it is, how long its rows are, where its entries lie, and every kernel on it. */

views.matrix = {
  title: null,
  render(main) {
    const matrix = matrices.find(m => m.key === state.matrix);
    if (!matrix) {
      main.append(make("p", { class: "empty" }, `There is no matrix '${state.matrix}' in these records. `,
                       make("a", { href: viewLink("matrices") }, "All matrices")));
      return;
    }
    main.append(matrixHead(matrix));
    const s = selection(),
          mine = s.shown.filter(i => runs.matrix[i] === matrix.id).sort((a, b) => s.ms[a] - s.ms[b]);
    card(main, { id: "kernels", title: "All kernels", note: caseNote(), csv: () => kernelRows(mine, s),
      draw: (body, width) => drawKernels(body, width, mine, s) });
    const pair = make("div", { class: "pair-cards" });
    main.append(pair);
    if (matrix.picture)
      card(pair, { id: "pattern", title: "Pattern",
        note: `Each cell counts the entries of ${figure3(matrix.rows / matrix.tall)} rows ` +
        `and ${figure3(matrix.cols / matrix.side)} columns; the fuller, the stronger.`,
        csv: () => patternRows(matrix), draw: (body, width) => drawPattern(body, width, matrix) });
    if (matrix.histogram.length)
      card(pair, { id: "lengths", title: "Row lengths", note: "Rows by their number of entries.",
        csv: () => histogramRows(matrix),
        draw: (body, width) => drawHistogram(body, width, matrix) });
    card(main, { id: "statistics", title: "Statistics", picture: false, csv: () => statisticRows(matrix),
      draw: body => drawStatistics(body, matrix) });
    card(main, { id: "runs", title: "Runs", picture: false, csv: () => kernelRows(mine, s),
      draw: body => runTable(body, mine, matrix, s) });
  },
};

function matrixHead(matrix) {
  const used = matrices.filter(m => m.used).sort((a, b) => byName(a.name, b.name)), at = used.indexOf(matrix);
  const step = (by, words) => {
    const next = used[at + by];
    return next ? make("a", { href: link({ matrix: next.key }), "data-focus": words, rel: words },
      words === "previous" ? `← ${next.name}` : `${next.name} →`) : null;
  };
  return make("div", { class: "matrix-head" },
    make("p", { class: "crumbs" }, make("a", { href: viewLink("matrices") }, "All matrices"),
      step(-1, "previous"), step(1, "next")),
    make("h1", {}, matrix.name),
    make("p", { class: "lead" },
      `${count(matrix.rows)} × ${count(matrix.cols)} with ${count(matrix.nnz)} nonzeros, ` +
      `${figure3(matrix.mean)} a row; ${structureClasses[matrix.structure]}.`),
    make("p", { class: "lead codes" }, [...new Set([matrix.origin, matrix.spec])].filter(Boolean)
      .map(name => make("code", {}, name))));
}

/* ---------------------------------------------------------------- kernels */

function caseWords(i) {
  return [state.type === "all" && runs.types[runs.type[i]], state.op === "all" &&
    opName(runs.ops[runs.op[i]])].filter(Boolean).join(" ");
}

function drawKernels(body, width, mine, s) {
  if (!mine.length) return empty(body, "No runs of this matrix have what the filters ask for.");
  return bars(body, width, mine.map(i => ({ i, kernel: runs.kernel[i], name: [runs.kernels[runs.kernel[i]],
    caseWords(i)].filter(Boolean).join(" "),
    value: measures.gflops.of(i, s),
    words: `${figure3(measures.gflops.of(i, s))} · ${milliseconds(s.ms[i])}` })),
    { label: measures.gflops.long, format: figure3, describe: r => runTip(r.i, measures.gflops, r.value) });
}

function kernelRows(mine, s) {
  return [["kernel", "ran", "format", "type", "op", "ms", "GFLOP/s", "share of the floor", "warm ms",
           "cold ms", "convert ms",
    "prepare ms",
           "held bytes", "spread", "repetitions", "error", "date", "version"],
          ...mine.map(i => [runs.kernels[runs.kernel[i]], text(runs.ran[i]), text(runs.format[i]),
                            runs.types[runs.type[i]],
            runs.ops[runs.op[i]],
            s.ms[i], +measures.gflops.of(i, s).toPrecision(5), measures.floor.of(i, s), runs.warm[i],
            runs.cold[i],
              runs.convert[i],
            runs.prepare[i], runs.held[i], runs.spread[i], runs.repetitions[i], runs.error[i],
            text(runs.date[i]),
              text(runs.version[i])])];
}

function runTable(body, mine, matrix, s) {
  if (mine.length)
    table(body, { caption: `Runs of ${matrix.name}`, rows: mine, columns: [
      { title: "kernel", cell: i => [...named(runs.kernel[i]),
        runs.ran[i] >= 0 && text(runs.ran[i]) !== runs.kernels[runs.kernel[i]] && make("small", {},
          ` ${text(runs.ran[i])}`)] },
      { title: "case", cell: i => `${runs.types[runs.type[i]]} ${opName(runs.ops[runs.op[i]])}` },
      { title: "warm", number: true, cell: i => milliseconds(runs.warm[i]) },
      { title: "cold", number: true, cell: i => milliseconds(runs.cold[i]), wide: true },
      { title: "preparation", number: true, cell: i => milliseconds(runs.setup[i]), wide: true },
      { title: "memory", number: true, cell: i => bytes(runs.held[i]), wide: true,
        hint: "held beyond the matrix" },
      { title: "of floor", number: true, cell: i => percent(measures.floor.of(i, s)) },
      { title: "error", number: true, cell: i => percent(runs.error[i]), wide: true,
        hint: "largest share of the error bound" }] });
  const skipped = runs.skipped.filter(j => records.run.matrix[j] === matrix.id && skippedMatches(j));
  if (skipped.length)
    body.append(make("details", { class: "skipped" },
      make("summary", {}, `${count(skipped.length)} not run here`),
      make("ul", {}, skipped.map(j => make("li", {}, make("strong", {}, text(records.run.kernel[j])),
        ` ${text(records.run.value[j])} ${opName(text(records.run.op[j]))}: ` +
        `${text(records.run.skipped[j]) ?? ""}`)))));
}

function skippedMatches(j) {
  const r = records.run;
  return r.skipped[j] >= 0 && text(r.device[j]) === state.device &&
    (state.type === "all" || text(r.value[j]) === state.type) &&
         (state.op === "all" || text(r.op[j]) === state.op);
}

/* ---------------------------------------------------------------- pattern */

/* Levels from 0 to 1, row by row; letters are levels, numbers are empty cells (src/report/records.h). */
function pictureCells(letters) {
  const cells = [];
  for (const [piece] of letters.matchAll(/[0-9]+|[A-Za-z]/g)) {
    const code = piece.charCodeAt(0);
    if (code < 58) for (let n = +piece; n > 0; n--) cells.push(0);
    else cells.push((code < 91 ? code - 64 : code - 70) / 52);
  }
  return cells;
}

function patternRows(matrix) {
  const cells = pictureCells(matrix.picture), rows = [];
  for (let i = 0; i < matrix.tall; i++)
    rows.push(d3.range(matrix.side).map(j => +(cells[i * matrix.side + j] || 0).toFixed(3)));
  return rows;
}

function drawPattern(body, width, matrix) {
  const cells = pictureCells(matrix.picture), rows = matrix.tall, cell = Math.max(2,
    Math.floor(Math.min(width, 448) / Math.max(matrix.side, rows)));
  const w = cell * matrix.side, h = cell * rows, full = cells.filter(c => c > 0).length;
  const svg = d3.select(body).append("svg").attr("class", "pattern")
    .attr("viewBox", `-1 -1 ${w + 2} ${h + 2}`)
    .attr("width", w + 2)
    .attr("height", h + 2).attr("role", "img").attr("aria-label",
      `Picture of the pattern: ${full} of ${matrix.side * rows} cells hold entries.`);
  svg.append("rect").attr("class", "paper").attr("width", w).attr("height", h);
  const g = svg.append("g").attr("class", "cells");
  cells.forEach((level, n) => {
    if (level > 0)
      g.append("rect").attr("x", n % matrix.side * cell).attr("y", Math.floor(n / matrix.side) * cell)
        .attr("width", cell)
        .attr("height", cell)
        .attr("fill-opacity", (0.12 + 0.88 * level).toFixed(2));
  });
  return { svg: () => svg.node() };
}

/* ---------------------------------------------------------------- row lengths */

function binName(b) {
  const words = b > 14 ? short : count; /* in full as long as there is room */
  return b < 2 ? String(b) : `${words(2 ** (b - 1))}–${words(2 ** b - 1)}`;
}

function histogramRows(matrix) {
  return [["entries from", "to", "rows"],
          ...matrix.histogram.map((n, b) => [b ? 2 ** (b - 1) : 0, b ? 2 ** b - 1 : 0, n])];
}

function drawHistogram(body, width, matrix) {
  const bins = matrix.histogram, first = bins.findIndex(n => n > 0),
        shown = bins.map((n, b) => ({ n, b })).slice(Math.max(0, first));
  const band = 26, height = 24 + band * shown.length + 46, x = d3.scaleLinear().domain([0, d3.max(bins)]);
  const y = d3.scaleLinear().domain([shown.length, 0]);
  const svg = frame(body, { width, height, margin: { left: 92, right: 84, top: 12, bottom: 48 }, x, y,
    label: "Row lengths: " + shown.filter(r => r.n).map(r => `${count(r.n)} rows of ${binName(r.b)}`)
      .join(", ") + "." });
  axisX(svg, x, y, { label: "rows", format: short });
  const g = svg.append("g").selectAll("g").data(shown).enter().append("g");
  g.append("rect").attr("class", "plain-bar").attr("x", x(0)).attr("y", (r, i) => y(i) + 5)
    .attr("height", band - 10)
    .attr("rx", 2)
    .attr("width", r => r.n ? Math.max(1, x(r.n) - x(0)) : 0);
  g.append("text").attr("class", "value").attr("x", x(0) - 8).attr("y", (r, i) => y(i + 0.5))
    .attr("dy", "0.34em")
    .attr("text-anchor", "end")
    .text(r => binName(r.b));
  g.append("text").attr("class", "value").attr("x", r => x(r.n) + 6).attr("y", (r, i) => y(i + 0.5))
    .attr("dy", "0.34em")
    .text(r => r.n ? count(r.n) : "");
  return { svg: () => svg.node() };
}

/* ---------------------------------------------------------------- statistics */

const statisticNames = {
  row_shortest: "shortest row", row_longest: "longest row", row_empty: "empty rows", row_mean: "mean row",
    row_deviation: "deviation of rows",
  col_shortest: "shortest column", col_longest: "longest column", col_empty: "empty columns",
  col_mean: "mean column", col_deviation: "deviation of columns", lower_bandwidth: "lower bandwidth",
  upper_bandwidth: "upper bandwidth",
    diagonal: "entries on the diagonal",
  repeats: "repeated entries", pattern_symmetry: "symmetry of the pattern",
  numeric_symmetry: "symmetry of the values",
    distinct_values: "distinct values",
};

function statisticRows(matrix) {
  return [["statistic", "value"], ["rows", matrix.rows], ["columns", matrix.cols], ["nonzeros", matrix.nnz],
          ...Object.entries(statisticNames).filter(([key]) => records.matrix[key][matrix.id] != null)
            .map(([key, name]) => [name, records.matrix[key][matrix.id]])];
}

function drawStatistics(body, matrix) {
  const share = name => name.startsWith("symmetry");
  body.append(make("dl", { class: "statistics" }, statisticRows(matrix).slice(1)
    .map(([name, value]) => make("div", {}, make("dt", {}, name),
    make("dd", {}, share(name) ? percent(value)
      : Number.isInteger(value) ? count(value) : figure3(value))))));
  return {};
}
