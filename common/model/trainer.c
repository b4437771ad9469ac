/* The choice of a trainer by the setting `trainer`. */
#include "common/model/trainer.h"

int sl_trainer_open(const struct sl_settings *settings, uint32_t rank, uint32_t learners,
		    struct sl_trainer **trainer, struct sl_error *error)
{
	if (sl_settings_has_application(settings))
		return sl_err_set(error, SL_ERR_INVALID,
				  "trainer: application and exec run in a daemon only");
	if (settings->trainer == SL_TRAINER_NOISE)
		return sl_noise_open(settings, rank, trainer, error);
	return sl_autoencoder_trainer_open(settings, rank, learners, trainer, error);
}
