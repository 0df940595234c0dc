/* SPDX-License-Identifier: MIT
 *
 * profile.js: performance profiles (Dolan and Moré 2002): the share of cases on which a kernel is within a
 * factor of the best kernel.  High at the left: often the fastest; high at the right: never far behind. */

views.profile = {
  title: "Profile",
  lead: "On what share of the matrices is a kernel at most a given factor slower than the best one? A line " +
        "that is high at the left is often the fastest; one that is high at the right is never far behind.",
  render(main) {
    const s = selection(), lines = profiles(s);
    finding(main, profileFinding(lines, s.cases.length));
    card(main, { id: "profile", title: "Performance profile", note: `${caseNote()} · ${casesNote(s)}`,
      csv: () => profileRows(lines), draw: (body, width) => drawProfile(body, width, lines, s) });
    card(main, { id: "profile-table", title: "The same in numbers", picture: false,
                 csv: () => profileRows(lines),
      draw: body => profileTable(body, lines, s) });
  },
};

/* Who wins most often, and who is never far behind. */
function profileFinding(lines, cases) {
  if (lines.length < 2) return null;
  const often = lines.reduce((a, b) => b.share(1) > a.share(1) ? b : a);
  const worst = l => l.ratios.length === cases ? l.ratios[cases - 1] : Infinity;
  const safe = lines.reduce((a, b) => worst(b) < worst(a) ? b : a);
  const most = [strongName(often.kernel),
    ` is the fastest most often, on ${Math.round(100 * often.share(1))}\u00a0% of the cases`];
  if (worst(safe) === Infinity) return [...most, "."];
  const far = ` never needs more than ${times(worst(safe))} the time of the best.`;
  return safe === often ? [...most, ", and", far] : [...most, "; ", strongName(safe.kernel), far];
}

const profileFactors = [1, 1.1, 1.25, 1.5, 2, 3, 5, 10];

function profileRows(lines) {
  return [["kernel", ...profileFactors.map(f => `within ${f}`), "cases measured"],
          ...lines.map(l => [kernels[l.kernel].name, ...profileFactors.map(f => +l.share(f).toFixed(4)),
                             l.ratios.length])];
}

function profileTable(body, lines, s) {
  if (!lines.length) return noCases(body, s);
  const top = profileFactors.map(f => Math.max(...lines.map(l => l.share(f))));
  table(body, { caption: "Share of cases within a factor of the best",
    columns: [{ title: "kernel", cell: l => named(l.kernel) },
      ...profileFactors.map((f, i) => ({ title: f === 1 ? "best" : `≤ ${f}×`, number: true,
        wide: ![1, 2, 10].includes(f), cell: l => `${Math.round(100 * l.share(f))} %`, tint: l => l.share(f),
        strong: l => l.share(f) === top[i] })),
      { title: "cases", number: true, cell: l => count(l.ratios.length), wide: true,
        hint: "cases on which it was measured" }],
    rows: lines });
}

/* A stair with at most one step a pixel. */
function stair(line, x, y) {
  const [from, to] = x.range(), points = [[from, y(line.share(1))]];
  let last = points[0][1];
  for (let at = from + 0.5; at <= to; at += 0.5) {
    const next = y(line.share(x.invert(at)));
    if (next === last) continue;
    points.push([at, next]);
    last = next;
  }
  points.push([to, last]);
  return d3.line().curve(d3.curveStepAfter)(points);
}

function drawProfile(body, width, lines, s) {
  if (!lines.length) return noCases(body, s);
  const narrow = width < 620, height = narrow ? 340 : labelledHeight(460, lines.length);
  const x = d3.scaleLog().domain([1, 10]), y = d3.scaleLinear().domain([0, 1]);
  const margin = { left: 52, right: narrow ? 14 : labelRoom(lines), top: 34, bottom: 48 };
  const best = lines[0], svg = frame(body, { width, height, margin, x, y,
    label: `Performance profile of ${lines.length} kernels over ${s.cases.length} cases. ` +
           `Best overall: ${kernels[best.kernel].name}, the fastest on ${percent(best.share(1))} of them. ` +
           "The table below has the numbers." });
  axisX(svg, x, y, { format: v => `${v}×`,
    label: narrow ? "times the best kernel's time" : "time at most this many times the best kernel's" });
  axisY(svg, y, x, { label: "share of matrices", format: d3.format(".0%") });
  const paths = svg.append("g").selectAll("path").data(lines.slice().reverse()).enter().append("path")
    .attr("class", "line")
    .attr("d", l => stair(l, x, y)).attr("stroke", l => kernels[l.kernel].colour)
    .attr("stroke-dasharray", l => kernels[l.kernel].dash).attr("stroke-width", l => kernels[l.kernel].thick);
  const labels = narrow ? d3.select(null) : lineLabels(svg, lines.map((l, rank) => ({ kernel: l.kernel,
    y: y(l.share(10)) + rank * 1e-3 })), x.range()[1], height - margin.bottom);
  const rule = svg.append("line").attr("class", "rule").attr("y1", y(0)).attr("y2", y(1)).attr("opacity", 0);
  listen(svg, "pointermove", event => {
    const factor = Math.max(1, Math.min(10, x.invert(pointerIn(svg.node(), event)[0])));
    rule.attr("x1", x(factor)).attr("x2", x(factor)).attr("opacity", 1);
    tip(event, profileTip(lines, factor));
  });
  listen(svg, "pointerleave", () => { rule.attr("opacity", 0); hideTip(); });
  const forward = k => {
    paths.classed("back", l => k >= 0 && l.kernel !== k).filter(l => l.kernel === k).raise();
    labels.classed("back", l => k >= 0 && l.kernel !== k);
  };
  if (narrow) namesBelow(body, lines.map(l => l.kernel));
  return { svg: () => svg.node(), highlight: forward, kernels: lines.map(l => l.kernel), labelled: !narrow };
}

function profileTip(lines, factor) {
  return shareTip(factor < 1.005 ? "the fastest" : `within ${factor.toFixed(2)}×`,
                  lines.map(l => ({ kernel: l.kernel, share: l.share(factor) })));
}
