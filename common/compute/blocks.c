#include "common/compute/blocks.h"

#include <assert.h>
#include <stdatomic.h>

static_assert(SL_CHUNK_ELEMENTS % SL_BLOCK_ELEMENTS == 0, "a block lies in one chunk");

struct run {
	const struct sl_blocks *blocks;
	sl_block_run each;
	size_t first, end;
	atomic_uint_fast64_t failed; /* the first block that failed, then its number */
};

/* A block before the first failure always runs: so the same failure is found by any number of workers. */
static void run_block(void *context, uint32_t index, uint32_t worker)
{
	struct run *run = context;
	size_t first = run->first + (size_t)index * SL_BLOCK_ELEMENTS, left = run->end - first;
	struct sl_block block = {first, left < SL_BLOCK_ELEMENTS ? left : SL_BLOCK_ELEMENTS, worker};
	uint64_t before = atomic_load(&run->failed);
	if (index > before >> 32 || sl_workspace_over(run->blocks->workspace))
		return;
	uint32_t code = run->each(run->blocks, &block);
	uint64_t mine = (uint64_t)index << 32 | code;
	while (code != 0 && mine < before && !atomic_compare_exchange_weak(&run->failed, &before, mine))
		;
}

static void run_in_order(uint32_t parts, sl_team_part part, void *context)
{
	for (uint32_t k = 0; k < parts; k++)
		part(context, k, 0);
}

void sl_blocks_parts(const struct sl_workspace *workspace, uint32_t parts, sl_team_part part, void *context)
{
	if (sl_workers(workspace) == 1 || parts == 1)
		run_in_order(parts, part, context);
	else
		workspace->team->run(workspace->team, parts, part, context);
}

uint32_t sl_blocks_run(const struct sl_blocks *blocks, size_t first, size_t count, sl_block_run each)
{
	struct run run = {.blocks = blocks, .each = each, .first = first, .end = first + count};
	uint32_t parts = (uint32_t)((count + SL_BLOCK_ELEMENTS - 1) / SL_BLOCK_ELEMENTS);
	atomic_init(&run.failed, UINT64_MAX);
	if (blocks->in_order)
		run_in_order(parts, run_block, &run);
	else
		sl_blocks_parts(blocks->workspace, parts, run_block, &run);
	uint64_t failed = atomic_load(&run.failed);
	return failed == UINT64_MAX ? 0 : (uint32_t)failed;
}

uint32_t sl_blocks_run_chunk(const struct sl_blocks *blocks, uint32_t m, sl_block_run each)
{
	return sl_blocks_run(blocks, (size_t)m * SL_CHUNK_ELEMENTS, sl_view_chunk_elements(blocks->view, m),
			     each);
}

void sl_blocks_stream(struct sl_prg *prg, const uint8_t key[static SL_KEY_BYTES], size_t first)
{
	assert(first % SL_BLOCK_ELEMENTS == 0);
	sl_prg_open_at(prg, key, first / SL_BLOCK_ELEMENTS + 1);
}

struct sl_prg *sl_blocks_streams(const struct sl_workspace *workspace, const struct sl_block *block,
				 struct sl_prg *origins, uint32_t degree)
{
	struct sl_prg *streams = workspace->rooms[block->worker].streams;
	if (origins[0].source != NULL)
		return origins;
	for (uint32_t r = 0; r < degree; r++)
		sl_blocks_stream(&streams[r], origins[r].key, block->first);
	return streams;
}

void sl_blocks_close(const struct sl_workspace *workspace, const struct sl_block *block, uint32_t degree)
{
	for (uint32_t r = 0; r < degree; r++)
		sl_prg_close(&workspace->rooms[block->worker].streams[r]);
}
