/* SPDX-License-Identifier: MIT
 *
 * groups.js: from the state to numbers: which runs count, how long each took, and what follows for its
 * case. */

/* Which devices have times of a kind at all; a filter for what is not there does nothing. */
const deviceHas = { cold: devicesWith(runs.cold), setup: devicesWith(runs.setup) };

function devicesWith(column) {
  const has = new Set();
  for (let i = 0; i < runs.count; i++) if (column[i] > 0) has.add(runs.devices[runs.device[i]]);
  return has;
}

function countsSetup() {
  return state.setup === "with" && deviceHas.setup.has(state.device);
}

function isCold() {
  return state.time === "cold" && deviceHas.cold.has(state.device);
}

/* Was a run measured by the version and in the days that are asked for? */
function inTime() {
  const version = runs.versions.indexOf(state.version), since = runs.days.indexOf(state.since);
  const until = state.until === "any" ? Infinity : runs.days.indexOf(state.until);
  return i => (version < 0 || runs.release[i] === version) && (since < 0 || runs.day[i] >= since) &&
              (until === Infinity || (runs.day[i] >= 0 && runs.day[i] <= until));
}

/* One time for each run, as the filters want it; NaN for runs that do not count.  Of a measurement that
 * was taken again, the latest that the filters admit counts. */
function chosenTimes() {
  const device = runs.devices.indexOf(state.device), type = runs.types.indexOf(state.type),
        op = runs.ops.indexOf(state.op);
  const time = isCold() ? runs.cold : runs.warm, ms = new Float64Array(runs.count).fill(NaN),
        admitted = inTime();
  const share = countsSetup() ? 1 / state.products : 0, latest = new Int32Array(runs.slots).fill(-1);
  for (let i = 0; i < runs.count; i++) {
    if (runs.device[i] !== device || (type >= 0 && runs.type[i] !== type) || (op >= 0 && runs.op[i] !== op))
      continue;
    if (!admitted(i)) continue;
    /* unknown preparation: cannot be counted, so the run is left out */
    const setup = share > 0 ? runs.setup[i] * share : 0;
    if (latest[runs.slot[i]] >= 0) ms[latest[runs.slot[i]]] = NaN;
    latest[runs.slot[i]] = i;
    ms[i] = time[i] + setup;
  }
  return ms;
}

let filtered = { key: "" };

/* Runs that the filters admit, of all kernels; at most one of a kernel on a case. */
function admittedRuns() {
  const key = [state.device, state.type, state.op, state.time, state.setup, state.products, state.since,
               state.until, state.version].join("|");
  if (filtered.key === key) return filtered;
  const ms = chosenTimes(), list = [];
  for (let i = 0; i < runs.count; i++) if (ms[i] > 0) list.push(i);
  filtered = { key, ms, list, kernels: kernelsOf(list), atFirst: null };
  return filtered;
}

let cached = { key: "" };

/* Runs that count: `list` of all kernels, `shown` of those that are switched on, with best and baseline
 * time of each case; `compared` of these on `cases`, which all of them have (or on all, if that is asked
 * for). */
function selection() {
  const now = admittedRuns(), key = [now.key, state.base, state.hide, state.cases].join("|");
  if (cached.key === key) return cached;
  const { ms, list } = now, off = hidden(), on = runs.kernels.map(name => !off.has(name));
  const base = runs.kernels.indexOf(state.base), shown = [], had = new Int32Array(runs.groups);
  const best = new Float64Array(runs.groups).fill(Infinity), winner = new Int32Array(runs.groups).fill(-1);
  const baseline = new Float64Array(runs.groups).fill(NaN), floor = new Float64Array(runs.groups).fill(NaN);
  for (const i of list) {
    const g = runs.group[i];
    if (runs.kernel[i] === base) baseline[g] = ms[i];
    if (!(floor[g] <= runs.floor[i])) floor[g] = runs.floor[i];
    if (!on[runs.kernel[i]]) continue;
    shown.push(i);
    had[g]++;
    if (ms[i] < best[g]) {
      best[g] = ms[i];
      winner[g] = i;
    }
  }
  const groups = [...new Set(shown.map(i => runs.group[i]))], shownKernels = kernelsOf(shown);
  const counts = g => state.cases === "all" || had[g] === shownKernels.length;
  cached = { key, ms, list, shown, best, winner, baseline, floor, groups, kernels: now.kernels, shownKernels,
             cases: groups.filter(counts), compared: shown.filter(i => counts(runs.group[i])) };
  return cached;
}

function kernelsOf(list) {
  const seen = new Set();
  for (const i of list) seen.add(runs.kernel[i]);
  return [...seen].sort((a, b) => a - b);
}

/* ---------------------------------------------------------------- figures of a run */

const measures = {
  gflops: { name: "GFLOP/s", long: "GFLOP/s (2 nonzeros over time)",
            of: (i, s) => 2e-6 * matrices[runs.matrix[i]].nnz / s.ms[i] },
  gbs: { name: "GB/s", long: "GB/s (A, x and y once, over time)",
         of: (i, s) => 1e-6 * runs.bytes[i] / s.ms[i] },
  floor: { name: "share of the floor", long: "share of the floor: time that memory allows over time",
           percent: true, of: (i, s) => s.floor[runs.group[i]] / s.ms[i] },
  speedup: { name: "speed-up", long: "times as fast as the baseline", times: true,
             of: (i, s) => s.baseline[runs.group[i]] / s.ms[i] },
  best: { name: "of the best", long: "best time of the case over time", percent: true,
          of: (i, s) => s.best[runs.group[i]] / s.ms[i] },
};

/* Points of each kernel: [[kernel, points], ...]. */
function byKernel(points) {
  const lists = new Map();
  for (const p of points) (lists.get(p.kernel) ?? lists.set(p.kernel, []).get(p.kernel)).push(p);
  return [...lists];
}

/* A geometric mean on its way. */
class Mean {
  constructor() { this.logs = 0; this.count = 0; }
  add(value) {
    if (!(value > 0 && value < Infinity)) return;
    this.logs += Math.log(value);
    this.count++;
  }
  get value() { return this.count ? Math.exp(this.logs / this.count) : NaN; }
}

/* Profiles: for each kernel the sorted ratios to the best of their cases, over the number of cases. */
function profiles(s) {
  const ratios = new Map(s.shownKernels.map(k => [k, []]));
  if (!s.cases.length) return [];
  for (const i of s.compared) ratios.get(runs.kernel[i]).push(s.ms[i] / s.best[runs.group[i]]);
  const cases = s.cases.length;
  return [...ratios].map(([kernel, list]) => {
    const sorted = new Float64Array(list).sort();
    return { kernel, ratios: sorted, share: factor => d3.bisectRight(sorted, factor * (1 + 1e-9)) / cases,
             area: d3.mean(d3.range(40),
               step => d3.bisectRight(sorted, 10 ** (step / 39) * (1 + 1e-9)) / cases) };
  }).sort((a, b) => b.area - a.area);
}

/* ---------------------------------------------------------------- numbers for people */

const count = d3.format(",");
const short = value => d3.format(value >= 999.5 ? ".3~s" : ".3~r")(value);

function figure3(value) { /* three digits, as many zeros as needed, never 1e-7 */
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  return Math.abs(value) >= 1000 ? count(Math.round(value)) : String(+value.toPrecision(3));
}

function milliseconds(ms) {
  if (!Number.isFinite(ms)) return "–";
  return ms >= 1000 ? figure3(ms / 1000) + " s" : ms >= 1 ? figure3(ms) + " ms" : figure3(1000 * ms) + " µs";
}

function bytes(n) {
  return !Number.isFinite(n) ? "–" : n < 1000 ? `${n} B` : d3.format(".3~s")(n).replace(/([kMGT])$/, " $1B");
}

function percent(share) {
  return Number.isFinite(share) ? figure3(100 * share) + " %" : "–";
}

function times(value) {
  if (!Number.isFinite(value)) return "–";
  return (value >= 100 ? count(Math.round(value))
    : value < 0.1 ? String(+value.toPrecision(1))
    : value.toFixed(value >= 9.995 ? 1 : 2)) + "×";
}

function measureText(measure, value) {
  return measure.percent ? percent(value) : measure.times ? times(value) : figure3(value);
}

function opName(op) {
  return op === "N" ? "A\u00a0x" : op === "T" ? "Aᵀ\u00a0x" : op === "H" ? "Aᴴ\u00a0x" : op;
}

function timeNote() {
  const days = state.since === "any" ? (state.until === "any" ? "" : `until ${state.until}`)
    : state.until === state.since ? state.since
    : `since ${state.since}` + (state.until === "any" ? "" : ` until ${state.until}`);
  return [state.version === "any" ? "" : `heddle ${state.version}`, days].filter(Boolean).join(" · ");
}

function caseNote() {
  return [state.device, state.type === "all" ? "all types" : state.type,
    state.op === "all" ? "all operations" : opName(state.op),
          isCold() ? "cold caches" : "warm caches",
          countsSetup() ? `preparation counted over ${count(state.products)} products` : "",
          timeNote()].filter(Boolean).join(" · ");
}
