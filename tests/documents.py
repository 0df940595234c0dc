#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""documents.py BUILD SOURCE: prints a line for everything that a document names and the tree does not have.

Links and their anchors, files of the repository between backticks, commands of heddle with their options,
targets of make, names that begin with heddle_ or HEDDLE_, statements in C that do not compile; and records in
bench/results that no document cites.
"""
import glob
import pathlib
import re
import subprocess
import sys

build, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
documents = [p for p in [*source.glob("*.md"), *source.glob("docs/**/*.md"), *source.glob("examples/*.md"),
                         *source.glob("python/*.md"), *source.glob("petsc/*.md")] if p.name != "CHANGELOG.md"
                         and "docs/reproduce" not in str(p)]
checked = 0


def says(document, text):
    print(f"{document.relative_to(source)}: {text}")


def anchors(path):
    """What a heading is called in a link: small letters, no signs, a hyphen for a blank."""
    titles = re.findall(r"^#+ +(.*)$", path.read_text(), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"`|\[([^\]]*)\]\([^)]*\)", r"\1",
                                           t).lower()).strip().replace(" ", "-") for t in titles}


def links(document, text):
    global checked
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        checked += 1
        path, _, anchor = target.partition("#")
        there = (document.parent / path).resolve() if path else document
        if not there.exists():
            says(document, f"the link {target} leads nowhere")
        elif anchor and there.suffix == ".md" and anchor not in anchors(there):
            says(document, f"{target}: there is no such heading")


def files(document, text):
    """`src/...` and its like; names in capitals and stars stand for something else."""
    global checked
    for name in re.findall(
        r"`((?:src|tests|bench|cmake|scripts|docs|examples|fuzz|include|python|petsc)/[^`\s]*)`", text):
        if re.search(r"[A-Z]{3,}\.|NAME|\*", name) or "PAGE" in name or "_plain." in name:
            continue
        checked += 1
        if not (source / name.split(":")[0].rstrip("/")).exists():
            says(document, f"there is no {name}")


def options_of(command, known={}):
    if command not in known:
        run = subprocess.run([build / "heddle", command, "--help"], capture_output=True, text=True,
                             check=False)
        known[command] = set(
            re.findall(r"(?<![\w-])--?[a-z][a-z-]*", run.stdout)) if run.returncode == 0 else None
    return known[command]


def commands(document, text):
    global checked
    blocks = re.findall(r"^```[a-z]*\n(.*?)^```", text, flags=re.M | re.S) + re.findall(r"`([^`\n]+)`", text)
    for line in (line for block in blocks for line in block.replace("\\\n", " ").split("\n")):
        line = line.split("#")[0]
        found = re.match(r"\s*(?:\$ )?(?:build/)?heddle ([a-z]+)\b(.*)", line)
        if found:
            checked += 1
            options = options_of(found[1])
            if options is None:
                says(document, f"there is no command 'heddle {found[1]}'")
                continue
            for option in re.findall(r"(?<=\s)--[a-z][a-z-]*", found[2]):
                if option not in options:
                    says(document, f"heddle {found[1]} has no option {option}")
        found = re.match(r"\s*(?:\$ )?make ([a-z][a-z-]*)\b", line)
        if found:
            checked += 1
            if not re.search(rf"^{found[1]}:", (source / "Makefile").read_text(), flags=re.M):
                says(document, f"there is no target 'make {found[1]}'")


TREE = ["CMakeLists.txt", "cmake/*", "include/*.h", "src/**/*.[ch]", "src/**/*.def", "petsc/*",
        "python/**/*.py", "tests/*.[ch]", "scripts/*"]
words = {w for pattern in TREE for p in source.glob(pattern) if p.is_file()
         for w in re.findall(r"\bheddle_\w+|\bHEDDLE_\w+", p.read_text())}


def names(document, text):
    global checked
    spans = re.findall(r"^```c\n(.*?)^```", text, flags=re.M | re.S) + re.findall(r"`([^`\n]+)`", text)
    for word in {w for span in spans for w in re.findall(r"\bheddle_\w+|\bHEDDLE_\w+", span)} - words:
        if document.name != "adding-a-kernel.md": # whose pages are not in the tree
            says(document, f"nothing is called {word}")
    checked += len(spans)


# What the statements of these documents find when they begin.
STATEMENTS = ["README.md", "docs/from-cusparse.md"]
AROUND = """#include <heddle.h>
%s
void statements(int64_t m, int64_t n, int64_t nnz, int32_t *row_ptr, int32_t *col, double *val,
                double *x, double *y, double *x2, double *y2, double *new_val, double alpha, double beta,
                void *stream);
void statements(int64_t m, int64_t n, int64_t nnz, int32_t *row_ptr, int32_t *col, double *val,
                double *x, double *y, double *x2, double *y2, double *new_val, double alpha, double beta,
                void *stream)
{
%s}
"""


def statements(document, text):
    global checked
    cuda = next(iter(glob.glob("/usr/local/cuda*/include/cusparse.h")), None)
    for block in re.findall(r"^```c\n(.*?)^```", text, flags=re.M | re.S):
        of_cuda = "cusparse" in block
        if of_cuda and not cuda:
            continue
        flags = ["-isystem", pathlib.Path(cuda).parent] if of_cuda else []
        header = "#include <cuda_runtime_api.h>\n#include <cusparse.h>" if of_cuda else ""
        run = subprocess.run(["cc", "-std=c11", "-fsyntax-only", "-Wall", "-Werror", "-I", source / "include",
                              *flags, "-x", "c", "-"], input=AROUND % (header, block), capture_output=True,
                             text=True, check=False)
        checked += 1
        if run.returncode != 0:
            says(document, "statements in C do not compile: "
                           + " ".join(re.findall(r"error: (.*)", run.stderr)))


everything = ""
for document in documents:
    text = document.read_text()
    everything += text
    links(document, text)
    files(document, text)
    commands(document, text)
    names(document, text)
    if str(document.relative_to(source)) in STATEMENTS:
        statements(document, text)
for record in (source / "bench/results").iterdir():
    checked += 1
    if record.name not in everything:
        print(f"bench/results/{record.name}: no document cites it")
print(f"{checked} checked", file=sys.stderr)
