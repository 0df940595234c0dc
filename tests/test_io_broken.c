/* SPDX-License-Identifier: MIT
 *
 * Broken files: each gets one clear line with the place, and nothing else happens. */
#include "test_io.h"

#define REAL "%%MatrixMarket matrix coordinate real general\n"
#define KIND(format, field, symmetry) "%%MatrixMarket matrix " format " " field " " symmetry "\n"

static const struct {
    const char *what, *contents;
    heddle_status status;
    const char *says;
} broken[] = {
    {"empty file", "", HEDDLE_BAD_FILE, "the file is empty"},
    {"no banner", "3 3 1\n1 1 1\n", HEDDLE_BAD_FILE, ":1: the first line does not begin with %%MatrixMarket"},
    {"misspelt banner", "%%MatrixMarkt matrix coordinate real general\n1 1 1\n1 1 1\n", HEDDLE_BAD_FILE,
     ":1: the first line"},
    {"banner only", REAL, HEDDLE_BAD_FILE, ":1: the file ends before the size line"},
    {"comments only", REAL "% a\n% b\n", HEDDLE_BAD_FILE, ":3: the file ends before the size line"},
    {"short banner", "%%MatrixMarket matrix coordinate\n1 1 0\n", HEDDLE_BAD_FILE,
     ":1: the banner has 2 words"},
    {"long banner", "%%MatrixMarket matrix coordinate real general extra\n1 1 0\n", HEDDLE_BAD_FILE,
     ":1: the banner has 5"},
    {"not a matrix", "%%MatrixMarket vector coordinate real general\n1 1 0\n", HEDDLE_BAD_FILE,
     "holds a 'vector'"},
    {"unknown format", KIND("sparse", "real", "general"), HEDDLE_BAD_FILE, ":1: 'sparse' is not a format"},
    {"unknown field", KIND("coordinate", "float", "general"), HEDDLE_BAD_FILE,
     "(expected real, double, integer"},
    {"unknown symmetry", KIND("coordinate", "real", "unsymmetric"), HEDDLE_BAD_FILE,
     ":1: 'unsymmetric' is not a symmetry"},
    {"pattern array", KIND("array", "pattern", "general") "1 1\n", HEDDLE_BAD_FILE,
     "a pattern has no values"},
    {"skew pattern", KIND("coordinate", "pattern", "skew-symmetric") "1 1 0\n", HEDDLE_BAD_FILE,
     "cannot be skew-symmetric"},
    {"two sizes", REAL "3 3\n1 1 1\n", HEDDLE_BAD_FILE,
     ":2: the size line has 2 numbers, expected 3: rows columns entries"},
    {"three sizes of an array", KIND("array", "real", "general") "1 1 1\n1\n", HEDDLE_BAD_FILE,
     "expected 2: rows columns"},
    {"sizes that are words", REAL "three 3 1\n", HEDDLE_BAD_FILE,
     ":2: expected the number of rows, found 'three'"},
    {"negative size", REAL "3 -3 1\n1 1 1\n", HEDDLE_BAD_FILE,
     ":2: expected the number of columns, found '-3'"},
    {"size with a point", REAL "3 3 1.5\n", HEDDLE_BAD_FILE,
     ":2: expected the number of entries, found '1.5'"},
    {"rows over the limit", REAL "2147483648 3 1\n1 1 1\n", HEDDLE_BAD_FILE,
     ":2: 2147483648 rows are too many"},
    {"sizes that overflow", REAL "3 99999999999999999999999 1\n", HEDDLE_BAD_FILE, "columns are too many"},
    {"entries that overflow", REAL "3 3 9223372036854775808\n1 1 1\n", HEDDLE_BAD_FILE,
     ":2: 9223372036854775808 entries"},
    {"far more entries announced", REAL "3 3 281474976710655\n1 1 1\n", HEDDLE_BAD_FILE,
     ":3: the file ends after 1 of 281474976710655 entries"},
    {"huge array with one value", KIND("array", "real", "general") "2147483647 2147483647\n1\n",
     HEDDLE_BAD_FILE, "the file ends after 1 of"},
    {"symmetric rectangle", KIND("coordinate", "real", "symmetric") "3 4 1\n1 1 1\n", HEDDLE_BAD_FILE,
     ":2: a 3 x 4 matrix cannot be symmetric"},
    {"too few entries", REAL "3 3 3\n1 1 1\n2 2 2\n\n", HEDDLE_BAD_FILE,
     ":5: the file ends after 2 of 3 entries"},
    {"too many entries", REAL "3 3 1\n1 1 1\n2 2 2\n", HEDDLE_BAD_FILE,
     ":4: an entry too many: the size line announces 1"},
    {"entries where none should be", REAL "3 3 0\n1 1 1\n", HEDDLE_BAD_FILE, ":3: an entry too many"},
    {"row 0", REAL "3 3 1\n0 1 1\n", HEDDLE_BAD_FILE, ":3: row 0 is outside 1..3"},
    {"row too large", REAL "3 3 1\n4 1 1\n", HEDDLE_BAD_FILE, ":3: row 4 is outside 1..3"},
    {"column too large", REAL "3 3 2\n1 1 1\n1 62452 1\n", HEDDLE_BAD_FILE,
     ":4: column 62452 is outside 1..3"},
    {"negative column", REAL "3 3 1\n1 -1 1\n", HEDDLE_BAD_FILE, ":3: column -1 is outside 1..3"},
    {"column that overflows", REAL "3 3 1\n1 18446744073709551617 1\n", HEDDLE_BAD_FILE,
     "column 18446744073709551617 is outside"},
    {"entry in a matrix without columns", REAL "3 0 1\n1 1 1\n", HEDDLE_BAD_FILE,
     ":3: column '1' in a matrix that has none"},
    {"row that is a word", REAL "3 3 1\na 1 1\n", HEDDLE_BAD_FILE, ":3: expected a row number, found 'a'"},
    {"row with a point", REAL "3 3 1\n1.0 1 1\n", HEDDLE_BAD_FILE, ":3: expected a row number, found '1.0'"},
    {"missing column", REAL "3 3 1\n1\n", HEDDLE_BAD_FILE,
     ":3: expected a column number, found the end of the line"},
    {"glued column", REAL "3 3 1\n1 1-5\n", HEDDLE_BAD_FILE, ":3: expected a column number, found '1-5'"},
    {"missing value", REAL "3 3 1\n1 1\n", HEDDLE_BAD_FILE,
     ":3: expected a number, found the end of the line"},
    {"value that is a word", REAL "3 3 1\n1 1 x\n", HEDDLE_BAD_FILE, ":3: expected a number, found 'x'"},
    {"decimal comma", REAL "3 3 1\n1 1 1,5\n", HEDDLE_BAD_FILE,
     ":3: expected the end of the line, found ',5'"},
    {"Fortran exponent", REAL "3 3 1\n1 1 1.0D5\n", HEDDLE_BAD_FILE, "found 'D5'"},
    {"value of a pattern", KIND("coordinate", "pattern", "general") "3 3 1\n1 1 1\n", HEDDLE_BAD_FILE,
     ":3: expected the end of the line, found '1'"},
    {"two entries in a line", REAL "3 3 2\n1 1 1 2 2 2\n", HEDDLE_BAD_FILE,
     ":3: expected the end of the line, found '2'"},
    {"half of an integer", KIND("coordinate", "integer", "general") "3 3 1\n1 1 1.5\n", HEDDLE_BAD_FILE,
     ":3: the value '1.5' is not an integer"},
    {"diagonal of a skew matrix", KIND("coordinate", "real", "skew-symmetric") "3 3 1\n2 2 1\n",
     HEDDLE_BAD_FILE, ":3: entry (2, 2) lies on the diagonal"},
    {"complex without imaginary part", KIND("coordinate", "complex", "general") "3 3 1\n1 1 1\n",
     HEDDLE_BAD_FILE, ":3: expected a number, found the end of the line"},
    {"skew diagonal of complex numbers", KIND("coordinate", "complex", "skew-symmetric") "3 3 1\n1 1 1 2\n",
     HEDDLE_BAD_FILE, ":3: entry (1, 1) lies on the diagonal"},
    {"cut off in a line", REAL "3 3 2\n1 1 1\n2 2", HEDDLE_BAD_FILE, ":4: expected a number"},
    {"page feed", REAL "3 3 1\n\f1 1 1\n", HEDDLE_BAD_FILE, ":3: expected a row number, found '?1'"},
};

TEST(broken_matrix_market_files_are_refused_with_place_and_reason)
{
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s.mtx", broken[i].what);
        CHECK_REFUSED(test_file(name, broken[i].contents), broken[i].status, broken[i].says);
    }
}

TEST(an_early_error_wins_over_an_entry_too_many)
{
    CHECK_REFUSED(test_file("a.mtx", REAL "3 3 1\n1 x 1\n2 2 2\n3 3 3\n"), HEDDLE_BAD_FILE,
                  ":3: expected a column");
}

TEST(nul_bytes_and_binary_garbage_are_refused)
{
    static const char nul[] = REAL "3 3 2\n1 1 1\n2 2\0 2\n", nul_line[] = REAL "3 3 1\n\0\n1 1 1\n";
    CHECK_REFUSED(bytes_file("nul.mtx", nul, sizeof nul - 1), HEDDLE_BAD_FILE,
                  ":4: expected a column number, found '2?'");
    CHECK_REFUSED(bytes_file("nul2.mtx", nul_line, sizeof nul_line - 1), HEDDLE_BAD_FILE,
                  ":3: expected a row number, found '?'");
    uint64_t state = 5;
    char garbage[5000];
    for (int round = 0; round < 50; round++) {
        for (size_t i = 0; i < sizeof garbage; i++)
            garbage[i] = (char)test_random(&state);
        garbage[0] = 'g';
        CHECK_REFUSED(bytes_file("garbage.bin", garbage, sizeof garbage), HEDDLE_BAD_FILE,
                      "garbage.bin:1: this is no matrix file");
        CHECK_REFUSED(bytes_file("garbage.mtx", garbage, sizeof garbage), HEDDLE_BAD_FILE,
                      "garbage.mtx:1: the first line");
        memcpy(garbage, REAL "9 9 9\n", sizeof REAL + 5);
        CHECK_REFUSED(bytes_file("half.mtx", garbage, sizeof garbage), HEDDLE_BAD_FILE, "half.mtx:");
    }
}

TEST(very_long_lines_do_no_harm)
{
    size_t size = 1 << 20;
    char *text = malloc(size + 1);
    memset(text, '7', size);
    text[size] = 0;
    memcpy(text, REAL "3 3 1\n1 1 ", sizeof REAL + 9);
    CHECK_REFUSED(test_file("long.mtx", text), HEDDLE_BAD_FILE, ":3: expected a number, found '777");
    memset(text + sizeof REAL + 9, '%', size - sizeof REAL - 9);
    CHECK_REFUSED(test_file("long.mtx", text), HEDDLE_BAD_FILE, ":3: expected a number, found '%%%%");
    memset(text + sizeof REAL + 9, ' ', size - sizeof REAL - 9);
    CHECK_REFUSED(test_file("long.mtx", text), HEDDLE_BAD_FILE,
                  ":3: expected a number, found the end of the line");
    free(text);
}

TEST(files_that_cannot_be_opened_say_why)
{
    CHECK_REFUSED(test_path("missing.mtx"), HEDDLE_FILE_ERROR, "missing.mtx: cannot open: No such file");
    test_file("x", "x");
    char folder[512];
    snprintf(folder, sizeof folder, "%s", test_path(""));
    CHECK_REFUSED(folder, HEDDLE_FILE_ERROR, "is a directory");
}

static const struct {
    const char *what, *contents;
    heddle_status status;
    const char *says;
} boeing[] = {
    {"title only", "title\n", HEDDLE_BAD_FILE, ":1: the file ends inside its header"},
    {"no counts", "title\nabc\nrua 1 1 1\n(1I3)(1I3)(1E9.2)\n", HEDDLE_BAD_FILE,
     ":2: expected the number of lines"},
    {"bad type", "title\n3 1 1 1 0\nxua 1 1 1 0\n(1I3)(1I3)(1E9.2)\n", HEDDLE_BAD_FILE,
     ":3: expected a matrix type"},
    {"no sizes", "title\n3 1 1 1 0\nrua 1 1\n(1I3)(1I3)(1E9.2)\n", HEDDLE_BAD_FILE,
     ":3: expected a matrix type"},
    {"half of a complex number", "title\n3 1 1 1 0\ncua 1 1 1 0\n(2I3)(1I3)(1E9.2)\n  1  2\n  1\n 1.00E+00\n",
     HEDDLE_BAD_FILE, ""},
    {"elements", "title\n3 1 1 1 0\nrse 1 1 1 0\n(1I3)(1I3)(1E9.2)\n", HEDDLE_NOT_SUPPORTED,
     ":3: unassembled"},
    {"too large", "title\n3 1 1 1 0\nrua 2147483648 1 1 0\n(1I3)(1I3)(1E9.2)\n", HEDDLE_BAD_FILE,
     ":3: 2147483648 x 1"},
    {"symmetric rectangle", "title\n3 1 1 1 0\nrsa 2 1 1 0\n(1I3)(1I3)(1E9.2)\n", HEDDLE_BAD_FILE,
     ":3: a 2 x 1 matrix"},
    {"values missing", "title\n2 1 1 0 0\nrua 1 1 1 0\n(1I3)(1I3)\n  1  2\n  1\n", HEDDLE_BAD_FILE,
     ":2: type rua needs values"},
    {"no formats", "title\n3 1 1 1 0\nrua 1 1 1 0\nnone\n", HEDDLE_BAD_FILE,
     ":4: expected two integer formats"},
    {"real pointers", "title\n3 1 1 1 0\nrua 1 1 1 0\n(2E3.1)(1I3)(1E9.2)\n", HEDDLE_BAD_FILE,
     ":4: expected two integer"},
    {"free format", "title\n3 1 1 1 0\nrua 1 1 1 0\n(*)(*)(*)\n", HEDDLE_BAD_FILE,
     ":4: expected two integer formats"},
    {"open format", "title\n3 1 1 1 0\nrua 1 1 1 0\n(2I3)(1I3)(1E9.2\n", HEDDLE_BAD_FILE,
     ":4: expected a format for the values"},
    {"width 0", "title\n3 1 1 1 0\nrua 1 1 1 0\n(2I0)(1I3)(1E9.2)\n", HEDDLE_BAD_FILE,
     ":4: expected two integer formats"},
    {"no data", "title\n3 1 1 1 0\nrua 1 1 1 0\n(2I3)(1I3)(1E9.2)\n", HEDDLE_BAD_FILE,
     ":4: the file ends where a column pointer"},
    {"pointer a word", "title\n3 1 1 1 0\nrua 1 1 1 0\n(2I3)(1I3)(1E9.2)\n  1  x\n", HEDDLE_BAD_FILE,
     ":5: expected a column pointer, found 'x'"},
    {"pointer blank", "title\n3 1 1 1 0\nrua 1 1 1 0\n(2I3)(1I3)(1E9.2)\n     1\n", HEDDLE_BAD_FILE,
     ":5: expected a column pointer, found blanks"},
    {"pointer too large", "title\n3 1 1 1 0\nrua 1 1 1 0\n(2I3)(1I3)(1E9.2)\n  1  3\n", HEDDLE_BAD_FILE,
     ":5: column pointer 3 is outside 1..2"},
    {"pointers decrease", "title\n3 1 1 1 0\nrua 2 2 1 0\n(3I3)(1I3)(1E9.2)\n  1  2  1\n", HEDDLE_BAD_FILE,
     ":5: column pointer 1 is outside 2..2"},
    {"pointers end early", "title\n3 1 1 1 0\nrua 1 1 1 0\n(2I3)(1I3)(1E9.2)\n  1  1\n", HEDDLE_BAD_FILE,
     ":5: the column pointers run from 1 to 1, expected 1 to 2"},
    {"row out of range", "title\n3 1 1 1 0\nrua 1 1 1 0\n(2I3)(1I3)(1E9.2)\n  1  2\n  2\n", HEDDLE_BAD_FILE,
     ":6: row 2 is outside 1..1"},
    {"negative row", "title\n3 1 1 1 0\nrua 1 1 1 0\n(2I3)(1I3)(1E9.2)\n  1  2\n -1\n", HEDDLE_BAD_FILE,
     ":6: expected a row, found '-1'"},
    {"value a word", "title\n3 1 1 1 0\nrua 1 1 1 0\n(2I3)(1I3)(1E9.2)\n  1  2\n  1\n   hello \n",
     HEDDLE_BAD_FILE, ":7: expected a value, found 'hello'"},
    {"value missing", "title\n3 1 1 1 0\nrua 1 1 1 0\n(2I3)(1I3)(1E9.2)\n  1  2\n  1\n", HEDDLE_BAD_FILE,
     ":6: the file ends where a value"},
    {"skew diagonal", "title\n3 1 1 1 0\nrza 1 1 1 0\n(2I3)(1I3)(1E9.2)\n  1  2\n  1\n1.0\n", HEDDLE_BAD_FILE,
     "entry (1, 1) lies on the diagonal"},
    {"many columns announced", "title\n3 1 1 1 0\nrua 1 2147483647 1 0\n(2I3)(1I3)(1E9.2)\n  1  2\n",
     HEDDLE_BAD_FILE, ":5: the file ends where a column pointer"},
};

TEST(broken_rutherford_boeing_files_are_refused_with_place_and_reason)
{
    for (size_t i = 0; i < sizeof boeing / sizeof boeing[0]; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s.rb", boeing[i].what);
        CHECK_REFUSED(test_file(name, boeing[i].contents), boeing[i].status, boeing[i].says);
    }
}

static const struct {
    const char *contents;
    heddle_status status;
    const char *says;
} vectors[] = {
    {"1 2 x\n", HEDDLE_BAD_FILE, "v.txt:1: expected a number, found 'x'"},
    {"1\n2\n3,5\n", HEDDLE_BAD_FILE, "v.txt:3: expected a number, found '3,5'"},
    {"# nothing\n", HEDDLE_BAD_FILE, "there is no number"},
    {KIND("array", "real", "general") "2 2\n1\n2\n3\n4\n", HEDDLE_BAD_FILE, "a 2 x 2 matrix is not a vector"},
    {KIND("array", "real", "general") "2 1\n1\n", HEDDLE_BAD_FILE, "v.txt:3: the file ends after 1 of 2"},
    {KIND("coordinate", "real", "general") "2147483647 1 1\n1 1 1\n", HEDDLE_NO_MEMORY,
     "more than this machine has"},
};

TEST(broken_vectors_are_refused)
{
    struct io_tuning before = io_tuning;
    io_tuning.memory = 1 << 20;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        void *x;
        int64_t n;
        CHECK_FAILS(vector_read(&x, &n, HEDDLE_F64, test_file("v.txt", vectors[i].contents)),
                    vectors[i].status, vectors[i].says);
        CHECK(!x && n == 0);
    }
    void *x;
    int64_t n;
    CHECK_FAILS(vector_read(&x, &n, HEDDLE_F64, test_path("none.txt")), HEDDLE_FILE_ERROR, "cannot open");
    io_tuning = before;
}
