#include "daemon/application/conversation.h"

#include <inttypes.h>
#include <math.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/application/metrics.h"
#include "daemon/application/tensor_list.h"
#include "daemon/application/vector_check.h"
#include "daemon/runtime/clock.h"
#include "daemon/runtime/vector_memory.h"

#define VERSION 1
#define JOIN_MS 10000u	  /* until a connection must have joined */
#define INITIAL_MS 60000u /* .. and have sent the initial model that it offers */

/* ---- to the application ---- */

static void send_object(struct sl_application *a, json_t *object)
{
	sl_line_socket_send(&a->socket, object, NULL, 0);
}

/* Return the setting, or null for `auto`. */
static json_t *decimals_of(uint32_t decimals)
{
	return decimals == SL_DECIMALS_AUTO ? json_null() : json_integer(decimals);
}

static json_t *range_of(double clipping_range)
{
	return clipping_range == SL_CLIPPING_RANGE_AUTO ? json_null() : json_real(clipping_range);
}

/* Return null for a number that is not known, or not finite, which JSON does not have. */
static json_t *number_of(double number)
{
	return isfinite(number) ? json_real(number) : json_null();
}

/* Return the terms of differential privacy, or NULL without it. */
static json_t *privacy_of(const struct sl_application *a)
{
	const struct sl_settings *s = a->config.settings;
	if (s->dp == SL_DP_USE_OFF)
		return NULL;
	return json_pack("{s:s, s:f, s:o, s:f, s:f, s:o}", "unit",
			 s->dp == SL_DP_USE_RECORD ? "record" : "learner", "clip", s->dp_clip, "noise",
			 number_of(sl_settings_noise(s, a->n, a->config.roster->size)), "sampling",
			 s->dp_sampling, "delta", s->dp_delta, "epsilon",
			 number_of(s->dp_epsilon > 0 ? s->dp_epsilon : (double)NAN));
}

bool sl_conversation_wants_initial(const struct sl_application *a)
{
	return a->joined && a->offers_initial && a->initial == NULL && !a->serving &&
	       a->values == SL_VALUES_UPDATE;
}

static void send_joined(struct sl_application *a)
{
	const struct sl_settings *s = a->config.settings;
	const int fds[] = {a->up.fd, a->down.fd};
	json_t *object = json_pack(
		"{s:s, s:i, s:I, s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:b, s:b, s:b, s:o*, s:o*}", "type",
		"joined", "version", VERSION, "learner", (json_int_t)s->id, "name",
		a->config.roster->members[a->config.self].name, "learners",
		(json_int_t)a->config.roster->size, "rounds", (json_int_t)s->rounds, "elements",
		(json_int_t)(a->n - a->metrics_count), "bytes", (json_int_t)a->bytes, "clipping_range",
		range_of(s->clipping_range), "decimals", decimals_of(s->decimals), "weighted",
		s->weighting == SL_WEIGHTING_SAMPLES, "averages_metrics", s->metrics == SL_METRICS_AGGREGATE,
		"repeatable", s->membership_change != SL_MEMBERSHIP_WARN, "initial",
		sl_conversation_wants_initial(a) ? json_true() : NULL, "dp", privacy_of(a));
	sl_line_socket_send(&a->socket, object, fds, 2);
}

static bool is_last(const struct sl_application *a)
{
	return a->committed.round >= a->config.settings->rounds ||
	       (a->last != 0 && a->committed.round >= a->last);
}

void sl_conversation_train(struct sl_application *a)
{
	if (a->joined && !is_last(a))
		send_object(a, json_pack("{s:s, s:I, s:I, s:I, s:I, s:b, s:O*}", "type", "train", "round",
					 (json_int_t)a->wanted, "committed", (json_int_t)a->committed.round,
					 "learners", (json_int_t)a->committed.learners, "total_weight",
					 (json_int_t)a->committed.total_weight, "again", a->again, "metrics",
					 a->committed.round > 0 ? a->means : NULL));
}

void sl_conversation_mean(struct sl_application *a)
{
	if (!a->joined)
		return;
	const struct sl_trainer_commit *c = &a->committed;
	bool noisy = a->config.settings->dp != SL_DP_USE_OFF;
	send_object(a, json_pack("{s:s, s:I, s:I, s:I, s:I, s:o, s:o, s:O*, s:o*, s:o*}", "type", "mean",
				 "round", (json_int_t)c->round, "learners", (json_int_t)c->learners,
				 "total_weight", (json_int_t)c->total_weight, "cut", (json_int_t)c->cut,
				 "decimals", decimals_of(c->decimals), "clipping_range",
				 range_of(c->clipping_range), "metrics", a->means, "noise",
				 noisy ? number_of(c->noise) : NULL, "spent",
				 noisy ? number_of(c->spent) : NULL));
	if (is_last(a))
		send_object(a, json_pack("{s:s}", "type", "done"));
}

void sl_conversation_end(struct sl_application *a, sl_round last)
{
	a->last = last;
	a->wanted = 0;
	if (a->joined && a->committed.round >= last)
		send_object(a, json_pack("{s:s}", "type", "done"));
}

void sl_conversation_refuse(struct sl_application *a, sl_round round, const char *why)
{
	if (round != 0 && round == a->wanted && !a->have)
		a->config.failed(a->config.context);
	if (a->joined)
		send_object(a, json_pack("{s:s, s:I, s:s}", "type", "refused", "round", (json_int_t)round,
					 "text", why));
}

void sl_conversation_waiting(struct sl_application *a, const char *text)
{
	if (a->joined)
		send_object(a, json_pack("{s:s, s:s}", "type", "waiting", "text", text));
}

/* Repeat the pending request to the application or, after the last round, the mean and `done`. */
static void send_standing(struct sl_application *a)
{
	if (a->wanted != 0 && !a->have && !is_last(a)) {
		sl_conversation_train(a);
	} else if (a->committed.round != 0 && is_last(a)) {
		sl_conversation_mean(a);
	}
}

/* Send an error and drop the application. */
static void refuse(struct sl_application *a, const char *text)
{
	send_object(a, json_pack("{s:s, s:s}", "type", "error", "text", text));
	sl_line_socket_drop(&a->socket);
}

/* ---- join ---- */

/* Set *values to what the application asks for. */
static int take_values(const json_t *message, enum sl_values *values, struct sl_error *error)
{
	const json_t *asked = json_object_get(message, "values");
	const char *word = asked == NULL ? "update" : json_string_value(asked);
	bool model = word != NULL && strcmp(word, "model") == 0;
	*values = model ? SL_VALUES_MODEL : SL_VALUES_UPDATE;
	return model || (word != NULL && strcmp(word, "update") == 0)
		       ? SL_OK
		       : sl_err_set(error, SL_ERR_INVALID, "values in join is model or update");
}

static int compare(const struct sl_application *a, const struct sl_tensors *tensors, enum sl_values asked,
		   struct sl_error *error)
{
	static const char *const words[] = {[SL_VALUES_MODEL] = "model", [SL_VALUES_UPDATE] = "update"};
	enum sl_values values = sl_state_values(a, asked);
	int rc = sl_tensor_list_compare(&a->base.tensors, tensors, error);
	if (rc != SL_OK || values == a->values)
		return rc;
	return sl_err_set(error, SL_ERR_INVALID,
			  "this run averages with values: %s, and the application asks for values: %s",
			  words[a->values], words[values]);
}

/* Take the tensors and values of join. SL_PENDING: the learner starts again with them. */
static int take_tensors(struct sl_application *a, const json_t *message, struct sl_error *error)
{
	struct sl_tensors tensors;
	enum sl_values asked;
	bool averaged = a->config.settings->metrics == SL_METRICS_AGGREGATE;
	const json_t *metrics = averaged ? json_object_get(message, "metrics") : NULL;
	int rc = take_values(message, &asked, error);
	if (rc != SL_OK)
		return rc;
	rc = sl_tensor_list_read(json_object_get(message, "tensors"), metrics, &tensors, error);
	if (rc == SL_OK && !a->opened)
		return sl_state_adopt(a, &tensors, asked, error); /* owns the items */
	bool usable = rc == SL_OK;
	if (usable)
		rc = compare(a, &tensors, asked, error);
	free((void *)tensors.items);
	if (!usable || rc == SL_OK || atomic_load(&a->bound))
		return rc;
	a->config.restart(a->config.context);
	return SL_PENDING;
}

/* Return an error for a process that the learner has not started, such as one that an earlier daemon has left
 * behind. */
static int check_owned(const struct sl_application *a, const json_t *message, struct sl_error *error)
{
	const char *token = json_string_value(json_object_get(message, "token"));
	if (a->command == NULL || sl_command_owns(a->command, a->socket.pid, token))
		return SL_OK;
	return sl_err_set(
		error, SL_ERR_REFUSED,
		"this learner starts its application itself (trainer: exec): process %d is not one of "
		"its command, and join has not the token of the variable STARLING_TOKEN",
		(int)a->socket.pid);
}

/* Take the hash of the program, which the account of the rounds shows. */
static void take_program(struct sl_application *a, const json_t *message)
{
	const char *digits = json_string_value(json_object_get(message, "program"));
	size_t size = sizeof a->program;
	if (digits == NULL || strlen(digits) != 2 * size ||
	    sodium_hex2bin(a->program, size, digits, 2 * size, NULL, NULL, NULL) != 0)
		memset(a->program, 0, size);
}

static void take_join(struct sl_application *a, const json_t *message)
{
	struct sl_error error = {0};
	int rc = check_owned(a, message, &error);
	bool known = json_number_value(json_object_get(message, "version")) == VERSION;
	if (a->joined) {
		refuse(a, "joined twice");
	} else if (!known) {
		snprintf(error.text, sizeof error.text,
			 "this learner speaks version %d of the protocol: the version in join is the number "
			 "%d",
			 VERSION, VERSION);
		refuse(a, error.text);
	} else if (rc != SL_OK || (rc = take_tensors(a, message, &error)) != SL_OK) {
		if (rc != SL_PENDING)
			refuse(a, error.text);
		sl_line_socket_drop(&a->socket);
	} else if (sl_state_lacks_initial(a) && !json_is_true(json_object_get(message, "initial"))) {
		refuse(a, "with dp, changes to a model before training are summed: join offers it (initial: "
			  "true), the same at all learners, or asks for values: model");
	} else {
		a->joined = true;
		a->offers_initial = json_is_true(json_object_get(message, "initial"));
		take_program(a, message);
		sl_state_say(a, "the application (process %d) has joined", (int)a->socket.pid);
		send_joined(a);
		send_standing(a);
	}
}

/* ---- trained ---- */

/* With max_weight 1 every participant counts once. */
static uint64_t least_weight(const struct sl_settings *s)
{
	return s->weighting == SL_WEIGHTING_SAMPLES && s->max_weight == 1 ? 1 : 0;
}

/* Set *value to the weight of `message`; return false if it cannot be used. */
static bool take_weight(const struct sl_settings *s, const json_t *message, uint64_t *value)
{
	const json_t *weight = json_object_get(message, "weight");
	*value = weight == NULL ? 1 : (uint64_t)json_integer_value(weight);
	if (weight != NULL && (!json_is_integer(weight) || json_integer_value(weight) < 0))
		return false;
	return s->weighting != SL_WEIGHTING_SAMPLES || (*value >= least_weight(s) && *value <= s->max_weight);
}

/* Return true if dp_delta allows to tell one of `records` whole. */
static bool tells_record(const struct sl_settings *s, uint64_t records)
{
	return s->dp == SL_DP_USE_RECORD && s->dp_delta * (double)records >= 1;
}

/* Return the round of `message`, 0 if it names no whole number. It is a real number if another number of the
 * line is too large for a whole one (parse). */
static sl_round round_of(const json_t *message)
{
	double round = json_number_value(json_object_get(message, "round"));
	return round >= 0 && round <= SL_ROUNDS_MAX && round == (sl_round)round ? (sl_round)round : 0;
}

static void take_metrics(struct sl_application *a, const json_t *metrics)
{
	size_t dropped;
	json_decref(a->metrics);
	a->metrics = sl_metrics_take(metrics, &dropped);
	if (dropped > 0)
		sl_state_warn(a,
			      "%zu metrics of the application are left out: a metric has a name of 1 to "
			      "%u bytes and a finite value, and there are at most %u",
			      dropped, SL_METRIC_NAME_BYTES - 1, SL_METRICS_MAX);
}

/* Return the name of a metric that is averaged and was not sent, or NULL. */
static const char *missing_metric(const struct sl_application *a)
{
	for (uint32_t i = 0; i < a->metrics_count; i++) {
		const char *name = SL_METRIC_TENSOR_NAME(&a->base.tensors.items[i]);
		if (json_object_get(a->metrics, name) == NULL)
			return name;
	}
	return NULL;
}

static void take_trained(struct sl_application *a, const json_t *message)
{
	const struct sl_settings *s = a->config.settings;
	char text[128];
	uint64_t weight;
	sl_round round = round_of(message);
	if (a->wanted == 0 || a->wanted != round || a->have || is_last(a)) {
		sl_conversation_refuse(a, round, "no vector is awaited for this round");
		return;
	}
	if (!take_weight(s, message, &weight)) {
		snprintf(text, sizeof text,
			 "the weight is not a whole number from %" PRIu64 " to max_weight, %" PRIu64,
			 least_weight(s), s->max_weight);
		sl_conversation_refuse(a, round, text);
		return;
	}
	if (tells_record(s, weight)) {
		snprintf(text, sizeof text,
			 "dp_delta: %g must be below one in the number of records, and this learner has "
			 "%" PRIu64,
			 s->dp_delta, weight);
		sl_conversation_refuse(a, round, text);
		return;
	}
	take_metrics(a, json_object_get(message, "metrics"));
	const char *missing = missing_metric(a);
	if (missing != NULL) {
		snprintf(text, sizeof text, "the metric %s, which join has listed, is missing or not finite",
			 missing);
		sl_conversation_refuse(a, round, text);
		return;
	}
	a->weight = weight;
	a->have = true;
	uv_cond_signal(&a->answered);
}

/* ---- stop ---- */

/* End the run after the last committed round, as the application says that all have agreed on. */
static void take_stop(struct sl_application *a, const json_t *message)
{
	bool begun = a->wanted > a->committed.round && a->have;
	if (a->committed.round == 0 || round_of(message) != a->committed.round || begun || !a->serving) {
		refuse(a, "stop names the last committed round, before its learner has the next model");
		return;
	}
	a->last = a->committed.round;
	a->wanted = 0;
	a->config.stop(a->config.context, a->last);
	send_object(a, json_pack("{s:s}", "type", "done"));
}

/* ---- the socket ---- */

/* Parse a line; NULL: not JSON. A whole number that is too large is taken as a real one. */
static json_t *parse(const char *line, size_t size)
{
	json_t *message = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
	return message != NULL
		       ? message
		       : json_loadb(line, size, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, NULL);
}

/* Take the initial model from `up`. Once the rounds have begun it is known, or not needed. */
static void take_initial(struct sl_application *a)
{
	if (!sl_conversation_wants_initial(a))
		return;
	a->initial = sl_vector_memory(a->config.settings->state, a->bytes);
	a->offers_initial = false;
	if (a->initial == NULL)
		return;
	sl_shared_vector_read(&a->up, a->initial);
	const struct sl_tensors tensors = {.items = a->base.tensors.items + a->metrics_count,
					   .count = a->base.tensors.count - a->metrics_count};
	struct sl_error error;
	if (sl_vector_check(a->config.settings, a->values, &tensors, a->initial, a->n - a->metrics_count,
			    &error) == SL_OK)
		return;
	sl_vector_memory_free(a->initial, a->bytes);
	a->initial = NULL;
	sl_err_wrap(&error, "the model before training cannot be used");
	refuse(a, error.text);
	a->joined = false;
}

static void take_line(struct sl_application *a, const char *line, size_t size)
{
	json_t *message = parse(line, size);
	const char *type = json_string_value(json_object_get(message, "type"));
	if (type != NULL && strcmp(type, "join") == 0)
		take_join(a, message);
	else if (type != NULL && a->joined && strcmp(type, "trained") == 0)
		take_trained(a, message);
	else if (type != NULL && a->joined && strcmp(type, "stop") == 0)
		take_stop(a, message);
	else if (type != NULL && a->joined && strcmp(type, "initial") == 0)
		take_initial(a);
	else
		refuse(a, "expected one JSON object per line: first join, then trained");
	json_decref(message);
}

/* Handle a line, the end of the connection, a late join or a new connection. */
static void serve(struct sl_application *a)
{
	bool called = sl_line_socket_called(&a->socket); /* first: the caller may be the one that has left */
	size_t size;
	const char *line = sl_line_socket_next(&a->socket, &size);
	if (line != NULL)
		take_line(a, line, size);
	if (a->joined && a->socket.peer < 0) {
		a->joined = false;
		sl_state_say(a, "the application (process %d) has left", (int)a->socket.pid);
	}
	if (!a->joined && a->socket.peer >= 0 && sl_clock_ms() - a->called_ms > JOIN_MS)
		refuse(a, "expected join within 10 s");
	if (sl_conversation_wants_initial(a) && sl_clock_ms() - a->called_ms > INITIAL_MS) {
		refuse(a, "expected the initial model within 60 s");
		a->joined = false;
	}
	if (line == NULL && called && sl_line_socket_accept(&a->socket))
		a->called_ms = sl_clock_ms();
}

static enum sl_command_duty duty_of(const struct sl_application *a)
{
	if (a->opened && is_last(a))
		return SL_COMMAND_DONE;
	return !a->opened || (a->wanted != 0 && !a->have) ? SL_COMMAND_WORK : SL_COMMAND_NONE;
}

void sl_conversation_serve(struct sl_application *a, int other, int timeout_ms)
{
	sl_line_socket_wait(&a->socket, other, timeout_ms);
	uv_mutex_lock(&a->mutex);
	serve(a);
	sl_command_tend(a->command, duty_of(a));
	uv_mutex_unlock(&a->mutex);
	if (sl_line_socket_pending(&a->socket))
		uv_sleep(1); /* a flood of lines: the other threads must get the mutex in between */
}
