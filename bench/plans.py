#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a plan would choose, from records of every kernel
(heddle bench --kernel all --peer cusparse --op N,T --json FILE).

    bench/plans.py bench/results/2026-11-15-h200-paper.jsonl.xz  # for 100, 1000 and 10000 expected products
    bench/plans.py FILE --expected 300 --op T --show             # and what is tried on each matrix
    bench/plans.py FILE OTHER --fit                              # fits the efforts of predict.c, prints them
    bench/plans.py FILE OTHER --fit --write                      # and puts them there
    bench/plans.py FILE --fit --test OTHER                       # fitted to the one, judged by the other

The rule is that of src/plan: efforts are read from predict.c and the constants of a try from choose.c, so
that a change there shows here before a GPU has to.  Times are those of the records, the mean of cold and
warm, as plans measure them.
"""
import argparse
import gzip
import json
import lzma
import math
import pathlib
import re
import statistics
from collections import defaultdict

ROOT = pathlib.Path(__file__).resolve().parent.parent
PREDICT = ROOT / "src/plan/predict.c"
CHOOSE = (ROOT / "src/plan/choose.c").read_text()
ROW = re.compile(r"    \[KERNEL_(\w+)\] = \{([^{}]*)\},\n")
CONVERTED = {"csr5", "coo_atomic", "coo_balance", "coo_fixed", "ell", "ellr", "ell_groups", "sell", "hyb",
             "csr_halfwarp",
             "tmpl", "tmplv", "bundle"}
DERIVED = {"csr_classical", "csr_balance", "csr_ginkgo", "csr_adaptive"}
ADDS = {"csr_weft", "csr_naive_t", "csr_hola_t", "csr_fixed_t", "coo_atomic", "coo_fixed"}
IMMEDIATE = {"N": "csr_weave", "T": "csr_weft"}


def opened(path):
    how = {".gz": gzip.open, ".xz": lzma.open}.get(pathlib.Path(path).suffix, open)
    return how(path, "rt", encoding="utf-8")


def constant(text, name):
    return float(re.search(rf"#define {name} (\S+)", text)[1])


STEP, MICROSECOND, BLOCK, PIECE, LEAST = (constant(PREDICT.read_text(), name) for name in (
    "STEP_BYTES", "MICROSECOND_BYTES", "BLOCK_LANES", "PIECE", "LEAST_START"))
DOUBT, STAKE = (constant(CHOOSE, name) for name in ("DOUBT", "STAKE"))
PRICE = {what: (constant(CHOOSE, f"TRY_{what}_MS"), constant(CHOOSE, f"TRY_{what}_PRODUCTS"))
         for what in ("MEASURE", "DERIVE", "CONVERT", "TURN")}
UNKNOWN = (LEAST, 0, 0, 0)
EFFORTS = {name: [float(number) for number in row.split(",")]
           for name, row in ROW.findall(PREDICT.read_text())}


class Run:
    """A kernel on a matrix: what was measured, and what a prediction may know."""

    def __init__(self, r, column):
        self.kernel, self.peer, self.nnz, self.cold = r["kernel"], r["peer"], r["nnz"], r["cold_ms"]
        self.ms = (r["cold_ms"] + r["warm_ms"]) / 2
        self.turned = r["op"] == "T" and r["transposed"]
        self.prepare = r["convert_ms"] + r["prepare_ms"]
        self.rows, self.cols = (r["cols"], r["rows"]) if self.turned else (r["rows"], r["cols"])
        lengths = column if self.turned else r["row"]
        self.longest, self.mean = lengths["longest"], lengths["mean"]
        self.bytes = 0 if self.peer else self.moved(r, 4 if r["value"] == "f32" else 8)

    def moved(self, r, value):
        """Bytes, by the pages' own accounts as far as records tell: what is held is what is converted or
        derived."""
        kernel, held, vectors = self.kernel, r["held_bytes"], (self.rows + self.cols) * value
        arrays = 4 * (self.rows + 1) + (4 + value) * self.nnz
        entries = (8 + value) * self.nnz if kernel.startswith("coo_") else arrays
        native = r["op"] == "T" and not self.turned
        if kernel in ADDS or (kernel == "coo_balance" and native):
            y = (self.cols if native else self.rows) * value
            return (entries + vectors + y + 32 * self.nnz) * (2 if "fixed" in kernel else 1)
        if kernel == "coo_balance":
            return entries + vectors + self.rows * value
        if kernel == "ellr":
            return (4 + value) * self.nnz + 4 * self.rows + vectors
        if kernel == "hyb":
            rest = held != self.longest * self.rows * (4 + value)
            return held + vectors + (2 * self.rows * value if rest else 0)
        if kernel in CONVERTED:
            return held + vectors
        held -= arrays if self.turned else 0
        further = {"csr_naive": 24 * max(0, self.nnz - 8 * self.rows), "csr_merge": held,
                   "csr_hola": 4 * self.rows}
        return arrays + vectors + held + further.get(kernel, 0)

    def cost(self, effort, units, blind=False):
        """predict() of predict.c; blind: of a transpose that is not there yet, whose rows nobody knows."""
        start, entry, row, lanes = effort
        cost = self.bytes
        if lanes and not blind:
            share = lanes if lanes > 0 else min(max(self.mean / -lanes, 1), 32)
            cost += min(self.longest, PIECE if lanes >= BLOCK else math.inf) / share * STEP * units
        return cost + entry * self.nnz + row * self.rows + start * MICROSECOND * units

    def total(self, expected):
        return self.prepare + expected * self.ms


def load(paths):
    """Runs by matrix, type and op, then kernel; only what was measured."""
    runs, column = defaultdict(dict), {}
    records = [json.loads(line) for path in paths for line in opened(path)]
    for r in records:
        if r["record"] == "matrix":
            column[r["matrix"]] = r["col"]
    for r in records:
        if r["record"] == "run" and r.get("cold_ms") and r["kernel"] not in ("auto", "plan"):
            if r["op"] == "N" or r["matrix"] in column:
                runs[r["matrix"], r["value"], r["op"]][r["kernel"]] = Run(r, column.get(r["matrix"]))
    return {key: x for key, x in runs.items() if IMMEDIATE[key[2]] in x}


class Contest:
    """The rule of src/plan/choose.c: who is kept, who is tried, and the ms that takes."""

    def __init__(self, own, op, expected, units, overhead):
        self.own, self.expected, self.units, self.overhead = own, expected, units, overhead
        self.ahead, self.tried, self.spent = own[IMMEDIATE[op]], [], 0
        self.is_turned, self.sure = False, False
        self.rate = self.ahead.ms / self.cost(self.ahead)
        self.turn_ms = min((r.prepare for r in own.values() if r.turned), default=0)
        left = [r for r in own.values() if r is not self.ahead]
        while left:
            best = min(left, key=lambda r: expected * self.rate * self.cost(r) + self.price(r))
            if self.worth(best) and best.turned and not self.is_turned:
                self.is_turned, self.spent = True, self.spent + self.turn_ms
                continue
            left.remove(best)
            if self.worth(best):
                self.take(best)

    def cost(self, r):
        return r.cost(EFFORTS.get(r.kernel, UNKNOWN), self.units, blind=r.turned and not self.is_turned)

    def price(self, r):
        does = {"MEASURE": 1, "DERIVE": r.kernel in DERIVED, "CONVERT": r.kernel in CONVERTED,
                "TURN": r.turned and not self.is_turned}
        return sum(does[what] * (ms + products * self.rate * self.cost(r))
                   for what, (ms, products) in PRICE.items())

    def worth(self, r):
        gain = self.expected * (self.ahead.ms - (1 - DOUBT) * self.rate * self.cost(r))
        return self.spent + self.price(r) <= STAKE * gain

    def take(self, r):
        self.tried.append(r.kernel)
        self.spent += self.overhead + max(0, r.prepare - self.turn_ms * r.turned) + PRICE["MEASURE"][1] * r.ms
        self.rate = min(self.rate, r.ms / self.cost(r))
        if r.total(self.expected) < self.ahead.total(self.expected):
            self.spent += 0 if self.sure else PRICE["MEASURE"][1] * self.ahead.ms + self.overhead / 2
            self.ahead, self.sure = r, True


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def judge(runs, expected, given):
    """Over the best kernel and the best peer: all expected products with what is prepared for them, then a
    cold product."""
    for op in given.op or "NT":
        means, tries, spent = defaultdict(list), [], []
        for (matrix, value, _), x in sorted((key, x) for key, x in runs.items() if key[2] == op):
            own, peers = ({k: r for k, r in x.items() if bool(r.peer) == peer} for peer in (False, True))
            c = Contest(own, op, expected, given.units, given.overhead)
            kept = c.ahead
            best = min(own.values(), key=lambda r: r.total(expected))
            for name, group in (("kernel", own), ("peer", peers)):
                if group:
                    means["all", name].append(
                        min(r.total(expected) for r in group.values()) / kept.total(expected))
                    means["cold", name].append(min(r.cold for r in group.values()) / kept.cold)
            tries.append(len(c.tried))
            spent.append(c.spent / (expected * kept.ms))
            if given.show:
                print(f"{matrix:18} {value}  {kept.kernel:14} {means['all', 'kernel'][-1]:.3f} of "
                      f"{best.kernel:14} tried {' '.join(c.tried)}")
        if tries:
            of = {key: f"{geometric(v):.3f}" for key, v in means.items()}
            print(f"{op} {expected:6} expected: {of['all', 'kernel']} of the best kernel, "
                  f"{of.get(('all', 'peer'), '-')} of the best peer; cold {of['cold', 'kernel']}, "
                  f"{of.get(('cold', 'peer'), '-')}; {sum(tries) / len(tries):.1f} tries ({max(tries)} at "
                  f"most), {100 * statistics.median(spent):.0f} % of the products' time")


class Fit:
    """Efforts by coordinate descent on the mean of |log(predicted / measured)|.  How much slower than its
    bytes a matrix is for every kernel alike is its own, as the rate of a contest is.  Times over four times
    the best are left out: what explains those need not be right."""

    def __init__(self, runs, units):
        self.units, self.runs = units, defaultdict(list)
        for key, x in runs.items():
            least = min(r.ms for r in x.values() if not r.peer)
            for k, r in x.items():
                if not r.peer and r.ms < 4 * least:
                    self.runs[k].append((key, r))
        self.effort = {k: [4.0, 0.0, 0.0, 0] for k in self.runs}
        for _ in range(12):
            self.find_own()
            for k in self.runs:
                self.descend(k)

    def cost(self, r, effort):
        return r.cost(effort, self.units) / (1000 * MICROSECOND * self.units)

    def find_own(self):
        found = defaultdict(list)
        for k, part in self.runs.items():
            for key, r in part:
                found[key].append(r.ms / self.cost(r, self.effort[k]))
        self.own = {key: statistics.median(values) for key, values in found.items()}

    def error(self, k, effort):
        return sum(abs(math.log(self.cost(r, effort) * self.own[key] / r.ms))
                   for key, r in self.runs[k]) / len(self.runs[k])

    def descend(self, k):
        effort, best = self.effort[k], self.error(k, self.effort[k])

        def better(i, number, by=1e-6):
            nonlocal effort, best
            other = effort[:i] + [number] + effort[i + 1:]
            error = self.error(k, other)
            if error < best - by:
                effort, best = other, error
                return True
            return False

        for i, steps in enumerate(((2, 0.5, 0.1), (8, 2, 0.5), (32, 8, 2))):
            for step in [s * sign for s in steps for sign in (1, -1)]:
                while better(i, max((1, 0, 0)[i], round(effort[i] + step, 1))):
                    pass
        for lanes in (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, -2, -4, -8, -16):
            better(3, lanes, 0.002)
        self.effort[k] = effort

    def rows(self):
        return {k: f"    [KERNEL_{k}] = {{{', '.join(f'{number:g}' for number in self.effort[k])}}},\n"
                for k in self.runs}

    def show(self):
        for k, row in self.rows().items():
            percent = 100 * (math.exp(self.error(k, self.effort[k])) - 1)
            print(f"{row.rstrip():60} /* off by {percent:.0f} %, {len(self.runs[k])} runs */")

    def write(self):
        """Rows that are there are replaced, in their order; new ones come behind."""
        rows, text = self.rows(), PREDICT.read_text()
        text = ROW.sub(lambda found: rows.pop(found[1], found[0]), text)
        *_, last = ROW.finditer(text)
        PREDICT.write_text(text[:last.end()] + "".join(rows.values()) + text[last.end():])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", nargs="+")
    parser.add_argument("--expected", type=int, action="append", help="products (100, 1000 and 10000)")
    parser.add_argument("--op", choices="NT", help="only this operation")
    parser.add_argument("--units", type=int, default=132, help="multiprocessors of the device (132: H200)")
    parser.add_argument("--overhead", type=float, default=0.4,
                        help="ms of a try for memory and flushes (0.4)")
    parser.add_argument("--show", action="store_true", help="a line for each matrix and type")
    parser.add_argument("--fit", action="store_true",
                        help="print the efforts that fit the records best, and judge those")
    parser.add_argument("--write", action="store_true", help="with --fit: put them into src/plan/predict.c")
    parser.add_argument("--test", nargs="+", help="judge by these records instead")
    given = parser.parse_args()
    runs = load(given.records)
    if given.fit:
        found = Fit(runs, given.units)
        found.show()
        EFFORTS.update(found.effort)
        if given.write:
            found.write()
    for expected in given.expected or [100, 1000, 10000]:
        judge(load(given.test) if given.test else runs, expected, given)


if __name__ == "__main__":
    main()
