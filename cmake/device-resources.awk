# SPDX-License-Identifier: MIT
#
# Reads the assembly of a device binary, then the compiler's messages, and writes a line per kernel and
# architecture:
#   kernel variant target registers shared spills atomics
# spills: bytes a thread in local memory, registers that ran out or an array indexed at run time: they
# cost the same.
# atomics: how floating-point numbers are added to memory.  NVIDIA has an instruction for global memory; in
# shared memory the assembler makes a loop of it, whatever PTX says.  AMD's own assembly shows which it is.

# "csr_vector__f64_i32" is the kernel csr_vector.
function plain(symbol) { sub("__" variant "$", "", symbol); return symbol }
function note(kernel, what) { if (kernel != "") seen[kernel, what] = 1 }
function atomics(kernel,    hard, loop) {
  hard = (kernel, "hardware") in seen; loop = (kernel, "loop") in seen
  return hard && loop ? "both" : hard ? "hardware" : loop ? "loop" : "-"
}
function row(kernel, arch, registers, shared, spills) {
  print plain(kernel), variant, arch, registers, shared, spills, atomics(kernel)
}

# PTX
kind != "hip" && /\.entry / {
  match($0, /\.entry [A-Za-z0-9_$]+/); kernel = substr($0, RSTART + 7, RLENGTH - 7)
  kernels[++count] = kernel
}
kind != "hip" && /^[ \t]*(@%p[0-9]+ )?(atom|red)\./ {
  if ($0 ~ /\.cas\./ || ($0 ~ /\.shared.*\.add\.f(32|64)/)) note(kernel, "loop")
  else if ($0 ~ /\.add\.(noftz\.)?f/) note(kernel, "hardware")
}

# ptxas, in its own file after the PTX
kind == "nvcc" && /Compiling entry function/ { split($0, quoted, "'"); kernel = quoted[2]; arch = quoted[4] }
kind == "nvcc" && /bytes spill stores/ {
  match($0, /[0-9]+ bytes spill stores/); stored = substr($0, RSTART) + 0
  match($0, /[0-9]+ bytes stack frame/); frame = substr($0, RSTART) + 0
  spills = frame > stored ? frame : stored
}
kind == "nvcc" && /Used [0-9]+ registers/ {
  match($0, /Used [0-9]+/); registers = substr($0, RSTART + 5) + 0
  shared = match($0, /[0-9]+ bytes smem/) ? substr($0, RSTART) + 0 : 0
  row(kernel, arch, registers, shared, spills)
}

# AMD: instructions stand between a kernel's label and the end of its function; the metadata at the end has a
# list of kernels, the name of each in the middle of its entry.  Scalar registers that run out are kept in
# lanes of vector registers, which is no memory; those that find no lane are counted in the private segment.
kind == "hip" && /^[A-Za-z_][A-Za-z0-9_$]*:/ { kernel = $1; sub(":.*", "", kernel) }
kind == "hip" && /^\t(global|flat|buffer|ds)_/ {
  if ($1 ~ /cmpswap|cmpst/) note(kernel, "loop")
  else if ($1 ~ /atomic_(pk_)?add_f|^ds_add_(rtn_)?f/) note(kernel, "hardware")
}
kind == "hip" && /^amdhsa\.kernels:/ { listing = 1 }
kind == "hip" && listing && /^  - / { finish(); }
kind == "hip" && listing && /\.group_segment_fixed_size:/ { shared = $NF }
kind == "hip" && listing && /\.private_segment_fixed_size:/ { private = $NF }
kind == "hip" && listing && /^    \.name:/ { symbol = $NF } # deeper ones name arguments
kind == "hip" && listing && /\.vgpr_count:/ { registers = $NF }
kind == "hip" && listing && /\.vgpr_spill_count:/ { spills = 4 * $NF }
function finish() {
  if (symbol != "") row(symbol, target, registers, shared, spills > private ? spills : private)
  symbol = ""; shared = private = registers = spills = 0
}

END {
  if (kind == "hip") finish()
  if (kind == "ptx") for (i = 1; i <= count; i++) row(kernels[i], target, -1, -1, -1)
}
