# SPDX-License-Identifier: MIT
"""The command `heddle`, which comes with the package, and measurements by it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from ._library import Error, check, ffi, lib, text
from ._matrix import Matrix, write


class Kernel(NamedTuple):
    """An algorithm of Heddle's."""

    name: str  #: "cpu_csr": for ``plan(kernel=)``
    format: str  #: what it stores
    ops: str  #: "N", "T" or "NT", relative to the storage
    device: str  #: "cpu" or "gpu"
    source: str  #: where the algorithm comes from
    options: str  #: "slice=8 window=512": names and defaults
    repeatable: bool  #: bitwise the same result every run


def kernels() -> list[Kernel]:
    """All kernels of the library.

    >>> "cpu_csr" in [k.name for k in kernels()]
    True
    """
    found = []
    for number in range(lib.heddle_kernel_count()):
        d = ffi.new("heddle_kernel_desc *")
        check(lib.heddle_kernel_info(number, d))
        found.append(
            Kernel(
                text(d.name),
                text(d.format),
                text(d.ops),
                text(d.device),
                text(d.source),
                text(d.options),
                bool(d.repeatable),
            )
        )
    return found


def command() -> str:
    """The path of the command: HEDDLE_COMMAND, the one of the wheel, or the one that the system finds."""
    bundled = Path(__file__).resolve().parent / "bin" / "heddle"
    return os.environ.get("HEDDLE_COMMAND") or (str(bundled) if bundled.exists() else "heddle")


def main() -> NoReturn:
    """Becomes the command."""
    os.execvp(command(), ["heddle", *sys.argv[1:]])


def bench(
    A: Matrix | str,
    *,
    kernel: str = "auto",
    op: str = "N",
    device: str | None = None,
    options: tuple[str, ...] = (),
) -> list[dict[str, Any]]:
    """Measures products as ``heddle bench`` does, every one verified; its records as dictionaries.

    A        a matrix, or what the command takes: a file, "gen:grid3d:n=100", "set:paper".
    kernel   names, "auto" (Heddle's choice), "plan" or "all", with commas between them.
    op       "N", "T" or "N,T".
    device   where; by default where A lies.
    options  further arguments of the command; ``heddle bench --help`` tells them.

    >>> run, = bench("gen:grid2d:n=50", kernel="cpu_csr", device="cpu")
    >>> run["kernel"], run["nnz"], run["verified"]
    ('cpu_csr', 12300, True)
    """
    with tempfile.TemporaryDirectory() as folder:
        records = os.path.join(folder, "records.jsonl")
        if isinstance(A, Matrix):
            subject = os.path.join(folder, "matrix.hdl")
            write(A, subject)
            device = device or A.device
        elif isinstance(A, str):
            subject = A
        else:
            raise TypeError(f"{type(A).__name__} is neither a heddle.Matrix nor a name of matrices")
        arguments = [subject, "--kernel", kernel, "--op", op, "--json", records, *options]
        if device is not None:
            arguments += ["--device", device]
        try:
            done = subprocess.run(
                [command(), "bench", *arguments],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
            )
        except OSError as e:
            raise Error(f"the command {command()} does not start: {e}") from None
        if done.returncode:
            raise Error(done.stderr.strip() or f"heddle bench ended with {done.returncode}")
        with open(records, encoding="utf-8") as lines:
            return [r for r in map(json.loads, lines) if r.get("record") == "run"]
