#include "common/core/execute.h"

void sl_core_execute(const struct sl_actions *actions, const struct sl_duties *duties, void *shell)
{
	for (uint32_t k = 0; k < actions->count; k++) {
		const struct sl_action *action = &actions->items[k];
		if (duties->alive != NULL && !duties->alive(shell, action))
			return;
		if (duties->of[action->kind] != NULL)
			duties->of[action->kind](shell, action);
	}
}

int sl_core_run(struct sl_core *core, const struct sl_event *event, struct sl_actions *actions,
		const struct sl_duties *duties, void *shell)
{
	const struct sl_action drop = {.kind = SL_ACTION_DROP, .buffers = event->buffer};
	int code = sl_core_step(core, event, actions);
	if (duties->stepped != NULL)
		duties->stepped(shell, event, code);
	if (code == SL_OK)
		sl_core_execute(actions, duties, shell);
	else if (event->buffer != NULL)
		duties->of[SL_ACTION_DROP](shell, &drop);
	return code;
}
