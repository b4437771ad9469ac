#include "tools/timeline/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/timeline/explain.h"
#include "tools/timeline/durations.h"
#include "tools/timeline/rounds.h"

#define LINKS_MOST 10u
#define STRAGGLERS_SHOWN 5u

struct link {
	uint64_t a, b, bytes;
};

struct straggler {
	uint64_t learner, rounds;
	double s;
};

struct stats {
	struct sl_durations durations;
	struct sl_samples rounds; /* durations */
	struct sl_samples bytes;  /* sent in a round, by all learners */
	struct link *links;
	struct straggler *stragglers; /* one for each round with a slowest learner, until they are merged */
	size_t link_count, straggler_count;
	uint64_t committed, attempts, failed, sent;
	bool same;
	json_t *clock_gap; /* the largest; NULL: none */
};

/* ---- collecting ---- */

static void add(struct sl_samples *samples, double value, uint64_t round)
{
	samples->samples = sl_rounds_grow(samples->samples, samples->count, sizeof *samples->samples);
	samples->samples[samples->count++] = (struct sl_sample){.s = value, .round = round};
}

static void add_attempts(struct stats *stats, const json_t *document)
{
	const json_t *attempt;
	size_t i;
	json_array_foreach(json_object_get(document, "attempts"), i, attempt)
	{
		const char *ended = json_string_value(json_object_get(attempt, "ended"));
		stats->attempts++;
		stats->failed += ended != NULL && strcmp(ended, "failed") == 0;
	}
}

static void add_bytes(struct stats *stats, const json_t *document, uint64_t round)
{
	const json_t *lane, *link;
	uint64_t sent = 0;
	size_t i;
	json_array_foreach(json_object_get(document, "learners_of_round"), i, lane) sent +=
		sl_durations_whole(lane, "bytes_sent");
	if (sent > 0)
		add(&stats->bytes, (double)sent, round);
	stats->sent += sent;
	json_array_foreach(json_object_get(document, "links"), i, link)
	{
		stats->links = sl_rounds_grow(stats->links, stats->link_count, sizeof *stats->links);
		stats->links[stats->link_count++] =
			(struct link){sl_durations_whole(link, "a"), sl_durations_whole(link, "b"),
				      sl_durations_whole(link, "bytes")};
	}
}

static int by_ends(const void *a, const void *b)
{
	const struct link *x = a, *y = b;
	if (x->a != y->a)
		return (x->a > y->a) - (x->a < y->a);
	return (x->b > y->b) - (x->b < y->b);
}

static int by_bytes(const void *a, const void *b)
{
	const struct link *x = a, *y = b;
	if (x->bytes != y->bytes)
		return (x->bytes < y->bytes) - (x->bytes > y->bytes);
	return by_ends(a, b);
}

/* Add up the links of all rounds: memory is that of the links, and of one round. */
static void merge_links(struct stats *stats)
{
	size_t kept = 0;
	if (stats->link_count == 0)
		return;
	qsort(stats->links, stats->link_count, sizeof *stats->links, by_ends);
	for (size_t i = 1; i < stats->link_count; i++)
		if (by_ends(&stats->links[kept], &stats->links[i]) == 0)
			stats->links[kept].bytes += stats->links[i].bytes;
		else
			stats->links[++kept] = stats->links[i];
	stats->link_count = kept + 1;
}

static void add_gap(struct stats *stats, json_t *gap, uint64_t round)
{
	if (!json_is_object(gap) ||
	    sl_durations_real(gap, "s") <= fmax(0, sl_durations_real(stats->clock_gap, "s")))
		return;
	json_decref(stats->clock_gap);
	stats->clock_gap = json_incref(gap);
	json_object_set_new(gap, "round", json_integer((json_int_t)round));
}

static void add_round(struct stats *stats, const json_t *document)
{
	const json_t *slowest = json_object_get(document, "slowest"),
		     *same = json_object_get(document, "same");
	uint64_t round = sl_durations_whole(document, "round");
	double s = sl_durations_real(document, "end_s") - sl_durations_real(document, "start_s");
	sl_durations_add(&stats->durations, document);
	add_attempts(stats, document);
	add_bytes(stats, document, round);
	if (!isnan(s))
		add(&stats->rounds, s, round);
	stats->committed += json_is_boolean(same);
	stats->same = stats->same && !json_is_false(same);
	add_gap(stats, json_object_get(document, "clock_gap"), round);
	if (!json_is_object(slowest))
		return;
	stats->stragglers =
		sl_rounds_grow(stats->stragglers, stats->straggler_count, sizeof *stats->stragglers);
	stats->stragglers[stats->straggler_count++] = (struct straggler){
		sl_durations_whole(slowest, "learner"), 1, sl_durations_real(slowest, "s")};
}

static int by_learner(const void *a, const void *b)
{
	const struct straggler *x = a, *y = b;
	return (x->learner > y->learner) - (x->learner < y->learner);
}

static int by_rounds(const void *a, const void *b)
{
	const struct straggler *x = a, *y = b;
	if (x->rounds != y->rounds)
		return (x->rounds < y->rounds) - (x->rounds > y->rounds);
	return (x->s < y->s) - (x->s > y->s);
}

static void merge_stragglers(struct stats *stats)
{
	size_t kept = 0;
	if (stats->straggler_count == 0)
		return;
	qsort(stats->stragglers, stats->straggler_count, sizeof *stats->stragglers, by_learner);
	for (size_t i = 1; i < stats->straggler_count; i++)
		if (stats->stragglers[kept].learner == stats->stragglers[i].learner) {
			stats->stragglers[kept].rounds++;
			stats->stragglers[kept].s += stats->stragglers[i].s;
		} else {
			stats->stragglers[++kept] = stats->stragglers[i];
		}
	stats->straggler_count = kept + 1;
	qsort(stats->stragglers, stats->straggler_count, sizeof *stats->stragglers, by_rounds);
}

/* ---- JSON ---- */

static json_t *bytes_json(struct stats *stats)
{
	if (stats->bytes.count == 0)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:I}", "sent", (json_int_t)stats->sent, "round_p50",
			 (json_int_t)sl_durations_quantile(&stats->bytes, 0.5), "round_max",
			 (json_int_t)sl_durations_largest(&stats->bytes)->s, "round",
			 (json_int_t)sl_durations_largest(&stats->bytes)->round);
}

static json_t *links_json(struct stats *stats)
{
	json_t *array = json_array();
	if (stats->link_count > 0)
		qsort(stats->links, stats->link_count, sizeof *stats->links, by_bytes);
	for (size_t i = 0; i < stats->link_count && i < LINKS_MOST; i++)
		json_array_append_new(array, json_pack("{s:I, s:I, s:I}", "a", (json_int_t)stats->links[i].a,
						       "b", (json_int_t)stats->links[i].b, "bytes",
						       (json_int_t)stats->links[i].bytes));
	return array;
}

static json_t *stragglers_json(const struct stats *stats)
{
	json_t *array = json_array();
	for (size_t i = 0; i < stats->straggler_count; i++)
		json_array_append_new(array, json_pack("{s:I, s:I, s:f}", "learner",
						       (json_int_t)stats->stragglers[i].learner, "rounds",
						       (json_int_t)stats->stragglers[i].rounds, "s",
						       stats->stragglers[i].s));
	return array;
}

json_t *sl_stats_json(struct sl_timeline *timeline)
{
	struct stats stats = {.same = true};
	json_t *object = sl_timeline_run_json(timeline);
	for (uint64_t t = 0; (t = sl_timeline_changed_since(timeline, 0, t)) != 0;) {
		json_t *document = sl_timeline_round_json(timeline, t);
		add_round(&stats, document);
		merge_links(&stats);
		json_decref(document);
	}
	merge_stragglers(&stats);
	json_object_set_new(object, "committed", json_integer((json_int_t)stats.committed));
	json_object_set_new(object, "same", stats.committed > 0 ? json_boolean(stats.same) : json_null());
	json_object_set_new(object, "attempts", json_integer((json_int_t)stats.attempts));
	json_object_set_new(object, "failed_attempts", json_integer((json_int_t)stats.failed));
	json_object_set_new(object, "round_s", sl_durations_json(&stats.rounds));
	json_object_set_new(object, "phases", sl_durations_phases(&stats.durations));
	json_object_set_new(object, "bytes", bytes_json(&stats));
	json_object_set_new(object, "links", links_json(&stats));
	json_object_set_new(object, "stragglers", stragglers_json(&stats));
	json_object_set_new(object, "clock_gap", stats.clock_gap != NULL ? stats.clock_gap : json_null());
	sl_durations_close(&stats.durations);
	free(stats.rounds.samples);
	free(stats.bytes.samples);
	free(stats.links);
	free(stats.stragglers);
	return object;
}

/* ---- text ---- */

static void print_round(FILE *out, const json_t *stats)
{
	const json_t *round = json_object_get(stats, "round_s"), *same = json_object_get(stats, "same");
	unsigned long long failed = sl_durations_whole(stats, "failed_attempts");
	fprintf(out, "Rounds committed: %llu; attempts: %llu, of which %llu failed; %s.\n",
		(unsigned long long)sl_durations_whole(stats, "committed"),
		(unsigned long long)sl_durations_whole(stats, "attempts"), failed,
		json_is_true(same)    ? "all learners have the same models"
		: json_is_false(same) ? "NOT all learners have the same models"
				      : "none has a result");
	if (json_is_object(round))
		fprintf(out, "A round took p50 %.3f s, p95 %.3f s, at most %.3f s (round %llu).\n",
			sl_durations_real(round, "p50_s"), sl_durations_real(round, "p95_s"),
			sl_durations_real(round, "max_s"),
			(unsigned long long)sl_durations_whole(round, "round"));
}

static void print_bytes(FILE *out, const json_t *stats)
{
	const json_t *bytes = json_object_get(stats, "bytes"),
		     *link = json_array_get(json_object_get(stats, "links"), 0);
	char a[SL_DURATIONS_WHO_BYTES], b[SL_DURATIONS_WHO_BYTES], all[16], usual[16], most[16];
	if (!json_is_object(bytes))
		return;
	fprintf(out, "Sent: %s in all; p50 of a round %s, at most %s (round %llu).\n",
		sl_explain_bytes(sl_durations_whole(bytes, "sent"), all),
		sl_explain_bytes(sl_durations_whole(bytes, "round_p50"), usual),
		sl_explain_bytes(sl_durations_whole(bytes, "round_max"), most),
		(unsigned long long)sl_durations_whole(bytes, "round"));
	if (link == NULL)
		return;
	sl_durations_who(stats, sl_durations_whole(link, "a"), a);
	sl_durations_who(stats, sl_durations_whole(link, "b"), b);
	fprintf(out, "The busiest link, %s to %s, carried %s.\n", a, b,
		sl_explain_bytes(sl_durations_whole(link, "bytes"), all));
}

static void print_stragglers(FILE *out, const json_t *stats)
{
	const json_t *all = json_object_get(stats, "stragglers"), *straggler;
	char who[SL_DURATIONS_WHO_BYTES];
	size_t i, n = json_array_size(all);
	if (n > 0)
		fprintf(out, "Slowest learners:\n");
	json_array_foreach(all, i, straggler)
	{
		unsigned long long rounds = sl_durations_whole(straggler, "rounds");
		if (i == STRAGGLERS_SHOWN)
			break;
		sl_durations_who(stats, sl_durations_whole(straggler, "learner"), who);
		fprintf(out, "  %s in %llu round%s, %.3f s in all\n", who, rounds, rounds == 1 ? "" : "s",
			sl_durations_real(straggler, "s"));
	}
	if (n > STRAGGLERS_SHOWN)
		fprintf(out, "  and %zu more\n", n - STRAGGLERS_SHOWN);
}

void sl_stats_print(FILE *out, const json_t *stats)
{
	print_round(out, stats);
	sl_durations_print(out, stats, json_object_get(stats, "phases"), true);
	fputc('\n', out);
	print_bytes(out, stats);
	print_stragglers(out, stats);
	sl_explain_clocks(out, stats, json_object_get(stats, "clock_gap"));
}
