/* SPDX-License-Identifier: MIT
 *
 * about.js: where the numbers come from, what was left out, and how they are to be read. */

function lineCount(n) {
  return `${count(n)} ${n === 1 ? "line" : "lines"}`;
}

views.about = {
  title: "About",
  lead: "Where these numbers come from, what was left out, and how to read them.",
  render(main) {
    card(main, { id: "sources", title: "Records", picture: false, csv: () => sourceRows(),
                 draw: drawSources });
    if (records.warning_count)
      card(main, { id: "warnings", title: `Left out: ${lineCount(records.warning_count)}`,
      picture: false, csv: () => [["warning"], ...records.warnings.map(w => [w])], draw: drawWarnings });
    card(main, { id: "reading", title: "How to read them", picture: false, draw: drawReading });
    card(main, { id: "thanks", title: "Drawn with d3", picture: false, draw: drawLicence });
  },
};

function sourceRows() {
  const perDevice = runs.devices.map(
    (name, d) => [name, runs.device.filter((x, i) => x === d && !runs.replaced[i]).length]);
  return [["device", "verified runs"], ...perDevice];
}

function drawSources(body) {
  const dates = [...new Set(runs.date)].filter(d => d >= 0).map(d => records.strings[d].slice(0, 10)).sort();
  table(body, { caption: "Devices", rows: sourceRows().slice(1), columns: [
    { title: "device", cell: r => r[0] },
    { title: "verified runs", number: true, cell: r => count(r[1]) }] });
  const first = dates[0] ?? "?", last = dates[dates.length - 1] ?? "?";
  const files = records.files.length === 1 ? "one file" : `${records.files.length} files`;
  body.append(make("p", {}, `${count(records.lines)} lines of ${files}: `,
    ...records.files.flatMap((file, i) => [i ? ", " : "", make("code", {}, file.split("/").pop())]),
    `. ${count(runs.slots)} verified runs are shown, ${count(runs.skipped.length)} were skipped with a ` +
    `reason, ${count(records.measured_again)} were measured again (the latest counts, unless a version or ` +
    `days are chosen), ${lineCount(records.warning_count)} ${records.warning_count === 1 ? "was" : "were"} ` +
    `left out. Measured ${first}${first === last ? "" : " to " + last}; page made ${records.made} by ` +
    `heddle ${records.heddle}.`));
}

function drawWarnings(body) {
  body.append(make("ul", { class: "warnings" }, records.warnings.map(w => make("li", {}, w))));
  if (records.warning_count > records.warnings.length)
    body.append(make("p", {}, `and ${count(records.warning_count - records.warnings.length)} more.`));
}

function drawReading(body) {
  const words = [
    ["Verified", "Every run shown was checked against a compensated product; runs that were not are never " +
                 "drawn."],
    ["Warm, cold", "Warm: the median of products one after another. Cold: the caches were flushed before " +
                   "each."],
    ["GFLOP/s", "Two operations a nonzero over the time, whatever a kernel really computes."],
    ["Floor", "The time in which a plain loop, measured in the same run, reads the bytes of A, x and y: " +
              "from memory, or from the cache if they fit. Kernels that store the matrix in fewer bytes " +
              "can exceed 100 %."],
    ["Preparation", "Conversion to a format and all else before the first product; divided by the number " +
                    "of products."],
    ["Cases", "A case is a matrix with a type and an operation on a device. Profiles, speed-ups, means and " +
              "costs compare over the cases that all kernels shown have, and say how many that leaves out; " +
              "at first those are shown with which most runs are compared. Over all cases, a kernel that " +
              "was not run on one counts as never within reach there."],
    ["Measured again", "Of the same kernel on the same case the latest run counts, of the version and the " +
                       "days chosen."],
    ["Other libraries", "Square marks and thin lines: their kernels, on the same arrays by the same clock."],
    ["Dashes, marks", "Kernels that share a hue differ in the dashes of their lines and in the shape of " +
                      "their marks."],
    ["Structure", structureClasses.map((c, i) => `${c}: ${structureNotes[i]}`).join("; ") + "."],
  ];
  body.append(make("dl", { class: "words" },
    words.flatMap(([term, what]) => [make("dt", {}, term), make("dd", {}, what)])));
}

function drawLicence(body) {
  const licence = document.getElementById("licence").textContent.trim();
  body.append(make("p", {}, "This page needs nothing but itself. Its figures are drawn with " +
    `d3 ${records.drawing} by Mike Bostock (BSD licence).`));
  if (licence) body.append(make("details", {}, make("summary", {}, "Copyright and licence of d3"),
    make("pre", {}, licence)));
}
