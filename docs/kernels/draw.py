#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
#
# draw.py: how each kernel deals out the entries of the small matrix of README.md, one NAME.svg a kernel.
#
#   python3 docs/kernels/draw.py            writes all of them beside itself
#   python3 docs/kernels/draw.py csr5 ell   only these
#
# What is drawn, and what a row of it means, stands in drawings.py.
import os
import sys
from html import escape

sys.dont_write_bytecode = True
from drawings import DRAWINGS  # noqa: E402

ROWS = ["ab", "", "cdefg", "h", "ijk", "l"]
COLS = [[0, 3], [], [0, 1, 2, 4, 5], [3], [1, 4, 5], [5]]

FILL = ["#8ec5f0", "#f7c667", "#86d3a5", "#e7a6d0"]   # lanes 0 to 3
EDGE = ["#1c6ea4", "#a86a00", "#1f7f4c", "#9c3d7d"]
STYLE = """text{font:12px system-ui,sans-serif;fill:#1d2126}.m{text-anchor:middle}.e{text-anchor:end}
.t{font-size:16px;font-weight:600}.s{fill:#555d66}.h{font-weight:600}.g{fill:#9aa2ab}
.r{fill:#c02020;font-weight:600}.z{font-size:11px}"""
for _i in range(4):
    STYLE += f".l{_i}{{fill:{FILL[_i]};stroke:{EDGE[_i]}}}.o{_i}{{fill:#fff;stroke:{EDGE[_i]}}}"
STYLE += (".d{stroke-dasharray:3 2}.p{fill:#e6e8eb;stroke:#b4bac1}.n{fill:none;stroke:#d5d9de}"
          ".b{fill:#fcfcfa;stroke:#c9ced4}")

LINE, CELL, MARGIN = 26, 22, 18


class Svg:
    def __init__(self):
        self.body, self.width, self.height = [], 0, 0

    def reach(self, x, y):
        self.width, self.height = max(self.width, x), max(self.height, y)

    def rect(self, x, y, w, h, cls, round_by=3):
        self.reach(x + w, y + h)
        self.body.append(f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="{round_by}" class="{cls}"/>')

    def text(self, x, y, what, cls=""):
        wide = {"m": 0, "e": 0, "z": 5.8}.get(cls[:1], 6.4)
        self.reach(x + wide * len(what), y)
        self.body.append(f'<text x="{x}" y="{y}"' + (f' class="{cls}"' if cls else "")
                         + f">{escape(what)}</text>")

    def finish(self, name, title):
        w, h = int(self.width + MARGIN), int(self.height + MARGIN)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" '
                f'role="img">\n'
                f"<title>{escape(name)}: {escape(title)}</title>\n<style>{STYLE}</style>\n"
                f'<rect x="1" y="1" width="{w - 2}" height="{h - 2}" rx="8" class="b"/>\n' +
                "\n".join(self.body) + "\n</svg>\n")


def parse(steps):
    """[(label, [[token of each lane] of each wave])]"""
    return [(label, [wave.split() for wave in cells.split("|")]) for label, cells in steps]


def owners(panels):
    """Who multiplies an entry: {letter: (wave, lane)}"""
    found = {}
    for panel in panels:
        for _, waves in parse(panel["steps"]):
            for w, wave in enumerate(waves):
                for lane, token in enumerate(wave):
                    letters = (token[2:] if token.startswith("::")
                               else token.split(">")[0] if token[0] not in ":=>" else "")
                    if letters.islower() and len(letters) == 1 and letters not in "x":
                        found.setdefault(letters, (w, lane % 4))
    return found


def dashed(wave):
    return " d" if wave % 2 else ""


def draw_matrix(svg, x, y, owner, rows, cols):
    svg.text(x + 3 * CELL, y - 8, "A", "m h")
    for i, letters in enumerate(rows):
        svg.text(x - 7, y + i * CELL + 16, str(i), "e g")
        for j in range(6):
            letter = letters[cols[i].index(j)] if j in cols[i] else ""
            if letter and letter in owner:
                wave, lane = owner[letter]
                svg.rect(x + j * CELL + 1, y + i * CELL + 1, CELL - 2, CELL - 2, f"l{lane}{dashed(wave)}")
            else:
                svg.rect(x + j * CELL + 1, y + i * CELL + 1, CELL - 2, CELL - 2, "n")
            if letter:
                svg.text(x + j * CELL + CELL / 2, y + i * CELL + 16, letter, "m")


def draw_cell(svg, x, y, width, token, wave, lane):
    middle, down = x + width / 2, y + 16
    clash = token.endswith("!")
    token = token.rstrip("!")
    box = lambda cls: svg.rect(x + 1, y + 1, width - 2, CELL - 2, cls + dashed(wave))
    if token == "-":
        return
    if token == ".":
        svg.text(middle, down, "·", "m g")
    elif token == "x":
        box("p")
        svg.text(middle, down, "×", "m g")
    elif token[0] == ":":
        text = token[1:].replace("_", " ")
        box(f"{'l' if text[0] == ':' else 'o'}{lane}")
        svg.text(middle, down, text.lstrip(":"), "m")
    elif token[0] == "=":
        box(f"o{lane}")
        svg.text(middle, down, token[1:].replace("_", " "), "m")
    elif token[0] == ">":
        box(f"o{lane}")
        svg.text(middle, down, "+y" + token[1:], "m r" if clash else "m h")
    elif ">" in token:
        box(f"l{lane}")
        svg.text(middle, down, token.replace(">", "→y"), "m r" if clash else "m")
    elif token[0] == "y":
        box(f"o{lane}")
        svg.text(middle, down, "→" + token.replace("_", " "), "m h")
    else:
        box(f"l{lane}")
        svg.text(middle, down, token, "m")


def draw_panel(svg, x, y, panel):
    """A table; returns the y below it."""
    steps, width = parse(panel["steps"]), panel.get("cell", 40)
    lanes = max(len(w) for _, waves in steps for w in waves)
    waves = max(len(waves) for _, waves in steps)
    names = panel.get("waves") or [f"wave {w}" for w in range(waves)]
    label = max(len(s[0]) for s in steps) * 6.6 + 10
    left = lambda w, lane: x + label + w * (lanes * width + 14) + lane * width
    if "title" in panel:
        svg.text(x, y + 12, panel["title"], "h")
        y += 26
    for w in range(waves):
        svg.text(left(w, 0) + lanes * width / 2, y + 10, names[w], "m h")
        for lane in range(lanes if lanes > 1 else 0):
            svg.text(left(w, lane) + width / 2, y + 26, str(lane), "m s")
    if lanes > 1:
        svg.text(x, y + 26, panel.get("lanes", "lane"), "s")
    y += 32 if lanes > 1 else 18
    for name, line in steps:
        svg.text(x, y + 16, name, "s")
        for w, wave in enumerate(line):
            for lane, token in enumerate(wave):
                draw_cell(svg, left(w, lane), y, width, token, w, lane % 4)
        y += LINE
    return y


def draw_strip(svg, x, y, name, cells, owner):
    svg.text(x, y + 16, name, "s")
    at = x + 48
    for token in cells.split():
        if token == "|":
            at += 8
            continue
        if token in owner:
            cls = f"l{owner[token][1]}{dashed(owner[token][0])}"
        else:
            cls = "p" if token == "x" else "n"
        svg.rect(at + 1, y + 1, CELL - 2, CELL - 2, cls)
        svg.text(at + CELL / 2, y + 16, "×" if token == "x" else token, "m g" if token == "x" else "m")
        at += CELL
    return y + LINE


def draw(name, d):
    svg = Svg()
    svg.body.append(f'<text x="{MARGIN}" y="28"><tspan class="t">{name}</tspan>'
                    f'<tspan dx="12" class="s">{escape(d["title"])}</tspan></text>')
    svg.reach(MARGIN + 12 + 10 * len(name) + 6.4 * len(d["title"]), 28)
    rows, cols = d.get("matrix", (ROWS, COLS))
    owner = owners(d["panels"])
    for lane, letters in enumerate(d.get("owner", "").split()):
        owner.update({letter: (0, lane) for letter in letters})
    top = 66
    draw_matrix(svg, MARGIN + 16, top, owner, rows, cols)
    y = top - 22
    for panel in d["panels"]:
        y = draw_panel(svg, MARGIN + 16 + 6 * CELL + 34, y, panel) + 8
    y = max(y, top + 6 * CELL + 16)
    for strip in d.get("strips", []):
        y = draw_strip(svg, MARGIN, y, strip[0], strip[1], owner)
    y += 8 if d.get("strips") else 0
    for note in d.get("notes", []):
        svg.text(MARGIN, y + 12, note, "z")
        y += 17
    svg.height = y
    return svg.finish(name, d["title"])


def main():
    folder = os.path.dirname(os.path.abspath(__file__))
    wanted = sys.argv[1:] or list(DRAWINGS)
    for name in wanted:
        if name not in DRAWINGS:
            sys.exit(f"draw.py: no drawing of '{name}'; there are {', '.join(DRAWINGS)}")
        with open(os.path.join(folder, name + ".svg"), "w", encoding="utf-8") as f:
            f.write(draw(name, DRAWINGS[name]))


if __name__ == "__main__":
    main()
