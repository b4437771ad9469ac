#include "test/explorer/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base/bytes.h"

static const char *const events[] = {
	[SL_EVENT_START] = "start",	      [SL_EVENT_LINK_UP] = "link up",
	[SL_EVENT_LINK_DOWN] = "link down",   [SL_EVENT_MESSAGE] = "message",
	[SL_EVENT_TRAINED] = "trained",	      [SL_EVENT_TRAINING_FAILED] = "training failed",
	[SL_EVENT_COMPUTED] = "computed",     [SL_EVENT_DURABLE] = "durable",
	[SL_EVENT_RANGE] = "range",	      [SL_EVENT_OPERATOR_ABORT] = "operator abort",
	[SL_EVENT_LAST_ROUND] = "last round", [SL_EVENT_DEADLINE] = "deadline"};
static const char *const jobs[] = {"?",	     "analysis", "encode",     "secrets", "share", "gather",
				   "expand", "deposit",	 "commitment", "mix",	  "close", "checksum",
				   "fetch",  "check",	 "sum",	       "absorb",  "adopt", "accept"};
static const char *const records[] = {"?", "aborted", "prepared", "released", "signs", "over", "commit"};

static const char *record_name(const struct sl_durable *what)
{
	return what->says == SL_ABORT_UNSIGNED ? "given up" : records[what->kind];
}

const char *sl_sim_trace_job(enum sl_job_kind kind)
{
	return jobs[kind];
}

static void __attribute__((format(printf, 2, 3))) say(struct sl_sim_trace *t, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	int n = vsnprintf(t->text + t->used, sizeof t->text - t->used, format, list);
	va_end(list);
	if (n > 0)
		t->used += (size_t)n < sizeof t->text - t->used ? (size_t)n : sizeof t->text - t->used - 1;
}

/* An event may name a learner that does not exist: the core has to refuse it. */
static sl_id who(const struct sl_sim_trace *t, uint32_t i)
{
	return i < t->count ? t->ids[i] : 0;
}

static void say_set(struct sl_sim_trace *t, const uint64_t *set)
{
	for (uint32_t i = 0; set != NULL && i < t->count; i++)
		if (sl_bit(set, i))
			say(t, " %u", t->ids[i]);
}

/* Write the numbers of the bits that are set. */
static void say_bits(struct sl_sim_trace *t, const uint8_t *bits, size_t bytes)
{
	for (uint32_t i = 0; i < 8 * bytes; i++)
		if (bits[i / 8] >> (i % 8) & 1)
			say(t, " %u", i);
}

#define ROW(kind, ...)                                                                                       \
	case kind:                                                                                           \
		say(t, __VA_ARGS__);                                                                         \
		break

static void say_message(struct sl_sim_trace *t, const struct sl_message *m)
{
	static const uint8_t none[SL_HASH_BYTES];
	static const char *const aborts[] = {"denial", "abort",	      "give-up",       "abort give-up",
					     "stuck",  "abort stuck", "give-up stuck", "abort give-up stuck"};
	switch (m->kind) {
		ROW(SL_MSG_HELLO, "hello t%u %s", m->hello.t, sl_message_status_name(m->hello.status));
		ROW(SL_MSG_LINK_STATE, "link state of %u a%u", m->link_state.id, m->link_state.a);
		ROW(SL_MSG_READY, "ready of %u a%u", m->ready.id, m->ready.a);
		ROW(SL_MSG_DIGEST, "digest");
		ROW(SL_MSG_ABORT, "%s of %u a%u",
		    aborts[memcmp(m->abort.ready, none, sizeof none) == 0 ? 0 : m->abort.says], m->abort.id,
		    m->abort.a);
		ROW(SL_MSG_MODEL, "model");
		ROW(SL_MSG_KEY, "key of %u", m->key.origin);
		ROW(SL_MSG_OPENING, "opening of %u by %u", m->opening.origin, m->opening.holder);
		ROW(SL_MSG_CHALLENGE, "challenge of %u", m->challenge.origin);
		ROW(SL_MSG_CHECKSUM, "checksum of %u", m->checksums.id);
		ROW(SL_MSG_ROUND, "round t%u", m->round_head.t);
		ROW(SL_MSG_KEY_SHARE, "key share");
		ROW(SL_MSG_DEPOSIT, "deposit of %u %u", m->chunk.origin, m->chunk.index);
		ROW(SL_MSG_RESULT, "result %u", m->chunk.index);
		ROW(SL_MSG_SHARE, "share %u", m->chunk.index);
		ROW(SL_MSG_STATE, "state %u k%u", m->chunk.index, (uint32_t)m->chunk.iteration);
	case SL_MSG_REQUEST:
		say(t, "request t%u %u", m->request.t, m->request.index);
		if (m->request.origin != 0)
			say(t, " of %u", m->request.origin);
		break;
	case SL_MSG_HAVE:
		say(t, "have");
		say_bits(t, m->have.held, m->have.size);
		say(t, " keys");
		say_bits(t, m->have.keys, m->have.keys_size);
		break;
	}
}

void sl_sim_trace_cause(struct sl_sim_trace *t, const struct sl_event *e)
{
	t->used = 0;
	if (e->kind == SL_EVENT_MESSAGE) {
		say_message(t, e->message);
		say(t, " from %u", who(t, e->peer));
	} else if (e->kind == SL_EVENT_COMPUTED) {
		say(t, "%s done", sl_sim_trace_job(e->result->kind));
	} else {
		say(t, "%s", events[e->kind]);
		if (e->kind == SL_EVENT_LINK_UP || e->kind == SL_EVENT_LINK_DOWN)
			say(t, " %u", who(t, e->peer));
	}
}

static void say_report(struct sl_sim_trace *t, const struct sl_report *r)
{
	if (r->kind == SL_REPORT_PHASE) {
		say(t, "%s", sl_phase_name(r->phase));
		return;
	}
	say(t, "%s", sl_report_name(r->kind));
	if (r->kind == SL_REPORT_FAILED || r->kind == SL_REPORT_LEFT_OUT || r->kind == SL_REPORT_RECOVERING) {
		say(t, " %s", sl_report_reason_name(r->reason));
		if (r->reason == SL_REASON_QUORUM || r->reason == SL_REASON_ALONE)
			say(t, " %u of %u, missing", r->why.quorum.learners, (uint32_t)r->why.quorum.quorum);
		if (r->set != NULL)
			say_set(t, r->set);
		else if (r->peer != 0)
			say(t, " %u", who(t, r->peer));
	} else if (r->kind == SL_REPORT_REJECTED) {
		say(t, " %u: %s", who(t, r->peer), r->rejected.text);
	} else if (r->kind == SL_REPORT_WAITING || r->kind == SL_REPORT_PENALTY) {
		say_set(t, r->set);
	} else if (r->kind == SL_REPORT_BEHIND || r->kind == SL_REPORT_DIVERGED ||
		   r->kind == SL_REPORT_STALE || r->kind == SL_REPORT_CAUGHT_UP ||
		   r->kind == SL_REPORT_ABSTAINS || r->kind == SL_REPORT_EVIDENCE ||
		   r->kind == SL_REPORT_MODEL || r->kind == SL_REPORT_FLOODED) {
		say(t, " %u", who(t, r->peer));
	}
}

static void say_action(struct sl_sim_trace *t, const struct sl_action *a)
{
	switch (a->kind) {
		ROW(SL_ACTION_PERSIST, "persist %s t%u a%u", record_name(&a->persist.what), a->persist.what.t,
		    a->persist.what.a);
		ROW(SL_ACTION_TRAIN, "train t%u draw %u", a->train.t, (uint32_t)a->train.draw);
		ROW(SL_ACTION_COMPUTE, "compute %s", sl_sim_trace_job(a->job.kind));
		ROW(SL_ACTION_DROP, "drop");
		ROW(SL_ACTION_WIPE, "wipe");
		ROW(SL_ACTION_STOP, "stop %d", a->code);
	case SL_ACTION_SEND:
		say_message(t, &a->send.message);
		say(t, " to");
		say_set(t, a->send.to);
		break;
	case SL_ACTION_LINKS:
		say(t, "links");
		say_set(t, a->to);
		break;
	case SL_ACTION_REPORT:
		say_report(t, &a->report);
		break;
	}
}

/* A message without receivers is no effect. */
static bool effect(const struct sl_sim_trace *t, const struct sl_action *a)
{
	if (a->kind != SL_ACTION_SEND)
		return true;
	for (uint32_t i = 0; i < t->count; i++)
		if (sl_bit(a->send.to, i))
			return true;
	return false;
}

void sl_sim_trace_effects(struct sl_sim_trace *t, const struct sl_actions *actions)
{
	say(t, " ->");
	const char *comma = " ";
	for (uint32_t i = 0; i < actions->count; i++) {
		if (!effect(t, &actions->items[i]))
			continue;
		say(t, "%s", comma);
		say_action(t, &actions->items[i]);
		comma = ", ";
	}
}
