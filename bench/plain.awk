# SPDX-License-Identifier: MIT
#
# awk -f bench/plain.awk BASELINE RECORDS...: heddle_mv beside the plain sub-warp kernel of the baseline, in
# microseconds with cold caches.  BASELINE has the lines that bench/baseline.awk describes, RECORDS are those
# of heddle bench with kernel auto.  Where a matrix is timed several times, the median counts.

# The value behind "key": in a record, without quotes.
function field(key,    rest) {
  rest = substr($0, index($0, "\"" key "\":") + length(key) + 3)
  if (sub(/^"/, "", rest)) sub(/".*/, "", rest); else sub(/[,}].*/, "", rest)
  return rest
}

# Puts a time among those before, in order.
function put(who, name, type, time,    key, i) {
  key = who SUBSEP name SUBSEP type
  for (i = ++times[key]; i > 1 && sorted[key, i - 1] > time; i--) sorted[key, i] = sorted[key, i - 1]
  sorted[key, i] = time
}

function median(who, name, type,    key) {
  key = who SUBSEP name SUBSEP type
  return sorted[key, int((times[key] + 1) / 2)]
}

/ floor [0-9.]+ \|/ {
  for (i = 1; i < NF; i++) if ($i ~ /^vec[0-9]+$/) put("plain", $1, $2, 1000 * $(i + 1))
}

/"record":"run"/ && field("op") == "N" && field("kernel") == "auto" {
  name = field("matrix")
  if (!(name in nonzeros)) names[++matrices] = name
  nonzeros[name] = field("nnz")
  if (field("verified") == "true") put("auto", name, field("value"), 1000 * field("cold_ms"))
}

END {
  printf "%-36s %9s   %6s %6s %6s   %6s %6s %6s\n", "matrix", "nonzeros", "f32", "plain", "ratio",
         "f64", "plain", "ratio"
  for (m = 1; m <= matrices; m++) {
    printf "%-36s %9d", names[m], nonzeros[names[m]]
    for (bits = 32; bits <= 64; bits += 32) {
      ours = median("auto", names[m], "f" bits); theirs = median("plain", names[m], "f" bits)
      if (!ours || !theirs) { printf "   %6s %6s %6s", "-", "-", "-"; missing++; continue }
      printf "   %6.1f %6.1f %6.3f", ours, theirs, ours / theirs
      logs += log(ours / theirs); count++
      if (ours > 1.1 * theirs) over++
    }
    printf "\n"
  }
  if (count)
    printf "geometric mean of the ratio %.3f; of %d times %d are beyond 1.1 of the plain kernel's, %s\n",
           exp(logs / count), count, over, (missing + 0) " are missing"
  exit !count || missing > 0
}
