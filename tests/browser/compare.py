# SPDX-License-Identifier: MIT
"""The page over two files of records that cover different matrices: which cases are compared, when they were
measured, and whether many kernels can be told apart, on a desktop and on a phone."""
import functools
import json
import random

import make_records
from tab import VIEWS, WORK, Tab, check, heddle

# more than there are hues
KERNELS = [f"csr_{letter}" for letter in "abcdefghijklmnopqr"] + ["cusparse:csr_alg1:preprocess=0"]
FILES = [  # all kernels on matrices 0 to 19; six of them and another one on 15 to 29, later
    {"kernels": KERNELS, "matrices": range(0, 20), "version": "0.1.0", "date": "2026-11-15T04:23:39Z"},
    {"kernels": KERNELS[:6] + ["late"], "matrices": range(15, 30), "version": "0.2.0",
     "date": "2026-12-02T04:23:39Z"},
]


@functools.lru_cache(None)
def two_files():
    rng, page, paths = random.Random(3), WORK / "two.html", []
    matrices = [make_records.matrix_record(rng, m) for m in range(30)]
    for number, part in enumerate(FILES):
        paths.append(WORK / f"two-{number}.jsonl")
        with open(paths[-1], "w", encoding="utf-8") as out:
            for m in part["matrices"]:
                print(json.dumps(matrices[m]), file=out)
                for kernel in part["kernels"]:
                    if kernel != "late" or m >= 20:
                        run = make_records.run_record(rng, matrices[m], kernel, "f64", "N")
                        print(json.dumps({**run, "version": part["version"], "date": part["date"]}), file=out)
    heddle("report", *paths, "-o", page)
    return page


def note(tab, card="profile"):
    return tab.page.inner_text(f"#card-{card} .note")


def the_figure_comes_first_and_the_filters_are_folded_away(browser):
    for width, height in ((1280, 900), (390, 844)):
        tab = Tab(browser, two_files(), width=width, height=height, filters=False)
        check(not tab.page.is_visible(".chip") and not tab.page.is_visible('select[name="since"]'),
              "controls are unfolded")
        top = tab.page.locator("#card-profile svg").first.bounding_box()["y"]
        check(top < height - 150, f"at {width} pixels the figure begins at {top}")
        check("19 of 20 kernels" in tab.page.inner_text("#filters summary"),
              tab.page.inner_text("#filters summary"))
        tab.page.click("#filters summary")
        check(tab.page.is_visible(".chip"), "controls do not unfold")
        tab.page.click('[data-kernel="csr_r"]')
        check(tab.page.is_visible(".chip"), "a choice folds them away again")
        tab.close()


def only_cases_that_all_have_are_compared_and_the_others_counted(browser):
    tab = Tab(browser, two_files())
    check("20 cases that all 19 kernels have, 10 left out" in note(tab), note(tab))
    check(tab.page.get_attribute('[data-kernel="late"]', "aria-pressed") == "false",
          "late is shown, and nothing in common left")
    check("10 of 30 cases" in tab.page.get_attribute('[data-kernel="late"]', "title"),
          "it is not told how many cases late has")
    tab.page.click('[data-kernel="late"]')
    for card in ("profile", "profile-table"):
        words = tab.page.inner_text(f"#card-{card} .empty")
        check("No case has runs of all 20 kernels" in words and "late has the fewest, 10 of 30" in words,
              words)
    for view in ("speedup", "means", "costs"):
        tab.go(f"#/{view}?hide=")
        check(tab.page.locator("#card-" + view + " .empty").count() == 1,
              f"{view} compares what cannot be compared")
    tab.go("#/profile?hide=")
    tab.page.click('#card-profile [data-focus="cases-all"]')
    check("cases=all" in tab.page.url and note(tab).endswith("30 cases"), note(tab))
    tab.go("#/means?hide=" + "+".join(KERNELS[6:] + ["late"]))
    check("30 cases that all 6 kernels have, none left out" in note(tab, "means"), note(tab, "means"))
    tab.close()


def runs_are_filtered_by_version_and_day(browser):
    tab = Tab(browser, two_files(), "#/matrices")
    rows = lambda: tab.page.inner_text("#found")
    check(rows() == "30 rows", rows())
    tab.page.select_option('select[name="version"]', "0.1.0")
    check(rows() == "20 rows" and "version=0.1.0" in tab.page.url, f"0.1.0 has {rows()}")
    check("heddle 0.1.0" in note(tab, "map"), note(tab, "map"))
    tab.go("#/matrix/made_0017?version=0.1.0&hide=")
    check(tab.page.locator("#card-runs tbody tr").count() == 19,
          "runs that were measured again later are gone")
    tab.go("#/matrices")
    tab.page.select_option('select[name="since"]', "2026-12-02")
    check(rows() == "15 rows", f"since December: {rows()}")
    tab.page.select_option('select[name="since"]', "any")
    tab.page.select_option('select[name="until"]', "2026-11-15")
    check(rows() == "20 rows", f"until November: {rows()}")
    tab.close()


def lines_that_share_a_hue_have_other_dashes_and_all_have_a_name(browser):
    for width in (1280, 390):
        tab = Tab(browser, two_files(), width=width, height=844)
        looks = tab.page.evaluate("""() => [...document.querySelectorAll("#card-profile path.line")].map(p =>
          p.getAttribute("stroke") + " " + (p.getAttribute("stroke-dasharray") ?? "") + " " +
          p.getAttribute("stroke-width"))""")
        check(len(looks) == 19 and len(set(looks)) == 19, f"{len(looks)} lines look {len(set(looks))} ways")
        where = "#card-profile .direct text" if width > 760 else "#card-profile .names > span"
        names = tab.page.locator(where).all_text_contents()
        check(sorted(names) == sorted(KERNELS), f"at {width} pixels named: {names}")
        marks = tab.page.evaluate("""() =>
          [...document.querySelectorAll(".chip[aria-pressed=true] .dot")].map(d =>
            d.className + d.getAttribute("style"))""")
        check(len(set(marks)) == 19, f"{len(marks)} chips look {len(set(marks))} ways")
        tab.go("#/speed")
        check(len(tab.texts("#card-speed .names > span")) == 19, "points have no names")
        tab.close()


def a_kernel_that_is_switched_off_lets_no_other_stand_back(browser):
    tab = Tab(browser, two_files())
    back = lambda: tab.page.locator("#card-profile .back").count()
    tab.page.hover('[data-kernel="csr_a"]')
    check(back() > 0, "others do not stand back for one that is shown")
    tab.page.hover('[data-kernel="late"]')
    check(back() == 0, f"{back()} stand back for one that is not there")
    tab.page.focus('[data-kernel="late"]')
    check(back() == 0, f"{back()} stand back for one that has the focus and is not there")
    tab.close()


CUT = """() => {
  const cut = [], wide = document.documentElement.clientWidth;
  for (const box of document.querySelectorAll(".scroll, nav ul")) /* what scrolls sideways hides something */
    if (box.scrollWidth > box.clientWidth + 1)
      cut.push(`${box.getAttribute("aria-label") ?? "menu"} scrolls`);
  const spoken = "main text, main td, main th, main p, main h1, main h2, nav a, summary";
  for (const words of document.querySelectorAll(spoken)) {
    const { left, right, width } = words.getBoundingClientRect();
    if (width > 0 && (left < -1 || right > wide + 1)) cut.push(words.textContent.trim().slice(0, 40));
  }
  return cut;
}"""


def nothing_is_cut_off_on_a_phone(browser):
    for scheme in ("light", "dark"):
        tab = Tab(browser, two_files(), width=390, height=844, scheme=scheme)
        for view in VIEWS + ["matrix/made_0005"]:
            for link in (f"#/{view}", f"#/{view}?cases=all&hide="):
                tab.go(link)
                cut = tab.page.evaluate(CUT)
                check(not cut, f"{link}: {cut[:5]}")
            tab.page.screenshot(path=WORK / f"two-phone-{scheme}-{view.split('/')[0]}.png", full_page=True)
        tab.close()


TESTS = [
    the_figure_comes_first_and_the_filters_are_folded_away,
    only_cases_that_all_have_are_compared_and_the_others_counted,
    runs_are_filtered_by_version_and_day,
    lines_that_share_a_hue_have_other_dashes_and_all_have_a_name,
    a_kernel_that_is_switched_off_lets_no_other_stand_back,
    nothing_is_cut_off_on_a_phone,
]
