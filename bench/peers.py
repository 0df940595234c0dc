#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Heddle's CPU kernels beside SciPy, Eigen and librsb: same arrays, same clock, one process, taking turns.

    bench/peers.py [--build build] [--members 18] [--types f64,f32] [--ops N,T] [--seconds 1.5]
                   [--json peers.json]

Needs numpy and scipy (PyPI), libeigen3-dev and librsb-dev (Debian; `scripts/setup peers` installs these two).
For the largest members of set:paper it prints, per matrix, the best time of each contender and the ratio of
the best peer to Heddle's best kernel, then geometric means, and the share of the read bandwidth (measured in
the same run) on regular matrices with 20 and more nonzeros a row."""
import argparse
import ctypes as c
import json
import math
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import scipy.sparse

HERE = os.path.dirname(os.path.abspath(__file__))
THREADS = len(os.sched_getaffinity(0))


class MatrixDesc(c.Structure):
    _fields_ = [("rows", c.c_int64), ("cols", c.c_int64), ("nnz", c.c_int64), ("format", c.c_int),
                ("value", c.c_int), ("offset", c.c_int), ("index", c.c_int), ("copied", c.c_int),
                ("sorted_now", c.c_int),
                ("bytes", c.c_int64), ("ptr", c.c_void_p), ("col", c.c_void_p), ("row", c.c_void_p),
                ("val", c.c_void_p)]


class PlanOptions(c.Structure):
    _fields_ = [("ops", c.c_int), ("expected_products", c.c_int64), ("deterministic", c.c_int),
                ("memory_limit", c.c_int64), ("kernel", c.c_char_p)]


class KernelDesc(c.Structure):
    _fields_ = [*((name, c.c_char_p) for name in ("name", "format", "ops", "device", "source", "options")),
                ("repeatable", c.c_int)]


class PlanDesc(c.Structure):
    _fields_ = [("kernel", c.c_char * 64), ("format", c.c_char * 16), ("value", c.c_int),
                ("transposed", c.c_int), ("deterministic", c.c_int),
                ("bytes", c.c_int64), ("prepare_ms", c.c_double), ("product_ms", c.c_double),
                ("immediate_ms", c.c_double),
                ("break_even", c.c_int64)]


class Heddle:
    """The public API, as far as this script needs it."""

    def __init__(self, build):
        self.lib = c.CDLL(os.path.join(build, "libheddle.so"))
        self.lib.heddle_last_error.restype = c.c_char_p
        self.h = c.c_void_p()
        self.ok(self.lib.heddle_open(c.byref(self.h), b"cpu"))
        self.kernels = []
        for i in range(self.lib.heddle_kernel_count()):
            desc = KernelDesc()
            self.ok(self.lib.heddle_kernel_info(i, c.byref(desc)))
            if desc.device == b"cpu":
                self.kernels.append(desc.name)

    def ok(self, status):
        if status:
            raise RuntimeError(self.lib.heddle_last_error().decode())

    def generate(self, spec, f64):
        A = c.c_void_p()
        self.ok(self.lib.heddle_generate(c.byref(A), self.h, spec.encode(), 2 if f64 else 1))
        return A

    def arrays(self, A):
        """CSR arrays of A as numpy views."""
        d = MatrixDesc()
        self.ok(self.lib.heddle_matrix_info(A, c.byref(d)))
        def view(pointer, count, dtype):
            size = count * np.dtype(dtype).itemsize
            return np.frombuffer((c.c_char * max(size, 1)).from_address(pointer), dtype=dtype, count=count)
        value = np.float64 if d.value == 2 else np.float32
        assert d.offset == 16, "the peers take 32-bit offsets"
        return d, view(d.ptr, d.rows + 1, np.int32), view(d.col, d.nnz, np.int32), view(d.val, d.nnz, value)

    def plan(self, A, op, kernel):
        p = c.c_void_p()
        options = PlanOptions(2 if op == "T" else 1, 1000000, 0, 0, kernel)
        status = self.lib.heddle_plan_create(c.byref(p), self.h, A, c.byref(options))
        return None if status else p

    def describe(self, p, op):
        d = PlanDesc()
        self.ok(self.lib.heddle_plan_info(p, 1 if op == "T" else 0, c.byref(d)))
        return d


def build_peers(folder):
    """The two peers in other languages, compiled for this machine, and the plain read loop."""
    def compile_to(name, command):
        path = os.path.join(folder, name)
        subprocess.run(command + ["-O3", "-march=native", "-fopenmp", "-DNDEBUG", "-fPIC", "-shared", "-o",
                                  path], check=True)
        lib = c.CDLL(path)
        return lib
    read = compile_to("read.so", ["cc", f"{HERE}/peers/read.c"])
    read.peer_read_new.restype = c.c_int64
    read.peer_read.restype = c.c_double
    read.bytes = read.peer_read_new(c.c_int64(1 << 28), THREADS)
    eigen = compile_to("eigen.so", ["c++", "-I/usr/include/eigen3", f"{HERE}/peers/eigen.cpp"])
    try:
        rsb = compile_to("rsb.so", ["cc", f"{HERE}/peers/rsb.c", "-Wl,--no-as-needed", "-lrsb"])
    except (subprocess.CalledProcessError, OSError) as error:
        print(f"librsb is left out: {error}", file=sys.stderr)
        rsb = None
    for lib in (eigen, rsb):
        if lib:
            lib.peer_new.restype = c.c_void_p
    return eigen, rsb, read


def peers_for(libs, desc, ptr, col, val, op):
    """name -> (run(x, y), free) for every peer; x and y are numpy arrays."""
    eigen, rsb = libs
    f64 = val.dtype == np.float64
    A = scipy.sparse.csr_matrix((val, col, ptr), shape=(desc.rows, desc.cols), copy=False)
    A.has_sorted_indices = True
    B = A if op == "N" else A.T
    found = {"scipy": (lambda x, y: B @ x, lambda: None)}
    def add(name, lib, number, *vectors):
        peer = lib.peer_new(c.c_int64(desc.rows), c.c_int64(desc.cols), c.c_int64(desc.nnz),
                            c.c_void_p(ptr.ctypes.data), c.c_void_p(col.ctypes.data),
                            c.c_void_p(val.ctypes.data), int(f64), number, THREADS, *vectors)
        if peer:
            found[name] = (lambda x, y: lib.peer_run(c.c_void_p(peer), c.c_void_p(x.ctypes.data),
                                                     c.c_void_p(y.ctypes.data)),
                           lambda: lib.peer_free(c.c_void_p(peer)))
    add("eigen", eigen, 0 if op == "N" else 1, 1, 0)
    if op == "T":
        add("eigen_copy", eigen, 2, 1, 0)
    if rsb:
        add("librsb", rsb, 0 if op == "N" else 1)
    return found


def heddle_for(heddle, A, op):
    """name -> (run, free) for the immediate product, the plan, and every kernel that applies."""
    number = 1 if op == "T" else 0
    lib, h = heddle.lib, heddle.h
    found = {"mv": (lambda x, y: heddle.ok(lib.heddle_mv(h, number, None, A, c.c_void_p(x.ctypes.data), None,
                                                         c.c_void_p(y.ctypes.data))),
                    lambda: None)}
    for kernel in [None] + heddle.kernels:
        p = heddle.plan(A, op, kernel)
        if not p:
            continue
        name = "plan" if kernel is None else kernel.decode()
        if kernel is not None and heddle.describe(p, op).transposed:
            name += "(Aᵀ)"
        found[name] = (
            lambda x, y, p=p: heddle.ok(lib.heddle_plan_mv(p, number, None, c.c_void_p(x.ctypes.data), None,
                                                           c.c_void_p(y.ctypes.data))),
            lambda p=p: lib.heddle_plan_free(p))
    return found


def race(contenders, x, y, reference, seconds, read):
    """Best seconds of each contender and of the read loop; they take turns, so that a noisy moment hits all
    of them."""
    for name, (run, _) in contenders.items():
        y[:] = np.nan
        out = run(x, y)
        result = out if isinstance(out, np.ndarray) else y
        error = (np.max(np.abs(result - reference)) / max(np.max(np.abs(reference)), 1e-30)
                 if len(reference) else 0)
        if not error < (1e-9 if y.dtype == np.float64 else 1e-3):
            raise RuntimeError(f"{name} is wrong by {error}")
    contenders = {**contenders, "read": (lambda x, y: read.peer_read(THREADS), None)}
    best = {name: math.inf for name in contenders}
    end, rounds = time.perf_counter() + seconds * len(contenders), 0
    while rounds < 5 or (time.perf_counter() < end and rounds < 200):
        for name, (run, _) in contenders.items():
            begin = time.perf_counter()
            run(x, y)
            best[name] = min(best[name], time.perf_counter() - begin)
        rounds += 1
    return best


def geomean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else float("nan")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--members", type=int, default=18,
                        help="how many of the largest members of set:paper")
    parser.add_argument("--only", help="only members whose name contains this")
    parser.add_argument("--types", default="f64,f32")
    parser.add_argument("--ops", default="N,T")
    parser.add_argument("--seconds", type=float, default=1.0, help="per contender and matrix")
    parser.add_argument("--json", help="write what was measured there, a list of objects")
    args = parser.parse_args()
    heddle = Heddle(args.build)
    command = os.path.join(args.build, "heddle")
    members = json.loads(subprocess.run([command, "gen", "--list", "--json"], check=True,
                                        capture_output=True).stdout)
    paper = next(s for s in members["sets"] if s["name"] == "paper")["members"]
    paper = sorted(paper, key=lambda m: m["nnz"])[-args.members:]
    paper = [m for m in paper if not args.only or args.only in m["name"]]
    records = []
    with tempfile.TemporaryDirectory() as folder:
        *libs, read = build_peers(folder)
        print(f"{THREADS} threads, numpy {np.__version__}, scipy {scipy.__version__}")
        for member in paper:
            for kind in args.types.split(","):
                f64 = kind == "f64"
                A = heddle.generate(member["spec"], f64)
                desc, ptr, col, val = heddle.arrays(A)
                for op in args.ops.split(","):
                    n, m = (desc.cols, desc.rows) if op == "N" else (desc.rows, desc.cols)
                    x = np.linspace(-1, 1, n).astype(val.dtype)
                    y = np.zeros(m, val.dtype)
                    S = scipy.sparse.csr_matrix((val, col, ptr), shape=(desc.rows, desc.cols), copy=False)
                    reference = S @ x if op == "N" else S.T @ x
                    theirs = peers_for(libs, desc, ptr, col, val, op)
                    ours = heddle_for(heddle, A, op)
                    times = race({**theirs, **ours}, x, y, reference, args.seconds, read)
                    bandwidth = read.bytes / times.pop("read") / 1e9
                    for _, free in list(theirs.values()) + list(ours.values()):
                        free()
                    best = min(ours, key=lambda name: times[name])
                    counted = 4 * (desc.rows + 1) + desc.nnz * (4 + val.itemsize) + (n + m) * val.itemsize
                    record = {"matrix": member["name"], "type": kind, "op": op, "rows": desc.rows,
                              "nnz": desc.nnz,
                              "best": best, "read_gbs": bandwidth,
                              "of_read": counted / times[best] / 1e9 / bandwidth,
                              "ms": {name: 1e3 * t for name, t in times.items()}}
                    records.append(record)
                    rivals = "  ".join(f"{name} {times[name] / times[best]:5.2f}x" for name in theirs)
                    print(f"{member['name']:14s} {kind} {op}  {1e3 * times[best]:8.3f} ms  "
                          f"{record['of_read']:4.0%} of {bandwidth:.1f} GB/s  {best:16s} {rivals}  mv "
                          f"{times['mv'] / times[best]:.2f}x", flush=True)
                heddle.lib.heddle_matrix_free(A)
    summary(records)
    if args.json:
        with open(args.json, "w") as out:
            out.write("[\n" + ",\n".join(json.dumps(record) for record in records) + "\n]\n")


def summary(records):
    print("\ngeometric means of peer time / Heddle's best kernel (and / heddle_mv with no preparation)")
    for kind in sorted({r["type"] for r in records}):
        for op in sorted({r["op"] for r in records}):
            group = [r for r in records if r["type"] == kind and r["op"] == op]
            for label, names in [("best of scipy, eigen", ("scipy", "eigen")),
                                 ("eigen, explicit transpose", ("eigen_copy",)),
                                 ("librsb", ("librsb",))]:
                usable = [r for r in group if all(name in r["ms"] for name in names)]
                if not usable:
                    continue
                peer = lambda r: min(r["ms"][name] for name in names)
                print(f"  {kind} {op}  {label:26s} "
                      f"{geomean(peer(r) / r['ms'][r['best']] for r in usable):5.2f}   "
                      f"({geomean(peer(r) / r['ms']['mv'] for r in usable):5.2f})   {len(usable)} matrices")
    regular = [r for r in records if r["op"] == "N" and r["type"] == "f64" and r["nnz"] >= 20 * r["rows"]]
    for r in regular:
        print(f"  of read bandwidth, f64 N, 20+ a row: {r['matrix']:14s} {r['of_read']:4.0%}  "
              f"({r['nnz'] / r['rows']:.0f} a row)")


if __name__ == "__main__":
    main()
