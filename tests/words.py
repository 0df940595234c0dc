#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""words.py SOURCE [ACCEPTED]: prints a line for every name that has two meanings in src, and for every word
that is retired.

A struct, union or enum, and a function that more than one file can call (not static, or in a header), is
defined once, unless words.accepted has it with a reason.  So is a static function, unless the list has it
behind `static:`, with others for the same reason: it is a part that every file of its kind has.  The dialect
(src/simt) has each word once per vendor.  The retired words were Heddle's own; the field has others.
"""
import collections
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
accepted_file = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else source / "tests/words.accepted"
RETIRED = {"second-level cache": "L2"} # also where a line ends between its words
# have their say later
REWRITTEN = ("src/kernel/csr_weave", "src/kernel/csr_weft", "docs/kernels/csr_weave.md",
             "docs/kernels/csr_weft.md")
TAG = re.compile(r"^(?:typedef )?(?:static )?(?:const )?((?:struct|enum|union) \w+) \{", re.M)
FUNCTION = re.compile(r"^(?!return|else|typedef|extern|#)([A-Za-z_][\w *]*?[ *])(\w+)\([^;{}]*\)\n\{", re.M)

MACROS = re.compile(r"TYPED|(CPU_)?KERNEL(_\w+)?")

defined, static = collections.defaultdict(set), collections.defaultdict(set)
for path in sorted([*source.glob("src/**/*.c"), *source.glob("src/**/*.h")]):
    name = str(path.relative_to(source))
    if name.startswith("src/simt/"):
        continue
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    for tag in TAG.findall(text):
        defined[tag].add(name)
    for before, function in FUNCTION.findall(text):
        if MACROS.fullmatch(function):
            continue
        static["static: " + function].add(name)
        if name.endswith(".h") or not before.startswith(("static", "DEVICE")):
            defined[function].add(name)

accepted = set()
for line in accepted_file.read_text().splitlines():
    names = line.split("#")[0].strip()
    accepted |= {"static: " + name for name in names[7:].split()} if names.startswith("static:") else {names}
accepted -= {""}
twice = {name: files for name, files in defined.items() if len(files) > 1}
twice |= {name: files for name, files in static.items() if len(files) > 1 and name[8:] not in twice}
for name in sorted(twice.keys() - accepted):
    print(f"{name} is defined in {', '.join(sorted(twice[name]))}")
for name in sorted(accepted - twice.keys()):
    print(f"words.accepted: {name} is defined once")

texts = [*source.glob("src/**/*.[ch]"), *source.glob("src/**/*.def"), *source.glob("include/*.h"),
         *source.glob("docs/**/*.md"), *source.glob("*.md")]
for path in sorted(texts):
    name = str(path.relative_to(source))
    for word, better in RETIRED.items():
        pattern = re.escape(word).replace(r"\ ", r"[\s*]+")
        if not name.startswith(REWRITTEN) and name != "CHANGELOG.md" and re.search(pattern, path.read_text()):
            print(f"{name}: '{word}' is {better}")
