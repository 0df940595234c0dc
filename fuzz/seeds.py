#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""seeds.py FOLDER: writes the binary seeds (archives, compressed files, .hdl, .petsc), which are not kept as
files."""
import gzip
import io
import os
import struct
import sys
import tarfile

# Values of a .hdl: f32, f64, f16, bf16 as words, c32, c64.
VALUES = {1: "3f", 2: "3d", 3: "3e", 4: "3H", 5: "6f", 6: "6d"}
SMALL = b"%%MatrixMarket matrix coordinate real general\n2 3 3\n1 3 2.5\n2 2 -3\n1 1 1\n"


def put(folder, target, name, data):
    os.makedirs(os.path.join(folder, target), exist_ok=True)
    with open(os.path.join(folder, target, name), "wb") as file:
        file.write(data)


def tar(form, *members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def hdl(value, offset, second=2):
    """A 2 x 3 matrix, its second row from there on; the target puts the checksums right."""
    rows = struct.pack("<3" + ("i" if offset == 16 else "q"), 0, second, 3)
    cols = struct.pack("<3i", 2, 0, 1)
    vals = struct.pack("<" + VALUES[value], *(2.5, 1, -3) if value != 4 else (0x4020, 0x3f80, 0xc040),
                       *(0.5, 0, 2) if value > 4 else ())
    at, body, sections = 128, b"", []
    for part in (rows, cols, vals):
        body += b"\0" * (-len(body) % 64)
        sections += [128 + len(body), len(part)]
        body += part
    header = b"\x89HDL\r\n\x1a\n" + struct.pack("<4I", 1, 0x01020304, value, offset)
    header += struct.pack("<3q", 2, 3, 3)
    header += struct.pack("<6q", *sections) + struct.pack("<q3Q", at + len(body), 0, 0, 0)
    return header + body


def petsc(whole, value, behind=b""):
    """A 2 x 3 matrix, as builds of PETSc with such whole numbers and values write it."""
    rows = struct.pack(f">4{whole}2{whole}3{whole}", 1211216, 2, 3, 3, 2, 1, 2, 0, 1)
    return rows + struct.pack(f">3{value}", 2.5, 1, -3) + behind


def main():
    folder = sys.argv[1]
    for value in VALUES:
        for offset in (16, 17):
            put(folder, "hdl", f"v{value}o{offset}.hdl", hdl(value, offset))
            for how in range(0, 256, 5):
                put(folder, "hdl_api", f"v{value}o{offset}h{how}", hdl(value, offset) + bytes([how]))
    for how in range(256):
        put(folder, "hdl_api", f"wild{how}", hdl(2, 17, -9223372036854775805) + bytes([how]))
    for whole in "iq":
        for value in "fd":
            put(folder, "petsc", f"{whole}{value}.petsc", petsc(whole, value))
            vector = struct.pack(f">2{whole}2{value}", 1211214, 2, 1, 2)
            put(folder, "petsc", f"{whole}{value}-vector.petsc", petsc(whole, value, vector))
        put(folder, "petsc", f"{whole}-complex.petsc", petsc(whole, "d", struct.pack(">3d", 0, 1, 0)))
    put(folder, "petsc", "packed.petsc", gzip.compress(petsc("i", "d"), mtime=0))
    plain = tar(tarfile.USTAR_FORMAT, ("fuzz/readme", b"hello"), ("fuzz/fuzz.mtx", SMALL))
    put(folder, "archive", "ustar.tar", plain)
    put(folder, "archive", "gnu.tar", tar(tarfile.GNU_FORMAT, ("long" * 40 + "/a.mtx", SMALL)))
    put(folder, "archive", "pax.tar", tar(tarfile.PAX_FORMAT, ("long" * 80 + "/a.mtx", SMALL)))
    put(folder, "archive", "small.mtx.gz", gzip.compress(SMALL, mtime=0))
    put(folder, "archive", "two.mtx.gz", gzip.compress(SMALL[:40], mtime=0)
        + gzip.compress(SMALL[40:], mtime=0))
    put(folder, "archive", "fuzz.tar.gz", gzip.compress(plain, mtime=0))
    for seed in range(64):  # of each kind of damage and format, with entries enough
        put(folder, "api", f"s{seed}", bytes((seed * 7 + i * (seed + 3) + i * i) % 251 for i in range(700)))
    # complex numbers in the place of a type that there is not: such are matrices, too
    put(folder, "api", "type", bytes.fromhex("ff1e0074006b19191e2d0a006b"))
    try:
        import lzma
        put(folder, "archive", "small.mtx.xz", lzma.compress(SMALL))
    except ImportError:
        pass


main()
