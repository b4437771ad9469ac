/* Links and their messages: every directed link is a queue, in order, with its own delays. */
#include <assert.h>
#include <stdlib.h>

#include "common/base/bytes.h"
#include "test/simulator/check.h"
#include "test/simulator/lie.h"

/* --- links: one stands when an end wants it, it is possible and not cut --- */

static bool wants(const struct sl_sim *sim, uint32_t i, uint32_t j)
{
	const struct sl_sim_learner *l = &sim->learners[i];
	return !l->host.stopped && l->host.core != NULL && sl_bit(l->host.wanted, j);
}

static void side_up(struct sl_sim *sim, uint32_t i, uint32_t j)
{
	struct sl_sim_link *in = sl_sim_link(sim, j, i); /* messages of j arrive after i knows of the link */
	uint64_t at = sim->now + sl_sim_delay(sim, sim->options.delay_ms);
	at = at > in->last ? at : in->last + 1; /* after the end of the link before */
	in->up = true;
	in->refused = false;
	in->generation++;
	in->last = in->up_at = at;
	sl_sim_post_core(sim, at, SL_EVENT_LINK_UP, i, j);
}

/* What is held back is lost with its link. */
static void drop_kept(struct sl_sim_link *link)
{
	while (link->kept_count > 0)
		sl_packet_drop(link->kept[--link->kept_count]);
}

static void side_down(struct sl_sim *sim, uint32_t i, uint32_t j)
{
	struct sl_sim_link *out = sl_sim_link(sim, i, j), *in = sl_sim_link(sim, j, i);
	uint64_t at = sim->now + sl_sim_delay(sim, 5);
	out->generation++; /* packets on their way are lost */
	drop_kept(out);
	out->up = false;
	in->last = at > in->last ? at : in->last + 1; /* after a LINK_UP that is still on its way */
	sl_sim_post_core(sim, in->last, SL_EVENT_LINK_DOWN, i, j);
}

void sl_sim_fall(struct sl_sim *sim, uint32_t i, uint32_t j)
{
	if (!sl_sim_link(sim, i, j)->up)
		return;
	side_down(sim, i, j);
	side_down(sim, j, i);
}

void sl_sim_dial(struct sl_sim *sim, uint32_t i, uint32_t j)
{
	struct sl_sim_link *link = sl_sim_link(sim, i, j);
	if (!wants(sim, i, j) || link->up)
		return;
	if (!link->possible || link->cut || sim->learners[j].host.stopped) {
		if (!link->refused) /* reported once, however often it is dialled */
			sl_sim_post_core(sim, sim->now, SL_EVENT_LINK_DOWN, i, j);
		link->refused = true;
		return;
	}
	struct sl_core_status status;
	sl_core_status(sim->learners[j].host.core, &status);
	if (status.t == 0) { /* it is not up yet */
		sl_sim_post(sim, sim->now + 250000,
			    (struct sl_sim_event){.kind = SL_SIM_DIAL, .learner = i, .peer = j});
		return;
	}
	side_up(sim, i, j);
	side_up(sim, j, i);
}

void sl_sim_want(struct sl_sim *sim, uint32_t i, const uint64_t *set)
{
	struct sl_sim_learner *l = &sim->learners[i];
	uint64_t was[SL_LEARNERS_MAX / 64 + 1];
	memcpy(was, l->host.wanted, sl_bit_words(sim->n) * sizeof *set);
	memcpy(l->host.wanted, set, sl_bit_words(sim->n) * sizeof *set);
	for (uint32_t j = 0; j < sim->n; j++) {
		struct sl_sim_link *link = sl_sim_link(sim, i, j);
		if (sl_bit(set, j) && !link->up) {
			link->refused &= was[j / 64] >> (j % 64) &
					 1; /* a failure is reported again when the link is wanted again */
			sl_sim_post(sim, sim->now + sl_sim_delay(sim, 50),
				    (struct sl_sim_event){.kind = SL_SIM_DIAL, .learner = i, .peer = j});
		} else if (!sl_bit(set, j) && link->up && !wants(sim, j, i)) {
			sl_sim_fall(sim, i, j);
		}
	}
}

void sl_sim_unlink(struct sl_sim *sim, uint32_t i, uint32_t notice_ms)
{
	for (uint32_t j = 0; j < sim->n; j++) {
		struct sl_sim_link *link = sl_sim_link(sim, i, j), *back = sl_sim_link(sim, j, i);
		if (link->up) {
			link->last = (link->last > sim->now ? link->last : sim->now) +
				     notice_ms * UINT64_C(1000) + 1;
			sl_sim_post_core(sim, link->last, SL_EVENT_LINK_DOWN, j, i);
		}
		drop_kept(link);
		drop_kept(back);
		link->up = back->up = false; /* its last messages still arrive */
	}
}

void sl_sim_cut(struct sl_sim *sim, uint32_t i, uint32_t j)
{
	sl_sim_fall(sim, i, j);
	sl_sim_link(sim, i, j)->cut = sl_sim_link(sim, j, i)->cut = true;
}

void sl_sim_restore(struct sl_sim *sim, uint32_t i, uint32_t j)
{
	sl_sim_link(sim, i, j)->cut = sl_sim_link(sim, j, i)->cut = false;
	sl_sim_link(sim, i, j)->refused = sl_sim_link(sim, j, i)->refused = false;
	sl_sim_post(sim, sim->now + sl_sim_delay(sim, 200),
		    (struct sl_sim_event){.kind = SL_SIM_DIAL, .learner = i, .peer = j});
}

void sl_sim_isolate(struct sl_sim *sim, uint32_t i)
{
	for (uint32_t j = 0; j < sim->n; j++)
		if (j != i)
			sl_sim_cut(sim, i, j);
}

void sl_sim_rejoin(struct sl_sim *sim, uint32_t i)
{
	for (uint32_t j = 0; j < sim->n; j++)
		if (j != i)
			sl_sim_restore(sim, i, j);
}

void sl_sim_hold(struct sl_sim *sim, uint32_t i, uint32_t j)
{
	sl_sim_link(sim, i, j)->held = true;
}

/* --- messages --- */

static void keep(struct sl_sim_link *link, struct sl_packet *packet)
{
	link->kept = realloc(link->kept, (link->kept_count + 1) * sizeof *link->kept);
	link->kept[link->kept_count++] = packet;
}

static void send_packet(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_packet *packet)
{
	struct sl_sim_link *link = sl_sim_link(sim, i, j);
	if ((sim->tap != NULL && !sim->tap(sim, i, j, &packet->message)) ||
	    (sim->lies != NULL && !sl_sim_lies_change(sim, i, j, &packet->message))) {
		sl_packet_drop(packet);
		return;
	}
	if (link->held) {
		keep(link, packet);
		return;
	}
	uint64_t at = sim->now + link->lag_ms * UINT64_C(1000) +
		      sl_sim_delay(sim, sim->options.delay_ms + link->slow_ms);
	link->last = at > link->last ? at : link->last + 1;
	sl_sim_post_packet(sim, i, j, link->last, packet);
}

void sl_sim_release(struct sl_sim *sim, uint32_t i, uint32_t j)
{
	struct sl_sim_link *link = sl_sim_link(sim, i, j);
	link->held = false;
	for (uint32_t m = 0; m < link->kept_count; m++) {
		link->last = (link->last > sim->now ? link->last : sim->now) +
			     sl_sim_delay(sim, sim->options.delay_ms);
		sl_sim_post_packet(sim, i, j, link->last, link->kept[m]);
	}
	link->kept_count = 0;
}

/* Return the row of the share for learner `j`. */
static uint32_t row_of(struct sl_sim *sim, uint32_t i, uint32_t j)
{
	int r = sl_view_neighbour(sim->learners[i].host.view, j);
	if (r < 0)
		sl_sim_fail(sim, "a share of learner %u to %u, which is no neighbour", sim->ids[i],
			    sim->ids[j]);
	return (uint32_t)r;
}

/* Return true if messages of i may be changed on their way: each receiver then has a packet of its own. */
static bool may_change(const struct sl_sim *sim, uint32_t i)
{
	return sim->tap != NULL ||
	       (sim->lies != NULL && (sl_sim_lies_of(sim->lies, i) != 0 || sim->lies->flips == i));
}

void sl_sim_send(struct sl_sim *sim, uint32_t i, const struct sl_action *action)
{
	struct sl_message message = action->send.message;
	struct sl_payload payload = action->send.payload;
	bool each = sl_source_by_neighbour(payload.source), own = each || may_change(sim, i);
	struct sl_packet *packet = NULL;
	if (payload.source == SL_SOURCE_RESULT && message.chunk.t != sim->learners[i].host.disk.certificate.t)
		return; /* the next result is being written: it is not the one of the Round that was sent */
	sl_sim_check_sent(sim, i, action);
	if (action->send.own)
		sl_sim_sign(sim, &message);
	for (uint32_t j = 0; j < sim->n; j++) {
		if (!sl_bit(action->send.to, j) ||
		    !sl_sim_link(sim, i, j)->up) /* it has fallen, and i does not know it yet */
			continue;
		if (each)
			payload.row = row_of(sim, i, j);
		if (packet == NULL || own) {
			sl_packet_drop(packet);
			packet = sl_packet_new(&sim->learners[i].host, &message, &payload);
		}
		send_packet(sim, i, j, sl_packet_share(packet));
	}
	sl_packet_drop(packet);
}
