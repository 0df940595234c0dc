#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""words.py SOURCE [ACCEPTED]: prints a line for every name that has two meanings in src, and for every word that is retired.

A struct, union or enum, and a function that more than one file can call (not static, or in a header), is defined once, unless
words.accepted has it with a reason.  The dialect (src/simt) has each word once per vendor.  The retired words were Heddle's own; the
field has others.
"""
import collections
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
accepted_file = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else source / "tests/words.accepted"
RETIRED = {r"second-level cache": "L2"}
REWRITTEN = ("src/kernel/csr_weave", "src/kernel/csr_weft", "docs/kernels/csr_weave.md", "docs/kernels/csr_weft.md") # have their say later
TAG = re.compile(r"^(?:typedef )?(?:static )?(?:const )?((?:struct|enum|union) \w+) \{", re.M)
FUNCTION = re.compile(r"^(?!return|else|typedef|extern|#)([A-Za-z_][\w *]*?[ *])(\w+)\([^;{}]*\)\n\{", re.M)

defined = collections.defaultdict(set)
for path in sorted([*source.glob("src/**/*.c"), *source.glob("src/**/*.h")]):
    name = str(path.relative_to(source))
    if name.startswith("src/simt/"):
        continue
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    for tag in TAG.findall(text):
        defined[tag].add(name)
    for before, function in FUNCTION.findall(text):
        if function not in ("TYPED", "KERNEL") and (name.endswith(".h") or not before.startswith(("static", "DEVICE"))):
            defined[function].add(name)

accepted = {line.split("#")[0].strip() for line in accepted_file.read_text().splitlines() if not line.startswith("#")} - {""}
twice = {name: files for name, files in defined.items() if len(files) > 1}
for name in sorted(twice.keys() - accepted):
    print(f"{name} is defined in {', '.join(sorted(twice[name]))}")
for name in sorted(accepted - twice.keys()):
    print(f"words.accepted: {name} is defined once")

texts = [*source.glob("src/**/*.[ch]"), *source.glob("src/**/*.def"), *source.glob("include/*.h"), *source.glob("docs/**/*.md"), *source.glob("*.md")]
for path in sorted(texts):
    name = str(path.relative_to(source))
    for word, better in RETIRED.items():
        if not name.startswith(REWRITTEN) and name != "CHANGELOG.md" and re.search(word, path.read_text()):
            print(f"{name}: '{word}' is {better}")
