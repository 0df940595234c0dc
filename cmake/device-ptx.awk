# SPDX-License-Identifier: MIT
#
# awk -v short=FILE -f device-ptx.awk IN >OUT: PTX without what only people need, its registers numbered as they appear.
#
# A compiler numbers registers as it goes, so that the same steps of two kernels are never the same text; and nothing depends
# on the numbers.  FILE gets the text as the library packs it, a third of the size once compressed (src/gpu/pack.c reads it):
# a register that appears for the first time is "%rd", the last new one is "%rd-0", the one before "%rd-1", and what lies
# further back has its number.  A register is what .reg declares ("%rd<320>"), which also starts its numbers again.
BEGIN { NEAR = 32 }
{
  sub(/\/\/.*/, "")
  gsub(/^[ \t]+|[ \t\r]+$/, "")
  if ($0 == "") next
  rest = $0; line = ""; brief = ""
  while (match(rest, /%[a-z]+[0-9<]+/)) {
    token = substr(rest, RSTART, RLENGTH); line = line substr(rest, 1, RSTART - 1); brief = brief substr(rest, 1, RSTART - 1)
    rest = substr(rest, RSTART + RLENGTH)
    match(token, /^%[a-z]+/); kind = substr(token, 1, RLENGTH); number = substr(token, RLENGTH + 1)
    coded = token
    if (number ~ /^</) {
      generation[kind]++; last[kind] = 0
    } else if (kind in generation) {
      key = token " " generation[kind]
      if (!(key in name)) {
        name[key] = ++last[kind]; coded = kind
      } else if (last[kind] - name[key] <= NEAR) {
        coded = kind "-" (last[kind] - name[key])
      } else {
        coded = kind name[key]
      }
      token = kind name[key]
    }
    line = line token; brief = brief coded
  }
  print line rest
  print brief rest >short
}
