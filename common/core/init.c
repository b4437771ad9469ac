/* Lay out the core in its arena. No memory is taken after this. */
#include "common/core/members.h"
#include "common/core/phases.h"
#include "common/protocol/view_codec.h"

static uint64_t *take_set(struct sl_core *core, struct sl_arena *arena)
{
	return SL_ARENA_TAKE(arena, sl_core_words(core), uint64_t);
}

static size_t attempt_bytes(const struct sl_core_config *config)
{
	size_t R = config->roster_size;
	size_t chunks = (size_t)(config->parameters.n / SL_CHUNK_ELEMENTS) + 1;
	size_t graph = (2 * R + R * R) * sizeof(uint32_t) * 2 + 4096;
	size_t attempt = chunks * 16 + R * (sizeof(struct sl_exchange) + chunks * 8 + 128) + 4096;
	size_t view = sl_view_bytes(config->roster_size, R * R / 2);
	size_t recovery = R * (sizeof(struct sl_ready) + sizeof(struct sl_holder) + sizeof(enum sl_slot) +
			       R / 4 + 192) +
			  4096;
	return graph + attempt + view + recovery;
}

size_t sl_core_bytes(const struct sl_core_config *config)
{
	size_t R = config->roster_size, set = sl_bit_words(R) * 8 + 64;
	size_t records = R * (sizeof(struct sl_link_record) + sizeof(struct sl_ready_record) +
			      sizeof(struct sl_abort_record) + 7 * set + 64);
	records += R * sl_core_candidates_max(config->roster_size) * sizeof(sl_id);
	size_t view = R * 4 * sizeof(uint32_t) + R * (R + 1) / 2 * sizeof(struct sl_edge) + 1024;
	return sizeof(struct sl_core) + R * sizeof(struct sl_peer) + records +
	       (25 + 2 * SL_RELEASED_MAX) * set + view + attempt_bytes(config) + 8192;
}

static bool take_records(struct sl_core *core, struct sl_arena *arena)
{
	uint32_t R = core->config.roster_size;
	for (uint32_t i = 0; i < R; i++) {
		struct sl_link_record *lr = &core->links[i];
		struct sl_ready_record *rr = &core->readys[i];
		lr->candidates = SL_ARENA_TAKE(arena, sl_core_candidates_max(R), sl_id);
		struct sl_abort_record *fr = &core->aborts[i];
		uint64_t **sets[] = {&lr->named,     &lr->record.sent, &lr->record.to, &rr->record.sent,
				     &rr->record.to, &fr->record.sent, &fr->record.to};
		for (size_t s = 0; s < sizeof sets / sizeof *sets; s++)
			if ((*sets[s] = take_set(core, arena)) == NULL)
				return false;
		if (lr->candidates == NULL)
			return false;
	}
	return true;
}

static bool take_release_log(struct sl_core *core, struct sl_arena *arena)
{
	for (uint32_t i = 0; i < SL_RELEASED_MAX; i++) {
		core->release_log.used[i].members = take_set(core, arena);
		core->release_log.used[i].aborted = take_set(core, arena);
		if (core->release_log.used[i].members == NULL || core->release_log.used[i].aborted == NULL)
			return false;
	}
	return true;
}

static bool take_all(struct sl_core *core, struct sl_arena *arena)
{
	uint32_t R = core->config.roster_size;
	uint64_t **sets[] = {&core->linked,	     &core->range,
			     &core->next_range,	     &core->keep,
			     &core->missing,	     &core->failed,
			     &core->view_neighbours, &core->single,
			     &core->ready_set,	     &core->tried_candidates,
			     &core->reach,	     &core->members,
			     &core->eligible,	     &core->source,
			     &core->excluded,	     &core->suspects,
			     &core->changed,	     &core->changed_told,
			     &core->shunned,	     &core->near,
			     &core->have_targets,    &core->signed_to,
			     &core->tree_own,	     &core->tree_up,
			     &core->tree_down};
	for (size_t s = 0; s < sizeof sets / sizeof *sets; s++)
		if ((*sets[s] = take_set(core, arena)) == NULL)
			return false;
	core->peers = SL_ARENA_TAKE(arena, R, struct sl_peer);
	core->links = SL_ARENA_TAKE(arena, R, struct sl_link_record);
	core->readys = SL_ARENA_TAKE(arena, R, struct sl_ready_record);
	core->aborts = SL_ARENA_TAKE(arena, R, struct sl_abort_record);
	core->edges = SL_ARENA_TAKE(arena, (size_t)R * (R + 1) / 2, struct sl_edge);
	core->view.members = SL_ARENA_TAKE(arena, R, uint32_t);
	core->view.ids = SL_ARENA_TAKE(arena, R, sl_id);
	core->view.position = SL_ARENA_TAKE(arena, R, uint32_t);
	core->view.incarnations = SL_ARENA_TAKE(arena, R, uint32_t);
	if (core->peers == NULL || core->links == NULL || core->readys == NULL || core->aborts == NULL ||
	    core->edges == NULL || core->view.incarnations == NULL || core->view.members == NULL ||
	    core->view.ids == NULL || core->view.position == NULL)
		return false;
	return take_release_log(core, arena) && take_records(core, arena);
}

struct sl_core *sl_core_init(const struct sl_core_config *config, struct sl_arena *arena)
{
	struct sl_core *core = SL_ARENA_TAKE(arena, 1, struct sl_core);
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
	if (config->certificate != NULL)
		core->certificate = *config->certificate;
	core->config.certificate = NULL; /* copied */
	sl_members_restore(core);
	core->parameters = config->parameters;
	core->rounds = (sl_round)config->parameters.rounds;
	core->phases = sl_phases;
	core->phase = SL_PHASE_TRAIN;
	core->flood_again = SL_NEVER;
	return core;
}
