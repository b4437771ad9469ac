#include "tools/topology/leakage_text.h"

#include <stdlib.h>

#include "tools/lib/command.h"
#include "tools/topology/ids.h"

#define TERMS_MOST 8u /* written of a sum; of a longer one TERMS_SAID */
#define TERMS_SAID 3u
#define SUMS_MOST 4u

static void write_models(FILE *out, const uint32_t *vertices, size_t count)
{
	fputs(count == 1 ? "the model of " : "the models of ", out);
	sl_ids_write_learners(out, vertices, count);
}

static void write_sum(FILE *out, const uint32_t *vertices, size_t count)
{
	size_t said = count > TERMS_MOST ? TERMS_SAID : count;
	for (size_t i = 0; i < said; i++)
		fprintf(out, "%sx%u", i > 0 ? "+" : "", vertices[i] + 1);
	if (count > said)
		fprintf(out, "+... (%zu models)", count);
}

/* Write what stands before the nth item of a list, from 0. */
static void write_between(FILE *out, uint32_t nth, bool last)
{
	if (nth > 0)
		fputs(last ? " and " : ", ", out);
}

/* Write the models that are revealed, which matter most. Return their number. */
static uint32_t write_alone(FILE *out, const struct sl_participants *m)
{
	uint32_t count = 0, *alone = sl_command_memory(m->groups + 1, sizeof *alone);
	for (uint32_t g = 0; g < m->groups; g++)
		if (sl_participants_size(m, g) == 1)
			alone[count++] = m->member[m->start[g]];
	if (count > 0)
		write_models(out, alone, count);
	free(alone);
	return count;
}

static void write_sums(FILE *out, const struct sl_participants *m, uint32_t sums)
{
	uint32_t said = 0;
	for (uint32_t g = 0; g < m->groups && said < SUMS_MOST; g++) {
		if (sl_participants_size(m, g) == 1)
			continue;
		write_between(out, said, said + 1 == sums);
		write_sum(out, m->member + m->start[g], sl_participants_size(m, g));
		said++;
	}
	if (sums > said)
		fprintf(out, ", ... and %u more sums", sums - said);
}

static void write_groups(FILE *out, const struct sl_participants *m)
{
	uint32_t alone = write_alone(out, m), sums = m->groups - alone;
	if (alone > 0 && sums > 0)
		fputs(", and ", out);
	write_sums(out, m, sums);
}

static void write_left_out(FILE *out, const struct sl_participants *m)
{
	uint32_t n = m->graph.n, count = 0, *left = sl_command_memory(n, sizeof *left);
	for (uint32_t v = 0; v < n; v++)
		if (!m->present[v])
			left[count++] = v;
	if (count > 0) {
		fputs("; ", out);
		sl_ids_write_learners(out, left, count);
		fputs(count == 1 ? " does not take part" : " do not take part", out);
	}
	free(left);
}

void sl_leakage_text_learned(FILE *out, const struct sl_participants *m, const uint32_t *coalition,
			     size_t count, bool why)
{
	const char *learn = count == 1 ? "learns" : "learn";
	if (m->present_count == 0) {
		fprintf(out, "no round: %u of %u learners are connected, and the quorum is %u", m->largest,
			m->graph.n, m->quorum);
		return;
	}
	if (m->groups == 0)
		fputs("no other learner takes part", out);
	else if (m->groups == 1 && sl_participants_size(m, 0) > 1)
		fputs("only the sum of all the others", out);
	else if (m->groups == 1)
		fprintf(out, "%s the model of learner %u, the only other participant", learn,
			m->member[0] + 1);
	else {
		fprintf(out, "%s ", learn);
		write_groups(out, m);
	}
	if (m->groups > 1 && why) {
		fputs(" (", out);
		sl_ids_write(out, coalition, count);
		fputs(count == 1 ? " cuts them apart)" : " cut them apart)", out);
	}
	write_left_out(out, m);
}

void sl_leakage_text_combination(FILE *out, const int32_t *coefficients, uint32_t n)
{
	uint32_t terms = 0, said = 0;
	for (uint32_t v = 0; v < n; v++)
		terms += coefficients[v] != 0;
	uint32_t most = terms > TERMS_MOST ? TERMS_SAID : terms;
	for (uint32_t v = 0; said < most; v++) {
		int32_t c = coefficients[v];
		if (c == 0)
			continue;
		fputs(c < 0 ? "-" : said > 0 ? "+" : "", out);
		if (c != 1 && c != -1)
			fprintf(out, "%d", c < 0 ? -c : c);
		fprintf(out, "x%u", v + 1);
		said++;
	}
	if (terms > said)
		fprintf(out, "+... (%u models)", terms);
}

/* Write the basis rows that reveal no model. */
static void write_rows(FILE *out, const struct sl_leakage *leakage, uint32_t rows, int32_t *coefficients)
{
	uint32_t said = 0;
	for (uint32_t v = 0; v < leakage->n && said < SUMS_MOST; v++) {
		if (sl_leakage_row(leakage, v) == NULL || sl_leakage_reveals(leakage, v))
			continue;
		write_between(out, said, said + 1 == rows);
		if (sl_leakage_integers(leakage, v, SL_COEFFICIENT_MOST, coefficients))
			sl_leakage_text_combination(out, coefficients, leakage->n);
		else
			fprintf(out, "a combination of x%u and others", v + 1);
		said++;
	}
	if (rows > said)
		fprintf(out, ", ... and %u more", rows - said);
}

void sl_leakage_text_span(FILE *out, const struct sl_leakage *leakage)
{
	uint32_t count = 0, *revealed = sl_command_memory(leakage->n, sizeof *revealed);
	int32_t *coefficients = sl_command_memory(leakage->n, sizeof *coefficients);
	for (uint32_t v = 0; v < leakage->n; v++)
		if (sl_leakage_reveals(leakage, v))
			revealed[count++] = v;
	if (count > 0)
		write_models(out, revealed, count);
	fputs(count > 0 && leakage->rank > count ? ", and " : "", out);
	write_rows(out, leakage, leakage->rank - count, coefficients);
	free(revealed);
	free(coefficients);
}

void sl_leakage_text_not_private(FILE *out, const char *who, uint32_t beyond, uint32_t rounds, uint32_t c,
				 uint32_t n)
{
	fprintf(out, "NOT PRIVATE: %s more than the mean", who);
	if (beyond < rounds)
		fprintf(out, " in %u of %u rounds", beyond, rounds);
	fprintf(out, ". The privacy check refuses such a round at tolerance %u", c);
	if (n >= c + 2)
		fprintf(out, "; starling topology augment --tolerance %u adds the missing links", c);
	fputs(".\n", out);
}
