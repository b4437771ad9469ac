#include "tools/paper/page/thin.h"

#include <math.h>

/* Distance of c from the stretch between a and b. */
static double distance(struct sl_point a, struct sl_point b, struct sl_point c)
{
	double dx = b.x - a.x, dy = b.y - a.y, ex = c.x - a.x, ey = c.y - a.y;
	double length = dx * dx + dy * dy;
	double along = length > 0 ? fmin(1, fmax(0, (dx * ex + dy * ey) / length)) : 0;
	return hypot(ex - along * dx, ey - along * dy);
}

/* The furthest that a line from `first` may go straight, at most `reach` points. */
#define REACH 64u
static uint32_t straight_to(const struct sl_point *points, uint32_t first, uint32_t count, double tolerance)
{
	uint32_t last = first + 1;
	for (uint32_t to = first + 2; to < count && to - first <= REACH; to++) {
		for (uint32_t i = first + 1; i < to; i++)
			if (distance(points[first], points[to], points[i]) > tolerance)
				return last;
		last = to;
	}
	return last;
}

uint32_t sl_page_thin(struct sl_point *points, uint32_t count, double tolerance)
{
	uint32_t kept = 0, at = 0;
	while (count > 0) {
		uint32_t next = at + 1 < count ? straight_to(points, at, count, tolerance) : count;
		points[kept++] = points[at]; /* kept <= at: nothing that is still needed */
		if (next >= count)
			break;
		at = next;
	}
	return kept;
}
