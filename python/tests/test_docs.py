# SPDX-License-Identifier: MIT
"""What the documentation shows happens: examples of docstrings, of docs/python.md, and of the notebook."""

from __future__ import annotations

import doctest
import importlib
import json
import re
from pathlib import Path

import numpy
import pytest

import heddle

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("arrays", "command", "device", "library", "matrix", "plan", "product", "source")
MODULES = ["heddle", *(f"heddle._{m}" for m in PARTS)]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name):
    module = importlib.import_module(name)
    names = {"numpy": numpy, "csr": heddle.csr, "generate": heddle.generate}
    shown = doctest.testmod(module, extraglobs=names)
    assert shown.failed == 0


def test_there_are_examples():
    modules = [importlib.import_module(m) for m in MODULES]
    found = sum(len(t.examples) for m in modules for t in doctest.DocTestFinder().find(m))
    assert found >= 20


def test_everything_that_is_public_is_described():
    for name in heddle.__all__:
        member = getattr(heddle, name)
        assert isinstance(member, str) or member.__doc__, name
    for cls in (heddle.Matrix, heddle.Plan):
        for name in dir(cls):
            if not name.startswith("_"):
                assert getattr(cls, name).__doc__, f"{cls.__name__}.{name}"


def sections():
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        blocks = re.findall(r"^```python\n(.*?)^```", section, flags=re.M | re.S)
        if blocks:
            yield section.splitlines()[0], blocks


@pytest.mark.parametrize(("title", "blocks"), list(sections()))
def test_examples_of_the_page(title, blocks, capsys):
    for framework in ("cupy", "torch"):
        if f"import {framework}\n" in blocks[0]:
            module = pytest.importorskip(framework)
            if framework == "cupy" and not heddle.devices()[0].name.startswith("cuda"):
                pytest.skip(f"no GPU for {module.__name__}")
    space = {}
    for block in blocks:
        exec(compile(block, f"docs/python.md, {title}", "exec"), space)  # noqa: S102
    if title == "With SciPy":
        assert "PlanInfo" in capsys.readouterr().out
        assert space["failed"] == 0


def test_the_notebook_runs(capsys):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    notebook = json.loads((ROOT / "python" / "notebooks" / "pagerank.ipynb").read_text(encoding="utf-8"))
    space = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] or "def " in "".join(cell["source"]), "committed without its results"
            exec(compile("".join(cell["source"]), "pagerank.ipynb", "exec"), space)  # noqa: S102
    assert "Heddle and SciPy differ by" in capsys.readouterr().out
    assert abs(space["rank"].sum() - 1) < 1e-9
    outputs = [o for cell in notebook["cells"] for o in cell.get("outputs", [])]
    assert any("image/png" in o.get("data", {}) for o in outputs)
