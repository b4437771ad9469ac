#include "tools/paper/page/scale.h"

#include <math.h>
#include <stdio.h>

#include "tools/lib/terminal.h"

#define STEPS_AIMED 5.0	  /* between ticks */
#define DECADES_CLOSE 2.5 /* a log scale of fewer has ticks at 2 and 5 too */
#define DECADE_TICKS 7.0
#define PLAIN_LEAST 1e-3 /* a scale that goes beyond has powers of ten */
#define PLAIN_MOST 1e6

/* 1, 2 or 5 times a power of ten, about a fifth of the span. */
static double step_of(double low, double high)
{
	double raw = (high - low) / STEPS_AIMED, power = pow(10, floor(log10(raw))), digit = raw / power;
	return power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10);
}

/* 1, 2 or 5 times a power of ten, at most `value` but for rounding. */
static double digit_below(double value)
{
	double power = pow(10, floor(log10(value) + 1e-9)), digit = value / power * (1 + 1e-9);
	return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1);
}

struct sl_scale sl_page_scale_of(bool log, double low, double high, bool round)
{
	if (!(low < high)) { /* one number, or none */
		double around = isfinite(low) && (low > 0 || !log) ? low : 1;
		double wide = around == 0 ? 1 : fabs(around) / 2;
		low = around - wide;
		high = around + wide;
	}
	if (round && log) {
		low = digit_below(low);
		high = 1 / digit_below(1 / high);
	} else if (round) {
		double step = step_of(low, high);
		low = floor(low / step + 1e-9) * step;
		high = ceil(high / step - 1e-9) * step;
	}
	return (struct sl_scale){log, low, high};
}

double sl_page_scale_place(const struct sl_scale *s, double value)
{
	if (s->log)
		return log(value / s->low) / log(s->high / s->low);
	return (value - s->low) / (s->high - s->low);
}

bool sl_page_scale_takes(const struct sl_scale *scale, double value)
{
	return isfinite(value) && (!scale->log || value > 0);
}

static uint32_t linear_ticks(const struct sl_scale *s, double *ticks)
{
	double step = step_of(s->low, s->high), first = ceil(s->low / step - 1e-9);
	uint32_t count = 0;
	for (double at = first; at * step <= s->high + step * 1e-9 && count < SL_TICKS_MOST; at++)
		ticks[count++] = at * step;
	return count;
}

static uint32_t log_ticks(const struct sl_scale *s, double *ticks)
{
	static const double digits[] = {1, 2, 5};
	double first = floor(log10(s->low) + 1e-9), last = log10(s->high) + 1e-9;
	uint32_t close = last - first < DECADES_CLOSE ? 3 : 1, count = 0;
	double stride = fmax(1, ceil((last - first) / DECADE_TICKS));
	for (double decade = first; decade <= last; decade += stride)
		for (uint32_t d = 0; d < close && count < SL_TICKS_MOST; d++) {
			double tick = digits[d] * pow(10, decade);
			if (tick >= s->low * (1 - 1e-9) && tick <= s->high * (1 + 1e-9))
				ticks[count++] = tick;
		}
	return count;
}

uint32_t sl_page_scale_ticks(const struct sl_scale *scale, double ticks[static SL_TICKS_MOST])
{
	return scale->log ? log_ticks(scale, ticks) : linear_ticks(scale, ticks);
}

/* 10 to the `exponent`, in superior figures. */
static void power_text(int exponent, char *text, size_t size)
{
	static const char *const superior[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
	char digits[16];
	snprintf(digits, sizeof digits, "%d", exponent < 0 ? -exponent : exponent);
	size_t used = (size_t)snprintf(text, size, "10%s", exponent < 0 ? "⁻" : "");
	for (const char *d = digits; *d != '\0' && used < size; d++)
		used += (size_t)snprintf(text + used, size - used, "%s", superior[*d - '0']);
}

/* "2×10⁶" */
static void short_text(double value, char *text)
{
	char power[SL_TICK_BYTES / 2];
	int exponent = (int)floor(log10(fabs(value)) + 1e-9);
	double digits = value / pow(10, exponent);
	power_text(exponent, power, sizeof power);
	if (fabs(digits - 1) < 1e-9)
		snprintf(text, SL_TICK_BYTES, "%s", power);
	else
		snprintf(text, SL_TICK_BYTES, "%.4g×%s", digits, power);
}

void sl_page_scale_tick_text(const struct sl_scale *scale, double value, char text[static SL_TICK_BYTES])
{
	double size = fabs(value), most = fmax(fabs(scale->low), fabs(scale->high));
	bool powers = most > PLAIN_MOST || most < PLAIN_LEAST || (scale->log && scale->low < PLAIN_LEAST);
	if (powers && size > 0 && size != 1 && size != 10) {
		short_text(value, text);
	} else if (size >= 1000 && value == floor(value)) {
		*text = '-';
		sl_terminal_thousands((uint64_t)size, text + (value < 0));
	} else {
		snprintf(text, SL_TICK_BYTES, "%.6g", value + 0.0);
	}
}
