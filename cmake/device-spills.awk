# SPDX-License-Identifier: MIT
#
# device-spills.awk ACCEPTED ROWS: fails when a row has a spill that no line
# "KERNEL VARIANT TARGET # reason" accepts.
function covers(pattern, word) { gsub(/\*/, ".*", pattern); return word ~ ("^" pattern "$") }
FILENAME == ARGV[1] {
  sub(/#.*/, "")
  if (NF >= 3) { kernel[++n] = $1; variant[n] = $2; target[n] = $3 }
  next
}
$6 > 0 {
  good = 0
  for (i = 1; i <= n; i++)
    good = good || (covers(kernel[i], $1) && covers(variant[i], $2) && covers(target[i], $3))
  if (!good) {
    bad = 1
    print page ": " $1 " for " $2 " spills " $6 " bytes a thread on " $3 \
      " (src/kernel/spills.accepted could allow it)"
  }
}
END { exit bad }
