/* links_slots.c - a slot for each peer: when to dial, and which of two links to keep. */
#include "daemon/net/link.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "daemon/net/listen.h"
#include "daemon/net/relay.h"

#define SILENT "silent for 6 s"

static const struct sl_links_timing usual = {.tick = 100,
					     .ping = 2000,
					     .silence = 6000,
					     .handshake = 10000,
					     .retry_least = 250,
					     .retry_most = 15000,
					     .head_start = 1000,
					     .steady = 2000,
					     .direct = 60000,
					     .hint = 10000};

/* ---- when to dial ---- */

static uint64_t retry_pause(const struct sl_links *links, const struct sl_slot *slot)
{
	uint32_t turns = slot->failures / (slot->ways > 0 ? slot->ways : 1); /* of all addresses */
	uint32_t shift = turns < 7 ? turns : 7;
	const struct sl_links_timing *timing = links->config.timing;
	uint64_t pause = (uint64_t)timing->retry_least << shift;
	if (pause > timing->retry_most)
		pause = timing->retry_most;
	uint64_t jitter = (uv_hrtime() / 1000 + links->config.self * 7919u) % (pause / 4 + 1);
	return pause - jitter;
}

/* Keep, of two links, the one dialled by this end (link.h). */
static bool goes_first(const struct sl_links *links, uint32_t peer)
{
	return links->config.self < peer;
}

static bool may_dial(const struct sl_links *links, uint32_t peer, uint64_t now)
{
	const struct sl_slot *slot = &links->slots[peer];
	uint64_t wait = goes_first(links, peer) ? 0 : links->config.timing->head_start;
	if (!slot->wanted || slot->dialling != NULL)
		return false;
	if (slot->up != NULL)
		return slot->up->way == SL_LINK_RELAY && now >= slot->direct_at;
	return now >= slot->alone_since + wait;
}

/* Return true if the bounds on dials allow a further one now. */
static bool has_room(const struct sl_links *links)
{
	return links->dials < SL_DIALS_MAX && links->begun < SL_DIALS_PER_TICK_MAX;
}

void sl_links_take_members(struct sl_links *links, struct sl_worker *crypto)
{
	links->config.crypto = crypto;
	links->config.joins_only = false;
}

void sl_links_want(struct sl_links *links, const uint64_t *set)
{
	uint64_t now = uv_now(links->config.loop);
	for (uint32_t i = 0; i < links->config.roster->size; i++) {
		struct sl_slot *slot = &links->slots[i];
		bool wanted = i != links->config.self && sl_bit(set, i);
		if (wanted && !slot->wanted) {
			slot->failures = 0;
			slot->alone_since = now;
			slot->retry_at = slot->dialled_at + links->config.timing->retry_least;
		}
		slot->wanted = wanted;
		if (!wanted && slot->up != NULL && slot->up->dialled)
			sl_link_close(slot->up, "out of range");
		if (!wanted && slot->dialling != NULL)
			sl_link_close(slot->dialling, "out of range");
		if (!may_dial(links, i, now) || now < slot->dialled_at + links->config.timing->retry_least)
			continue;
		slot->retry_at = now; /* a new request ends the back-off */
		if (has_room(links))
			sl_links_dial(links, i, i, NULL);
	}
}

/* ---- which of two links to keep ---- */

/* Return true if an accepted link must be closed (table in link.h). */
static bool loses(const struct sl_link *link, uint32_t member)
{
	const struct sl_slot *slot = &link->links->slots[member];
	const struct sl_link *up = slot->up;
	if (up != NULL && up->way == SL_LINK_RELAY && link->way != SL_LINK_RELAY)
		up = NULL; /* the direct way is the better one */
	if (up != NULL && up->session.start != link->session.start)
		return true;
	bool first = goes_first(link->links, member);
	if (first && slot->dialling != NULL && slot->dialling->state == SL_LINK_OFFERED)
		return true; /* also beside a relayed link */
	if (up != NULL && !up->dialled)
		return up->number > link->number;
	return first && up != NULL;
}

static void end_dial(struct sl_links *links, struct sl_slot *slot)
{
	slot->dialling = NULL;
	links->dials--;
}

/* Close a link without a report to the handler: this is no failure. */
static void abort_dial(struct sl_slot *slot)
{
	struct sl_link *link = slot->dialling;
	if (link == NULL)
		return;
	end_dial(link->links, slot);
	sl_link_close(link, "the other end's link stands");
}

static void reject_link(struct sl_link *link, struct sl_slot *slot)
{
	if (slot->up != NULL && slot->up->session.start != link->session.start)
		sl_links_rival(link, (uint32_t)link->session.member);
	sl_link_close(link, "a second link");
	if (slot->up != NULL && slot->up->in_flight == 0)
		sl_link_ping(slot->up); /* the peer has lost its end */
}

/* Small segments have come through: keep to them if large ones alone were lost. */
static void settle(struct sl_slot *slot)
{
	if (slot->guess > 0 && slot->heard)
		slot->segment = slot->guess;
	slot->guess = 0;
}

static bool established(struct sl_link *link)
{
	struct sl_links *links = link->links;
	struct sl_slot *slot = &links->slots[link->peer];
	if (slot->up != NULL)
		sl_link_close(slot->up, "replaced by a newer link");
	if (link->dialled)
		end_dial(links, slot);
	if (link->way != SL_LINK_RELAY)
		sl_links_note_address(link);
	assert(slot->up == NULL && slot->dialling == NULL);
	slot->up = link;
	settle(&links->slots[link->via]);
	link->state = SL_LINK_UP;
	link->since = link->heard = uv_now(links->config.loop);
	links->figures.up++;
	slot->direct_at = link->since + links->config.timing->direct;
	links->config.handler.up(links->config.handler.context, link->peer);
	if (links->relay != NULL && link->state == SL_LINK_UP)
		sl_relay_send(link, &(struct sl_relay_order){.verb = SL_RELAY_OFFER});
	if (!link->dialled && link->state == SL_LINK_UP)
		sl_link_ping(link); /* the first byte that the dialler waits for */
	return link->state == SL_LINK_UP;
}

static bool handshake_done(struct sl_link *link)
{
	if (!sl_links_is_rightful(link)) {
		link->links->figures.tls_failures[SL_TLS_FAILURE_OTHER_KEY]++;
		sl_link_close(link, "another learner's key");
		return false;
	}
	if (link->dialled) {
		link->state = SL_LINK_OFFERED;
		return true;
	}
	uint32_t member = (uint32_t)link->session.member;
	struct sl_slot *slot = &link->links->slots[member];
	if (link->links->config.joins_only || loses(link, member)) {
		reject_link(link, slot);
		return false;
	}
	abort_dial(slot);
	link->peer = member;
	if (link->way == SL_LINK_DIRECT)
		link->via = member;
	slot->bytes.sent += link->early.sent;
	slot->bytes.received += link->early.received;
	link->links->handshaking--;
	return established(link);
}

/* ---- relays ---- */

/* Close the oldest connection without a pinned key when there are too many, so that unknown peers cannot take
 * all descriptors. */
static void make_room(struct sl_links *links)
{
	struct sl_link *oldest = NULL;
	for (struct sl_link *link = links->all; link != NULL; link = link->next)
		if (link->peer == UINT32_MAX && link->state != SL_LINK_SPLICED)
			oldest = link;
	if (oldest != NULL && links->handshaking >= SL_HANDSHAKING_MAX)
		sl_link_close(oldest, "too many unknown connections");
}

/* Return true if a way to `peer` may lead over the learner `via`. */
static bool may_relay(const struct sl_links *links, uint32_t peer, uint32_t via)
{
	const struct sl_slot *slot = &links->slots[via];
	return via != peer && slot->relays && slot->up != NULL && slot->up->way != SL_LINK_RELAY;
}

/* No address of `peer` answers: ask the next relay for a way to it. */
static void ask_relay(struct sl_links *links, uint32_t peer)
{
	struct sl_slot *slot = &links->slots[peer];
	uint32_t size = links->config.roster->size, first = slot->relay;
	uint64_t now = uv_now(links->config.loop);
	/* the end that goes first asks all the same: no relay keeps both from another one */
	bool taken = !goes_first(links, peer) && slot->taken_at != 0 &&
		     now < slot->taken_at + links->config.timing->handshake;
	if (!slot->wanted || links->closing || slot->failures < slot->ways || taken)
		return;
	for (uint32_t k = 0; k < size; k++) {
		uint32_t via = (first + k) % size;
		if (!may_relay(links, peer, via))
			continue;
		slot->relay = via + 1;
		slot->asked_at = now;
		sl_relay_send(links->slots[via].up,
			      &(struct sl_relay_order){.verb = SL_RELAY_ASK,
						       .id = links->config.roster->members[peer].id});
		return;
	}
}

/* The relay `via` has made the way that this end has asked for. */
static void dial_relayed(struct sl_links *links, uint32_t peer, uint32_t via, const uint8_t *token)
{
	struct sl_slot *slot = &links->slots[peer];
	uint64_t now = uv_now(links->config.loop);
	bool asked = slot->relay == via + 1 && slot->asked_at != 0 &&
		     now < slot->asked_at + links->config.timing->handshake;
	bool busy = slot->dialling != NULL && slot->dialling->state > SL_LINK_TUNNEL;
	if (!asked || busy || !slot->wanted || slot->up != NULL)
		return;
	slot->asked_at = 0;
	abort_dial(slot); /* which may make room */
	if (has_room(links))
		sl_links_dial(links, peer, via, token);
}

/* Return how many ways through the relay `via` this end has taken without a key of the other end yet. */
static uint32_t count_taken(const struct sl_links *links, uint32_t via)
{
	uint32_t count = 0;
	for (const struct sl_link *link = links->all; link != NULL; link = link->next)
		count += link->peer == UINT32_MAX && link->way == SL_LINK_RELAY && link->via == via;
	return count;
}

/* `peer` has asked the relay `via` for a way to this end, which is as one that accepts. */
static void take_relayed(struct sl_links *links, uint32_t peer, uint32_t via, const uint8_t *token)
{
	struct sl_slot *slot = &links->slots[peer];
	uint64_t now = uv_now(links->config.loop);
	bool again = slot->taken_via == via && now < slot->taken_at + links->config.timing->retry_least;
	if (!slot->wanted || links->closing || again || count_taken(links, via) >= SL_TAKEN_MAX)
		return;
	make_room(links);
	struct sl_link *link = sl_link_new(links, UINT32_MAX, false);
	if (link == NULL)
		return;
	slot->taken_at = now;
	slot->taken_via = via;
	links->handshaking++;
	link->way = SL_LINK_RELAY;
	link->via = via;
	memcpy(link->token, token, sizeof link->token);
	sl_links_go(link);
}

static void take_order(struct sl_link *link, const uint8_t *payload, size_t size)
{
	struct sl_links *links = link->links;
	struct sl_slot *slot = &links->slots[link->peer];
	struct sl_relay_order order;
	if (!sl_relay_read(payload, size, &order)) {
		sl_link_close(link, "a malformed frame");
		return;
	}
	int other = sl_roster_find(links->config.roster, order.id);
	if (order.verb == SL_RELAY_OFFER && !slot->relays && link->way != SL_LINK_RELAY) {
		slot->relays = true;
		links->relays++;
	}
	if (other < 0 || (uint32_t)other == links->config.self || (uint32_t)other == link->peer)
		return;
	if (order.verb == SL_RELAY_ASK)
		sl_relay_grant(link, (uint32_t)other);
	else if (order.verb == SL_RELAY_DIAL && slot->relays)
		dial_relayed(links, (uint32_t)other, link->peer, order.token);
	else if (order.verb == SL_RELAY_TAKE && slot->relays)
		take_relayed(links, (uint32_t)other, link->peer, order.token);
}

/* If full segments were lost until the end of this connection, have the next ones on its way use smaller
 * ones. */
static void learn(struct sl_link *link, uint64_t now)
{
	struct sl_links *links = link->links;
	struct sl_slot *slot = &links->slots[link->via];
	struct sl_tcp_info info;
	bool stalled = link->stalled_at != 0 && now >= link->stalled_at + links->config.timing->silence / 2;
	bool passes = slot->up != NULL && slot->up->heard > link->stalled_at; /* beside a relayed one */
	if ((stalled || link->reset) && sl_tcp_info_get(sl_link_descriptor(link), &info)) {
		slot->guess = sl_link_segment_after(info.segment);
		slot->heard = passes || link->heard > link->stalled_at;
		uint64_t until = now + links->config.timing->handshake / (slot->heard ? 1 : 4);
		if (until > links->found_until)
			links->found_until = until;
		if (passes)
			settle(slot);
	}
	sl_link_expect(links, link->via);
}

/* Return why the link has ended; of a dial to an address that stood in for a name, and where the peer was
 * not, what is wrong with the name. */
static const char *reason(const struct sl_link *link)
{
	return link->without != NULL && link->session.member != (int)link->peer ? link->without : link->why;
}

static void lost(struct sl_link *link)
{
	struct sl_links *links = link->links;
	if (link->way == SL_LINK_RELAY && !link->begun)
		links->slots[link->via].tries++; /* the relay may be reached at another address */
	if (link->leg != NULL && link->via != UINT32_MAX)
		learn(link, uv_now(links->config.loop));
	if (sl_relay_lost(link))
		return;
	if (link->peer == UINT32_MAX) {
		links->handshaking--;
		links->joining -= link->join != NULL;
		return;
	}
	struct sl_slot *slot = &links->slots[link->peer];
	uint64_t now = uv_now(links->config.loop);
	bool stood = slot->up == link;
	if (!stood && slot->dialling != link)
		return;
	if (stood) {
		slot->up = NULL;
		learn(link, now);
		links->relays -= slot->relays;
		slot->relays = false;
		slot->alone_since = now;
		links->figures.up--;
		if (now >= link->since + links->config.timing->steady)
			slot->failures = 0;
	} else {
		end_dial(links, slot);
	}
	bool failed = !stood && link->way != SL_LINK_RELAY; /* at its own address */
	if (slot->up != NULL) {
		slot->tries += failed;
		return; /* the relayed link stays */
	}
	slot->retry_at = now + retry_pause(links, slot);
	slot->failures++;
	/* turned away: for as long as the silence lasts, it may have another link; then it takes none */
	if (!link->rejected || now - slot->alone_since > links->config.timing->silence)
		links->config.handler.down(links->config.handler.context, link->peer, !stood, reason(link));
	slot->tries += failed; /* after the report of this address */
	if (failed && !link->rejected)
		ask_relay(links, link->peer);
}

/* ---- timer ---- */

/* Update speed and window, if much is being sent or was received since the last time. */
static void look(struct sl_link *link)
{
	int descriptor = sl_link_descriptor(link);
	const struct sl_link_bytes *bytes = sl_link_bytes_of(link);
	bool floor;
	if (!link->speed.marked && bytes->sent + bytes->received < link->looked + SL_SPEED_WRITE_BYTES)
		return;
	sl_link_speed_look(&link->speed, descriptor);
	link->looked = bytes->sent + bytes->received;
	double rate = sl_link_speed_of(&link->speed, descriptor, &floor);
	sl_link_window_look(&link->window, descriptor, floor ? 0 : rate, link->links->figures.up);
}

/* Return the time that a link may take to come up. A connect that gets no answer ends early if another
 * address of the peer, or another peer, waits for its turn. A look-up may take longer than a connect, each
 * time: a dial with nothing else to try ends with it. */
static uint64_t patience(const struct sl_link *link)
{
	const struct sl_links *links = link->links;
	uint32_t handshake = links->config.timing->handshake;
	bool connects = link->dialled && link->state <= SL_LINK_TUNNEL;
	const struct sl_slot *slot = connects ? &links->slots[link->peer] : NULL;
	bool relay = connects && links->relays > 0, others = connects && (links->crowded || slot->ways > 1);
	if (link->query != NULL && sl_links_stand_in(link) == NULL)
		return connects && !relay && !others ? UINT64_MAX / 2 : handshake;
	relay = relay && slot->tries % 2 == 0; /* no relay cuts every try */
	return link->query != NULL || relay || others ? handshake / 4 : handshake;
}

/* Close the link if full segments are lost on its way, and have the next one use smaller ones. A relay closes
 * both of its connections. */
static bool mend(struct sl_link *link, uint64_t now)
{
	struct sl_tcp_info info;
	if (!link->large || link->via == UINT32_MAX || !sl_tcp_info_get(sl_link_descriptor(link), &info))
		return false;
	link->large = info.pending || link->state == SL_LINK_SPLICED;
	if (!sl_link_segment_is_lost(&link->stalled_at, &info, now, link->heard,
				     link->links->config.timing->silence, now < link->links->found_until))
		return false;
	link->reset = true;
	sl_link_close(link,
		      now > link->heard + link->links->config.timing->silence ? SILENT : SL_LINK_NARROW);
	return true;
}

static void tend(struct sl_link *link, uint64_t now)
{
	const struct sl_links_timing *timing = link->links->config.timing;
	if (link->state >= SL_LINK_UP && mend(link, now))
		return;
	if (link->state == SL_LINK_SPLICED)
		return; /* sl_relay_look */
	if (link->query != NULL)
		sl_links_answered(link);
	if (link->state != SL_LINK_UP) {
		if (now <= link->since + patience(link))
			return;
		if (link->query != NULL)
			sl_links_do_without(link, "its name does not resolve in time");
		else
			sl_link_close(link, sl_link_proxy_fault(link, link->way == SL_LINK_RELAY
									      ? "no answer through the relay"
									      : "no answer"));
		return;
	}
	look(link);
	if (!link->paused && !link->offload.away && now > link->heard + timing->silence) {
		sl_link_close(link, SILENT);
		return;
	}
	if (now > link->sent + timing->ping &&
	    (link->in_flight == 0 || link->control_bytes > SL_LINK_QUEUE_BYTES))
		sl_link_ping(link);
}

/* Dial the peers whose turn it is, as far as the bounds allow; the next tick goes on with the first left out.
 */
static void dial_due(struct sl_links *links, uint64_t now)
{
	uint32_t size = links->config.roster->size, first = links->next;
	links->begun = 0;
	links->crowded = false;
	for (uint32_t k = 0; k < size && !links->crowded; k++) {
		uint32_t peer = (first + k) % size;
		if (!may_dial(links, peer, now) || now < links->slots[peer].retry_at)
			continue;
		links->crowded = !has_room(links);
		links->next = peer;
		if (!links->crowded)
			sl_links_dial(links, peer, peer, NULL);
	}
}

static int64_t clock_ms(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Close all links if the machine has slept since the last time: the clock of the loop has stood still, and
 * the peers have closed their ends. */
static void look_at_sleep(struct sl_links *links)
{
	int64_t all = clock_ms(CLOCK_BOOTTIME), before = links->slept;
	int64_t slept = all - clock_ms(CLOCK_MONOTONIC); /* less, if this process waits between the two */
	if (slept > before)
		links->slept = slept;
	if (slept < before + links->config.timing->silence)
		return;
	for (struct sl_link *link = links->all, *next; link != NULL; link = next) {
		next = link->next;
		sl_link_close(link, "this machine has slept");
	}
}

static void on_tick(uv_timer_t *timer)
{
	struct sl_links *links = timer->data;
	uint64_t now = uv_now(links->config.loop);
	look_at_sleep(links);
	for (struct sl_link *link = links->all, *next; link != NULL; link = next) {
		next = link->next;
		tend(link, now);
	}
	sl_relay_look(links, now);
	sl_links_places_look(links, now);
	sl_link_expect_no_more(links);
	dial_due(links, now);
}

static void on_accept(uv_stream_t *listener, int status)
{
	struct sl_links *links = listener->data;
	if (status < 0 || links->closing)
		return;
	make_room(links);
	struct sl_link *link = sl_link_new(links, UINT32_MAX, false);
	if (link == NULL)
		return;
	links->handshaking++;
	if (uv_accept(listener, (uv_stream_t *)&link->tcp) < 0)
		sl_link_close(link, "cannot accept");
	else
		sl_link_begin(link);
}

/* ---- opening and closing ---- */

static const struct sl_link_reports reports = {.handshake_done = handshake_done,
					       .established = established,
					       .lost = lost,
					       .unknown_peer = sl_links_report_unknown,
					       .order = take_order,
					       .leg = sl_relay_leg,
					       .place = sl_links_place};

int sl_links_open(struct sl_links **out, const struct sl_links_config *config, struct sl_error *error)
{
	struct sl_links *links = calloc(1, sizeof *links);
	*out = links;
	if (links == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	links->config = *config;
	links->reports = &reports;
	if (config->timing == NULL)
		links->config.timing = &usual;
	links->slots = calloc(config->roster->size, sizeof *links->slots);
	uv_tcp_init(config->loop, &links->listener);
	uv_timer_init(config->loop, &links->tick);
	links->listener.data = links->tick.data = links;
	look_at_sleep(links);
	if (config->relays)
		links->relay = sl_relay_open();
	if (links->slots == NULL || (config->relays && links->relay == NULL))
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	int rc = sl_listen_open(&links->listener, config->listen, on_accept, error);
	if (rc == SL_OK)
		uv_timer_start(&links->tick, on_tick, links->config.timing->tick, links->config.timing->tick);
	return rc;
}

void sl_links_close(struct sl_links *links)
{
	links->closing = true;
	while (links->all != NULL)
		sl_link_close(links->all, "closing");
	uv_close((uv_handle_t *)&links->listener, NULL);
	uv_close((uv_handle_t *)&links->tick, NULL);
}

void sl_links_free(struct sl_links *links)
{
	if (links == NULL)
		return;
	free(links->ciphertext);
	free(links->relay);
	free(links->slots);
	free(links);
}
