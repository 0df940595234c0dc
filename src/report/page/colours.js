/* SPDX-License-Identifier: MIT
 *
 * colours.js: a kernel has its colour whatever else is shown, here and in the drawings of `heddle report
 * --svg`, which have the same lists and rule (src/report/cases.c).  There are more kernels than hues that
 * can be told apart, so those that share one differ in the dashes of their lines and the shape of their
 * marks.  Other libraries have thin lines and square marks. */

const palette = ["#b5543c", "#2f8f83", "#8a63c7", "#7d8f2e", "#c45a93", "#3f97b8", "#b08a2a", "#5d74b8"];
const dashes = [null, "7 3", "2 3", "9 3 2 3", "5 2 1 2 1 2"];
const peerLibraries = ["cusparse", "rocsparse", "hipsparse", "mkl", "onemkl", "armpl", "librsb", "rsb",
                       "eigen", "scipy", "ginkgo"];

const kernels = colourKernels(runs.kernels);

function colourKernels(names) {
  const next = [0, 0];
  return names.map((name, id) => {
    const fixed = { plan: "#2f7fd6", auto: "#d97a1e" }[name], kind = name.startsWith("cpu_") ? 1 : 0;
    const place = fixed ? 0 : next[kind]++, turn = Math.floor(place / palette.length); /* of the hues */
    const colour = fixed ?? palette[place % palette.length], { r, g, b } = d3.rgb(colour);
    const peer = peerLibraries.includes(name.split(/[:_]/)[0]);
    return { id, name, colour, rgb: [r, g, b], peer, dash: dashes[turn % dashes.length],
             thick: peer ? 1.4 : 2.2,
             mark: { hollow: turn % 2 === 1, shape: peer ? "square" : turn % 4 < 2 ? "disc" : "diamond" } };
  });
}

/* A colour for words: nearer to the ink, so that it can be read. */
function wordColour(colour) {
  return d3.interpolateRgb(colour, theme("--ink"))(0.3);
}

/* asked for once a drawing: each question would make the browser lay out the page */
let themeColours = new Map();

function theme(name) {
  if (!themeColours.has(name))
    themeColours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return themeColours.get(name);
}
