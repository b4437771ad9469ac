#include "daemon/net/relay.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"

#define ORDER_BYTES (8u + SL_RELAY_TOKEN_BYTES)

/* Two connections, or the wait for them. */
struct sl_splice {
	bool used;
	uint32_t ends[2]; /* roster indices of A and X */
	uint8_t tokens[2][SL_RELAY_TOKEN_BYTES];
	uint64_t since;
	struct sl_link *legs[2];
};

struct sl_relay {
	struct sl_splice splices[SL_RELAY_SPLICES_MAX];
};

/* What an accepted connection has sent before it is spliced. */
struct sl_leg {
	struct sl_splice *splice;
	size_t have;
	uint8_t bytes[SL_RELAY_PREFACE_BYTES + SL_RELAY_EARLY_BYTES];
};

/* ---- orders ---- */

bool sl_relay_read(const uint8_t *payload, size_t size, struct sl_relay_order *order)
{
	if (size != ORDER_BYTES)
		return false;
	order->verb = sl_bytes_get_u32(payload);
	order->id = sl_bytes_get_u32(payload + 4);
	memcpy(order->token, payload + 8, sizeof order->token);
	return true;
}

void sl_relay_send(struct sl_link *link, const struct sl_relay_order *order)
{
	struct sl_frame *frame = sl_link_frame_new(SL_FRAME_HEADER_BYTES + ORDER_BYTES, false);
	if (frame == NULL)
		return;
	struct sl_writer w = {.bytes = frame->bytes + SL_FRAME_HEADER_BYTES, .size = ORDER_BYTES};
	sl_frame_header(frame->bytes, SL_FRAME_RELAY, ORDER_BYTES);
	sl_bytes_put_u32(&w, order->verb);
	sl_bytes_put_u32(&w, order->id);
	sl_bytes_put(&w, order->token, sizeof order->token);
	sl_link_queue(link, frame);
	sl_link_frame_release(frame);
	sl_link_pump(link);
}

/* ---- splices ---- */

static bool waits(const struct sl_splice *s)
{
	return s->legs[0] == NULL || s->legs[1] == NULL;
}

static void end(struct sl_splice *s, const char *why)
{
	for (uint32_t k = 0; k < 2; k++) {
		struct sl_link *leg = s->legs[k];
		s->legs[k] = NULL;
		if (leg != NULL)
			sl_link_close(leg, why);
	}
	s->used = false;
}

/* Return the splice of the pair if it may have another one, else a free one, or NULL: the limits are reached.
 */
static struct sl_splice *choose(struct sl_relay *relay, uint32_t asker, uint32_t other, uint64_t now,
				uint64_t pause)
{
	struct sl_splice *spare = NULL;
	uint32_t each = 0;
	for (uint32_t i = 0; i < SL_RELAY_SPLICES_MAX; i++) {
		struct sl_splice *s = &relay->splices[i];
		bool same = (s->ends[0] == asker && s->ends[1] == other) ||
			    (s->ends[0] == other && s->ends[1] == asker);
		if (s->used && same)
			return now < s->since + pause ? NULL : s;
		each += s->used && s->ends[0] == asker;
		if (!s->used)
			spare = s;
	}
	return each < SL_RELAY_SPLICES_EACH_MAX ? spare : NULL;
}

void sl_relay_grant(struct sl_link *link, uint32_t other)
{
	struct sl_links *links = link->links;
	const struct sl_member *members = links->config.roster->members;
	struct sl_link *far = links->slots[other].up;
	uint64_t now = uv_now(links->config.loop);
	bool linked = far != NULL && far != link && far->way != SL_LINK_RELAY && link->way != SL_LINK_RELAY;
	struct sl_splice *s = links->relay != NULL && linked ? choose(links->relay, link->peer, other, now,
								      links->config.timing->handshake / 4)
							     : NULL;
	if (s == NULL)
		return;
	end(s, "its learner has asked for another one");
	*s = (struct sl_splice){.used = true, .ends = {link->peer, other}, .since = now};
	sl_link_expect(links, link->peer);
	sl_link_expect(links, other);
	randombytes_buf(s->tokens, sizeof s->tokens);
	struct sl_relay_order dial = {SL_RELAY_DIAL, members[other].id, {0}},
			      take = {SL_RELAY_TAKE, members[link->peer].id, {0}};
	memcpy(dial.token, s->tokens[0], sizeof dial.token);
	memcpy(take.token, s->tokens[1], sizeof take.token);
	sl_relay_send(far, &take);
	sl_relay_send(link, &dial);
}

/* ---- bytes ---- */

/* Bytes that wait until the other end takes them; meanwhile no more are read. */
struct rest {
	uv_write_t request;
	uint8_t bytes[];
};

static struct sl_link *other_of(const struct sl_link *leg)
{
	const struct sl_splice *s = leg->leg->splice;
	return s->legs[s->legs[0] == leg];
}

static void on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct sl_links *links = ((struct sl_link *)handle->data)->links;
	(void)suggested;
	if (links->ciphertext == NULL)
		links->ciphertext = malloc(SL_READ_BYTES);
	*buffer = uv_buf_init((char *)links->ciphertext, links->ciphertext == NULL ? 0 : SL_RELAY_BYTES);
}

static void read_on(struct sl_link *leg);

static void on_written(uv_write_t *request, int status)
{
	struct sl_link *to = request->handle->data; /* the other one may be freed already */
	if (status == 0 && to->state == SL_LINK_SPLICED)
		read_on(other_of(to));
	free(request);
}

static void pass(struct sl_link *from, struct sl_link *to, const uint8_t *bytes, size_t count)
{
	uv_buf_t all = uv_buf_init((char *)bytes, (unsigned)count);
	int rc = count > 0 ? uv_try_write((uv_stream_t *)&to->tcp, &all, 1) : 0;
	size_t done = rc > 0 ? (size_t)rc : 0;
	if (done == count)
		return;
	struct rest *rest = malloc(sizeof *rest + count - done);
	if (rest != NULL) {
		memcpy(rest->bytes, bytes + done, count - done);
		uv_buf_t left = uv_buf_init((char *)rest->bytes, (unsigned)(count - done));
		uv_read_stop((uv_stream_t *)&from->tcp);
		rc = uv_write(&rest->request, (uv_stream_t *)&to->tcp, &left, 1, on_written);
	}
	if (rest != NULL && rc >= 0)
		return;
	free(rest);
	sl_link_close(from, "a relayed connection takes nothing");
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
	struct sl_link *from = stream->data, *to = from->state == SL_LINK_SPLICED ? other_of(from) : NULL;
	if (count == 0 || to == NULL)
		return;
	from->heard = uv_now(from->links->config.loop);
	if (count < 0)
		sl_link_close(from, "a relayed connection has ended");
	else
		pass(from, to, (const uint8_t *)buffer->base, (size_t)count);
}

static void read_on(struct sl_link *leg)
{
	if (leg->state == SL_LINK_SPLICED &&
	    uv_read_start((uv_stream_t *)&leg->tcp, on_allocate, on_read) < 0)
		sl_link_close(leg, "cannot read");
}

/* ---- connections ---- */

/* Both are there: pass on what the first has sent meanwhile, and then all. */
static void begin(struct sl_splice *s)
{
	for (uint32_t k = 0; k < 2 && !waits(s); k++)
		read_on(s->legs[k]);
	for (uint32_t k = 0; k < 2 && !waits(s); k++) {
		const struct sl_leg *leg = s->legs[k]->leg;
		pass(s->legs[k], s->legs[1 - k], leg->bytes + SL_RELAY_PREFACE_BYTES,
		     leg->have - SL_RELAY_PREFACE_BYTES);
	}
}

/* Return the splice that waits for the connection with this preface, or NULL; `k`: which end it is. */
static struct sl_splice *find(struct sl_relay *relay, const uint8_t *preface, uint32_t *k)
{
	const uint8_t *token = preface + sizeof SL_RELAY_MAGIC - 1;
	if (memcmp(preface, SL_RELAY_MAGIC, sizeof SL_RELAY_MAGIC - 1) != 0)
		return NULL;
	for (uint32_t i = 0; i < 2 * SL_RELAY_SPLICES_MAX; i++) {
		struct sl_splice *s = &relay->splices[i / 2];
		*k = i % 2;
		if (s->used && s->legs[*k] == NULL &&
		    sodium_memcmp(s->tokens[*k], token, SL_RELAY_TOKEN_BYTES) == 0)
			return s;
	}
	return NULL;
}

void sl_relay_leg(struct sl_link *link, const uint8_t *bytes, size_t count)
{
	uint32_t k;
	if (link->leg == NULL)
		link->leg = calloc(1, sizeof *link->leg);
	struct sl_leg *leg = link->leg;
	link->state = SL_LINK_LEG;
	if (leg == NULL || count > sizeof leg->bytes - leg->have) {
		sl_link_close(link, "a malformed preface to a relay");
		return;
	}
	memcpy(leg->bytes + leg->have, bytes, count);
	leg->have += count;
	if (leg->have < SL_RELAY_PREFACE_BYTES)
		return;
	struct sl_splice *s = find(link->links->relay, leg->bytes, &k);
	if (s == NULL) {
		sl_link_close(link, "no learner has asked for this relayed connection");
		return;
	}
	leg->splice = s;
	link->via = s->ends[k];
	link->large = true;
	s->legs[k] = link;
	link->state = SL_LINK_SPLICED;
	link->links->handshaking--;
	uv_read_stop((uv_stream_t *)&link->tcp); /* until the other one is there */
	if (!waits(s))
		begin(s);
}

bool sl_relay_lost(struct sl_link *link)
{
	struct sl_splice *s = link->leg != NULL ? link->leg->splice : NULL;
	for (uint32_t k = 0; s != NULL && k < 2; k++)
		if (s->legs[k] == link) {
			s->legs[k] = NULL;
			end(s, link->why);
		}
	return s != NULL;
}

void sl_relay_look(struct sl_links *links, uint64_t now)
{
	const struct sl_links_timing *timing = links->config.timing;
	for (uint32_t i = 0; links->relay != NULL && i < SL_RELAY_SPLICES_MAX; i++) {
		struct sl_splice *s = &links->relay->splices[i];
		if (s->used && waits(s) && now > s->since + timing->handshake)
			end(s, "the other learner does not come");
		else if (s->used && !waits(s) && now > s->legs[0]->heard + 2 * timing->silence &&
			 now > s->legs[1]->heard + 2 * timing->silence)
			end(s, "a relayed connection is silent");
	}
}

struct sl_relay *sl_relay_open(void)
{
	return calloc(1, sizeof(struct sl_relay));
}
