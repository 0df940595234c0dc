# SPDX-License-Identifier: MIT
"""libheddle, opened: which file it is, its functions, and its failures as exceptions.

The declarations are those of heddle.h, which lies beside this file: cffi reads the header itself, so that
it is the only place where a structure is written down.  A library of another minor version is refused.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import cffi

_HERE = Path(__file__).resolve().parent


def _header() -> str:
    """The text of heddle.h: of the wheel, or of the source tree that this package lies in."""
    for path in (_HERE / "heddle.h", _HERE.parents[1] / "include" / "heddle.h"):
        if path.exists():
            return path.read_text(encoding="utf-8")
    raise ImportError(f"heddle: {_HERE / 'heddle.h'} is missing: install the package again")


def _declarations(header: str) -> str:
    """What cffi takes: without comments, conditions and attributes."""
    text = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    text = re.sub(r"#ifdef __cplusplus.*?#endif", "", text, flags=re.S)
    text = re.sub(r"^#.*$", "", text, flags=re.M)
    return text.replace("HEDDLE_API ", "")


def _minor(header: str) -> str:
    """The minor version that the declarations are of: "0.2"."""
    return ".".join(re.findall(r"#define HEDDLE_VERSION_(?:MAJOR|MINOR) (\d+)", header))


def _files(minor: str) -> list[str]:
    """Where the library may be, in this order: HEDDLE_LIBRARY alone if it is set, the wheel, the system."""
    chosen = os.environ.get("HEDDLE_LIBRARY")
    if chosen:
        return [chosen]
    bundled = _HERE / "libheddle.so"
    return [str(bundled)] if bundled.exists() else [f"libheddle.so.{minor}"]


def _open(header: str) -> tuple[Any, Any, str]:
    ffi = cffi.FFI()
    ffi.cdef(_declarations(header))
    minor = _minor(header)
    (name,) = _files(minor)
    try:
        lib = ffi.dlopen(name)
    except OSError as e:
        raise ImportError(f"heddle: the library {name} cannot be loaded: {e}") from None
    try:
        version = ffi.string(lib.heddle_version()).decode()
    except AttributeError:
        raise ImportError(f"heddle: {name} is a library, but not Heddle's") from None
    if version.split(".")[:2] != minor.split("."):
        raise ImportError(
            f"heddle: {name} is version {version} of the library, this package needs {minor}: "
            "a minor version may change the ABI; install the package that fits, or unset HEDDLE_LIBRARY"
        )
    return ffi, lib, version


ffi, lib, __version__ = _open(_header())
NULL: Any = ffi.NULL


class Error(Exception):
    """What the library reports; ``status`` is the name in heddle.h ("HEDDLE_BAD_MATRIX").

    Each status has a class of its own, which is also the Python exception that fits: `ValueError` for
    arguments, matrices and files that are wrong, `OSError`, `MemoryError`, `NotImplementedError`,
    `RuntimeError`.
    """

    status = ""


class BadArgumentError(Error, ValueError):
    """A contradictory argument; nothing was touched."""


class BadMatrixError(Error, ValueError):
    """An index out of range, or offsets that decrease; the text names the position."""


class BadFileError(Error, ValueError):
    """A file that breaks its format; the text names file and line."""


class FileError(Error, OSError):
    """A file that cannot be opened, read or written."""


class NoMemoryError(Error, MemoryError):
    """An allocation failed, or a stated memory limit would be exceeded."""


class NoDeviceError(Error, RuntimeError):
    """The device does not exist on this machine."""


class NoKernelError(Error, ValueError):
    """No algorithm for this combination of device, format, operation and wishes."""


class NotSupportedError(Error, NotImplementedError):
    """A valid request that this build of the library cannot serve."""


class DeviceError(Error, RuntimeError):
    """The device failed or was lost, or Heddle has a defect of its own."""


_CLASSES = {
    "HEDDLE_BAD_ARGUMENT": BadArgumentError,
    "HEDDLE_BAD_MATRIX": BadMatrixError,
    "HEDDLE_BAD_FILE": BadFileError,
    "HEDDLE_FILE_ERROR": FileError,
    "HEDDLE_NO_MEMORY": NoMemoryError,
    "HEDDLE_NO_DEVICE": NoDeviceError,
    "HEDDLE_NO_KERNEL": NoKernelError,
    "HEDDLE_NOT_SUPPORTED": NotSupportedError,
}


def text(pointer: Any) -> str:
    """A string of the library's, which may name files of any encoding."""
    return str(ffi.string(pointer).decode("utf-8", "backslashreplace"))


def failure(status: int) -> Error:
    """The exception for a status that is not HEDDLE_OK, with the library's sentence for this thread."""
    name = text(lib.heddle_status_name(status))
    error = _CLASSES.get(name, DeviceError)(text(lib.heddle_last_error()))
    error.status = name
    return error


def check(status: int) -> None:
    """Nothing for HEDDLE_OK, else the exception."""
    if status:
        raise failure(status)


def build_info() -> dict[str, str]:
    """What was built into the library: compiler, compression, instruction sets, and the library's version.

    >>> build_info()["version"] == __version__
    True
    """
    lines = [line.partition(":") for line in text(lib.heddle_build_info()).splitlines()]
    return {"version": __version__, **{name.strip(): value.strip() for name, _, value in lines}}
