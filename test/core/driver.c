#include "test/core/driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/base/bytes.h"

static void take_back(struct driver *p, struct sl_buffer *list)
{
	while (list != NULL) {
		struct sl_buffer *next = list->next;
		p->back++;
		free(list->bytes);
		free(list);
		list = next;
	}
}

static void carry(struct driver *p)
{
	for (uint32_t i = 0; i < p->actions.count; i++) {
		struct sl_action *a = &p->actions.items[i];
		if (a->kind == SL_ACTION_DROP)
			take_back(p, a->buffers);
		if (a->kind == SL_ACTION_PERSIST)
			p->asked[a->persist.what.kind] = a->persist.what;
		if (a->kind != SL_ACTION_COMPUTE)
			continue;
		take_back(p, a->job.buffers);
		p->view = a->job.view;
		p->epoch = a->job.epoch;
		p->chunk[a->job.kind] = a->job.chunk;
	}
}

const char *tell(struct driver *p, struct sl_event event)
{
	event.now = p->now;
	p->given += event.buffer != NULL;
	sl_sim_trace_cause(&p->trace, &event);
	p->code = sl_core_step(p->core, &event, &p->actions);
	sl_sim_trace_effects(&p->trace, &p->actions);
	if (p->code != SL_OK && event.buffer != NULL)
		take_back(p, event.buffer);
	carry(p);
	return p->trace.text;
}

struct driver *driver_build(uint32_t learners, uint64_t n)
{
	struct driver *p = calloc(1, sizeof *p);
	double clipping_range = 16;
	p->ids = calloc(learners, sizeof *p->ids);
	for (uint32_t i = 0; i < learners; i++)
		p->ids[i] = i + 1;
	p->trace.ids = p->ids;
	p->trace.count = learners;
	p->config = (struct sl_core_config){.roster_size = learners,
					    .ids = p->ids,
					    .incarnation = 1,
					    .privacy_check_warns = true,
					    .straggler_timeout_ms = 60000,
					    .hello_timeout_ms = 2000,
					    .agreement_timeout_ms = 10000,
					    .prepare_timeout_ms = 60000,
					    .stall_timeout_ms = 10000,
					    .confirm_timeout_ms = 10000,
					    .serve_after_end_ms = 30000};
	p->config.parameters = (struct sl_parameters){.n = n,
						      .rounds = 1,
						      .quorum = learners / 2 + 1,
						      .decimals = 4,
						      .max_weight = 1,
						      .k = 3,
						      .tolerance = 1,
						      .max_degree = 16};
	memcpy(&p->config.parameters.clipping_range, &clipping_range, sizeof clipping_range);
	p->analysis.kappa = 2;
	p->analysis.degree = 3;
	return p;
}

void driver_start(struct driver *p)
{
	struct sl_arena arena;
	size_t bytes = sl_core_bytes(&p->config);
	p->arena = malloc(bytes);
	sl_arena_init(&arena, p->arena, bytes);
	p->core = sl_core_init(&p->config, &arena);
	assert_non_null(p->core);
	tell(p, (struct sl_event){.kind = SL_EVENT_START});
}

struct driver *driver_new(uint32_t learners, uint64_t n)
{
	struct driver *p = driver_build(learners, n);
	driver_start(p);
	return p;
}

void driver_free(struct driver *p, uint32_t held)
{
	assert_int_equal(p->given, p->back + held);
	take_back(p, sl_core_held(p->core));
	assert_int_equal(p->given, p->back);
	free(p->arena);
	free(p->ids);
	free(p);
}

const char *tell_link(struct driver *p, bool up, sl_id peer)
{
	return tell(p,
		    (struct sl_event){.kind = up ? SL_EVENT_LINK_UP : SL_EVENT_LINK_DOWN, .peer = peer - 1});
}

const char *tell_message(struct driver *p, sl_id from, const struct sl_message *message)
{
	return tell(p, (struct sl_event){.kind = SL_EVENT_MESSAGE, .peer = from - 1, .message = message});
}

const char *tell_hello(struct driver *p, sl_id from, sl_round t, enum sl_peer_status status)
{
	return tell_message(
		p, from,
		&(struct sl_message){
			.kind = SL_MSG_HELLO,
			.hello = {.id = from, .incarnation = 1, .t = t, .a = 1, .status = status}});
}

struct sl_message link_state_of(const struct driver *p, sl_id id, sl_attempt a, const sl_id *candidates)
{
	struct sl_message m = {.kind = SL_MSG_LINK_STATE};
	m.link_state = (struct sl_link_state){.id = id,
					      .incarnation = 1,
					      .t = 1,
					      .a = a,
					      .parameters = p->config.parameters,
					      .candidates = candidates};
	while (candidates[m.link_state.count] != 0)
		m.link_state.count++;
	m.link_state.signature[0] = (uint8_t)m.link_state.count; /* as different as what it covers */
	return m;
}

const char *tell_link_state(struct driver *p, sl_id from, sl_id id, sl_attempt a, const sl_id *candidates)
{
	struct sl_message m = link_state_of(p, id, a, candidates);
	return tell_message(p, from, &m);
}

const char *tell_ready(struct driver *p, sl_id from, sl_id id, sl_attempt a)
{
	struct sl_message m = {.kind = SL_MSG_READY, .ready = {.id = id, .t = 1, .a = a, .k = 3}};
	memcpy(m.ready.view, p->view->h, SL_HASH_BYTES);
	return tell_message(p, from, &m);
}

const char *tell_abort(struct driver *p, sl_id from, sl_id id, sl_attempt a, const sl_attempt *released)
{
	struct sl_message m = {.kind = SL_MSG_ABORT, .abort = {.id = id, .incarnation = 1, .t = 1, .a = a}};
	for (; released[m.abort.count] != 0; m.abort.count++)
		m.abort.released[m.abort.count] = released[m.abort.count];
	return tell_message(p, from, &m);
}

const char *tell_have(struct driver *p, sl_id from, uint8_t held)
{
	struct sl_message m = {.kind = SL_MSG_HAVE,
			       .have = {.t = 1, .a = p->view->a, .size = 1, .held = &held}};
	memcpy(m.have.view, p->view->h, SL_HASH_BYTES);
	return tell_message(p, from, &m);
}

const char *tell_digest(struct driver *p, sl_id from, uint8_t first)
{
	struct sl_message m = {.kind = SL_MSG_DIGEST,
			       .digest = {.id = from, .t = 1, .a = 1, .digest = {first}}};
	m.digest.p = p->view->field.p;
	m.digest.learners = p->view->n;
	m.digest.decimals = (uint32_t)p->view->agreed.decimals;
	m.digest.encoding = (uint32_t)p->view->agreed.encoding;
	m.digest.clipping_range = p->view->agreed.clipping_range;
	memcpy(m.digest.view, p->view->h, SL_HASH_BYTES);
	return tell_message(p, from, &m);
}

static const char *tell_chunk(struct driver *p, sl_id from, enum sl_message_kind kind, struct sl_chunk chunk)
{
	struct sl_message m = {.kind = kind, .chunk = chunk};
	struct sl_buffer *buffer = calloc(1, sizeof *buffer);
	size_t count = chunk.index < p->view->chunks ? sl_view_chunk_elements(p->view, chunk.index) : 1;
	m.chunk.t = 1;
	m.chunk.a = p->view->a;
	memcpy(m.chunk.view, p->view->h, SL_HASH_BYTES);
	bool seed = kind == SL_MSG_SHARE && p->view->sharing == SL_SHARING_SEEDED;
	buffer->size =
		seed ? SL_KEY_BYTES
		     : count * (kind == SL_MSG_STATE ? sl_view_mixing_width(p->view) : p->view->field.bytes);
	buffer->bytes = calloc(1, buffer->size);
	return tell(p, (struct sl_event){
			       .kind = SL_EVENT_MESSAGE, .peer = from - 1, .message = &m, .buffer = buffer});
}

const char *tell_payload(struct driver *p, sl_id from, enum sl_message_kind kind, uint32_t index,
			 uint64_t iteration)
{
	return tell_chunk(p, from, kind, (struct sl_chunk){.index = index, .iteration = iteration});
}

const char *tell_masked(struct driver *p, sl_id from, sl_id origin, uint32_t index)
{
	return tell_chunk(p, from, SL_MSG_MASKED, (struct sl_chunk){.index = index, .origin = origin});
}

const char *tell_done(struct driver *p, enum sl_job_kind kind, int code)
{
	bool summed = kind == SL_JOB_CLOSE || kind == SL_JOB_SUM,
	     told = kind == SL_JOB_SHARE || kind == SL_JOB_EXPAND || kind == SL_JOB_CHECK;
	struct sl_job_result result = {.kind = kind,
				       .code = code,
				       .analysis = &p->analysis,
				       .epoch = p->epoch,
				       .hash = {7},
				       .chunk = told ? p->chunk[kind] : 0,
				       .total = summed ? 3 : 0};
	return tell(p, (struct sl_event){.kind = SL_EVENT_COMPUTED, .result = &result});
}

const char *tell_durable(struct driver *p, enum sl_persist_kind kind)
{
	assert_int_equal(p->asked[kind].kind, kind);
	return tell(p, (struct sl_event){.kind = SL_EVENT_DURABLE, .durable = p->asked[kind]});
}

const char *tell_time(struct driver *p, sl_ms ms)
{
	p->now += ms;
	return tell(p, (struct sl_event){.kind = SL_EVENT_DEADLINE});
}

void driver_agree(struct driver *p)
{
	uint32_t R = p->config.roster_size;
	for (sl_id id = 2; id <= R; id++) {
		tell_link(p, true, id);
		tell_hello(p, id, 1, SL_PEER_STATUS_READY);
	}
	tell(p, (struct sl_event){.kind = SL_EVENT_TRAINED});
	sl_id *others = calloc(R + 1, sizeof *others);
	for (sl_id id = 2; id <= R; id++) {
		uint32_t count = 0;
		for (sl_id other = 1; other <= R; other++)
			if (other != id)
				others[count++] = other;
		others[count] = 0;
		tell_link_state(p, id, id, 1, others);
	}
	free(others);
}

void driver_share(struct driver *p)
{
	driver_agree(p);
	tell_done(p, SL_JOB_ANALYSE, SL_OK);
	tell_done(p, SL_JOB_ENCODE, SL_OK);
	tell_done(p, SL_JOB_SHARE, SL_OK);
}

void driver_ready(struct driver *p)
{
	driver_share(p);
	for (uint32_t m = 0; m < p->view->chunks; m++) {
		if (m > 0)
			tell_done(p, SL_JOB_SHARE, SL_OK);
		for (sl_id id = 2; id <= p->config.roster_size; id++) {
			tell_payload(p, id, SL_MSG_SHARE, m, 0);
			tell_done(p, SL_JOB_GATHER, SL_OK);
		}
	}
	tell_done(p, SL_JOB_COMMITMENT, SL_OK);
	tell_durable(p, SL_PERSIST_PREPARED);
}

void driver_release(struct driver *p)
{
	driver_ready(p);
	for (sl_id id = 2; id <= p->config.roster_size; id++)
		tell_ready(p, id, id, 1);
	tell_durable(p, SL_PERSIST_RELEASED);
}
