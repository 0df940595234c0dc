# SPDX-License-Identifier: MIT
#
# awk -f bench/baseline.awk BASELINE RECORDS...: two tables, in microseconds with cold caches.
#
# The first has Heddle's csr_naive, csr_vector and csr_naive_t beside the plain kernels of the same idea;
# csr_vector has the number of lanes that is best for the matrix, as the plain kernel has (its number in
# parentheses).  The second has cuSPARSE as heddle bench times it beside the same calls as the baseline times
# them.  A ratio is the time of heddle bench over the other.
#
# BASELINE has a line per matrix and type, in the order of set:baseline; COLD and WARM are milliseconds:
#   NAME f64 ROWS x COLS nnz N floor MS | cs1 COLD/WARM ... coo1T COLD/WARM scalar COLD/WARM vecW COLD/WARM
#   sT COLD/WARM, in one line
# It may hold several runs, one behind the other, each of which begins with the bandwidth: the median of each
# time counts, and of transposed products the least, because heddle bench looks for a good place of y, too.
# RECORDS are those of heddle bench; where several files have the same product, the median counts as well.

# The value behind "key": in a record, without quotes.
function field(key,    at, rest) {
  at = index($0, "\"" key "\":")
  if (!at) return ""
  rest = substr($0, at + length(key) + 3)
  if (substr(rest, 1, 1) == "\"") { rest = substr(rest, 2); sub(/".*/, "", rest) }
  else sub(/[,}].*/, "", rest)
  return rest
}

# The times behind a word of the baseline's line, in microseconds.
function take(kernel, word,    i, pair, which) {
  for (i = 1; i < NF; i++) if ($i ~ "^" word "$") {
    split($(i + 1), pair, "/")
    which = SUBSEP number SUBSEP type SUBSEP kernel
    theirs["cold" which] = among("cold" which, 1000 * pair[1], kernel ~ /T$|_t$/)
    theirs["warm" which] = among("warm" which, 1000 * pair[2], kernel ~ /T$|_t$/)
  }
}

# Puts a time among those of the runs before, in order, and tells their median, or the least of them.
function among(key, time, least_of,    i) {
  for (i = ++times[key]; i > 1 && sorted[key, i - 1] > time; i--) sorted[key, i] = sorted[key, i - 1]
  sorted[key, i] = time
  return sorted[key, least_of ? 1 : int((times[key] + 1) / 2)]
}

/^read bandwidth/ { delete lines }

# Adds a pair of times to a column's mean and tells their ratio; 0: one of them is missing.
function compare(column, state, m, type, kernel,    a, b, r) {
  a = ours[state, m, type, kernel]; b = theirs[state, m, type, kernel]
  if (!a || !b) return 0
  r = a / b
  logs[column] += log(r); count[column]++
  if (r > 1.1) slower[column]++
  if (r < 1 / 1.1) faster[column]++
  if (r > worst[column]) { worst[column] = r; worst_at[column] = names[m] " " type }
  if (!(column in least) || r < least[column]) { least[column] = r; least_at[column] = names[m] " " type }
  return r
}

function summary(column) {
  return !count[column] ? "nothing to compare" : \
    sprintf("geometric mean %.3f, least %.3f (%s), most %.3f (%s); " \
            "of %d %d are slower by more than 10 %% and %d faster", exp(logs[column] / count[column]), \
            least[column], least_at[column], worst[column], worst_at[column], \
            count[column], slower[column], faster[column])
}

/ floor [0-9.]+ \|/ {
  type = /(^| )f32 / ? "f32" : "f64"
  number = ++lines[type]
  match($0, /nnz +[0-9]+/); entries[number] = substr($0, RSTART + 3) + 0
  take("csr_naive", "scalar"); take("csr_vector", "vec[0-9]+"); take("csr_naive_t", "sT")
  theirs["cold", number, type, "by itself"] = theirs["cold", number, type, "csr_vector"]
  take("csr_alg1 N", "cs1"); take("csr_alg2 N", "cs2"); take("coo_alg1 N", "coo1"); take("coo_alg2 N", "coo2")
  take("csr_alg1 T", "cs1T"); take("coo_alg1 T", "coo1T")
  match($0, / vec[0-9]+ /); plain_lanes[number, type] = substr($0, RSTART + 4) + 0
  next
}

/"record":"run"/ {
  name = field("matrix"); type = field("value"); kernel = field("kernel"); lanes = ""
  if (!(name in order)) { order[name] = ++matrices; names[matrices] = name }
  m = order[name]
  nonzeros[m] = field("nnz")
  if (kernel == "csr_vector") kernel = "by itself"
  if (kernel ~ /^csr_vector:lanes=/) { lanes = substr(kernel, 18) + 0; kernel = "csr_vector" }
  if (sub(/^cusparse:/, "", kernel)) kernel = kernel " " field("op")
  if (field("verified") != "true") {
    wrong[m, type, kernel] = field("skipped") == "null" ? "WRONG" : "skipped"
    next
  }
  key = m SUBSEP type SUBSEP kernel
  if (lanes && (FILENAME, key) in cold && cold[FILENAME, key] <= 1000 * field("cold_ms")) next
  files[FILENAME] = keys[key] = 1
  cold[FILENAME, key] = 1000 * field("cold_ms")
  warm[FILENAME, key] = 1000 * field("warm_ms")
  best_lanes[m, type] = lanes ? lanes : best_lanes[m, type]
}

END {
  for (file in files) for (key in keys) if ((file, key) in cold) {
    ours["cold", key] = among("our cold" SUBSEP key, cold[file, key], 0)
    ours["warm", key] = among("our warm" SUBSEP key, warm[file, key], 0)
  }
  heddles = split("csr_naive,csr_vector,csr_naive_t", kernel_of, ",")
  printf "%-16s %-4s   %-9s %8s %6s   %-10s %8s %6s   %-7s   %-11s %8s %6s\n", "matrix", "type",
         "csr_naive", "plain", "ratio",
         "csr_vector", "plain", "ratio", "lanes", "csr_naive_t", "plain", "ratio"
  for (m = 1; m <= matrices; m++) for (t = 32; t <= 64; t += 32) {
    type = "f" t
    printf "%-16s %-4s", names[m], type
    for (k = 1; k <= heddles; k++) {
      kernel = kernel_of[k]; r = compare(kernel, "cold", m, type, kernel)
      wide = length(kernel)
      if (r) printf "   %-*.1f %8.1f %6.3f", wide, ours["cold", m, type, kernel],
                    theirs["cold", m, type, kernel], r
      else printf "   %-*s %8.1f %6s", wide, ((m, type, kernel) in wrong) ? wrong[m, type, kernel] : "-",
                  theirs["cold", m, type, kernel], "-"
      if (kernel == "csr_vector") printf "   %2d (%2d)", best_lanes[m, type], plain_lanes[m, type]
    }
    compare("by itself", "cold", m, type, "by itself")
    off = entries[m] ? nonzeros[m] / entries[m] - 1 : 0
    print (off > 0.01 || off < -0.01) ? sprintf("   nonzeros differ by %.1f %%", 100 * off) : ""
  }
  peers = split("csr_alg1 N,csr_alg2 N,coo_alg1 N,coo_alg2 N,csr_alg1 T,coo_alg1 T", peer, ",")
  printf "\ncuSPARSE by heddle bench, and its ratio to the baseline's time\n%-16s %-4s", "matrix", "type"
  for (k = 1; k <= peers; k++) printf "   %10s %6s", peer[k], "ratio"
  print ""
  for (m = 1; m <= matrices; m++) for (t = 32; t <= 64; t += 32) {
    type = "f" t
    printf "%-16s %-4s", names[m], type
    for (k = 1; k <= peers; k++) {
      r = compare(peer[k], "cold", m, type, peer[k])
      compare("warm " peer[k], "warm", m, type, peer[k])
      if (r) {
        printf "   %10.1f %6.3f", ours["cold", m, type, peer[k]], r
        compare("all", "cold", m, type, peer[k])
      }
      else printf "   %10s %6s", "-", "-"
      compare("warm all", "warm", m, type, peer[k])
    }
    print ""
  }
  print ""
  for (k = 1; k <= peers; k++) printf "cuSPARSE %s: %s\n", peer[k], summary(peer[k])
  for (k = 1; k <= peers; k++) printf "cuSPARSE %s, warm: %s\n", peer[k], summary("warm " peer[k])
  printf "cuSPARSE, all: %s\ncuSPARSE, all, warm: %s\n", summary("all"), summary("warm all")
  for (k = 1; k <= heddles; k++) printf "%s: %s\n", kernel_of[k], summary(kernel_of[k])
  printf "csr_vector, its own choice of lanes: %s\n", summary("by itself")
  if (!count["csr_naive"]) exit 1
}
