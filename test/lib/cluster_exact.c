/* What the learners of a cluster committed, from their logs and their encodings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/lib/cluster.h"
#include "tools/launch/recompute.h"

struct round {
	json_int_t attempt, learners; /* of its view: of a commit, or of the last view that was logged */
	char view[17]; /* as in the log; two views of one attempt differ in it (ROUND.md §7.8) */
	bool committed, fatal;
	uint64_t members, has_model; /* bit i - 1: learner i */
	char digest[2 * SL_HASH_BYTES + 1];
	enum sl_values values; /* of its encoding */
	uint32_t bits;
};

struct history {
	const struct cluster *c;
	uint64_t liars;	      /* bit i - 1: what learner i commits does not count */
	struct round *rounds; /* [t - 1] */
	uint32_t count;	      /* of rounds */
	uint32_t last[CLUSTER_MAX];
	char view[17];	       /* the last one of the log that is read */
	struct sl_error wrong; /* the first wrong commit; "": none */
};

typedef void (*hear)(struct history *h, uint32_t i, struct round *round, const json_t *record,
		     const char *event);

static json_int_t number(const json_t *record, const char *name)
{
	return json_integer_value(json_object_get(record, name));
}

static struct round *round_at(struct history *h, json_int_t t)
{
	if (t < 1)
		return NULL;
	if (t > h->count) {
		h->rounds = reallocarray(h->rounds, (size_t)t, sizeof *h->rounds);
		assert_non_null(h->rounds);
		memset(h->rounds + h->count, 0, ((size_t)t - h->count) * sizeof *h->rounds);
		h->count = (uint32_t)t;
	}
	return &h->rounds[t - 1];
}

/* Call `each` for the records of learner i. The last line of a learner that was killed may be half a record.
 */
static void read_log(struct history *h, uint32_t i, hear each)
{
	char *line = NULL;
	size_t size = 0;
	FILE *log = fopen(cluster_path(h->c, i, "log.jsonl"), "re");
	h->view[0] = '\0';
	if (log == NULL && (h->liars >> (i - 1) & 1))
		return; /* it was never started */
	assert_non_null(log);
	while (getline(&line, &size, log) > 0) {
		json_t *record = json_loads(line, 0, NULL);
		const char *event = json_string_value(json_object_get(record, "event"));
		struct round *round = round_at(h, number(record, "round"));
		if (event != NULL && strcmp(event, "view") == 0)
			snprintf(h->view, sizeof h->view, "%s",
				 json_string_value(json_object_get(record, "view")));
		if (event != NULL && round != NULL)
			each(h, i, round, record, event);
		json_decref(record);
	}
	free(line);
	fclose(log);
}

/* Find the attempt that committed. If all learners died before one could log it, it is the last one. */
static void find_attempt(struct history *h, uint32_t i, struct round *round, const json_t *record,
			 const char *event)
{
	bool committed = strcmp(event, "committed") == 0;
	if (h->liars >> (i - 1) & 1)
		return;
	if (committed || (strcmp(event, "view") == 0 && !round->committed &&
			  number(record, "attempt") >= round->attempt)) {
		round->attempt = number(record, "attempt");
		round->learners = number(record, "learners");
		memcpy(round->view, h->view, sizeof round->view);
	}
	round->fatal |= strcmp(event, "fatal") == 0;
	if (!committed && strcmp(event, "caught_up") != 0)
		return;
	round->committed |= committed;
	if (committed) {
		const char *values = json_string_value(json_object_get(record, "values"));
		round->values = strcmp(values, "update") == 0  ? SL_VALUES_UPDATE
				: strcmp(values, "exact") == 0 ? SL_VALUES_EXACT
							       : SL_VALUES_MODEL;
		round->bits = (uint32_t)number(record, "bits");
	}
	round->has_model |= UINT64_C(1) << (i - 1);
	uint32_t t = (uint32_t)(round - h->rounds) + 1;
	h->last[i - 1] = t > h->last[i - 1] ? t : h->last[i - 1];
	const char *digest = json_string_value(json_object_get(record, "digest"));
	if (round->digest[0] == '\0')
		snprintf(round->digest, sizeof round->digest, "%s", digest);
	if (strcmp(round->digest, digest) != 0)
		sl_err_set(&h->wrong, SL_ERR_REFUSED, "round %u: two models", t);
}

static void find_members(struct history *h, uint32_t i, struct round *round, const json_t *record,
			 const char *event)
{
	if (strcmp(event, "view") == 0 && number(record, "attempt") == round->attempt &&
	    strcmp(h->view, round->view) == 0)
		round->members |= UINT64_C(1) << (i - 1);
}

uint32_t cluster_last_round(const struct cluster *c, uint32_t i)
{
	struct history h = {.c = c};
	if (cluster_count(c, i, "\"round\"") > 0)
		read_log(&h, i, find_attempt);
	free(h.rounds);
	return h.last[i - 1];
}

/* Write the request to check round t, or what is wrong with it before that. */
static void ask(struct history *h, uint32_t t, FILE *requests)
{
	const struct round *round = &h->rounds[t - 1];
	uint64_t excused = ~round->has_model | h->liars;
	const struct sl_recompute_round check = {
		.folder = &h->c->run,
		.encoding = {.kind = SL_ENCODING_WEIGHTED,
			     .values = round->values,
			     .update_bits = round->bits,
			     .decimals = 4,
			     .clipping_range = 16,
			     .weight = 1},
		.tolerance = 1,
		.round = t,
		.who = &round->members,
		.passed = &excused,
	};
	if (round->attempt == 0 || (round->fatal && h->liars == 0))
		sl_err_set(&h->wrong, SL_ERR_REFUSED, "round %u: %s", t,
			   round->fatal ? "a learner logged a fatal error" : "no attempt");
	else if (__builtin_popcountll(round->members) != round->learners)
		sl_err_set(&h->wrong, SL_ERR_REFUSED, "round %u: %d of %d learners logged the view", t,
			   __builtin_popcountll(round->members), (int)round->learners);
	if (h->wrong.text[0] != '\0')
		return;
	json_t *request = sl_recompute_request(&check);
	assert_int_equal(json_dumpf(request, requests, JSON_COMPACT), 0);
	fputc('\n', requests);
	json_decref(request);
}

/* Let starling_verify answer `asked` requests; keep the first error, which is of an earlier round than one
 * that is known. */
static void check(struct history *h, const char *requests, uint32_t asked)
{
	char command[512], *line = NULL;
	size_t size = 0;
	uint32_t answered = 0;
	bool right = true;
	snprintf(command, sizeof command,
		 "PYTHONPATH=" SL_SOURCE_ROOT "/tools/verify exec python3 -m starling_verify <%s", requests);
	FILE *answers = popen(command, "r");
	assert_non_null(answers);
	while (getline(&line, &size, answers) > 0) {
		json_t *answer = json_loads(line, 0, NULL);
		const char *error = json_string_value(json_object_get(answer, "error"));
		answered += json_object_get(answer, "round") != NULL;
		if (error != NULL && right)
			sl_err_set(&h->wrong, SL_ERR_REFUSED, "round %d: %s", (int)number(answer, "round"),
				   error);
		right &= error == NULL;
		json_decref(answer);
	}
	free(line);
	assert_int_equal(pclose(answers), 0);
	assert_int_equal(answered, asked);
}

void cluster_need_numpy(void)
{
	static int found = -1;
	if (found < 0)
		found = system("python3 -c 'import numpy' 2>/dev/null");
	if (found == 0)
		return;
	print_message("skipped: python3 has no numpy\n");
	skip();
}

uint32_t cluster_look_exact(const struct cluster *c, uint64_t liars, struct sl_error *wrong)
{
	struct history h = {.c = c, .liars = liars};
	uint32_t least = UINT32_MAX;
	cluster_need_numpy();
	for (uint32_t i = 1; i <= c->run.learners; i++)
		read_log(&h, i, find_attempt);
	for (uint32_t i = 1; i <= c->run.learners; i++)
		read_log(&h, i, find_members);
	for (uint32_t i = 0; i < c->run.learners; i++)
		if (!(liars >> i & 1))
			least = h.last[i] < least ? h.last[i] : least;
	const char *requests = cluster_path(c, 0, "requests");
	FILE *out = fopen(requests, "we");
	assert_non_null(out);
	uint32_t asked = 0;
	for (uint32_t t = 1; t <= least && h.wrong.text[0] == '\0'; t++) {
		ask(&h, t, out);
		asked += h.wrong.text[0] == '\0';
	}
	assert_int_equal(fclose(out), 0);
	check(&h, requests, asked);
	free(h.rounds);
	*wrong = h.wrong;
	return least;
}

uint32_t cluster_expect_exact(const struct cluster *c)
{
	struct sl_error wrong;
	uint32_t rounds = cluster_look_exact(c, 0, &wrong);
	if (wrong.text[0] != '\0')
		fail_msg("%s", wrong.text);
	return rounds;
}
