/* SPDX-License-Identifier: MIT
 *
 * main.js: draws the view that the link names, and keeps the focus where it was. */

const themes = ["system", "light", "dark"];
let themeAt = 0;

function setTheme(at) {
  themeAt = at % themes.length;
  const button = document.getElementById("theme");
  if (themes[themeAt] === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = themes[themeAt];
  button.setAttribute("aria-label",
    `Colours: ${themes[themeAt] === "system" ? "as the system" : themes[themeAt]}`);
  button.firstElementChild.textContent = { system: "◐", light: "☀", dark: "☾" }[themes[themeAt]];
  try { localStorage.setItem("heddle-theme", themes[themeAt]); }
  catch { /* a page opened from a file may not keep anything */ }
}

function storedTheme() {
  try { return Math.max(0, themes.indexOf(localStorage.getItem("heddle-theme"))); } catch { return 0; }
}

function middle(element) {
  const { left, right } = element.getBoundingClientRect();
  return (left + right) / 2;
}

function drawNav() {
  const nav = document.getElementById("nav");
  nav.replaceChildren(...Object.entries(views).filter(([, view]) => view.title)
    .map(([name, view]) => {
    const here = name === state.view || (name === "matrices" && state.view === "matrix");
    return make("li", {}, make("a", { href: viewLink(name), "aria-current": here ? "page" : null,
                                      "data-focus": `nav-${name}` },
      view.title, name === "about" && records.warning_count > 0 &&
        make("span", { class: "badge", title: "lines left out" },
        count(records.warning_count))));
  }));
  /* Where the words do not fit side by side: the current one in the middle.  scrollIntoView would also
   * make it the place from which the Tab key goes on, and nobody would meet the link that skips to the
   * figures. */
  const current = nav.querySelector("[aria-current]");
  if (current) nav.scrollLeft += middle(current) - middle(nav);
}

/* What has the focus, to give it back after redrawing. */
function focused() {
  const element = document.activeElement, key = element?.dataset?.focus;
  if (!key) return () => {};
  const from = element.type === "search" ? element.selectionStart : null;
  return () => {
    const again = document.querySelector(`[data-focus="${CSS.escape(key)}"]`);
    if (!again || again === document.activeElement) return;
    again.focus({ preventScroll: true });
    if (from != null) again.setSelectionRange(from, from);
  };
}

function render({ controls = true } = {}) {
  const main = document.getElementById("main"), giveBack = focused(), view = views[state.view];
  highlights = [];
  themeColours = new Map();
  hideTip();
  drawNav();
  if (controls) drawControls();
  document.getElementById("filters").hidden = state.view === "about";
  main.style.minHeight = `${main.offsetHeight}px`; /* the page does not jump while it is drawn again */
  main.replaceChildren();
  if (view.title) main.append(make("h1", {}, view.title), make("p", { class: "lead" }, view.lead));
  view.render(main);
  main.style.minHeight = "";
  document.title = `${state.view === "matrix" ? state.matrix : view.title} · Heddle measurements`;
  giveBack();
  announce();
}

function announce() {
  const s = selection(), found = document.getElementById("found");
  say(found ? found.textContent :
    `${count(s.shown.length)} runs, ${count(s.groups.length)} cases, ${s.shownKernels.length} kernels`);
}

function start() {
  const used = matrices.filter(m => m.used).length;
  const several = (n, word, more) => `${count(n)} ${n === 1 ? word : more}`;
  document.getElementById("what").textContent = [several(runs.slots, "verified run", "verified runs"),
    several(used, "matrix", "matrices"), several(runs.kernels.length, "kernel", "kernels"),
    runs.devices.length === 1 ? runs.devices[0] : `${runs.devices.length} devices`].join(" · ");
  document.getElementById("footer")
    .replaceChildren(make("p", {}, `Made by heddle ${records.heddle}, ${records.made}. `,
    make("a", { href: viewLink("about") }, "Where the numbers come from")));
  document.querySelector(".skip").addEventListener("click", event => {
    event.preventDefault();
    document.getElementById("main").focus();
  });
  setTheme(storedTheme());
  document.getElementById("theme").addEventListener("click", () => { setTheme(themeAt + 1); render(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => render());
  let resizing = 0, width = innerWidth;
  addEventListener("resize", () => {
    clearTimeout(resizing);
    if (innerWidth !== width) resizing = setTimeout(() => { width = innerWidth; render(); }, 120);
  });
  addEventListener("hashchange", () => {
    const before = state.view + state.matrix;
    readLink();
    render();
    if (before !== state.view + state.matrix) scrollTo(0, 0);
  });
  readLink();
  render();
}

start();
