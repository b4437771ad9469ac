/* Play two rounds of three learners, of which the last one is hostile: the input says what becomes of its
 * frames. A command has four bytes: so many frames arrive as they are; then what happens to the next one,
 * where in it, and the byte that it gets. Nothing that it sends may end an honest learner, or give the two
 * honest ones different means. What is signed cannot be changed so that it is believed: the other messages
 * can. */
#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "test/fuzz/fuzz.h"
#include "tools/libstarlingcore/core.h"

#define LEARNERS 3u
#define LIAR 2u
#define ELEMENTS 5u
#define ROUNDS 2u
#define TURNS_MOST 1500u
#define FRAMES_MOST 64u /* that the liar repeats: else each would have answers without end */

struct frame {
	struct frame *next;
	uint32_t from, to;
	size_t size;
	unsigned char bytes[];
};

struct learner {
	struct starling_core *core;
	uint32_t records, round; /* records: that are not durable yet */
	float *model;
	int stopped;
};

static struct starling_core_member members[LEARNERS];
static unsigned char secrets[LEARNERS][64];
static struct learner learners[LEARNERS];
static struct frame *frames, **frames_end = &frames;
static float means[ROUNDS + 1][ELEMENTS]; /* of the honest learners, in each round */
static uint32_t committed_by[ROUNDS + 1];
static uint64_t now;
static const uint8_t *commands;
static size_t commands_left, repeated;
static uint32_t unchanged;

/* ---- the same random numbers for the same input ---- */

static uint64_t drawn;

static uint32_t draw(void)
{
	drawn += 0x9e3779b97f4a7c15;
	uint64_t z = (drawn ^ drawn >> 30) * 0xbf58476d1ce4e5b9;
	return (uint32_t)(z ^ z >> 27);
}

static void draw_bytes(void *const bytes, const size_t size)
{
	for (size_t i = 0; i < size; i++)
		((uint8_t *)bytes)[i] = (uint8_t)draw();
}

static const char *name(void)
{
	return "fuzz";
}

static struct randombytes_implementation numbers = {
	.implementation_name = name, .random = draw, .buf = draw_bytes};

__attribute__((constructor)) static void begin(void)
{
	randombytes_set_implementation(&numbers);
	for (uint32_t i = 0; i < LEARNERS; i++) {
		members[i].id = i + 1;
		starling_core_keys(members[i].key, secrets[i]);
	}
}

/* ---- duties ---- */

static void record(void *context, const void *bytes, size_t size, int first)
{
	(void)bytes, (void)size, (void)first;
	((struct learner *)context)->records++;
}

static void put(uint32_t from, uint32_t to, const void *bytes, size_t size)
{
	struct frame *frame = malloc(sizeof *frame + size);
	assert(frame != NULL);
	*frame = (struct frame){NULL, from, to, size};
	memcpy(frame->bytes, bytes, size);
	*frames_end = frame;
	frames_end = &frame->next;
}

static void send(void *context, uint32_t peer, const void *bytes, size_t size)
{
	put((uint32_t)((struct learner *)context - learners), peer, bytes, size);
}

static void links(void *context, const unsigned char *wanted)
{
	(void)context, (void)wanted;
}

static void train(void *context, uint32_t round, int again, float *model)
{
	struct learner *l = context;
	(void)again;
	l->round = round;
	l->model = model;
}

static void committed(void *context, uint32_t round, const float *model)
{
	assert(round >= 1 && round <= ROUNDS);
	if (context == &learners[LIAR])
		return;
	if (committed_by[round]++ == 0)
		memcpy(means[round], model, sizeof means[round]);
	assert(memcmp(means[round], model, sizeof means[round]) == 0);
}

static void report(void *context, uint32_t round, const char *what, const char *why, uint32_t peer)
{
	(void)context, (void)round, (void)what, (void)why, (void)peer;
}

static void stop(void *context, int code)
{
	struct learner *l = context;
	assert(code == 0 || l == &learners[LIAR]);
	l->stopped = 1;
}

static const struct starling_core_duties duties = {record, send, links, train, committed, report, stop};

/* ---- what happens ---- */

static void receive(const struct frame *frame)
{
	if (!learners[frame->to].stopped)
		starling_core_receive(learners[frame->to].core, frame->from, frame->bytes, frame->size, now);
}

static void relink(uint32_t a, uint32_t b)
{
	for (int up = 0; up < 2; up++) {
		if (!learners[a].stopped)
			starling_core_link(learners[a].core, b, up, now);
		if (!learners[b].stopped)
			starling_core_link(learners[b].core, a, up, now);
	}
}

/* Let a frame of the liar arrive as the next command wants it. */
static void lie(struct frame *frame)
{
	if (unchanged > 0 || commands_left < 4) {
		unchanged -= unchanged > 0;
		receive(frame);
		return;
	}
	const uint8_t *c = commands;
	size_t at = ((size_t)c[2] | (size_t)(c[1] >> 3) << 8) % frame->size;
	commands += 4, commands_left -= 4;
	unchanged = c[0];
	switch (c[1] & 7) {
	case 0: /* lost, and with it the link */
		relink(frame->from, frame->to);
		break;
	case 1:
		if (repeated++ < FRAMES_MOST)
			put(frame->from, frame->to, frame->bytes, frame->size);
		receive(frame);
		break;
	case 2: /* to the other one */
		frame->to = 1 - frame->to;
		receive(frame);
		break;
	case 3: /* another kind */
		frame->bytes[2] = c[3];
		receive(frame);
		break;
	case 4: /* late */
		now += (uint64_t)c[3] << 8;
		receive(frame);
		break;
	default:
		frame->bytes[at] = (c[1] & 7) == 5 ? c[3] : frame->bytes[at] ^ c[3];
		receive(frame);
	}
}

static int deliver(void)
{
	struct frame *frame = frames;
	if (frame == NULL)
		return 0;
	frames = frame->next;
	if (frames == NULL)
		frames_end = &frames;
	if (frame->from == LIAR)
		lie(frame);
	else
		receive(frame);
	free(frame);
	return 1;
}

static int work(struct learner *l)
{
	struct starling_core_job *job;
	if (l->stopped)
		return 0;
	if (l->records > 0) {
		l->records--;
		starling_core_durable(l->core, now);
	} else if ((job = starling_core_job(l->core)) != NULL) {
		starling_core_run(job);
		starling_core_done(job, now);
	} else if (l->round != 0) {
		uint32_t round = l->round;
		l->round = 0;
		for (uint32_t e = 0; e < ELEMENTS; e++)
			l->model[e] += (float)(l - learners) + (float)e;
		starling_core_trained(l->core, round, 1, now);
	} else {
		return 0;
	}
	return 1;
}

static void elapse(void)
{
	uint64_t next = STARLING_CORE_NEVER;
	for (uint32_t i = 0; i < LEARNERS; i++)
		if (!learners[i].stopped && starling_core_deadline(learners[i].core) < next)
			next = starling_core_deadline(learners[i].core);
	now = next != STARLING_CORE_NEVER && next > now ? next : now;
	for (uint32_t i = 0; i < LEARNERS; i++)
		if (!learners[i].stopped)
			starling_core_tick(learners[i].core, now);
}

static int turn(void)
{
	int busy = deliver(), running = 0;
	for (uint32_t i = 0; i < LEARNERS; i++) {
		busy |= work(&learners[i]);
		running |= !learners[i].stopped;
	}
	if (running && !busy)
		elapse();
	return running;
}

static void open_all(void)
{
	for (uint32_t i = 0; i < LEARNERS; i++) {
		struct starling_core_options options = {.run = "run",
							.members = members,
							.learners = LEARNERS,
							.self = i,
							.secret = secrets[i],
							.elements = ELEMENTS,
							.rounds = ROUNDS};
		learners[i] = (struct learner){.core = starling_core_open(&options, &duties, &learners[i])};
		assert(learners[i].core != NULL && starling_core_start(learners[i].core) == 0);
		while (learners[i].records > 0)
			work(&learners[i]);
	}
	for (uint32_t i = 0; i < LEARNERS; i++)
		for (uint32_t j = 0; j < LEARNERS; j++)
			if (j != i)
				starling_core_link(learners[i].core, j, 1, now);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	drawn = now = repeated = 0;
	commands = bytes;
	commands_left = count;
	unchanged = 0;
	memset(committed_by, 0, sizeof committed_by);
	open_all();
	for (uint32_t i = 0; i < TURNS_MOST && turn(); i++)
		;
	while (frames != NULL) {
		struct frame *frame = frames;
		frames = frame->next;
		free(frame);
	}
	frames_end = &frames;
	for (uint32_t i = 0; i < LEARNERS; i++)
		starling_core_close(learners[i].core);
	return 0;
}
