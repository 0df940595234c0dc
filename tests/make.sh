#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# `make install`, `make build` and `make deb` install nothing from the network, whoever runs them, and say
# what compiling the kernels will take.
set -u
source=$(realpath "$2")
. "$source/tests/verdict.bash"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$source" || exit 2

for target in build install deb bench; do
    asked=$(make -n "$target" | grep 'scripts/setup' | grep -v -- 'setup --no-install')
    verdict "make $target only names what is missing" "$asked"
    verdict "make $target looks for what is missing" \
        "$(make -n "$target" | grep -q 'scripts/setup' || echo "it does not")"
done

# A root on a machine that has no cmake and no headers: apt-get leaves a trace.
mkdir "$scratch/bin"
for name in bash env sed grep cut id find cat; do ln -s "$(command -v "$name")" "$scratch/bin/$name"; done
printf '#!/bin/sh\necho "$@" >>%s\n' "$scratch/apt" >"$scratch/bin/apt-get"
printf '#!/bin/sh\necho 0\n' >"$scratch/id" && rm "$scratch/bin/id" && mv "$scratch/id" "$scratch/bin/id"
chmod +x "$scratch/bin/apt-get" "$scratch/bin/id"
if PATH=$scratch/bin bash scripts/setup --no-install build report >"$scratch/said" 2>&1; then
    problem="it goes on without cmake"
fi
verdict "what is missing ends the build" "${problem:-}"
verdict "nothing was installed" "$(cat "$scratch/apt" 2>/dev/null)"
verdict "the line to run is said" \
    "$(grep -q 'apt-get install -y .*cmake' "$scratch/said" || cat "$scratch/said")"

# A machine with an nvcc, at the size of a large install.
printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/nvcc" && chmod +x "$scratch/bin/nvcc"
configure() {
    cmake -S . -B "$scratch/build" -DHEDDLE_TESTS=OFF -DHEDDLE_HIP_COMPILER=none \
        "-DHEDDLE_CUDA_ARCH=70;75;80;86;90;100;120" "$@" 2>&1 >/dev/null
}
notice=$(configure -DHEDDLE_CUDA_COMPILER=nvcc -DHEDDLE_NVCC="$scratch/bin/nvcc")
count=$(grep -oP 'Kernels for GPUs: \K[0-9]+' <<<"$notice")
listed=$(tr ';' '\n' <"$scratch/build/device/resources.list" | grep -c .)
if [ "$(nproc)" -le 16 ]; then # more finish within a minute or two, and nothing need be said
    verdict "how many kernels" \
        "$([ "${count:-0}" -eq "$listed" ] || echo "$listed are compiled; said: $notice")"
    verdict "how long it takes" "$(grep -q 'about [0-9]* minutes on [0-9]* cores' <<<"$notice" ||
        echo "said: $notice")"
    verdict "what is offered" "$(grep -q 'ARCHS=native' <<<"$notice" || echo "said: $notice")"
fi
tr ';' '\n' <"$scratch/build/device/resources.list" | xargs touch
verdict "what is there already is not counted" "$(configure | grep 'Kernels for GPUs')"
configure "-DHEDDLE_CUDA_ARCH=sm_90;90" -DHEDDLE_CUDA_COMPILER=nvcc >/dev/null
verdict "sm_90 is 90" "$(tr ';' '\n' <"$scratch/build/device/resources.list" | sort |
    awk '!/[.]sm_90[.]cubin/ || $0 == before; { before = $0 }')"
verdict "what is no architecture is refused" \
    "$(configure -DHEDDLE_CUDA_ARCH=hopper | grep -q "'hopper' is not an architecture" || echo "it is taken")"
verdict "ARCHS=native asks for this machine's" \
    "$(make -n install ARCHS=native | grep -E 'CUDA_ARCH=80|HIP_COMPILER=auto.*ARCH=gfx')"
verdict "an unknown ARCHS is refused" "$(make -n install ARCHS=sm_90 >/dev/null 2>&1 && echo "it is taken")"
told
