#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# kernels.def is the only registration: what lists kernels elsewhere (the documents and their drawings,
# predictions, scripts) lists those, all of them where it should.
set -u
source=$(cd "$2" && pwd)
. "$source/tests/verdict.bash"
cd "$source" || exit 2
mapfile -t all < <(sed -nE 's/^KERNEL\(([a-z0-9_]+), [a-z_]+, [a-z]+\).*/\1/p' src/kernel/kernels.def)
mapfile -t gpu < <(sed -nE 's/^KERNEL\(([a-z0-9_]+), gpu[a-z_]*, [a-z]+\).*/\1/p' src/kernel/kernels.def)
verdict "there are kernels" \
  "$([ "${#all[@]}" -gt 25 ] && [ "${#gpu[@]}" -gt 20 ] || echo "${#all[@]}, ${#gpu[@]} of them for GPUs")"

# missing FILE PATTERN: the kernels, of those on standard input, that no line of the file has; @ stands for
# the name
missing() {
  local name
  while read -r name; do
    grep -qE -- "${2//@/$name}" "$1" || echo "$name"
  done | paste -sd' '
}
verdict "kernels.md lists every kernel" \
  "$(printf '%s\n' "${all[@]}" | missing docs/kernels.md '^\| \[@\]\(kernels/@\.md\) ')"
verdict "kernels.md lists no others" \
  "$(grep -oP '^\| \[\K[a-z0-9_]+' docs/kernels.md | grep -vxF -f <(printf '%s\n' "${all[@]}") |
    paste -sd' ')"
verdict "every kernel has its page and its drawing" \
  "$(for name in "${all[@]}"; do [ -f "docs/kernels/$name.md" ] && [ -f "docs/kernels/$name.svg" ] ||
    echo "$name"; done | paste -sd' ')"
verdict "every kernel is drawn" \
  "$(printf '%s\n' "${all[@]}" | missing docs/kernels/drawings.py '^ *"@": |^[A-Z]+\["@"\]')"
verdict "predictions know every kernel of GPUs" \
  "$(printf '%s\n' "${gpu[@]}" | missing src/plan/predict.c '\[KERNEL_@\] = ')"
verdict "every page has its own number" \
  "$(for name in "${all[@]}"; do grep -q "\.id = KERNEL_$name,$" "$(find src/kernel -name "$name.c")" ||
    echo "$name"; done | paste -sd' ')"
named=$(sed -nE '/^(CONVERTED|DERIVED|ADDS|IMMEDIATE) = /p' bench/plans.py | grep -oE '"[a-z0-9_]{3,}"' |
  tr -d '"'
  sed -nE "/^SERVED = /,/\}/p" tests/mutate | grep -oE "'[a-z0-9_ ]+'[,}]" | tr -d "'," | tr ' }' '\n\n')
verdict "scripts name kernels that there are" \
  "$(grep . <<<"$named" | sort -u | grep -vxF -f <(printf '%s\n' "${all[@]}") | paste -sd' ')"
verdict "scripts name some" "$([ "$(grep -c . <<<"$named")" -gt 20 ] || echo "only: $named")"
told
