#include "test/insider/insider.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/wire/codec.h"
#include "daemon/learner/loop.h"
#include "test/insider/lies.h"
#include "test/explorer/packed.h"

struct later {
	struct later *next;
	uint64_t due; /* loop time, ms */
	uint32_t peer;
	struct sl_frame *frame;
};

static struct insider insider;
static struct sl_link_state last_link_state;
static sl_id last_candidates[SL_LEARNERS_MAX];

/* The functions that the linker wraps. */
void __real_sl_links_send(struct sl_links *links, uint32_t peer, struct sl_frame *frame);
void __wrap_sl_links_send(struct sl_links *links, uint32_t peer, struct sl_frame *frame);
struct sl_core *__real_sl_core_init(const struct sl_core_config *config, struct sl_arena *arena);
struct sl_core *__wrap_sl_core_init(const struct sl_core_config *config, struct sl_arena *arena);
int __real_sl_loop_listen(struct sl_daemon *daemon, struct sl_error *error);
int __wrap_sl_loop_listen(struct sl_daemon *daemon, struct sl_error *error);
int __real_sl_encoding_encode_part(const struct sl_field *field, const struct sl_encoding *encoding,
				   const struct sl_tensors *tensors, const void *model, const void *base,
				   size_t n, size_t first, size_t count, uint64_t *x,
				   struct sl_encode_note *note);
int __wrap_sl_encoding_encode_part(const struct sl_field *field, const struct sl_encoding *encoding,
				   const struct sl_tensors *tensors, const void *model, const void *base,
				   size_t n, size_t first, size_t count, uint64_t *x,
				   struct sl_encode_note *note);
void __real_sl_gaussian_draw(const struct sl_gaussian *plan, const uint8_t key[static SL_KEY_BYTES],
			     uint64_t first, int64_t *out, size_t n);
void __wrap_sl_gaussian_draw(const struct sl_gaussian *plan, const uint8_t key[static SL_KEY_BYTES],
			     uint64_t first, int64_t *out, size_t n);

bool insider_signs(const struct insider *in, const struct sl_message *message)
{
	const sl_id *id = sl_message_role(message, SL_ROLE_SIGNER);
	return sl_message_role(message, SL_ROLE_SIGNATURE) != NULL && *id == in->daemon->settings->id;
}

sl_round insider_round(const struct insider *in)
{
	struct sl_core_status status;
	sl_core_status(in->daemon->core, &status);
	return status.t;
}

const struct sl_link_state *insider_link_state(const struct insider *in)
{
	(void)in;
	return last_link_state.t == 0 ? NULL : &last_link_state;
}

void insider_add(const struct insider *in, struct sl_message *chunk, size_t at, uint64_t value)
{
	static uint8_t altered[SL_CHUNK_BYTES_MAX];
	const struct sl_view *view = in->daemon->workspace_view;
	const struct sl_field *field = &view->field;
	struct sl_chunk *c = &chunk->chunk;
	bool fixed_point = chunk->kind == SL_MSG_STATE && view->engine == SL_ENGINE_METROPOLIS;
	uint32_t bits = fixed_point ? 8 * SL_STATE_BYTES : field->bits;
	if (sl_packed_bytes(at + 1, bits) > c->size)
		return;
	if (c->bytes != altered)
		memcpy(altered, c->bytes, c->size);
	c->bytes = altered;
	uint64_t element = sl_bytes_element(altered, at, bits);
	element = fixed_point ? element + (value << view->fraction)
			      : sl_field_add(field, element % field->p, value % field->p);
	packed_replace(altered, at, bits, element);
}

/* ---- the own encoding ---- */

int __wrap_sl_encoding_encode_part(const struct sl_field *field, const struct sl_encoding *encoding,
				   const struct sl_tensors *tensors, const void *model, const void *base,
				   size_t n, size_t first, size_t count, uint64_t *x,
				   struct sl_encode_note *note)
{
	struct insider_part part = {field, encoding, first, count, x};
	int rc = __real_sl_encoding_encode_part(field, encoding, tensors, model, base, n, first, count, x,
						note);
	if (rc == SL_OK && encoding->exponents != NULL && insider.lie != NULL && insider.lie->encode != NULL)
		insider.lie->encode(&insider, &part);
	return rc;
}

void __wrap_sl_gaussian_draw(const struct sl_gaussian *plan, const uint8_t key[static SL_KEY_BYTES],
			     uint64_t first, int64_t *out, size_t n)
{
	__real_sl_gaussian_draw(plan, key, first, out, n);
	if (insider.lie != NULL && insider.lie->noise != NULL)
		insider.lie->noise(&insider, out, n);
}

/* ---- sending ---- */

static struct sl_frame *encode(struct insider *in, struct sl_message *message)
{
	size_t size = sl_codec_bytes(message);
	struct sl_frame *frame = sl_link_frame_new(size, message->kind >= SL_MSG_SHARE);
	if (frame == NULL)
		abort();
	if (insider_signs(in, message))
		sl_daemon_sign(in->daemon, message);
	sl_codec_encode(message, frame->bytes, size, NULL);
	return frame;
}

void insider_send(struct insider *in, uint32_t peer, struct sl_message *message)
{
	struct sl_frame *frame = encode(in, message);
	__real_sl_links_send(in->daemon->links, peer, frame);
	sl_link_frame_release(frame);
}

void insider_send_all(struct insider *in, struct sl_message *message)
{
	for (uint32_t i = 0; i < in->daemon->members.roster.size; i++)
		if (i != in->daemon->members.self)
			insider_send(in, i, message);
}

void insider_send_later(struct insider *in, uint32_t peer, struct sl_message *message, uint64_t ms)
{
	struct later *later = malloc(sizeof *later);
	if (later == NULL)
		abort();
	*later = (struct later){in->later, uv_now(&in->daemon->loop) + ms, peer, encode(in, message)};
	in->later = later;
}

static void send_due(struct insider *in)
{
	uint64_t now = uv_now(&in->daemon->loop);
	for (struct later **at = &in->later, *due; (due = *at) != NULL;) {
		if (now < due->due) {
			at = &due->next;
			continue;
		}
		*at = due->next;
		__real_sl_links_send(in->daemon->links, due->peer, due->frame);
		sl_link_frame_release(due->frame);
		free(due);
	}
}

static void remember(const struct sl_link_state *link_state)
{
	last_link_state = *link_state;
	for (uint32_t i = 0; i < link_state->count; i++)
		last_candidates[i] = link_state->candidates[i];
	last_link_state.candidates = last_candidates;
}

void __wrap_sl_links_send(struct sl_links *links, uint32_t peer, struct sl_frame *frame)
{
	struct sl_decoded decoded;
	const char *why;
	uint32_t kind = (uint32_t)frame->bytes[2] | (uint32_t)frame->bytes[3] << 8;
	if (insider.lie == NULL || !sl_message_type(kind) ||
	    sl_codec_decode(kind, frame->bytes + SL_FRAME_HEADER_BYTES, frame->size - SL_FRAME_HEADER_BYTES,
			    &decoded, &why) != SL_OK) {
		__real_sl_links_send(links, peer, frame);
		return;
	}
	if (insider.lie->send == NULL || insider.lie->send(&insider, peer, &decoded.message)) {
		if (kind == SL_MSG_LINK_STATE && insider_signs(&insider, &decoded.message))
			remember(&decoded.message.link_state);
		insider_send(&insider, peer, &decoded.message);
	}
	sl_codec_close(&decoded);
}

/* ---- start ---- */

static void choose_lie(struct sl_daemon *daemon)
{
	char name[64];
	const char *text = getenv("STARLING_LIE");
	insider.daemon = daemon;
	if (text == NULL)
		return;
	size_t length = strcspn(text, ":");
	snprintf(name, sizeof name, "%.*s", (int)length, text);
	if (text[length] == ':' && strtoul(text + length + 1, NULL, 10) != daemon->settings->id)
		return;
	insider.lie = lies_find(name);
	if (insider.lie == NULL) {
		fprintf(stderr, "STARLING_LIE: no lie is named %s\n", name);
		exit(2);
	}
}

struct sl_core *__wrap_sl_core_init(const struct sl_core_config *config, struct sl_arena *arena)
{
	struct sl_core_config *own = (struct sl_core_config *)config;
	choose_lie((struct sl_daemon *)((uint8_t *)own - offsetof(struct sl_daemon, core_config)));
	if (insider.lie != NULL && insider.lie->configure != NULL)
		insider.lie->configure(own);
	return __real_sl_core_init(config, arena);
}

static void on_tick(uv_timer_t *timer)
{
	struct insider *in = timer->data;
	if (in->daemon->stopping)
		return;
	in->ticks++;
	send_due(in);
	if (in->lie->tick != NULL)
		in->lie->tick(in);
	sl_links_flush(in->daemon->links);
}

int __wrap_sl_loop_listen(struct sl_daemon *daemon, struct sl_error *error)
{
	int rc = __real_sl_loop_listen(daemon, error);
	if (rc != SL_OK || insider.lie == NULL)
		return rc;
	uv_timer_init(&daemon->loop, &insider.timer);
	insider.timer.data = &insider;
	uv_timer_start(&insider.timer, on_tick, INSIDER_TICK_MS, INSIDER_TICK_MS);
	return rc;
}
