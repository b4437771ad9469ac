#include "common/core/conflict.h"

#include "common/core/emit.h"
#include "common/core/penalty.h"

void sl_conflict(struct sl_core *core, uint32_t signer, const struct sl_message *first,
		 const struct sl_message *second)
{
	if (!sl_emit_once(core, signer, SL_ONCE_EVIDENCE, core->t))
		return;
	sl_penalty_lied(core, signer);
	core->evidence[0] = *first;
	core->evidence[1] = *second;
	struct sl_report *report = sl_emit_report(core, SL_REPORT_EVIDENCE);
	report->peer = signer;
	report->evidence = core->evidence;
}

static struct sl_message of_ready(const struct sl_ready *ready)
{
	return (struct sl_message){SL_MSG_READY, {.ready = *ready}};
}

static void hash_ready(const struct sl_core *core, const struct sl_ready *ready, uint8_t *hash)
{
	struct sl_message message = of_ready(ready);
	sl_canonical_message(&core->config.scope, &message, hash);
}

/* Report `ready` and `abort_record` if they are of one attempt and the Abort does not name the Ready. */
static void compare(struct sl_core *core, uint32_t signer, const struct sl_ready *ready,
		    const struct sl_abort *abort_record)
{
	uint8_t hash[SL_HASH_BYTES];
	if (ready->t != abort_record->t || ready->a != abort_record->a)
		return;
	hash_ready(core, ready, hash);
	if (memcmp(abort_record->ready, hash, sizeof hash) == 0)
		return;
	struct sl_message first = of_ready(ready), second = {SL_MSG_ABORT, {.abort = *abort_record}};
	sl_conflict(core, signer, &first, &second);
}

void sl_conflict_ready(struct sl_core *core, uint32_t signer, const struct sl_ready *ready)
{
	const struct sl_ready_record *held = &core->readys[signer];
	const struct sl_abort_record *aborted = &core->aborts[signer];
	uint8_t mine[SL_HASH_BYTES], theirs[SL_HASH_BYTES];
	if (aborted->record.present)
		compare(core, signer, ready, &aborted->abort);
	if (!held->record.present || held->ready.t != ready->t || held->ready.a != ready->a)
		return;
	if (memcmp(held->ready.signature, ready->signature, sizeof ready->signature) == 0)
		return; /* most arrive over several links: one signature is of one Ready */
	hash_ready(core, &held->ready, mine);
	hash_ready(core, ready, theirs);
	if (memcmp(mine, theirs, sizeof mine) == 0)
		return;
	struct sl_message first = of_ready(&held->ready), second = of_ready(ready);
	sl_conflict(core, signer, &first, &second);
}

void sl_conflict_abort(struct sl_core *core, uint32_t signer, const struct sl_abort *abort_record)
{
	if (core->readys[signer].record.present)
		compare(core, signer, &core->readys[signer].ready, abort_record);
}
