#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of `heddle report`, clicked through in Chromium: test_page.py HEDDLE CHROMIUM WORK_DIR [NAME].

Each test is a sentence; none may leave an error on the console or ask the network for anything.
"""
import csv
import functools
import io
import os
import subprocess
import sys
import xml.etree.ElementTree as xml

from playwright.sync_api import sync_playwright

import compare
from tab import CHROMIUM, HERE, VIEWS, WORK, Tab, check, heddle

REDRAW_MS = 300
MANY = 1250  # matrices, 40 runs each: 50,000 records


# ---------------------------------------------------------------- pages

@functools.lru_cache(None)
def real_page():
    """The committed records of a GPU, with which it opens, and what is measured here and now over a few small
    matrices."""
    records, page = WORK / "real.jsonl", WORK / "real.html"
    heddle("bench", "set:smoke", "--device", "cpu", "--kernel", "all", "--type", "f32,f64", "--op", "N,T",
           "--time-limit", "0.01", "--no-cold", "--json", records, "-q")  # large caches take minutes to empty
    gpu = sorted((HERE.parent.parent / "bench" / "results").glob("*h200*.jsonl.xz"))
    check(gpu, "no committed records of a GPU")
    heddle("report", records, *gpu, "-o", page)
    return page


@functools.lru_cache(None)
def large_page():
    records, page = WORK / "large.jsonl", WORK / "large.html"
    with open(records, "w", encoding="utf-8") as out:
        subprocess.run([sys.executable, HERE / "make_records.py", str(MANY)], check=True, stdout=out)
    heddle("report", records, "-o", page)
    return page



# ---------------------------------------------------------------- what must hold

def every_view_draws_without_an_error_or_a_request(browser):
    tab = Tab(browser, real_page())
    for view in VIEWS:
        tab.page.click(f'nav [data-focus="nav-{view}"]')
        check(tab.page.locator("main .card").count() > 0, f"{view} shows nothing")
        check(tab.page.locator("main .empty").count() == 0, f"{view}: {tab.texts('main .empty')}")
        here = tab.page.get_attribute(f'nav [data-focus="nav-{view}"]', "aria-current")
        check(here == "page", f"{view} is not marked in the menu")
    tab.close()


def a_filter_changes_the_figure_and_the_link(browser):
    tab = Tab(browser, real_page(), "#/profile")
    before = tab.texts("#card-profile-table tbody tr")
    for key, value in (("type", "f32"), ("op", "T"), ("time", "cold"), ("setup", "with")):
        tab.page.check(f'input[name="{key}"][value="{value}"]', force=True)
        check(f"{key}={value}" in tab.page.url, f"{key}={value} is not in the link {tab.page.url}")
        after = tab.texts("#card-profile-table tbody tr")
        check(after != before, f"{key}={value} changed nothing")
        before = after
    tab.page.fill('[data-focus="products"]', "5")
    tab.page.keyboard.press("Tab")
    check("products=5" in tab.page.url, "the number of products is not in the link")
    check("csr_vector" in " ".join(tab.texts(".chip")),
          "the kernels of the device with most runs are not offered")
    offered = []
    for device in tab.texts('select[name="device"] option'):
        tab.page.select_option('select[name="device"]', device)
        offered += tab.texts(".chip") if "H200" not in device else []
    check("cpu_csr_t" in offered, "the kernels of the other devices are not offered")
    tab.close()


def a_link_brings_back_what_it_was_copied_from(browser):
    tab = Tab(browser, real_page(), "#/means?type=f32&op=T&by=structure&mean=best")
    check(tab.page.is_checked('input[name="by"][value="structure"]'), "classes are not by structure")
    rows = tab.texts("#card-means-table tbody tr")
    tab.page.reload()
    check(tab.texts("#card-means-table tbody tr") == rows, "the reloaded page shows something else")
    tab.go("#/nonsense?type=f99&products=-3")
    check(tab.page.locator("#card-profile svg").count() == 1, "a link that means nothing shows nothing")
    tab.close()


def kernels_are_switched_off_and_on(browser):
    tab = Tab(browser, real_page(), "#/profile")
    lines = tab.page.locator("#card-profile path.line").count()
    tab.page.click('[data-kernel="coo_balance"]')
    check(tab.page.locator("#card-profile path.line").count() == lines - 1, "the line is still there")
    check(tab.page.get_attribute('[data-kernel="coo_balance"]', "aria-pressed") == "false",
          "the button still says it is shown")
    check(tab.page.evaluate("document.activeElement.dataset.kernel") == "coo_balance",
          "the button lost the focus")
    tab.page.keyboard.press("Enter")
    check(tab.page.locator("#card-profile path.line").count() == lines, "the line did not come back")
    tab.close()


def variants_stand_back_and_labels_stay_in_their_card(browser):
    tab = Tab(browser, real_page(), "#/profile")
    shown = lambda kernel: tab.page.get_attribute(f'[data-kernel="{kernel}"]', "aria-pressed")
    check(shown("hyb") == "true" and shown("hyb:split=minimal") == "false",
          "an option is shown beside its kernel at first")
    tab.page.click('[data-focus="kernels-all"]')
    check(shown("hyb:split=minimal") == "true" and "hide=" in tab.page.url, "not all of them are shown")
    for view in ("profile", "speed", "costs"):
        tab.go(f"#/{view}?hide=")
        check(shown("hyb:split=minimal") == "true", f"{view}: a link to all of them does not show them")
        above = tab.page.evaluate("""id => {
          const top = document.querySelector(`#${id} .body`).getBoundingClientRect().top;
          return [...document.querySelectorAll(`#${id} text`)]
            .filter(t => t.getBoundingClientRect().top < top - 4).map(t => t.textContent);
        }""", f"card-{view}")
        check(not above, f"{view}: {above} above the figure")
    tab.close()


def the_baseline_has_a_speed_up_of_one(browser):
    tab = Tab(browser, real_page(), "#/speedup")
    names = [row.split()[0] for row in tab.texts("#card-speedup-table tbody tr")]
    check(len(names) > 2, f"only {names}")
    for kernel in (names[0], names[-1]):
        tab.page.select_option('select[name="base"]', kernel)
        check(tab.page.inner_text("#card-speedup h2") == f"Speed-up over {kernel}",
              "the title names another baseline")
        row = next(r for r in tab.texts("#card-speedup-table tbody tr") if r.split()[0] == kernel)
        check("1.00×" in row, f"{kernel} over itself: {row}")
    tab.close()


def the_table_sorts_filters_and_searches(browser):
    tab = Tab(browser, real_page(), "#/matrices")
    names = lambda: tab.texts("#card-matrices tbody th")
    while tab.page.locator('[data-focus="more"]').count():
        tab.page.click('[data-focus="more"]')
    everything = names()
    check(len(everything) > 100, f"only {len(everything)} matrices")
    tab.page.click('[data-sort="name"]')
    check(names() == sorted(everything, key=str.lower)[:100], f"not sorted by name: {names()}")
    check(tab.page.get_attribute("th:has([data-sort=name])", "aria-sort") == "ascending",
          "aria-sort is missing")
    tab.page.click('[data-sort="name"]')
    check(names() == sorted(everything, key=str.lower, reverse=True)[:100], "not sorted backwards")
    tab.page.fill('[data-focus="search"]', "bcsstk")
    tab.page.wait_for_timeout(300)
    check(len(names()) > 1 and all("bcsstk" in n for n in names()), f"found {names()}")
    check(tab.page.evaluate("document.activeElement.dataset.focus") == "search",
          "the search field lost the focus")
    check("of" in tab.page.inner_text("#live"), f"the count is not announced: {tab.page.inner_text('#live')}")
    tab.page.fill('[data-focus="search"]', "")
    tab.page.wait_for_timeout(300)
    tab.page.select_option('select[name="structure"]', label="skewed rows")
    check(0 < len(names()) < len(everything), "the structure filters nothing")
    tab.close()


def a_matrix_has_a_page_of_its_own(browser):
    tab = Tab(browser, real_page(), "#/matrices")
    tab.page.fill('[data-focus="search"]', "gemat12")
    tab.page.wait_for_timeout(300)
    tab.page.click('a[data-matrix="gemat12 (generated)"]')
    check(tab.page.inner_text("h1") == "gemat12 (generated)", "the page has another title")
    check("#/matrix/gemat12%20(generated)" in tab.page.url, "the page has no link")
    check(tab.page.locator("#card-kernels rect").count() >= 5, "kernels are missing")
    check(tab.page.locator("#card-pattern .cells rect").count() > 100, "the pattern is missing")
    check(tab.page.locator("#card-lengths rect").count() > 3, "the histogram is missing")
    check("set:paper/gemat12" in tab.page.inner_text(".matrix-head"), "it is not the generated one")
    check("4,929" in tab.page.inner_text(".matrix-head"), "sizes are missing")
    check("44" in tab.page.inner_text("#card-statistics"), "statistics are missing")
    tab.page.click(".skipped summary")
    check("csr_weft computes only" in tab.page.inner_text(".skipped"), "what was skipped has no reason")
    tab.go("#/matrix/gemat12")
    check("gemat12.mtx" in tab.page.inner_text(".matrix-head"),
          "the file of the same name has no page of its own")
    tab.go("#/matrix/100%25%ZZ")
    check("no matrix" in tab.page.inner_text("main"), "a link that cannot be decoded shows something")
    tab.go("#/matrix/nobody")
    check("no matrix 'nobody'" in tab.page.inner_text("main"), "an unknown matrix is not named")
    tab.close()


def every_figure_is_saved_as_svg_png_and_csv(browser):
    tab = Tab(browser, real_page())
    for view, card in (("profile", "profile"), ("speed", "speed"), ("speedup", "speedup"), ("means", "means"),
                       ("costs", "costs"), ("matrices", "map"), ("matrix/rajat31", "kernels"),
                       ("matrix/rajat31", "pattern"),
                       ("matrix/rajat31", "lengths")):
        tab.go(f"#/{view}")
        tree = xml.parse(tab.saved(f"{card}-SVG")).getroot()
        drawn = [e for e in tree.iter() if e.tag.split("}")[1] in ("path", "circle", "rect")]
        check(len(drawn) > 5, f"{card}: the saved drawing holds {len(drawn)} shapes")
        check(not any("class" in e.attrib for e in tree.iter()),
              f"{card}: the saved drawing needs a style sheet")
        png = tab.saved(f"{card}-PNG").read_bytes()
        check(png[:8] == b"\x89PNG\r\n\x1a\n" and len(png) > 2000, f"{card}: no PNG")
        rows = list(csv.reader(io.StringIO(tab.saved(f"{card}-CSV").read_text())))
        check(len(rows) > 1 and all(len(r) == len(rows[0]) for r in rows), f"{card}: the CSV has ragged rows")
    tab.close()


def the_page_can_be_used_with_the_keyboard_alone(browser):
    tab = Tab(browser, real_page(), "#/speed")
    tab.page.keyboard.press("Tab")
    check(tab.page.evaluate("document.activeElement.className") == "skip",
          "the first stop is not the way to the figures")
    tab.page.keyboard.press("Enter")
    check(tab.page.evaluate("document.activeElement.id") == "main", "it does not lead there")
    check("#/speed" in tab.page.url, "it lost the view")
    tab.page.focus("#card-speed svg")
    tab.page.keyboard.press("ArrowRight")
    check(tab.page.is_visible("#tip") and "nonzeros" in tab.page.inner_text("#live"), "the point is not told")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_timeout(50)
    check("#/matrix/" in tab.page.url, "Enter did not open the matrix")
    tab.go("#/profile")
    tab.page.focus('input[name="type"]:checked')
    before = tab.page.evaluate("""() => {
      const all = [...document.querySelectorAll('input[name="type"]')];
      return all[all.findIndex(e => e.checked) - 1].value; }""")
    tab.page.keyboard.press("ArrowLeft")
    check(tab.page.url.endswith(f"type={before}"), f"arrow keys do not move the choice: {tab.page.url}")
    check(tab.page.evaluate("document.activeElement.value") == before, "the choice lost the focus")
    tab.close()


def everything_has_a_name_for_a_screen_reader(browser):
    tab = Tab(browser, real_page())
    for view in VIEWS + ["matrix/rajat31"]:
        tab.go(f"#/{view}")
        nameless = tab.page.evaluate("""() =>
          [...document.querySelectorAll("button, a, input, select, svg[role=img], table, [role=region]")]
          .filter(e => !(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length || e.title))
          .map(e => e.outerHTML.slice(0, 80))""")
        check(not nameless, f"{view}: {nameless}")
        heads = tab.page.evaluate("[...document.querySelectorAll('main h1')].length")
        check(heads == 1, f"{view} has {heads} headings of the first order")
        check(tab.page.evaluate("[...document.querySelectorAll('th')].every(t => t.scope)"),
              f"{view}: a heading without scope")
    tab.close()


def words_stand_out_from_their_ground(browser):
    for scheme in ("light", "dark"):
        tab = Tab(browser, real_page(), scheme=scheme)
        low = tab.page.evaluate("""() => {
          const linear = v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
          const parts = c => c.match(/[0-9.]+/g).slice(0, 3).map(v => linear(v / 255));
          const light = c => { const [r, g, b] = parts(c); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
          const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
          const card = light(getComputedStyle(document.querySelector(".card")).backgroundColor);
          const paper = light(getComputedStyle(document.body).backgroundColor);
          const of = (selector, key, ground) => [...document.querySelectorAll(selector)]
            .map(e => [e.textContent, ratio(light(getComputedStyle(e)[key]), ground)]);
          const words = of(".card text", "fill", card).concat(of(".lead, nav a, h1", "color", paper));
          return words.filter(([, r]) => r < 4.5);
        }""")
        check(not low, f"{scheme}: {low[:5]}")
        tab.close()


def nothing_sticks_out_on_a_phone(browser):
    for scheme in ("light", "dark"):
        tab = Tab(browser, real_page(), width=360, height=740, scheme=scheme)
        for view in VIEWS + ["matrix/rajat31"]:
            tab.go(f"#/{view}")
            wide = tab.page.evaluate("document.documentElement.scrollWidth - innerWidth")
            check(wide <= 0, f"{view} is {wide} px too wide")
            seen = tab.page.evaluate("""() => {
              const nav = document.getElementById("nav").getBoundingClientRect();
              const here = document.querySelector("#nav [aria-current]").getBoundingClientRect();
              return here.left >= nav.left - 1 && here.right <= nav.right + 1; }""")
            check(seen, f"the menu does not show that {view} is open")
            tab.page.screenshot(path=WORK / f"phone-{scheme}-{view.split('/')[0]}.png", full_page=True)
        tab.close()


def the_desktop_is_pictured_in_both_schemes(browser):
    for scheme in ("light", "dark"):
        tab = Tab(browser, real_page(), scheme=scheme)
        for view in VIEWS + ["matrix/rajat31"]:
            tab.go(f"#/{view}")
            tab.page.screenshot(path=WORK / f"desktop-{scheme}-{view.split('/')[0]}.png", full_page=True)
        tab.close()


def the_pointer_brings_up_what_lies_under_it(browser):
    tab = Tab(browser, real_page())
    for view, card, words in (("profile", "profile", "within"), ("costs", "costs", "products"),
                              ("matrix/rajat31", "kernels", "nonzeros")):
        tab.go(f"#/{view}")
        figure = tab.page.locator(f"#card-{card} svg").first
        figure.scroll_into_view_if_needed()
        box = figure.bounding_box()
        tab.page.mouse.move(box["x"] + 0.4 * box["width"],
                            box["y"] + (30 if view == "matrix/rajat31" else 0.5 * box["height"]))
        check(words in tab.page.inner_text("#tip"), f"{view}: the tip says {tab.page.inner_text('#tip')!r}")
    tab.go("#/profile")
    tab.page.locator('[data-kernel][aria-pressed="true"]').first.hover()
    lines = tab.page.locator("#card-profile path.line").count()
    check(tab.page.locator("#card-profile path.line.back").count() == lines - 1,
          "the other lines do not stand back")
    tab.close()


def colours_can_be_chosen(browser):
    tab = Tab(browser, real_page())
    ground = lambda: tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
    first = ground()
    tab.page.click("#theme")
    check(ground() == first, "light is not what a light system shows")
    tab.page.click("#theme")
    check(ground() != first, "dark looks like light")
    tab.close()


def what_was_left_out_is_told(browser):
    records, page = WORK / "broken.jsonl", WORK / "broken.html"
    good = real_page().with_suffix(".jsonl").read_text().splitlines()
    bad = ['{"schema":1,"record":"run"', '{"schema":9,"record":"run"}',
           good[1].replace('"verified":true', '"verified":false'),
           good[1].replace('"origin":"', '"origin":"</script><script>alert(1)</script>')
           .replace('"matrix":"', '"matrix":"<b>&'),
           good[1].replace('"kernel":"auto"', '"kernel":"<i>evil</i>"')]
    records.write_text("\n".join(good[:60] + bad) + "\n")
    told = heddle("report", records, "-o", page)
    check(told.stderr.count("broken.jsonl:") == 3, f"not three warnings: {told.stderr}")
    tab = Tab(browser, page, "#/about")
    check(tab.page.inner_text("nav .badge") == "3", "the menu does not tell how many")
    check("broken.jsonl:61" in tab.page.inner_text("#card-warnings"), "the place is not told")
    for view in VIEWS:
        tab.go(f"#/{view}")
        check(tab.page.locator("main i, main b").count() == 0, "a name became markup")
    tab.close()


# ---------------------------------------------------------------- 50,000 records

CLICK = """selector => new Promise(done => {
  const element = document.querySelector(selector), begin = performance.now();
  element.click();
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)));
})"""


def redraws(tab, selectors):
    """Milliseconds from a click to the finished drawing, and those that the page itself computed: the least
    of eight."""
    session = tab.context.new_cdp_session(tab.page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    worked = lambda: next(m["value"] for m in session.send("Performance.getMetrics")["metrics"]
                          if m["name"] == "TaskDuration")
    walls, works = [], []
    for n in range(8):
        before = worked()
        walls.append(tab.page.evaluate(CLICK, selectors[n % 2]))
        works.append(1000 * (worked() - before))
    return min(walls), min(works)


def fifty_thousand_records_redraw_within_300_ms_of_a_click(browser):
    tab = Tab(browser, large_page())
    check("50,000 verified runs" in tab.page.inner_text("#what"), tab.page.inner_text("#what"))
    for view in VIEWS[:6]:
        tab.go(f"#/{view}?type=all&op=all")
        tab.page.wait_for_timeout(200)
        for name, pair in (("caches", ('input[name=time][value=cold]', 'input[name=time][value=warm]')),
                           ("kernel", ('[data-kernel="ell"]', '[data-kernel="ell"]'))):
            wall, work = redraws(tab, pair)
            print(f"    {view:9} {name:7} {wall:5.0f} ms after the click, {work:4.0f} ms of work", flush=True)
            # then the click waits for others, and only the work can be judged
            busy = os.getloadavg()[0] > os.cpu_count()
            check((work if busy else wall) < REDRAW_MS,
                  f"{view}: {name} took {wall:.0f} ms, {work:.0f} of them work")
    tab.close()


def fifty_thousand_records_are_searched_and_opened(browser):
    tab = Tab(browser, large_page(), "#/matrices")
    tab.page.fill('[data-focus="search"]', "made_0123")
    tab.page.wait_for_timeout(400)
    check(tab.texts("#card-matrices tbody th") == ["made_0123"], "not found")
    tab.page.fill('[data-focus="search"]', "")
    tab.page.wait_for_timeout(400)
    check(tab.page.locator("#card-matrices tbody tr").count() == 100, "not a hundred rows at first")
    tab.page.click('[data-focus="more"]')
    check(tab.page.locator("#card-matrices tbody tr").count() == 300, "no more rows")
    tab.go("#/matrix/made_0125")
    check(tab.page.locator("#card-pattern .cells rect").count() > 64, "no pattern")
    tab.close()


TESTS = [
    every_view_draws_without_an_error_or_a_request,
    a_filter_changes_the_figure_and_the_link,
    a_link_brings_back_what_it_was_copied_from,
    kernels_are_switched_off_and_on,
    variants_stand_back_and_labels_stay_in_their_card,
    the_baseline_has_a_speed_up_of_one,
    the_table_sorts_filters_and_searches,
    a_matrix_has_a_page_of_its_own,
    every_figure_is_saved_as_svg_png_and_csv,
    the_page_can_be_used_with_the_keyboard_alone,
    everything_has_a_name_for_a_screen_reader,
    words_stand_out_from_their_ground,
    nothing_sticks_out_on_a_phone,
    the_desktop_is_pictured_in_both_schemes,
    the_pointer_brings_up_what_lies_under_it,
    colours_can_be_chosen,
    what_was_left_out_is_told,
    fifty_thousand_records_redraw_within_300_ms_of_a_click,
    fifty_thousand_records_are_searched_and_opened,
    *compare.TESTS,
]


def main():
    passed = failed = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for test in TESTS:
            if len(sys.argv) > 4 and sys.argv[4] not in test.__name__:
                continue
            try:
                print(f"  {test.__name__.replace('_', ' ')}", flush=True)
                test(browser)
                passed += 1
            except Exception as error:  # a test that fails must not stop the others
                failed += 1
                print(f"FAILED {test.__name__}: {error}")
        browser.close()
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed > 0 or passed == 0)


main()
