#include "common/compute/payload.h"

#include <string.h>

#include "common/compute/job_mix.h"

void sl_payload_write(const struct sl_workspace *workspace, const struct sl_view *view,
		      const struct sl_payload *payload, const struct sl_chunk *chunk, const uint8_t *z,
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
		memcpy(out, sl_slot_state(&workspace->state_file, payload->row) + payload->at, chunk->size);
		break;
	case SL_SOURCE_RESULT:
		memcpy(out, z + payload->at, chunk->size);
		break;
	}
}
