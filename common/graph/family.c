#include "common/graph/generate.h"

#include <math.h>
#include <string.h>

/* A line of help for each family, which begins with its name and, if it takes a parameter, a colon. */
static const char *const families[] = {
	[SL_FAMILY_COMPLETE] = "complete      every pair",
	[SL_FAMILY_RING] = "ring          each learner with the one before and the one after",
	[SL_FAMILY_LINE] = "line          a ring without one link",
	[SL_FAMILY_STAR] = "star          learner 1 with every other",
	[SL_FAMILY_GRID] = "grid          a square lattice; the last row may be short",
	[SL_FAMILY_NEAREST] = "nearest:K     a ring lattice, K/2 neighbours on either side (4)",
	[SL_FAMILY_NEIGHBOURS] = "neighbours:K  of the paper: i~j iff (j-i) mod 2N/K is 1 or -1 (N/5)",
	[SL_FAMILY_REGULAR] = "regular:D     random D-regular and connected, redrawn each step (4)",
	[SL_FAMILY_GEOMETRIC] =
		"geometric:R   points moving in the unit square, linked within R (sqrt(3 ln N / N)); "
		"not always connected",
	NULL,
};

const char *const *sl_family_help(void)
{
	return families;
}

/* Read digits with at most one point, NAN for other text. strtod would take the point from the locale. */
static double number(const char *text)
{
	double value = 0, unit = 1;
	bool point = false, any = false;
	for (; *text != '\0'; text++) {
		if (*text == '.' && !point) {
			point = true;
			continue;
		}
		if (*text < '0' || *text > '9' || unit >= 1e15 || value >= 1e15)
			return NAN;
		value = value * 10 + (*text - '0');
		unit *= point ? 10 : 1;
		any = true;
	}
	return any ? value / unit : NAN;
}

/* Return the divisor of 2n nearest to n/5 with s = 2n/k >= 3. */
static uint32_t neighbours_default(uint32_t n)
{
	uint32_t best = 1;
	for (uint32_t k = 2; 3 * (uint64_t)k <= 2 * (uint64_t)n; k++)
		if (2 * (uint64_t)n % k == 0 && fabs(k - n / 5.0) < fabs(best - n / 5.0))
			best = k;
	return best;
}

static double default_parameter(enum sl_family_kind kind, uint32_t n)
{
	switch (kind) {
	case SL_FAMILY_NEAREST:
		return n > 4 ? 4 : 2;
	case SL_FAMILY_NEIGHBOURS:
		return neighbours_default(n);
	case SL_FAMILY_REGULAR:
		return n > 4 ? 4 : n - 1;
	case SL_FAMILY_GEOMETRIC:
		return sqrt(3 * log(n) / n);
	default:
		return 0;
	}
}

/* Return why the family has no graph on `n` >= 2 vertices, or NULL. */
static const char *shape_fault(const struct sl_family *topology, uint32_t n)
{
	double k = topology->parameter;
	bool whole = k == floor(k);
	switch (topology->kind) {
	case SL_FAMILY_NEAREST:
		return whole && k >= 2 && k < n && fmod(k, 2) == 0
			       ? NULL
			       : "nearest:K needs an even K from 2 to below the number of learners";
	case SL_FAMILY_NEIGHBOURS:
		return whole && k >= 1 && 3 * k <= 2.0 * n && fmod(2.0 * n, k) == 0
			       ? NULL
			       : "neighbours:K needs a K that divides twice the number of learners N, at "
				 "most 2N/3";
	case SL_FAMILY_REGULAR:
		if (!(whole && k >= 1 && k < n && fmod(k * n, 2) == 0))
			return "regular:D needs a D from 1 to below the number of learners, and an even "
			       "product of both";
		return k > 1 || n == 2 ? NULL : "regular:1 is not connected";
	case SL_FAMILY_GEOMETRIC:
		return k > 0 && k <= 2 ? NULL : "geometric:R needs a radius above 0, at most 2";
	default:
		return NULL;
	}
}

static const char *size_fault(uint32_t n)
{
	return n < 2 || n > SL_LEARNERS_MAX ? "the number of learners must be 2 to 2000" : NULL;
}

const char *sl_family_fault(const struct sl_family *topology, uint32_t n)
{
	const char *fault = size_fault(n);
	return fault != NULL ? fault : shape_fault(topology, n);
}

int sl_family_read(const char *text, uint32_t n, struct sl_family *topology, const char **error)
{
	const char *colon = strchr(text, ':');
	size_t length = strcspn(text, ":"), kind = 0;
	while (families[kind] != NULL &&
	       (strcspn(families[kind], ": ") != length || strncmp(families[kind], text, length) != 0))
		kind++;
	topology->kind = (enum sl_family_kind)kind;
	if (families[kind] == NULL) {
		*error = "no such topology";
	} else if (colon != NULL && families[kind][length] != ':') {
		*error = "this topology takes no parameter";
	} else {
		topology->parameter =
			colon != NULL ? number(colon + 1) : default_parameter(topology->kind, n);
		*error = shape_fault(topology, n);
	}
	return *error == NULL ? SL_OK : SL_ERR_INVALID;
}

int sl_family_parse(const char *text, uint32_t n, struct sl_family *topology, const char **error)
{
	*error = size_fault(n);
	return *error == NULL ? sl_family_read(text, n, topology, error) : SL_ERR_INVALID;
}
