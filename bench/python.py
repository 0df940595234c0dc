#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Heddle's Python package beside what its users have: same arrays, same clock, one process, taking turns.

    bench/python.py scipy [--set paper] [--largest 17] [--types f64] [--ops N,T] [--seconds 1] [--json FILE]
    bench/python.py cupy,torch --set baseline --types f32,f64

scipy: `P @ x` of a plan beside `S @ x`, on this machine's cores.  cupy, torch: `A @ x` without a plan, of
arrays on the GPU, beside cupyx and torch.sparse.  A time is that of a call in a row of calls, with what the
host does and one wait at the end: for small matrices it is the host's.  Every result is compared first.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import heddle

SETS = Path(__file__).resolve().parents[1] / "src" / "gen" / "sets.def"
TYPES = {"f32": "float32", "f64": "float64"}


def members(name: str) -> list[tuple[str, int, str]]:
    """Names, nonzeros and specs of a set, from the list that the library itself is made from."""
    text = re.sub(r'"\s+"', "", SETS.read_text())
    rows = re.findall(rf'^{name.upper()}\("([^"]+)", *\d+, *\d+, *(\d+),.*?"([^"]+)"\)', text, re.M | re.S)
    return [(n, int(nnz), spec) for n, nnz, spec in rows]


class Scipy:
    name = "scipy"

    def __init__(self, S: sp.csr_array) -> None:
        self.S = {"N": S, "T": S.T}
        P = heddle.csr(S, "cpu").plan(products=10_000, ops="NT")
        self.A = {"N": P, "T": P.T}

    def vector(self, x: np.ndarray) -> np.ndarray:
        return x

    def host(self, y: np.ndarray) -> np.ndarray:
        return y

    def sync(self) -> None:
        pass


class Cupy(Scipy):
    name = "cupy"

    def __init__(self, S: sp.csr_array) -> None:
        import cupy
        import cupyx.scipy.sparse as csp

        self.module = cupy
        C = csp.csr_matrix(
            (cupy.asarray(S.data), cupy.asarray(S.indices), cupy.asarray(S.indptr)), shape=S.shape
        )
        A = heddle.csr(C)
        self.S = {"N": C, "T": C.T}
        self.A = {"N": A, "T": A.T}

    def vector(self, x: np.ndarray) -> object:
        return self.module.asarray(x)

    def host(self, y: object) -> np.ndarray:
        return self.module.asnumpy(y)

    def sync(self) -> None:
        self.module.cuda.runtime.deviceSynchronize()


class Torch(Scipy):
    name = "torch"

    def __init__(self, S: sp.csr_array) -> None:
        import torch

        self.module = torch
        parts = [torch.from_numpy(a).cuda() for a in (S.indptr, S.indices, S.data)]
        t = torch.sparse_csr_tensor(*parts, S.shape)
        A = heddle.csr(t)
        self.S = {"N": t, "T": t.t()}
        self.A = {"N": A, "T": A.T}

    def vector(self, x: np.ndarray) -> object:
        return self.module.from_numpy(x).cuda()

    def host(self, y: object) -> np.ndarray:
        return y.cpu().numpy()

    def sync(self) -> None:
        self.module.cuda.synchronize()


def row(peer: Scipy, operator: object, x: object, calls: int) -> float:
    """Microseconds of a call in a row of them."""
    peer.sync()
    begin = time.perf_counter()
    for _ in range(calls):
        y = operator @ x
    peer.sync()
    del y
    return (time.perf_counter() - begin) / calls * 1e6


def compare(peer: Scipy, op: str, dtype: str, seconds: float) -> dict[str, object]:
    ours, theirs = peer.A[op], peer.S[op]
    x = peer.vector(np.random.default_rng(1).random(ours.shape[1]).astype(dtype))
    found: dict[str, object] = {"kernel": None, "heddle_us": None, "peer_us": None, "error": None}
    y = peer.host(ours @ x).astype("f8")
    found["kernel"] = ours.kernel
    contenders = {"heddle_us": ours}
    try:
        z = peer.host(theirs @ x).astype("f8")
        scale = np.abs(z).max() or 1
        found["error"] = float(np.abs(y - z).max() / scale)
        contenders["peer_us"] = theirs
    except (RuntimeError, TypeError, ValueError, NotImplementedError) as e:
        found["peer_says"] = str(e).splitlines()[0][:200]
    once = {name: max(row(peer, A, x, 3), 0.5) for name, A in contenders.items()}
    for _ in range(5):
        for name, A in contenders.items():
            calls = max(2, int(seconds / 10 / once[name] * 1e6))
            us = row(peer, A, x, min(calls, 5000))
            found[name] = us if found[name] is None else min(us, found[name])
    return found


def measure(name: str, value: str, peer: Scipy, given: argparse.Namespace) -> list[dict[str, object]]:
    """A line and a record for each operation."""
    records = []
    for op in given.ops.split(","):
        r = compare(peer, op, TYPES[value], given.seconds)
        if r["error"] is not None and not r["error"] < (1e-4 if value == "f32" else 1e-11):
            raise SystemExit(f"{name} {value} {op}: results differ by {r['error']}")
        r["ratio"] = r["peer_us"] / r["heddle_us"] if r["peer_us"] else None
        records.append({"matrix": name, "peer": peer.name, "type": value, "op": op, **r})
        theirs = f"{r['peer_us']:12.1f}  {r['ratio']:5.2f}" if r["ratio"] else f"{'-':>12}  {'-':>5}"
        said = r.get("peer_says", "")
        print(
            f"{name:<18}{peer.name:>6} {value} {op} {r['heddle_us']:12.1f}{theirs}  {r['kernel']} {said}",
            flush=True,
        )
    return records


def means(records: list[dict[str, object]]) -> None:
    groups: dict[tuple[object, ...], list[float]] = {}
    for r in records:
        if r["ratio"]:
            groups.setdefault((r["peer"], r["type"], r["op"]), []).append(r["ratio"])
    for group, found in groups.items():
        mean = math.exp(sum(map(math.log, found)) / len(found))
        print(*group, f"geometric mean {mean:.2f}, least {min(found):.2f}, over {len(found)} matrices")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("peers", help="scipy, cupy or torch, or several with commas")
    parser.add_argument("--set", default="paper")
    parser.add_argument("--largest", type=int, default=1000)
    parser.add_argument("--smallest", type=int, default=1000)
    parser.add_argument("--types", default="f64")
    parser.add_argument("--ops", default="N,T")
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="for each of the two, a matrix and operation"
    )
    parser.add_argument("--json")
    given = parser.parse_args()
    peers = {"scipy": Scipy, "cupy": Cupy, "torch": Torch}
    records: list[dict[str, object]] = []
    print(f"{'matrix':<18}{'peer':>6} type op {'heddle us':>9}{'peer us':>12}  ratio  kernel")
    chosen = sorted(members(given.set), key=lambda m: m[1])
    for name, _, spec in chosen[-given.largest :][: given.smallest]:
        made = heddle.generate(spec, "cpu").toscipy()
        for value in given.types.split(","):
            S = made.astype(TYPES[value])
            for peer in given.peers.split(","):
                records += measure(name, value, peers[peer](S), given)
    means(records)
    if given.json:
        Path(given.json).write_text("".join(json.dumps(r) + "\n" for r in records), encoding="utf-8")


if __name__ == "__main__":
    main()
