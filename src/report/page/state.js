/* SPDX-License-Identifier: MIT
 *
 * state.js: what is shown.  All of it stands in the link, so that every view can be sent to someone. */

/* Which value has most runs; `wanted` wins if it has any. */
function usual(column, names, wanted) {
  if (names.includes(wanted)) return wanted;
  const count = new Array(names.length).fill(0);
  for (let i = 0; i < column.length; i++) count[column[i]]++;
  return names[count.indexOf(Math.max(...count))] ?? "";
}

const presets = {
  view: "profile", matrix: "",
  device: usual(runs.device, runs.devices), type: usual(runs.type, runs.types, "f64"),
  op: usual(runs.op, runs.ops, "N"), time: "warm", setup: "without", products: 100,
  base: ["auto", "csr_vector", "cpu_csr"].find(k => runs.kernels.includes(k)) ??
    usual(runs.kernel, runs.kernels),
  since: "any", until: "any", version: "any", cases: "common", hide: "-", metric: "gflops", by: "size",
  mean: "gflops", q: "", size: "any", structure: "any", sort: "-nnz", more: 1,
};

const choices = {
  device: runs.devices, type: [...runs.types, "all"], op: [...runs.ops, "all"], time: ["warm", "cold"],
  since: ["any", ...runs.days], until: ["any", ...runs.days], version: ["any", ...runs.versions],
  cases: ["common", "all"], setup: ["without", "with"], base: runs.kernels,
  metric: ["gflops", "floor", "gbs"], by: ["size", "structure"],
  mean: ["gflops", "speedup", "best", "floor"], size: ["any", ...sizeClasses.keys()].map(String),
  structure: ["any", ...structureClasses.keys()].map(String),
};

const state = { ...presets };
const views = {}; /* by name: { title, lead, render }, from the files that follow */

function decoded(words) {
  try { return decodeURIComponent(words); } catch { return words; } /* a link that someone typed */
}

/* #/speed?type=f32&op=T */
function readLink() {
  const link = location.hash.match(/^#\/([a-z]+)(?:\/([^?]*))?(?:\?(.*))?$/);
  Object.assign(state, presets);
  if (!link || !(link[1] in views)) return;
  state.view = link[1];
  state.matrix = link[2] ? decoded(link[2]) : "";
  for (const [key, value] of new URLSearchParams(link[3] || "")) {
    if (!(key in presets) || key === "view" || key === "matrix") continue;
    if (choices[key] && !choices[key].includes(value)) continue;
    state[key] = typeof presets[key] === "number" ? whole(value) : value;
  }
}

/* The link of the state, with some of it changed; what is as preset is left out. */
function link(change = {}) {
  const next = { ...state, ...change }, query = new URLSearchParams();
  for (const key of Object.keys(presets))
    if (key !== "view" && key !== "matrix" && String(next[key]) !== String(presets[key]))
      query.set(key, next[key]);
  const search = query.toString();
  const matrix = next.view === "matrix" ? "/" + encodeURIComponent(next.matrix) : "";
  return `#/${next.view}${matrix}${search ? "?" + search : ""}`;
}

/* Another view: what belongs to the old one stays behind. */
function viewLink(view, change = {}) {
  return link({ view, matrix: "", q: "", sort: presets.sort, more: 1, size: "any", structure: "any",
                ...change });
}

/* Changes what is shown and redraws; the address follows. */
function change(part, { controls = true } = {}) {
  Object.assign(state, part);
  history.replaceState(null, "", link());
  render({ controls });
}

/* ---------------------------------------------------------------- kernels that are switched off */

/* "-": nobody has chosen yet, and those are shown that can be compared best (compare.js). */
function hidden() {
  return state.hide === "-" ? hiddenAtFirst() : new Set(state.hide ? state.hide.split(" ") : []);
}

function toggleKernel(name) {
  const set = new Set(hidden());
  if (!set.delete(name)) set.add(name);
  change({ hide: [...set].join(" ") });
}
