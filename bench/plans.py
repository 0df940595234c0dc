#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a plan would choose, from records of every kernel (heddle bench --kernel all --peer cusparse --json FILE).

    bench/plans.py bench/results/2026-11-15-h200-catalogue.jsonl              # for 1000, 10000 and 100000 expected products
    bench/plans.py FILE --expected 300 --show                                 # and what is tried on each matrix
    bench/plans.py FILE --fit                                                 # the efforts that fit the records best

The rule is that of src/plan: efforts are read from predict.c and the constants of a try from choose.c, so that a change there
shows here before a GPU has to.  Times are those of the records: the mean of cold and warm decides, cold is what is reported.
"""
import argparse
import json
import math
import pathlib
import re
from collections import defaultdict

ROOT = pathlib.Path(__file__).resolve().parent.parent
PREDICT = (ROOT / "src/plan/predict.c").read_text()
CHOOSE = (ROOT / "src/plan/choose.c").read_text()
CONVERTED = {"csr5", "coo_atomic", "coo_balance", "ell", "ellr", "ell_groups", "sell", "hyb", "csr_halfwarp"}
DERIVED = {"csr_classical", "csr_balance", "csr_ginkgo", "csr_adaptive"}


def constant(text, name):
    return float(re.search(rf"#define {name} (\S+)", text)[1])


STEP, LAUNCH = constant(PREDICT, "STEP_BYTES"), constant(PREDICT, "LAUNCH_BYTES")
DOUBT, STAKE = (constant(CHOOSE, name) for name in ("DOUBT", "STAKE"))
MEASURE, DERIVE, CONVERT = (constant(CHOOSE, "TRY_" + name) for name in ("MEASURE", "DERIVE", "CONVERT"))
EFFORTS = {name: [float(number) for number in row.split(",")]
           for name, row in re.findall(r"\[KERNEL_(\w+)\] = \{([^{}]*)\}", PREDICT)}


def load(paths):
    """Runs of op N by matrix and type, then kernel; only what was measured."""
    runs = defaultdict(dict)
    for path in paths:
        for line in open(path, encoding="utf-8"):
            r = json.loads(line)
            if r["record"] == "run" and r["op"] == "N" and r.get("cold_ms"):
                runs[r["matrix"], r["value"]][r["kernel"]] = r
    return runs


def moved(r):
    """Bytes, by the pages' own accounts as far as records tell: what is held is what is converted or derived."""
    rows, nnz, value = r["rows"], r["nnz"], 4 if r["value"] == "f32" else 8
    vectors, held, kernel = (rows + r["cols"]) * value, r["held_bytes"], r["kernel"]
    csr = 4 * (rows + 1) + (4 + value) * nnz + vectors
    if kernel in ("coo_atomic", "coo_balance"):
        return (8 + value) * nnz + vectors + rows * value + (32 * nnz if kernel == "coo_atomic" else 0)
    if kernel == "ellr":
        return (4 + value) * nnz + 4 * rows + vectors
    if kernel == "hyb":
        return held + vectors + (2 * rows * value if has_rest(r) else 0)
    if kernel in CONVERTED:
        return held + vectors
    return csr + held + {"csr_naive": 24 * max(0, nnz - 8 * rows), "csr_merge": held, "csr_hola": 4 * rows}.get(kernel, 0)


def has_rest(r):
    return r["held_bytes"] != r["row"]["longest"] * r["rows"] * (8 if r["value"] == "f32" else 12)


def predicted(r, units, effort):
    entry, row, launches, lanes = effort
    cost = moved(r)
    if lanes:
        share = lanes if lanes > 0 else r["row"]["mean"] / -lanes
        cost = max(cost, r["row"]["longest"] / min(max(share, 1), 32) * STEP * units)
    return cost + entry * r["nnz"] + row * r["rows"] + launches * LAUNCH * units


def mean_ms(r):
    return (r["cold_ms"] + r["warm_ms"]) / 2


def prepare_ms(r):
    """Records before binaries were left out of prepare_ms have them in it: the first of a process pays."""
    return r["convert_ms"] + min(r["prepare_ms"], 5 * r["cold_ms"])


def plan(own, expected, units, overhead):
    """Whom the rule of src/plan/choose.c keeps, whom it tries, and the ms that takes."""
    ahead, tried, spent = own["csr_weave"], [], 0
    cost = {k: predicted(r, units, EFFORTS.get(k, (0, 0, 0, 0))) for k, r in own.items()}
    rate = mean_ms(ahead) / cost["csr_weave"]
    total = expected * mean_ms(ahead)
    for k in sorted(own, key=cost.get):
        ms, r = rate * cost[k], own[k]
        price = ms * (MEASURE + DERIVE * (k in DERIVED) + CONVERT * (k in CONVERTED))
        if k == "csr_weave" or spent + price > STAKE * expected * (mean_ms(ahead) - (1 - DOUBT) * ms):
            continue
        tried.append(k)
        spent += overhead + prepare_ms(r) + MEASURE * mean_ms(r)
        rate = min(rate, mean_ms(r) / cost[k])
        if expected * mean_ms(r) + prepare_ms(r) < total:
            ahead, total = r, expected * mean_ms(r) + prepare_ms(r)
    return ahead, tried, spent


def geometric(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def judge(runs, expected, units, overhead, show):
    of_best, over_peer, tries, spent = [], [], [], []
    for (matrix, value), x in runs.items():
        own = {k: r for k, r in x.items() if k in EFFORTS}
        peers = [r["cold_ms"] for r in x.values() if r["peer"]]
        kept, tried, ms = plan(own, expected, units, overhead)
        best = min(own.values(), key=lambda r: r["cold_ms"])
        of_best.append(best["cold_ms"] / kept["cold_ms"])
        over_peer += [min(peers) / kept["cold_ms"]] if peers else []
        tries.append(len(tried))
        spent.append(ms / mean_ms(kept))
        if show:
            print(f"{matrix:18} {value}  {kept['kernel']:14} {of_best[-1]:.3f} of {best['kernel']:14} tried {' '.join(tried)}")
    print(f"{expected:8} expected products: {geometric(of_best):.3f} of the best kernel, "
          + (f"{geometric(over_peer):.3f} over the best peer, " if over_peer else "")
          + f"{sum(tries) / len(tries):.1f} tries ({max(tries)} at most) of {sum(spent) / len(spent):.0f} products")


def fit(runs, units):
    """Bytes an entry and a row, by coordinate descent on the mean of |log(predicted / measured)|; what x costs beyond its bytes
    is the matrix's own and no kernel's.  Kernels that take over four times the best are left out: others explain those."""
    bandwidth = 4.3e9  # bytes a ms, of the device that the records are of
    data = [(m, k, r) for m, x in runs.items() for k, r in x.items() if k in EFFORTS]
    least = {m: min(mean_ms(r) for n, _, r in data if n == m) for m in runs}
    data = [(m, k, r) for m, k, r in data if mean_ms(r) < 4 * least[m]]
    known = {(m, k): predicted(r, units, [0, 0] + EFFORTS[k][2:]) for m, k, r in data}
    entry, row, gather = defaultdict(float), defaultdict(float), defaultdict(float)

    def error(part):
        return sum(abs(math.log((known[m, k] + entry[k] * r["nnz"] + row[k] * r["rows"] + gather[m]) / bandwidth / mean_ms(r)))
                   for m, k, r in part)

    def descend(number, key, part, steps):
        best = error(part)
        for step in [s * sign for s in steps for sign in (1, -1)]:
            while True:
                old, number[key] = number[key], max(0, number[key] + step)
                if error(part) >= best - 1e-9:
                    number[key] = old
                    break
                best = error(part)

    for _ in range(12):
        for m, x in runs.items():
            nnz = next(iter(x.values()))["nnz"]
            descend(gather, m, [d for d in data if d[0] == m], (2 * nnz, nnz / 4))
        for k in EFFORTS:
            part = [d for d in data if d[1] == k]
            descend(entry, k, part, (2, 0.5))
            descend(row, k, part, (8, 1))
    for k in EFFORTS:
        part = [d for d in data if d[1] == k]
        if part:
            percent = 100 * (math.exp(error(part) / len(part)) - 1)
            print(f"{k:14} entry {entry[k]:5.1f}  row {row[k]:5.1f}   off by {percent:.0f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", nargs="+")
    parser.add_argument("--expected", type=int, action="append", help="products (1000, 10000 and 100000)")
    parser.add_argument("--units", type=int, default=132, help="multiprocessors of the device (132: H200)")
    parser.add_argument("--overhead", type=float, default=0.5, help="ms of a try for memory and flushes (0.5)")
    parser.add_argument("--show", action="store_true", help="a line for each matrix and type")
    parser.add_argument("--fit", action="store_true", help="print the efforts that fit the records best")
    given = parser.parse_args()
    runs = load(given.records)
    if given.fit:
        fit(runs, given.units)
    for expected in given.expected or ([] if given.fit else [1000, 10000, 100000]):
        judge(runs, expected, given.units, given.overhead, given.show)


if __name__ == "__main__":
    main()
