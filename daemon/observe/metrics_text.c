/* metrics_text.c - the figures in the formats of OpenMetrics and of Prometheus 0.0.4. The two differ in the
 * name of a counter in its TYPE and HELP, and in the last line. */
#include "daemon/observe/metrics_text.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

enum type { GAUGE, COUNTER };

struct family {
	const char *name, *help;
	enum type type;
	enum sl_metrics_label label;
	size_t offset; /* in struct sl_metrics */
};

static const struct family families[] = {
#define X(type, field, label, name, help)                                                                    \
	{name, help, type, SL_METRICS_##label, offsetof(struct sl_metrics, field)},
	SL_METRICS(X)
#undef X
};

static const struct {
	const char *name;
	uint32_t count;
} labels[] = {
#define X(label, name, count) [SL_METRICS_##label] = {name, count},
	SL_METRICS_LABELS(X)
#undef X
};

static const char *const bounds[] = {
#define X(bound) #bound,
	SL_METRICS_BUCKETS(X)
#undef X
};

/* Return a value of the label; NULL: there is none at this index. */
static const char *value_of(enum sl_metrics_label label, uint32_t index)
{
	static const char *const messages[SL_MESSAGE_KINDS] = {
#define X(kind, number, ...) [SL_MSG_##kind] = #kind,
		SL_CONTROL_MESSAGES(X) SL_VECTOR_MESSAGES(X)
#undef X
	};
	static const char *const causes[] = {
#define X(cause, name) name,
		SL_TLS_FAILURES(X)
#undef X
	};
	static const char *const by[] = {"learners", "operator"};
	switch (label) {
	case SL_METRICS_PHASE:
		return sl_phase_name((enum sl_phase)index);
	case SL_METRICS_REASON:
		return index == SL_REASON_NONE ? NULL : sl_report_reason_name((enum sl_reason)index);
	case SL_METRICS_MESSAGE:
		return messages[index];
	case SL_METRICS_CAUSE:
		return causes[index];
	case SL_METRICS_LEVEL:
		return sl_level_name((enum sl_level)index);
	case SL_METRICS_BY:
		return by[index];
	case SL_METRICS_NONE:
		break;
	}
	return "";
}

/* Write the text of a label's value in lower case, with _ for blanks. */
static void write_value(const char *text, FILE *out)
{
	for (; *text != '\0'; text++)
		fputc(*text == ' ' ? '_' : tolower((unsigned char)*text), out);
}

/* Write the name of a learner, which may have any character. */
static void write_name(const char *text, FILE *out)
{
	for (; *text != '\0'; text++)
		if (*text == '\n')
			fputs("\\n", out);
		else
			fprintf(out, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
}

/* Write `{learner="ana"`, and the label and its value unless it is "". */
static void begin_labels(const char *learner, const char *label, const char *value, FILE *out)
{
	fputs("{learner=\"", out);
	write_name(learner, out);
	fputc('"', out);
	if (*label == '\0')
		return;
	fprintf(out, ",%s=\"", label);
	write_value(value, out);
	fputc('"', out);
}

/* End a sample: write its number, whole or with three decimals. Durations and times are known to the
 * millisecond. */
static void write_number(double number, FILE *out)
{
	fprintf(out, number == floor(number) ? "} %.0f\n" : "} %.3f\n", number);
}

static void write_family(const struct sl_metrics *metrics, const struct family *family, const char *learner,
			 bool openmetrics, FILE *out)
{
	const double *cells = (const double *)(const void *)((const char *)metrics + family->offset);
	const char *total = family->type == COUNTER ? "_total" : "", *suffix = openmetrics ? "" : total;
	fprintf(out, "# HELP %s%s %s\n# TYPE %s%s %s\n", family->name, suffix, family->help, family->name,
		suffix, family->type == COUNTER ? "counter" : "gauge");
	for (uint32_t i = 0; i < labels[family->label].count; i++) {
		const char *value = value_of(family->label, i);
		if (value == NULL || isnan(cells[i]))
			continue;
		fprintf(out, "%s%s", family->name, total);
		begin_labels(learner, labels[family->label].name, value, out);
		write_number(cells[i], out);
	}
}

/* Write one sample of the histogram: `what` follows its name, and "le" is `bound` unless it is NULL. */
static void write_sample(const char *what, const char *learner, const char *phase, const char *bound,
			 double number, FILE *out)
{
	fprintf(out, SL_METRICS_PHASE_NAME "%s", what);
	begin_labels(learner, labels[SL_METRICS_PHASE].name, phase, out);
	if (bound != NULL)
		fprintf(out, ",le=\"%s\"", bound);
	write_number(number, out);
}

static void write_durations(const struct sl_metrics_durations *durations, const char *learner,
			    const char *phase, FILE *out)
{
	double count = 0;
	for (uint32_t b = 0; b < SL_METRICS_BUCKET_COUNT; b++) {
		count += durations->buckets[b];
		write_sample("_bucket", learner, phase, bounds[b], count, out);
	}
	write_sample("_bucket", learner, phase, "+Inf", durations->count, out);
	write_sample("_sum", learner, phase, NULL, durations->sum, out);
	write_sample("_count", learner, phase, NULL, durations->count, out);
}

void sl_metrics_text(const struct sl_metrics *metrics, const char *name, bool openmetrics, FILE *out)
{
	for (size_t f = 0; f < sizeof families / sizeof families[0]; f++)
		write_family(metrics, &families[f], name, openmetrics, out);
	fputs("# HELP " SL_METRICS_PHASE_NAME " " SL_METRICS_PHASE_HELP "\n# TYPE " SL_METRICS_PHASE_NAME
	      " histogram\n",
	      out);
	for (int p = 0; p < SL_PHASE_COUNT; p++)
		if (p != SL_PHASE_DONE)
			write_durations(&metrics->durations[p], name, sl_phase_name((enum sl_phase)p), out);
	if (openmetrics)
		fputs("# EOF\n", out);
}
