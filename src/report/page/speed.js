/* SPDX-License-Identifier: MIT
 *
 * speed.js: a point for each run over the nonzeros of its matrix. */

views.speed = {
  title: "Speed",
  lead: "Every verified run over the nonzeros of its matrix. Small matrices are bound by the start of a " +
        "kernel, large ones by memory: 100 % of the floor is a product as fast as a plain loop that reads " +
        "the same bytes.",
  render(main) {
    const s = selection(), measure = measures[state.metric];
    const points = s.shown.map(
      i => ({ i, kernel: runs.kernel[i], x: matrices[runs.matrix[i]].nnz, y: measure.of(i, s) }))
      .filter(p => p.y > 0 && p.y < Infinity);
    card(main, { id: "speed", title: `${capital(measure.name)} over nonzeros`, note: caseNote() +
      ` · ${count(points.length)} runs`,
      controls: make("div", { class: "inline" }, segments("metric", "Show", choices.metric,
        v => measures[v].name)),
      csv: () => speedRows(points, measure),
      draw: (body, width) => drawSpeed(body, width, points, measure) });
  },
};

function capital(words) {
  return words[0].toUpperCase() + words.slice(1);
}

function speedRows(points, measure) {
  return [["matrix", "nonzeros", "kernel", "type", "op", measure.name],
          ...points.map(({ i, x, y }) => [matrices[runs.matrix[i]].name, x, runs.kernels[runs.kernel[i]],
            runs.types[runs.type[i]],
                                          runs.ops[runs.op[i]], +y.toPrecision(5)])];
}

function drawSpeed(body, width, points, measure) {
  if (!points.length)
    return empty(body, measure === measures.gflops ? "No runs have what the filters ask for."
      : "These records do not hold what this needs.");
  const narrow = width < 620, x = d3.scaleLog().domain(logDomain(points.map(p => p.x)));
  const y = d3.scaleLog().domain(logDomain(points.map(p => p.y)));
  const trends = speedTrends(points, width);
  const right = trends.length && !narrow ? labelRoom(trends) : 14;
  const height = narrow ? 380 : labelledHeight(520, trends.length), inside = trends.length > 0 && !narrow;
  const svg = frame(body, { width, height, margin: { left: 56, right, top: 34, bottom: 48 }, x, y,
    label: `${measure.long} over nonzeros, ${points.length} runs; ` +
           `from ${measureText(measure, d3.min(points, p => p.y))} to ` +
           `${measureText(measure, d3.max(points, p => p.y))}.` });
  axisX(svg, x, y, { label: "nonzeros", format: short });
  axisY(svg, y, x, { label: measure.long, format: v => measureText(measure, v) });
  if (measure.percent && y.domain()[1] > 1)
    svg.append("line").attr("class", "one").attr("x1", x.range()[0]).attr("x2", x.range()[1])
      .attr("y1", y(1)).attr("y2", y(1));
  const drawn = scatter(body, { width, height, points, x, y, svg, describe: p => runTip(p.i, measure, p.y),
    radius: points.length > 5000 ? 2 : points.length > 800 ? 2.6 : 3.6,
    over: above => drawTrends(above, trends, x, y, inside),
    open: p => { location.hash = matrixLink(matrices[runs.matrix[p.i]]); } });
  const marked = kernel => make("span", {}, dot(kernel), trends.length > 0 && sample(kernel));
  if (!inside || drawn.kernels.length > trends.length) namesBelow(body, drawn.kernels, marked);
  return drawn;
}

/* Where there are many points: the geometric mean of each kernel over bands of nonzeros. */
function speedTrends(points, width) {
  const lists = byKernel(points), bands = width < 620 ? 12 : 24;
  if (d3.median(lists, ([, list]) => list.length) < 60) return [];
  const [low, high] = d3.extent(points, p => Math.log(p.x)), band = (high - low) / bands || 1;
  return lists.map(([kernel, list]) => {
    const means = d3.range(bands).map(() => [new Mean(), new Mean()]);
    for (const p of list) {
      const cell = means[Math.min(bands - 1, Math.floor((Math.log(p.x) - low) / band))];
      cell[0].add(p.x);
      cell[1].add(p.y);
    }
    return { kernel, path: means.filter(m => m[0].count > 2).map(m => [m[0].value, m[1].value]) };
  }).filter(t => t.path.length > 1);
}

function drawTrends(svg, trends, x, y, labelled) {
  const line = d3.line().x(p => x(p[0])).y(p => y(p[1])).curve(d3.curveMonotoneX);
  for (const t of trends) t.y = y(t.path[t.path.length - 1][1]);
  svg.append("g").selectAll("path").data(trends).enter().append("path").attr("class", "halo")
    .attr("d", t => line(t.path));
  const g = svg.append("g").selectAll("g").data(trends).enter().append("g").attr("class", "direct");
  g.append("path").attr("class", "trend").attr("d", t => line(t.path))
    .attr("stroke", t => wordColour(kernels[t.kernel].colour))
    .attr("stroke-dasharray", t => kernels[t.kernel].dash).attr("stroke-width", t => kernels[t.kernel].thick);
  if (labelled) lineLabels(svg, trends, x.range()[1], y.range()[0]);
}

function runTip(i, measure, value) {
  const matrix = matrices[runs.matrix[i]], kernel = kernels[runs.kernel[i]];
  return [make("strong", {}, matrix.name), make("div", {}, dot(kernel), kernel.name),
          make("div", {}, `${measureText(measure, value)}${measure.percent || measure.times ? " " +
            (measure.percent ? measure.name : "faster") : " " + measure.name}`),
          make("div", { class: "dim" }, `${count(matrix.nnz)} nonzeros · ${runs.types[runs.type[i]]} · ` +
            `${opName(runs.ops[runs.op[i]])} · ` +
            milliseconds(selection().ms[i]))];
}

function matrixLink(matrix) {
  return viewLink("matrix", { matrix: matrix.key });
}
