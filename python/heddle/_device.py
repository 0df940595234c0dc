# SPDX-License-Identifier: MIT
"""Devices and handles.

A handle serves one call at a time, so each has a lock, and all matrices of a device share one handle: its
workspace is as large as the largest of them needs, not their sum.  Products of several threads on one device
therefore come one after the other, each on all cores; the interpreter's own lock is released meanwhile.
"""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from typing import Any, NamedTuple

from ._library import check, ffi, lib, text


class Device(NamedTuple):
    """A device of this machine."""

    name: str  #: what ``device=`` takes: "cpu", "cuda:0"
    description: str  #: "NVIDIA H200"
    arch: str  #: the instruction set or architecture in use: "avx2", "sm_90"
    units: int  #: cores or multiprocessors
    memory: int  #: bytes
    cache: int  #: bytes of the last-level cache; 0 when unknown


def devices() -> list[Device]:
    """The devices of this machine, the best one first; "emu", the emulator of GPUs, last.

    >>> [d.name for d in devices() if d.name == "cpu"]
    ['cpu']
    """
    found = []
    for number in range(lib.heddle_device_count()):
        d = ffi.new("heddle_device_desc *")
        check(lib.heddle_device_info(number, d))
        found.append(Device(text(d.name), text(d.description), text(d.arch), d.units, d.memory, d.cache))
    return found


class Handle:
    """An open device, its lock, its stream, and who made its last product."""

    __slots__ = ("lock", "name", "number", "on_gpu", "owner", "pointer", "stream", "user")

    def __init__(self, name: str, deterministic: bool) -> None:
        out = ffi.new("heddle **")
        check(lib.heddle_open(out, name.encode()))
        self.pointer = out[0]
        self.name = name
        self.on_gpu = name.partition(":")[0] != "cpu"
        kind, _, number = name.partition(":")
        self.number = int(number) if kind in ("cuda", "hip") else None  # of the GPU, as frameworks count
        self.stream = 0
        self.owner: Any = None  # keeps the stream alive: a change of streams looks at the one before
        self.lock = (
            threading.RLock()
        )  # may be taken again by a destructor that runs in the thread that has it
        self.user: weakref.ref[Any] | None = None
        check(lib.heddle_set_deterministic(self.pointer, deterministic))

    def use_stream(self, stream: int, owner: Any) -> None:
        """Later work goes to this stream, a number as CUDA and HIP know it; the caller has the lock."""
        if stream != self.stream:
            check(lib.heddle_set_stream(self.pointer, ffi.cast("void *", stream)))
            self.stream, self.owner = stream, owner

    def used_by(self, resource: Any) -> None:
        """`resource` makes the next product; the one before is told its kernel while that is still known."""
        before = self.user() if self.user is not None else None
        if before is not None:
            before.kernel = text(lib.heddle_last_kernel(self.pointer))
        self.user = resource.ref

    def sync(self) -> None:
        """Waits for all products, and raises what went wrong in them."""
        with self.lock:
            check(lib.heddle_sync(self.pointer))


_handles: dict[tuple[str, bool], Handle] = {}
_opening = threading.Lock()


def handle(device: str, deterministic: bool = False) -> Handle:
    """The handle of a device, which is opened when it is first asked for and stays open."""
    if not isinstance(device, str):
        raise TypeError(f"device is a name like 'cpu' or 'cuda:0', or None, not {device!r}")
    if device == "auto":
        device = devices()[0].name
    elif device in ("cuda", "hip"):
        device += ":0"
    key = device, bool(deterministic)
    with _opening:
        if key not in _handles:
            _handles[key] = Handle(*key)
        return _handles[key]


def synchronize(device: str | None = None) -> None:
    """Waits for all products that were started on `device`, or on all of them, and raises what went wrong."""
    for h in list(_handles.values()):
        if device is None or h.name == device:
            h.sync()


def _after_fork() -> None:
    """A lock that another thread of the parent held is nobody's in the child."""
    global _opening  # noqa: PLW0603
    _opening = threading.Lock()
    for h in _handles.values():
        h.lock = threading.RLock()


os.register_at_fork(after_in_child=_after_fork)


_numbers = itertools.count(1)


class Resource:
    """A matrix or plan of the library's: freed when nobody refers to it any more, or when it is closed.

    An operator and its transpose share it.
    """

    __slots__ = ("__weakref__", "facts", "free", "handle", "kernel", "name", "pointer", "ref")

    def __init__(self, handle: Handle, pointer: Any, free: Any) -> None:
        self.handle = handle
        self.pointer = pointer
        self.free = free
        self.facts: Any = (
            None  # what its operators know, and what must outlive it: borrowed arrays, a plan's matrix
        )
        self.kernel = ""
        self.name = f"{next(_numbers)}"  # a text: torch.compile makes variables of numbers
        self.ref = weakref.ref(self)
        by_name[self.name] = self

    def close(self) -> None:
        with self.handle.lock:
            pointer, self.pointer = self.pointer, None
            if pointer is not None:
                if self.handle.user is self.ref:
                    self.handle.user = None
                self.free(pointer)

    def last_kernel(self) -> str:
        with self.handle.lock:
            if self.handle.user is self.ref:
                self.kernel = text(lib.heddle_last_kernel(self.handle.pointer))
            return self.kernel

    def __del__(self) -> None:
        if getattr(self, "ref", None) is not None:
            self.close()


by_name: weakref.WeakValueDictionary[str, Resource] = weakref.WeakValueDictionary()


def made(handle: Handle, create: Any, free: Any, *arguments: Any) -> Resource:
    """What `create(out, handle, *arguments)` creates."""
    out = ffi.new(ffi.getctype(ffi.typeof(create).args[0]))
    with handle.lock:
        check(create(out, handle.pointer, *arguments))
    return Resource(handle, out[0], free)
