/* The door: one event in, the actions it leads to out. */
#include "common/core/state.h"

#include <assert.h>

static uint64_t *take_set(struct sl_core *core, struct sl_arena *arena)
{
	return SL_TAKE(arena, sl_words(core), uint64_t);
}

static size_t attempt_bytes(const struct sl_core_config *config)
{
	size_t R = config->roster_size;
	size_t chunks = (size_t)(config->parameters.n / SL_CHUNK_ELEMENTS) + 1;
	size_t graph = (2 * R + R * R) * sizeof(uint32_t) * 2 + 4096;
	size_t attempt = chunks * 16 + R * (sizeof(struct sl_exchange) + chunks * 8 + 128) + 4096;
	return graph + attempt;
}

size_t sl_core_bytes(const struct sl_core_config *config)
{
	size_t R = config->roster_size, set = sl_bits_words(R) * 8 + 64;
	size_t records = R * (sizeof(struct sl_link_record) + sizeof(struct sl_ready_record) + 5 * set + 64);
	records += R * sl_candidates_max(config->roster_size) * sizeof(sl_id);
	size_t view = R * 3 * sizeof(uint32_t) + R * (R + 1) / 2 * sizeof(struct sl_edge) + 1024;
	return sizeof(struct sl_core) + R * sizeof(struct sl_peer) + records + 15 * set + view + attempt_bytes(config) + 8192;
}

static bool take_records(struct sl_core *core, struct sl_arena *arena)
{
	uint32_t R = core->config.roster_size;
	for (uint32_t i = 0; i < R; i++) {
		struct sl_link_record *lr = &core->links[i];
		struct sl_ready_record *rr = &core->readys[i];
		lr->candidates = SL_TAKE(arena, sl_candidates_max(R), sl_id);
		uint64_t **sets[] = {&lr->named, &lr->record.sent, &lr->record.to, &rr->record.sent, &rr->record.to};
		for (size_t s = 0; s < sizeof sets / sizeof *sets; s++)
			if ((*sets[s] = take_set(core, arena)) == NULL)
				return false;
		if (lr->candidates == NULL)
			return false;
	}
	return true;
}

static bool take_all(struct sl_core *core, struct sl_arena *arena)
{
	uint32_t R = core->config.roster_size;
	uint64_t **sets[] = {&core->linked,  &core->range,   &core->told,      &core->keep,
			     &core->awaited, &core->blamed,  &core->fellows,   &core->single,
			     &core->ready_set, &core->tried_candidates, &core->reach, &core->members,
			     &core->eligible, &core->source, &core->near};
	for (size_t s = 0; s < sizeof sets / sizeof *sets; s++)
		if ((*sets[s] = take_set(core, arena)) == NULL)
			return false;
	core->peers = SL_TAKE(arena, R, struct sl_peer);
	core->links = SL_TAKE(arena, R, struct sl_link_record);
	core->readys = SL_TAKE(arena, R, struct sl_ready_record);
	core->edges = SL_TAKE(arena, (size_t)R * (R + 1) / 2, struct sl_edge);
	core->view.members = SL_TAKE(arena, R, uint32_t);
	core->view.ids = SL_TAKE(arena, R, sl_id);
	core->view.position = SL_TAKE(arena, R, uint32_t);
	if (core->peers == NULL || core->links == NULL || core->readys == NULL || core->edges == NULL ||
	    core->view.members == NULL || core->view.ids == NULL || core->view.position == NULL)
		return false;
	return take_records(core, arena);
}

struct sl_core *sl_core_init(const struct sl_core_config *config, struct sl_arena *arena)
{
	struct sl_core *core = SL_TAKE(arena, 1, struct sl_core);
	if (core == NULL)
		return NULL;
	core->config = *config;
	if (!take_all(core, arena))
		return NULL;
	size_t bytes = attempt_bytes(config);
	void *room = sl_arena_take(arena, 1, bytes);
	if (room == NULL)
		return NULL;
	sl_arena_init(&core->arena, room, bytes);
	core->committed = config->committed;
	memcpy(core->previous, config->previous, SL_HASH_BYTES);
	if (config->proof != NULL)
		core->proof = *config->proof;
	core->config.proof = NULL; /* copied */
	core->rounds = (sl_round)config->parameters.rounds;
	core->phase = SL_PHASE_TRAIN;
	return core;
}

/* In range without a radio: the whole roster. */
static void start(struct sl_core *core)
{
	core->since = core->now;
	core->report_at = core->now + SL_WAIT_REPORT_MS;
	if (!core->config.told) {
		for (uint32_t i = 0; i < core->config.roster_size; i++)
			if (i != core->config.self)
				sl_bit_set(core->range, i);
		core->have_range = true;
	}
	sl_discover_links(core);
	if (core->committed >= core->rounds) {
		core->t = core->committed + 1;
		sl_move(core, SL_PHASE_DONE);
		return;
	}
	sl_begin_round(core);
}

static void link_up(struct sl_core *core, uint32_t peer)
{
	sl_bit_set(core->linked, peer);
	core->peers[peer].hello = false;
	core->peers[peer].unshown = 0;
	core->peers[peer].tried = false;
	core->reach_stale = true;
	sl_flood_forget(core, peer);
	memset(core->single, 0, sl_set_bytes(core));
	sl_bit_set(core->single, peer);
	sl_say_hello(core, core->single);
	sl_catchup_greet(core);
}

static void link_down(struct sl_core *core, uint32_t peer)
{
	bool was = sl_bit(core->linked, peer);
	sl_bit_clear(core->linked, peer);
	core->reach_stale = true;
	core->peers[peer].hello = false;
	core->peers[peer].tried = true;
	sl_discover_silent(core);
	if (!was)
		return;
	bool candidate = core->phase == SL_PHASE_FREEZE && sl_bit(core->tried_candidates, peer);
	bool neighbour = sl_exchanging(core) && sl_bit(core->fellows, peer);
	if (candidate || neighbour)
		sl_fail_attempt(core, SL_REASON_LINK, false)->peer = peer;
	else if (core->phase == SL_PHASE_CATCHUP && core->catchup.from == peer)
		sl_catchup_lost(core);
}

/* A peer that knows less of itself than is known here has lost some of its disk: what it promised in this round it may
 * have forgotten, so it is kept out of it (protocol 5, FREEZE). Where everybody has to take part, no two groups can
 * promise different things, and nothing would ever commit without it. */
static void look_back(struct sl_core *core, uint32_t peer, const struct sl_hello *hello)
{
	struct sl_peer *p = &core->peers[peer];
	bool restored = hello->incarnation < p->incarnation;
	bool forgot = hello->t < p->t;
	if ((restored || forgot) && p->quarantined == 0 && core->config.parameters.quorum < core->config.roster_size) {
		p->quarantined = core->t;
		struct sl_report *report = sl_report(core, SL_REPORT_QUARANTINED);
		report->peer = peer;
		report->word = restored ? "incarnation" : "round";
		report->n[0] = restored ? hello->incarnation : hello->t;
		report->n[1] = restored ? p->incarnation : p->t;
	}
	p->incarnation = hello->incarnation; /* known now: once it has been kept out of a round, it may go on from there */
}

/* It has committed the round elsewhere: an attempt that counts on it cannot come to anything. After release it may be
 * this very attempt. */
static bool went_on(const struct sl_core *core, uint32_t peer)
{
	bool counted_on = core->phase == SL_PHASE_FREEZE ? sl_bit(core->tried_candidates, peer)
							 : (core->phase == SL_PHASE_SHARE || core->phase == SL_PHASE_READY) &&
								   sl_bit(core->fellows, peer);
	return counted_on && core->peers[peer].t > core->t;
}

static void hello(struct sl_core *core, uint32_t peer, const struct sl_hello *hello)
{
	struct sl_peer *p = &core->peers[peer];
	if (hello->id != core->config.ids[peer]) {
		sl_reject(core, peer, "a hello in another learner's name");
		return;
	}
	look_back(core, peer, hello);
	bool later = hello->t > p->t;
	p->hello = true;
	p->t = hello->t;
	p->standing = hello->standing;
	if (later && core->phase == SL_PHASE_CATCHUP && core->catchup.from == peer)
		sl_catchup_lost(core); /* a commit lay between: it has another one to show, and maybe nothing while it lasted */
	if (went_on(core, peer))
		sl_fail_attempt(core, SL_REASON_COMMITTED, false)->peer = peer;
}

/* The common prologue of chunks: which round, which attempt; then the view decides. */
static void chunk(struct sl_core *core, uint32_t peer, const struct sl_message *message, struct sl_buffer *buffer)
{
	const struct sl_chunk *c = &message->chunk;
	buffer->index = c->index;
	buffer->iteration = c->iteration;
	memcpy(buffer->view, c->view, SL_HASH_BYTES);
	if (message->kind == SL_MSG_RESULT)
		sl_catchup_chunk(core, peer, buffer, c->t);
	else if (c->t != core->t || c->a < core->a)
		sl_drop(core, buffer); /* late: of an attempt that ended here */
	else if (message->kind == SL_MSG_SHARE)
		sl_share_chunk(core, peer, buffer);
	else
		sl_mix_chunk(core, peer, buffer);
}

static void message(struct sl_core *core, const struct sl_event *event)
{
	switch (event->message->kind) {
	case SL_MSG_HELLO:
		hello(core, event->peer, &event->message->hello);
		break;
	case SL_MSG_LINK_STATE:
		sl_flood_link_state(core, event->peer, &event->message->link_state);
		break;
	case SL_MSG_READY:
		sl_flood_ready(core, event->peer, &event->message->ready);
		break;
	case SL_MSG_DIGEST:
		if (core->phase == SL_PHASE_CATCHUP)
			sl_catchup_digest(core, event->peer, &event->message->digest);
		else
			sl_settle_digest(core, event->peer, &event->message->digest);
		break;
	case SL_MSG_ASK:
		sl_catchup_ask(core, event->peer, &event->message->ask);
		break;
	case SL_MSG_SHARE:
	case SL_MSG_STATE:
	case SL_MSG_RESULT:
		chunk(core, event->peer, event->message, event->buffer);
		break;
	}
}

static void trained(struct sl_core *core)
{
	core->trained = true;
	core->trained_at = core->now;
	sl_move(core, SL_PHASE_DISCOVER);
	sl_discover_enter(core);
}

static void computed(struct sl_core *core, const struct sl_job_result *result)
{
	assert(core->jobs > 0);
	core->jobs--;
	if (result->epoch != core->epoch)
		return;
	switch (result->kind) {
	case SL_JOB_SURVEY:
		sl_freeze_survey(core, result);
		break;
	case SL_JOB_MIX:
		sl_mix_result(core, result);
		break;
	case SL_JOB_CLOSE:
	case SL_JOB_DECODE:
		sl_settle_result(core, result);
		break;
	case SL_JOB_ABSORB:
	case SL_JOB_ADOPT:
		sl_catchup_result(core, result);
		break;
	default:
		sl_share_result(core, result);
	}
}

static void handle(struct sl_core *core, const struct sl_event *event)
{
	switch (event->kind) {
	case SL_EVENT_START:
		start(core);
		break;
	case SL_EVENT_LINK_UP:
		link_up(core, event->peer);
		break;
	case SL_EVENT_LINK_DOWN:
		link_down(core, event->peer);
		break;
	case SL_EVENT_MESSAGE:
		message(core, event);
		break;
	case SL_EVENT_TRAINED:
		trained(core);
		break;
	case SL_EVENT_COMPUTED:
		computed(core, event->result);
		break;
	case SL_EVENT_DURABLE:
		if (core->phase == SL_PHASE_CATCHUP)
			sl_catchup_durable(core);
		else
			sl_commit_durable(core);
		break;
	case SL_EVENT_RANGE:
		sl_discover_range(core, event->range);
		break;
	case SL_EVENT_DEADLINE:
		break;
	}
}

/* Takes every move that is due. */
static void advance(struct sl_core *core)
{
	bool moved = true;
	while (moved && !core->stopped) {
		switch (core->phase) {
		case SL_PHASE_DISCOVER:
			moved = sl_discover_advance(core);
			break;
		case SL_PHASE_FREEZE:
			moved = sl_freeze_advance(core);
			break;
		case SL_PHASE_SHARE:
			moved = sl_share_advance(core);
			break;
		case SL_PHASE_READY:
			moved = sl_ready_advance(core);
			break;
		case SL_PHASE_MIX:
			moved = sl_mix_advance(core);
			break;
		case SL_PHASE_SETTLE:
			moved = sl_settle_advance(core);
			break;
		case SL_PHASE_CATCHUP:
			moved = sl_catchup_advance(core);
			break;
		case SL_PHASE_DONE:
			moved = sl_done_advance(core);
			break;
		default:
			moved = false;
		}
	}
	if (!core->stopped)
		sl_flood_pump(core);
}

/* What each kind of event must bring, and when it may come. */
static bool allowed(const struct sl_core *core, const struct sl_event *event)
{
	bool started = core->t != 0;
	bool peer = event->peer < core->config.roster_size && event->peer != core->config.self;
	switch (event->kind) {
	case SL_EVENT_START:
		return !started;
	case SL_EVENT_LINK_UP:
	case SL_EVENT_LINK_DOWN:
		return started && peer;
	case SL_EVENT_MESSAGE:
		return started && peer && event->message != NULL &&
		       (event->message->kind < SL_MSG_SHARE) == (event->buffer == NULL);
	case SL_EVENT_TRAINED:
		return started && core->phase == SL_PHASE_TRAIN && !core->trained;
	case SL_EVENT_COMPUTED:
		return started && event->result != NULL && core->jobs > 0;
	case SL_EVENT_DURABLE:
		return started && (core->phase == SL_PHASE_COMMIT || core->phase == SL_PHASE_CATCHUP);
	case SL_EVENT_RANGE:
		return started && event->range != NULL && core->config.told;
	case SL_EVENT_DEADLINE:
		return started;
	}
	return false;
}

int sl_core_step(struct sl_core *core, const struct sl_event *event, struct sl_actions *actions)
{
	actions->count = 0;
	if (core->stopped || !allowed(core, event))
		return SL_ERR_INVALID;
	core->out = actions;
	core->now = event->now;
	handle(core, event);
	advance(core);
	core->out = NULL;
	return SL_OK;
}

sl_ms sl_core_deadline(const struct sl_core *core)
{
	if (core->stopped)
		return SL_NEVER;
	if (core->flood_dirty)
		return core->now;
	switch (core->phase) {
	case SL_PHASE_DISCOVER:
		return sl_discover_deadline(core);
	case SL_PHASE_FREEZE:
		return core->view_built || core->jobs > 0 ? SL_NEVER : core->at.progress + core->config.flood_ms;
	case SL_PHASE_SHARE:
	case SL_PHASE_MIX:
		return core->jobs > 0 ? SL_NEVER : core->at.progress + core->config.stall_ms;
	case SL_PHASE_READY:
		return core->report_at < core->since + core->config.ready_ms ? core->report_at
									      : core->since + core->config.ready_ms;
	case SL_PHASE_SETTLE:
		return core->at.result_known ? core->since + core->config.settle_ms : SL_NEVER;
	case SL_PHASE_CATCHUP:
		return core->jobs > 0 || core->catchup.in == core->catchup.chunks
			       ? SL_NEVER
			       : core->catchup.progress + core->config.stall_ms;
	case SL_PHASE_DONE:
		return core->since + core->config.linger_ms;
	default:
		return SL_NEVER;
	}
}

static uint32_t permille(uint64_t done, uint64_t all)
{
	return all == 0 ? 0 : (uint32_t)(done * 1000 / all);
}

void sl_core_status(const struct sl_core *core, struct sl_core_status *status)
{
	*status = (struct sl_core_status){
		.t = core->t, .committed = core->committed, .a = core->a, .phase = core->phase};
	if (!core->view_gated)
		return;
	status->learners = core->view.n;
	status->k = core->view.k;
	status->mu = core->view.mu;
	if (core->phase == SL_PHASE_SHARE)
		status->permille = permille(core->at.share_next, core->view.chunks);
	else if (core->phase == SL_PHASE_MIX)
		status->permille = permille(core->at.mixed, core->view.k * core->view.chunks);
}
