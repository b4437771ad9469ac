#include "common/compute/payload.h"

#include <string.h>

#include "common/compute/job_mix.h"

static void write_slot(const struct sl_slots *state_file, const struct sl_payload *payload,
		       const struct sl_chunk *chunk, uint8_t *out)
{
	const uint8_t *bytes = sl_slot_state(state_file, payload->row) + payload->at;
	memcpy(out, bytes, chunk->size);
	sl_slot_used(state_file, bytes, chunk->size);
}

void sl_payload_write(const struct sl_workspace *workspace, const struct sl_view *view,
		      const struct sl_payload *payload, const struct sl_chunk *chunk, const uint8_t *model,
		      uint8_t *out)
{
	switch (payload->source) {
	case SL_SOURCE_NONE:
		break;
	case SL_SOURCE_SHARES:
		memcpy(out, workspace->shares[payload->row], chunk->size);
		break;
	case SL_SOURCE_KEY_SHARES:
		memcpy(out, workspace->secrets.shares[payload->row].bytes, chunk->size);
		break;
	case SL_SOURCE_STATE:
		sl_job_mix_write(workspace, view, chunk, out);
		break;
	case SL_SOURCE_SLOT:
		write_slot(&workspace->state_file, payload, chunk, out);
		break;
	case SL_SOURCE_RESULT:
		memcpy(out, model + payload->at, chunk->size);
		break;
	}
}
