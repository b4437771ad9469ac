/* three.c - three learners in one process, without sockets and disk, train five numbers and agree on the
 * exact mean, round by round:
 *
 *      cc three.c $(pkg-config --cflags --libs libstarlingcore) -o three && ./three
 *
 * A program for real use has links with TLS in place of `struct frame`, and a file in place of `records`. The
 * numbers in comments are those of the duties in <starling/core.h>.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <starling/core.h>

#define LEARNERS 3
#define ELEMENTS 5
#define ROUNDS 3

struct frame { /* on its way */
	struct frame *next;
	uint32_t from, to;
	size_t size;
	unsigned char bytes[];
};

struct learner {
	struct starling_core *core;
	uint32_t self, records; /* that are not durable yet */
	uint32_t round;		/* to be trained; 0: none */
	float *model, mean[ELEMENTS];
	int stopped, code;
};

static struct learner learners[LEARNERS];
static struct frame *frames, **frames_end = &frames;
static uint64_t now; /* a clock that stands still while there is work */

static void record(void *context, const void *bytes, size_t size, int first) /* 2 */
{
	(void)bytes, (void)size, (void)first; /* to be appended to the log of this learner */
	((struct learner *)context)->records++;
}

static void send(void *context, uint32_t peer, const void *bytes, size_t size) /* 3 */
{
	struct frame *frame = malloc(sizeof *frame + size);
	if (frame == NULL)
		abort();
	*frame = (struct frame){NULL, ((struct learner *)context)->self, peer, size};
	memcpy(frame->bytes, bytes, size);
	*frames_end = frame;
	frames_end = &frame->next;
}

static void train(void *context, uint32_t round, int again, float *model) /* 5 */
{
	(void)again; /* no learner fails here */
	struct learner *l = context;
	l->round = round;
	l->model = model;
}

static void committed(void *context, uint32_t round, const float *model)
{
	struct learner *l = context;
	memcpy(l->mean, model, sizeof l->mean);
	printf("learner %u, round %u:", l->self + 1, round);
	for (int e = 0; e < ELEMENTS; e++)
		printf(" %g%s", (double)model[e], e + 1 < ELEMENTS ? "" : "\n");
}

static void stop(void *context, int code) /* 8 */
{
	struct learner *l = context;
	l->stopped = 1;
	l->code = code;
}

/* Links are up all the time: no `links`. */
static const struct starling_core_duties duties = {
	.record = record, .send = send, .train = train, .committed = committed, .stop = stop};

/* Do one thing that is due for a learner; return 0 if there is nothing. */
static int work(struct learner *l)
{
	struct starling_core_job *job;
	uint32_t round = l->round;
	if (l->stopped)
		return 0;
	if (l->records > 0) {
		l->records--;
		starling_core_durable(l->core, now);
	} else if ((job = starling_core_job(l->core)) != NULL) { /* 4 */
		starling_core_run(job);
		starling_core_done(job, now);
	} else if (round > 0) {
		for (int e = 0; e < ELEMENTS; e++) /* each learner adds numbers of its own */
			l->model[e] += (float)(l->self + 1) * (float)(e + 1);
		l->round = 0;
		starling_core_trained(l->core, round, 1, now);
	} else {
		return 0;
	}
	return 1;
}

/* Take one frame to its receiver; return 0 if there is none. */
static int deliver(void)
{
	struct frame *frame = frames;
	if (frame == NULL)
		return 0;
	frames = frame->next;
	if (frames == NULL)
		frames_end = &frames;
	if (!learners[frame->to].stopped)
		starling_core_receive(learners[frame->to].core, frame->from, frame->bytes, frame->size, now);
	free(frame);
	return 1;
}

/* Let the clock go on to the next deadline (7). */
static void elapse(void)
{
	uint64_t next = STARLING_CORE_NEVER;
	for (struct learner *l = learners; l < learners + LEARNERS; l++)
		if (!l->stopped && starling_core_deadline(l->core) < next)
			next = starling_core_deadline(l->core);
	now = next > now ? next : now;
	for (struct learner *l = learners; l < learners + LEARNERS; l++)
		if (!l->stopped)
			starling_core_tick(l->core, now);
}

int main(void)
{
	static struct starling_core_member members[LEARNERS];
	static unsigned char secrets[LEARNERS][64];
	for (uint32_t i = 0; i < LEARNERS; i++) {
		members[i].id = i + 1;
		starling_core_keys(members[i].key, secrets[i]);
	}
	for (uint32_t i = 0; i < LEARNERS; i++) {
		struct learner *l = &learners[i];
		struct starling_core_options options = {.run = "three",
							.members = members,
							.learners = LEARNERS,
							.self = i,
							.secret = secrets[i],
							.elements = ELEMENTS,
							.rounds = ROUNDS};
		l->self = i;
		l->core = starling_core_open(&options, &duties, l);
		if (l->core == NULL || starling_core_start(l->core) != 0)
			return 1;
		work(l); /* its start is durable */
	}
	for (uint32_t i = 0; i < LEARNERS; i++)
		for (uint32_t j = 0; j < LEARNERS; j++)
			if (i != j)
				starling_core_link(learners[i].core, j, 1, now);
	for (int running = LEARNERS; running > 0;) {
		int busy = deliver();
		running = 0;
		for (struct learner *l = learners; l < learners + LEARNERS; l++) {
			busy |= work(l);
			running += !l->stopped;
		}
		if (!busy)
			elapse();
	}
	int wrong = 0;
	for (struct learner *l = learners; l < learners + LEARNERS; l++) {
		for (int e = 0; e < ELEMENTS; e++) /* a round adds 1, 2 and 3 times e + 1: 2 of it */
			wrong |= l->mean[e] != (float)(2 * ROUNDS * (e + 1)) || l->code != 0;
		starling_core_close(l->core);
	}
	printf(wrong ? "three: not the mean\n" : "three: the exact mean in %d rounds\n", ROUNDS);
	return wrong;
}
