#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run.sh BUILD [TREE]: the packages in a new Debian.  Makes them from what BUILD has, lays out Debian 12 by
# debootstrap (or takes a copy of TREE, which holds one), installs them by dpkg -i, and compiles the README's
# example and a C++ project in every way that a user may: inside.sh.  Needs root and the network; says so and
# passes where they are not there.
set -u
build=$(realpath "$1") tree=${2:-}
source=$(realpath "$(dirname "$0")/../..")
here=$source/tests
. "$here/stage.bash"
if [ "$(id -u)" -ne 0 ] || ! { [ -n "$tree" ] || command -v debootstrap >/dev/null; } ||
    ! command -v dpkg-shlibdeps >/dev/null; then
    echo "tests/fresh: not run: it needs root, debootstrap and dpkg-dev"
    exit 0
fi
scratch=$(mktemp -d)
root=$scratch/root
mounted=()
finish() {
    local folder
    for folder in "${mounted[@]}"; do umount "$folder"; done
    rm -rf --one-file-system "$scratch"
}
trap finish EXIT

stage "$scratch/deb" -DCMAKE_INSTALL_PREFIX=/usr || exit 1
(cd "$scratch/deb" && cpack -G DEB >"$scratch/cpack.log" 2>&1) || { cat "$scratch/cpack.log"; exit 1; }
if [ -n "$tree" ]; then
    cp -a "$tree" "$root"
else
    debootstrap --variant=minbase bookworm "$root" >"$scratch/debootstrap.log" 2>&1 ||
        { tail "$scratch/debootstrap.log"; exit 1; }
fi
mkdir -p "$root/heddle"
cp "$scratch"/deb/packages/*.deb "$source/README.md" "$here/fresh/inside.sh" "$here/verdict.bash" \
    "$root/heddle"
cp -r "$here/consumer" "$root/heddle"
mount -t proc proc "$root/proc" && mounted+=("$root/proc")
cp /etc/resolv.conf "$root/etc/resolv.conf"
chroot "$root" bash /heddle/inside.sh
