#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The page of `heddle report` in a real browser: bash tests/browser/run.sh BUILD_DIR [NAME].  Needs chromium
# (scripts/setup browser) and, once, PyPI for playwright, which drives it.  Screenshots are left in
# BUILD_DIR/browser.  Ends in 'N passed, N failed, N skipped'.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-build}" && pwd) || exit 2
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
  { echo "no chromium is here: scripts/setup browser installs it"; exit 2; }
[ -x "$build/heddle" ] || { echo "there is no $build/heddle: build it first"; exit 2; }
work=$build/browser
mkdir -p "$work"
if ! "$work/python/bin/python" -c 'import playwright' 2>/dev/null; then
  python3 -m venv "$work/python" && "$work/python/bin/pip" install -q 'playwright>=1.40,<2' ||
    { echo "playwright could not be installed from PyPI into $work/python"; exit 2; }
fi
exec "$work/python/bin/python" "$here/test_page.py" "$build/heddle" "$chromium" "$work" "${@:2}"
