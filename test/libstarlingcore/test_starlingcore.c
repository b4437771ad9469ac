/* libstarlingcore: three learners in memory, with logs, of which one is started again after each of its
 * records. */
#include "test/lib/test.h"

#include <stdlib.h>
#include <string.h>

#include "tools/libstarlingcore/core.h"

#define LEARNERS 3
#define ELEMENTS 7
#define ROUNDS 2
#define STEPS_MAX 1000000 /* ends a test that hangs */

struct frame {
	struct frame *next;
	uint32_t from, to;
	size_t size;
	unsigned char bytes[];
};

struct record {
	struct record *next;
	size_t size;
	bool durable;
	unsigned char bytes[];
};

struct learner {
	struct starling_core *core;
	struct record *log, **log_end;
	uint32_t durable; /* records, in all its lives */
	uint32_t round, committed;
	float *model;
	float mean[ROUNDS + 1][ELEMENTS];
	bool stopped;
	int code, call; /* call: what a duty got that called the core */
	int failed;	/* reports FAILED */
	uint32_t other; /* the peer that it names for another roster; 0: none, or learner 0 */
};

static struct starling_core_member members[LEARNERS];
static unsigned char secrets[LEARNERS][64];
static struct learner learners[LEARNERS];
static struct frame *frames;
static uint64_t now;
static int trained_again; /* models that may have been released, in all runs */

static uint32_t index_of(const void *context)
{
	return (uint32_t)((const struct learner *)context - learners);
}

/* --- duties --- */

static void record(void *context, const void *bytes, size_t size, int first)
{
	struct learner *l = context;
	struct record *r = malloc(sizeof *r + size);
	l->call = starling_core_durable(l->core, now);
	while (first && l->log != NULL && l->log->durable) { /* those before it, in turn */
		struct record *old = l->log;
		l->log = old->next;
		free(old);
	}
	if (l->log == NULL)
		l->log_end = &l->log;
	*r = (struct record){NULL, size, false};
	memcpy(r->bytes, bytes, size);
	*l->log_end = r;
	l->log_end = &r->next;
}

static void send(void *context, uint32_t peer, const void *bytes, size_t size)
{
	struct frame *frame = malloc(sizeof *frame + size), **end = &frames;
	*frame = (struct frame){NULL, index_of(context), peer, size};
	memcpy(frame->bytes, bytes, size);
	while (*end != NULL)
		end = &(*end)->next;
	*end = frame;
}

static void train(void *context, uint32_t round, int again, float *model)
{
	trained_again += again != 0;
	struct learner *l = context;
	l->round = round;
	l->model = model;
}

static void links(void *context, const unsigned char *wanted)
{
	(void)context, (void)wanted;
}

static void committed(void *context, uint32_t round, const float *model)
{
	struct learner *l = context;
	assert_in_range(round, l->committed, ROUNDS);
	l->committed = round;
	memcpy(l->mean[round], model, sizeof l->mean[round]);
}

static void report(void *context, uint32_t round, const char *what, const char *why, uint32_t peer)
{
	struct learner *l = context;
	(void)round;
	if (why != NULL && strcmp(why, "roster") == 0)
		l->other = peer;
	l->failed += strcmp(what, "FAILED") == 0;
}

static void stop(void *context, int code)
{
	struct learner *l = context;
	l->stopped = true;
	l->code = code;
}

static const struct starling_core_duties duties = {.record = record,
						   .send = send,
						   .links = links,
						   .train = train,
						   .committed = committed,
						   .report = report,
						   .stop = stop};

/* --- what happens --- */

static uint64_t weight_of_last = 10; /* max_weight of learner 2 */

static struct starling_core_options options_of(uint32_t i)
{
	return (struct starling_core_options){.run = "test",
					      .members = members,
					      .learners = LEARNERS,
					      .self = i,
					      .secret = secrets[i],
					      .elements = ELEMENTS,
					      .rounds = ROUNDS,
					      .max_weight = i == 2 ? weight_of_last : 10};
}

static void link_all(uint32_t i, int up)
{
	for (uint32_t j = 0; j < LEARNERS; j++)
		if (j != i && learners[j].core != NULL && !learners[j].stopped && !learners[i].stopped) {
			starling_core_link(learners[j].core, i, up, now);
			if (up)
				starling_core_link(learners[i].core, j, up, now);
		}
}

static void link_each(void)
{
	for (uint32_t i = 0; i < LEARNERS; i++)
		for (uint32_t j = 0; j < LEARNERS; j++)
			if (j != i)
				starling_core_link(learners[i].core, j, 1, now);
}

static bool write_one(struct learner *l)
{
	struct record *r = l->log;
	while (r != NULL && r->durable)
		r = r->next;
	if (r == NULL)
		return false;
	r->durable = true;
	l->durable++;
	assert_int_equal(starling_core_durable(l->core, now), 0);
	return true;
}

static void start(uint32_t i)
{
	struct learner *l = &learners[i];
	struct starling_core_options options = options_of(i);
	l->core = starling_core_open(&options, &duties, l);
	assert_non_null(l->core);
	l->round = 0;
	for (const struct record *r = l->log; r != NULL; r = r->next)
		assert_int_equal(starling_core_restore(l->core, r->bytes, r->size), 0);
	assert_int_equal(starling_core_start(l->core), 0);
	assert_true(write_one(l));
}

static void forget_frames(uint32_t i)
{
	for (struct frame **f = &frames; *f != NULL;) {
		struct frame *frame = *f;
		if (frame->to != i && frame->from != i && i != LEARNERS) {
			f = &frame->next;
			continue;
		}
		*f = frame->next;
		free(frame);
	}
}

/* Kill learner i: records that are not durable, and frames on the way, are lost. */
static void fall(uint32_t i)
{
	struct learner *l = &learners[i];
	starling_core_close(l->core);
	l->core = NULL;
	forget_frames(i);
	l->log_end = &l->log;
	while (*l->log_end != NULL) {
		struct record *r = *l->log_end;
		if (r->durable) {
			l->log_end = &r->next;
			continue;
		}
		*l->log_end = r->next;
		free(r);
	}
}

static bool work(struct learner *l)
{
	struct starling_core_job *job;
	if (l->stopped)
		return false;
	if (write_one(l))
		return true;
	if ((job = starling_core_job(l->core)) != NULL) {
		assert_null(starling_core_job(l->core)); /* one at a time */
		starling_core_run(job);
		starling_core_done(job, now);
		return true;
	}
	if (l->round == 0)
		return false;
	uint32_t round = l->round, i = index_of(l);
	for (uint32_t e = 0; e < ELEMENTS; e++)
		l->model[e] += (float)((i + 1) * (e + 1));
	l->round = 0;
	assert_int_equal(starling_core_trained(l->core, round, i + 1, now), 0);
	return true;
}

static bool deliver(void)
{
	struct frame *frame = frames;
	if (frame == NULL)
		return false;
	frames = frame->next;
	if (!learners[frame->to].stopped)
		starling_core_receive(learners[frame->to].core, frame->from, frame->bytes, frame->size, now);
	free(frame);
	return true;
}

static void elapse(void)
{
	uint64_t next = STARLING_CORE_NEVER;
	for (int i = 0; i < LEARNERS; i++) {
		uint64_t due =
			learners[i].stopped ? STARLING_CORE_NEVER : starling_core_deadline(learners[i].core);
		next = due < next ? due : next;
	}
	assert_true(next != STARLING_CORE_NEVER);
	now = next > now ? next : now;
	for (int i = 0; i < LEARNERS; i++)
		if (!learners[i].stopped)
			starling_core_tick(learners[i].core, now);
}

static void begin(void)
{
	memset(learners, 0, sizeof learners);
	for (uint32_t i = 0; i < LEARNERS; i++) {
		learners[i].log_end = &learners[i].log;
		start(i);
	}
	link_each();
}

/* Take a turn; return false if all have stopped. */
static bool turn(void)
{
	bool busy = deliver(), running = false;
	for (uint32_t i = 0; i < LEARNERS; i++) {
		busy |= work(&learners[i]);
		running |= !learners[i].stopped;
	}
	if (running && !busy)
		elapse();
	return running;
}

static bool is_writing(const struct learner *l)
{
	const struct record *r = l->log;
	while (r != NULL && r->durable)
		r = r->next;
	return r != NULL;
}

/* Run until all have stopped; learner 2 falls once when `fall_at` of its records are durable (0: never), and
 * another is not, if `writing`. Return its number of records. */
static uint32_t run(uint32_t fall_at, bool writing)
{
	struct learner *l = &learners[1];
	begin();
	for (int k = 0; turn(); k++) {
		assert_in_range(k, 0, STEPS_MAX);
		if (fall_at == 0 || l->durable < fall_at || l->stopped || (writing && !is_writing(l)))
			continue;
		fall_at = 0;
		fall(1);
		link_all(1, 0);
		start(1);
		link_all(1, 1);
	}
	return l->durable;
}

static void close_all(void)
{
	for (uint32_t i = 0; i < LEARNERS; i++) {
		starling_core_close(learners[i].core);
		while (learners[i].log != NULL) {
			struct record *r = learners[i].log;
			learners[i].log = r->next;
			free(r);
		}
	}
	forget_frames(LEARNERS);
}

/* The mean of 1, 2 and 3 times e + 1, with these weights, is 14 / 6 of it, rounded once.
 */
static void expect_mean(void)
{
	for (uint32_t i = 0; i < LEARNERS; i++) {
		assert_int_equal(learners[i].code, 0);
		assert_int_equal(learners[i].committed, ROUNDS);
		for (uint32_t e = 0; e < ELEMENTS; e++)
			assert_true(learners[i].mean[1][e] == (float)((e + 1) * 14.0 / 6.0));
		assert_memory_equal(learners[i].mean[ROUNDS], learners[0].mean[ROUNDS],
				    sizeof learners[i].mean[0]);
	}
}

static int keys(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < LEARNERS; i++) {
		members[i].id = 10 * i + 7;
		if (starling_core_keys(members[i].key, secrets[i]) != 0)
			return -1;
	}
	return 0;
}
TEST_SETUP(keys, NULL)

TEST(three_learners_agree_on_the_weighted_mean)
{
	run(0, false);
	expect_mean();
	for (uint32_t i = 0; i < LEARNERS; i++) {
		assert_int_equal(learners[i].failed, 0);
		assert_int_equal(learners[i].call, -9); /* of a duty that calls: in use */
	}
	close_all();
}

TEST(a_learner_goes_on_from_its_log_after_any_record)
{
	uint32_t records = run(0, false);
	close_all();
	assert_in_range(records, 5,
			100); /* a start, and PREPARED, RELEASED and COMMIT of two rounds, or more */
	assert_int_equal(trained_again, 0);
	for (uint32_t k = 1; k < records; k++)
		for (int pending = 0; pending < 2; pending++) {
			run(k, pending);
			expect_mean();
			close_all();
		}
	assert_true(trained_again > 0);
}

/* When all have released and all fall, the deposits in their logs are the only ones left: with them the
 * attempt goes on, and no model is trained again. */
TEST(all_go_on_from_their_own_deposits)
{
	int before = trained_again;
	begin();
	for (int k = 0; learners[0].durable < 3 || learners[1].durable < 3 || learners[2].durable < 3; k++) {
		assert_in_range(k, 0, STEPS_MAX);
		turn();
	}
	for (uint32_t i = 0; i < LEARNERS; i++) {
		assert_int_equal(learners[i].committed, 0);
		fall(i);
	}
	for (uint32_t i = 0; i < LEARNERS; i++)
		start(i);
	link_each();
	for (int k = 0; turn(); k++)
		assert_in_range(k, 0, STEPS_MAX);
	expect_mean();
	assert_int_equal(trained_again, before);
	close_all();
}

/* Options that all share are part of the roster: a core with others is refused, and refuses. */
TEST(cores_with_other_options_refuse_each_other)
{
	weight_of_last = 11;
	begin();
	for (int k = 0; learners[0].other == 0 || learners[1].other == 0; k++) {
		assert_in_range(k, 0, STEPS_MAX);
		assert_true(turn());
	}
	assert_int_equal(learners[0].other, 2);
	assert_int_equal(learners[1].other, 2);
	assert_int_equal(learners[0].committed + learners[1].committed + learners[2].committed, 0);
	close_all();
	weight_of_last = 10;
}

TEST(a_damaged_record_is_refused)
{
	run(0, false);
	struct starling_core_options options = options_of(1);
	struct starling_core *core = starling_core_open(&options, &duties, &learners[1]);
	struct record *r = learners[1].log;
	assert_int_equal(starling_core_restore(core, r->bytes, r->size - 1), -5);
	assert_int_equal(starling_core_restore(core, r->bytes, 3), -5);
	for (size_t at = 0; at < r->size; at += 11) {
		r->bytes[at] ^= 4;
		assert_int_equal(starling_core_restore(core, r->bytes, r->size), -5);
		r->bytes[at] ^= 4;
	}
	assert_int_equal(starling_core_restore(core, r->bytes, r->size), 0);
	starling_core_close(core);
	close_all();
}

TEST(a_frame_that_is_not_of_its_signer_is_refused)
{
	struct starling_core_options options = options_of(0);
	unsigned char key[32], secret[64];
	memset(learners, 0, sizeof learners);
	for (uint32_t i = 0; i < LEARNERS; i++)
		learners[i].log_end = &learners[i].log;
	start(0);
	start(2);
	assert_int_equal(starling_core_keys(key, secret), 0);
	options.secret = secret; /* not that of the roster */
	learners[1].core = starling_core_open(&options, &duties, &learners[1]);
	starling_core_close(learners[1].core);
	options = options_of(1);
	options.secret = secret;
	learners[1].core = starling_core_open(&options, &duties, &learners[1]);
	assert_int_equal(starling_core_start(learners[1].core), 0);
	assert_true(write_one(&learners[1]));
	link_each();
	int refused = 0;
	for (int k = 0; k < 200 && refused == 0; k++) {
		for (uint32_t i = 0; i < LEARNERS; i++)
			work(&learners[i]);
		while (frames != NULL) {
			struct frame *frame = frames;
			frames = frame->next;
			int rc = starling_core_receive(learners[frame->to].core, frame->from, frame->bytes,
						       frame->size, now);
			assert_true(rc != -6 || frame->from == 1);
			refused += rc == -6; /* cryptographic check failed */
			if (frame->size > 20 && rc == 0) {
				frame->bytes[0] ^= 1;
				assert_int_equal(starling_core_receive(learners[frame->to].core, frame->from,
								       frame->bytes, frame->size, now),
						 -5);
			}
			free(frame);
		}
		elapse();
	}
	assert_true(refused > 0);
	close_all();
}

TEST(options_out_of_range_are_refused)
{
	struct starling_core_options options = options_of(0);
	options.learners = 2;
	assert_null(starling_core_open(&options, &duties, NULL));
	options = options_of(LEARNERS);
	assert_null(starling_core_open(&options, &duties, NULL));
	options = options_of(0);
	options.elements = 0;
	assert_null(starling_core_open(&options, &duties, NULL));
	options = options_of(0);
	options.rounds = 0;
	assert_null(starling_core_open(&options, &duties, NULL));
	options = options_of(0);
	members[2].id = members[1].id;
	assert_null(starling_core_open(&options, &duties, NULL));
	members[2].id = 27;
	assert_string_equal(starling_core_error(-5), "malformed");
}
