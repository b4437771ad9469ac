/* Delivery of packets after a sweep, and links, which are up while one end wants them. */
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "tools/runner/runner_internal.h"

/* --- within a turn --- */

static void say(struct sl_runner_learner *l, struct sl_packet *packet, const uint32_t *to, uint32_t count)
{
	struct sl_runner_said *said = calloc(1, sizeof *said + count * sizeof *to);
	if (said == NULL)
		abort(); /* in the middle of a step */
	said->packet = packet;
	said->count = count;
	memcpy(said->to, to, count * sizeof *to);
	*l->said_end = said;
	l->said_end = &said->next;
	l->spoke |= packet != NULL && packet->message.kind >= SL_MSG_SHARE;
}

/* Write the members of `set` to `to`; return their number. */
static uint32_t list(const struct sl_runner *runner, const uint64_t *set, uint32_t *to)
{
	uint32_t count = 0;
	for (size_t w = 0; w < runner->words; w++)
		for (uint64_t left = set[w]; left != 0; left &= left - 1)
			to[count++] = (uint32_t)(64 * w) + (uint32_t)__builtin_ctzll(left);
	return count;
}

/* Return the packet of a message. What this worker has sent in the name of another learner is shared: all
 * learners pass on the same records. */
static struct sl_packet *pack(struct sl_runner_worker *w, uint32_t i, const struct sl_message *m,
			      const struct sl_payload *payload)
{
	const struct sl_runner *runner = w->runner;
	sl_id signer = sl_packet_signer(m);
	struct sl_packet **recent = &w->recent[(m->kind + signer * SL_MSG_SHARE) % SL_RUNNER_RECENT];
	if (signer != 0 && *recent != NULL && sl_packet_is(*recent, m))
		return sl_packet_share(*recent);
	struct sl_packet *packet = sl_packet_new(&runner->learners[i].host, m, payload);
	if (runner->options.frame_bytes != NULL)
		packet->frame_bytes = runner->options.frame_bytes(&packet->message);
	if (signer != 0) {
		sl_packet_drop(*recent);
		*recent = sl_packet_share(packet);
	}
	return packet;
}

void sl_runner_say(struct sl_runner_worker *w, uint32_t i, const struct sl_action *action)
{
	struct sl_runner *runner = w->runner;
	struct sl_runner_learner *l = &runner->learners[i];
	const struct sl_message *m = &action->send.message;
	struct sl_payload payload = action->send.payload;
	const struct sl_view *view = l->host.view;
	uint32_t to[SL_LEARNERS_MAX];
	if (action->kind == SL_ACTION_LINKS) {
		say(l, NULL, to, list(runner, action->to, to));
		return;
	}
	bool each = sl_source_by_neighbour(payload.source);
	if (!each)
		say(l, pack(w, i, m, &payload), to, list(runner, action->send.to, to));
	for (; each && payload.row < view->degree; payload.row++) {
		to[0] = sl_view_peer(view, payload.row);
		say(l, pack(w, i, m, &payload), to, 1);
	}
	if (m->kind == SL_MSG_STATE)
		sl_runner_look(runner, i, m->chunk.index, m->chunk.iteration);
}

/* --- after the sweep --- */

void sl_runner_post(struct sl_runner *runner, uint32_t i, struct sl_runner_mail mail)
{
	struct sl_runner_learner *l = &runner->learners[i];
	if (l->host.stopped) {
		sl_packet_drop(mail.packet);
		return;
	}
	if (l->inbox_count == l->inbox_room) {
		l->inbox_room = 2 * l->inbox_room + 16;
		l->inbox = reallocarray(l->inbox, l->inbox_room, sizeof *l->inbox);
		if (l->inbox == NULL)
			abort();
	}
	l->inbox[l->inbox_count++] = mail;
}

static void set_link(struct sl_runner *runner, uint32_t i, uint32_t j, bool up)
{
	uint32_t ends[2] = {i, j};
	for (int e = 0; e < 2; e++) {
		uint32_t at = ends[e], peer = ends[1 - e];
		sl_runner_post(runner, at,
			       (struct sl_runner_mail){.kind = up ? SL_EVENT_LINK_UP : SL_EVENT_LINK_DOWN,
						       .peer = peer});
		if (up)
			sl_bit_set(runner->learners[at].up, peer);
		else
			sl_bit_clear(runner->learners[at].up, peer);
	}
}

static void want_one(struct sl_runner *runner, uint32_t i, uint32_t j, bool was, bool is)
{
	const struct sl_runner_learner *l = &runner->learners[i], *peer = &runner->learners[j];
	bool up = sl_bit(l->up, j);
	if (is && !up && !peer->host.stopped)
		set_link(runner, i, j, true);
	else if (is && !was && !up) /* the peer has stopped; reported once */
		sl_runner_post(runner, i, (struct sl_runner_mail){.kind = SL_EVENT_LINK_DOWN, .peer = j});
	else if (!is && up && !sl_bit(peer->host.wanted, i))
		set_link(runner, i, j, false);
}

static void want(struct sl_runner *runner, uint32_t i, const struct sl_runner_said *said)
{
	uint64_t *wanted = runner->learners[i].host.wanted;
	for (uint32_t j = 0, k = 0; j < runner->n; j++) {
		bool was = sl_bit(wanted, j), is = k < said->count && said->to[k] == j;
		k += is;
		if (is)
			sl_bit_set(wanted, j);
		else
			sl_bit_clear(wanted, j);
		want_one(runner, i, j, was, is);
	}
}

/* Hand a message to its receivers; without a link it is lost. */
static void spread(struct sl_runner *runner, uint32_t i, const struct sl_runner_said *said)
{
	struct sl_runner_learner *l = &runner->learners[i];
	for (uint32_t k = 0; k < said->count; k++) {
		if (!sl_bit(l->up, said->to[k]))
			continue;
		l->bytes += said->packet->frame_bytes;
		sl_runner_post(runner, said->to[k],
			       (struct sl_runner_mail){.kind = SL_EVENT_MESSAGE,
						       .peer = i,
						       .packet = sl_packet_share(said->packet)});
	}
}

/* End the links of a learner that has stopped, after its last messages. */
static void leave(struct sl_runner *runner, uint32_t i)
{
	const struct sl_runner_learner *l = &runner->learners[i];
	for (uint32_t j = 0; j < runner->n; j++)
		if (sl_bit(l->up, j))
			set_link(runner, i, j, false);
}

void sl_runner_said_free(struct sl_runner_learner *l)
{
	while (l->said != NULL) {
		struct sl_runner_said *said = l->said;
		l->said = said->next;
		sl_packet_drop(said->packet);
		free(said);
	}
	l->said_end = &l->said;
}

void sl_runner_deliver(struct sl_runner *runner)
{
	for (uint32_t i = 0; i < runner->n; i++) {
		struct sl_runner_learner *l = &runner->learners[i];
		for (const struct sl_runner_said *said = l->said; said != NULL; said = said->next)
			if (said->packet == NULL)
				want(runner, i, said);
			else
				spread(runner, i, said);
		sl_runner_said_free(l);
		if (l->host.stopped)
			leave(runner, i);
	}
}
