/* SPDX-License-Identifier: MIT
 *
 * plot.js: what every figure is made of: a card with its title and export buttons, axes, labels beside
 * lines, the tip. */

/* make("p", { class: "note" }, "text", child, ...) */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.flat(2).filter(child => child != null && child !== false));
  return element;
}

/* ---------------------------------------------------------------- cards */

/* A figure or table in a card.  `draw(body, width)` fills it and may return { svg } for export and {
 * highlight }. */
function card(parent, { id, title, note, draw, csv, picture = true, controls }) {
  const body = make("div", { class: "body" });
  const section = make("section", { class: "card", id: `card-${id}`, "aria-labelledby": `title-${id}` },
    make("div", { class: "head" },
      make("h2", { id: `title-${id}` }, title),
      make("div", { class: "exports", role: "group", "aria-label": `Save: ${title}` },
        picture && exportButton(id, "SVG", () => saveSvg(id, drawn)), picture &&
          exportButton(id, "PNG", () => savePng(id, drawn)),
        csv && exportButton(id, "CSV", () => saveCsv(id, csv())))),
    note && make("p", { class: "note" }, note), controls, body);
  parent.append(section);
  const drawn = Object.assign(draw(body, Math.max(280, body.clientWidth)) || {}, { title, note });
  if (drawn.highlight) highlights.push(k => drawn.highlight(drawn.kernels.includes(k) ? k : -1));
  return drawn;
}

function exportButton(id, kind, save) {
  return make("button", { type: "button", class: "export", "data-focus": `export-${id}-${kind}`,
                          "data-export": `${id}-${kind}`,
                          "aria-label": `Save as ${kind}`, onclick: save }, kind);
}

/* What the figures below show, in a sentence. */
function finding(parent, words) {
  if (words) parent.append(make("p", { class: "finding" }, words.flat()));
}

function strongName(kernel) {
  return make("strong", {}, kernels[kernel].name);
}

/* functions of the figures at hand: put a kernel forward, or none with -1 or what they do not show */
let highlights = [];

function highlight(kernel) {
  for (const forward of highlights) forward(kernel);
}

function empty(body, words) {
  body.append(make("p", { class: "empty" }, words));
  return {};
}

/* ---------------------------------------------------------------- pointer */

/* handler(event, datum) for each element of a selection.  d3's own `on` hands over other arguments since
 * version 6. */
function listen(selection, type, handler) {
  selection.each(function (datum) {
    this.addEventListener(type, event => handler(event, datum));
  });
}

/* Where a pointer is, in the units of a drawing. */
function pointerIn(svg, event) {
  const box = svg.getBoundingClientRect(), view = svg.viewBox.baseVal;
  return [(event.clientX - box.left) * view.width / box.width,
          (event.clientY - box.top) * view.height / box.height];
}

/* ---------------------------------------------------------------- frame and axes */

/* An SVG with room for axes; x and y are d3 scales whose ranges are set here. */
function frame(body, { width, height, margin, x, y, label }) {
  x.range([margin.left, width - margin.right]);
  y.range([height - margin.bottom, margin.top]);
  const svg = d3.select(body).append("svg").attr("viewBox", `0 0 ${width} ${height}`).attr("width", width)
    .attr("height", height)
    .attr("role", "img").attr("aria-label", label);
  return svg;
}

/* Few enough ticks for the room; on a logarithmic axis 1, 2, 5 or the powers alone. */
function tickValues(scale, room) {
  if (!scale.base) return scale.ticks(Math.max(2, Math.min(8, Math.floor(room / 60))));
  const [low, high] = scale.domain(), decades = Math.log10(high / low),
        fine = decades * 3 * 48 < room ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil(decades * 48 / room)), ticks = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++)
    for (const f of fine) {
      const tick = f * 10 ** e;
      if (tick >= low * 0.999 && tick <= high * 1.001 && (fine.length > 1 || e % every === 0))
        ticks.push(+tick.toPrecision(3));
    }
  return ticks;
}

function axisX(svg, scale, y, { label, format, grid = true }) {
  const [from, to] = scale.range(), [bottom, top] = y.range();
  const ticks = tickValues(scale, to - from), g = svg.append("g").attr("class", "axis");
  for (const tick of ticks) {
    const at = scale(tick);
    if (grid) g.append("line").attr("class", "grid").attr("x1", at).attr("x2", at).attr("y1", bottom)
      .attr("y2", top);
    g.append("text").attr("x", at).attr("y", bottom + 18).attr("text-anchor", "middle").text(format(tick));
  }
  if (label)
    g.append("text").attr("class", "label").attr("x", (from + to) / 2).attr("y", bottom + 38)
      .attr("text-anchor", "middle")
      .text(label);
}

function axisY(svg, scale, x, { label, format }) {
  const [from, to] = x.range(), g = svg.append("g").attr("class", "axis"), [bottom, top] = scale.range();
  for (const tick of tickValues(scale, (bottom - top) * 1.2)) {
    const at = scale(tick);
    g.append("line").attr("class", "grid").attr("x1", from).attr("x2", to).attr("y1", at).attr("y2", at);
    g.append("text").attr("x", from - 8).attr("y", at).attr("dy", "0.34em").attr("text-anchor", "end")
      .text(format(tick));
  }
  if (label) g.append("text").attr("class", "label").attr("x", 0).attr("y", top - 14).text(label);
}

/* A logarithmic domain with a little room at both ends. */
function logDomain(values, least = 1.2) {
  const [low, high] = d3.extent(values);
  const room = Math.max(least, (high / low) ** 0.04);
  return [low / room, high * room];
}

/* Positions of labels, moved apart; [{ y, ... }] in, the first of them that there is room for out, with
 * `at`. */
function spreadLabels(labels, gap, low, high) {
  const kept = labels.slice(0, Math.floor((high - low) / gap) + 1),
        sorted = kept.slice().sort((a, b) => a.y - b.y);
  sorted.forEach((l, i) => { l.at = Math.max(l.y, low, i ? sorted[i - 1].at + gap : -Infinity); });
  for (let i = sorted.length - 1; i >= 0; i--)
    sorted[i].at = Math.min(sorted[i].at, i === sorted.length - 1 ? high : sorted[i + 1].at - gap);
  return kept;
}

/* ---------------------------------------------------------------- the tip */

const tipElement = document.getElementById("tip");

function tip(event, rows) {
  tipElement.replaceChildren(...rows);
  tipElement.hidden = false;
  const { clientX, clientY } = event, { offsetWidth: w, offsetHeight: h } = tipElement;
  const right = clientX + 16 + w < innerWidth ? clientX + 16 : Math.max(4, clientX - w - 16);
  tipElement.style.left = `${right}px`;
  tipElement.style.top = `${Math.max(4, Math.min(innerHeight - h - 4, clientY - h / 2))}px`;
}

/* Shares of kernels under a title, [{ kernel, share }], the ten largest. */
function shareTip(title, shares) {
  const most = 10, sorted = shares.slice().sort((a, b) => b.share - a.share);
  return [make("strong", {}, title),
          ...sorted.slice(0, most).map(({ kernel, share }) => make("div", { class: "pair" },
            make("span", {}, dot(kernels[kernel]), kernels[kernel].name),
            make("span", {}, `${Math.round(100 * share)} %`))),
          sorted.length > most && make("div", {}, `and ${sorted.length - most} more`)].filter(Boolean);
}

function hideTip() {
  tipElement.hidden = true;
}

function dot(kernel) {
  return make("span", { class: `dot ${kernel.mark.shape}${kernel.mark.hollow ? " hollow" : ""}`,
                        style: `--c:${kernel.colour}`,
                        "aria-hidden": "true" });
}

/* gauss:n=1000,sigma=10: such names may go on in a new line behind a colon or comma. */
function breakable(name) {
  return name.split(/(?<=[:,])/).flatMap((part, i) => i ? [make("wbr"), part] : [part]);
}

/* A kernel in a table: its mark and its name. */
function named(k) {
  const [first, ...rest] = breakable(kernels[k].name);
  return [make("span", { class: "first" }, dot(kernels[k]), first), ...rest];
}

/* A piece of a kernel's line. */
function sample(kernel) {
  const svg = svgElement("svg", { class: "sample", width: 26, height: 10, "aria-hidden": "true" });
  svg.append(svgElement("path", { d: "M0,5H26", stroke: kernel.colour, "stroke-width": kernel.thick,
                                  "stroke-dasharray": kernel.dash ?? "none" }));
  return svg;
}

/* Which kernels a figure shows, where there is no room for their names in it; `of` draws what stands for
 * one. */
function namesBelow(body, list, of = sample) {
  body.append(make("p", { class: "names" }, list.map(k => make("span", { "data-name": kernels[k].name,
    onpointerenter: () => highlight(k), onpointerleave: () => highlight(-1) }, of(kernels[k]),
    kernels[k].name))));
}

/* Names beside the ends of lines, each behind a piece of its line: lines is [{ kernel, y }], the best
 * first. */
function lineLabels(svg, lines, end, bottom) {
  const colour = l => kernels[l.kernel].colour;
  const g = svg.append("g").selectAll("g").data(spreadLabels(lines, 16, 22, bottom)).enter().append("g")
    .attr("class", "direct");
  g.append("path").attr("class", "leader").attr("d", l => `M${end + 1},${l.y}L${end + 9},${l.at}`)
    .attr("stroke", colour);
  g.append("path").attr("class", "piece").attr("d", l => `M${end + 11},${l.at}h24`).attr("stroke", colour)
    .attr("stroke-dasharray", l => kernels[l.kernel].dash).attr("stroke-width", l => kernels[l.kernel].thick);
  g.append("text").attr("x", end + 40).attr("y", l => l.at).attr("dy", "0.34em")
    .attr("fill", l => wordColour(colour(l)))
    .text(l => kernels[l.kernel].name);
  listen(g, "pointerenter", (event, l) => highlight(l.kernel));
  listen(g, "pointerleave", () => highlight(-1));
  return g;
}

/* To the right of a figure, for the names of its lines. */
function labelRoom(lines) {
  return 46 + 7.4 * d3.max(lines, l => kernels[l.kernel].name.length);
}

/* As high as the names of so many lines need, one below the other. */
function labelledHeight(least, lines) {
  return Math.max(least, 22 + 16 * lines + 48);
}

/* ---------------------------------------------------------------- tables */

/* columns: { title, number, cell(row) -> text or element, sort key, wide }. */
function table(body, { caption, columns, rows, sort, rowAttributes = () => ({}) }) {
  const head = columns.map(c => {
    const active = sort && c.key && (sort === c.key || sort === "-" + c.key),
          down = active && sort[0] === "-";
    return make("th", { scope: "col", class: [c.number && "number",
                                              c.wide && "wide"].filter(Boolean).join(" "),
                        "aria-sort": active ? (down ? "descending" : "ascending") : null, title: c.hint },
      sort && c.key ? make("button", { type: "button", class: "sort", "data-focus": `sort-${c.key}`,
                                       "data-sort": c.key,
        onclick: () => change({ sort: active ? (down ? c.key : "-" + c.key) : (c.number ? "-" : "") + c.key,
                                more: 1 }) },
        c.title, make("span", { class: "arrow", "aria-hidden": "true" },
          active ? (down ? "↓" : "↑") : "")) : c.title);
  });
  const lines = rows.map(row => make("tr", rowAttributes(row), columns.map((c, i) => {
    const cell = make(i ? "td" : "th",
      { class: [c.number && "number", c.wide && "wide"].filter(Boolean).join(" "),
                                         scope: i ? null : "row" }, c.cell(row));
    if (c.tint) cell.style.setProperty("--tint", c.tint(row));
    if (c.strong && c.strong(row)) cell.classList.add("strong");
    return cell;
  })));
  body.append(make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption,
    "data-focus": `scroll-${caption}` },
    make("table", {}, make("caption", { class: "visually-hidden" }, caption),
      make("thead", {}, make("tr", {}, head)), make("tbody", {}, lines))));
}
