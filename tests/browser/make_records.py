#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes records as `heddle bench --json` does, the same every time: make_records.py MATRICES > FILE, 40 runs
a matrix."""
import json
import math
import random
import sys

KERNELS = ["auto", "plan", "csr_vector", "csr_merge", "csr_hola", "sell", "ell", "coo_balance",
           "cusparse:csr_alg1", "cusparse:csr_alg2"]


def picture(rng, nnz):
    counts = [0] * 4096
    for i in range(64):
        for j in {i, max(0, i - 1), min(63, i + 1), rng.randrange(64)}:
            counts[64 * i + j] = nnz // 256
    return {"rows": 64, "cols": 64, "count": counts}


def matrix_record(rng, m):
    rows = int(10 ** rng.uniform(3, 7))
    mean = 10 ** rng.uniform(0.4, 2)
    nnz, deviation = int(rows * mean), mean * 10 ** rng.uniform(-1.5, 0.5)
    row = {"shortest": 1, "longest": int(mean + 4 * deviation) + 1, "empty": 0, "mean": nnz / rows,
           "deviation": deviation}
    record = {"schema": 1, "record": "matrix", "matrix": f"made_{m:04d}", "origin": f"gen:made:seed={m}",
              "value": "f64",
              "offset": "i32", "rows": rows, "cols": rows, "nnz": nnz, "row": row, "col": row,
              "lower_bandwidth": rows // 9,
              "upper_bandwidth": rows // 9, "diagonal": rows, "repeats": 0, "sorted": True,
              "pattern_symmetry": 1,
              "numeric_symmetry": 0.5, "numeric_skew": 0, "distinct_values": 1000}
    if m % 5 == 0:
        bins = int(math.log2(row["longest"])) + 2
        record["histogram"] = [0] * (bins - 1) + [rows]
        record["picture"] = picture(rng, nnz)
    return record


def run_record(rng, matrix, kernel, value, op):
    size = 4 if value == "f32" else 8
    bytes_moved = 4 * (matrix["rows"] + 1) + matrix["nnz"] * (4 + size) + 2 * size * matrix["rows"]
    floor = max(0.004, bytes_moved / 4.2e9)
    skew = matrix["row"]["deviation"] / matrix["row"]["mean"]
    behind = {"csr_vector": 1.2 + skew, "ell": 1 + 2 * skew, "coo_balance": 1.7, "csr_merge": 1.25,
              "sell": 1.02 + skew / 4, "csr_hola": 1.2, "plan": 1.05, "auto": 1.15}
    behind = behind.get(kernel, 1.35 + skew / 3) * (1.4 if op == "T" else 1)
    warm = (floor + 0.002) * behind * rng.uniform(0.97, 1.2)
    prepared = kernel in ("plan", "sell", "ell")
    return {"schema": 1, "record": "run", "version": "0.1.0", "date": "2026-11-15T04:23:39Z",
            "device": "NVIDIA H200",
            "isa": "sm_90", "matrix": matrix["matrix"], "origin": matrix["origin"], "rows": matrix["rows"],
            "cols": matrix["cols"], "nnz": matrix["nnz"], "kernel": kernel, "ran": kernel,
            "format": "sell" if prepared else "csr", "op": op, "value": value, "offset": "i32",
            "repeatable": True,
            "held_bytes": bytes_moved if prepared else 0, "break_even": 0,
            "convert_ms": warm * 12 if prepared else 0, "prepare_ms": 0.1, "cold_ms": warm * 1.2,
            "warm_ms": warm,
            "spread": 0.01, "repetitions": 20, "bytes": bytes_moved, "floor_ms": floor,
            "of_floor": floor / warm,
            "gflops": 2e-6 * matrix["nnz"] / warm, "verified": True, "error": 0.1, "wrong": None,
            "skipped": None}


def main():
    rng = random.Random(7)
    for m in range(int(sys.argv[1])):
        matrix = matrix_record(rng, m)
        print(json.dumps(matrix))
        for kernel in KERNELS:
            for value in ("f32", "f64"):
                for op in ("N", "T"):
                    print(json.dumps(run_record(rng, matrix, kernel, value, op)))


if __name__ == "__main__":
    main()
