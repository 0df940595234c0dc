/* SPDX-License-Identifier: MIT
 *
 * layout.h: what the arrays and dimensions of each format are called and hold.  Plain numbers, so that the
 * device half of a kernel page can include it in any dialect. */
#ifndef FORMAT_LAYOUT_H
#define FORMAT_LAYOUT_H

#include <stdint.h>

#define FORMAT_ARRAYS 8
#define FORMAT_DIMS 4

/* csr: row_ptr[rows+1] of the variant's `off`, col[nnz], val[nnz]; row i is [row_ptr[i], row_ptr[i+1]). */
enum { CSR_ROW_PTR, CSR_COL, CSR_VAL };

/* coo: row[nnz] ascending, col[nnz], val[nnz]. */
enum { COO_ROW, COO_COL, COO_VAL };

/* ell: col[width*rows], val[width*rows], entry j of row i at j*rows + i.  Behind the end of a row col is
 * -1 and val 0: the sign is what tells padding, so that no x is read for it and 0 * Inf never happens. */
enum { ELL_COL, ELL_VAL };
enum { ELL_WIDTH };

/* ellr (ELL-R): ell, and how many entries each row has, so that kernels stop there. */
enum { ELLR_COL = ELL_COL, ELLR_VAL = ELL_VAL, ELLR_LENGTH /* int32_t[rows] */ };
enum { ELLR_WIDTH = ELL_WIDTH };

/* hyb: the first `width` entries of every row as ell, the others as coo. */
enum { HYB_COL = ELL_COL, HYB_VAL = ELL_VAL, HYB_REST_ROW, HYB_REST_COL, HYB_REST_VAL };
enum { HYB_WIDTH = ELL_WIDTH, HYB_REST /* how many */ };

/* csr16: CSR whose rows are padded to whole units of 16 entries; row i is the units [first[i],
 * first[i+1]).  Padding as in ell: column -1, value 0. */
enum { CSR16_FIRST /* int32_t[rows+1] */, CSR16_COL, CSR16_VAL };
#define CSR16_UNIT 16

/* sell: rows are sorted by length within windows and cut into slices of `height`; each slice is an ELL of
 * its own.  Entry j of the slice's row r stands at slice_ptr[s] + j*height + r of val.  Its column stands
 * at the same place, counted from col_ptr[s], in one of two widths:
 *   base[s] >= 0   16 bits: column - base[s], for slices whose columns span less than 65,536;
 *   base[s] <  0   32 bits: the column itself, in two 16-bit words.
 * Padding holds column base[s] (or 0) and value 0; kernels stay within length and never multiply it. */
enum {
    SELL_SLICE_PTR, /* int64_t[slices+1]: in entries */
    SELL_COL_PTR,   /* int64_t[slices+1]: in 16-bit words */
    SELL_BASE,      /* int32_t[slices] */
    SELL_FULL,      /* int32_t[slices]: so many entries has every row of the slice */
    SELL_LENGTH,    /* int32_t[slices*height]: entries of each row, 0 behind the last row */
    SELL_ROW, /* int32_t[rows]: the row of A at each place; empty when SELL_SORTED is 0 (the identity) */
    SELL_COL, /* uint16_t[col_ptr[slices]] */
    SELL_VAL  /* [slice_ptr[slices]] */
};
enum { SELL_HEIGHT, SELL_WINDOW, SELL_SLICES, SELL_SORTED };

/* group: neighbouring rows with the same columns in the same order form a group, rows first[g] to
 * first[g+1], and have their columns stored once.  A group is done as bundles of up to four rows
 * (layout_bundle), and values stand in the order in which a bundle uses them: for each whole eight of its
 * columns row after row, then row after row what is left. */
enum {
    GROUP_FIRST,   /* int32_t[groups+1] */
    GROUP_VAL_PTR, /* int64_t[groups+1]: the values of group g are [val_ptr[g], val_ptr[g+1]) */
    GROUP_COL_PTR, /* int64_t[groups+1]: the columns of group g are [col_ptr[g], col_ptr[g+1]) */
    GROUP_COL,     /* int32_t[columns] */
    GROUP_VAL      /* [nnz] */
};
enum { GROUP_COUNT, GROUP_COLUMNS };

#define GROUP_CHUNK 8  /* columns */
#define GROUP_BUNDLE 4 /* rows */

/* How many of the rows that are left of a group to take next: 5 are 3 and 2, 6 are 3 and 3, not 4 and a
 * lonely one. */
static inline int layout_bundle(int left)
{
    return left < GROUP_BUNDLE ? left : left == 5 || left == 6 ? 3 : GROUP_BUNDLE;
}

/* tmpl: a row's template is the list of (column - row) of its entries, in their order.  Within windows of
 * TMPL_WINDOW rows those with one template are gathered, in ascending order, into slices of up to `height`
 * rows; a slice stores values alone, entry j of its row r at (val + j)*height + r, and all slices of a
 * template share its list.  Where fewer than TMPL_LEAST(height) rows would be left for a slice, and where
 * a row has no template to share, rows go to the rest, which is a CSR of its own. */
enum {
    TMPL_SLICE,    /* uint32_t[4*slices]: the members below */
    TMPL_ROW,      /* uint16_t[slices*height]: the row, counted from the slice's window; TMPL_OFF and the
                    * slice's first row where there is none, whose values are 0 */
    TMPL_OFFSET,   /* int32_t[offsets]: the lists, one behind the other; an empty one takes one place */
    TMPL_VAL,      /* [the lengths of all slices * height] */
    TMPL_REST_ROW, /* int32_t[rest] */
    TMPL_REST_PTR, /* int64_t[rest+1] */
    TMPL_REST_COL, /* int32_t[entries] */
    TMPL_REST_VAL  /* [entries] */
};
enum { TMPL_HEIGHT, TMPL_SLICES, TMPL_REST /* rows */, TMPL_ENTRIES /* of the rest */ };
enum { TMPL_AT_VAL, TMPL_AT_OFFSET, TMPL_AT_WINDOW /* its first row */, TMPL_AT_LENGTH, TMPL_MEMBERS };

/* tmplv: the same for rows that share their values as well: TMPL_VAL holds those of the lists, beside
 * TMPL_OFFSET, and slices store none. */

#define TMPL_WINDOW_BITS 13
#define TMPL_WINDOW (1 << TMPL_WINDOW_BITS)
#define TMPL_OFF 0x8000u
#define TMPL_LEAST(height) ((height) / 4)

/* Longer rows have no template; nor have matrices with more different ones, or longer lists in all.  The
 * last template's number is what a row without one has where rows are sorted. */
#define TMPL_LONGEST 2048
#define TMPL_DISTINCT (1 << 18)
#define TMPL_OFFSETS ((1 << (32 - TMPL_WINDOW_BITS)) - 1)

/* The bits of a value, of which only complex f64 has a high half. */
struct tmpl_bits {
    uint64_t low, high;
};

/* The hash of a template: these summed up over its entries, so that lanes may share a row, with the lowest
 * bit set. */
#define TMPL_SPREAD(place, offset)                                                                           \
    (((uint64_t)((place) + 1) << 32 | (uint32_t)(offset)) * UINT64_C(0x9e3779b97f4a7c15))
#define TMPL_SPREAD_VALUE(place, bits)                                                                       \
    (((bits).low + (bits).high * UINT64_C(0xff51afd7ed558ccd) +                                              \
      (uint64_t)((place) + 1) * UINT64_C(0xd6e8feb86659fd93)) *                                              \
     UINT64_C(0x94d049bb133111eb))
#define TMPL_MIX(spread) (((spread) ^ (spread) >> 29) * UINT64_C(0xbf58476d1ce4e5b9))

/* bundle: neighbouring rows with the same columns in the same order go together, up to four at a time
 * (layout_bundle), and have their columns stored once.  Within windows of BUNDLE_WINDOW rows bundles are
 * sorted by their rows and their length, and cut into slices of height/BUNDLE_LANES bundles with equally
 * many rows; each bundle has BUNDLE_LANES neighbouring lanes.  Entry j of a row is step j/BUNDLE_LANES of
 * lane j%BUNDLE_LANES: its column stands at col*height + step*height + lane, its value, for row r of d, at
 * (val + step*d + r)*height + lane.  Columns are 16 bits wide, counted from `base`, or 32, in two words
 * (base < 0), as in sell.  Padding holds column 0 and value 0; kernels stay within the length of the bundle
 * and never multiply it. */
enum {
    BUNDLE_SLICE, /* uint32_t[4*slices]: the members below */
    BUNDLE_ROW,   /* int32_t[2*slices*height/BUNDLE_LANES]: a bundle's first row, and how many entries its
                   * rows have; -1 and 0 for none */
    BUNDLE_COL,   /* uint16_t[] */
    BUNDLE_VAL    /* [] */
};
enum { BUNDLE_HEIGHT, BUNDLE_SLICES };
enum {
    BUNDLE_AT_VAL,
    BUNDLE_AT_COL,
    BUNDLE_AT_BASE /* as int32_t */,
    BUNDLE_AT_SHAPE /* steps, and the low 3 bits: rows */,
    BUNDLE_MEMBERS
};

#define BUNDLE_LANES 4
#define BUNDLE_MOST (INT32_MAX - 64) /* entries of a row */
#define BUNDLE_WINDOW 5040           /* rows: whole groups of 2 to 10 and 12 */
#define BUNDLE_STEPS(n) (((n) + BUNDLE_LANES - 1) / BUNDLE_LANES)

/* What bundles of a window are sorted by: rows, length (longer ones count as equal), place. */
#define BUNDLE_LONGEST 8191
#define BUNDLE_KEY(rows, n, place)                                                                           \
    ((uint32_t)(rows) << 26 |                                                                                \
     (uint32_t)(BUNDLE_LONGEST - ((n) < BUNDLE_LONGEST ? (n) : BUNDLE_LONGEST)) << 13 | (uint32_t)(place))

/* csr5: the entries, in the order of CSR, are cut into tiles of omega lanes (a wave's) times sigma
 * entries; within a tile entry s of lane l, the tile's entry l*sigma + s, stands at s*omega + l.  The last
 * tile is padded (column 0, value 0).  An entry is flagged when it is the first of its row, and the first
 * of a tile is taken for flagged in any case: the rows of a tile are counted by these flags. */
enum {
    CSR5_TILE_PTR,   /* uint32_t[tiles+1]: the row of the tile's first entry, with CSR5_GAPS where the tile's
                      * rows do not follow one upon another, because empty ones lie between; at the end
                      * `rows` */
    CSR5_DESCRIPTOR, /* uint32_t[tiles*omega]: see below */
    CSR5_EMPTY_OFFSET, /* int32_t[rows+tiles], none without empty rows: flag n of a tile t with gaps
                        * belongs to row r + this[r+t+n], r the tile's first row; 0 where nobody looks */
    CSR5_EMPTY, /* uint32_t[(rows+31)/32], none without empty rows: bit i%32 of word i/32 is set when row i
                 * is empty */
    CSR5_COL,   /* int32_t[tiles*omega*sigma] */
    CSR5_VAL    /* [tiles*omega*sigma] */
};
enum { CSR5_OMEGA, CSR5_SIGMA, CSR5_TILES, CSR5_EMPTY_ROWS };

#define CSR5_GAPS 0x80000000u

/* The descriptor of a lane: its entries' flags, bit s for entry s; how many flags the lanes before it
 * have; and how many lanes behind it follow that have none.  This is why sigma is 16 at most. */
#define CSR5_SIGMA_MOST 16
#define CSR5_FLAGS(d) ((d)&0xffffu)
#define CSR5_Y_OFFSET(d) ((int)((d) >> 16 & 0x3ffu))
#define CSR5_SEG_OFFSET(d) ((int)((d) >> 26))
#define CSR5_DESCRIBE(flags, y_offset, seg_offset)                                                           \
    ((uint32_t)(flags) | (uint32_t)(y_offset) << 16 | (uint32_t)(seg_offset) << 26)

#endif
