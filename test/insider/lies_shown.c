/* Lies about what a learner has and shows: deposits that it keeps, results, certificates, rosters; and those
 * of one that helps another liar. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "daemon/membership/group_update.h"
#include "test/insider/lies.h"

static bool is_own(const struct insider *in, const struct sl_message *m, enum sl_message_kind kind)
{
	return m->kind == kind && insider_signs(in, m);
}

/* ---- a keeper ---- */

/* Send no States, so that the others recover, and say in each Have that all deposits and keys are here. */
static bool claim_all(struct sl_message *out)
{
	static uint8_t all[SL_LEARNERS_MAX / 8];
	struct sl_have *have = &out->have;
	if (out->kind != SL_MSG_HAVE)
		return out->kind != SL_MSG_STATE;
	uint32_t n = 0; /* participants: a set has no bit beyond */
	for (uint32_t i = 0; i < 8 * have->size; i++)
		n = (have->held[i / 8] >> i % 8 & 1) != 0 || (have->keys[i / 8] >> i % 8 & 1) != 0 ? i + 1
												   : n;
	memset(all, 0, sizeof all);
	for (uint32_t i = 0; i < n; i++)
		all[i / 8] |= (uint8_t)(1u << i % 8);
	have->held = have->keys = all;
	return true;
}

static bool is_kept(const struct insider *in, const struct sl_message *out)
{
	return out->kind == SL_MSG_DEPOSIT && out->chunk.origin != in->daemon->settings->id;
}

static bool keep_silent(struct insider *in, uint32_t peer, struct sl_message *out)
{
	(void)peer;
	return claim_all(out) && !is_kept(in, out);
}

static bool keep_rubbish(struct insider *in, uint32_t peer, struct sl_message *out)
{
	(void)peer;
	if (is_kept(in, out))
		insider_add(in, out, 0, 1 + in->counter++);
	return claim_all(out);
}

/* The same, and say Have anew after each chunk, so that the receiver asks for it again. */
static bool keep_offering(struct insider *in, uint32_t peer, struct sl_message *out)
{
	static uint8_t sets[2][SL_LEARNERS_MAX / 8];
	static struct sl_message have;
	bool kept = is_kept(in, out), leaves = keep_rubbish(in, peer, out);
	if (out->kind == SL_MSG_HAVE) {
		have = *out;
		memcpy(sets[0], out->have.held, out->have.size);
		memcpy(sets[1], out->have.keys, out->have.keys_size);
		have.have.held = sets[0];
		have.have.keys = sets[1];
	}
	if (kept && have.kind == SL_MSG_HAVE)
		insider_send_later(in, peer, &have, 100);
	return leaves;
}

/* Send the own deposit in the place of each that is asked for. */
static bool keep_own(struct insider *in, uint32_t peer, struct sl_message *out)
{
	static uint8_t own[SL_CHUNK_BYTES_MAX];
	(void)peer;
	if (is_kept(in, out))
		out->chunk.bytes = own;
	else if (out->kind == SL_MSG_DEPOSIT && out->chunk.index == 0)
		memcpy(own, out->chunk.bytes, out->chunk.size);
	return claim_all(out);
}

/* Send chunks of another size, and behind the last one, in turn. */
static bool keep_cut(struct insider *in, uint32_t peer, struct sl_message *out)
{
	(void)peer;
	if (is_kept(in, out) && in->counter++ % 2 == 0)
		out->chunk.size -= 8;
	else if (is_kept(in, out))
		out->chunk.index++;
	return claim_all(out);
}

/* ---- results ---- */

/* Name a later round in each Hello, and say Hello every half a second. */
static struct sl_message hello;

static bool claim_round(struct insider *in, uint32_t peer, struct sl_message *out)
{
	(void)peer;
	if (out->kind != SL_MSG_HELLO)
		return true;
	hello = *out;
	out->hello.t += 1 + (sl_round)(in->counter % 1000);
	return true;
}

static void claim_rounds(struct insider *in)
{
	if (hello.kind != SL_MSG_HELLO || in->ticks % 25 != 0)
		return;
	struct sl_message m = hello;
	m.hello.t += 1 + (sl_round)(in->counter++ % 1000);
	insider_send_all(in, &m);
}

static bool is_later_chunk(const struct sl_message *out)
{
	return out->kind == SL_MSG_RESULT && out->chunk.index > 0;
}

static bool cut_result(struct insider *in, uint32_t peer, struct sl_message *out)
{
	(void)in;
	(void)peer;
	return !is_later_chunk(out);
}

/* Send the first chunk a hundred times in place of the others. */
static bool endless_result(struct insider *in, uint32_t peer, struct sl_message *out)
{
	if (out->kind == SL_MSG_RESULT && out->chunk.index == 0)
		for (uint64_t k = 1; k <= 100; k++)
			insider_send_later(in, peer, out, 50 * k);
	return !is_later_chunk(out);
}

static bool false_chunk(struct insider *in, uint32_t peer, struct sl_message *out)
{
	static uint8_t altered[SL_CHUNK_BYTES_MAX];
	(void)in;
	(void)peer;
	if (!is_later_chunk(out))
		return true;
	memcpy(altered, out->chunk.bytes, out->chunk.size);
	altered[out->chunk.size - 1] ^= 1;
	out->chunk.bytes = altered;
	return true;
}

/* Return true if the Digest is one of the last committed round: it is shown with the result. */
static bool is_of_result(const struct insider *in, const struct sl_message *out)
{
	return out->kind == SL_MSG_DIGEST && out->digest.t == in->daemon->result.certificate.t;
}

static bool few_digests(struct insider *in, uint32_t peer, struct sl_message *out)
{
	(void)peer;
	return !is_of_result(in, out) || insider_signs(in, out);
}

static bool wrong_round(struct insider *in, uint32_t peer, struct sl_message *out)
{
	(void)in;
	(void)peer;
	if (out->kind == SL_MSG_ROUND)
		out->round_head.t++;
	return true;
}

/* Show a round of this learner and another one, with the own Digest of an invented model alone. */
static bool own_round(struct insider *in, uint32_t peer, struct sl_message *out)
{
	static sl_id members[4];
	static struct sl_digest digest;
	static uint8_t ones[SL_CHUNK_BYTES_MAX];
	(void)peer;
	if (out->kind == SL_MSG_ROUND) {
		struct sl_round_head *round = &out->round_head;
		const struct sl_scope *scope = &in->daemon->core_config.scope;
		size_t bytes = in->daemon->core_config.model_bytes;
		uint8_t *model = malloc(bytes);
		if (model == NULL)
			abort();
		memset(model, 1, bytes);
		memcpy(members, round->members, sizeof members); /* ascending, with the first learner */
		round->members = members;
		round->count = 4;
		sl_canonical_round(scope, round, digest.view);
		sl_canonical_result(scope, digest.view, round->total, round->strands, model, bytes,
				    digest.digest);
		free(model);
	} else if (is_of_result(in, out)) {
		if (!insider_signs(in, out))
			return false;
		memcpy(out->digest.view, digest.view, sizeof digest.view);
		memcpy(out->digest.digest, digest.digest, sizeof digest.digest);
	} else if (out->kind == SL_MSG_RESULT) {
		memset(ones, 1, out->chunk.size);
		memcpy(out->chunk.view, digest.view, sizeof digest.view);
		out->chunk.bytes = ones;
	}
	return true;
}

/* ---- with another liar ---- */

static bool other_checksum(struct insider *in, uint32_t peer, struct sl_message *out)
{
	static uint8_t values[SL_CHECKSUM_BYTES_MAX];
	(void)peer;
	if (!is_own(in, out, SL_MSG_CHECKSUM))
		return true;
	memcpy(values, out->checksums.values, out->checksums.size);
	values[0] ^= 1;
	out->checksums.values = values;
	return true;
}

/* Sign to every second peer that the Ready which the others have was never sent. */
static bool deny(struct insider *in, uint32_t peer, struct sl_message *out)
{
	const struct sl_ready *ready = &out->ready;
	if (!is_own(in, out, SL_MSG_READY) || peer % 2 == 0)
		return true;
	struct sl_message m = {.kind = SL_MSG_ABORT,
			       .abort = {.id = ready->id,
					 .incarnation = in->daemon->core_config.incarnation,
					 .says = SL_ABORT_PROMISES,
					 .t = ready->t,
					 .a = ready->a}};
	memcpy(m.abort.key, in->daemon->core_config.key, SL_KEY_BYTES);
	insider_send_later(in, peer, &m, 100);
	return false;
}

/* ---- rosters ---- */

#define FRAME_PART_BYTES 60000u

static void send_raw(struct insider *in, uint32_t peer, uint32_t kind, const uint8_t *payload, size_t size)
{
	struct sl_frame *frame = sl_link_frame_new(SL_FRAME_HEADER_BYTES + size, false);
	if (frame == NULL)
		abort();
	sl_frame_header(frame->bytes, kind, size);
	memcpy(frame->bytes + SL_FRAME_HEADER_BYTES, payload, size);
	sl_links_send(in->daemon->links, peer, frame);
	sl_link_frame_release(frame);
}

static void tell_version(struct insider *in, uint32_t peer, uint64_t version)
{
	uint8_t payload[8];
	struct sl_writer w = {.bytes = payload, .size = sizeof payload};
	sl_bytes_put_u64(&w, version);
	send_raw(in, peer, SL_FRAME_ROSTER_VERSION, payload, sizeof payload);
}

/* Send a part of a roster that has `whole` bytes. */
static void send_part(struct insider *in, uint32_t peer, size_t at, size_t whole, const char *text,
		      size_t bytes)
{
	static uint8_t payload[8 + FRAME_PART_BYTES];
	struct sl_writer w = {.bytes = payload, .size = 8};
	sl_bytes_put_u32(&w, (uint32_t)at);
	sl_bytes_put_u32(&w, (uint32_t)whole);
	memcpy(payload + 8, text, bytes);
	send_raw(in, peer, SL_FRAME_ROSTER_PART, payload, 8 + bytes);
}

static void send_text(struct insider *in, uint32_t peer, const char *text, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += FRAME_PART_BYTES)
		send_part(in, peer, at, bytes, text + at,
			  bytes - at < FRAME_PART_BYTES ? bytes - at : FRAME_PART_BYTES);
}

/* Send the present roster with one byte changed, `after` the first place of `word`. */
static void send_changed(struct insider *in, uint32_t peer, const char *word, size_t after, char byte)
{
	const struct sl_group_update *u = &in->daemon->members.update;
	char *text = malloc(u->bytes + 1);
	if (text == NULL)
		abort();
	memcpy(text, u->text, u->bytes);
	text[u->bytes] = '\0';
	char *at = strstr(text, word);
	if (at == NULL)
		abort();
	at[after] = byte;
	send_text(in, peer, text, u->bytes);
	free(text);
}

static void send_largest(struct insider *in, uint32_t peer)
{
	static char text[SL_GROUP_TEXT_MAX];
	memset(text, ' ', sizeof text);
	send_text(in, peer, text, sizeof text);
}

/* Tell each learner something else about the roster of the group, every half a second. */
static void offer_rosters(struct insider *in)
{
	const struct sl_group_update *u = &in->daemon->members.update;
	static const uint8_t cut[3];
	if (u->text == NULL || in->ticks % 25 != 0)
		return;
	for (uint32_t i = 0; i < in->daemon->members.roster.size; i++) {
		if (i == in->daemon->members.self)
			continue;
		tell_version(in, i, in->ticks % 50 == 0 ? in->ticks : UINT64_MAX - in->ticks);
		switch ((i + in->ticks / 25) % 6) {
		case 0: /* with another version number, which nobody has signed */
			send_changed(in, i, "version: ", strlen("version: "), '9');
			break;
		case 1: /* the same number, other settings */
			send_changed(in, i, "rounds: \"", strlen("rounds: \""), '9');
			break;
		case 2: /* the present one, as if it were newer */
			send_text(in, i, u->text, u->bytes);
			break;
		case 3:
			send_largest(in, i);
			break;
		case 4: /* a frame that ends in its head; parts of nothing */
			send_raw(in, i, SL_FRAME_ROSTER_PART, cut, sizeof cut);
			send_part(in, i, 5, 10, "x", 1);
			break;
		default: /* the beginning, and no more */
			send_part(in, i, 0, SL_GROUP_TEXT_MAX, "x", 1);
			break;
		}
	}
}

const struct lie lies_shown[] = {
	{.name = "keep-silent", .send = keep_silent},
	{.name = "keep-rubbish", .send = keep_rubbish},
	{.name = "keep-offering", .send = keep_offering},
	{.name = "keep-own", .send = keep_own},
	{.name = "keep-cut", .send = keep_cut},
	{.name = "claim-rounds", .send = claim_round, .tick = claim_rounds},
	{.name = "cut-result", .send = cut_result},
	{.name = "endless-result", .send = endless_result},
	{.name = "false-chunk", .send = false_chunk},
	{.name = "few-digests", .send = few_digests},
	{.name = "wrong-round", .send = wrong_round},
	{.name = "own-round", .send = own_round},
	{.name = "other-checksum", .send = other_checksum},
	{.name = "deny", .send = deny},
	{.name = "offer-rosters", .tick = offer_rosters},
	{.name = NULL},
};
