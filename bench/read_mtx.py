#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reading a large Matrix Market file: Heddle (file to finished CSR) beside fast_matrix_market (file to COO),
same threads, same run, taking turns; and the time to open the same matrix as .hdl.

    bench/read_mtx.py [--build BUILD] [--file FILE.mtx] [--gb 1] [--threads 2] [--repeats 3]

Needs numpy, scipy and fast_matrix_market (PyPI), and a build of Heddle (libheddle.so).  Without --file a
random matrix is written first, column by column as the SuiteSparse collection stores them, values with all
their digits."""
import argparse
import os
import subprocess
import sys
import tempfile
import time

import fast_matrix_market as fmm
import numpy as np
import scipy.sparse as sp

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def make(path, gigabytes):
    """About 35 bytes an entry, about 20 entries a column."""
    nnz = int(gigabytes * 1e9 / 35.2)
    n = nnz // 20
    random = np.random.default_rng(1)
    col = np.sort(random.integers(0, n, nnz, dtype=np.int32))
    row = random.integers(0, n, nnz, dtype=np.int32)
    fmm.mmwrite(path, sp.coo_matrix((random.standard_normal(nnz), (row, col)), (n, n)))


def build_driver(build, folder):
    driver = os.path.join(folder, "read_mtx")
    if not os.path.exists(os.path.join(build, "libheddle.so")):
        sys.exit(f"{build} holds no libheddle.so: build Heddle first (make build)")
    subprocess.run(["cc", "-O2", "-D_POSIX_C_SOURCE=200809L", f"-I{ROOT}/include",
                    f"{ROOT}/bench/read_mtx.c", "-o", driver, f"-L{build}",
                    f"-Wl,-rpath,{os.path.abspath(build)}", "-lheddle"], check=True)
    return driver


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--file")
    parser.add_argument("--gb", type=float, default=1.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="heddle-read-") as folder:
        driver = build_driver(args.build, folder)
        path = args.file or os.path.join(folder, "big.mtx")
        if not args.file:
            make(path, args.gb)
        environment = dict(os.environ, OMP_NUM_THREADS=str(args.threads))
        heddle, peer = [], []
        for _ in range(args.repeats):
            start = time.perf_counter()
            (values, (row, col)), shape = fmm.read_coo(path, parallelism=args.threads)
            peer.append(time.perf_counter() - start)
            nnz = len(values)
            del values, row, col
            line = subprocess.run([driver, "1", path], env=environment, check=True, capture_output=True,
                                  text=True).stdout
            heddle.append(float(line.split()[-1]) / 1e3)
            if line.split()[2] != str(nnz):
                sys.exit(f"different numbers of entries: {line.split()[2]} and {nnz}")
        hdl = os.path.join(folder, "big.hdl")
        subprocess.run([driver, "--convert", path, hdl], env=environment, check=True)
        line = subprocess.run([driver, "5", hdl], env=environment, check=True, capture_output=True,
                              text=True).stdout
        opens = [float(ms) for ms in line.split()[3:]]
        gb = os.path.getsize(path) / 1e9
        print(f"{gb:.2f} GB, {shape[0]} x {shape[1]}, {nnz} entries, {args.threads} threads, best of "
              f"{args.repeats}")
        print(f"fast_matrix_market {fmm.__version__}, to COO   {min(peer):7.2f} s   (all: "
              f"{', '.join(f'{t:.2f}' for t in peer)})")
        print(f"Heddle, to CSR                     {min(heddle):7.2f} s   (all: "
              f"{', '.join(f'{t:.2f}' for t in heddle)})")
        print(f"ratio fast_matrix_market / Heddle  {min(peer) / min(heddle):7.2f}")
        print(f".hdl of it opens in {max(opens):.3f} ms at worst of {len(opens)}")


if __name__ == "__main__":
    main()
