/* SPDX-License-Identifier: MIT
 *
 * draw.js: many points on a canvas, and figures saved as files.  A saved SVG holds its colours itself and
 * draws as SVG what the screen shows on a canvas. */

/* ---------------------------------------------------------------- points */

/* Distance from the centre, as each shape measures it: where it is the radius, the shape ends. */
const shapes = {
  disc: (x, y) => Math.hypot(x, y),
  diamond: (x, y) => (Math.abs(x) + Math.abs(y)) / 1.25,
  square: (x, y) => Math.max(Math.abs(x), Math.abs(y)) / 0.88,
};

/* How much of each pixel around the centre a mark covers: [dx, dy, share, ...]. */
function markMask({ shape, hollow }, radius) {
  const cells = [], reach = Math.ceil(1.25 * radius),
        inner = hollow ? radius - Math.max(1.3, 0.35 * radius) : -1;
  const within = (far, edge) => Math.max(0, Math.min(1, edge + 0.5 - far));
  for (let y = -reach; y <= reach; y++)
    for (let x = -reach; x <= reach; x++) {
      const far = shapes[shape](x, y), share = within(far, radius) - (hollow ? within(far, inner) : 0);
      if (share > 0) cells.push(x, y, share);
    }
  return new Float32Array(cells);
}

/* One dot over what is there. */
function blendDot({ data, width, height }, mask, cx, cy, rgb, alpha) {
  for (let n = 0; n < mask.length; n += 3) {
    const x = cx + mask[n], y = cy + mask[n + 1];
    if (x < 0 || y < 0 || x >= width || y >= height) continue;
    const at = 4 * (y * width + x), over = alpha * mask[n + 2], under = data[at + 3] / 255 * (1 - over),
          sum = over + under;
    data[at] = (rgb[0] * over + data[at] * under) / sum;
    data[at + 1] = (rgb[1] * over + data[at + 1] * under) / sum;
    data[at + 2] = (rgb[2] * over + data[at + 2] * under) / sum;
    data[at + 3] = 255 * sum;
  }
}

/* points: [{ x, y, kernel }] in the units of the scales; `over(svg)` draws what lies above them.  Returns
 * what card() wants, with hover and keys. */
function scatter(body, { width, height, points, x, y, svg, radius, describe, open, over }) {
  const scale = Math.min(2, window.devicePixelRatio || 1);
  const canvas = make("canvas", { width: width * scale, height: height * scale,
                                  style: `width:${width}px;height:${height}px`,
                                  "aria-hidden": "true" });
  body.classList.add("layers");
  body.append(canvas);
  const above = d3.select(body).append("svg").attr("class", "above").attr("viewBox", `0 0 ${width} ${height}`)
    .attr("width", width).attr("height", height).attr("aria-hidden", "true");
  if (over) over(above);
  for (const p of points) {
    p.px = x(p.x);
    p.py = y(p.y);
  }
  let tree = null, forward = -1, current = null;
  const paint = () => paintPoints(canvas, points, { radius, scale, forward, current });
  paint();
  const near = (px, py) => {
    tree = tree || d3.quadtree(points, p => p.px, p => p.py);
    return tree.find(px, py, 24);
  };
  const show = (p, event) => {
    if (p !== current) {
      current = p;
      paint();
    }
    if (p) tip(event, describe(p)); else hideTip();
  };
  listen(svg, "pointermove", event => show(near(...pointerIn(svg.node(), event)), event));
  listen(svg, "pointerleave", () => show(null));
  listen(svg, "click", event => {
    const p = near(...pointerIn(svg.node(), event));
    if (p && open) open(p);
  });
  pointKeys(svg.node(), points, { show, open, describe, current: () => current });
  const lift = k => {
    forward = k;
    paint();
    above.selectAll(".direct").classed("back", d => k >= 0 && d.kernel !== k);
  };
  return { svg: () => svg.node(), above: () => above.node(), points: { list: points, radius },
           highlight: lift, kernels: [...new Set(points.map(p => p.kernel))],
           labelled: above.selectAll("text").size() > 0 };
}

/* Points go into the pixels directly: a call of the canvas for each of 50,000 would take a second where no
 * GPU helps. */
function paintPoints(canvas, points, { radius, scale, forward, current }) {
  const c = canvas.getContext("2d"), image = c.createImageData(canvas.width, canvas.height);
  const alpha = points.length > 5000 ? 0.45 : points.length > 800 ? 0.6 : 0.8;
  const mask = kernels.map(kernel => markMask(kernel.mark, radius * scale));
  for (const pass of forward < 0 ? [0] : [0, 1])
    for (const p of points)
      if (!pass || p.kernel === forward)
        blendDot(image, mask[p.kernel], Math.round(p.px * scale), Math.round(p.py * scale),
          kernels[p.kernel].rgb,
                 forward < 0 || pass ? alpha : 0.1);
  c.putImageData(image, 0, 0);
  if (!current) return;
  c.strokeStyle = theme("--ink");
  c.lineWidth = 2 * scale;
  c.beginPath();
  c.arc(current.px * scale, current.py * scale, (radius + 3) * scale, 0, 2 * Math.PI);
  c.stroke();
}

/* Arrow keys walk from point to point, left and right; Enter opens its matrix. */
function pointKeys(element, points, { show, open, describe, current }) {
  let order = null;
  element.setAttribute("tabindex", "0");
  element.setAttribute("aria-label", element.getAttribute("aria-label") +
    " Arrow keys walk through the points, Enter opens one.");
  element.addEventListener("keydown", event => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (event.key === "Enter" && current() && open) open(current());
    if (event.key === "Escape") show(null);
    if (!step || !points.length) return;
    event.preventDefault();
    order = order || points.slice().sort((a, b) => a.px - b.px || b.py - a.py);
    const next = order[(order.indexOf(current()) + step + order.length) % order.length],
          box = element.getBoundingClientRect();
    show(next, { clientX: box.left + next.px * box.width / element.viewBox.baseVal.width,
                 clientY: box.top + next.py * box.height / element.viewBox.baseVal.height });
    say(describe(next).map(row => row.textContent).join(", "));
  });
  element.addEventListener("blur", () => show(null));
}

/* ---------------------------------------------------------------- saving */

const keptStyles = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity",
                    "stroke-dasharray", "opacity",
                    "font-size", "font-weight", "font-family", "text-anchor"];

/* A copy that needs no style sheet. */
function styledCopy(from) {
  const copy = from.cloneNode(true), sources = from.querySelectorAll("*");
  copy.querySelectorAll("*").forEach((target, i) => {
    const style = getComputedStyle(sources[i]);
    for (const key of keptStyles) target.setAttribute(key, style.getPropertyValue(key));
    target.removeAttribute("class");
    target.removeAttribute("style");
  });
  return copy;
}

function svgElement(tag, attributes, words) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (words != null) element.textContent = words;
  return element;
}

/* A figure as a file of its own: ground, title, what was measured, legend, axes, points, and what lies
 * above them. */
function standalone({ svg, points, above, title, note, kernels: used, labelled }) {
  const from = svg(), box = from.viewBox.baseVal, edge = 20, inside = styledCopy(from),
        over = above && styledCopy(above());
  const names = used && !labelled ? legend(used, box.width, points ? markElement : lineElement) : null;
  const top = 62 + (names ? names.height : 0), height = box.height + top + edge;
  const width = 2 * edge + Math.max(box.width, Math.ceil(7 * (note ?? "").length)); /* room for the words */
  const root = svgElement("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`,
                                   width, height,
    role: "img", "font-family": getComputedStyle(document.body).fontFamily });
  const drawing = svgElement("g", { transform: `translate(${edge - box.x},${top - box.y})` });
  inside.querySelectorAll("[opacity='0']").forEach(element => element.remove());
  drawing.append(...inside.childNodes);
  if (points) drawing.append(pointsAsSvg(points));
  if (over) drawing.append(...over.childNodes);
  root.append(svgElement("title", {}, title), svgElement("desc", {}, from.getAttribute("aria-label") ?? ""),
    svgElement("rect", { width: "100%", height: "100%", fill: theme("--card") }),
    svgElement("text", { x: edge, y: 30, fill: theme("--ink"), "font-size": 16, "font-weight": 600 }, title),
    svgElement("text", { x: edge, y: 50, fill: theme("--soft"), "font-size": 12.5 }, note ?? ""));
  if (names) root.append(...names.elements(edge, 74));
  root.append(drawing);
  return { text: '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(root),
           width, height };
}

/* The mark of a kernel as SVG. */
function markElement({ colour, mark: { shape, hollow } }, x, y, radius) {
  const paint = hollow ? { fill: "none", stroke: colour, "stroke-width": Math.max(1.3, 0.35 * radius) }
    : { fill: colour };
  const edge = (hollow ? 0.82 : 1) * radius, at = v => v.toFixed(1);
  if (shape === "disc") return svgElement("circle", { cx: at(x), cy: at(y), r: edge, ...paint });
  const reach = shape === "diamond" ? 1.25 * edge : 0.88 * edge;
  const corners = shape === "diamond" ? [[0, -reach], [reach, 0], [0, reach], [-reach, 0]]
    : [[-reach, -reach], [reach, -reach], [reach, reach], [-reach, reach]];
  return svgElement("path", { d: `M${corners.map(([dx, dy]) => `${at(x + dx)},${at(y + dy)}`).join("L")}Z`,
                              ...paint });
}

function lineElement({ colour, dash, thick }, x, y) {
  return svgElement("path", { d: `M${x - 6},${y}h16`, fill: "none", stroke: colour, "stroke-width": thick,
                              "stroke-dasharray": dash ?? "none" });
}

/* Kernels by their names, in rows of a width; sign(kernel, x, y, radius) draws what stands for one. */
function legend(used, width, sign) {
  const places = [];
  let x = 0, y = 0;
  for (const kernel of used.map(k => kernels[k])) {
    const wide = 36 + 7.4 * kernel.name.length;
    if (x > 0 && x + wide > width) {
      x = 0;
      y += 20;
    }
    places.push({ kernel, x, y });
    x += wide;
  }
  return { height: y + 20, elements: (left, top) => places.flatMap(p => [
    sign(p.kernel, left + p.x + 5, top + p.y - 4, 4.5),
    svgElement("text", { x: left + p.x + 18, y: top + p.y, fill: theme("--ink"), "font-size": 12.5 },
      p.kernel.name)]) };
}

function pointsAsSvg({ list, radius }) {
  const group = svgElement("g", { "fill-opacity": 0.7 });
  for (const p of list) group.append(markElement(kernels[p.kernel], p.px, p.py, radius));
  return group;
}

function save(name, blob) {
  const url = URL.createObjectURL(blob), anchor = make("a", { href: url, download: name, hidden: true });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  say(`${name} saved`);
}

function fileName(id, ending) {
  const parts = ["heddle", id, state.view === "matrix" ? state.matrix : "", state.type,
                 state.op].filter(Boolean);
  return parts.join("-").replace(/[^A-Za-z0-9_.-]+/g, "_") + ending;
}

function saveSvg(id, drawn) {
  if (drawn.svg) save(fileName(id, ".svg"), new Blob([standalone(drawn).text], { type: "image/svg+xml" }));
  else say("There is nothing to save.");
}

function savePng(id, drawn) {
  if (!drawn.svg) return say("There is nothing to save.");
  const image = new Image(), { text: source, width, height } = standalone(drawn);
  image.onload = () => {
    const canvas = make("canvas", { width: 2 * width, height: 2 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob(blob => save(fileName(id, ".png"), blob), "image/png");
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(source);
}

/* rows: arrays, the first with the titles. */
function saveCsv(id, rows) {
  const cell = value => {
    const words = value == null || Number.isNaN(value) ? "" : String(value);
    return /[",\n]/.test(words) ? `"${words.replace(/"/g, '""')}"` : words;
  };
  save(fileName(id, ".csv"), new Blob([rows.map(row => row.map(cell).join(",")).join("\r\n") + "\r\n"],
    { type: "text/csv" }));
}

/* For screen readers: what has changed. */
function say(words) {
  document.getElementById("live").textContent = words;
}
