/* SPDX-License-Identifier: MIT
 *
 * means.js: geometric means of kernels over classes of matrices. */

views.means = {
  title: "Means",
  lead: "Geometric means by size and by structure, over the cases that all kernels shown have. Where all " +
        "cases are asked for, a kernel that lacks some is averaged over fewer; “of the best” and speed-up " +
        "are the fairer figures then.",
  render(main) {
    const s = selection(), measure = measures[state.mean], sheet = meanSheet(s, measure);
    const controls = () => make("div", { class: "inline" },
      segments("mean", "Show", choices.mean, v => measures[v].name),
      segments("by", "Classes by", choices.by, v => v));
    card(main, { id: "means", title: `Geometric mean: ${measure.name}`,
                 note: `${caseNote()} · ${casesNote(s)}`,
      controls: controls(), csv: () => meanRows(sheet),
      draw: (body, width) => drawMeans(body, width, sheet, measure, s) });
    card(main, { id: "means-table", title: `By ${state.by === "size" ? "nonzeros" : "structure"}`,
                 picture: false,
      note: state.by === "structure" ? sheet.classes.map(c => `${structureClasses[c]}: ${structureNotes[c]}`)
        .join("; ") : null,
      csv: () => meanRows(sheet), draw: body => meanTable(body, sheet, measure, s) });
  },
};

function meanSheet(s, measure) {
  const names = state.by === "size" ? sizeClasses : structureClasses;
  const classOf = state.by === "size" ? "size" : "structure";
  const rows = new Map(
    s.shownKernels.map(k => [k, { kernel: k, all: new Mean(), cell: names.map(() => new Mean()) }]));
  const cases = names.map(() => new Set());
  for (const i of s.compared) {
    const row = rows.get(runs.kernel[i]), c = matrices[runs.matrix[i]][classOf], value = measure.of(i, s);
    cases[c].add(runs.group[i]);
    row.all.add(value);
    row.cell[c].add(value);
  }
  const classes = d3.range(names.length).filter(c => cases[c].size);
  return { names, classes, cases: cases.map(set => set.size), total: s.cases.length,
           rows: [...rows.values()].filter(r => r.all.count).sort((a, b) => b.all.value - a.all.value) };
}

function meanRows({ names, classes, rows }) {
  const digits = mean => mean.count ? +mean.value.toPrecision(4) : "";
  return [["kernel", "all", "cases", ...classes.flatMap(c => [names[c], `cases ${names[c]}`])],
          ...rows.map(r => [runs.kernels[r.kernel], digits(r.all), r.all.count,
                            ...classes.flatMap(c => [digits(r.cell[c]), r.cell[c].count])])];
}

function meanTable(body, { names, classes, cases, total, rows }, measure, s) {
  if (!s.cases.length) return noCases(body, s);
  if (!rows.length) return empty(body, "These records do not hold what this needs.");
  const cell = (mean, all) => mean.count
    ? [measureText(measure, mean.value), mean.count < all &&
      make("small", { title: `${mean.count} of ${all} cases` },
      ` ${mean.count}/${all}`)]
    : "–";
  const column = (title, all, of) => {
    const top = d3.max(rows, r => of(r).value), low = d3.min(rows, r => of(r).value);
    /* of those that take every case */
    const first = d3.max(rows.filter(r => of(r).count === all), r => of(r).value);
    return { title: [title, make("small", {}, ` ${count(all)}`)], number: true, cell: r => cell(of(r), all),
             tint: r => of(r).count ? (top > low ? Math.log(of(r).value / low) / Math.log(top / low) : 1) : 0,
             strong: r => of(r).count === all && of(r).value === first };
  };
  const columns = [column("all", total, r => r.all),
                   ...classes.map(c => column(names[c], cases[c], r => r.cell[c]))];
  const room = innerWidth < 760 ? 3 : columns.length; /* on a phone several tables, one below the other */
  for (let at = 0; at < columns.length; at += room)
    table(body, { caption: `Geometric means by class${at ? ", continued" : ""}`, rows,
                  columns: [{ title: "kernel", cell: r => named(r.kernel) },
                            ...columns.slice(at, at + room)] });
}

function drawMeans(body, width, { rows, total }, measure, s) {
  if (!s.cases.length) return noCases(body, s);
  if (!rows.length) return empty(body, "These records do not hold what this needs.");
  return bars(body, width,
    rows.map(r => ({ kernel: r.kernel, name: runs.kernels[r.kernel], value: r.all.value,
                     faint: r.all.count < total,
    words: measureText(measure, r.all.value) +
      (r.all.count < total ? ` on ${count(r.all.count)} of ${count(total)}` : "") })),
    { label: measure.long, format: v => measureText(measure, v), one: measure.times });
}

/* Horizontal bars, a kernel each: [{ kernel, name, value, words, faint }]. */
function bars(body, width, rows, { label, format, one, describe }) {
  const narrow = width < 620, band = narrow ? 40 : 28, height = 24 + band * rows.length + 50;
  const left = narrow ? 4 : 22 + 7.4 * d3.max(rows, r => r.name.length), right = narrow ? 8 : 22 +
    7.2 * d3.max(rows, r => r.words.length);
  const x = d3.scaleLinear().domain([0, d3.max(rows, r => r.value) * 1.02]),
        y = d3.scaleLinear().domain([rows.length, 0]);
  const svg = frame(body, { width, height, margin: { left, right, top: 16, bottom: 52 }, x, y,
    label: `${label}: ` + rows.slice(0, 8).map(r => `${r.name} ${r.words}`).join(", ") + "." });
  axisX(svg, x, y, { label, format });
  const g = svg.append("g").selectAll("g").data(rows).enter().append("g").attr("class", "direct");
  const middle = (r, i) => y(i + (narrow ? 0.26 : 0.5)),
        top = (r, i) => y(i) + (narrow ? band * 0.5 : band / 2 - 8);
  g.append("rect").attr("x", x(0)).attr("y", top).attr("width", r => Math.max(1, x(r.value) - x(0)))
    .attr("height", narrow ? 13 : 16)
    .attr("rx", 2).attr("fill", r => kernels[r.kernel].colour).attr("fill-opacity", r => r.faint ? 0.45 : 1);
  g.append("text").attr("x", narrow ? x(0) : x(0) - 12).attr("y", middle).attr("dy", "0.34em")
    .attr("text-anchor", narrow ? "start" : "end")
    .attr("fill", r => wordColour(kernels[r.kernel].colour)).text(r => r.name);
  g.append("text").attr("class", "value").attr("x", r => narrow ? x.range()[1] : x(r.value) + 8)
    .attr("y", middle)
    .attr("dy", "0.34em")
    .attr("text-anchor", narrow ? "end" : "start").text(r => r.words);
  if (one) svg.append("line").attr("class", "one").attr("x1", x(1)).attr("x2", x(1))
    .attr("y1", y(rows.length))
    .attr("y2", y(0));
  if (describe) {
    listen(g, "pointermove", (event, r) => tip(event, describe(r)));
    listen(g, "pointerleave", hideTip);
  }
  return { svg: () => svg.node(), highlight: k => g.classed("back", r => k >= 0 && r.kernel !== k),
           kernels: rows.map(r => r.kernel), labelled: true };
}
