# SPDX-License-Identifier: MIT
"""What the tests of the page share: where things are, the command, and a tab of the browser."""
import pathlib
import subprocess
import sys

HEDDLE, CHROMIUM, WORK = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
HERE = pathlib.Path(__file__).resolve().parent
VIEWS = ["profile", "speed", "speedup", "means", "costs", "matrices", "about"]


def check(condition, words):
    if not condition:
        raise AssertionError(words)


def heddle(*arguments):
    return subprocess.run([HEDDLE, *map(str, arguments)], check=True, capture_output=True, text=True)


class Tab:
    """A tab that remembers what went wrong in it.  `filters`: whether they are unfolded, as one who needs
    them would do first."""

    def __init__(self, browser, page, link="", width=1280, height=900, scheme="light", filters=True):
        self.context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme,
                                           accept_downloads=True, reduced_motion="reduce")
        self.page = self.context.new_page()
        self.wrong = []
        self.page.on("console", lambda m: m.type in ("error", "warning")
                     and self.wrong.append(f"console: {m.text}"))
        self.page.on("pageerror", lambda e: self.wrong.append(f"exception: {e}"))
        self.page.on("request", self.request)
        self.url = f"file://{page}"
        self.page.goto(self.url + link)
        if filters:
            self.page.evaluate("document.querySelector('#filters details').open = true")

    def request(self, request):
        if request.url.split("#")[0] != self.url and not request.url.startswith(("data:", "blob:")):
            self.wrong.append(f"request: {request.url}")

    def go(self, link):
        self.page.evaluate("link => { location.hash = link; }", link)
        self.page.wait_for_timeout(50)

    def texts(self, selector):
        return self.page.locator(selector).all_inner_texts()

    def saved(self, button):
        with self.page.expect_download() as download:
            self.page.click(f'[data-export="{button}"]')
        path = WORK / download.value.suggested_filename
        download.value.save_as(path)
        return path

    def close(self):
        self.context.close()
        check(not self.wrong, "; ".join(self.wrong[:5]))
