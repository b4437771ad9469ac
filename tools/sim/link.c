/* Links and what travels on them: every directed link is a queue, in order, with its own delays. */
#include <assert.h>
#include <stdlib.h>

#include "common/base/bytes.h"
#include "tools/sim/check.h"

void sl_sim_mail_free(struct sl_sim_mail *mail)
{
	if (mail == NULL)
		return;
	free(mail->candidates);
	free(mail->bytes);
	free(mail);
}

/* --- links: one stands when an end wants it, it is possible and not cut --- */

static bool wants(const struct sl_sim *sim, uint32_t i, uint32_t j)
{
	const struct sl_sim_learner *l = &sim->learners[i];
	return !l->stopped && l->core != NULL && sl_bit(l->wanted, j);
}

static void side_up(struct sl_sim *sim, uint32_t i, uint32_t j)
{
	struct sl_sim_link *in = sl_sim_link(sim, j, i); /* what j says reaches i after i knows of the link */
	uint64_t at = sim->now + sl_sim_delay(sim, sim->options.delay_ms);
	at = at > in->last ? at : in->last + 1; /* after the end of the link before */
	in->up = true;
	in->refused = false;
	in->generation++;
	in->last = in->up_at = at;
	sl_sim_post(sim, at, (struct sl_sim_event){.kind = SL_SIM_LINK_UP, .learner = i, .peer = j});
}

static void side_down(struct sl_sim *sim, uint32_t i, uint32_t j)
{
	struct sl_sim_link *out = sl_sim_link(sim, i, j), *in = sl_sim_link(sim, j, i);
	uint64_t at = sim->now + sl_sim_delay(sim, 5);
	out->generation++; /* what is on its way is lost */
	while (out->kept_count > 0)
		sl_sim_mail_free(out->kept[--out->kept_count]);
	out->up = false;
	in->last = at > in->last ? at : in->last + 1; /* an up that has not been told yet comes first */
	sl_sim_post(sim, in->last, (struct sl_sim_event){.kind = SL_SIM_LINK_DOWN, .learner = i, .peer = j});
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
	if (!link->possible || link->cut || sim->learners[j].stopped) {
		if (!link->refused) /* once is enough: it goes on dialling, and goes on failing */
			sl_sim_post(sim, sim->now,
				    (struct sl_sim_event){.kind = SL_SIM_LINK_DOWN, .learner = i, .peer = j});
		link->refused = true;
		return;
	}
	struct sl_core_status status;
	sl_core_status(sim->learners[j].core, &status);
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
	memcpy(was, l->wanted, sl_bit_words(sim->n) * sizeof *set);
	memcpy(l->wanted, set, sl_bit_words(sim->n) * sizeof *set);
	for (uint32_t j = 0; j < sim->n; j++) {
		struct sl_sim_link *link = sl_sim_link(sim, i, j);
		if (sl_bit(set, j) && !link->up) {
			link->refused &=
				was[j / 64] >> (j % 64) & 1; /* asked anew, it says anew that it fails */
			sl_sim_post(sim, sim->now + sl_sim_delay(sim, 50),
				    (struct sl_sim_event){.kind = SL_SIM_DIAL, .learner = i, .peer = j});
		} else if (!sl_bit(set, j) && link->up && !wants(sim, j, i)) {
			sl_sim_fall(sim, i, j);
		}
	}
}

/* --- messages --- */

static void copy_candidates(struct sl_sim_mail *mail)
{
	struct sl_link_state *state = &mail->message.link_state;
	mail->candidates = calloc(state->count + 1, sizeof(sl_id));
	memcpy(mail->candidates, state->candidates, state->count * sizeof(sl_id));
	state->candidates = mail->candidates;
}

static uint32_t position_of(const struct sl_view *view, sl_id id)
{
	uint32_t i = 0;
	while (i < view->n && view->ids[i] != id)
		i++;
	return i;
}

/* A masked state's first chunk brings the nonce that its owner committed with. */
static void add_nonce(const struct sl_sim_learner *l, struct sl_message *m)
{
	if (!sl_message_nonce_due(m->kind, &m->chunk))
		return;
	uint32_t owner = m->kind == SL_MSG_STATE ? l->view->self : position_of(l->view, m->chunk.origin);
	memcpy(m->chunk.nonce, sl_slot_nonce(&l->workspace.state_file, owner), SL_NONCE_BYTES);
}

static void copy_held(struct sl_sim_mail *mail)
{
	struct sl_have *have = &mail->message.have;
	mail->bytes = malloc(have->size);
	memcpy(mail->bytes, have->held, have->size);
	have->held = mail->bytes;
}

static struct sl_sim_mail *write_mail(struct sl_sim *sim, uint32_t i, uint32_t j,
				      const struct sl_message *message)
{
	struct sl_sim_mail *mail = malloc(sizeof *mail);
	struct sl_message *m = &mail->message;
	const struct sl_sim_learner *l = &sim->learners[i];
	*mail = (struct sl_sim_mail){.message = *message};
	if (m->kind == SL_MSG_LINK_STATE)
		copy_candidates(mail);
	if (m->kind == SL_MSG_HAVE)
		copy_held(mail);
	if (m->kind < SL_MSG_SHARE)
		return mail;
	add_nonce(l, m);
	mail->bytes = malloc(m->chunk.size);
	m->chunk.bytes = mail->bytes;
	if (m->kind == SL_MSG_RESULT) {
		memcpy(mail->bytes,
		       l->disk.result + (size_t)m->chunk.index * SL_CHUNK_ELEMENTS * l->disk.result_bytes,
		       m->chunk.size);
		return mail;
	}
	if (m->kind == SL_MSG_MASKED) {
		memcpy(mail->bytes,
		       sl_slot_chunk(&l->workspace.state_file, l->view, position_of(l->view, m->chunk.origin),
				     m->chunk.index),
		       m->chunk.size);
		return mail;
	}
	if (m->kind == SL_MSG_STATE) {
		sl_job_mix_state(&l->workspace, l->view, &m->chunk, mail->bytes);
		return mail;
	}
	int r = sl_view_neighbour(l->view, j);
	if (r < 0)
		sl_sim_fail(sim, "a share of learner %u to %u, which is no neighbour", sim->ids[i],
			    sim->ids[j]);
	memcpy(mail->bytes, l->workspace.shares[r], m->chunk.size);
	return mail;
}

static void keep(struct sl_sim_link *link, struct sl_sim_mail *mail)
{
	link->kept = realloc(link->kept, (link->kept_count + 1) * sizeof *link->kept);
	link->kept[link->kept_count++] = mail;
}

static void post_mail(struct sl_sim *sim, uint32_t i, uint32_t j, struct sl_sim_mail *mail)
{
	struct sl_sim_link *link = sl_sim_link(sim, i, j);
	if (sim->tap != NULL && !sim->tap(sim, i, j, &mail->message)) {
		sl_sim_mail_free(mail);
		return;
	}
	if (link->held) {
		keep(link, mail);
		return;
	}
	uint64_t at = sim->now + sl_sim_delay(sim, sim->options.delay_ms + link->slow_ms);
	link->last = at > link->last ? at : link->last + 1;
	sl_sim_post(sim, link->last,
		    (struct sl_sim_event){.kind = SL_SIM_MAIL,
					  .learner = j,
					  .peer = i,
					  .generation = link->generation,
					  .mail = mail});
}

void sl_sim_echo(struct sl_sim *sim, uint32_t i, uint32_t j, const struct sl_message *message,
		 uint32_t delay_ms)
{
	struct sl_sim_mail *mail = calloc(1, sizeof *mail);
	mail->message = *message;
	if (message->kind == SL_MSG_LINK_STATE)
		copy_candidates(mail);
	if (message->kind == SL_MSG_HAVE)
		copy_held(mail);
	if (message->kind >= SL_MSG_SHARE) {
		mail->bytes = malloc(message->chunk.size);
		memcpy(mail->bytes, message->chunk.bytes, message->chunk.size);
		mail->message.chunk.bytes = mail->bytes;
	}
	uint64_t at = sim->now + sl_sim_delay(sim, delay_ms), up = sl_sim_link(sim, i, j)->up_at;
	sl_sim_post(sim, at > up ? at : up + 1,
		    (struct sl_sim_event){.kind = SL_SIM_MAIL,
					  .learner = j,
					  .peer = i,
					  .generation = sl_sim_link(sim, i, j)->generation,
					  .mail = mail});
}

void sl_sim_send(struct sl_sim *sim, uint32_t i, const struct sl_action *action)
{
	struct sl_message message = action->send.message;
	sl_sim_check_sent(sim, i, action);
	if (action->send.own)
		sl_sim_sign(sim, &message);
	for (uint32_t j = 0; j < sim->n; j++)
		if (sl_bit(action->send.to, j) &&
		    sl_sim_link(sim, i, j)->up) /* or it has fallen, and i does not know it yet */
			post_mail(sim, i, j, write_mail(sim, i, j, &message));
}

void sl_sim_mail_arrives(struct sl_sim *sim, const struct sl_sim_event *event)
{
	const struct sl_message *m = &event->mail->message;
	struct sl_event e = {.kind = SL_EVENT_MESSAGE, .peer = event->peer, .message = m};
	if (event->generation != sl_sim_link(sim, event->peer, event->learner)->generation ||
	    sim->learners[event->learner].stopped)
		return; /* fell with its link */
	sl_sim_signatures_verify(sim, event->learner, m);
	if (m->kind >= SL_MSG_SHARE) {
		e.buffer = calloc(1, sizeof *e.buffer);
		e.buffer->size = m->chunk.size;
		e.buffer->bytes = malloc(m->chunk.size);
		memcpy(e.buffer->bytes, m->chunk.bytes, m->chunk.size);
		sl_sim_give(sim, event->learner, event->peer, m->kind, e.buffer);
	}
	sl_sim_deliver(sim, event->learner, &e);
}
