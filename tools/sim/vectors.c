#include "tools/sim/vectors.h"

#include <stdlib.h>

#include "common/base/bytes.h"
#include "common/base/random.h"

static void random_bytes(void *context, uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)sl_random_next(context);
}

int sim_vectors_open(struct sl_vault *vault, size_t n, uint64_t *random)
{
	*vault = (struct sl_vault){.n = n,
				   .weight = 1,
				   .source = random_bytes,
				   .source_context = random,
				   .trained = calloc(n, sizeof(float)),
				   .committed = calloc(n, sizeof(float)),
				   .x = calloc(n + 1, sizeof(uint64_t)),
				   .s = calloc(n + 1, sizeof(uint64_t))};
	bool whole = vault->trained != NULL && vault->committed != NULL && vault->x != NULL && vault->s != NULL;
	return whole ? SL_OK : SL_ERR_NOMEM;
}

void sim_vectors_close(struct sl_vault *vault)
{
	void *owned[] = {vault->trained, vault->committed, vault->x, vault->s, vault->scratch.base, vault->spool.base};
	for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
		free(owned[k]);
}

/* Memory cannot be refused in the middle of an attempt. */
static void *insist(void *memory)
{
	if (memory == NULL)
		abort();
	return memory;
}

static void end_state_file(struct sl_vault *vault)
{
	free(vault->spool.base);
	vault->spool.base = NULL;
}

void sim_vectors_prepare(struct sl_vault *vault, const struct sl_job *job)
{
	if (job->kind == SL_JOB_SURVEY || job->kind == SL_JOB_ENCODE) {
		size_t need = sl_vault_scratch(job->view);
		if (vault->scratch.size < need) {
			free(vault->scratch.base);
			sl_arena_init(&vault->scratch, insist(malloc(need)), need);
		}
	}
	if (job->kind == SL_JOB_ENCODE) {
		size_t bytes = sl_slot_bytes(job->view);
		end_state_file(vault);
		vault->spool = (struct sl_spool){.base = insist(calloc(job->view->n, bytes)), .slot_bytes = bytes};
	}
}

void sim_vectors_wipe(struct sl_vault *vault)
{
	sl_vault_wipe(vault);
	end_state_file(vault);
}

uint32_t sim_vectors_width(uint64_t p)
{
	return (uint32_t)(64 - __builtin_clzll(p) + 7) / 8;
}

uint8_t *sim_vectors_pack(const struct sl_vault *vault, uint64_t p)
{
	uint8_t *packed = insist(malloc((vault->n + 1) * sim_vectors_width(p)));
	sl_pack(packed, vault->s, vault->n + 1, sim_vectors_width(p));
	return packed;
}
