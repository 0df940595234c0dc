# SPDX-License-Identifier: MIT
#
# drawings.py: what draw.py draws, a row of DRAWINGS a kernel: a title, panels, strips and notes.  A panel is
# a table: a line a step, a column a lane, waves divided by "|".  A cell tells what the lane does:
#
#   a        multiplies entry a with its x         =a+b   adds up            y0     writes an entry of y
#   a>0      multiplies a, adds it to y[0]         >0     adds its sum to y[0], atomically
#   a>0!     the same, together with another lane
#   x        padding that is read                  .      idle               -      nothing: the wave has left
#   :text    anything else; "_" is a blank
#
# The colours of the matrix follow from the panels: those of the lane that multiplies the entry.  A strip
# shows an array as it lies in memory, in the same colours.
THREADS2 = ["thread 0", "thread 1"]

NAIVE = [("step 1", "a . c h | i l . ."), ("2", "b . d . | j . . ."), ("3", ". . e . | k . . ."),
         ("4", ". . f . | . . . ."), ("5", ". . g . | . . . ."), ("write", "y0 y1 y2 y3 | y4 y5 . .")]
CLASSICAL = [("row 0, 1", "a b . . | . . . ."), ("add up", "=a+b . . . | =0 . . ."),
             ("write", "y0 . . . | y1 . . ."), ("row 2, 3", "c d e f | h . . ."), ("", "g . . . | . . . ."),
             ("add up", "=c…g . . . | =h . . ."),
             ("write", "y2 . . . | y3 . . ."), ("row 4, 5", "i j k . | l . . ."),
             ("add up", "=i…k . . . | =l . . ."), ("write", "y4 . . . | y5 . . .")]
BALANCE = [("step 1", "a b c d | h i j k"), ("runs", "=a+b . =c+d . | =h =i…k . ."),
           ("step 2", "e f g . | l . . ."),
           ("runs", "=c…g . . . | =l . . ."), ("write", "y0 y1 y2 . | y3 y4 y5 .")]
SEGMENTS = [("step 1", "a b c d | i j k l"), ("runs", "=a+b . =c+d . | =i…k . . =l"),
            ("add", ">0 . . . | >4 . . >5"),
            ("step 2", "e f g h | - - - -"), ("runs", "=c…g . . =h | - - - -"),
            ("add", ">2 . . >3 | - - - -")]


def brief(steps):
    return [s for s in steps if s[0] not in ("add up", "runs")]


DRAWINGS = {
    "csr_naive": {
        "title": "one thread a row",
        "panels": [{"steps": NAIVE}],
        "strips": [("val", "a b | c d e f g | h | i j k | l")],
        "notes": ["A wave takes as many steps as its longest row has entries: row 2 keeps three lanes "
                    "waiting.",
                  "Lanes that work side by side read entries that are a row apart: a, c, h."],
    },
    "csr_naive_t": {
        "title": "the transposed product, one thread a row, atomic additions",
        "panels": [{"cell": 46, "steps": [
            ("scale", "y0 y1 y2 y3 | y4 y5 . ."), ("step 1", "a>0! . c>0! h>3 | i>1 l>5 . ."),
            ("2", "b>3 . d>1 . | j>4 . . ."),
            ("3", ". . e>2 . | k>5 . . ."), ("4", ". . f>4 . | . . . ."), ("5", ". . g>5 . | . . . .")]}],
        "notes": ["y = beta y first, by a kernel of its own.  Then every entry is an atomic addition to the "
                    "y of its column.",
                  "Red: two lanes add to the same place at the same time; one of them waits."],
    },
    "csr_vector": {
        "title": "a group of lanes a row (here lanes=2)",
        "panels": [{"cell": 36, "steps": [
            ("step 1", "a b . . | c d h . | i j l ."), ("2", ". . . . | e f . . | k . . ."),
            ("3", ". . . . | g . . . | . . . ."), ("add up", "=a+b . =0 . | =c…g . =h . | =i…k . =l ."),
            ("write", "y0 . y1 . | y2 . y3 . | y4 . y5 .")]}],
        "strips": [("val", "a b | c d e f g | h | i j k | l")],
        "notes": ["The lanes of a group read neighbours, and add up by log2(lanes) exchanges at the end of "
                    "the row.",
                  "Half of a group is idle on a row of one entry; a wave waits for the longest of its rows."],
    },
    "csr_halfwarp": {
        "title": "half a wave a row, rows padded to half a wave (here 2 lanes, in truth 16)",
        "panels": [{"cell": 36, "steps": [
            ("step 1", "a b . . | c d h x | i j l x"), ("2", ". . . . | e f . . | k x . ."),
            ("3", ". . . . | g x . . | . . . ."), ("add up", "=a+b . =0 . | =c…g . =h . | =i…k . =l ."),
            ("write", "y0 . y1 . | y2 . y3 . | y4 . y5 .")]}],
        "strips": [("val", "a b | c d e f g x | h x | i j k x | l x")],
        "notes": ["Padding lets every row begin at an aligned place; it is read and never multiplied."],
    },
    "csr_classical": {
        "title": "a sub-wave a row, as wide as the longest row allows (5 entries: 4 lanes)",
        "panels": [{"steps": CLASSICAL}],
        "strips": [("val", "a b | c d e f g | h | i j k | l")],
        "notes": ["One longest row widens the sub-waves of all rows: most lanes are idle on the short ones.",
                  "A sub-wave that is done takes the row that is as many rows further on as there are "
                    "sub-waves."],
    },
    "csr_balance": {
        "title": "entries split evenly between waves, sums by segments",
        "panels": [{"steps": BALANCE}],
        "strips": [("val", "a b | c d e f g | | h | i j k | l")],
        "notes": ["A wave has a stretch of entries and rows, and adds up runs of the same row by a segmented "
                    "scan;",
                  "what it has of a row is carried on to the next step.  Its rows are written together.",
                  "Only a row that is longer than a share has several waves, which add to it atomically."],
    },
    "csr_ginkgo": {
        "title": "csr_classical or csr_balance, by two limits",
        "panels": [{"title": "neither limit is exceeded: csr_classical", "steps": brief(CLASSICAL)},
                   {"title": "too many entries, or too long a row: csr_balance", "steps": brief(BALANCE)}],
        "notes": ["Limits:  NVIDIA 1,000,000 entries or a row of 1,024;  AMD 100,000,000 entries or a row of "
                    "768."],
    },
    "csr_weave": {
        "title": "row blocks staged in shared memory, a lane a row (here two row blocks)",
        "panels": [{"cell": 44, "waves": ["block 0: rows 0 to 3", "block 1: rows 4 and 5"], "steps": [
            ("multiply", "a b c d | i j k l"), ("", "e f g h | . . . ."),
            ("stage", ":a,_e :b,_f :c,_g :d,_h | :i :j :k :l"), ("add up", "=a+b =0 =c…g =h | =i…k =l . ."),
            ("write", "y0 y1 y2 y3 | y4 y5 . .")]}],
        "strips": [("val", "a b c d e f g h | i j k l")],
        "notes": ["Cuts, made once, when the matrix is created: a block reads which rows and entries are its "
                    "own.  A row that is long for",
                  "its lanes is added up by the wave; a very long one has several blocks, and the last of "
                    "them adds up their sums."],
    },
    "csr_adaptive": {
        "title": "blocks of whole rows, staged in shared memory (here capacity 8, window 7)",
        "panels": [{"cell": 36,
                    "waves": [f"block {i}: {kind}" for i, kind in enumerate(["stream", "vector"] * 2)],
                    "steps": [
            ("multiply", "a b . . | c d e f | h i j k | l . . ."),
            ("", ". . . . | g . . . | . . . . | . . . ."),
            ("stage", ":a :b . . | . . . . | :h :i :j :k | . . . ."),
            ("add up", "=a+b =0 . . | =c…g . . . | =h =i…k . . | =l . . ."),
            ("write", "y0 y1 . . | y2 . . . | y3 y4 . . | y5 . . .")]}],
        "strips": [("val", "a b | c d e f g | h i j k | l")],
        "notes": ["Cuts, made once: where rows plus entries pass 7, 14, ...  Rows 0 to 2 begin in the first "
                    "window; row 2",
                  "does not fit beside the others and gets a block of its own.  A much longer row would get "
                    "several."],
    },
    "csr_merge": {
        "title": "the merge path of entries and row ends, in equal pieces (here 5 a lane)",
        "panels": [{"cell": 60, "steps": [
            ("step 1", "a d h :end_4"), ("2", "b e :end_3 l"), ("3", ":end_0 f i :end_5"),
            ("4", ":end_1 g j ."), ("5", "c :end_2 k ."),
            ("carry", "=c . =i…k ."), ("scan", ". =c…g . =i…k"), ("write", "y0,_y1 y2 y3 y4,_y5")]}],
        "strips": [("path", "a b 0 1 c | d e f g 2 | h 3 i j k | 4 l 5")],
        "notes": ["The path has a step for every entry and one for every end of a row (numbers): empty rows "
                    "count too.",
                  "A lane that ends inside a row hands what it has to the lane that meets the row's end; "
                    "between",
                  "blocks a small second kernel does the same, in a fixed order."],
    },
    "csr5": {
        "title": "tiles of 4 lanes x 3 entries, stored transposed",
        "panels": [{"cell": 62, "steps": [
            ("step 1", "a d g j"), ("2", "b e h k"), ("3", "c f i l"),
            ("flags", ":1_0_1 :0_0_0 :0_1_1 :0_0_1"),
            ("add up", "=a+b,_c =d…f =g,_h,_i =j+k,_l"), ("scan", ". . =c…g =i…k"),
            ("write", "y0 . y2,_y3 y4,_y5")]}],
        "strips": [("CSR", "a b | c d e f g | h | i j k | l"), ("CSR5", "a d g j | b e h k | c f i l")],
        "notes": ["A lane has consecutive entries; transposing the tile makes what the lanes read together "
                    "lie together.",
                  "A flag marks the first entry of a row.  Row 1 has none: empty rows are written apart."],
    },
    "csr_hola": {
        "title": "equal numbers of entries a lane (here 3), rows by bit masks",
        "panels": [{"cell": 66, "steps": [
            ("load 1", "a b c d"), ("2", "e f g h"), ("3", "i j k l"),
            ("transpose", ":a_b_c :d_e_f :g_h_i :j_k_l"),
            ("row ends", ":0_1_0 :0_0_0 :1_1_0 :0_1_1"), ("add up", "=a+b,_c =d…f =g,_h,_i =j+k,_l"),
            ("hand on", ". . =c…g =i…k"), ("buffer", "=row_0 . =rows_2,_3 =rows_4,_5"),
            ("write", "y0 . y2 y3"), ("", "y4 y5 . .")]}],
        "notes": ["Loads are coalesced; shuffles then give each lane consecutive entries.  A bit says where "
                    "a row ends, and",
                  "what a lane has of a row that it does not end is handed on.  Sums meet in a buffer in "
                    "shared memory, which",
                  "goes to y in order.  The kernel before, which finds where blocks begin, has dealt with "
                    "the empty row 1."],
    },
    "csr_hola_t": {
        "title": "the transposed product, equal numbers of entries a lane (here 3, sort=1)",
        "owner": "abc def ghi jkl",
        "panels": [{"cell": 66, "steps": [
            ("load 1", ":a :b :c :d"), ("2", ":e :f :g :h"), ("3", ":i :j :k :l"),
            ("transpose", ":a_b_c :d_e_f :g_h_i :j_k_l"),
            ("times", ":x0_x0_x2 :x2_x2_x2 :x2_x3_x4 :x4_x4_x5"), ("add 1", "a+c>0 d>1! i>1! j>4"),
            ("2", "b>3! e>2 h>3! k+l>5"), ("3", ". f>4 g>5 .")]}],
        "notes": ["The row bits say which x belongs to an entry.  A lane sorts its entries by column, "
                    "adds up what is in",
                  "the same one, and adds to y atomically.  Red: two lanes add to the same place; one of "
                    "them waits."],
    },
    "csr_fixed_t": {
        "title": "the transposed product, equal numbers of entries a lane (here 3), sums of integers",
        "owner": "abc def ghi jkl",
        "panels": [{"cell": 66, "steps": [
            ("load", ":a_b_c :d_e_f :g_h_i :j_k_l"), ("times", ":x0_x0_x2 :x2_x2_x2 :x2_x3_x4 :x4_x4_x5"),
            ("maxima of", ":y0_y3_y0 :y1_y2_y4 :y5_y3_y1 :y4_y5_y5"),
            ("load again", ":a_b_c :d_e_f :g_h_i :j_k_l"), ("integers", ":ABC :DEF :GHI :JKL"),
            ("add 1", "A>0 D>1 G>5 J>4"), ("2", "B>3! E>2 H>3! K>5"), ("3", "C>0 F>4 I>1 L>5"),
            ("write", "y0 y1 y2 y3"), ("", "y4 y5 . .")]}],
        "notes": ["A first kernel finds the largest exponent of every sum, a second turns each product (a "
                    "x0) into an integer (A)",
                  "at that scale and adds it atomically, a third turns the sums back.  Integers add up to "
                    "the same in any order."],
    },
    "coo_fixed": {
        "title": "one thread an entry, sums of integers",
        "panels": [{"cell": 44, "steps": [
            ("exponents", "a b c d | e f g h | i j k l"),
            ("integers", ":A :B :C :D | :E :F :G :H | :I :J :K :L"),
            ("add", "A>0! B>0! C>2! D>2! | E>2! F>2! G>2! H>3 | I>4! J>4! K>4! L>5"),
            ("write", "y0 y1 y2 y3 | y4 y5 . .")]}],
        "strips": [("row", "0 0 2 2 | 2 2 2 3 | 4 4 4 5"), ("val", "a b c d | e f g h | i j k l")],
        "notes": ["Three kernels: the largest exponent of every row, the products as integers (A) at that "
                    "scale added up, and",
                  "the sums turned back.  Integers add up to the same in any order, however long the queues "
                    "(red) are."],
    },
    "csr_weft": {
        "title": "the transposed product, by a cache of y in shared memory (here of row blocks with 8 "
                 "entries)",
        "owner": "ab cdefg h ijk l",
        "panels": [{"cell": 52, "waves": ["block 0: rows 0 to 3", "block 1: rows 4 and 5"], "steps": [
            ("step 1", "a b c d | i j k l"), ("2", "e f g h | . . . ."),
            ("add 1", "a+c>0 d>1 e>2 b+h>3 | i>1 j>4 k+l>5 ."), ("2", "f>4 g>5 . . | . . . .")]}],
        "strips": [("val", "a b | c d e f g | h | i j k | l"), ("row", "0 0 | 2 2 2 2 2 | 3 | 4 4 4 | 5")],
        "notes": ["Threads share out the entries of a row block, by a table of their rows.  Products are "
                    "added to a cache of y in",
                  "shared memory, and the cache to y when the block is through, neighbours by neighbours: "
                    "two blocks add to columns",
                  "1, 4 and 5, where every entry would have."],
    },
    "coo_atomic": {
        "title": "one thread an entry, atomic additions",
        "panels": [{"cell": 44, "steps": [
            ("step 1", "a>0! b>0! c>2! d>2! | e>2! f>2! g>2! h>3 | i>4! j>4! k>4! l>5")]}],
        "strips": [("row", "0 0 2 2 | 2 2 2 3 | 4 4 4 5"), ("val", "a b c d | e f g h | i j k l")],
        "notes": ["Perfectly balanced; but the entries of a row are neighbours: lanes of a wave queue up at "
                    "the same y (red)."],
    },
    "coo_balance": {
        "title": "entries split evenly between waves, sums by segments",
        "panels": [{"steps": SEGMENTS}],
        "strips": [("row", "0 0 2 2 | 2 2 2 3 | 4 4 4 5"), ("val", "a b c d | e f g h | i j k l")],
        "notes": ["A wave has a stretch of entries, whatever rows they are in, and adds up runs of the same "
                    "row by a segmented",
                  "scan; what it has of a row is carried on to the next step.  It adds to y once a row, "
                    "and y has been scaled",
                  "before.  Fewer waves make fewer additions, more waves hide more latency."],
    },
    "ell": {
        "title": "one thread a row of a padded matrix",
        "panels": [{"steps": [("step 1", "a x c h | i l . ."), ("2", "b x d x | j x . ."),
                              ("3", "x x e x | k x . ."),
                              ("4", "x x f x | x x . ."), ("5", "x x g x | x x . ."),
                              ("write", "y0 y1 y2 y3 | y4 y5 . .")]}],
        "strips": [("val", "a x c h i l | b x d x j x | x x e x k x | x x f x x x | x x g x x x")],
        "notes": ["The first entries of all rows stand together, then the second ones: lanes read "
                    "neighbours.",
                  "Every row is as long as the longest.  Padding has column -1: that is read, val and x are "
                    "not."],
    },
    "ellr": {
        "title": "one thread a row of a padded matrix, as far as the row goes",
        "panels": [{"steps": [("length", ":2 :0 :5 :1 | :3 :1 . .")] + NAIVE}],
        "strips": [("val", "a x c h i l | b x d x j x | x x e x k x | x x f x x x | x x g x x x")],
        "notes": ["As ell, but each lane knows the length of its row: padding is stored and never read.",
                  "A wave ends with its own longest row, not with that of the matrix: wave 1 takes three "
                    "steps."],
    },
    "ell_groups": {
        "title": "several groups of lanes share the rows of a padded matrix (here 2 groups)",
        "panels": [{"cell": 34, "waves": ["group 0", "group 1", "group 0", "group 1"],
                    "lanes": "row", "steps": [
            ("step 1", "a x c h | b x d x | i l . . | j x . ."),
            ("2", "x . e x | x . f . | k x . . | x . . ."), ("3", ". . g . | . . . . | x . . . | . . . ."),
            ("shared", "=a+b =0 =c…g =h | . . . . | =i…k =l . . | . . . ."),
            ("write", "y0 y1 y2 y3 | . . . . | y4 y5 . . | . . . .")]}],
        "strips": [("val", "a x c h i l | b x d x j x | x x e x k x | x x f x x x | x x g x x x")],
        "notes": ["Left, the block with rows 0 to 3; right, rows 4 and 5.  Group 0 takes places 0, 2, 4 of a "
                    "row, group 1",
                  "places 1, 3.  Lanes read neighbours, as in ell, and stop at the first padding.  The "
                    "groups' sums meet in",
                  "shared memory."],
    },
    "hyb": {
        "title": "a padded part for the usual rows, coordinates for the rest (here width 2)",
        "panels": [{"title": "ELL", "steps": [("step 1", "a x c h | i l . ."), ("2", "b x d x | j x . ."),
                                              ("write", "y0 y1 y2 y3 | y4 y5 . .")]},
                   {"title": "COO", "steps": [("step 1", "e f g k"), ("runs", "=e…g . . =k"),
                                              ("add", ">2 . . >4")]}],
        "strips": [("ELL", "a x c h i l | b x d x j x"), ("COO", "e f g k")],
        "notes": ["Four of six rows have at most two entries, so the ELL part has two places a row (two "
                    "thirds rule).",
                  "The rest goes to COO: the long row 2 no longer pads the others."],
    },
    "sell": {
        "title": "slices of a wave of rows, each as wide as its longest row",
        "panels": [{"waves": ["slice 0", "slice 1"], "steps": [
            ("row", ":2 :4 :0 :3 | :5 :1 . ."), ("step 1", "c i a h | l . . ."), ("2", "d j b . | - - - -"),
            ("3", "e k . . | - - - -"),
            ("4", "f . . . | - - - -"), ("5", "g . . . | - - - -"), ("write", "y2 y4 y0 y3 | y5 y1 . .")]}],
        "strips": [("val", "c i a h | d j b x | e k x x | f x x x | g x x x | | l x")],
        "notes": ["Rows are sorted by length within a window (here all six): the rows of a slice are alike, "
                    "padding is rare.",
                  "Within a slice, as ELL: lanes read neighbours.  Results go back to where their rows "
                    "were."],
    },
    "tmpl": {
        "title": "rows that look alike from the diagonal: values alone",
        "matrix": (["ab", "cde", "fgh", "ijk", "lmn", "op"], [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4],
                                                              [3, 4, 5], [4, 5]]),
        "panels": [{"title": "a slice: template -1 0 +1", "steps": [
            ("row", ":1 :2 :3 :4"), ("-1", "c f i l"), ("0", "d g j m"), ("+1", "e h k n"),
            ("write", "y1 y2 y3 y4")]},
                   {"title": "the rest, 2 lanes a row", "steps": [("step 1", "a b o p"),
                                                                  ("sum", "=a+b . =o+p ."),
                                                                 ("write", "y0 . y5 .")]}],
        "strips": [("val", "c f i l | d g j m | e h k n"), ("rest", "a b | o p")],
        "notes": ["Rows 1 to 4 have entries at -1, 0 and +1 from their diagonal: one list for all of them, "
                    "no columns.",
                  "Lanes read neighbouring values and neighbouring x.  Rows 0 and 5 share with nobody and "
                    "keep columns."],
    },
    "tmplv": {
        "title": "rows that look alike and have the same values: neither is read",
        "matrix": (["ab", "cde", "fgh", "ijk", "lmn", "op"], [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4],
                                                              [3, 4, 5], [4, 5]]),
        "panels": [{"title": "a slice: template -1 0 +1 with values c d e", "steps": [
            ("row", ":1 :2 :3 :4"), ("-1: c", "c f i l"), ("0: d", "d g j m"), ("+1: e", "e h k n"),
            ("write", "y1 y2 y3 y4")]},
                   {"title": "the rest, 2 lanes a row", "steps": [("step 1", "a b o p"),
                                                                  ("sum", "=a+b . =o+p ."),
                                                                 ("write", "y0 . y5 .")]}],
        "strips": [("list", "c d e"), ("rest", "a b | o p")],
        "notes": ["Here c = f = i = l, d = g = j = m and e = h = k = n: the template has them, for all of "
                    "its rows.",
                  "Only for plans whose values never change."],
    },
    "bundle": {
        "title": "rows with the same columns: columns once (here two lanes a bundle)",
        "matrix": (["abcd", "efgh", "ijk", "lmn", "opq", "r"], [[0, 1, 4, 5]] * 2 + [[1, 2, 3]] * 3 + [[5]]),
        "panels": [{"waves": ["rows 0, 1", "rows 2, 3, 4", "row 5"], "steps": [
            ("x", ":x0 :x1 | :x1 :x2 | :x5 ."), ("step 1", "a b | i j | r ."), ("", "e f | l m | . ."),
            ("", ". . | o p | . ."),
            ("x", ":x4 :x5 | :x3 . | . ."), ("step 2", "c d | k . | . ."), ("", "g h | n . | . ."),
            ("", ". . | q . | . ."), ("write", "y0 y1 | y2 y3 | y5 ."), ("", ". . | y4 . | . .")]}],
        "strips": [("col", "0 1 | 4 5 | | 1 2 | 3 x | | 5 x"),
                   ("val", "a b e f | c d g h | | i j l m o p | k x n x q x | | r x")],
        "notes": ["An entry of x is read once for all rows of the bundle.  The sums of a bundle's lanes are "
                    "added in the end.",
                  "In truth four lanes share a bundle, and a slice has eight bundles with equally many "
                    "rows."],
    },
    "cpu_csr": {
        "title": "rows in parts of equal work, running sums in vector lanes",
        "panels": [{"waves": THREADS2, "steps": [
            ("row 0, 2", "a b . . | c d e f"), ("", ". . . . | g . . ."), ("write", "y0 . . . | y2 . . ."),
            ("row 1, 3", ". . . . | h . . ."), ("write", "y1 . . . | y3 . . ."),
            ("row 4", "- - - - | i j k ."), ("write", "- - - - | y4 . . ."), ("row 5", "- - - - | l . . ."),
            ("write", "- - - - | y5 . . .")]}],
        "strips": [("val", "a b | c d e f g | h | i j k | l")],
        "notes": ["The middle of the 18 steps (an entry, or the end of a row) lies in row 2, and parts have "
                    "whole rows:",
                  "4 steps and 14.  One row decides, on so small a matrix.  Vectors have four lanes here, "
                    "eight in truth."],
    },
    "cpu_merge": {
        "title": "the merge path, cut into parts of equal length",
        "panels": [{"waves": THREADS2, "steps": [
            ("row 0, 2", "a b . . | y2 . . ."), ("write", "y0 . . . | - - - -"),
            ("row 1, 3", ". . . . | h . . ."),
            ("write", "y1 . . . | y3 . . ."), ("row 2, 4", "c d e f | i j k ."), ("", "g . . . | y4 . . ."),
            ("row 5", "- - - - | l . . ."),
            ("write", "- - - - | y5 . . ."), ("carry", ">2 . . . | - - - -")]}],
        "strips": [("path", "a b 0 1 c d e f g | 2 h 3 i j k 4 l 5")],
        "notes": ["Nine steps each, of entries and row ends (numbers).  Thread 0 stops before the end of row "
                    "2 and leaves",
                  "its sum behind; it is added to y when all are done, in the order of the parts."],
    },
    "cpu_csr_t": {
        "title": "the transposed product, each part into its own copy of y",
        "panels": [{"waves": ["thread 0: y", "thread 1: a copy"], "cell": 104, "steps": [
            ("step 1", "a>0 | h>3"), ("2", "b>3 | i>1"), ("3", "c>0 | j>4"), ("4", "d>1 | k>5"),
            ("5", "e>2 | l>5"), ("6", "f>4 | -"), ("7", "g>5 | -"), ("then", ":y_+=_copy | -")]}],
        "strips": [("path", "a b 0 1 c d e f g | 2 h 3 i j k 4 l 5")],
        "notes": ["Nobody adds to what another part adds to, so there are no atomics.  Copies are zeroed and "
                    "added back",
                  "in pages of 4,096 entries, and only those that were touched."],
    },
    "csr_mm": {
        "title": "several vectors at once: lanes along the vectors",
        "panels": [{"waves": ["two groups of two lanes"], "steps": [
            ("row 0, 1", "a a . ."), ("", "b b . ."), ("write", "y0 y0 y1 y1"), ("row 2, 3", "c c h h"),
            ("", "d d . ."), ("", "e e . ."), ("", "f f . ."), ("", "g g . ."), ("write", "y2 y2 y3 y3"),
            ("row 4, 5", "i i l l"), ("", "j j . ."), ("", "k k . ."), ("write", "y4 y4 y5 y5")]}],
        "strips": [("val", "a b | c d e f g | h | i j k | l")],
        "notes": ["Two lanes have an entry together, each for its own vectors (up to 16 bytes of them).  A "
                    "group reads as many",
                  "entries as it has lanes and hands them round.  Rows that are long for a group are left to "
                    "the whole block."],
    },
    "csr_mm_t": {
        "title": "several vectors at once, transposed: additions to neighbours",
        "panels": [{"waves": ["two groups of two lanes"], "cell": 56, "steps": [
            ("row 0, 1", "a>0 a>0 . ."), ("", "b>3 b>3 . ."), ("row 2, 3", "c>0 c>0 h>3 h>3"),
            ("", "d>1 d>1 . ."),
            ("", "e>2 e>2 . ."), ("", "f>4 f>4 . ."), ("", "g>5 g>5 . ."), ("row 4, 5", "i>1 i>1 l>5 l>5"),
            ("", "j>4 j>4 . ."),
            ("", "k>5 k>5 . .")]}],
        "strips": [("val", "a b | c d e f g | h | i j k | l")],
        "notes": ["Two vectors, one in each lane: the two additions of an entry go to numbers of Y that lie "
                    "side by side."],
    },
    "cpu_csr_mm": {
        "title": "several vectors at once: a vector in each lane",
        "panels": [{"waves": THREADS2, "steps": [
            ("row 0, 2", "a a a a | y2 y2 y2 y2"), ("", "b b b b | - - - -"),
            ("write", "y0 y0 y0 y0 | - - - -"),
            ("row 1, 3", "y1 y1 y1 y1 | h h h h"), ("write", ". . . . | y3 y3 y3 y3"),
            ("row 2, 4", "c c c c | i i i i"),
            ("", "d d d d | j j j j"), ("", "e e e e | k k k k"), ("", "f f f f | y4 y4 y4 y4"),
            ("row 5", "g g g g | l l l l"),
            ("write", ". . . . | y5 y5 y5 y5"), ("carry", ">2 >2 >2 >2 | - - - -")]}],
        "strips": [("path", "a b 0 1 c d e f g | 2 h 3 i j k 4 l 5")],
        "notes": ["Four vectors, one in each lane: an entry is loaded once, and multiplied with four numbers "
                    "of X that lie",
                  "side by side.  The parts are those of cpu_merge.  In truth a tile has up to 32 vectors."],
    },
    "cpu_csr_mm_t": {
        "title": "several vectors at once, transposed: an entry adds to cache lines",
        "panels": [{"waves": ["owns Y[0..1]", "owns Y[2..5]"], "cell": 104, "steps": [
            ("step 1", "a>0 | h>3"), ("2", "b>3 | i>1"), ("3", "c>0 | j>4"), ("4", "d>1 | k>5"),
            ("5", "e>2 | l>5"),
            ("6", "f>4 | -"),
            ("7", "g>5 | -"), ("then", ":Y_+=_copy | :Y_+=_copy")]}],
        "strips": [("path", "a b 0 1 c d e f g | 2 h 3 i j k 4 l 5")],
        "notes": ["As cpu_csr_t, but each addition is to a row of Y: as many vectors as four cache lines of "
                    "64 bytes have numbers.",
                  "Where the vectors of Y lie apart, all is added to copies."],
    },
    "cpu_coo": {
        "title": "entries in parts of equal number",
        "panels": [{"waves": THREADS2, "cell": 80, "steps": [
            ("step 1", "a | g"), ("2", "b | h"), ("", "y0,_y1 | y3"), ("3", "c | i"), ("4", "d | j"),
            ("5", "e | k"),
            ("", "- | y4"),
            ("6", "f | l"), ("", "y2 | y5"), ("then", "- | >2")]}],
        "strips": [("row", "0 0 2 2 2 2 | 2 3 4 4 4 5"), ("val", "a b c d e f | g h i j k l")],
        "notes": ["Six entries each.  A part stores the rows that begin in it, and the empty rows between "
                    "them (y1).",
                  "Thread 1 begins inside row 2: g is summed apart and added when all are done."],
    },
    "cpu_ell": {
        "title": "blocks of rows, column by column",
        "panels": [{"waves": THREADS2, "lanes": "row", "steps": [
            ("step 1", "a x c | h i l"), ("2", "b x d | x j x"), ("3", "x x e | x k x"),
            ("4", "x x f | x x x"),
            ("5", "x x g | x x x"), ("write", "y0 y1 y2 | y3 y4 y5")]}],
        "strips": [("val", "a x c h i l | b x d x j x | x x e x k x | x x f x x x | x x g x x x")],
        "notes": ["Equal numbers of rows.  The sums of a block of rows stay in the first cache; padding is "
                    "read as well."],
    },
    "cpu_sell": {
        "title": "a row in each vector lane, slices as wide as their longest row",
        "panels": [{"waves": ["slice 0", "slice 1"], "steps": [
            ("row", ":2 :4 :0 :3 | :5 :1 . ."), ("step 1", "c i a h | l x . ."), ("2", "d j b x | - - - -"),
            ("3", "e k x x | - - - -"),
            ("4", "f x x x | - - - -"), ("5", "g x x x | - - - -"), ("write", "y2 y4 y0 y3 | y5 y1 . .")]}],
        "strips": [("val", "c i a h | d j b x | e k x x | f x x x | g x x x | | l x")],
        "notes": ["Rows are sorted by length within a window (here all six).  No sum across lanes, no row "
                    "end to mispredict.",
                  "Padding is multiplied and thrown away.  Vectors have four lanes in the drawing, eight in "
                    "truth."],
    },
    "cpu_tmpl": {
        "title": "rows that look alike from the diagonal, a row in each vector lane",
        "matrix": (["ab", "cde", "fgh", "ijk", "lmn", "op"], [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4],
                                                              [3, 4, 5], [4, 5]]),
        "panels": [{"title": "a slice: template -1 0 +1", "steps": [
            ("row", ":1 :2 :3 :4"), ("-1", "c f i l"), ("0", "d g j m"), ("+1", "e h k n"),
            ("write", "y1 y2 y3 y4")]},
                   {"title": "the rest, as CSR", "steps": [("row 0", "a b . ."), ("row 5", "o p . ."),
                                                           ("write", "y0 y5 . .")]}],
        "strips": [("val", "c f i l | d g j m | e h k n"), ("rest", "a b | o p")],
        "notes": ["Rows 1 to 4 follow one upon another, and so do their x: four of them with one load, "
                    "at -1, 0 and +1.",
                  "Rows 0 and 5 share with nobody and keep columns.  Vectors have four lanes here, eight in "
                    "truth."],
    },
    "cpu_group": {
        "title": "up to four rows with the same columns at a time",
        "matrix": (["abcd", "efgh", "ijk", "lmn", "opq", "r"], [[0, 1, 4, 5]] * 2 + [[1, 2, 3]] * 3 + [[5]]),
        "panels": [{"waves": ["group 0: rows 0, 1", "group 1: rows 2 to 4"], "steps": [
            ("gather", ":x0 :x1 :x4 :x5 | :x1 :x2 :x3 ."), ("row 0, 2", "a b c d | i j k ."),
            ("row 1, 3", "e f g h | l m n ."),
            ("row 4", "- - - - | o p q ."), ("add up", "=a…d =e…h . . | =i…k =l…n =o…q ."),
            ("write", "y0 y1 . . | y2 y3 y4 .")]}],
        "strips": [("col", "0 1 4 5 | 1 2 3 | 5"), ("val", "a b c d e f g h | i j k l m n o p q | r")],
        "notes": ["Another matrix: the rows of the small one share no columns, and the format refuses it.  "
                    "Row 5 is a group",
                  "of its own.  The columns of a group are stored once, and x is gathered once for all of "
                    "its rows."],
    },
}
