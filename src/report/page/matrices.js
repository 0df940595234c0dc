/* SPDX-License-Identifier: MIT
 *
 * matrices.js: all matrices: a map of which kernel wins where, and a table that sorts, filters and
 * searches. */

const rowsAtOnce = 100;

views.matrices = {
  title: "Matrices",
  lead: "Every matrix with its best kernel under the filters above. A name opens the matrix: " +
        "its statistics, its pattern and all of its runs.",
  render(main) {
    const rows = matrixRows(selection()), found = rows.filter(matchesSearch).sort(matrixOrder());
    card(main, { id: "map", title: "Which kernel wins where", note: caseNote(), csv: () => matrixCsv(found),
      draw: (body, width) => drawMap(body, width, found) });
    card(main, { id: "matrices", title: "Matrices", picture: false, csv: () => matrixCsv(found),
      controls: searchControls(found, rows),
      draw: body => matrixTable(body, found) });
  },
};

/* A row for each case: several of one matrix when several types or operations are chosen. */
function matrixRows(s) {
  return s.groups.map(g => {
    const i = s.winner[g], matrix = matrices[runs.matrix[i]];
    return { matrix, i, kernel: runs.kernel[i], best: runs.kernels[runs.kernel[i]], name: matrix.name,
             nnz: matrix.nnz, rows: matrix.rows, cols: matrix.cols, mean: matrix.mean,
             structure: matrix.structure, type: runs.types[runs.type[i]], op: runs.ops[runs.op[i]],
             ms: s.ms[i], gflops: measures.gflops.of(i, s), floor: measures.floor.of(i, s),
             speedup: measures.speedup.of(i, s) };
  });
}

function matchesSearch(row) {
  if (state.size !== "any" && row.matrix.size !== +state.size) return false;
  if (state.structure !== "any" && row.structure !== +state.structure) return false;
  const words = state.q.toLowerCase().split(/\s+/).filter(Boolean);
  const where = [row.name, row.matrix.origin, row.matrix.spec, row.best,
    structureClasses[row.structure]].join(" ").toLowerCase();
  return words.every(word => where.includes(word));
}

function matrixOrder() {
  const down = state.sort[0] === "-" ? -1 : 1, key = state.sort.replace(/^-/, "");
  return (a, b) => {
    const x = a[key], y = b[key];
    if (typeof x === "string") return down * byName(x.toLowerCase(), y.toLowerCase());
    return (Number.isNaN(x) - Number.isNaN(y)) || down * (x - y) || byName(a.name, b.name);
  };
}

let typing = 0;

function searchControls(found, rows) {
  const words = found.length === rows.length ? `${count(rows.length)} ${rows.length === 1 ? "row" : "rows"}`
                                             : `${count(found.length)} of ${count(rows.length)} rows`;
  return make("div", { class: "inline", role: "search" },
    make("label", { class: "chooser" }, make("span", {}, "Search"),
      make("input", { type: "search", value: state.q, "data-focus": "search",
                      placeholder: "name, origin, kernel",
        autocomplete: "off",
        spellcheck: "false", oninput: event => {
          clearTimeout(typing);
          typing = setTimeout(() => change({ q: event.target.value, more: 1 }, { controls: false }), 120);
        } })),
    chooser("size", "Nonzeros", choices.size, v => v === "any" ? "any" : sizeClasses[v]),
    chooser("structure", "Structure", choices.structure, v => v === "any" ? "any" : structureClasses[v]),
    make("span", { class: "count", id: "found" }, words));
}

function matrixCsv(rows) {
  const digits = value => Number.isFinite(value) ? +value.toPrecision(4) : "";
  return [["matrix", "origin", "rows", "cols", "nonzeros", "mean row", "structure", "type", "op",
           "best kernel", "ms",
           "GFLOP/s", "share of the floor", `speed-up over ${state.base}`],
          ...rows.map(r => [r.name, r.matrix.origin, r.rows, r.cols, r.nnz, digits(r.mean),
                            structureClasses[r.structure], r.type, r.op, r.best, +r.ms.toPrecision(5),
                            digits(r.gflops), digits(r.floor), digits(r.speedup)])];
}

function matrixTable(body, found) {
  if (!found.length) return empty(body, "No matrix matches.");
  const several = state.type === "all" || state.op === "all", shown = found.slice(0, state.more * rowsAtOnce);
  table(body, { caption: "Matrices", rows: shown, sort: state.sort, columns: [
    { title: "matrix", key: "name",
      cell: r => make("a", { href: matrixLink(r.matrix), "data-matrix": r.matrix.key }, breakable(r.name)) },
    several && { title: "case", cell: r => `${r.type} ${opName(r.op)}` },
    { title: "rows", key: "rows", number: true, cell: r => count(r.rows), wide: true },
    { title: "nonzeros", key: "nnz", number: true,
      cell: r => innerWidth < 760 ? short(r.nnz) : count(r.nnz) },
    { title: "mean row", key: "mean", number: true, cell: r => figure3(r.mean), wide: true },
    { title: "structure", key: "structure", cell: r => structureClasses[r.structure].replace(" ", "\u00a0"),
      wide: true },
    { title: "best kernel", key: "best", cell: r => named(r.kernel) },
    { title: "GFLOP/s", key: "gflops", number: true, cell: r => figure3(r.gflops) },
    { title: "of floor", key: "floor", number: true, cell: r => percent(r.floor), wide: true },
    { title: `over ${state.base}`, key: "speedup", number: true, cell: r => times(r.speedup),
      wide: true }].filter(Boolean) });
  if (found.length > shown.length)
    body.append(make("button", { type: "button", class: "more", "data-focus": "more",
      onclick: () => change({ more: state.more + 2 }) },
      `Show more (${count(shown.length)} of ${count(found.length)} shown)`));
  return {};
}

function drawMap(body, width, rows) {
  if (!rows.length) return empty(body, "No matrix matches.");
  const height = width < 620 ? 320 : 400, points = rows.filter(r => r.mean > 0)
    .map(r => ({ row: r, kernel: r.kernel, x: r.nnz, y: r.mean }));
  const x = d3.scaleLog().domain(logDomain(points.map(p => p.x))),
        y = d3.scaleLog().domain(logDomain(points.map(p => p.y)));
  const wins = byKernel(points).map(([kernel, list]) => ({ kernel, count: list.length }))
    .sort((a, b) => b.count - a.count);
  const svg = frame(body, { width, height, margin: { left: 56, right: 14, top: 34, bottom: 48 }, x, y,
    label: "The best kernel of each matrix over its nonzeros and mean row length. Wins: " +
           wins.map(w => `${runs.kernels[w.kernel]} ${w.count}`).join(", ") + "." });
  axisX(svg, x, y, { label: "nonzeros", format: short });
  axisY(svg, y, x, { label: "mean length of rows", format: short });
  const drawn = scatter(body, { width, height, points, x, y, svg, radius: points.length > 2000 ? 3 : 5,
    describe: p => runTip(p.row.i, measures.gflops, p.row.gflops),
    open: p => { location.hash = matrixLink(p.row.matrix); } });
  body.append(make("p", { class: "wins" },
    wins.map(w => make("span", {}, dot(kernels[w.kernel]), `${runs.kernels[w.kernel]} `,
      make("strong", {}, count(w.count))))));
  return drawn;
}
