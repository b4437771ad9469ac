/* blocks.h - a vector in blocks of SL_BLOCK_ELEMENTS, which the workers of a team share.
 *
 *     chunk m     | block 16 m | block 16 m + 1 | ..       a message carries a chunk
 *     workers     |     0      |       1        | ..       in any order
 *
 * All bits are the same for any number of workers: a block writes only its own elements, each block of a key
 * is a stream of its own, and what is combined over blocks are sums modulo p, sums of integers and maxima. Of
 * several blocks that fail, the first of the vector counts. What a worker keeps is in its room.
 */
#pragma once

#include "common/compute/job_types.h"

struct sl_blocks {
	struct sl_workspace *workspace;
	const struct sl_view *view;
	const struct sl_job *job;
	void *context; /* of the function that is called for each block */
	bool in_order; /* one worker, the first block first */
};

struct sl_block {
	size_t first, count; /* elements of the vector */
	uint32_t worker;
};

/* Do the work of one block. Return 0, or a number that names the failure. */
typedef uint32_t (*sl_block_run)(const struct sl_blocks *blocks, const struct sl_block *block);

static inline uint32_t sl_workers(const struct sl_workspace *workspace)
{
	return workspace->team == NULL ? 1 : workspace->team->workers;
}
static inline size_t sl_blocks_least(size_t a, size_t b)
{
	return a < b ? a : b;
}
/* Run `parts` parts on the team of the workspace, or in order on the caller. */
void sl_blocks_parts(const struct sl_workspace *workspace, uint32_t parts, sl_team_part part, void *context);
/* Run all blocks of the elements first .. first + count - 1. Return 0, or what the first block that failed
 * returned; those after it may not have run. */
uint32_t sl_blocks_run(const struct sl_blocks *blocks, size_t first, size_t count, sl_block_run run);
/* Run the blocks of chunk `m`. */
uint32_t sl_blocks_run_chunk(const struct sl_blocks *blocks, uint32_t m, sl_block_run run);

/* Start the stream of the block that begins at element `first` of the vector of uniform elements of `key`
 * (ROUND.md §5.1 The uniform stream). */
void sl_blocks_stream(struct sl_prg *prg, const uint8_t key[static SL_KEY_BYTES], size_t first);
/* Return the streams of a block for `degree` origins: in the room, or those of a source themselves. */
struct sl_prg *sl_blocks_streams(const struct sl_workspace *workspace, const struct sl_block *block,
				 struct sl_prg *origins, uint32_t degree);
/* Wipe the streams of a room. */
void sl_blocks_close(const struct sl_workspace *workspace, const struct sl_block *block, uint32_t degree);
