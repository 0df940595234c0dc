/* SPDX-License-Identifier: MIT
 *
 * tomography: an image from its projections, by SIRT.
 *
 *     tomography [DEVICE [N [STEPS [PICTURE.png]]]]           tomography cpu 128 200 tomography.png
 *
 * An electron microscope sees a specimen from many sides, each time as sums along rays.  gen:tomography is
 * the matrix A of "weighted back-projection" as Vázquez, Garzón and Fernández (2010), the authors of
 * ELLPACK-R, have it: a row is a pixel of an N x N image, a column one of N detector elements at one of
 * the angles, and an entry says how much the one tells about the other.  So  b = Aᵀ f  projects an image,
 * and  A b  spreads projections back over the image.
 *
 * That alone gives a blurred image.  SIRT, the simultaneous iterative reconstruction technique (Gilbert
 * 1972), projects what it has, spreads back by how much that differs from the measurement, and so on:
 *
 *     f  <-  f + C A R (b - Aᵀ f),     C = 1 / row sums of A,  R = 1 / column sums of A
 *
 * One product with the transpose and one without by turns: both should be equally fast, and A should be in
 * memory once.  Values are f32, as microscopes need no more.
 *
 * The program makes projections of a phantom (Shepp and Logan 1974), reconstructs it and writes a picture:
 * the phantom, what back-projection gives (the first step), and what SIRT gives.  It ends with 1 unless
 * each gets nearer to the truth. */
#include "example.h"

/* -------------------------------------------------------- the phantom ------------------------- */

struct ellipse {
    double grey, a, b, x, y, degrees; /* half axes, centre and turn, in a square from -1 to 1; greys add up */
};

/* Shepp and Logan's head, with the stronger contrasts that Toft (1996) gave it. */
static const struct ellipse head[] = {
    {1.0, 0.69, 0.92, 0, 0, 0},        {-0.8, 0.6624, 0.874, 0, -0.0184, 0},
    {-0.2, 0.11, 0.31, 0.22, 0, -18},  {-0.2, 0.16, 0.41, -0.22, 0, 18},
    {0.1, 0.21, 0.25, 0, 0.35, 0},     {0.1, 0.046, 0.046, 0, 0.1, 0},
    {0.1, 0.046, 0.046, 0, -0.1, 0},   {0.1, 0.046, 0.023, -0.08, -0.605, 0},
    {0.1, 0.023, 0.023, 0, -0.606, 0}, {0.1, 0.023, 0.046, 0.06, -0.605, 0},
};

static void draw_phantom(int64_t n, float *image)
{
    for (int64_t i = 0; i < n * n; i++) {
        double x = (double)(2 * (i % n) - (n - 1)) / (double)n,
               y = -(double)(2 * (i / n) - (n - 1)) / (double)n, grey = 0;
        for (size_t e = 0; e < sizeof head / sizeof *head; e++) {
            double turn = head[e].degrees * 3.14159265358979 / 180, s = x - head[e].x, t = y - head[e].y;
            double u = (s * cos(turn) + t * sin(turn)) / head[e].a,
                   v = (t * cos(turn) - s * sin(turn)) / head[e].b;
            grey += u * u + v * v <= 1 ? head[e].grey : 0;
        }
        image[i] = (float)grey;
    }
}

/* -------------------------------------------------------- SIRT -------------------------------- */

struct problem {
    heddle_plan *plan;
    int64_t pixels, rays;
    float *measured; /* size rays: b */
    float *of_ray;   /* size rays: R */
    float *of_pixel; /* size pixels: C */
    float *rest;     /* size rays: b - Aᵀ f */
    float *change;   /* size pixels */
};

/* One step; returns the size of b - Aᵀ f before it, relative to b. */
static double sirt_step(const struct problem *p, float *image)
{
    float minus = -1, plus = 1;
    double rest = 0, all = 0;
    memcpy(p->rest, p->measured, (size_t)p->rays * sizeof *p->rest);
    /* rest = b - Aᵀ f, in one product */
    must(heddle_plan_mv(p->plan, HEDDLE_T, &minus, image, &plus, p->rest));
    for (int64_t j = 0; j < p->rays; j++) {
        rest += (double)p->rest[j] * p->rest[j];
        all += (double)p->measured[j] * p->measured[j];
        p->rest[j] *= p->of_ray[j];
    }
    must(heddle_plan_mv(p->plan, HEDDLE_N, NULL, p->rest, NULL, p->change));
    for (int64_t i = 0; i < p->pixels; i++)
        image[i] = fmaxf(0, image[i] + p->of_pixel[i] * p->change[i]); /* there is no less than nothing */
    return sqrt(rest / all);
}

/* 1 / sums of the rows (HEDDLE_N) or columns (HEDDLE_T), 0 where there are no entries. */
static void reciprocal_sums(heddle_plan *plan, heddle_op op, int64_t ones_count, int64_t count, float *sums)
{
    float *ones = zeros(ones_count, sizeof *ones);
    for (int64_t i = 0; i < ones_count; i++)
        ones[i] = 1;
    must(heddle_plan_mv(plan, op, NULL, ones, NULL, sums));
    for (int64_t i = 0; i < count; i++)
        sums[i] = sums[i] > 0 ? 1 / sums[i] : 0;
    free(ones);
}

static double distance(int64_t n, const float *image, const float *truth)
{
    double apart = 0, all = 0;
    for (int64_t i = 0; i < n; i++) {
        apart += pow((double)image[i] - truth[i], 2);
        all += pow(truth[i], 2);
    }
    return sqrt(apart / all);
}

/* -------------------------------------------------------- a PNG ------------------------------- */

/* The least that a PNG can be: 8 bits of grey, and zlib's format without compression.  Sums: CRC-32 over
 * each chunk, Adler-32 over what zlib holds (RFC 2083, 1950, 1951). */
struct png {
    FILE *file;
    uint32_t crc;
};

static void png_bytes(struct png *png, const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        png->crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            png->crc = png->crc >> 1 ^ (png->crc & 1 ? 0xEDB88320u : 0);
    }
    fwrite(bytes, 1, count, png->file);
}

static void png_number(struct png *png, uint32_t v)
{
    png_bytes(png, (uint8_t[]){(uint8_t)(v >> 24), (uint8_t)(v >> 16), (uint8_t)(v >> 8), (uint8_t)v}, 4);
}

static void chunk_begin(struct png *png, const char *name, uint32_t length)
{
    png_number(png, length); /* not part of the sum, which begins with the name */
    png->crc = ~0u;
    png_bytes(png, (const uint8_t *)name, 4);
}

static void chunk_end(struct png *png)
{
    png_number(png, ~png->crc);
}

/* Rows of at most 65,534 pixels, each a block of zlib's that is stored as it is. */
static int write_png(const char *path, int64_t width, int64_t height, const uint8_t *grey)
{
    struct png png = {.file = fopen(path, "wb")};
    if (!png.file)
        return 0;
    uint32_t a = 1, b = 0, row = (uint32_t)width + 1; /* a row begins with its filter: 0, none */
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, png.file);
    chunk_begin(&png, "IHDR", 13);
    png_number(&png, (uint32_t)width);
    png_number(&png, (uint32_t)height);
    png_bytes(&png, (const uint8_t[]){8, 0, 0, 0, 0}, 5);
    chunk_end(&png);
    chunk_begin(&png, "IDAT", 2 + (uint32_t)height * (5 + row) + 4);
    png_bytes(&png, (const uint8_t[]){0x78, 0x01}, 2);
    for (int64_t i = 0; i < height; i++) {
        const uint8_t *pixels = grey + i * width;
        uint8_t head_of_block[] = {i == height - 1, (uint8_t)row,         (uint8_t)(row >> 8),
                                   (uint8_t)~row,   (uint8_t)(~row >> 8), 0};
        png_bytes(&png, head_of_block, 6);
        png_bytes(&png, pixels, (size_t)width);
        b = (b + a) % 65521; /* the filter's 0 */
        for (int64_t j = 0; j < width; j++) {
            a = (a + pixels[j]) % 65521;
            b = (b + a) % 65521;
        }
    }
    png_number(&png, b << 16 | a);
    chunk_end(&png);
    chunk_begin(&png, "IEND", 0);
    chunk_end(&png);
    return (ferror(png.file) == 0) & (fclose(png.file) == 0);
}

/* The images side by side; white is WHITE and more. */
#define WHITE 0.5
#define GAP 4

static int write_picture(const char *path, int64_t n, const float *const images[3])
{
    int64_t width = 3 * n + 2 * GAP;
    uint8_t *grey = zeros(width * n, 1);
    memset(grey, 255, (size_t)(width * n));
    for (int which = 0; which < 3; which++)
        for (int64_t i = 0; i < n * n; i++) {
            double v = images[which][i] / WHITE;
            grey[i / n * width + which * (n + GAP) + i % n] = (uint8_t)(255 * fmin(fmax(v, 0), 1) + 0.5);
        }
    int written = write_png(path, width, n, grey);
    free(grey);
    return written;
}

/* -------------------------------------------------------- all of it --------------------------- */

int main(int argc, char **argv)
{
    int64_t n = atoi(argument(argc, argv, 2, "128"));
    int steps = atoi(argument(argc, argv, 3, "200"));
    const char *path = argument(argc, argv, 4, "tomography.png");
    char source[64];
    snprintf(source, sizeof source, "gen:tomography:n=%" PRId64, n);
    heddle *h;
    must(heddle_open(&h, argument(argc, argv, 1, "auto")));
    heddle_matrix *A = matrix_from(h, source, HEDDLE_F32);
    heddle_matrix_desc size;
    must(heddle_matrix_info(A, &size));
    struct problem p = {.pixels = size.rows, .rays = size.cols};
    printf("%" PRId64 " pixels, %" PRId64 " rays, %" PRId64 " entries\n", p.pixels, p.rays, size.nnz);
    must(heddle_plan_create(
        &p.plan, h, A,
        &(heddle_plan_options){.expected_products = steps, .ops = HEDDLE_PLAN_N | HEDDLE_PLAN_T}));

    p.measured = zeros(p.rays, sizeof(float));
    p.rest = zeros(p.rays, sizeof(float));
    p.of_ray = zeros(p.rays, sizeof(float));
    p.of_pixel = zeros(p.pixels, sizeof(float));
    p.change = zeros(p.pixels, sizeof(float));
    reciprocal_sums(p.plan, HEDDLE_N, p.rays, p.pixels, p.of_pixel);
    reciprocal_sums(p.plan, HEDDLE_T, p.pixels, p.rays, p.of_ray);

    float *truth = zeros(p.pixels, sizeof *truth), *before = zeros(p.pixels, sizeof *before);
    float *image = zeros(p.pixels, sizeof *image);
    draw_phantom(n, truth);
    must(heddle_plan_mv(p.plan, HEDDLE_T, NULL, truth, NULL, p.measured)); /* the microscope: b = Aᵀ f */
    double rest = 0;
    for (int k = 0; k < steps; k++) {
        rest = sirt_step(&p, image);
        /* from nothing, the first step is back-projection */
        if (k == 0)
            memcpy(before, image, (size_t)p.pixels * sizeof *before);
        if (k == 0 || (k + 1) % 50 == 0 || k == steps - 1)
            printf("step %d difference %.4f error %.4f\n", k + 1, rest, distance(p.pixels, image, truth));
    }
    double first = distance(p.pixels, before, truth), last = distance(p.pixels, image, truth);
    printf("back-projection %.4f\nsirt %.4f\n", first, last);
    int good = first < 1 && last < first;
    if (!write_picture(path, n, (const float *const[]){truth, before, image})) {
        fprintf(stderr, "%s cannot be written\n", path);
        good = 0;
    }

    float *used[] = {p.measured, p.rest, p.of_ray, p.of_pixel, p.change, truth, before, image};
    for (size_t k = 0; k < sizeof used / sizeof *used; k++)
        free(used[k]);
    heddle_plan_free(p.plan);
    heddle_matrix_free(A);
    heddle_close(h);
    return !good;
}
