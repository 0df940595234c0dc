/* SPDX-License-Identifier: MIT
 *
 * speedup.js: every kernel against one, case by case. */

views.speedup = {
  title: "Speed-up",
  lead: "How many times as fast as the baseline is each kernel, case by case? Each dot is a case, the bar " +
        "the geometric mean; to the right of 1× the kernel wins.",
  render(main) {
    const s = selection(), rows = speedups(s), first = rows.find(r => runs.kernels[r.kernel] !== state.base);
    if (first)
      finding(main, [strongName(first.kernel),
                     ` is ${times(first.mean)} as fast as ${state.base} in the geometric mean, ` +
        `and faster on ${count(first.wins)} of ${count(first.list.length)} cases.`]);
    card(main, { id: "speedup", title: `Speed-up over ${state.base}`, note: `${caseNote()} · ${casesNote(s)}`,
      csv: () => speedupRows(rows), draw: (body, width) => drawSpeedup(body, width, rows, s) });
    card(main, { id: "speedup-table", title: "The same in numbers", picture: false,
                 csv: () => speedupSummary(rows),
      draw: body => speedupTable(body, rows, s) });
  },
};

/* For each kernel its speed-ups, sorted, with their mean; the largest mean first. */
function speedups(s) {
  const rows = new Map(s.shownKernels.map(k => [k, { kernel: k, list: [] }]));
  for (const i of s.compared) {
    const value = s.baseline[runs.group[i]] / s.ms[i];
    if (value > 0) rows.get(runs.kernel[i]).list.push({ i, value });
  }
  for (const row of rows.values()) {
    const mean = new Mean();
    row.list.sort((a, b) => a.value - b.value).forEach(({ value }) => mean.add(value));
    row.mean = mean.value;
    row.quantile = p => d3.quantile(row.list, p, l => l.value);
    row.wins = row.list.filter(l => l.value > 1.0001).length;
  }
  return [...rows.values()].filter(row => row.list.length).sort((a, b) => b.mean - a.mean);
}

function speedupRows(rows) {
  return [["kernel", "matrix", "type", "op", `speed-up over ${state.base}`],
          ...rows.flatMap(row =>
            row.list.map(({ i, value }) => [runs.kernels[row.kernel], matrices[runs.matrix[i]].name,
            runs.types[runs.type[i]], runs.ops[runs.op[i]], +value.toPrecision(5)]))];
}

function speedupSummary(rows) {
  return [["kernel", "cases", "faster on", "geometric mean", "least", "quartile 1", "median",
           "quartile 3", "most"],
          ...rows.map(row => [runs.kernels[row.kernel], row.list.length, row.wins,
            ...[row.mean, row.quantile(0), row.quantile(0.25),
            row.quantile(0.5), row.quantile(0.75), row.quantile(1)].map(v => +v.toPrecision(4))])];
}

function speedupTable(body, rows, s) {
  if (!s.cases.length) return noCases(body, s);
  if (!rows.length) return empty(body, `The baseline ${state.base} has no runs here; choose another.`);
  table(body, { caption: `Speed-up over ${state.base}`, rows, columns: [
    { title: "kernel", cell: r => named(r.kernel) },
    { title: "geometric mean", number: true, cell: r => times(r.mean), strong: r => r === rows[0] },
    { title: "faster on", number: true, cell: r => `${count(r.wins)} of ${count(r.list.length)}` },
    { title: "least", number: true, cell: r => times(r.quantile(0)), wide: true },
    { title: "median", number: true, cell: r => times(r.quantile(0.5)), wide: true },
    { title: "most", number: true, cell: r => times(r.quantile(1)), wide: true }] });
}

/* A fixed place in [-1, 1] for each dot, so that equal values do not hide each other. */
function jitter(i) {
  return (((i * 2654435761) >>> 0) / 4294967296) * 2 - 1;
}

function drawSpeedup(body, width, rows, s) {
  if (!s.cases.length) return noCases(body, s);
  if (!rows.length) return empty(body, `The baseline ${state.base} has no runs here; choose another.`);
  const narrow = width < 620, band = narrow ? 46 : 34, left = narrow ? 12 : 24 +
    7.4 * d3.max(rows, r => runs.kernels[r.kernel].length);
  const height = 30 + band * rows.length + 50,
        values = rows.flatMap(r => [r.list[0].value, r.list[r.list.length - 1].value]);
  const x = d3.scaleLog().domain(logDomain([0.9, 1.1, ...values])),
        y = d3.scaleLinear().domain([rows.length, 0]);
  const svg = frame(body, { width, height, margin: { left, right: narrow ? 12 : 74, top: 20, bottom: 52 }, x,
                            y,
    label: `Speed-up of ${rows.length} kernels over ${state.base}. ` +
           rows.slice(0, 5).map(r => `${runs.kernels[r.kernel]} ${figure3(r.mean)} times`)
             .join(", ") + "." });
  axisX(svg, x, y, { label: `times as fast as ${state.base}`, format: v => `${v}×` });
  svg.append("line").attr("class", "one").attr("x1", x(1)).attr("x2", x(1)).attr("y1", y(rows.length))
    .attr("y2", y(0));
  const points = rows.flatMap((row, at) => row.list.map(({ i, value }) => ({ i, kernel: row.kernel, x: value,
    y: at + (narrow ? 0.7 : 0.5) + jitter(i) * (row.list.length > 12 ? (narrow ? 0.18 : 0.26) : 0) })));
  const drawn = scatter(body, { width, height, points, x, y, svg,
    radius: points.length > 5000 ? 1.8 : points.length > 800 ? 2.4 : 3.4,
    over: above => rows.forEach(
      (row, at) => speedupWords(above, row, x, y(at + (narrow ? 0.22 : 0.5)), narrow)),
    describe: p => runTip(p.i, measures.speedup, p.x),
      open: p => { location.hash = matrixLink(matrices[runs.matrix[p.i]]); } });
  return drawn;
}

function speedupWords(svg, row, x, middle, narrow) {
  const kernel = kernels[row.kernel], [from, to] = x.range(),
        g = svg.append("g").datum(row).attr("class", "direct");
  const bar = middle + (narrow ? 22 : 0);
  g.append("text").attr("x", narrow ? from : from - 12).attr("y", middle).attr("dy", "0.34em")
    .attr("text-anchor", narrow ? "start" : "end")
    .attr("fill", wordColour(kernel.colour)).text(kernel.name);
  g.append("text").attr("class", "value").attr("x", narrow ? to : to + 10).attr("y", middle)
    .attr("dy", "0.34em")
    .attr("text-anchor", narrow ? "end" : "start").text(times(row.mean));
  g.append("rect").attr("x", x(row.mean) - 1.5).attr("y", bar - 11).attr("width", 3).attr("height", 22)
    .attr("rx", 1.5)
    .attr("fill", wordColour(kernel.colour)).attr("stroke", theme("--card"));
}
