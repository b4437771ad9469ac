#include "common/core/model.h"

#include "common/core/emit.h"

void sl_model_tell(struct sl_core *core, uint32_t signer)
{
	struct sl_peer *p = &core->peers[signer];
	bool differs = core->links[signer].state.model != core->config.parameters.model;
	if (!differs || !sl_bit(core->linked, signer) || p->told || core->config.model.size == 0)
		return;
	p->told = true;
	sl_emit_send(core, sl_emit_only(core, signer),
		     &(struct sl_message){.kind = SL_MSG_MODEL, .model = core->config.model}, true);
}

void sl_model_heard(struct sl_core *core, uint32_t peer, const struct sl_message *message)
{
	struct sl_peer *p = &core->peers[peer];
	if (p->told_us) {
		sl_emit_reject(core, peer, "has named its tensors twice");
		return;
	}
	p->told_us = true;
	struct sl_report *report = sl_emit_report(core, SL_REPORT_MODEL);
	report->peer = peer;
	report->model = &message->model;
}
