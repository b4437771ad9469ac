#include "daemon/application/application.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/application/conversation.h"
#include "daemon/application/state.h"
#include "daemon/application/tensor_list.h"
#include "daemon/application/vector_check.h"
#include "daemon/runtime/failpoint.h"
#include "daemon/runtime/vector_memory.h"

#define POLL_MS 200 /* the longest time until a request to stop is seen */

static struct sl_application *owned(struct sl_trainer *trainer)
{
	return (struct sl_application *)trainer;
}

static struct sl_trained_file_place place_of(const struct sl_application *a)
{
	return (struct sl_trained_file_place){a->config.settings->state, a->config.settings->run};
}

static size_t model_bytes(const struct sl_application *a)
{
	return a->metrics_count * sizeof(double) + a->bytes;
}

/* Return the part of a model that the application knows: all but the metrics. */
static void *vector_of(const struct sl_application *a, const void *model)
{
	return (double *)model + a->metrics_count;
}

/* ---- training ---- */

/* Wait for an answer; SL_PENDING: told to stop. */
static int await(struct sl_application *a, const atomic_bool *stop)
{
	uv_mutex_lock(&a->mutex);
	while (!a->have && !atomic_load(stop))
		uv_cond_timedwait(&a->answered, &a->mutex, POLL_MS * UINT64_C(1000000));
	int rc = a->have ? SL_OK : SL_PENDING;
	uv_mutex_unlock(&a->mutex);
	return rc;
}

/* Request the vector of the round, to be trained from `model`. */
static void request_vector(struct sl_application *a, sl_round round, bool again, const void *model)
{
	if (round > 1 && a->committed.round != round - 1) /* only this thread sets it */
		sl_shared_vector_write(&a->down, vector_of(a, model));
	uv_mutex_lock(&a->mutex);
	a->committed.round = round - 1;
	a->wanted = round;
	a->again = again;
	a->have = false;
	sl_conversation_train(a);
	if (!a->joined)
		sl_state_say(a, "round %" PRIu32 ": waiting for an application on %s", round,
			     a->config.settings->application);
	uv_mutex_unlock(&a->mutex);
}

static int check_vector(const struct sl_application *a, const void *model, struct sl_error *error)
{
	return sl_vector_check(a->config.settings, a->values, &a->base.tensors, model, a->n, error);
}

/* Write what the settings ask of a sum of records: one that was made for another clip or sampling is not
 * used. */
static void write_terms(const struct sl_settings *s, struct sl_trained_file *file)
{
	if (s->dp == SL_DP_USE_RECORD)
		snprintf(file->terms, sizeof file->terms, "%a %a", s->dp_clip, s->dp_sampling);
}

/* Take the answer to `model` and make it durable. SL_ERR_RANGE: it cannot be used. */
static int take_answer(struct sl_application *a, void *model, struct sl_error *error)
{
	struct sl_trained_file_place place = place_of(a);
	/* The application can write at any time: what is checked is the copy. */
	sl_shared_vector_read(&a->up, vector_of(a, model));
	for (uint32_t i = 0; i < a->metrics_count; i++)
		((double *)model)[i] = json_number_value(
			json_object_get(a->metrics, SL_METRIC_TENSOR_NAME(&a->base.tensors.items[i])));
	int rc = check_vector(a, model, error);
	if (rc != SL_OK)
		return rc;
	if (a->file.round != a->wanted)
		sl_trained_file_close(&a->file); /* of an earlier round */
	json_decref(a->file.metrics);
	a->file.round = a->wanted;
	a->file.weight = a->weight;
	a->file.values = a->values;
	write_terms(a->config.settings, &a->file);
	a->file.metrics = a->metrics;
	a->metrics = NULL;
	return sl_trained_file_write(&a->file, &place, &a->base.tensors, model, model_bytes(a), error);
}

/* Wait until the application has given a vector that can be used. */
static int await_vector(struct sl_application *a, const atomic_bool *stop, void *model,
			struct sl_error *error)
{
	for (;;) {
		int rc = await(a, stop);
		if (rc == SL_OK)
			rc = take_answer(a, model, error);
		if (rc != SL_ERR_RANGE)
			return rc;
		uv_mutex_lock(&a->mutex);
		a->have = false;
		sl_conversation_refuse(a, a->wanted, error->text);
		uv_mutex_unlock(&a->mutex);
	}
}

/* Check the vector in the file: the settings may have changed since it was written. */
static int check_file(const struct sl_application *a, struct sl_error *error)
{
	const struct sl_settings *s = a->config.settings;
	struct sl_trained_file now = {0};
	write_terms(s, &now);
	if (strcmp(now.terms, a->file.terms) != 0)
		return sl_err_set(error, SL_ERR_RANGE,
				  "dp, dp_clip or dp_sampling has changed since it was made");
	if (s->weighting == SL_WEIGHTING_SAMPLES && a->file.weight > s->max_weight)
		return sl_err_set(error, SL_ERR_RANGE, "its weight is %" PRIu64 ", max_weight is %" PRIu64,
				  a->file.weight, s->max_weight);
	return check_vector(a, a->file.vector, error);
}

static bool remove_file(struct sl_application *a)
{
	struct sl_trained_file_place place = place_of(a);
	struct sl_error why;
	int rc = sl_trained_file_remove(&a->file, &place, &why);
	if (rc != SL_OK)
		sl_state_warn(a, "%s", why.text);
	return rc == SL_OK;
}

/* Remove the file, and log why it cannot be used. */
static void discard_file(struct sl_application *a, const char *why)
{
	sl_state_warn(a, "%s/%s is not used%s: %s", a->config.settings->state, SL_TRAINED_FILE_NAME,
		      remove_file(a) ? ", and removed" : "", why);
}

/* Take the vector of the round from the state folder, if it was written before the learner was started. */
static bool take_from_file(struct sl_application *a, sl_round round, void *model)
{
	struct sl_error why;
	if (a->file.round != round || a->file.vector == NULL)
		return false;
	if (check_file(a, &why) != SL_OK) {
		discard_file(a, why.text);
		return false;
	}
	memcpy(model, a->file.vector, model_bytes(a));
	sl_vector_memory_free(a->file.vector, a->file.bytes);
	a->file.vector = NULL;
	uv_mutex_lock(&a->mutex);
	a->wanted = round; /* a request for the same round is another one from now on */
	a->have = true;
	uv_mutex_unlock(&a->mutex);
	sl_state_say(a, "round %" PRIu32 ": going on with the vector in %s/%s", round,
		     a->config.settings->state, SL_TRAINED_FILE_NAME);
	return true;
}

/* Make the vector of the round durable, and copy it to `model`. */
static int obtain(struct sl_application *a, const struct sl_training_request *request, void *model,
		  struct sl_error *error)
{
	struct sl_trained_file_place place = place_of(a);
	bool again = a->wanted == request->round || request->again;
	int rc = SL_OK;
	if (again && a->file.round == request->round)
		rc = sl_trained_file_remove(&a->file, &place, error);
	else if (take_from_file(a, request->round, model))
		return SL_OK;
	if (rc != SL_OK)
		return rc;
	request_vector(a, request->round, again, model);
	return await_vector(a, request->stop, model, error);
}

static double loss_of(const json_t *metrics)
{
	const json_t *loss = json_object_get(metrics, "loss");
	return loss != NULL ? json_number_value(loss) : NAN;
}

static int train(struct sl_trainer *trainer, const struct sl_training_request *request, void *model,
		 struct sl_training *result, struct sl_error *error)
{
	struct sl_application *a = owned(trainer);
	uint64_t begun = uv_hrtime();
	struct sl_error ignored;
	int rc = obtain(a, request, model, error != NULL ? error : &ignored);
	if (rc == SL_OK)
		*result = (struct sl_training){.loss = loss_of(a->file.metrics),
					       .metrics = json_copy(a->file.metrics),
					       .samples = a->file.weight,
					       .seconds = (double)(uv_hrtime() - begun) / 1e9};
	atomic_store(request->progress, 1000);
	return rc;
}

/* ---- what the learner tells ---- */

void sl_application_bind(struct sl_trainer *trainer)
{
	atomic_store(&owned(trainer)->bound, true);
}

bool sl_application_is_bound(const struct sl_trainer *trainer)
{
	return atomic_load(&((const struct sl_application *)trainer)->bound);
}

/* Take the means of the metrics from the committed model. */
static void set_means(struct sl_application *a, const double *model)
{
	json_decref(a->means);
	a->means = a->metrics_count > 0 ? json_object() : NULL;
	for (uint32_t i = 0; i < a->metrics_count; i++)
		json_object_set_new(a->means, SL_METRIC_TENSOR_NAME(&a->base.tensors.items[i]),
				    json_real(model[i]));
}

/* Hand the committed model to the application. */
static void show(struct sl_trainer *trainer, const struct sl_trainer_commit *commit, const void *model)
{
	struct sl_application *a = owned(trainer);
	sl_failpoint_reach(SL_FAILPOINT_BEFORE_TRAINED_END);
	if (a->file.round <= commit->round)
		remove_file(a);
	sl_shared_vector_write(&a->down, vector_of(a, model));
	sl_application_bind(trainer);
	uv_mutex_lock(&a->mutex);
	set_means(a, model);
	a->committed = *commit;
	sl_command_completed(a->command);
	if (a->wanted <= a->committed.round)
		a->wanted = 0;
	sl_conversation_mean(a);
	uv_mutex_unlock(&a->mutex);
}

static void notice(struct sl_trainer *trainer, const char *text)
{
	struct sl_application *a = owned(trainer);
	uv_mutex_lock(&a->mutex);
	sl_conversation_waiting(a, text);
	uv_mutex_unlock(&a->mutex);
}

static size_t parameters(const struct sl_trainer *trainer)
{
	return ((const struct sl_application *)trainer)->n;
}

/* Set the model that the application has sent, else zeros: it has an initial model of its own. */
static void initial(const struct sl_trainer *trainer, void *model)
{
	const struct sl_application *a = (const struct sl_application *)trainer;
	memset(model, 0, model_bytes(a));
	if (a->initial != NULL)
		memcpy(vector_of(a, model), a->initial, a->bytes);
}

/* ---- the tensors of the model ---- */

/* Adopt a copy of `tensors`, if the tensors are not known yet. */
static int adopt_copy(struct sl_application *a, const struct sl_tensors *tensors, enum sl_values values,
		      struct sl_error *error)
{
	if (a->opened || tensors->count == 0)
		return SL_OK;
	struct sl_tensors copy = {.items = sl_tensors_copy(tensors), .count = tensors->count};
	return copy.items != NULL ? sl_state_adopt(a, &copy, values, error)
				  : sl_err_set(error, SL_ERR_NOMEM, "out of memory");
}

/* Return the reason not to use the file, or NULL. */
static const char *flaw_of_file(const struct sl_application *a, struct sl_error *why)
{
	if (a->file.round != a->config.committed + 1) {
		sl_err_set(why, SL_ERR_INVALID, "it is of round %" PRIu32, a->file.round);
		return why->text;
	}
	if (a->opened && sl_tensor_list_compare(&a->base.tensors, &a->file.tensors, why) != SL_OK)
		return why->text;
	return NULL;
}

/* Read the vector of the round that the end of the process interrupted. One that cannot be used is removed.
 */
static int restore_file(struct sl_application *a, struct sl_error *error)
{
	struct sl_trained_file_place place = place_of(a);
	struct sl_error why;
	int rc = sl_trained_file_read(&a->file, &place, &why);
	if (rc == SL_ERR_NOTFOUND)
		return SL_OK;
	if (rc == SL_ERR_IO || rc == SL_ERR_NOMEM)
		return sl_err_set(error, rc, "%s", why.text);
	const char *flaw = rc == SL_OK ? flaw_of_file(a, &why) : why.text;
	if (flaw == NULL)
		return adopt_copy(a, &a->file.tensors, a->file.values, error);
	discard_file(a, flaw);
	return SL_OK;
}

/* ---- opening and closing ---- */

enum sl_values sl_application_values(const struct sl_trainer *trainer)
{
	return ((const struct sl_application *)trainer)->values;
}

void sl_application_program(struct sl_trainer *trainer, uint8_t hash[static SL_HASH_BYTES])
{
	struct sl_application *a = owned(trainer);
	uv_mutex_lock(&a->mutex);
	memcpy(hash, a->program, SL_HASH_BYTES);
	uv_mutex_unlock(&a->mutex);
}

bool sl_application_runs(struct sl_trainer *trainer)
{
	struct sl_application *a = owned(trainer);
	uv_mutex_lock(&a->mutex);
	bool runs = sl_command_runs(a->command);
	uv_mutex_unlock(&a->mutex);
	return runs;
}

void sl_application_end(struct sl_trainer *trainer, sl_round last)
{
	struct sl_application *a = owned(trainer);
	uv_mutex_lock(&a->mutex);
	sl_conversation_end(a, last);
	uv_mutex_unlock(&a->mutex);
}

void sl_application_stop(struct sl_trainer *trainer)
{
	struct sl_application *a = owned(trainer);
	if (!a->serving)
		return;
	atomic_store(&a->ending, true);
	uv_thread_join(&a->thread);
	a->serving = false;
}

static void application_close(struct sl_trainer *trainer)
{
	sl_application_stop(trainer);
	sl_state_close(owned(trainer));
}

static void forget(struct sl_trainer *trainer)
{
	discard_file(owned(trainer), "it cannot be encoded");
}

static const struct sl_trainer_ops ops = {.parameters = parameters,
					  .initial = initial,
					  .train = train,
					  .show = show,
					  .notice = notice,
					  .forget = forget,
					  .close = application_close};

static int open_command(struct sl_application *a, struct sl_error *error)
{
	struct sl_command_config config = {.settings = a->config.settings,
					   .learners = a->config.roster->size,
					   .say = a->config.say_command,
					   .context = a->config.context};
	return a->config.settings->trainer == SL_TRAINER_EXEC ? sl_command_open(&a->command, &config, error)
							      : SL_OK;
}

/* Wait for the first application: only it knows the model. */
static int await_first(struct sl_application *a)
{
	const struct sl_application_config *config = &a->config;
	if (!a->opened || sl_state_lacks_initial(a))
		sl_state_say(a, "waiting for an application on %s", config->settings->application);
	while (!a->opened || sl_conversation_wants_initial(a) || sl_state_lacks_initial(a)) {
		if (config->stopped != NULL && config->stopped(config->context))
			return SL_PENDING;
		sl_conversation_serve(a, config->wake, POLL_MS);
	}
	return SL_OK;
}

int sl_application_open(const struct sl_application_config *config, struct sl_trainer **trainer,
			struct sl_error *error)
{
	struct sl_application *a = calloc(1, sizeof *a);
	*trainer = NULL;
	if (a == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	a->base.ops = &ops;
	a->config = *config;
	atomic_store(&a->bound, config->committed > 0);
	if (uv_mutex_init(&a->mutex) != 0 || uv_cond_init(&a->answered) != 0)
		abort(); /* out of memory */
	int rc = sl_line_socket_open(&a->socket, config->settings->application, error);
	if (rc == SL_OK)
		rc = adopt_copy(a, &config->tensors, config->values, error);
	if (rc == SL_OK)
		rc = restore_file(a, error);
	if (rc == SL_OK)
		rc = open_command(a, error);
	if (rc == SL_OK)
		rc = await_first(a);
	if (rc != SL_OK) {
		sl_state_close(a);
		return rc;
	}
	*trainer = &a->base;
	return SL_OK;
}

static void run(void *argument)
{
	struct sl_application *a = argument;
	while (!atomic_load(&a->ending))
		sl_conversation_serve(a, -1, POLL_MS);
	sl_command_end(a->command);
}

int sl_application_serve(struct sl_trainer *trainer, struct sl_error *error)
{
	struct sl_application *a = owned(trainer);
	sl_vector_memory_free(a->initial, a->bytes); /* the learner has its own copy */
	a->initial = NULL;
	a->serving = uv_thread_create(&a->thread, run, a) == 0;
	return a->serving ? SL_OK
			  : sl_err_set(error, SL_ERR_NOMEM, "no thread starts (see ulimit -v and -u)");
}
