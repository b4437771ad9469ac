#include "test/insider/lies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/compute/job_model.h"
#include "daemon/net/link.h"
#include "test/explorer/packed.h"

/* ---- link states ---- */

static bool is_own(const struct insider *in, const struct sl_message *m, enum sl_message_kind kind)
{
	return m->kind == kind && insider_signs(in, m);
}

/* Sign two link states for one attempt: every second peer gets one with a candidate fewer. */
static bool equivocate(struct insider *in, uint32_t peer, struct sl_message *out)
{
	if (is_own(in, out, SL_MSG_LINK_STATE) && peer % 2 == 1 && out->link_state.count > 0)
		out->link_state.count--;
	return true;
}

/* Name the member with the smallest id among the candidates, although it is switched off. */
static bool name_absent(struct insider *in, uint32_t peer, struct sl_message *out)
{
	static sl_id candidates[SL_LEARNERS_MAX];
	struct sl_link_state *ls = &out->link_state;
	sl_id absent = in->daemon->members.roster.members[0].id;
	(void)peer;
	if (!is_own(in, out, SL_MSG_LINK_STATE) || (ls->count > 0 && ls->candidates[0] == absent))
		return true;
	candidates[0] = absent;
	for (uint32_t i = 0; i < ls->count; i++)
		candidates[i + 1] = ls->candidates[i];
	ls->candidates = candidates;
	ls->count++;
	return true;
}

/* Number the attempts 900 further than asked for: within what a learner takes for no jump. */
static bool jump(struct insider *in, uint32_t peer, struct sl_message *out)
{
	(void)peer;
	if (is_own(in, out, SL_MSG_LINK_STATE))
		out->link_state.a += 900;
	return true;
}

/* Sign 16,800 link states in each round, 400 at a time, whose attempts rise to the last one. */
static void flood(struct insider *in)
{
	const struct sl_link_state *last = insider_link_state(in);
	sl_round t = insider_round(in);
	if (in->round != t)
		in->counter = 0;
	in->round = t;
	for (unsigned i = 0; last != NULL && i < 400 && in->counter < 16800; i++) {
		struct sl_message m = {.kind = SL_MSG_LINK_STATE, .link_state = *last};
		uint64_t a = last->a + ++in->counter * 1000;
		m.link_state.t = t;
		m.link_state.a = (sl_attempt)(a < SL_ATTEMPTS_MAX ? a : SL_ATTEMPTS_MAX);
		insider_send_all(in, &m);
	}
}

/* ---- model and history ---- */

static void claim_model(struct sl_core_config *config)
{
	config->parameters.model ^= 1;
}

/* The others then average whole models in the first round. */
static void claim_initial(struct sl_core_config *config)
{
	config->parameters.initial ^= 1;
}

static void claim_history(struct sl_core_config *config)
{
	config->previous[0] ^= 1;
}

/* ---- the round ---- */

/* Say READY and nothing after it. */
static bool fall_silent(struct insider *in, uint32_t peer, struct sl_message *out)
{
	(void)peer;
	if (is_own(in, out, SL_MSG_READY))
		in->counter = 1;
	else if (in->counter == 1)
		return false;
	return true;
}

/* Say in Hello that a model is ready, and nothing else ever. */
static bool only_hello(struct insider *in, uint32_t peer, struct sl_message *out)
{
	(void)in;
	(void)peer;
	return out->kind == SL_MSG_HELLO;
}

/* Take part and release nothing: no deposit key, no key share of another, no sum. */
static bool withhold(struct insider *in, uint32_t peer, struct sl_message *out)
{
	(void)in;
	(void)peer;
	return out->kind != SL_MSG_KEY && out->kind != SL_MSG_OPENING && out->kind != SL_MSG_STATE;
}

/* Send no Challenge: without it nobody can compute the points of the check (ROUND.md §8.7). */
static bool hide_challenge(struct insider *in, uint32_t peer, struct sl_message *out)
{
	(void)in;
	(void)peer;
	return out->kind != SL_MSG_CHALLENGE;
}

/* Send the States to some, so that the others are taken for the cause. */
static bool hide_states(struct insider *in, uint32_t peer, struct sl_message *out)
{
	(void)in;
	return out->kind != SL_MSG_STATE || peer % 2 == 1;
}

/* In place of a key share, say that this learner is in the next round, and then that it is not. */
static bool leave_and_return(struct insider *in, uint32_t peer, struct sl_message *out)
{
	const struct sl_core_config *config = &in->daemon->core_config;
	struct sl_message m = {.kind = SL_MSG_HELLO,
			       .hello = {.id = in->daemon->settings->id,
					 .incarnation = config->incarnation,
					 .t = out->chunk.t + 1,
					 .a = out->chunk.a,
					 .status = SL_PEER_STATUS_READY}};
	if (out->kind != SL_MSG_KEY_SHARE)
		return true;
	memcpy(m.hello.run, config->scope.run, sizeof m.hello.run);
	memcpy(m.hello.roster, config->scope.roster, sizeof m.hello.roster);
	insider_send(in, peer, &m);
	m.hello.t--;
	insider_send_later(in, peer, &m, 30);
	return false;
}

static void abort_all(struct insider *in)
{
	struct sl_core_status status;
	sl_core_status(in->daemon->core, &status);
	struct sl_message m = {.kind = SL_MSG_ABORT,
			       .abort = {.id = in->daemon->settings->id,
					 .incarnation = in->daemon->core_config.incarnation,
					 .says = SL_ABORT_PROMISES,
					 .t = insider_round(in),
					 .a = status.a}};
	memcpy(m.abort.key, in->daemon->core_config.key, SL_KEY_BYTES);
	if (in->ticks % 5 == 0)
		insider_send_all(in, &m);
}

/* ---- vectors ---- */

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15) /* 2^64 over the golden ratio; its multiples lie anywhere */

/* Give the neighbours shares that belong to no model in the clipping range. All elements are altered, since a
 * single one may stay plausible. */
static bool corrupt_share(struct insider *in, uint32_t peer, struct sl_message *out)
{
	(void)peer;
	const struct sl_view *view = in->daemon->workspace_view;
	for (size_t l = 0; out->kind == SL_MSG_SHARE && out->chunk.index == 0 && l < view->elements; l++)
		insider_add(in, out, l, GOLDEN * (l + 1));
	return true;
}

/* Corrupt one share of each round: an attempt that ends for another reason hides the first one. */
static bool corrupt_one_share(struct insider *in, uint32_t peer, struct sl_message *out)
{
	if (out->kind != SL_MSG_SHARE || out->chunk.index != 0 || in->round == out->chunk.t)
		return true;
	in->round = out->chunk.t;
	return corrupt_share(in, peer, out);
}

#define LIE_VALUE 5000u /* half a unit at the usual four decimals */

/* Sign for the sum that the lie has made of Z. */
static void sign_for(const struct insider *in, struct sl_digest *digest)
{
	struct sl_workspace *w = &in->daemon->workspace;
	if (digest->t != insider_round(in) || in->daemon->workspace_view == NULL)
		return;
	struct sl_field field = in->daemon->workspace_view->field;
	uint8_t strands[SL_STRANDS_BYTES];
	size_t bytes = sl_packed_bytes(w->n + 1, field.bits);
	uint64_t honest = sl_bytes_element(w->s, 0, field.bits),
		 total = sl_bytes_element(w->s, w->n, field.bits);
	if (total == 0) /* the attempt has ended */
		return;
	packed_replace(w->s, 0, field.bits, sl_field_add(&field, honest, LIE_VALUE));
	sl_canonical_strands(w->s, bytes, strands);
	packed_replace(w->s, 0, field.bits, honest);
	uint8_t model[SL_STRANDS_BYTES];
	sl_job_model_hash(w, in->daemon->workspace_view, model);
	sl_canonical_result_of(&w->scope, digest->view, total, strands, model,
			       in->daemon->core_config.model_bytes, digest->digest);
}

/* Falsify a State: in `exact` and `metropolis` that of an exchange; in `forest` 1 goes up, 2 comes down. */
static bool alter_iteration(struct insider *in, struct sl_message *out, uint64_t iteration)
{
	if (out->kind == SL_MSG_STATE && out->chunk.iteration == iteration && out->chunk.index == 0)
		insider_add(in, out, 0, LIE_VALUE);
	bool tree =
		in->daemon->workspace_view != NULL && in->daemon->workspace_view->engine == SL_ENGINE_FOREST;
	if (is_own(in, out, SL_MSG_DIGEST) && tree && iteration == 2) /* else the lie returns with Z */
		sign_for(in, &out->digest);
	return true;
}

/* Give the keepers another deposit than the one that Ready commits to: to all the same. */
static bool other_deposit(struct insider *in, uint32_t peer, struct sl_message *out)
{
	(void)peer;
	if (out->kind == SL_MSG_DEPOSIT && out->chunk.index == 0)
		insider_add(in, out, 0, LIE_VALUE);
	return true;
}

/* Give each neighbour a key share that is not under the root in Ready. */
static bool other_key_share(struct insider *in, uint32_t peer, struct sl_message *out)
{
	static uint8_t bytes[SL_KEY_SHARE_BYTES_MAX];
	(void)in;
	(void)peer;
	if (out->kind != SL_MSG_KEY_SHARE)
		return true;
	memcpy(bytes, out->chunk.bytes, out->chunk.size);
	bytes[0] ^= 1;
	out->chunk.bytes = bytes;
	return true;
}

static bool other_exchange(struct insider *in, uint32_t peer, struct sl_message *out)
{
	(void)peer;
	return alter_iteration(in, out, 1);
}

static bool other_sum(struct insider *in, uint32_t peer, struct sl_message *out)
{
	(void)peer;
	return alter_iteration(in, out, 2);
}

#define TRICKLE_MS 900u /* less than the stall_timeout of the tests */

/* Send a chunk of the present attempt to each neighbour every TRICKLE_MS. */
static bool delay(struct insider *in, uint32_t peer, struct sl_message *out)
{
	static uint64_t last[SL_LEARNERS_MAX]; /* loop time at which the last chunk leaves */
	uint64_t now = uv_now(&in->daemon->loop), attempt = (uint64_t)out->chunk.t << 32 | out->chunk.a;
	if (in->counter != attempt)
		memset(last, 0, sizeof last);
	in->counter = attempt;
	last[peer] = (last[peer] > now ? last[peer] : now) + TRICKLE_MS;
	insider_send_later(in, peer, out, last[peer] - now);
	return false;
}

static bool trickle(struct insider *in, uint32_t peer, struct sl_message *out)
{
	return (out->kind != SL_MSG_SHARE && out->kind != SL_MSG_DEPOSIT && out->kind != SL_MSG_STATE) ||
	       delay(in, peer, out);
}

/* Be as fast as the others until the release. */
static bool trickle_states(struct insider *in, uint32_t peer, struct sl_message *out)
{
	return out->kind != SL_MSG_STATE || delay(in, peer, out);
}

/* ---- magnitudes ---- */

#define LARGEST (SL_MAGNITUDES - 1)

/* Set the counts of all tensors; `count` returns that of magnitude m of a tensor whose own one is `own`. */
static void set_counts(const struct insider_part *part, int64_t (*count)(uint32_t m, uint32_t own))
{
	const struct sl_ranges *ranges = part->encoding->ranges;
	size_t counts = sl_ranges_counts_at(ranges, part->encoding->update_bits, 0);
	for (size_t c = 0; c < (size_t)SL_MAGNITUDES * ranges->count; c++) {
		int64_t value = count(c % SL_MAGNITUDES, ranges->own[c / SL_MAGNITUDES]);
		if (counts + c >= part->first && counts + c < part->first + part->count)
			part->x[counts + c - part->first] = sl_field_lift(part->field, (uint64_t)value);
	}
}

/* Return true in the first attempt of each round: one that ends for another reason hides the lie. */
static bool is_first_attempt(struct insider *in)
{
	const struct sl_view *view = in->daemon->workspace_view;
	if (in->round != view->t)
		in->counter = view->a;
	in->round = view->t;
	return in->counter == view->a;
}

static int64_t largest(uint32_t m, uint32_t own)
{
	(void)own;
	return m == LARGEST;
}

static int64_t own_and_largest(uint32_t m, uint32_t own)
{
	return m == own || m == LARGEST;
}

static int64_t none(uint32_t m, uint32_t own)
{
	(void)m;
	(void)own;
	return 0;
}

/* Take another learner from the own magnitude, which the others have, too: two have the largest one. */
static int64_t another_too(uint32_t m, uint32_t own)
{
	return (m == LARGEST ? 2 : 0) - (m == own);
}

/* Add up to one as an element of the field, and to far more as numbers. */
static int64_t beyond_the_modulus(uint32_t m, uint32_t own)
{
	const int64_t most = 1 << 16;
	return m == own ? 1 - most : m == (own + 1) % SL_MAGNITUDES ? most : 0;
}

static void largest_magnitudes(struct insider *in, const struct insider_part *part)
{
	(void)in;
	set_counts(part, largest);
}

static void two_magnitudes(struct insider *in, const struct insider_part *part)
{
	if (is_first_attempt(in))
		set_counts(part, own_and_largest);
}

static void no_magnitudes(struct insider *in, const struct insider_part *part)
{
	if (is_first_attempt(in))
		set_counts(part, none);
}

static void magnitudes_beyond(struct insider *in, const struct insider_part *part)
{
	if (is_first_attempt(in))
		set_counts(part, beyond_the_modulus);
}

static void magnitudes_of_others(struct insider *in, const struct insider_part *part)
{
	(void)in;
	set_counts(part, another_too);
}

/* ---- results ---- */

static bool other_digest(struct insider *in, uint32_t peer, struct sl_message *out)
{
	(void)peer;
	if (is_own(in, out, SL_MSG_DIGEST))
		out->digest.digest[0] ^= 1;
	return true;
}

/* Say nothing but Hello, and sign a result of each view that others agree on: their Readys are relayed. */
static bool stray_digest(struct insider *in, uint32_t peer, struct sl_message *out)
{
	const struct sl_ready *ready = &out->ready;
	struct sl_message m = {.kind = SL_MSG_DIGEST, .digest = {.id = in->daemon->settings->id}};
	(void)peer;
	if (out->kind != SL_MSG_READY)
		return out->kind == SL_MSG_HELLO;
	memcpy(m.digest.key, in->daemon->core_config.key, SL_KEY_BYTES);
	m.digest.t = ready->t;
	m.digest.a = ready->a;
	memcpy(m.digest.view, ready->view, SL_HASH_BYTES);
	insider_send_all(in, &m);
	return false;
}

static void alter_model(struct sl_chunk *chunk)
{
	static uint8_t altered[SL_CHUNK_BYTES_MAX];
	memcpy(altered, chunk->bytes, chunk->size);
	altered[0] ^= 1;
	chunk->bytes = altered;
}

/* Show a learner that catches up a model that was never signed. */
static bool other_result(struct insider *in, uint32_t peer, struct sl_message *out)
{
	(void)in;
	(void)peer;
	if (out->kind == SL_MSG_RESULT && out->chunk.size > 0 && out->chunk.index == 0)
		alter_model(&out->chunk);
	return true;
}

/* Write the D of an invented model to `digest`: every byte 1. */
static void invent(const struct insider *in, struct sl_digest *digest)
{
	const struct sl_round_head *round = in->daemon->result.certificate.round;
	size_t bytes = in->daemon->core_config.model_bytes;
	uint8_t *model = malloc(bytes);
	static const uint8_t none[SL_STRANDS_BYTES];
	if (model == NULL)
		abort();
	memset(model, 1, bytes);
	sl_canonical_result(&in->daemon->core_config.scope, digest->view, round == NULL ? 0 : round->total,
			    round == NULL ? none : round->strands, model, bytes, digest->digest);
	free(model);
}

static void invent_chunk(struct sl_chunk *chunk)
{
	static uint8_t bytes[SL_CHUNK_BYTES_MAX];
	memset(bytes, 1, chunk->size);
	chunk->bytes = bytes;
}

/* Keep the masked state, so that the others cannot finish, and show them an invented result instead, signed
 * by this learner alone. */
static bool invent_result(struct insider *in, uint32_t peer, struct sl_message *out)
{
	if (out->kind == SL_MSG_DIGEST && !insider_signs(in, out))
		return false;
	if (out->kind == SL_MSG_DIGEST)
		invent(in, &out->digest);
	if (out->kind == SL_MSG_RESULT)
		invent_chunk(&out->chunk);
	return withhold(in, peer, out);
}

/* ---- quantities ---- */

#define REQUESTS 400000u /* more than sockets hold */

/* After the first round, read nothing any more, and request the last result again and again, 12 bytes a time:
 * nothing waits for this learner but answers, since it takes part in no further round. */
static void request_much(struct insider *in)
{
	struct sl_message m = {.kind = SL_MSG_REQUEST};
	if (insider_round(in) < 2)
		return;
	for (uint32_t i = 0; i < in->daemon->members.roster.size; i++) {
		struct sl_link *link = in->daemon->links->slots[i].up;
		if (link == NULL || link->control_bytes > 0)
			continue;
		link->paused = true;
		uv_read_stop((uv_stream_t *)&link->tcp);
		for (unsigned k = 0; k < 2000; k++, in->counter++)
			insider_send(in, i, &m);
	}
	if (in->counter >= REQUESTS && in->round == 0) {
		in->round = 1;
		fprintf(stderr, "it has requested much\n");
	}
}

static bool only_request(struct insider *in, uint32_t peer, struct sl_message *out)
{
	(void)peer;
	(void)out;
	return insider_round(in) < 2;
}

/* Tell nothing but the truth, each message twice, and some late. */
static bool repeat(struct insider *in, uint32_t peer, struct sl_message *out)
{
	insider_send(in, peer, out);
	if (out->kind != SL_MSG_HELLO && ++in->counter % 3 == 0)
		insider_send_later(in, peer, out, 100);
	return true;
}

/* Add no noise. */
static void no_noise(struct insider *in, int64_t *noise, size_t n)
{
	(void)in;
	memset(noise, 0, n * sizeof *noise);
}

static const struct lie lies[] = {
	{.name = "equivocate", .send = equivocate},
	{.name = "name-absent", .send = name_absent},
	{.name = "jump", .send = jump},
	{.name = "flood", .tick = flood},
	{.name = "other-model", .configure = claim_model},
	{.name = "other-initial", .configure = claim_initial},
	{.name = "history", .configure = claim_history},
	{.name = "silent", .send = fall_silent},
	{.name = "only-hello", .send = only_hello},
	{.name = "stray-digest", .send = stray_digest},
	{.name = "withhold", .send = withhold},
	{.name = "hide-challenge", .send = hide_challenge},
	{.name = "hide-states", .send = hide_states},
	{.name = "leave-and-return", .send = leave_and_return},
	{.name = "abort-all", .tick = abort_all},
	{.name = "corrupt-share", .send = corrupt_share},
	{.name = "corrupt-one-share", .send = corrupt_one_share},
	{.name = "other-deposit", .send = other_deposit},
	{.name = "other-key-share", .send = other_key_share},
	{.name = "other-exchange", .send = other_exchange},
	{.name = "other-sum", .send = other_sum},
	{.name = "largest-magnitudes", .encode = largest_magnitudes},
	{.name = "two-magnitudes", .encode = two_magnitudes},
	{.name = "no-magnitudes", .encode = no_magnitudes},
	{.name = "magnitudes-beyond", .encode = magnitudes_beyond},
	{.name = "magnitudes-of-others", .encode = magnitudes_of_others},
	{.name = "no-noise", .noise = no_noise},
	{.name = "trickle", .send = trickle},
	{.name = "trickle-states", .send = trickle_states},
	{.name = "other-digest", .send = other_digest},
	{.name = "other-result", .send = other_result},
	{.name = "invent-result", .send = invent_result},
	{.name = "request-much", .tick = request_much, .send = only_request},
	{.name = "repeat", .send = repeat},
};

const struct lie *lies_find(const char *name)
{
	for (size_t i = 0; i < sizeof lies / sizeof *lies; i++)
		if (strcmp(lies[i].name, name) == 0)
			return &lies[i];
	for (const struct lie *lie = lies_shown; lie->name != NULL; lie++)
		if (strcmp(lie->name, name) == 0)
			return lie;
	return NULL;
}
