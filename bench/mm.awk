# SPDX-License-Identifier: MIT
#
# mm.awk: geometric means of what bench/mm.cu prints: how many times as fast heddle_mm is as the best of
# cuSPARSE.
{
  ratio = log($7 / $6)
  keys[1] = $3 " " $4 " " $2 " k=" $5; keys[2] = $3 " " $4 " " $2; keys[3] = $3; keys[4] = $3 " matrix " $1
  for (i in keys) { sum[keys[i]] += ratio; count[keys[i]]++ }
  wrong += $9 == "wrong"
}
END {
  for (key in sum)
    printf "%-40s %6.2f\n", key, exp(sum[key] / count[key]) | "sort"
  close("sort")
  if (wrong)
    print wrong " results are wrong"
}
