/* SPDX-License-Identifier: MIT
 *
 * logic.js records DIR writes two files of records that cover different matrices; logic.js test PAGE takes
 * the script out of the page that was made of them, runs it without a document, and compares what it
 * computes with what is known of the records. */
"use strict";
const fs = require("fs"), vm = require("vm");

/* ---------------------------------------------------------------- records */

/* 14 kernels on matrices 0 to 29, in November; six of these on matrices 20 to 49, in December by version
 * 0.2.0, all twice as fast, and there another one on 30 to 49.  Kernel k needs k + 1 times the time of the
 * first. */
const KERNELS = [..."abcdefghijklmn"].map(letter => `csr_${letter}`);
const files = [
  { name: "first", kernels: KERNELS, from: 0, to: 30, version: "0.1.0", date: "2026-11-15T01:00:00Z",
    speed: 1 },
  { name: "second", kernels: [...KERNELS.slice(0, 6), "late"], from: 20, to: 50, version: "0.2.0",
    date: "2026-12-02T01:00:00Z", speed: 2 },
];

function line(file, kernel, m) {
  const nnz = 1000 * (m + 1), rank = kernel === "late" ? 1 : KERNELS.indexOf(kernel) + 1,
        warm_ms = nnz * rank / 1e6 / file.speed;
  return JSON.stringify({ schema: 1, record: "run", version: file.version, date: file.date, device: "GPU",
                          matrix: `m${m}`,
    origin: `gen:m${m}`, rows: 1000, cols: 1000, nnz, kernel, op: "N", value: "f64", offset: "i32",
    bytes: 12 * nnz, held_bytes: 0, convert_ms: 0, prepare_ms: 0, warm_ms, gflops: 2e-6 * nnz / warm_ms,
    verified: true, error: 0.1 });
}

function writeRecords(dir) {
  for (const file of files) {
    const lines = [];
    for (let m = file.from; m < file.to; m++)
      for (const kernel of file.kernels) if (kernel !== "late" || m >= 30) lines.push(line(file, kernel, m));
    fs.writeFileSync(`${dir}/${file.name}.jsonl`, lines.join("\n") + "\n");
  }
}

/* ---------------------------------------------------------------- the script of a page */

function scriptOf(path) {
  const html = fs.readFileSync(path, "utf8"), open = '<script type="application/json" id="records">';
  const records = html.slice(html.indexOf(open) + open.length, html.indexOf("</script>", html.indexOf(open)));
  const [drawing, script] = html.split(/<script>\n/).slice(-2).map(
    part => part.slice(0, part.lastIndexOf("</script>")));
  const document = { documentElement: {},
                     getElementById: id => ({ textContent: id === "records" ? records : "" }) };
  const context = vm.createContext({ document, console });
  context.self = context.globalThis = context;
  vm.runInContext(drawing, context);
  const end = script.lastIndexOf("start();"); /* what needs a document begins there */
  vm.runInContext(script.slice(0, end) + "globalThis.page = { state, presets, runs, kernels, matrices, " +
                                         "selection, profiles, hidden, meanSheet, measures, speedups, " +
                                         "casesNote, caseNote, choices };" +
                                         script.slice(end + "start();".length), context);
  return context.page;
}

let page, passed = 0, failed = 0;

function check(condition, words) {
  if (condition) passed++;
  else { failed++; console.log(words); }
}

function set(part) {
  Object.assign(page.state, page.presets, part);
  return page.selection();
}

const names = list => list.map(k => page.runs.kernels[k]).sort().join(" ");

/* ---------------------------------------------------------------- what must hold */

const tests = {
  /* 14 kernels on 30 cases are 420 runs; six on 50 are 300; seven on 20, 140; all fifteen have no case in
   * common. */
  "at first the kernels are shown with which most runs are compared"() {
    const s = set({});
    check(names(s.shownKernels) === KERNELS.join(" "), `shown at first: ${names(s.shownKernels)}`);
    check(s.cases.length === 30 && s.groups.length === 50, `${s.cases.length} of ${s.groups.length} cases`);
    check(page.hidden().has("late") && page.hidden().size === 1, "late is not switched off");
  },

  "profiles are over the cases that all kernels shown have, and the others are counted"() {
    const s = set({}), lines = page.profiles(s);
    check(lines.length === 14 && lines.every(l => l.ratios.length === 30),
      "a kernel has more or fewer cases than the others");
    check(page.casesNote(s) === "30 cases that all 14 kernels have, 20 left out", page.casesNote(s));
    const six = set({ hide: [...KERNELS.slice(6), "late"].join(" ") });
    check(page.casesNote(six) === "50 cases that all 6 kernels have, none left out", page.casesNote(six));
    const late = set({ hide: KERNELS.slice(2).join(" ") });
    check(page.casesNote(late) === "20 cases that all 3 kernels have, 30 left out", page.casesNote(late));
    const none = set({ hide: "" });
    check(none.cases.length === 0 && page.profiles(none).length === 0,
      "cases that only some have are compared");
  },

  "all cases can be asked for, and then who lacks one is not within reach there"() {
    const s = set({ hide: "", cases: "all" }),
          late = page.profiles(s).find(l => page.runs.kernels[l.kernel] === "late");
    check(s.cases.length === 50 && late.ratios.length === 20,
      `${s.cases.length} cases, ${late.ratios.length} of late`);
    check(late.share(10) === 0.4, `late is within reach on ${late.share(10)}`);
    check(page.casesNote(s) === "50 cases", page.casesNote(s));
  },

  /* The same kernel has the same GFLOP/s on all matrices of a file, so a mean tells which cases it was
   * taken over. */
  "means are over the same cases"() {
    const mean = (s, name) => page.meanSheet(s, page.measures.gflops)
      .rows.find(r => page.runs.kernels[r.kernel] === name).all;
    const s = set({}), b = mean(s, "csr_b"), n = mean(s, "csr_n");
    check(b.count === 30 && n.count === 30, `${b.count} and ${n.count} cases`);
    check(Math.abs(b.value - 2 ** (1 / 3)) < 1e-3,
      `mean ${b.value}: ten of the thirty were measured again, twice as fast`);
    check(page.meanSheet(s, page.measures.gflops).total === 30, "the sheet counts other cases");
    const all = set({ cases: "all" });
    check(mean(all, "csr_b").count === 50 && mean(all, "csr_n").count === 30, "all cases are not all");
    const fast = page.speedups(set({ base: "csr_a" })).find(r => page.runs.kernels[r.kernel] === "csr_b");
    check(fast.list.length === 30 && Math.abs(fast.mean - 0.5) < 1e-4,
      `speed-up ${fast.mean} over ${fast.list.length}`);
  },

  "a version shows what it measured, also where a later one has measured again"() {
    const { runs, matrices } = page, kernel = i => runs.kernels[runs.kernel[i]];
    const is = (i, m) => matrices[runs.matrix[i]].name === m && kernel(i) === "csr_a";
    const time = (s, m) => s.ms[s.list.find(i => is(i, m))];
    check(time(set({}), "m25") === 0.013, `the latest of m25 took ${time(set({}), "m25")}`);
    const old = set({ version: "0.1.0" });
    check(old.list.length === 14 * 30, `0.1.0 has ${old.list.length} runs`);
    check(time(old, "m25") === 0.026, `m25 took ${time(old, "m25")} by 0.1.0`);
    const young = set({ version: "0.2.0" });
    check(young.list.length === 6 * 30 + 20 && !young.list.some(i => kernel(i) === "csr_n"),
      "0.2.0 has other runs");
    check(page.caseNote().includes("heddle 0.2.0"), page.caseNote());
    check(page.runs.slots === 14 * 30 + 6 * 20 + 20, `${page.runs.slots} measurements`);
    check(page.runs.count === 14 * 30 + 6 * 30 + 20, `${page.runs.count} runs: earlier ones are missing`);
  },

  "days bound what is shown on either side"() {
    const runs = part => set(part).list.length;
    check(page.choices.since.join(" ") === "any 2026-11-15 2026-12-02", page.choices.since.join(" "));
    check(runs({ since: "2026-12-02" }) === 200 && runs({ until: "2026-11-15" }) === 420,
      "a bound lets others through");
    check(runs({ since: "2026-11-15", until: "2026-12-02" }) === runs({}), "all days are not all runs");
    check(runs({ since: "2026-12-02", until: "2026-11-15" }) === 0,
      "a span that ends before it begins has runs");
  },

  "kernels that share a hue differ in dashes and in marks"() {
    const by = part => new Set(page.kernels.map(k => `${k.colour} ${part(k)}`)).size;
    check(by(() => "") < page.kernels.length, "there are hues enough: the records have too few kernels");
    check(by(k => k.dash) === page.kernels.length, "two kernels have the same line");
    check(by(k => JSON.stringify(k.mark)) === page.kernels.length, "two kernels have the same mark");
  },
};

const [what, where] = process.argv.slice(2);
if (what === "records") writeRecords(where);
else {
  page = scriptOf(where);
  for (const [name, test] of Object.entries(tests)) {
    try { test(); } catch (error) { failed++; console.log(`${name}: ${error.stack}`); }
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed > 0 ? 1 : 0);
}
