/* SPDX-License-Identifier: MIT
 *
 * layout.h: what the arrays and dimensions of each format are called and hold.  Plain numbers, so that the device half
 * of a kernel page can include it in any dialect. */
#ifndef FORMAT_LAYOUT_H
#define FORMAT_LAYOUT_H

#define FORMAT_ARRAYS 8
#define FORMAT_DIMS 4

/* csr: row_ptr[rows+1] of the variant's `off`, col[nnz], val[nnz]; row i is [row_ptr[i], row_ptr[i+1]). */
enum { CSR_ROW_PTR, CSR_COL, CSR_VAL };

/* coo: row[nnz] ascending, col[nnz], val[nnz]. */
enum { COO_ROW, COO_COL, COO_VAL };

/* ell: col[width*rows], val[width*rows], entry j of row i at j*rows + i.  Behind the end of a row col is -1 and val 0:
 * the sign is what tells padding, so that no x is read for it and 0 * Inf never happens. */
enum { ELL_COL, ELL_VAL };
enum { ELL_WIDTH };

/* sell: rows are sorted by length within windows and cut into slices of `height`; each slice is an ELL of its own.
 * Entry j of the slice's row r stands at slice_ptr[s] + j*height + r of val.  Its column stands at the same place,
 * counted from col_ptr[s], in one of two widths:
 *   base[s] >= 0   16 bits: column - base[s], for slices whose columns span less than 65,536;
 *   base[s] <  0   32 bits: the column itself, in two 16-bit words.
 * Padding holds column base[s] (or 0) and value 0; kernels stay within length and never multiply it. */
enum {
    SELL_SLICE_PTR, /* int64_t[slices+1]: in entries */
    SELL_COL_PTR,   /* int64_t[slices+1]: in 16-bit words */
    SELL_BASE,      /* int32_t[slices] */
    SELL_FULL,      /* int32_t[slices]: so many entries has every row of the slice */
    SELL_LENGTH,    /* int32_t[slices*height]: entries of each row, 0 behind the last row */
    SELL_ROW,       /* int32_t[rows]: the row of A at each place; empty when SELL_SORTED is 0 (the identity) */
    SELL_COL,       /* uint16_t[col_ptr[slices]] */
    SELL_VAL        /* [slice_ptr[slices]] */
};
enum { SELL_HEIGHT, SELL_WINDOW, SELL_SLICES, SELL_SORTED };

#endif
