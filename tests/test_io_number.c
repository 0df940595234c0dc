/* SPDX-License-Identifier: MIT */
#include <locale.h>
#include <math.h>

#include "io/number.h"
#include "test_io.h"

/* number_read of a whole text, or NULL. */
static int reads(const char *text, double *value)
{
    char line[2048];
    int n = snprintf(line, sizeof line, "%s\n", text);
    return number_read(line, line + n, value) == line + n - 1;
}

static void check_as_strtod(const char *text)
{
    double value = 0, expected = strtod(text, NULL);
    CHECK_THAT(reads(text, &value) && memcmp(&value, &expected, sizeof value) == 0,
               "'%s' reads as %.17g, strtod says %.17g", text, value, expected);
}

TEST(every_spelling_that_strtod_takes_reads_the_same)
{
    static const char *const texts[] = {"0",
                                        "-0",
                                        "+1",
                                        "1.",
                                        ".5",
                                        "-.5e1",
                                        "1e5",
                                        "1E+5",
                                        "1e-5",
                                        "0x1p3",
                                        "0X1.8p-2",
                                        "inf",
                                        "-Infinity",
                                        "INF",
                                        "1e308",
                                        "1.7976931348623157e308",
                                        "1e309",
                                        "-1e400",
                                        "1e-308",
                                        "4.9e-324",
                                        "2.4703282292062327e-324",
                                        "1e-400",
                                        "2.2250738585072011e-308",
                                        "9007199254740993",
                                        "9007199254740992.5",
                                        "9007199254740993.0000000000000000000001",
                                        "1.00000000000000011102230246251565404236316680908203125",
                                        "123456789012345678901234567890",
                                        "1e99999999999999999999",
                                        "0.000000000000000000000000000000000000000000000000001",
                                        "00000000000000000000000000000001.5",
                                        "1e-99999999999",
                                        "6929495644600919.5",
                                        "3.1415926535897932384626433832795",
                                        "1e22",
                                        "1e23",
                                        "123456789.12345678e-30",
                                        "1e101",
                                        "1.5e-103",
                                        "0e500000000",
                                        "7.2057594037927933e16",
                                        "1.2345678901234567890123456789e-250"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        check_as_strtod(texts[i]);
    double value;
    CHECK(reads("nan", &value) && isnan(value));
    CHECK(reads("NaN(7)", &value) && isnan(value));
}

/* w 10^q where that has 54 bits, the last of which is set: as far as such a w fits into 64 bits. */
TEST(ties_between_two_doubles_go_to_the_even_one)
{
    uint64_t state = 3, five = 1;
    for (int q = 0; q <= 23; q++, five *= 5)
        for (int i = 0; i < 60; i++) {
            const uint64_t bits = test_random(&state) >> 10 | UINT64_C(1) << 53 | 1;
            char text[64];
            snprintf(text, sizeof text, "%llue%d", (unsigned long long)(bits / five | 1) << i % 8, q);
            check_as_strtod(text);
            if (q <= 4) {
                snprintf(text, sizeof text, "%llue%d", (unsigned long long)(bits * five), -q);
                check_as_strtod(text);
            }
        }
}

TEST(what_is_no_number_is_refused)
{
    static const char *const texts[] = {"",    "abc", "-",   "+",   ".",     "e5",  "1e",
                                        "1e+", "1,5", "1d5", "--1", "1.5.2", "0xg", "1_000"};
    double value;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        CHECK_THAT(!reads(texts[i], &value), "'%s' reads as %g", texts[i], value);
    char longest[NUMBER_LONGEST + 8] = "0x";
    memset(longest + 2, '1', NUMBER_LONGEST);
    CHECK(!reads(longest, &value));
}

TEST(random_decimals_are_rounded_as_strtod_rounds_them)
{
    uint64_t state = 1;
    char text[512];
    for (int i = 0; i < 60000; i++) {
        uint64_t a = test_random(&state), b = test_random(&state), c = test_random(&state);
        double wild;
        memcpy(&wild, &a, sizeof wild);
        if (i % 5 == 0 && isfinite(wild))
            snprintf(text, sizeof text, "%.17g", wild);
        else if (i % 5 == 1)
            snprintf(text, sizeof text, "%llu.%llue%d", (unsigned long long)(a >> (c % 60)),
                     (unsigned long long)(b >> (c % 59)), (int)(c % 60) - 30);
        else if (i % 5 == 2)
            snprintf(text, sizeof text, "-%.*e", (int)(c % 30),
                     ldexp((double)(a >> 11), (int)(b % 400) - 230));
        else if (i % 5 == 3) /* exactly half way between two doubles, and just beside it */
            snprintf(text, sizeof text, "%llu%s", (unsigned long long)(a >> 10 | 1 | UINT64_C(1) << 53),
                     b % 3 == 0   ? ""
                     : b % 3 == 1 ? ".000000000000001"
                                  : ".0");
        else
            snprintf(text, sizeof text, "%.*f", (int)(c % 60), ldexp((double)(a >> 11), (int)(b % 120) - 80));
        check_as_strtod(text);
    }
}

static void check_written(double v, heddle_type type)
{
    char text[NUMBER_SIZE + 1];
    int n = number_write(text, v, type);
    text[n] = 0;
    double back = type == HEDDLE_F32 ? (double)strtof(text, NULL) : strtod(text, NULL);
    CHECK_THAT(n <= 24 && memcmp(&back, &v, sizeof v) == 0, "%.17g is written as '%s'", v, text);
    CHECK_THAT(reads(text, &back) && (type == HEDDLE_F32 ? (double)(float)back : back) == v,
               "'%s' does not read back", text);
}

TEST(what_is_written_reads_back_bit_for_bit)
{
    uint64_t state = 2;
    for (int i = 0; i < 60000; i++) {
        uint64_t bits = test_random(&state);
        double v;
        float f;
        memcpy(&v, &bits, sizeof v);
        memcpy(&f, &bits, sizeof f);
        if (i % 3 == 1)
            v = (double)(int64_t)bits / 9.3e18;
        if (i % 3 == 2)
            v = (double)(int64_t)(bits >> (bits % 64)), f = (float)(v / 1000);
        if (isfinite(v))
            check_written(v, HEDDLE_F64);
        if (isfinite(f))
            check_written((double)f, HEDDLE_F32);
    }
}

TEST(numbers_are_written_as_short_as_can_be)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},
                 {-0.0, "-0"},
                 {1, "1"},
                 {-2.5, "-2.5"},
                 {0.1, "0.1"},
                 {1e-4, "0.0001"},
                 {1e-6, "1e-6"},
                 {1e20, "1e+20"},
                 {1e16, "10000000000000000"},
                 {123456.789, "123456.789"},
                 {1.0 / 3, "0.3333333333333333"},
                 {-INFINITY, "-inf"},
                 {5e-324, "4.9406564584124654e-324"}};
    char text[NUMBER_SIZE + 1];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        text[number_write(text, cases[i].value, HEDDLE_F64)] = 0;
        CHECK_THAT(strcmp(text, cases[i].text) == 0, "%g is written as '%s', not '%s'", cases[i].value, text,
                   cases[i].text);
    }
    text[number_write(text, (double)0.1f, HEDDLE_F32)] = 0;
    CHECK_THAT(strcmp(text, "0.1") == 0, "0.1f is written as '%s'", text);
    CHECK(number_write(text, NAN, HEDDLE_F64) == 3 && memcmp(text, "nan", 3) == 0);
}

TEST(a_locale_with_a_decimal_comma_changes_nothing)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    int found = 0;
    for (size_t i = 0; i < 4 && !found; i++)
        found = setlocale(LC_ALL, names[i]) != NULL;
    if (!found)
        SKIP("there is no locale with a decimal comma");
    double value = 0;
    char text[NUMBER_SIZE + 1];
    CHECK(reads("1.5e-310", &value) && value > 1.4e-310); /* the way through strtod */
    text[number_write(text, 1.5e-310, HEDDLE_F64)] = 0;   /* and through printf */
    CHECK_THAT(!strchr(text, ','), "written as %s", text);
    setlocale(LC_ALL, "C");
}
