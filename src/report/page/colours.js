/* SPDX-License-Identifier: MIT
 *
 * colours.js: a kernel has its colour whatever else is shown, here and in the drawings of `heddle report --svg`, which have the
 * same list and rule (src/report/cases.c). */

const palette = ["#b5543c", "#2f8f83", "#8a63c7", "#7d8f2e", "#c45a93", "#3f97b8", "#b08a2a", "#5d74b8"];
const peerLibraries = ["cusparse", "rocsparse", "hipsparse", "mkl", "onemkl", "armpl", "librsb", "rsb", "eigen", "scipy",
                       "ginkgo"];

const kernels = colourKernels(runs.kernels);

function colourKernels(names) {
  const next = [0, 0];
  return names.map((name, id) => {
    const fixed = { plan: "#2f7fd6", auto: "#d97a1e" }[name], kind = name.startsWith("cpu_") ? 1 : 0;
    const colour = fixed ?? palette[next[kind]++ % palette.length];
    const { r, g, b } = d3.rgb(colour);
    return { id, name, colour, rgb: [r, g, b], peer: peerLibraries.includes(name.split(/[:_]/)[0]) };
  });
}

/* A colour for words: nearer to the ink, so that it can be read. */
function wordColour(colour) {
  return d3.interpolateRgb(colour, theme("--ink"))(0.3);
}

let themeColours = new Map(); /* asked for once a drawing: each question would make the browser lay out the page */

function theme(name) {
  if (!themeColours.has(name)) themeColours.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return themeColours.get(name);
}
