/* SPDX-License-Identifier: MIT
 *
 * compare.js: which kernels are compared at first, and over which cases.  A mean or a profile is fair only
 * over cases that all kernels in it were run on, and records of different matrices have few of these. */

/* Where kernels are very many, those that are another one with an option: hyb:split=minimal beside hyb. */
function variants(names) {
  const crowd = 24, plain = name => name.replace(/:[^:]*=[^:]*$/, "");
  return new Set(runs.kernels.length > crowd ? names.filter(n => plain(n) !== n &&
    names.includes(plain(n))) : []);
}

/* Records of different matrices have few cases in common.  At first those kernels are shown for which most
 * runs are compared: kernels times the cases that all of them have.  From all of them on, the one goes
 * whose leaving gains most cases. */
function hiddenAtFirst() {
  const now = admittedRuns();
  if (now.atFirst) return now.atFirst;
  const off = variants(now.kernels.map(k => runs.kernels[k])),
        on = new Set(now.kernels.filter(k => !off.has(runs.kernels[k])));
  const has = new Map([...on].map(k => [k, []])), count = new Int32Array(runs.groups),
        sum = new Float64Array(runs.groups);
  for (const i of now.list)
    if (on.has(runs.kernel[i])) has.get(runs.kernel[i]).push(runs.group[i]);
  for (const [k, groups] of has) for (const g of groups) { count[g]++; sum[g] += k; }
  const cases = [...new Set([...has.values()].flat())];
  let best = { runs: -1 };
  while (on.size) {
    const all = d3.sum([...on]), gain = new Map([...on].map(k => [k, 0]));
    let common = 0;
    for (const g of cases) {
      if (count[g] === on.size) common++;
      else if (count[g] === on.size - 1) /* only this one is missing */
        gain.set(all - sum[g], gain.get(all - sum[g]) + 1);
    }
    if (common * on.size > best.runs) best = { runs: common * on.size, on: new Set(on) };
    const [gone] = [...on].sort((a, b) => gain.get(b) - gain.get(a) || has.get(a).length - has.get(b).length);
    on.delete(gone);
    for (const g of has.get(gone)) { count[g]--; sum[g] -= gone; }
  }
  now.atFirst = new Set(now.kernels.filter(k => !best.on?.has(k)).map(k => runs.kernels[k]));
  return now.atFirst;
}

/* Over which cases a figure compares, and how many it leaves out. */
function casesNote(s) {
  const several = n => `${count(n)} ${n === 1 ? "case" : "cases"}`, left = s.groups.length - s.cases.length;
  if (state.cases === "all" || s.shownKernels.length < 2) return several(s.cases.length);
  return `${several(s.cases.length)} that all ${s.shownKernels.length} kernels have, ` +
         (left ? `${count(left)} left out` : "none left out");
}

/* Where no case is common to all: why, and the way on. */
function noCases(body, s) {
  if (!s.groups.length) return empty(body, "No runs have what the filters ask for.");
  const has = new Map();
  for (const i of s.shown) has.set(runs.kernel[i], (has.get(runs.kernel[i]) ?? 0) + 1);
  const [who, fewest] = [...has].sort((a, b) => a[1] - b[1])[0];
  body.append(make("div", { class: "empty" },
    make("p", {}, `No case has runs of all ${s.shownKernels.length} kernels that are switched on. ` +
                  `${runs.kernels[who]} has the fewest, ${count(fewest)} of ${count(s.groups.length)}.`),
    make("p", {}, make("button", { type: "button", class: "more", "data-focus": "cases-all",
      onclick: () => change({ cases: "all" }) }, "Compare over all cases"),
      make("button", { type: "button", class: "more", "data-focus": "kernels-first",
        onclick: () => change({ hide: presets.hide }) }, "Show the kernels that have most in common"))));
  return {};
}
