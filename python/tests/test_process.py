# SPDX-License-Identifier: MIT
"""The package among others: other libraries, threads, forks, processes, and import orders."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import random_matrix

import heddle
from heddle import _library


def python(code, **environment):
    """What a process of its own prints, and how it ends."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return done.stdout.strip() + done.stderr.strip()


def test_the_version_is_that_of_the_library():
    assert heddle.__version__ == heddle.build_info()["version"]
    assert heddle.__version__.startswith(_library._minor(_library._header()) + ".")


def test_another_minor_version_is_refused_with_a_sentence(tmp_path):
    source = tmp_path / "other.c"
    source.write_text('const char *heddle_version(void) { return "0.99.1"; }')
    other = tmp_path / "libheddle.so"
    if subprocess.run(["cc", "-shared", "-fPIC", "-o", other, source], check=False).returncode:
        pytest.skip("no C compiler")
    said = python("import heddle", HEDDLE_LIBRARY=str(other))
    assert f"ImportError: heddle: {other} is version 0.99.1 of the library, this package needs 0." in said
    source.write_text("int nothing;")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", other, source], check=True)
    assert "is a library, but not Heddle's" in python("import heddle", HEDDLE_LIBRARY=str(other))


def test_a_library_that_is_not_there_is_named():
    assert "the library /nowhere.so cannot be loaded" in python("import heddle", HEDDLE_LIBRARY="/nowhere.so")


def test_which_library_is_taken(monkeypatch, tmp_path):
    monkeypatch.setenv("HEDDLE_LIBRARY", "/some/libheddle.so")
    assert _library._files("0.2") == ["/some/libheddle.so"]
    monkeypatch.delenv("HEDDLE_LIBRARY")
    monkeypatch.setattr(_library, "_HERE", tmp_path / "a" / "b" / "c")
    assert _library._files("0.2") == ["libheddle.so.0.2"]
    with pytest.raises(ImportError, match=r"heddle.h is missing"):
        _library._header()
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c" / "libheddle.so").touch()
    assert _library._files("0.2") == [str(tmp_path / "a" / "b" / "c" / "libheddle.so")]


def test_the_import_needs_no_gpu_and_no_framework():
    code = """
        import sys, heddle
        print(sorted({"torch", "cupy", "scipy"} & set(sys.modules)), heddle.devices()[-1].name)
    """
    assert python(code, CUDA_VISIBLE_DEVICES="") == "[] emu"


def test_the_command_comes_along():
    said = subprocess.run(
        [sys.executable, "-m", "heddle", "--version"], capture_output=True, text=True, check=True
    ).stdout
    assert heddle.__version__ in said


def test_a_command_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setenv("HEDDLE_COMMAND", "/nowhere/heddle")
    with pytest.raises(heddle.Error, match="/nowhere/heddle does not start"):
        heddle.bench("gen:grid2d:n=3")


def test_threads_share_matrices_and_plans():
    S = random_matrix(500, 400)
    A = heddle.csr(S, "cpu")
    P = A.plan(ops="NT")
    x = np.random.default_rng(1).random(400)
    expected = S @ x

    def work(i):
        for _ in range(50):
            y = (A if i % 2 else P) @ x
            B = heddle.csr(S, "cpu")  # and make and free their own meanwhile
            np.testing.assert_allclose(y, expected, rtol=1e-12)
            np.testing.assert_allclose(B.plan(products=1) @ x, expected, rtol=1e-12)
        return True

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_python_goes_on_during_a_product():
    A = heddle.generate("grid3d:n=100", "cpu:threads=1")
    x = np.ones(10**6)
    done = threading.Event()
    counted = 0

    def multiply():
        for _ in range(5):
            A @ x
        done.set()

    thread = threading.Thread(target=multiply)
    thread.start()
    while not done.wait(0.001):
        counted += 1
    thread.join()
    assert counted > 10  # with the lock held there is a chance between two products only


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_goes_on():
    S = random_matrix(500, 400)
    A = heddle.csr(S, "cpu")
    x = np.ones(400)
    expected = A @ x
    child = os.fork()
    if child == 0:
        same = np.array_equal(A @ x, expected) and np.allclose(
            heddle.csr(S, "cpu").T @ expected, S.T @ expected
        )
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    np.testing.assert_array_equal(A @ x, expected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_is_not_locked_out_by_a_thread_of_its_parent():
    A = heddle.csr(random_matrix(), "cpu")
    handle = A._resource.handle
    taken, over = threading.Event(), threading.Event()

    def hold():
        with handle.lock:
            taken.set()
            over.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait()
    child = os.fork()
    if child == 0:
        A @ np.ones(50)
        os._exit(0)
    over.set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_matrices_go_to_other_processes():
    code = """
        import multiprocessing, numpy, heddle
        A = heddle.generate("grid2d:n=10", "cpu")
        with multiprocessing.get_context("spawn").Pool(2) as pool:
            results = pool.map(A.__matmul__, [numpy.ones(100), numpy.zeros(100)])
        print(numpy.array_equal(results[0], A @ numpy.ones(100)), results[1].any())
    """
    code = textwrap.indent(textwrap.dedent(code), "    ")
    assert python("if __name__ == '__main__':" + code) == "True False"


@pytest.mark.parametrize("order", [("torch", "heddle"), ("heddle", "torch")])
def test_other_run_time_libraries_do_not_get_in_the_way(order):
    pytest.importorskip("torch")
    code = f"""
        import {order[0]}, {order[1]}
        import numpy, torch, heddle
        A = heddle.generate("grid3d:n=30", "cpu")
        x = numpy.ones(27000)
        for i in range(20):
            y = A @ x
            t = torch.ones(500, 500) @ torch.ones(500, 500)
        print(abs(y - A.toscipy() @ x).max() < 1e-9, float(t[0, 0]))
    """
    assert python(code) == "True 500.0"
