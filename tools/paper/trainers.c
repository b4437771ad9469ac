#include "tools/paper/trainers.h"

#include <stdlib.h>

int sl_trainers_open(const struct sl_settings *settings, uint32_t count, struct sl_trainer ***trainers,
		     struct sl_error *error)
{
	int rc = SL_OK;
	*trainers = calloc(count, sizeof **trainers);
	if (*trainers == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "%s", sl_err_text(SL_ERR_NOMEM));
	for (uint32_t i = 0; rc == SL_OK && i < count; i++)
		rc = sl_autoencoder_trainer_open(settings, i, count, &(*trainers)[i], error);
	if (rc != SL_OK)
		sl_trainers_close(*trainers, count);
	return rc;
}

void sl_trainers_close(struct sl_trainer **trainers, uint32_t count)
{
	for (uint32_t i = 0; trainers != NULL && i < count; i++)
		if (trainers[i] != NULL)
			trainers[i]->ops->close(trainers[i]);
	free(trainers);
}
