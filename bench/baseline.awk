# SPDX-License-Identifier: MIT
#
# awk -f bench/baseline.awk BASELINE RECORDS...: Heddle's csr_naive, csr_vector and csr_naive_t beside the plain kernels of the
# same idea, in microseconds with cold caches.  BASELINE has a line per matrix and type,
#   NAME f64 ROWS x COLS nnz N floor MS | ... scalar COLD/WARM vecW COLD/WARM sT COLD v8T COLD
# in the order of set:baseline; RECORDS are those of heddle bench.  A ratio is Heddle's time over the other: below 1 is faster.

# The value behind "key": in a record, without quotes.
function field(key,    at, rest) {
  at = index($0, "\"" key "\":")
  if (!at) return ""
  rest = substr($0, at + length(key) + 3)
  if (substr(rest, 1, 1) == "\"") { rest = substr(rest, 2); sub(/".*/, "", rest) } else sub(/[,}].*/, "", rest)
  return rest
}

# The cold time behind a word of the baseline's line, in microseconds.
function cold(word,    i, pair) {
  for (i = 1; i < NF; i++) if ($i ~ "^" word "$") { split($(i + 1), pair, "/"); return 1000 * pair[1] }
  return 0
}

/ floor [0-9.]+ \|/ {
  type = /(^| )f32 / ? "f32" : "f64"
  number = ++lines[type]
  match($0, /nnz +[0-9]+/); entries[number] = substr($0, RSTART + 3) + 0
  plain[number, type, "csr_naive"] = cold("scalar")
  plain[number, type, "csr_vector"] = cold("vec[0-9]+")
  plain[number, type, "csr_naive_t"] = cold("sT")
  next
}

/"record":"run"/ {
  name = field("matrix")
  if (!(name in order)) { order[name] = ++matrices; names[matrices] = name }
  if (field("verified") == "true") heddle[order[name], field("value"), field("kernel")] = 1000 * field("cold_ms")
  else wrong[order[name], field("value"), field("kernel")] = field("skipped") == "null" ? "WRONG" : "skipped"
  nonzeros[order[name]] = field("nnz")
}

END {
  split("csr_naive csr_vector csr_naive_t", kernels)
  printf "%-16s %-4s", "matrix", "type"
  for (k = 1; k <= 3; k++) printf "   %-11s %9s %6s", kernels[k], "plain us", "ratio"
  printf "\n"
  for (m = 1; m <= matrices; m++) for (t = 32; t <= 64; t += 32) {
    type = "f" t
    printf "%-16s %-4s", names[m], type
    for (k = 1; k <= 3; k++) {
      ours = heddle[m, type, kernels[k]]; theirs = plain[m, type, kernels[k]]
      if (!ours || !theirs) {
        printf "   %-11s %9.1f %6s", ((m, type, kernels[k]) in wrong) ? wrong[m, type, kernels[k]] : "-", theirs, "-"
        continue
      }
      printf "   %-11.1f %9.1f %6.3f", ours, theirs, ours / theirs
      logs[k] += log(ours / theirs); count[k]++
      if (ours / theirs > worst[k]) { worst[k] = ours / theirs; worst_at[k] = names[m] " " type }
    }
    off = entries[m] ? nonzeros[m] / entries[m] - 1 : 0
    note = (off > 0.01 || off < -0.01) ? sprintf("   nonzeros differ by %.1f %%", 100 * off) : ""
    print note
  }
  if (!count[1]) { print "there is nothing to compare"; exit 1 }
  for (k = 1; k <= 3; k++) if (count[k])
    printf "%s%s: geometric mean %.3f, worst %.3f (%s)", (k > 1) ? "; " : "", kernels[k], exp(logs[k] / count[k]), worst[k],
           worst_at[k]
  print ""
}
