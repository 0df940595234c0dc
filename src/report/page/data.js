/* SPDX-License-Identifier: MIT
 *
 * data.js: the records inside the page, turned from columns of numbers into what the views ask for.  A
 * case is a matrix with types, an operation and a device: what kernels are compared on. */

const records = JSON.parse(document.getElementById("records").textContent);

/* Distinct values of a column of string numbers, sorted, with the place of each; `part` is what of a
 * string counts. */
function dictionary(column, keep, part = words => words) {
  const seen = new Set();
  for (let i = 0; i < column.length; i++)
    if (keep(i) && column[i] >= 0) seen.add(column[i]);
  const names = [...new Set([...seen].map(s => part(records.strings[s])))].sort(byName);
  const place = new Int32Array(records.strings.length).fill(-1);
  const at = new Map(names.map((name, i) => [name, i]));
  for (const s of seen) place[s] = at.get(part(records.strings[s]));
  return { names, place };
}

/* 2026-11-15T04:23:39Z was on 2026-11-15. */
function day(date) {
  return date.slice(0, 10);
}

function byName(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

function text(number) {
  return number < 0 ? null : records.strings[number];
}

const runs = prepareRuns(records.run);
const matrices = prepareMatrices(records.matrix);

function prepareRuns(r) {
  const ran = i => r.skipped[i] < 0 && records.matrix.nnz[r.matrix[i]] > 0;
  const device = dictionary(r.device, ran), kernel = dictionary(r.kernel, ran);
  const type = dictionary(r.value, ran), op = dictionary(r.op, ran);
  const index = [], skipped = [], date = i => text(r.date[i]) ?? "";
  for (let i = 0; i < r.matrix.length; i++) (ran(i) ? index : skipped).push(i);
  /* of two runs of a kernel on a case the later one comes later */
  index.sort((a, b) => byName(date(a), date(b)));
  const days = dictionary(r.date, ran, day), versions = dictionary(r.version, ran);
  const take = (column, missing) => Float64Array.from(index, i => column[i] ?? missing);
  const numbers = (column, place) => Int32Array.from(
    index, i => place && column[i] >= 0 ? place[column[i]] : column[i]);
  const all = {
    count: index.length, skipped,
    devices: device.names, kernels: kernel.names, types: type.names, ops: op.names, days: days.names,
    versions: versions.names, day: numbers(r.date, days.place), release: numbers(r.version, versions.place),
    offset: numbers(r.offset), matrix: numbers(r.matrix), device: numbers(r.device, device.place),
    kernel: numbers(r.kernel, kernel.place), type: numbers(r.value, type.place), op: numbers(r.op, op.place),
    ran: numbers(r.ran), format: numbers(r.format), date: numbers(r.date), version: numbers(r.version),
    flags: numbers(r.flags), repetitions: numbers(r.repetitions), warm: take(r.warm_ms, NaN),
    cold: take(r.cold_ms, NaN), convert: take(r.convert_ms, NaN), prepare: take(r.prepare_ms, NaN),
    spread: take(r.spread, NaN), bytes: take(r.bytes, NaN), held: take(r.held_bytes, NaN),
    floor: take(r.floor_ms, NaN), error: take(r.error, NaN),
  };
  all.setup = Float64Array.from(all.convert, (c, i) => c + all.prepare[i]);
  const cases = numbered(all.count,
    i => (((all.matrix[i] * all.devices.length + all.device[i]) * 4 + all.type[i]) * 4 +
    all.op[i]) * records.strings.length + all.offset[i]);
  const slots = numbered(all.count, i => cases.number[i] * kernel.names.length + all.kernel[i]);
  /* group: runs with the same number are compared with each other; slot: they are the same measurement,
   * taken again. */
  const replaced = new Uint8Array(all.count).fill(1); /* by a later one of the slot */
  for (const last of new Map(Array.from(slots.number, (slot, i) => [slot, i])).values()) replaced[last] = 0;
  return Object.assign(all, { group: cases.number, groups: cases.size, slot: slots.number, slots: slots.size,
                              replaced });
}

/* Small numbers for keys, in the order in which they come. */
function numbered(count, keyOf) {
  const known = new Map(), number = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    const key = keyOf(i);
    if (!known.has(key)) known.set(key, known.size);
    number[i] = known.get(key);
  }
  return { number, size: known.size };
}

function prepareMatrices(m) {
  const used = new Uint8Array(m.name.length), twice = new Map();
  for (let i = 0; i < runs.count; i++) used[runs.matrix[i]] = 1;
  const list = m.name.map((name, i) => ({
    id: i, name: text(name), origin: text(m.origin[i]), spec: text(m.spec[i]), used: used[i] === 1,
    rows: m.rows[i], cols: m.cols[i], nnz: m.nnz[i],
    stats: { shortest: m.row_shortest[i], longest: m.row_longest[i], empty: m.row_empty[i],
             mean: m.row_mean[i], deviation: m.row_deviation[i] },
    histogram: m.histogram[i], picture: m.picture[i], side: m.side[i], tall: m.tall[i],
  }));
  for (const matrix of list) {
    matrix.mean = matrix.stats.mean ?? matrix.nnz / matrix.rows;
    matrix.size = sizeClass(matrix.nnz);
    matrix.structure = structureClass(matrix);
    twice.set(matrix.name, (twice.get(matrix.name) || 0) + 1);
  }
  for (const matrix of list) /* its link: the name, or with its nonzeros where two have the same */
    matrix.key = twice.get(matrix.name) > 1 ? `${matrix.name}~${matrix.nnz}` : matrix.name;
  return list;
}

/* ---------------------------------------------------------------- classes */

const sizeClasses = ["below 100k", "100k to 1M", "1M to 10M", "10M to 100M", "from 100M"];

function sizeClass(nnz) {
  return nnz < 1e5 ? 0 : nnz < 1e6 ? 1 : nnz < 1e7 ? 2 : nnz < 1e8 ? 3 : 4;
}

const structureClasses = ["even rows", "uneven rows", "skewed rows", "not described"];
const structureNotes = [
  "deviation of row lengths up to 0.3 of their mean",
  "deviation above 0.3 of the mean, longest row within 10 means",
  "longest row above 10 means, or deviation above the mean",
  "no row statistics in the records",
];

function structureClass({ stats }) {
  if (stats.mean == null || !(stats.longest > 0)) return 3;
  if (stats.longest > 10 * stats.mean || stats.deviation > stats.mean) return 2;
  return stats.deviation > 0.3 * stats.mean ? 1 : 0;
}
