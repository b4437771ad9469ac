#include "test/wire/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mixing/engine.h"

static uint64_t stream;

void sample_seed(void)
{
	const char *text = getenv("SL_SEED");
	uint64_t seed = text != NULL ? strtoull(text, NULL, 10) : 1;
	printf("SL_SEED=%llu\n", (unsigned long long)seed);
	stream = seed;
}

/* splitmix64 */
uint64_t sample_random(void)
{
	uint64_t z = stream += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t sample_range(uint64_t least, uint64_t most)
{
	uint64_t span = most - least + 1;
	return span == 0 ? sample_random() : least + sample_random() % span;
}

/* One of the ends, or between them with any number of bits. */
static uint64_t edge(uint64_t least, uint64_t most)
{
	switch (sample_random() % 8) {
	case 0:
		return least;
	case 1:
		return most;
	default:
		return least + (sample_range(0, most - least) >> (sample_random() % 64));
	}
}

static uint32_t edge32(uint32_t least, uint32_t most)
{
	return (uint32_t)edge(least, most);
}

static void noise(uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)sample_random();
}

static sl_round some_round(void)
{
	return edge32(1, SL_ROUNDS_MAX + 1);
}

static void make_hello(struct sl_hello *hello)
{
	hello->id = edge32(1, UINT32_MAX);
	hello->incarnation = edge32(0, UINT32_MAX);
	hello->t = some_round();
	hello->a = edge32(1, SL_ATTEMPTS_MAX);
	hello->status = (enum sl_peer_status)sample_range(SL_PEER_STATUS_TRAINING, SL_PEER_STATUS_OPEN);
	noise(hello->run, sizeof hello->run);
	noise(hello->roster, sizeof hello->roster);
}

static void make_parameters(struct sl_parameters *q)
{
	double clipping_range = ldexp(1 + (double)sample_range(0, 1000), (int)sample_range(0, 40) - 20);
	q->n = edge(1, SL_ELEMENTS_MAX - 1);
	q->p = sample_random() % 4 == 0 ? 0 : edge(3, (UINT64_C(1) << 61) - 1);
	q->rounds = edge(1, SL_ROUNDS_MAX);
	q->quorum = edge(1, SL_LEARNERS_MAX);
	q->tolerance = edge(1, SL_LEARNERS_MAX - 2);
	q->decimals = edge(0, SL_DECIMALS_MAX);
	memcpy(&q->clipping_range, &clipping_range, sizeof clipping_range);
	q->max_weight = edge(1, UINT64_MAX);
	q->encoding = sample_range(0, 1);
	q->sharing = sample_range(0, 2);
	q->mixing = sample_range(0, 3);
	q->iterations_rule = sample_range(0, 1);
	q->k = edge(q->iterations_rule, SL_ITERATIONS_MAX);
	q->max_degree = edge(SL_DEGREE_LEAST, SL_LEARNERS_MAX);
}

static void make_link_state(struct sl_link_state *ls, sl_id *candidates)
{
	ls->id = edge32(1, UINT32_MAX);
	ls->incarnation = edge32(0, UINT32_MAX);
	ls->t = some_round();
	ls->a = edge32(1, SL_ATTEMPTS_MAX);
	noise(ls->key, sizeof ls->key);
	noise(ls->roster, sizeof ls->roster);
	ls->roster_size = edge32(1, SL_LEARNERS_MAX);
	make_parameters(&ls->parameters);
	noise(ls->previous, sizeof ls->previous);
	ls->count = (uint32_t)sample_range(0, 20);
	ls->candidates = candidates;
	sl_id id = 0;
	for (uint32_t i = 0; i < ls->count; i++)
		candidates[i] = id += (sl_id)sample_range(1, sample_random() % 4 == 0 ? 200000000 : 3);
	noise(ls->signature, sizeof ls->signature);
}

static void make_ready(struct sl_ready *ready)
{
	ready->id = edge32(1, UINT32_MAX);
	ready->t = some_round();
	ready->a = edge32(1, SL_ATTEMPTS_MAX);
	noise(ready->view, sizeof ready->view);
	ready->k = edge(0, SL_ITERATIONS_NONE);
	noise(ready->commitment, sizeof ready->commitment);
	noise(ready->signature, sizeof ready->signature);
}

static void make_digest(struct sl_digest *digest)
{
	digest->id = edge32(1, UINT32_MAX);
	digest->t = some_round();
	digest->a = edge32(1, SL_ATTEMPTS_MAX);
	noise(digest->key, sizeof digest->key);
	noise(digest->view, sizeof digest->view);
	noise(digest->digest, sizeof digest->digest);
	digest->p = edge(3, (UINT64_C(1) << 61) - 1);
	digest->learners = edge32(2, SL_LEARNERS_MAX);
	digest->decimals = edge32(0, SL_DECIMALS_MAX);
	digest->encoding = (uint32_t)sample_range(0, 1);
	double clipping_range = (double)edge(1, UINT32_MAX);
	memcpy(&digest->clipping_range, &clipping_range, sizeof clipping_range);
	noise(digest->signature, sizeof digest->signature);
}

static void make_request(struct sl_request *request)
{
	request->t = edge32(0, SL_ROUNDS_MAX + 1);
	request->index = edge32(0, SL_ELEMENTS_MAX / SL_CHUNK_ELEMENTS - 1);
	if (sample_random() % 2 == 0)
		return;
	request->t = some_round();
	request->a = edge32(1, SL_ATTEMPTS_MAX);
	request->origin = edge32(1, UINT32_MAX);
}

static void make_abort(struct sl_abort *abort_record)
{
	abort_record->id = edge32(1, UINT32_MAX);
	abort_record->incarnation = edge32(0, UINT32_MAX);
	abort_record->t = some_round();
	abort_record->count = (uint32_t)sample_range(0, SL_RELEASED_MAX);
	for (uint32_t i = 0; i < abort_record->count; i++)
		abort_record->released[i] =
			(i == 0 ? 0 : abort_record->released[i - 1]) + (sl_attempt)sample_range(1, 1000000);
	abort_record->a =
		edge32(abort_record->count == 0 ? 1 : abort_record->released[abort_record->count - 1],
		       SL_ATTEMPTS_MAX);
	abort_record->closed = edge32(0, abort_record->a);
	noise(abort_record->key, sizeof abort_record->key);
	noise(abort_record->signature, sizeof abort_record->signature);
}

static void make_have(struct sl_have *have, uint8_t *piece)
{
	have->t = some_round();
	have->a = edge32(1, SL_ATTEMPTS_MAX);
	noise(have->view, sizeof have->view);
	have->size = edge32(1, SL_LEARNERS_MAX / 8);
	noise(piece, have->size);
	have->held = piece;
}

static void make_chunk(enum sl_message_kind kind, struct sl_chunk *chunk, uint8_t *piece)
{
	chunk->t = some_round();
	chunk->a = edge32(1, SL_ATTEMPTS_MAX);
	noise(chunk->view, sizeof chunk->view);
	chunk->iteration = kind == SL_MSG_STATE ? edge(0, SL_ITERATIONS_MAX - 1) : 0;
	chunk->index = edge32(0, SL_ELEMENTS_MAX / SL_CHUNK_ELEMENTS - 1);
	chunk->origin = kind == SL_MSG_MASKED ? edge32(1, UINT32_MAX) : 0;
	memset(chunk->nonce, 0, sizeof chunk->nonce);
	if (sl_message_nonce_due(kind, chunk))
		noise(chunk->nonce, sizeof chunk->nonce);
	chunk->size = (size_t)sample_range(1, SAMPLE_PIECE_MAX);
	noise(piece, chunk->size);
	chunk->bytes = piece;
}

void sample_make(struct sample *sample, enum sl_message_kind kind)
{
	struct sl_message *m = &sample->message;
	*m = (struct sl_message){.kind = kind};
	switch (kind) {
	case SL_MSG_HELLO:
		make_hello(&m->hello);
		break;
	case SL_MSG_LINK_STATE:
		make_link_state(&m->link_state, sample->candidates);
		break;
	case SL_MSG_READY:
		make_ready(&m->ready);
		break;
	case SL_MSG_DIGEST:
		make_digest(&m->digest);
		break;
	case SL_MSG_REQUEST:
		make_request(&m->request);
		break;
	case SL_MSG_ABORT:
		make_abort(&m->abort_record);
		break;
	case SL_MSG_HAVE:
		make_have(&m->have, sample->piece);
		break;
	case SL_MSG_SHARE:
	case SL_MSG_STATE:
	case SL_MSG_RESULT:
	case SL_MSG_MASKED:
		make_chunk(kind, &m->chunk, sample->piece);
		break;
	}
}

#define SAME(field) (a->field == b->field)
#define SAME_BYTES(field) (memcmp(a->field, b->field, sizeof a->field) == 0)

static bool equal_hello(const struct sl_hello *a, const struct sl_hello *b)
{
	return SAME(id) && SAME(incarnation) && SAME(t) && SAME(a) && SAME(status) && SAME_BYTES(run) &&
	       SAME_BYTES(roster);
}

static bool equal_link_state(const struct sl_link_state *a, const struct sl_link_state *b)
{
	return SAME(id) && SAME(incarnation) && SAME(t) && SAME(a) && SAME_BYTES(key) && SAME_BYTES(roster) &&
	       SAME(roster_size) && memcmp(&a->parameters, &b->parameters, sizeof a->parameters) == 0 &&
	       SAME_BYTES(previous) && SAME(count) &&
	       (a->count == 0 || memcmp(a->candidates, b->candidates, a->count * sizeof(sl_id)) == 0) &&
	       SAME_BYTES(signature);
}

static bool equal_ready(const struct sl_ready *a, const struct sl_ready *b)
{
	return SAME(id) && SAME(t) && SAME(a) && SAME_BYTES(view) && SAME(k) && SAME_BYTES(commitment) &&
	       SAME_BYTES(signature);
}

static bool equal_digest(const struct sl_digest *a, const struct sl_digest *b)
{
	return SAME(id) && SAME(t) && SAME(a) && SAME_BYTES(key) && SAME_BYTES(view) && SAME_BYTES(digest) &&
	       SAME(p) && SAME(learners) && SAME(decimals) && SAME(encoding) && SAME(clipping_range) &&
	       SAME_BYTES(signature);
}

static bool equal_request(const struct sl_request *a, const struct sl_request *b)
{
	return SAME(t) && SAME(index) && SAME(a) && SAME(origin);
}

static bool equal_abort(const struct sl_abort *a, const struct sl_abort *b)
{
	return SAME(id) && SAME(incarnation) && SAME(t) && SAME(a) && SAME_BYTES(key) && SAME(count) &&
	       SAME(closed) && memcmp(a->released, b->released, a->count * sizeof *a->released) == 0 &&
	       SAME_BYTES(signature);
}

static bool equal_have(const struct sl_have *a, const struct sl_have *b)
{
	return SAME(t) && SAME(a) && SAME_BYTES(view) && SAME(size) && memcmp(a->held, b->held, a->size) == 0;
}

static bool equal_chunk(const struct sl_chunk *a, const struct sl_chunk *b)
{
	return SAME(t) && SAME(a) && SAME_BYTES(view) && SAME(iteration) && SAME(index) && SAME(origin) &&
	       SAME_BYTES(nonce) && SAME(size) && memcmp(a->bytes, b->bytes, a->size) == 0;
}

bool sample_equal(const struct sl_message *a, const struct sl_message *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case SL_MSG_HELLO:
		return equal_hello(&a->hello, &b->hello);
	case SL_MSG_LINK_STATE:
		return equal_link_state(&a->link_state, &b->link_state);
	case SL_MSG_READY:
		return equal_ready(&a->ready, &b->ready);
	case SL_MSG_DIGEST:
		return equal_digest(&a->digest, &b->digest);
	case SL_MSG_REQUEST:
		return equal_request(&a->request, &b->request);
	case SL_MSG_ABORT:
		return equal_abort(&a->abort_record, &b->abort_record);
	case SL_MSG_HAVE:
		return equal_have(&a->have, &b->have);
	case SL_MSG_SHARE:
	case SL_MSG_STATE:
	case SL_MSG_RESULT:
	case SL_MSG_MASKED:
		return equal_chunk(&a->chunk, &b->chunk);
	}
	return false;
}

static bool between(uint64_t least, uint64_t value, uint64_t most)
{
	return least <= value && value <= most;
}

static bool when(uint64_t t, uint64_t a)
{
	return between(1, t, 1000001) && between(1, a, 1u << 24);
}

static bool promises_parameters(const struct sl_parameters *q)
{
	double clipping_range;
	memcpy(&clipping_range, &q->clipping_range, sizeof clipping_range);
	return between(1, q->n, (1u << 28) - 1) && (q->p == 0 || between(3, q->p, (UINT64_C(1) << 61) - 1)) &&
	       between(1, q->rounds, 1000000) && between(1, q->quorum, 2000) &&
	       between(1, q->tolerance, 1998) && q->decimals <= 12 && clipping_range > 0 &&
	       clipping_range < INFINITY && q->max_weight >= 1 && q->encoding <= 1 && q->sharing <= 2 &&
	       q->mixing <= 3 && q->k <= 1000000 && q->iterations_rule <= 1 &&
	       (q->iterations_rule == 0 || q->k != 0) && between(4, q->max_degree, 2000);
}

static bool promises_link_state(const struct sl_link_state *ls)
{
	bool rising = ls->count == 0 || ls->candidates[0] >= 1;
	for (uint32_t i = 1; i < ls->count; i++)
		rising = rising && ls->candidates[i - 1] < ls->candidates[i];
	return rising && ls->count <= 2000 && ls->id >= 1 && when(ls->t, ls->a) &&
	       between(1, ls->roster_size, 2000) && promises_parameters(&ls->parameters);
}

static bool promises_digest(const struct sl_digest *digest)
{
	double clipping_range;
	memcpy(&clipping_range, &digest->clipping_range, sizeof clipping_range);
	return digest->id >= 1 && digest->decimals <= 12 && digest->encoding <= 1 && clipping_range > 0 &&
	       clipping_range < INFINITY && when(digest->t, digest->a) &&
	       between(3, digest->p, (UINT64_C(1) << 61) - 1) && between(2, digest->learners, 2000);
}

static bool promises_request(const struct sl_request *request)
{
	bool result = request->a == 0 && request->origin == 0 && request->t <= 1000001;
	bool masked = request->origin >= 1 && when(request->t, request->a);
	return (result || masked) && request->index < 8192;
}

static bool promises_abort(const struct sl_abort *abort_record)
{
	bool rising = abort_record->count == 0 ||
		      (abort_record->released[0] >= 1 &&
		       abort_record->released[abort_record->count - 1] <= abort_record->a);
	for (uint32_t i = 1; i < abort_record->count; i++)
		rising = rising && abort_record->released[i - 1] < abort_record->released[i];
	return rising && abort_record->count <= 16 && abort_record->closed <= abort_record->a &&
	       abort_record->id >= 1 && when(abort_record->t, abort_record->a);
}

/* A nonce stands where a masked state begins, and nowhere else. */
static bool promises_chunk(enum sl_message_kind kind, const struct sl_chunk *chunk, uint64_t iteration_most)
{
	uint8_t any = 0;
	for (size_t i = 0; i < sizeof chunk->nonce; i++)
		any |= chunk->nonce[i];
	bool masked = kind == SL_MSG_MASKED, begins = chunk->index == 0 && chunk->iteration == 0;
	return (any != 0) == (begins && (masked || kind == SL_MSG_STATE)) && (chunk->origin != 0) == masked &&
	       when(chunk->t, chunk->a) && chunk->iteration <= iteration_most && chunk->index < 8192 &&
	       between(1, chunk->size, 262144);
}

bool sample_promises(const struct sl_message *m)
{
	switch (m->kind) {
	case SL_MSG_HELLO:
		return m->hello.id >= 1 && when(m->hello.t, m->hello.a) && between(1, m->hello.status, 4);
	case SL_MSG_LINK_STATE:
		return promises_link_state(&m->link_state);
	case SL_MSG_READY:
		return m->ready.id >= 1 && when(m->ready.t, m->ready.a) && m->ready.k <= 1000001;
	case SL_MSG_DIGEST:
		return promises_digest(&m->digest);
	case SL_MSG_REQUEST:
		return promises_request(&m->request);
	case SL_MSG_ABORT:
		return promises_abort(&m->abort_record);
	case SL_MSG_HAVE:
		return when(m->have.t, m->have.a) && between(1, m->have.size, 250);
	case SL_MSG_SHARE:
	case SL_MSG_RESULT:
	case SL_MSG_MASKED:
		return promises_chunk(m->kind, &m->chunk, 0);
	case SL_MSG_STATE:
		return promises_chunk(m->kind, &m->chunk, 999999);
	}
	return false;
}
