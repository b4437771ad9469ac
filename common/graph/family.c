#include "common/graph/generate.h"

#include <math.h>
#include <string.h>

static const struct {
	const char *name;
	bool takes; /* a parameter */
} families[] = {
	[SL_FAMILY_COMPLETE] = {"complete", false},
	[SL_FAMILY_RING] = {"ring", false},
	[SL_FAMILY_LINE] = {"line", false},
	[SL_FAMILY_STAR] = {"star", false},
	[SL_FAMILY_GRID] = {"grid", false},
	[SL_FAMILY_NEAREST] = {"nearest", true},
	[SL_FAMILY_NEIGHBOURS] = {"neighbours", true},
	[SL_FAMILY_REGULAR] = {"regular", true},
	[SL_FAMILY_GEOMETRIC] = {"geometric", true},
};

#define FAMILIES (sizeof families / sizeof *families)

const char *const *sl_family_help(void)
{
	static const char *const lines[] = {
		"complete      everybody with everybody",
		"ring          each with the one before and the one after",
		"line          a ring that is cut once",
		"star          everybody with the first",
		"grid          a square lattice; the last row may be short",
		"nearest:K     a ring lattice, K/2 neighbours on either side (4)",
		"neighbours:K  the paper's: i~j iff (j-i) mod 2N/K is 1 or -1 (N/5)",
		"regular:D     random D-regular and connected, redrawn each step (4)",
		"geometric:R   points moving in the unit square, linked within R (sqrt(3 ln N / N)); may be "
		"in parts",
		NULL,
	};
	return lines;
}

/* Digits with at most one point: strtod would ask the locale what a point is. NAN when it is anything else.
 */
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

/* The divisor of 2n nearest to n/5 that leaves s = 2n/k >= 3. */
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

/* The same for any n that is not too small. */
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

/* What keeps the family from having a graph on n vertices, or NULL. */
const char *sl_family_fault(const struct sl_family *topology, uint32_t n)
{
	if (n < 2 || n > SL_LEARNERS_MAX)
		return "the number of learners must be 2 to 2000";
	return shape_fault(topology, n);
}

/* The family and its parameter, fit or not. */
static int read_text(const char *text, uint32_t n, struct sl_family *topology, const char **error)
{
	const char *colon = strchr(text, ':');
	size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text), kind = 0;
	while (kind < FAMILIES &&
	       (strlen(families[kind].name) != length || memcmp(families[kind].name, text, length) != 0))
		kind++;
	*error = "no such topology";
	if (kind == FAMILIES)
		return SL_ERR_INVALID;
	*error = "this topology takes no parameter";
	if (colon != NULL && !families[kind].takes)
		return SL_ERR_INVALID;
	topology->kind = (enum sl_family_kind)kind;
	topology->parameter = colon != NULL ? number(colon + 1) : default_parameter(topology->kind, n);
	*error = NULL;
	return SL_OK;
}

int sl_family_read(const char *text, uint32_t n, struct sl_family *topology, const char **error)
{
	int rc = read_text(text, n, topology, error);
	if (rc == SL_OK)
		*error = shape_fault(topology, n);
	return *error == NULL ? SL_OK : SL_ERR_INVALID;
}

int sl_family_parse(const char *text, uint32_t n, struct sl_family *topology, const char **error)
{
	int rc = read_text(text, n, topology, error);
	if (rc == SL_OK)
		*error = sl_family_fault(topology, n);
	return *error == NULL ? SL_OK : SL_ERR_INVALID;
}
