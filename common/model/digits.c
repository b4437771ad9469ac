#include "common/model/digits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/base/random.h"

#define POOL_SEED UINT64_C(0x537461726c696e67) /* must never change: all learners have the same pool */
#define STROKES_MAX 4
#define ARC_STEPS 14

/* A line from (a,b) to (c,d), or with both angles set an arc of an ellipse with centre (a,b) and half axes c,
 * d, from angle `from` to `to` in degrees (0 is right, 90 is down). Unit square, y downwards. */
struct stroke {
	double a, b, c, d, from, to;
};

static const struct stroke glyphs[10][STROKES_MAX] = {
	/* 0 */ {{0.50, 0.50, 0.36, 0.48, 0, 360}},
	/* 1 */ {{0.34, 0.20, 0.54, 0.02, 0, 0}, {0.54, 0.02, 0.54, 0.98, 0, 0}},
	/* 2 */
	{{0.49, 0.29, 0.35, 0.27, 185, 395}, {0.78, 0.44, 0.14, 0.97, 0, 0}, {0.14, 0.97, 0.90, 0.97, 0, 0}},
	/* 3 */ {{0.44, 0.26, 0.35, 0.24, 200, 450}, {0.44, 0.74, 0.39, 0.24, 270, 515}},
	/* 4 */
	{{0.60, 0.02, 0.08, 0.66, 0, 0}, {0.08, 0.66, 0.94, 0.66, 0, 0}, {0.68, 0.34, 0.68, 0.98, 0, 0}},
	/* 5 */
	{{0.86, 0.03, 0.28, 0.03, 0, 0}, {0.28, 0.03, 0.22, 0.46, 0, 0}, {0.45, 0.68, 0.39, 0.29, 232, 510}},
	/* 6 */ {{0.78, 0.62, 0.66, 0.62, 180, 255}, {0.50, 0.70, 0.37, 0.27, 0, 360}},
	/* 7 */ {{0.10, 0.05, 0.88, 0.05, 0, 0}, {0.88, 0.05, 0.40, 0.98, 0, 0}},
	/* 8 */ {{0.50, 0.26, 0.30, 0.23, 0, 360}, {0.50, 0.74, 0.37, 0.24, 0, 360}},
	/* 9 */ {{0.50, 0.30, 0.35, 0.27, 0, 360}, {0.84, 0.32, 0.68, 0.98, 0, 0}},
};

/* The handwriting of one digit, in pixels. */
struct hand {
	double width, height, slant, bend, phase, radius, shift_x, shift_y;
};

struct point {
	double x, y;
};

static uint64_t stream_of(uint32_t index)
{
	return sl_random_seed(POOL_SEED, index, 0);
}

uint8_t sl_digits_label(uint32_t index)
{
	uint64_t random = stream_of(index);
	return (uint8_t)sl_random_below(&random, 10);
}

/* Draw a handwriting. The ranges are so wide that few pixels are dark in all images: the cross-entropy of
 * such a pixel can always be lowered by larger weights, which would finally exceed any clipping range. */
static struct hand hand_draw(uint64_t *random)
{
	struct hand h;
	h.width = sl_random_in(random, 8.0, 14.5);
	h.height = sl_random_in(random, 14.5, 19.0);
	h.slant = sl_random_in(random, -0.15, 0.45); /* most people lean to the right */
	h.bend = sl_random_in(random, 0.0, 1.2);
	h.phase = sl_random_in(random, 0.0, 6.283);
	h.radius = sl_random_in(random, 0.75, 1.65);
	h.shift_x = sl_random_in(random, -3, 3);
	h.shift_y = sl_random_in(random, -3, 3);
	return h;
}

/* Map a point of the unit square to the image. */
static struct point place(const struct hand *h, double x, double y)
{
	double down = (y - 0.5) * h->height;
	double right = (x - 0.5) * h->width - h->slant * down + h->bend * sin(6.283 * y + h->phase);
	return (struct point){SL_IMAGE_SIDE / 2.0 - 0.5 + right + h->shift_x,
			      SL_IMAGE_SIDE / 2.0 - 0.5 + down + h->shift_y};
}

static double distance(struct point p, struct point from, struct point to)
{
	double dx = to.x - from.x, dy = to.y - from.y, length = dx * dx + dy * dy;
	double along = length > 0 ? ((p.x - from.x) * dx + (p.y - from.y) * dy) / length : 0;
	along = along < 0 ? 0 : along > 1 ? 1 : along;
	double right = p.x - from.x - along * dx, down = p.y - from.y - along * dy;
	return sqrt(right * right + down * down);
}

static int clamped(double v)
{
	return (int)fmin(fmax(v, 0), SL_IMAGE_SIDE - 1);
}

/* Draw a line with round ends; its edge is blurred over one pixel. */
static void pen(uint8_t *pixels, double radius, struct point from, struct point to)
{
	double reach = radius + 0.5;
	int left = clamped(floor(fmin(from.x, to.x) - reach)),
	    right = clamped(ceil(fmax(from.x, to.x) + reach));
	int top = clamped(floor(fmin(from.y, to.y) - reach)),
	    bottom = clamped(ceil(fmax(from.y, to.y) + reach));
	for (int y = top; y <= bottom; y++) {
		for (int x = left; x <= right; x++) {
			double ink = reach - distance((struct point){x, y}, from, to);
			uint8_t value = (uint8_t)(255.0 * (ink < 0 ? 0 : ink > 1 ? 1 : ink) + 0.5);
			uint8_t *pixel = pixels + (size_t)y * SL_IMAGE_SIDE + (size_t)x;
			if (value > *pixel)
				*pixel = value;
		}
	}
}

/* Return the point at `t` (0 to 1) of a stroke. */
static struct point stroke_at(const struct hand *h, const struct stroke *s, double t)
{
	if (s->from == 0 && s->to == 0)
		return place(h, s->a + t * (s->c - s->a), s->b + t * (s->d - s->b));
	double angle = (s->from + t * (s->to - s->from)) * 3.14159265358979 / 180;
	return place(h, s->a + s->c * cos(angle), s->b + s->d * sin(angle));
}

/* Draw a stroke in steps; lines too, because the bend curves them. */
static void stroke_draw(uint8_t *pixels, const struct hand *h, const struct stroke *s)
{
	struct point from = stroke_at(h, s, 0);
	for (int i = 1; i <= ARC_STEPS; i++) {
		struct point to = stroke_at(h, s, (double)i / ARC_STEPS);
		pen(pixels, h->radius, from, to);
		from = to;
	}
}

void sl_digits_draw(uint32_t index, uint8_t pixels[static SL_PIXELS])
{
	uint64_t random = stream_of(index);
	const struct stroke *glyph = glyphs[sl_random_below(&random, 10)];
	struct hand h = hand_draw(&random);
	memset(pixels, 0, SL_PIXELS);
	for (int i = 0; i < STROKES_MAX; i++) {
		bool used = glyph[i].c != 0 || glyph[i].d != 0;
		if (used)
			stroke_draw(pixels, &h, &glyph[i]);
	}
}

static int draw_all(const uint64_t *slice, uint32_t pool, struct sl_dataset *set)
{
	for (uint32_t i = 0; i < SL_DIGITS; i++) {
		if (i < pool && !sl_bit(slice, i))
			continue;
		uint8_t *image = sl_images_add(i < pool ? &set->mine : &set->held);
		if (image == NULL)
			return SL_ERR_NOMEM;
		sl_digits_draw(i, image);
	}
	return SL_OK;
}

int sl_digits_load(const struct sl_deal *deal, struct sl_dataset *set, struct sl_error *error)
{
	uint32_t pool = SL_DIGITS - sl_images_held_out(SL_DIGITS);
	if (deal->learners > pool)
		return sl_err_set(error, SL_ERR_RANGE, "data: digits: %u images are too few for %u learners",
				  pool, deal->learners);
	uint8_t labels[SL_DIGITS];
	for (uint32_t i = 0; i < SL_DIGITS; i++)
		labels[i] = sl_digits_label(i);
	uint64_t *slice = sl_images_deal(deal, labels, pool);
	int rc = slice == NULL ? SL_ERR_NOMEM : draw_all(slice, pool, set);
	free(slice);
	return rc == SL_OK ? rc : sl_err_set(error, rc, "data: digits: out of memory");
}
