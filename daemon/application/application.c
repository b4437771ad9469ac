#include "daemon/application/application.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "daemon/application/line_socket.h"
#include "daemon/application/shared_vector.h"
#include "daemon/application/tensor_list.h"

#define VERSION 1
#define POLL_MS 200    /* the longest time until a request to stop is seen */
#define JOIN_MS 10000u /* until a connection must have joined */
#define PLACE_BYTES 320u

struct application {
	struct sl_trainer base; /* first member: converted by pointer */
	struct sl_application_config config;
	size_t n;
	bool opened; /* the first application has joined: base.tensors, n and the vectors are there */
	bool ending;
	uv_thread_t thread;
	bool serving; /* the thread runs */

	/* Under the mutex: */
	uv_mutex_t mutex;
	uv_cond_t answered;
	struct sl_line_socket socket;
	struct sl_command *command; /* trainer: exec; NULL: none */
	bool joined;
	uint64_t called_ms;		  /* when the application connected */
	struct sl_shared_vector up, down; /* from the application; to it: the last committed model */
	sl_round wanted;		  /* the round whose vector is awaited; 0: none */
	bool again;			  /* the vector was requested before */
	sl_round committed;		  /* the round whose model is in `down`; 0: none */
	uint32_t learners;		  /* that took part in it; 0: not known since the start */
	uint64_t total_weight;		  /* of them */
	bool have;			  /* the answer: */
	uint64_t weight;
	double loss;
};

static struct application *owned(struct sl_trainer *trainer)
{
	return (struct application *)trainer;
}

static uint64_t now_ms(void)
{
	return uv_hrtime() / 1000000u;
}

/* ---- to the application ---- */

static void send_object(struct application *a, json_t *object)
{
	sl_line_socket_send(&a->socket, object, NULL, 0);
}

static void send_joined(struct application *a)
{
	const struct sl_settings *s = a->config.settings;
	const int fds[] = {a->up.fd, a->down.fd};
	json_t *object = json_pack("{s:s, s:i, s:I, s:s, s:I, s:I, s:I, s:f, s:b}", "type", "joined",
				   "version", VERSION, "learner", (json_int_t)s->id, "name",
				   a->config.roster->members[a->config.self].name, "learners",
				   (json_int_t)a->config.roster->size, "rounds", (json_int_t)s->rounds,
				   "elements", (json_int_t)a->n, "clipping_range", s->clipping_range,
				   "weighted", s->weighting == SL_WEIGHTING_SAMPLES);
	sl_line_socket_send(&a->socket, object, fds, 2);
}

static void send_train(struct application *a)
{
	send_object(a, json_pack("{s:s, s:I, s:I, s:b}", "type", "train", "round", (json_int_t)a->wanted,
				 "committed", (json_int_t)a->committed, "again", a->again));
}

static bool is_last(const struct application *a)
{
	return a->committed >= a->config.settings->rounds;
}

/* Send the mean and, after the last round, `done`. */
static void send_mean(struct application *a)
{
	send_object(a, json_pack("{s:s, s:I, s:I, s:I}", "type", "mean", "round", (json_int_t)a->committed,
				 "learners", (json_int_t)a->learners, "total_weight",
				 (json_int_t)a->total_weight));
	if (is_last(a))
		send_object(a, json_pack("{s:s}", "type", "done"));
}

/* Repeat the pending request to the application or, after the last round, the mean and `done`. */
static void send_standing(struct application *a)
{
	if (a->wanted != 0 && !a->have) {
		send_train(a);
	} else if (a->committed != 0 && is_last(a)) {
		send_mean(a);
	}
}

/* Send an error and drop the application. */
static void refuse(struct application *a, const char *text)
{
	send_object(a, json_pack("{s:s, s:s}", "type", "error", "text", text));
	sl_line_socket_drop(&a->socket);
}

/* ---- join ---- */

/* Take the tensors of the first application of this process. */
static int open_vectors(struct application *a, const struct sl_tensors *tensors, struct sl_error *error)
{
	size_t n = (size_t)sl_tensor_list_elements(tensors);
	int rc = sl_shared_vector_open(&a->up, n, error);
	if (rc == SL_OK)
		rc = sl_shared_vector_open(&a->down, n, error);
	if (rc != SL_OK) {
		sl_shared_vector_close(&a->up);
		return rc;
	}
	a->base.tensors = *tensors;
	a->n = n;
	a->opened = true;
	return SL_OK;
}

static int take_tensors(struct application *a, const json_t *message, struct sl_error *error)
{
	struct sl_tensors tensors;
	int rc = sl_tensor_list_read(json_object_get(message, "tensors"), &tensors, error);
	if (rc == SL_OK && !a->opened) {
		rc = open_vectors(a, &tensors, error);
		if (rc == SL_OK)
			return SL_OK; /* owned by the trainer now */
	} else if (rc == SL_OK) {
		rc = sl_tensor_list_compare(&a->base.tensors, &tensors, error);
	}
	free((void *)tensors.items);
	return rc;
}

static void say(struct application *a, const char *what)
{
	char text[96];
	snprintf(text, sizeof text, "the application (process %d) has %s", (int)a->socket.pid, what);
	if (a->config.say != NULL)
		a->config.say(a->config.context, text);
}

static void take_join(struct application *a, const json_t *message)
{
	struct sl_error error = {0};
	json_int_t version = json_integer_value(json_object_get(message, "version"));
	if (a->joined) {
		refuse(a, "joined twice");
	} else if (version != VERSION) {
		snprintf(error.text, sizeof error.text,
			 "this learner speaks version %d of the protocol, not %lld", VERSION,
			 (long long)version);
		refuse(a, error.text);
	} else if (take_tensors(a, message, &error) != SL_OK) {
		refuse(a, error.text);
	} else {
		a->joined = true;
		say(a, "joined");
		send_joined(a);
		send_standing(a);
	}
}

/* ---- trained ---- */

static void refuse_vector(struct application *a, json_int_t round, const char *why)
{
	send_object(a, json_pack("{s:s, s:I, s:s}", "type", "refused", "round", round, "text", why));
}

static void take_trained(struct application *a, const json_t *message)
{
	const struct sl_settings *s = a->config.settings;
	char text[SL_ERROR_BYTES];
	const json_t *weight = json_object_get(message, "weight");
	json_int_t round = json_integer_value(json_object_get(message, "round"));
	uint64_t value = weight == NULL ? 1 : (uint64_t)json_integer_value(weight);
	if (a->wanted == 0 || (json_int_t)a->wanted != round || a->have) {
		refuse_vector(a, round, "no vector is awaited for this round");
		return;
	}
	if (s->weighting == SL_WEIGHTING_SAMPLES && (value < 1 || value > s->max_weight)) {
		snprintf(text, sizeof text, "the weight %" PRIu64 " is not within 1 and max_weight, %" PRIu64,
			 value, s->max_weight);
		refuse_vector(a, round, text);
		return;
	}
	a->weight = value;
	a->loss = json_number_value(json_object_get(json_object_get(message, "metrics"), "loss"));
	a->have = true;
	uv_cond_signal(&a->answered);
}

/* ---- the socket thread ---- */

static void take_line(struct application *a, const char *line)
{
	json_t *message = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
	const char *type = json_string_value(json_object_get(message, "type"));
	if (type != NULL && strcmp(type, "join") == 0)
		take_join(a, message);
	else if (type != NULL && a->joined && strcmp(type, "trained") == 0)
		take_trained(a, message);
	else
		refuse(a, "expected one JSON object per line: first join, then trained");
	json_decref(message);
}

/* Take what the application has sent, or that it is gone. */
static void take_lines(struct application *a)
{
	const char *line;
	while ((line = sl_line_socket_next(&a->socket)) != NULL)
		take_line(a, line);
	if (a->joined && a->socket.peer < 0) {
		a->joined = false;
		say(a, "left");
	}
}

/* Refuse a process that the learner has not started, such as one that an earlier daemon has left behind. */
static void check_owned(struct application *a)
{
	char text[160];
	if (a->command == NULL || sl_command_owns(a->command, a->socket.pid))
		return;
	snprintf(text, sizeof text,
		 "this learner starts its application itself (trainer: exec), and process %d is not in the "
		 "process group of its command",
		 (int)a->socket.pid);
	refuse(a, text);
}

/* Serve the socket once: the end of one application is handled before the next connection. */
static void serve(struct application *a)
{
	bool called = sl_line_socket_called(&a->socket); /* first: the caller may be the one that has left */
	take_lines(a);
	if (!a->joined && a->socket.peer >= 0 && now_ms() - a->called_ms > JOIN_MS)
		refuse(a, "expected join within 10 s");
	if (called && sl_line_socket_accept(&a->socket)) {
		a->called_ms = now_ms();
		check_owned(a);
		take_lines(a);
	}
}

static enum sl_command_duty duty_of(const struct application *a)
{
	if (a->opened && is_last(a))
		return SL_COMMAND_DONE;
	return !a->opened || (a->wanted != 0 && !a->have) ? SL_COMMAND_WORK : SL_COMMAND_NONE;
}

static void run(void *argument)
{
	struct application *a = argument;
	bool ending = false;
	while (!ending) {
		bool ready = sl_line_socket_wait(&a->socket, POLL_MS);
		uv_mutex_lock(&a->mutex);
		if (ready || !a->joined)
			serve(a);
		sl_command_tend(a->command, duty_of(a));
		ending = a->ending;
		uv_mutex_unlock(&a->mutex);
	}
	sl_command_end(a->command);
}

/* ---- the trainer ---- */

static size_t parameters(const struct sl_trainer *trainer)
{
	return ((const struct application *)trainer)->n;
}

/* Set zeros: the application has an initial model of its own. */
static void initial(const struct sl_trainer *trainer, void *model)
{
	memset(model, 0, parameters(trainer) * sizeof(float));
}

/* Return the first element that cannot be encoded, or n. */
static size_t flaw(const struct application *a, const float *values)
{
	const struct sl_settings *s = a->config.settings;
	double most = s->clipping == SL_CLIPPING_CLAMP ? INFINITY : s->clipping_range;
	for (size_t i = 0; i < a->n; i++)
		if (!isfinite(values[i]) || fabs((double)values[i]) > most)
			return i;
	return a->n;
}

/* Refuse the answer for its element `at`, and wait for another one. */
static void refuse_element(struct application *a, size_t at, float value)
{
	char place[PLACE_BYTES], text[SL_ERROR_BYTES];
	sl_tensor_list_place(&a->base.tensors, at, place, sizeof place);
	if (isfinite(value))
		snprintf(text, sizeof text,
			 "%s is %g, beyond clipping_range %g: raise clipping_range, unless the training has "
			 "diverged",
			 place, (double)value, a->config.settings->clipping_range);
	else
		snprintf(text, sizeof text, "%s is not a finite number: the training has diverged", place);
	a->have = false;
	refuse_vector(a, a->wanted, text);
}

/* Wait for the answer. SL_PENDING if *stop became true. */
static int await(struct application *a, const atomic_bool *stop)
{
	while (!a->have && !atomic_load(stop))
		uv_cond_timedwait(&a->answered, &a->mutex, POLL_MS * UINT64_C(1000000));
	return a->have ? SL_OK : SL_PENDING;
}

static int train(struct sl_trainer *trainer, const struct sl_training_request *request, void *model,
		 struct sl_training *result, struct sl_error *error)
{
	struct application *a = owned(trainer);
	uint64_t begun = now_ms();
	(void)error;
	uv_mutex_lock(&a->mutex);
	a->again = a->wanted == request->round || request->again;
	a->wanted = request->round;
	a->have = false;
	if (request->round > 1 && a->committed != request->round - 1) {
		memcpy(a->down.values, model, a->n * sizeof(float));
		a->committed = request->round - 1;
	}
	if (a->joined)
		send_train(a);
	int rc;
	while ((rc = await(a, request->stop)) == SL_OK) {
		/* The application can write at any time: what is checked is the copy. */
		memcpy(model, a->up.values, a->n * sizeof(float));
		size_t at = flaw(a, model);
		if (at == a->n)
			break;
		refuse_element(a, at, ((const float *)model)[at]);
	}
	if (rc == SL_OK)
		*result = (struct sl_training){a->loss, a->weight, (double)(now_ms() - begun) / 1000};
	uv_mutex_unlock(&a->mutex);
	atomic_store(request->progress, 1000);
	return rc;
}

/* Hand the committed model to the application. */
static void show(struct sl_trainer *trainer, const struct sl_trainer_commit *commit, const void *model)
{
	struct application *a = owned(trainer);
	uv_mutex_lock(&a->mutex);
	memcpy(a->down.values, model, a->n * sizeof(float));
	a->committed = commit->round;
	a->learners = commit->learners;
	a->total_weight = commit->total_weight;
	sl_command_completed(a->command);
	if (a->wanted <= a->committed)
		a->wanted = 0;
	if (a->joined)
		send_mean(a);
	uv_mutex_unlock(&a->mutex);
}

static int evaluate(struct sl_trainer *trainer, const void *model, double *mse, struct sl_error *error)
{
	(void)trainer;
	(void)model;
	(void)error;
	*mse = NAN;
	return SL_OK;
}

static void notice(struct sl_trainer *trainer, const char *text)
{
	struct application *a = owned(trainer);
	uv_mutex_lock(&a->mutex);
	if (a->joined)
		send_object(a, json_pack("{s:s, s:s}", "type", "waiting", "text", text));
	uv_mutex_unlock(&a->mutex);
}

/* ---- opening and closing ---- */

static void application_free(struct application *a)
{
	if (a->socket.listener >= 0)
		unlink(a->config.settings->application);
	sl_command_close(a->command);
	sl_line_socket_close(&a->socket);
	sl_shared_vector_close(&a->up);
	sl_shared_vector_close(&a->down);
	free((void *)a->base.tensors.items);
	uv_cond_destroy(&a->answered);
	uv_mutex_destroy(&a->mutex);
	free(a);
}

bool sl_application_runs(struct sl_trainer *trainer)
{
	struct application *a = owned(trainer);
	uv_mutex_lock(&a->mutex);
	bool runs = sl_command_runs(a->command);
	uv_mutex_unlock(&a->mutex);
	return runs;
}

void sl_application_stop(struct sl_trainer *trainer)
{
	struct application *a = owned(trainer);
	if (!a->serving)
		return;
	uv_mutex_lock(&a->mutex);
	a->ending = true;
	uv_mutex_unlock(&a->mutex);
	uv_thread_join(&a->thread);
	a->serving = false;
}

static void application_close(struct sl_trainer *trainer)
{
	sl_application_stop(trainer);
	application_free(owned(trainer));
}

static const struct sl_trainer_ops ops = {.parameters = parameters,
					  .initial = initial,
					  .train = train,
					  .show = show,
					  .notice = notice,
					  .evaluate = evaluate,
					  .close = application_close};

static int open_command(struct application *a, struct sl_error *error)
{
	struct sl_command_config config = {.settings = a->config.settings,
					   .learners = a->config.roster->size,
					   .say = a->config.say_command,
					   .context = a->config.context};
	return a->config.settings->trainer == SL_TRAINER_EXEC ? sl_command_open(&a->command, &config, error)
							      : SL_OK;
}

/* Serve until the first application has joined. SIGINT and SIGTERM end its command, then the process. */
static void await_first(struct application *a)
{
	sigset_t ends, before;
	int signal = -1;
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &ends, &before);
	while (!a->opened && signal < 0) {
		sl_command_tend(a->command, duty_of(a));
		sl_line_socket_wait(&a->socket, POLL_MS);
		serve(a);
		signal = sigtimedwait(&ends, NULL, &(struct timespec){0, 0});
	}
	if (signal > 0)
		application_free(a);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (signal > 0)
		raise(signal);
}

int sl_application_open(const struct sl_application_config *config, struct sl_trainer **trainer,
			struct sl_error *error)
{
	struct application *a = calloc(1, sizeof *a);
	*trainer = NULL;
	if (a == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	a->base.ops = &ops;
	a->config = *config;
	if (uv_mutex_init(&a->mutex) != 0 || uv_cond_init(&a->answered) != 0)
		abort(); /* out of memory */
	int rc = sl_line_socket_open(&a->socket, config->settings->application, error);
	if (rc == SL_OK)
		rc = open_command(a, error);
	if (rc == SL_OK)
		await_first(a);
	if (rc != SL_OK) {
		application_free(a);
		return rc;
	}
	*trainer = &a->base;
	return SL_OK;
}

int sl_application_serve(struct sl_trainer *trainer, struct sl_error *error)
{
	struct application *a = owned(trainer);
	a->serving = uv_thread_create(&a->thread, run, a) == 0;
	return a->serving ? SL_OK : sl_err_set(error, SL_ERR_NOMEM, "cannot start a thread");
}
