/* Lay out the core in its arena. No memory is taken after this. */
#include "common/core/certificate.h"
#include "common/core/open.h"
#include "common/core/phases.h"
#include "common/core/seen.h"
#include "common/core/view_build.h"
#include "common/protocol/view_codec.h"

static uint64_t *take_set(struct sl_core *core, struct sl_arena *arena)
{
	return SL_ARENA_TAKE(arena, sl_core_words(core), uint64_t);
}

/* Return the most elements of a vector: of an exact round with the fewest bits, or of a ranged one. */
static uint64_t elements_most(const struct sl_core_config *config)
{
	const struct sl_parameters *p = &config->parameters;
	uint64_t most = p->n + 1, extra = 0, ranged = 0;
	if (sl_values_have_limbs(p->values))
		extra = sl_layout_extra(&config->layout, false, SL_EXACT_BITS_LEAST);
	if (p->values == SL_VALUES_UPDATE)
		ranged = sl_layout_extra(&config->layout, true, (uint32_t)p->update_bits);
	most += extra > ranged ? extra : ranged;
	return most < SL_ELEMENTS_MAX || extra == 0 ? most : SL_ELEMENTS_MAX;
}

static size_t attempt_bytes(const struct sl_core_config *config)
{
	size_t R = config->roster_size;
	size_t chunks = sl_view_state_chunks_most(elements_most(config));
	size_t graph = (2 * R + R * R) * sizeof(uint32_t) * 2 + 4096;
	size_t attempt = chunks * 16 + R * (sizeof(struct sl_exchange) + chunks * 8 + 160) + 4096;
	size_t keys =
		R * (1 + SL_KEY_SHARE_BYTES + sizeof(sl_id)) +
		sl_open_most(config->roster_size) * (sizeof(struct sl_opened) + sl_bit_words(R) * 8 + 64) +
		4096;
	size_t check = R * (SL_KEY_BYTES + 2 + 3 * SL_CHECKSUM_POINTS_MAX * sizeof(uint64_t) + 16 +
			    2 * sizeof(uint32_t)) +
		       4096;
	size_t view = sl_view_bytes(config->roster_size, R * R / 2);
	size_t recovery = R * (sizeof(struct sl_ready) + sizeof(struct sl_holder) + sizeof(enum sl_slot) +
			       R * 3 / 8 + SL_HASH_BYTES + 160) +
			  4096;
	return graph + attempt + keys + check + view + recovery;
}

size_t sl_core_secret_bytes(const struct sl_core_config *config)
{
	size_t all = config->roster_size * (SL_KEY_BYTES + sizeof(struct sl_held_share)) +
		     sizeof(struct sl_secrets) + 4 * SL_ARENA_ALIGNMENT;
	return all / SL_ARENA_ALIGNMENT * SL_ARENA_ALIGNMENT; /* it may end at a page */
}

size_t sl_core_bytes(const struct sl_core_config *config)
{
	size_t R = config->roster_size, set = sl_bit_words(R) * 8 + 64;
	size_t records = R * (sizeof(struct sl_link_record) + sizeof(struct sl_ready_record) +
			      sizeof(struct sl_digest_record) + sizeof(struct sl_abort_record)) +
			 ((1 + SL_RECORD_KINDS) * R + SL_STEP_SETS) * sl_bit_words(R) * sizeof(uint64_t) +
			 4096;
	size_t aborts = (SL_ABORT_SETS + 1) * R * sizeof(struct sl_abort) + 4096;
	records += sl_core_names(config->roster_size) * sizeof(sl_id);
	records += 3 * R * sizeof(struct sl_digest);
	size_t view = R * 4 * sizeof(uint32_t) + R * (R + 1) / 2 * sizeof(struct sl_edge) + 1024;
	return sizeof(struct sl_core) + R * sizeof(struct sl_peer) + records + aborts +
	       (32 + SL_TREES_MAX) * set +
	       (7 * R + 6 * sl_core_candidates_max(config->roster_size)) * sizeof(uint32_t) + view +
	       sl_seen_bytes(config) + attempt_bytes(config) + sl_core_secret_bytes(config) + 8192;
}

static bool take_records(struct sl_core *core, struct sl_arena *arena)
{
	uint32_t R = core->config.roster_size;
	size_t words = sl_core_words(core);
	uint64_t *named = SL_ARENA_TAKE(arena, R * words, uint64_t);
	core->sent = SL_ARENA_TAKE(arena, SL_RECORD_KINDS * R * words, uint64_t);
	core->names = SL_ARENA_TAKE(arena, sl_core_names(R), sl_id);
	for (uint32_t i = 0; !arena->full && i < R; i++)
		core->links[i].named = named + i * words;
	return !arena->full;
}

static void take_aborts(struct sl_core *core, struct sl_arena *arena)
{
	uint32_t R = core->config.roster_size;
	for (uint32_t s = 0; s < SL_ABORT_SETS; s++)
		core->abort_sets[s].aborts = SL_ARENA_TAKE(arena, R, struct sl_abort);
	core->proof = SL_ARENA_TAKE(arena, R, struct sl_abort);
	core->marks = SL_ARENA_TAKE(arena, R, uint8_t);
}

static void take_certificates(struct sl_core *core, struct sl_arena *arena)
{
	struct sl_certificate_store *stores[] = {&core->last, &core->making, &core->shown};
	uint32_t R = core->config.roster_size, members = sl_core_candidates_max(R);
	for (size_t k = 0; k < sizeof stores / sizeof *stores; k++) {
		stores[k]->members = SL_ARENA_TAKE(arena, 2 * (size_t)members, uint32_t);
		stores[k]->certificate.digests = SL_ARENA_TAKE(arena, R, struct sl_digest);
		stores[k]->certificate.room = R;
	}
}

static bool take_all(struct sl_core *core, struct sl_arena *arena)
{
	uint32_t R = core->config.roster_size;
	uint64_t **sets[] = {&core->linked,
			     &core->range,
			     &core->next_range,
			     &core->keep,
			     &core->missing,
			     &core->failed,
			     &core->view_neighbours,
			     &core->ready_set,
			     &core->tried_candidates,
			     &core->reach,
			     &core->members,
			     &core->eligible,
			     &core->near,
			     &core->have_targets,
			     &core->disputed,
			     &core->keepers,
			     &core->rivals,
			     &core->check_near,
			     &core->penalized,
			     &core->unwanted,
			     &core->excluded,
			     &core->changed,
			     &core->changed_told,
			     &core->participants};
	for (size_t s = 0; s < sizeof sets / sizeof *sets; s++)
		*sets[s] = take_set(core, arena);
	core->branches = take_set(core, arena);
	core->spared = take_set(core, arena);
	for (uint32_t t = 0; t < SL_TREES_MAX; t++)
		core->trees[t].to = take_set(core, arena);
	core->peers = SL_ARENA_TAKE(arena, R, struct sl_peer);
	core->links = SL_ARENA_TAKE(arena, R, struct sl_link_record);
	core->readys = SL_ARENA_TAKE(arena, R, struct sl_ready_record);
	core->digests = SL_ARENA_TAKE(arena, R, struct sl_digest_record);
	core->aborts = SL_ARENA_TAKE(arena, R, struct sl_abort_record);
	core->edges = SL_ARENA_TAKE(arena, (size_t)R * (R + 1) / 2, struct sl_edge);
	core->view.members = SL_ARENA_TAKE(arena, R, uint32_t);
	core->view.ids = SL_ARENA_TAKE(arena, R, sl_id);
	core->view.position = SL_ARENA_TAKE(arena, R, uint32_t);
	core->view.incarnations = SL_ARENA_TAKE(arena, R, uint32_t);
	core->step_sets = SL_ARENA_TAKE(arena, SL_STEP_SETS * sl_core_words(core), uint64_t);
	take_aborts(core, arena);
	take_certificates(core, arena);
	return !arena->full && take_records(core, arena);
}

struct sl_core *sl_core_init(const struct sl_core_config *config, struct sl_arena *arena)
{
	struct sl_core *core = SL_ARENA_TAKE(arena, 1, struct sl_core);
	if (core == NULL)
		return NULL;
	core->config = *config;
	if (!take_all(core, arena) || !sl_seen_open(core, arena))
		return NULL;
	size_t attempt = attempt_bytes(config), secret = sl_core_secret_bytes(config);
	sl_arena_init_zeros(&core->arena, sl_arena_take(arena, 1, attempt), attempt);
	if (config->secrets != NULL)
		sl_arena_init(&core->secrets, config->secrets, secret);
	else
		sl_arena_init_zeros(&core->secrets, sl_arena_take(arena, 1, secret), secret);
	if (arena->full)
		return NULL;
	core->committed = config->committed;
	memcpy(core->previous, config->previous, SL_HASH_BYTES);
	if (config->certificate != NULL && sl_certificate_fits(core, config->certificate->round))
		sl_certificate_copy(&core->last, config->certificate);
	core->config.certificate = NULL; /* copied */
	sl_seen_commit(core, &core->last.certificate);
	core->parameters = config->parameters;
	core->rounds = (sl_round)config->parameters.rounds;
	core->phases = sl_phases;
	core->phase = SL_PHASE_TRAIN;
	core->flood_again = core->tell_at = core->compare_at = core->told_at = SL_NEVER;
	return core;
}
