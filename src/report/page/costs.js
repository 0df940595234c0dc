/* SPDX-License-Identifier: MIT
 *
 * costs.js: what preparing costs in time and memory, and after how many products it has paid. */

views.costs = {
  title: "Costs",
  lead: "A format that must be converted to pays only if it is used often enough. The lines show on what " +
        "share of the matrices a kernel, its preparation included, is ahead of the unprepared baseline " +
        "after a number of products.",
  render(main) {
    const s = selection(), rows = costs(s);
    card(main, { id: "costs", title: `When preparing pays, against ${state.base}`,
                 note: `${caseNote()} · ${casesNote(s)}`,
      csv: () => costRows(rows), draw: (body, width) => drawCosts(body, width, rows, s) });
    card(main, { id: "costs-table", title: "What it costs", picture: false, csv: () => costRows(rows),
      draw: body => costTable(body, rows, s),
      note: "Preparation in products of the baseline; memory beyond the matrix as a share of the matrix; " +
            "break-even among the cases where the kernel is faster. Medians." });
  },
};

/* For each kernel with known preparation: break-even points (Infinity where it never pays), relative cost
 * and memory. */
function costs(s) {
  const time = isCold() ? runs.cold : runs.warm, base = new Float64Array(runs.groups).fill(NaN);
  const baseKernel = runs.kernels.indexOf(state.base), rows = new Map();
  for (const i of s.list) if (runs.kernel[i] === baseKernel) base[runs.group[i]] = time[i];
  for (const i of s.compared) {
    const reference = base[runs.group[i]], setup = runs.setup[i];
    if (!(reference > 0) || !(setup >= 0) || runs.kernel[i] === baseKernel) continue;
    const row = rows.get(runs.kernel[i]) ?? rows.set(runs.kernel[i], { kernel: runs.kernel[i], pays: [],
      cost: [], memory: [], ms: [],
      formats: new Set() }).get(runs.kernel[i]);
    row.pays.push(time[i] < reference ? Math.max(1, Math.ceil(setup / (reference - time[i]))) : Infinity);
    row.cost.push(setup / reference);
    row.ms.push(setup);
    if (runs.bytes[i] > 0 && runs.held[i] >= 0) row.memory.push(runs.held[i] / runs.bytes[i]);
    if (runs.format[i] >= 0) row.formats.add(records.strings[runs.format[i]]);
  }
  return [...rows.values()].filter(r => r.cost.some(c => c > 0)).map(finishCost)
    .sort((a, b) => b.share(1e4) - a.share(1e4));
}

function finishCost(row) {
  for (const key of ["pays", "cost", "memory", "ms"]) row[key] = new Float64Array(row[key]).sort();
  const finite = row.pays.filter(n => n < Infinity);
  return Object.assign(row, { share: n => d3.bisectRight(row.pays, n) / row.pays.length,
                              never: row.pays.length - finite.length, even: d3.quantile(finite, 0.5),
                              format: [...row.formats].sort().join(", ") });
}

function costRows(rows) {
  return [["kernel", "format", "cases", "median preparation ms", "in baseline products", "memory share",
           "median break-even",
    "never pays"],
          ...rows.map(r => [runs.kernels[r.kernel], r.format, r.pays.length,
            ...[d3.quantile(r.ms, 0.5), d3.quantile(r.cost, 0.5),
            d3.quantile(r.memory, 0.5), r.even].map(v => v == null ? "" : +v.toPrecision(4)), r.never])];
}

const noCosts = "Nothing shown here is prepared, or its times are not in the records (convert_ms, " +
                "prepare_ms), or the baseline has no runs.";

function costTable(body, rows, s) {
  if (!s.cases.length) return noCases(body, s);
  if (!rows.length) return empty(body, noCosts);
  table(body, { caption: "Cost of preparation", rows, columns: [
    { title: "kernel", cell: r => named(r.kernel) },
    { title: "format", cell: r => r.format || "–", wide: true },
    { title: "preparation", number: true, cell: r => milliseconds(d3.quantile(r.ms, 0.5)), wide: true },
    { title: "in products", number: true, wide: true, cell: r => figure3(d3.quantile(r.cost, 0.5)) },
    { title: "memory", number: true,
      cell: r => r.memory.length ? `+${Math.round(100 * d3.quantile(r.memory, 0.5))} %` : "–" },
    { title: "break-even", number: true, hint: "number of products",
      cell: r => r.even == null ? "never" : count(Math.round(r.even)) },
    { title: "never pays on", number: true, cell: r => `${count(r.never)} of ${count(r.pays.length)}` }] });
}

function drawCosts(body, width, rows, s) {
  if (!s.cases.length) return noCases(body, s);
  if (!rows.length) return empty(body, noCosts);
  const narrow = width < 620, height = narrow ? 340 : labelledHeight(440, rows.length),
        x = d3.scaleLog().domain([1, 1e5]),
    y = d3.scaleLinear().domain([0, 1]);
  const margin = { left: 52, right: narrow ? 14 : labelRoom(rows), top: 34, bottom: 48 };
  const svg = frame(body, { width, height, margin, x, y,
    label: `Share of cases on which preparing has paid against ${state.base}. After 1000 products: ` +
           rows.map(r => `${runs.kernels[r.kernel]} ${percent(r.share(1000))}`).join(", ") + "." });
  axisX(svg, x, y, { label: "number of products", format: short });
  axisY(svg, y, x, { label: "share of matrices on which it has paid", format: d3.format(".0%") });
  const paths = svg.append("g").selectAll("path").data(rows).enter().append("path").attr("class", "line")
    .attr("d", r => stair(r, x, y)).attr("stroke", r => kernels[r.kernel].colour)
    .attr("stroke-dasharray", r => kernels[r.kernel].dash).attr("stroke-width", r => kernels[r.kernel].thick);
  const labels = narrow ? d3.select(null) : lineLabels(svg,
    rows.map(r => ({ kernel: r.kernel, y: y(r.share(1e5)) })), x.range()[1], height - margin.bottom);
  const rule = svg.append("line").attr("class", "rule").attr("y1", y(0)).attr("y2", y(1)).attr("opacity", 0);
  listen(svg, "pointermove", event => {
    const n = Math.round(Math.max(1, Math.min(1e5, x.invert(pointerIn(svg.node(), event)[0]))));
    rule.attr("x1", x(n)).attr("x2", x(n)).attr("opacity", 1);
    tip(event, shareTip(`${count(n)} products`, rows.map(r => ({ kernel: r.kernel, share: r.share(n) }))));
  });
  listen(svg, "pointerleave", () => { rule.attr("opacity", 0); hideTip(); });
  if (narrow) namesBelow(body, rows.map(r => r.kernel));
  return { svg: () => svg.node(), kernels: rows.map(r => r.kernel), labelled: !narrow, highlight: k => {
    paths.classed("back", r => k >= 0 && r.kernel !== k);
    labels.classed("back", r => k >= 0 && r.kernel !== k);
  } };
}
