#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The Debian packages hold what they should and pass lintian; d3 goes nowhere without its licence.
set -u
build=$(realpath "$1") source=$(realpath "$2")
here=$source/tests
. "$here/verdict.bash"
. "$here/stage.bash"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
version=$("$build/heddle" --version | grep -oE '[0-9]+\.[0-9]+\.[0-9]+' | head -n 1)
abi=${version%.*}

# ---------------------------------------------------------------------- d3 and its licence

page_of() { # page_of COMMAND: the text of a page
    "$1" bench gen:grid2d:n=9 --device cpu --kernel cpu_csr --no-cold --time-limit 0.01 \
        --json "$scratch/r.jsonl" &&
        "$1" report "$scratch/r.jsonl" -o "$scratch/page.html"
} >"$scratch/page.log" 2>&1
d3=$(find /usr/share/nodejs/d3/dist -name d3.min.js 2>/dev/null)
if [ -n "$d3" ] && [ -s "$build/d3-licence.txt" ]; then
    page_of "$build/heddle" || cat "$scratch/page.log"
    for words in 'Redistributions in binary form must reproduce' 'Permission to use, copy, modify' \
        'Cynthia Brewer' 'Apache License'; do
        verdict "a page has the licences of d3 and its parts: $words" \
            "$(grep -qF "$words" "$scratch/page.html" || echo "not in the page")"
    done
fi
# d3 from somewhere else: not without a licence, and with the one that lies beside it.
mkdir -p "$scratch/d3/dist"
echo '// https://d3js.org v7.0.0 Copyright' >"$scratch/d3/dist/d3.min.js"
with_d3() {
    cmake -S "$source" -B "$scratch/with_d3" -DHEDDLE_TESTS=OFF -DHEDDLE_CUDA_COMPILER=none \
        -DHEDDLE_HIP_COMPILER=none "-DHEDDLE_D3=$1"
}
if with_d3 "$scratch/d3/dist/d3.min.js" >"$scratch/log" 2>&1; then problem="it is taken"; fi
verdict "d3 without a licence is refused" "${problem:-$(tr '\n' ' ' <"$scratch/log" |
    grep -q 'put its LICENSE' || cat "$scratch/log")}"
echo 'Copyright of a stranger' >"$scratch/d3/LICENSE"
verdict "d3 with its LICENSE is taken" "$(said with_d3 "$scratch/d3/dist/d3.min.js")"
verdict "the page will have it" \
    "$(grep -q "$scratch/with_d3/d3-licence.txt" "$scratch/with_d3/report-parts.c" &&
        grep -q stranger "$scratch/with_d3/d3-licence.txt" || echo "it has not")"
verdict "the packages will have it" \
    "$(grep -q stranger "$scratch/with_d3/copyright-command" || echo "they have not")"

# ---------------------------------------------------------------------- the packages

if command -v dpkg-shlibdeps >/dev/null && command -v file >/dev/null; then
    stage "$scratch/deb" -DCMAKE_INSTALL_PREFIX=/usr
    verdict "cpack makes packages" "$(cd "$scratch/deb" && said cpack -G DEB)"
    for package in "libheddle$abi" libheddle-dev heddle; do
        deb=$(find "$scratch/deb/packages" -maxdepth 1 -name "${package}_$version-1_*.deb")
        verdict "$package is made" "$([ -f "$deb" ] || echo "it is not")"
        [ -f "$deb" ] && dpkg-deb -x "$deb" "$scratch/$package" &&
            dpkg-deb -f "$deb" >"$scratch/$package.control"
    done
    while read -r package pattern; do
        verdict "$package has $pattern" "$(cd "$scratch/$package" && compgen -G "$pattern" >/dev/null ||
            echo "it has not")"
    done <<END
libheddle$abi usr/lib/*/libheddle.so.$abi
libheddle-dev usr/include/heddle.h
libheddle-dev usr/lib/*/libheddle.a
libheddle-dev usr/lib/*/libheddle.so
libheddle-dev usr/lib/*/pkgconfig/heddle.pc
libheddle-dev usr/lib/*/cmake/heddle/heddle-config.cmake
heddle usr/bin/heddle
heddle usr/share/man/man1/heddle.1.gz
heddle usr/share/bash-completion/completions/heddle
END
    verdict "the library depends on zlib" "$(grep -q '^Depends:.*zlib1g' "$scratch/libheddle$abi.control" ||
        { echo "control says:"; cat "$scratch/libheddle$abi.control"; })"
    verdict "development files need that library and no other's" \
        "$(grep -qx "Depends: libheddle$abi (= $version-1)" "$scratch/libheddle-dev.control" ||
            { echo "control says:"; cat "$scratch/libheddle-dev.control"; })"
    if [ -s "$build/d3-licence.txt" ]; then
        verdict "the command's copyright file has d3's" \
            "$(grep -q 'Mike Bostock' "$scratch/heddle/usr/share/doc/heddle/copyright" || echo "it has not")"
    fi
    if command -v lintian >/dev/null; then
        verdict "lintian finds no error" \
            "$(lintian --fail-on error "$scratch"/deb/packages/*.deb 2>&1 | grep '^E:')"
    fi
fi
told
