/* SPDX-License-Identifier: MIT
 *
 * controls.js: the filters above all views, and the kernels that can be switched on and off. */

/* Radio buttons in a row. */
function segments(key, title, values, name = v => v, hint = () => null) {
  if (values.length < 2) return null;
  return make("fieldset", { class: "segments" }, make("legend", {}, title),
    make("div", {}, values.map(value => make("label", { title: hint(value) },
      make("input", { type: "radio", name: key, value, checked: String(state[key]) === String(value),
                      "data-focus": `${key}-${value}`, onchange: () => change({ [key]: value }) }),
      make("span", {}, name(value))))));
}

function chooser(key, title, values, name = v => v) {
  return make("label", { class: "chooser" }, make("span", {}, title),
    make("select", { name: key, "data-focus": key,
                     onchange: event => change({ [key]: event.target.value, more: 1 }) },
      values.map(value => make("option", { value, selected: String(state[key]) === String(value) },
        name(value)))));
}

function withAll(names) {
  return names.length > 1 ? [...names, "all"] : names;
}

/* A number of products from what was typed. */
function whole(words) {
  return Math.max(1, Math.min(1e9, Math.round(+words) || 1));
}

function setupControl() {
  if (!deviceHas.setup.has(state.device)) return null;
  const counted = countsSetup();
  return make("div", { class: "setup" },
    segments("setup", "Count preparation", ["without", "with"], v => v === "with" ? "yes" : "no",
             v => v === "with" ? "conversion and preparation, spread over a number of products"
               : "times of products alone"),
    counted && make("label", { class: "products" }, make("span", {}, "over"),
      make("input", { type: "number", min: 1, max: 1e9, step: 1, value: state.products,
                      "data-focus": "products",
                      onchange: event => change({ products: whole(event.target.value) }) }),
      make("span", {}, "products")));
}

function drawControls() {
  const form = document.getElementById("filters");
  const open = form.querySelector("details")?.open ?? false; /* the figure comes first */
  const needsBase = ["speedup", "means", "costs", "matrices", "matrix"].includes(state.view);
  const compares = ["profile", "speedup", "means", "costs"].includes(state.view), s = selection();
  form.replaceChildren(make("details", { open },
    make("summary", {}, make("span", {}, "Filters"), make("span", { class: "summary" },
      `${caseNote()} · ${s.shownKernels.length} of ${s.kernels.length} kernels`)),
    make("div", { class: "row" },
      runs.devices.length > 1 && chooser("device", "Device", runs.devices),
      segments("type", "Type", withAll(runs.types), v => v === "all" ? "both" : v),
      segments("op", "Operation", withAll(runs.ops), v => v === "all" ? "both" : opName(v)),
      deviceHas.cold.has(state.device) && segments("time", "Caches", ["warm", "cold"]),
      setupControl(),
      compares && segments("cases", "Compare over", choices.cases,
        v => v === "common" ? "cases that all have" : "all cases",
        v => v === "common" ? "only cases that every kernel shown was run on"
                            : "a kernel that was not run on a case is not within reach of the best there"),
      timeControls(),
      needsBase && chooser("base", "Baseline", selection().kernels.map(k => runs.kernels[k]))),
    kernelChips()));
  form.onsubmit = event => event.preventDefault();
}

/* Records of several days or versions. */
function timeControls() {
  const any = word => v => v === "any" ? word : v;
  return [runs.versions.length > 1 && chooser("version", "Version", choices.version, any("any")),
          runs.days.length > 1 && chooser("since", "Measured from", choices.since, any("the first")),
          runs.days.length > 1 && chooser("until", "to", choices.until, any("the last"))];
}

/* On how many cases a kernel was run. */
function casesOf(kernel) {
  const { list } = selection(), mine = list.filter(i => runs.kernel[i] === kernel).length;
  return `${count(mine)} of ${count(new Set(list.map(i => runs.group[i])).size)} cases`;
}

/* One button a kernel; pressed means shown. */
function kernelChips() {
  const off = hidden(), list = selection().kernels.map(k => kernels[k]),
        some = list.some(k => off.has(k.name));
  /* none stands back for one that is not there */
  const forward = kernel => highlight(off.has(kernel.name) ? -1 : kernel.id);
  return make("div", { class: "chips", role: "group", "aria-label": "Kernels shown" },
    list.map(kernel => make("button", { type: "button", class: "chip",
                                        "aria-pressed": String(!off.has(kernel.name)),
      "data-focus": `kernel-${kernel.name}`, "data-kernel": kernel.name, 
      title: `${off.has(kernel.name) ? "show" : "hide"}; ${casesOf(kernel.id)}`,
      onclick: () => toggleKernel(kernel.name), onpointerenter: () => forward(kernel),
      onpointerleave: () => highlight(-1), onfocus: () => forward(kernel), onblur: () => highlight(-1) },
      dot(kernel), kernel.name)),
    some ? make("button", { type: "button", class: "plain", "data-focus": "kernels-all",
                            onclick: () => change({ hide: "" }) },
      "show all")
         : list.length > 8 && make("button", { type: "button", class: "plain", "data-focus": "kernels-all",
             onclick: () => change({ hide: bestOnes(list, 6) }) }, "only the best six"));
}

/* All but the `few` with the largest area under their profile. */
function bestOnes(list, few) {
  const kept = new Set(profiles(selection()).slice(0, few).map(p => p.kernel));
  return list.filter(k => !kept.has(k.id)).map(k => k.name).join(" ");
}
