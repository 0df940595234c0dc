# SPDX-License-Identifier: MIT
"""PyTorch: tensors on the host and on the GPU, gradients, compiled functions, captured graphs."""

from __future__ import annotations

import gc
import pickle

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import heddle  # noqa: E402
import heddle.torch as ht  # noqa: E402

F64 = torch.float64
NEEDS_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
PLACES = ["cpu", pytest.param("cuda", marks=NEEDS_GPU)]


@pytest.fixture(params=PLACES)
def place(request):
    return request.param


def dense(place, rows=7, cols=5, dtype=F64):
    d = torch.rand(rows, cols, dtype=dtype, generator=torch.Generator().manual_seed(1))
    d[d < 0.4] = 0
    return d.to(place)


def parts(d):
    t = d.to_sparse_csr()
    return t.values(), t.col_indices(), t.crow_indices()


LAYOUTS = {
    "csr": lambda d: d.to_sparse_csr(),
    "csc": lambda d: d.to_sparse_csc(),
    "coo": lambda d: d.to_sparse(),
    "uncoalesced": lambda d: (d / 2).to_sparse() + (d / 2).to_sparse(),
    "bsr": lambda d: torch.nn.functional.pad(d, (0, 1, 0, 1))[:6, :4].to_sparse_bsr((2, 2)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("make", [heddle.csr, heddle.csc, heddle.coo])
def test_every_layout_stays_where_it_lies(layout, make, place):
    t = LAYOUTS[layout](dense(place))
    if layout == "bsr" and make is not heddle.csr and place == "cuda":
        pytest.skip("PyTorch does not convert this")
    A, d = make(t), t.to_dense()
    x = torch.rand(d.shape[1], dtype=F64, device=place)
    z = torch.rand(d.shape[0], dtype=F64, device=place)
    for ours, theirs in [
        (A @ x, d @ x),
        (A.T @ z, d.T @ z),
        (x @ A.T, d @ x),
        (A @ x[:, None], d @ x[:, None]),
    ]:
        torch.testing.assert_close(ours, theirs)
        assert ours.device == x.device
        assert not ours.requires_grad
    assert A.device.startswith(place)
    assert isinstance(A.values, torch.Tensor)
    assert A.info["copied"] is False


@pytest.mark.parametrize("a", [torch.float32, torch.float64, torch.int32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("x", [torch.float32, torch.float64, torch.int64, torch.bfloat16, torch.complex128])
def test_types_are_those_that_torch_gives(a, x, place):
    val, col, ptr = parts(dense(place))
    A = heddle.csr((torch.round(val * 4).to(a), col, ptr), shape=(7, 5))
    v = torch.arange(5, device=place).to(x)
    y = A @ v
    exact = torch.round(dense(place) * 4).to(torch.complex128) @ v.to(torch.complex128)
    torch.testing.assert_close(y.to(torch.complex128), exact)
    if a in (torch.float32, torch.float64):
        assert y.dtype == torch.promote_types(a, x)


def test_adjoints_by_name_and_their_gradients(place):
    d = (dense(place) * (1 + 2j)).detach()
    A = heddle.csr(d.to_sparse_csr())
    z = torch.rand(7, dtype=d.dtype, device=place, requires_grad=True)
    torch.testing.assert_close(ht.spmv(A.H, z), d.conj().T @ z)
    assert torch.autograd.gradcheck(lambda v: ht.spmv(A.H, v), z)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_gradients_for_values_of_16_bits(dtype, place):
    val, col, ptr = parts(dense(place))
    val = val.to(dtype).requires_grad_()
    A = heddle.csr((val, col, ptr), shape=(7, 5))
    x = torch.rand(5, device=place)
    (A @ x).sum().backward()
    torch.testing.assert_close(val.grad, x[col].to(dtype))


def test_values_that_numpy_has_not_go_to_scipy_as_single(place):
    d = dense(place).to(torch.bfloat16)
    A = heddle.csr(d.to_sparse_csr())
    np.testing.assert_array_equal(A.toscipy().toarray(), d.float().cpu().numpy())
    copied = heddle.csr(d.cpu().to_sparse_csr(), "emu")
    np.testing.assert_array_equal(copied.toscipy().toarray(), d.float().cpu().numpy())
    P = A.plan()
    P.update(2 * A.values)
    ones = np.ones(5, "f4")
    for B, times in ((A, 1), (P, 2)):
        y = pickle.loads(pickle.dumps(B)) @ ones
        np.testing.assert_allclose(y, times * (d.float().cpu().numpy() @ ones), rtol=1e-6)


def test_a_tensor_without_entries(place):
    A = heddle.csr(torch.zeros(7, 5, dtype=F64, device=place).to_sparse())
    assert A.nnz == 0
    assert (A @ torch.ones(5, dtype=F64, device=place)).tolist() == [0] * 7


@pytest.mark.parametrize("dtype", [torch.float32, F64, torch.complex128])
def test_several_vectors_keep_their_order(dtype, place):
    d = dense(place).to(dtype)
    d = d * (1 + 2j) if dtype.is_complex else d
    A = heddle.csr(d.to_sparse_csr())
    X = torch.rand(5, 8, device=place, dtype=dtype)
    Z = torch.rand(7, 8, device=place, dtype=dtype)
    for order in (lambda t: t, lambda t: t.T.contiguous().T, lambda t: t[:, 1:4], lambda t: t[:, ::3]):
        for B in (A, A.plan(ops="NT")):
            for op, full, V in ((B, d, X), (B.T, d.T, Z), (B.H, d.conj().T, Z)):
                Y = op @ order(V)
                torch.testing.assert_close(Y, full @ order(V))
                assert Y.device == X.device
                assert Y.is_contiguous() == (order(V).stride(1) != 5 and order(V).stride(1) != 7)
        out = torch.ones(8, 7, device=place, dtype=dtype).T[:, : order(X).shape[1]]
        assert A.mm(order(X), out=out, alpha=2, beta=-1) is out
        torch.testing.assert_close(out, 2 * (d @ order(X)) - 1)
    V = X.conj() if dtype.is_complex else X
    torch.testing.assert_close(A @ V, d @ V)


def test_narrowing_happens_where_the_tensors_lie_and_is_checked(place):
    val, col, ptr = parts(dense(place))
    for base in (0, 1):
        A = heddle.csr((val, col + base, ptr + base), shape=(7, 5), base=base)
        torch.testing.assert_close(A @ torch.ones(5, dtype=F64, device=place), dense(place).sum(1))
        assert A._source.index.dtype == A._source.first.dtype == torch.int32
        assert A._source.index.device.type == place
    for bad in (2**32, -1, 5):
        wrong = col.clone()
        wrong[3] = bad
        with pytest.raises(heddle.BadMatrixError, match=str(bad)):
            heddle.csr((val, wrong, ptr), shape=(7, 5))
    with pytest.raises(heddle.BadMatrixError, match=r"row holds 9, which is outside 0\.\.6"):
        heddle.coo((val[:1], (torch.tensor([9], device=place), col[:1])), shape=(7, 5))


def test_a_copy_does_not_change_with_its_tensor(place):
    t = dense(place).to_sparse_csr()
    A = heddle.csr(t, copy=True)
    t.values().zero_()
    torch.testing.assert_close(A @ torch.ones(5, dtype=F64, device=place), dense(place).sum(1))
    assert A.values.device.type == place


def test_mv_writes_where_it_is_told(place):
    d = dense(place)
    A = heddle.csr(d.to_sparse_csr())
    P = A.plan(ops="NT")
    x, y = torch.ones(5, dtype=F64, device=place), torch.full((7,), float("nan"), dtype=F64, device=place)
    for op in (A, P):
        assert op.mv(x, out=y) is y
        op.mv(x, out=y, alpha=3, beta=-1)
        torch.testing.assert_close(y, 2 * (d @ x))
    P.update(A.values * 2)
    torch.testing.assert_close(P @ x, 2 * (d @ x))
    Y = torch.ones(7, 2, dtype=F64, device=place)
    torch.testing.assert_close(
        A.mm(x[:, None].expand(5, 2), out=Y, beta=1), (d @ x)[:, None].expand(7, 2) + 1
    )
    with pytest.raises(ValueError, match="out is of numpy on host"):
        A.mv(x, out=np.zeros(7))


def spmv_of(d, make=heddle.csr, transpose=False):
    """A function of values and x, for gradients of both."""
    t = d.to_sparse_csr() if make is heddle.csr else d.to_sparse_csc()
    first = t.crow_indices() if make is heddle.csr else t.ccol_indices()
    index = t.col_indices() if make is heddle.csr else t.row_indices()

    def f(values, x):
        A = make((values, index, first), shape=tuple(d.shape))
        return ht.spmv(A.T if transpose else A, x)

    return f, t.values().clone().requires_grad_()


@pytest.mark.parametrize("make", [heddle.csr, heddle.csc])
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("columns", [(), (2,)])
def test_gradients_for_x_and_values_of_any_order(make, transpose, columns, place):
    d = dense(place, 4, 3)
    f, values = spmv_of(d, make, transpose)
    x = torch.rand((4 if transpose else 3, *columns), dtype=F64, device=place, requires_grad=True)
    repeat = {"nondet_tol": 1e-9} if place == "cuda" else {}
    assert torch.autograd.gradcheck(f, (values, x), **repeat)
    assert torch.autograd.gradgradcheck(f, (values, x), **repeat)


def test_the_operator_at_records_gradients_where_they_are_wanted(place):
    d = dense(place)
    val, col, ptr = parts(d)
    val = val.clone().requires_grad_()
    A = heddle.csr((val, col, ptr), shape=(7, 5))
    x = torch.rand(5, dtype=F64, device=place)
    y = A @ x  # the values alone require it
    (2 * y).sum().backward()
    torch.testing.assert_close(val.grad, 2 * x[col])
    x.requires_grad_()
    A.mv(x, alpha=3).sum().backward()
    torch.testing.assert_close(x.grad, 3 * d.sum(0))
    with torch.no_grad():
        assert not (A @ x).requires_grad
    with pytest.raises(ValueError, match="out cannot be given where PyTorch records gradients"):
        A.mv(x, out=torch.zeros(7, dtype=F64, device=place))
    P = heddle.csr(d.to_sparse_csr()).plan(ops="NT")
    x.grad = None
    (P @ x).sum().backward()
    torch.testing.assert_close(x.grad, d.sum(0))
    z = torch.rand(7, dtype=torch.complex128, device=place, requires_grad=True)
    (P.T @ z).real.sum().backward()
    torch.testing.assert_close(z.grad.real, d.sum(1))


def test_gradients_reach_the_sparse_tensor(place):
    t = dense(place).to_sparse_csr().requires_grad_()
    x = torch.rand(5, dtype=F64, device=place)
    ht.spmv(t, x).sum().backward()
    torch.testing.assert_close(t.grad.values(), x[t.col_indices()])


def test_an_optimiser_changes_values_in_place(place):
    target, x = dense(place).sum(1), torch.ones(5, dtype=F64, device=place)
    val, col, ptr = parts(dense(place))
    val = torch.zeros_like(val).requires_grad_()
    A = heddle.csr((val, col, ptr), shape=(7, 5))
    optimiser = torch.optim.SGD([val], lr=0.1)
    for _ in range(100):
        optimiser.zero_grad()
        (A @ x - target).square().sum().backward()
        optimiser.step()
    torch.testing.assert_close(A @ x, target)


def test_values_that_changed_before_backward_are_noticed():
    val, col, ptr = parts(dense("cpu"))
    val = val.clone().requires_grad_()
    A = heddle.csr((val, col, ptr), shape=(7, 5))
    y = A @ torch.ones(5, dtype=F64, requires_grad=True)
    with torch.no_grad():
        val *= 2
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_a_graph_keeps_its_matrix():
    x = torch.ones(5, dtype=F64, requires_grad=True)
    y = heddle.csr(dense("cpu").to_sparse_csr()) @ x
    gc.collect()
    y.sum().backward()
    torch.testing.assert_close(x.grad, dense("cpu").sum(0))


@pytest.mark.parametrize("backend", ["aot_eager"])
def test_compiled_functions_take_it_as_one_operator(backend, place):
    d = dense(place)
    A = heddle.csr(d.to_sparse_csr())
    f = torch.compile(
        lambda x: ht.spmv(A, 2 * x).sin() + ht.spmv(A.T, ht.spmv(A, x)).sum(), fullgraph=True, backend=backend
    )
    x = torch.rand(5, dtype=F64, device=place, requires_grad=True)
    y = f(x)
    torch.testing.assert_close(y, (d @ (2 * x)).sin() + (d.T @ (d @ x)).sum())
    y.sum().backward()
    gradient = x.grad.clone()
    x.grad = None
    ((d @ (2 * x)).sin() + (d.T @ (d @ x)).sum()).sum().backward()
    torch.testing.assert_close(gradient, x.grad)


def test_operators_keep_the_rules_of_torch(place):
    A = heddle.csr(dense(place).to_sparse_csr())
    name = A._resource.name
    values, x = A.values.clone().requires_grad_(), torch.rand(5, dtype=F64, device=place, requires_grad=True)
    g = torch.rand(7, dtype=F64, device=place, requires_grad=True)
    checks = ("test_schema", "test_autograd_registration", "test_faketensor")
    X = torch.rand(5, 3, dtype=F64, device=place, requires_grad=True)
    for v in (x, X, X.detach().T.contiguous().T.requires_grad_()):
        torch.library.opcheck(torch.ops.heddle.spmv.default, (values, v, name, False), test_utils=checks)
    torch.library.opcheck(torch.ops.heddle.outer.default, (g, x, name, False), test_utils=checks)
    with pytest.raises(RuntimeError, match="is gone"):
        torch.ops.heddle.spmv(values, x, "nobody", False)


WRONG = {
    "a dense tensor": (lambda: heddle.csr(torch.eye(3)), TypeError, "dense tensor"),
    "a batch": (lambda: heddle.csr(torch.eye(3).expand(2, 3, 3).to_sparse_csr()), ValueError, "not a matrix"),
    "a short x": (
        lambda: ht.spmv(heddle.csr(torch.eye(3).to_sparse_csr()), torch.ones(4)),
        ValueError,
        "times x",
    ),
    "x of NumPy": (
        lambda: ht.spmv(heddle.csr(torch.eye(3).to_sparse_csr()), np.ones(3)),
        TypeError,
        "must be a tensor",
    ),
    "no matrix": (lambda: ht.spmv(3, torch.ones(3)), TypeError, "A is int"),
    "a wider x": (
        lambda: ht.spmv(heddle.csr(torch.eye(3).to_sparse_csr()), torch.ones(3, dtype=F64)),
        TypeError,
        "convert one",
    ),
    "gradients for a copy": (
        lambda: heddle.csr(torch.eye(3).to_sparse_csr().requires_grad_(), "emu"),
        ValueError,
        "would be copied",
    ),
    "tensors that hold no numbers": (
        lambda: heddle.csr(torch.eye(3).to_sparse_csr(), "cpu") @ torch.empty(3, device="meta"),
        TypeError,
        "meta",
    ),
    "a tensor on a GPU for a CPU": (
        lambda: heddle.csr(torch.eye(3).to_sparse_csr(), "cpu") @ torch.ones(3, device="cuda"),
        (ValueError, RuntimeError, AssertionError),
        "cuda|CUDA|NVIDIA",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_says_what_is_wrong(name):
    call, error, sentence = WRONG[name]
    with pytest.raises(error, match=sentence):
        call()


gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")


@gpu
def test_products_go_to_the_current_stream():
    d = dense("cuda", 400, 300)
    A = heddle.csr(d.to_sparse_csr())
    for stream in (torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.default_stream()):
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            torch.cuda._sleep(10**7)
            x = torch.rand(300, dtype=F64, device="cuda")
            y = A @ x
            torch.testing.assert_close(y, d @ x)
            assert A._resource.handle.stream == stream.cuda_stream
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    y = A.mv(x, stream=stream)
    stream.synchronize()
    torch.testing.assert_close(y, d @ x)


@gpu
@pytest.mark.parametrize("planned", [False, True])
def test_products_are_captured_in_a_graph(planned):
    d = dense("cuda", 400, 300)
    A = heddle.csr(d.to_sparse_csr())
    A = A.plan(ops="NT") if planned else A
    x = torch.rand(300, dtype=F64, device="cuda")
    A.T @ (A @ x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = A.T @ (A @ x)
    x.copy_(torch.rand(300, dtype=F64, device="cuda"))
    graph.replay()
    torch.cuda.synchronize()
    torch.testing.assert_close(y, d.T @ (d @ x))


@gpu
def test_vectors_of_the_host_meet_matrices_of_the_gpu():
    d = dense("cuda", 400, 300)
    A = heddle.csr(d.to_sparse_csr())
    x = torch.rand(300, dtype=F64)
    y = A @ x
    assert y.device.type == "cpu"
    torch.testing.assert_close(y, d.cpu() @ x)
    np.testing.assert_allclose(A @ x.numpy(), (d.cpu() @ x).numpy())
    with pytest.raises(ValueError, match="x lies on cuda:0, but the matrix on cpu"):
        heddle.csr(d.cpu().to_sparse_csr()) @ x.cuda()
