#include "tools/timeline/explain.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/lib/terminal.h"
#include "tools/timeline/durations.h"
#include "tools/timeline/rounds.h"

#define NAMED_MOST 4u  /* learners in a sentence */
#define WAITS_SHOWN 6u /* awaited learners */
#define NOTES_SHOWN 8u
#define RESTARTS_SHOWN 6u
#define TEXT_BYTES 1024u

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));
	return text != NULL ? text : "";
}

/* Print a number of learners in words: "ana (1), bo (2) and 7 more". */
static void name_ids(const json_t *document, const json_t *ids, char text[static TEXT_BYTES])
{
	size_t n = json_array_size(ids), used = 0;
	char who[SL_DURATIONS_WHO_BYTES];
	text[0] = '\0';
	for (size_t i = 0; i < n && (i < NAMED_MOST || n == NAMED_MOST + 1); i++) {
		sl_durations_who(document, (uint64_t)json_integer_value(json_array_get(ids, i)), who);
		used += (size_t)snprintf(text + used, TEXT_BYTES - used, "%s%s",
					 i == 0	      ? ""
					 : i + 1 == n ? " and "
						      : ", ",
					 who);
	}
	if (n > NAMED_MOST + 1)
		snprintf(text + used, TEXT_BYTES - used, " and %zu more", n - NAMED_MOST);
}

/* Write "12.3 s", with about three digits. */
static const char *seconds(double s, char text[static 16])
{
	snprintf(text, 16, s < 0.0995 ? "%.3f s" : s < 99.5 ? "%.1f s" : "%.0f s", s);
	if (s >= 0.0995 && s < 9.95)
		snprintf(text, 16, "%.2f s", s);
	return text;
}

const char *sl_explain_bytes(uint64_t n, char text[static 16])
{
	if (n < 1000000)
		snprintf(text, 16, "%.1f KB", (double)n / 1e3);
	else
		snprintf(text, 16, "%.1f MB", (double)n / 1e6);
	return text;
}

/* ---- the round ---- */

struct counts {
	size_t committed, adopted;
	uint64_t sent;
	double margin;
	char digest[17];
};

static struct counts count(const json_t *document)
{
	struct counts counts = {.margin = NAN};
	const json_t *lane;
	size_t i;
	json_array_foreach(json_object_get(document, "learners_of_round"), i, lane)
	{
		bool adopted = json_is_true(json_object_get(lane, "adopted"));
		if (!json_is_number(json_object_get(lane, "committed_s")))
			continue;
		counts.committed += !adopted;
		counts.adopted += adopted;
		counts.sent += sl_durations_whole(lane, "bytes_sent");
		counts.margin = fmax(counts.margin, sl_durations_real(lane, "margin"));
		snprintf(counts.digest, sizeof counts.digest, "%s", text_of(lane, "digest"));
	}
	return counts;
}

static void print_head(FILE *out, const json_t *document, const struct counts *counts)
{
	char took[16], of[32] = "";
	uint64_t rounds = sl_durations_whole(document, "rounds");
	double from = sl_durations_real(document, "start_s"), to = sl_durations_real(document, "end_s");
	const json_t *attempts = json_object_get(document, "attempts");
	size_t n = json_array_size(attempts);
	const char *start = text_of(document, "start");
	if (rounds > 0)
		snprintf(of, sizeof of, " of %llu", (unsigned long long)rounds);
	fprintf(out, "Round %llu%s%s%s began at %.12s UTC",
		(unsigned long long)sl_durations_whole(document, "round"), of,
		text_of(document, "run")[0] != '\0' ? " of " : "", text_of(document, "run"),
		strlen(start) > 11 ? start + 11 : "--:--:--.---");
	if (!isnan(to))
		fprintf(out, " and was committed %s later", seconds(to - from, took));
	else if (counts->committed > 0)
		fprintf(out, "; %zu learner%s committed it, others have not yet", counts->committed,
			counts->committed == 1 ? " has" : "s have");
	else
		fprintf(out, " and is not committed");
	if (n == 0)
		fprintf(out, "; no attempt has begun.\n");
	else
		fprintf(out, n == 1 ? ", in one attempt.\n" : ", in %zu attempts.\n", n);
}

/* Print the learners and links whose loss separates others, if all links are known. */
static void print_separators(FILE *out, const json_t *document, const json_t *attempt)
{
	char names[TEXT_BYTES];
	const json_t *cuts = json_object_get(attempt, "cut_vertices");
	size_t bridges = json_array_size(json_object_get(attempt, "bridges"));
	if (!json_is_array(cuts))
		return;
	name_ids(document, cuts, names);
	if (json_array_size(cuts) > 0)
		fprintf(out, " Cut vertices, without which the graph is not connected: %s.", names);
	else
		fprintf(out, " No cut vertex: no single learner separates others.");
	if (bridges > 0)
		fprintf(out, " %zu link%s, without which it is not connected.", bridges,
			bridges == 1 ? " is a bridge" : "s are bridges");
}

static void print_tolerance(FILE *out, const json_t *tolerance)
{
	json_int_t losses = json_integer_value(tolerance);
	if (!json_is_integer(tolerance))
		return;
	if (losses == 0)
		fprintf(out, " Once released, it needs all participants.");
	else
		fprintf(out, " Once released, it completes after the loss of any %d participant%s.",
			(int)losses, losses == 1 ? "" : "s");
}

static void print_graph(FILE *out, const json_t *document, const json_t *attempt)
{
	uint64_t steps = sl_durations_whole(attempt, "steps"),
		 links = sl_durations_whole(attempt, "edge_count");
	size_t known = json_array_size(json_object_get(attempt, "edges")),
	       participants = json_array_size(json_object_get(attempt, "participants"));
	fprintf(out, "%zu participant%s, %llu link%s", participants, participants == 1 ? "" : "s",
		(unsigned long long)links, links == 1 ? "" : "s");
	if (known < links)
		fprintf(out, " (%zu of them in these logs)", known);
	fprintf(out, ", view %s; mixing %s with K = %llu exchange%s.", text_of(attempt, "view"),
		text_of(attempt, "mixing"), (unsigned long long)steps, steps == 1 ? "" : "s");
	print_tolerance(out, json_object_get(attempt, "tolerance"));
	print_separators(out, document, attempt);
}

static void print_attempt(FILE *out, const json_t *document, const json_t *attempt)
{
	char took[16];
	const char *ended = text_of(attempt, "ended"), *reason = text_of(attempt, "reason"),
		   *recovering = text_of(attempt, "recovering");
	double s = sl_durations_real(attempt, "to_s") - sl_durations_real(attempt, "from_s");
	fprintf(out, "Attempt %llu", (unsigned long long)sl_durations_whole(attempt, "attempt"));
	if (strcmp(ended, "committed") == 0)
		fprintf(out, " committed after %s.", seconds(s, took));
	else if (strcmp(ended, "failed") == 0)
		fprintf(out, " ended after %s without a commit: %s.", isnan(s) ? "?" : seconds(s, took),
			reason[0] != '\0' ? reason : "no reason was logged");
	else
		fprintf(out, " has not ended.");
	if (recovering[0] != '\0')
		fprintf(out, " Mixing was ended (%s); deposits and their keys were collected instead.",
			recovering);
	fputc(' ', out);
	if (json_array_size(json_object_get(attempt, "participants")) > 0)
		print_graph(out, document, attempt);
	else
		fprintf(out, "No view was agreed.");
	fputc('\n', out);
}

static void print_point(FILE *out, const json_t *point)
{
	fprintf(out, " %.2g before exchange %llu (bound %.2g)", sl_durations_real(point, "spread"),
		(unsigned long long)sl_durations_whole(point, "step") + 1, sl_durations_real(point, "bound"));
}

/* Print how the states of metropolis converged. */
static void print_spread(FILE *out, const json_t *document)
{
	const json_t *spread = json_object_get(document, "spread");
	size_t n = json_array_size(spread);
	if (n == 0)
		return;
	fputs("Spread of the states:", out);
	print_point(out, json_array_get(spread, 0));
	if (n > 1) {
		fputc(',', out);
		print_point(out, json_array_get(spread, n - 1));
	}
	fputs(".\n", out);
}

/* Print "ana (1) was started again at 12:00:03 UTC (in share of attempt 1)." */
static void print_restarts(FILE *out, const json_t *document)
{
	char who[SL_DURATIONS_WHO_BYTES];
	const json_t *lane, *restart;
	size_t i, k, count = 0;
	json_array_foreach(json_object_get(document, "learners_of_round"), i, lane)
	{
		json_array_foreach(json_object_get(lane, "restarts"), k, restart)
		{
			const char *at = text_of(restart, "at"), *phase = text_of(restart, "phase");
			if (count++ >= RESTARTS_SHOWN)
				continue;
			sl_durations_who(document, sl_durations_whole(lane, "learner"), who);
			fprintf(out, "%s was started again at %.8s UTC", who,
				strlen(at) > 11 ? at + 11 : "--:--:--");
			if (*phase == '\0')
				fprintf(out, " (before it began the round).\n");
			else if (!json_is_integer(json_object_get(restart, "attempt")))
				fprintf(out, " (in %s).\n", phase);
			else
				fprintf(out, " (in %s of attempt %llu).\n", phase,
					(unsigned long long)sl_durations_whole(restart, "attempt"));
		}
	}
	if (count > RESTARTS_SHOWN)
		fprintf(out, "%zu more restarts: --json prints all.\n", count - RESTARTS_SHOWN);
}

static void print_result(FILE *out, const json_t *document, const struct counts *counts)
{
	const json_t *same = json_object_get(document, "same");
	double loss = sl_durations_real(document, "loss");
	size_t holders = counts->committed + counts->adopted;
	if (json_is_true(same))
		fprintf(out,
			holders == 1 ? "Same: the %zu learner whose result is logged has model %s"
				     : "Same: all %zu learners whose results are logged have model %s",
			holders, counts->digest);
	else if (json_is_false(same))
		fprintf(out, "NOT the same: digests differ, or a rounding margin reached 3/8");
	else
		return;
	if (!isnan(counts->margin))
		fprintf(out, "; largest rounding margin %.4f", counts->margin);
	if (counts->adopted > 0)
		fprintf(out, "; %zu of them received it from peers", counts->adopted);
	if (!isnan(loss))
		fprintf(out, "; mean training loss %.4f", loss);
	fprintf(out, ".\n");
}

static void print_privacy(FILE *out, const json_t *document)
{
	const json_t *private = json_object_get(document, "private");
	if (json_is_true(private))
		fprintf(out,
			"Private: the privacy check of every participant passed before it sent a share.\n");
	else if (json_is_false(private))
		fprintf(out, "NOT private: the privacy check failed, and privacy_check: warn let the round "
			     "go on.\n");
}

/* ---- the slowest learner, and waits ---- */

/* Return the seconds that the training of a learner took, or NaN. */
static double training_s(const json_t *document, uint64_t learner)
{
	const json_t *lane;
	size_t i;
	json_array_foreach(json_object_get(document, "learners_of_round"), i, lane)
	{
		if (sl_durations_whole(lane, "learner") == learner)
			return sl_durations_real(lane, "train_s");
	}
	return NAN;
}

/* Print why a learner was in train for `span_s`, if it trained much shorter than that. */
static void print_training(FILE *out, double span_s, double trained_s)
{
	char took[16];
	if (trained_s < span_s / 2)
		fprintf(out,
			" Its training took %s of that: it was stopped or overloaded, or its application "
			"came late.",
			seconds(trained_s, took));
}

static void print_slowest(FILE *out, const json_t *document, struct sl_durations *durations)
{
	const json_t *slowest = json_object_get(document, "slowest");
	char who[SL_DURATIONS_WHO_BYTES], took[16], usual[16];
	double s = sl_durations_real(slowest, "s");
	const char *name = text_of(slowest, "phase");
	enum sl_phase phase = sl_durations_phase(name);
	uint64_t learner = sl_durations_whole(slowest, "learner");
	if (!json_is_object(slowest))
		return;
	sl_durations_who(document, learner, who);
	seconds(s, took);
	if (phase == SL_PHASE_COUNT || durations->phases[phase].count == 0) {
		fprintf(out,
			"Slowest: %s, for which others waited %s; the logs do not say in which phase it "
			"was.\n",
			who, took);
		return;
	}
	double median = sl_durations_quantile(&durations->phases[phase], 0.5);
	seconds(median, usual);
	if (s >= median)
		fprintf(out, "Slowest: %s, %s in %s; the median learner needed %s.", who, took, name, usual);
	else
		fprintf(out,
			"Slowest: %s, which was the last to end %s, since it began late: it needed %s, the "
			"median learner %s.",
			who, name, took, usual);
	if (phase == SL_PHASE_TRAIN)
		print_training(out, s, training_s(document, learner));
	fputc('\n', out);
}

/* All waits for one learner in one phase. */
struct awaited {
	uint64_t learner; /* 0: none in particular */
	const char *phase, *what;
	size_t waiters;
	uint64_t waiter; /* the last one */
	double longest, sum;
	bool open, slowest, others; /* others: learners were awaited */
};

struct waits {
	struct awaited *rows;
	size_t count;
};

static int by_group(const void *a, const void *b)
{
	const struct awaited *x = a, *y = b;
	int order = (x->learner > y->learner) - (x->learner < y->learner);
	if (order == 0)
		order = strcmp(x->phase, y->phase);
	if (order == 0)
		order = strcmp(x->what, y->what);
	return order != 0 ? order : (x->waiter > y->waiter) - (x->waiter < y->waiter);
}

/* Waits for the slowest learner first, then those that cost most. */
static int by_cost(const void *a, const void *b)
{
	const struct awaited *x = a, *y = b;
	if (x->slowest != y->slowest)
		return y->slowest - x->slowest;
	return (x->sum < y->sum) - (x->sum > y->sum);
}

/* Add a row for each learner that caused it, or one for all if none is. */
static void list_wait(struct waits *waits, uint64_t waiter, const json_t *wait)
{
	const json_t *causes = json_object_get(wait, "causes");
	double whole = sl_durations_real(wait, "to_s") - sl_durations_real(wait, "from_s");
	size_t n = json_array_size(causes);
	for (size_t i = 0; i < (n > 0 ? n : 1); i++) {
		const json_t *one = json_array_get(causes, i);
		double s = one != NULL ? sl_durations_real(one, "s") : isnan(whole) ? 0 : whole;
		waits->rows = sl_rounds_grow(waits->rows, waits->count, sizeof *waits->rows);
		waits->rows[waits->count++] =
			(struct awaited){.learner = sl_durations_whole(one, "learner"),
					 .others = json_array_size(json_object_get(wait, "awaited")) > 0,
					 .phase = text_of(wait, "phase"),
					 .what = text_of(wait, "for"),
					 .waiters = 1,
					 .waiter = waiter,
					 .longest = s,
					 .sum = s,
					 .open = isnan(whole)};
	}
}

/* Make one row of the rows with the same awaited learner, phase and purpose. */
static void merge_waits(struct waits *waits, uint64_t slowest)
{
	size_t kept = 0;
	if (waits->count == 0)
		return;
	qsort(waits->rows, waits->count, sizeof *waits->rows, by_group);
	for (size_t i = 1; i < waits->count; i++) {
		struct awaited *into = &waits->rows[kept], *row = &waits->rows[i];
		if (into->learner == row->learner && strcmp(into->phase, row->phase) == 0 &&
		    strcmp(into->what, row->what) == 0) {
			into->waiters += into->waiter != row->waiter;
			into->waiter = row->waiter;
			into->longest = fmax(into->longest, row->longest);
			into->sum += row->sum;
			into->open |= row->open;
		} else {
			waits->rows[++kept] = *row;
		}
	}
	waits->count = kept + 1;
	for (size_t i = 0; i < waits->count; i++)
		waits->rows[i].slowest = waits->rows[i].learner == slowest;
	qsort(waits->rows, waits->count, sizeof *waits->rows, by_cost);
}

/* Print that a learner stood still. */
static void print_still(FILE *out, const json_t *document, uint64_t learner, const json_t *wait)
{
	char who[SL_DURATIONS_WHO_BYTES], took[16];
	double s = sl_durations_real(wait, "to_s") - sl_durations_real(wait, "from_s");
	sl_durations_who(document, learner, who);
	fprintf(out, "%s stood still for %s in %s: it was stopped or overloaded.\n", who,
		isnan(s) ? "?" : seconds(s, took), text_of(wait, "phase"));
}

static void print_awaited(FILE *out, const json_t *document, const struct awaited *row)
{
	char who[SL_DURATIONS_WHO_BYTES], waiter[SL_DURATIONS_WHO_BYTES], took[16];
	sl_durations_who(document, row->waiter, waiter);
	if (row->waiters > 1)
		snprintf(waiter, sizeof waiter, "%zu learners", row->waiters);
	fprintf(out, "  %s waited", waiter);
	if (row->longest > 0)
		fprintf(out, " %s%s", row->waiters > 1 ? "up to " : "", seconds(row->longest, took));
	fprintf(out, " in %s for ", row->phase);
	if (row->learner > 0) {
		sl_durations_who(document, row->learner, who);
		fprintf(out, "%s ", who);
	} else if (row->others) {
		fprintf(out, "others ");
	}
	fprintf(out, "%s%s\n", row->what, row->open ? " (not over)" : "");
}

static void print_waits(FILE *out, const json_t *document)
{
	struct waits waits = {0};
	const json_t *lane, *wait;
	size_t i, k, still = 0;
	json_array_foreach(json_object_get(document, "learners_of_round"), i, lane)
	{
		json_array_foreach(json_object_get(lane, "waits"), k, wait)
		{
			if (!json_is_true(json_object_get(wait, "stood_still")))
				list_wait(&waits, sl_durations_whole(lane, "learner"), wait);
			else if (still++ < WAITS_SHOWN)
				print_still(out, document, sl_durations_whole(lane, "learner"), wait);
		}
	}
	merge_waits(&waits, sl_durations_whole(json_object_get(document, "slowest"), "learner"));
	fprintf(out, waits.count == 0 ? "No learner waited for more than a second.\n"
				      : "Waits of more than a second, by the learner that was awaited:\n");
	for (i = 0; i < waits.count && i < WAITS_SHOWN; i++)
		print_awaited(out, document, &waits.rows[i]);
	if (waits.count > WAITS_SHOWN)
		fprintf(out, "  and %zu more: --json prints all\n", waits.count - WAITS_SHOWN);
	free(waits.rows);
}

static void print_notes(FILE *out, const json_t *document)
{
	const json_t *notes = json_object_get(document, "notes"), *note;
	size_t i, n = json_array_size(notes);
	char who[SL_DURATIONS_WHO_BYTES];
	if (n == 0)
		return;
	fprintf(out, "Warnings and errors:\n");
	json_array_foreach(notes, i, note)
	{
		if (i == NOTES_SHOWN)
			break;
		sl_durations_who(document, sl_durations_whole(note, "learner"), who);
		fprintf(out, "  %s: %s\n", who, text_of(note, "text"));
	}
	if (n > NOTES_SHOWN)
		fprintf(out, "  and %zu more\n", n - NOTES_SHOWN);
}

void sl_explain_clocks(FILE *out, const json_t *document, const json_t *gap)
{
	char ahead[SL_DURATIONS_WHO_BYTES], behind[SL_DURATIONS_WHO_BYTES];
	if (!json_is_object(gap))
		return;
	sl_durations_who(document, sl_durations_whole(gap, "ahead"), ahead);
	sl_durations_who(document, sl_durations_whole(gap, "behind"), behind);
	fprintf(out,
		"The clock of %s is at least %.3f s ahead of that of %s. Times are as they were logged.\n",
		ahead, sl_durations_real(gap, "s"), behind);
}

static void print_bytes(FILE *out, const json_t *document, const struct counts *counts)
{
	const json_t *links = json_object_get(document, "links"), *link, *busiest = NULL;
	char all[16], most[16], a[SL_DURATIONS_WHO_BYTES], b[SL_DURATIONS_WHO_BYTES];
	size_t i;
	if (counts->committed == 0)
		return;
	json_array_foreach(links, i, link) if (sl_durations_whole(link, "bytes") >
					       sl_durations_whole(busiest, "bytes")) busiest = link;
	fprintf(out, "Sent: %s by %zu learner%s", sl_explain_bytes(counts->sent, all), counts->committed,
		counts->committed == 1 ? "" : "s");
	if (busiest != NULL) {
		sl_durations_who(document, sl_durations_whole(busiest, "a"), a);
		sl_durations_who(document, sl_durations_whole(busiest, "b"), b);
		fprintf(out, "; the busiest link, %s to %s, carried %s", a, b,
			sl_explain_bytes(sl_durations_whole(busiest, "bytes"), most));
	}
	fprintf(out, ".\n");
}

/* Print the sentences, wrapped, into `out`. */
static void print_sentences(FILE *out, const json_t *document, struct sl_durations *durations)
{
	struct counts counts = count(document);
	const json_t *attempt;
	size_t i;
	print_head(out, document, &counts);
	json_array_foreach(json_object_get(document, "attempts"), i, attempt)
		print_attempt(out, document, attempt);
	print_spread(out, document);
	print_restarts(out, document);
	print_result(out, document, &counts);
	print_privacy(out, document);
	print_slowest(out, document, durations);
	print_waits(out, document);
	print_bytes(out, document, &counts);
	print_notes(out, document);
}

void sl_explain_round(FILE *out, const json_t *document)
{
	struct sl_durations durations = {0};
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);
	assert(memory != NULL);
	sl_durations_add(&durations, document);
	print_sentences(memory, document, &durations);
	sl_explain_clocks(memory, document, json_object_get(document, "clock_gap"));
	fclose(memory);
	sl_terminal_fill(out, text, sl_terminal_width(out));
	json_t *phases = sl_durations_phases(&durations);
	sl_durations_print(out, document, phases, false);
	json_decref(phases);
	free(text);
	sl_durations_close(&durations);
}
