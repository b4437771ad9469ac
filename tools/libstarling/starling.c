/* starling.c - the application's side of proto/APPLICATION.md.
 *
 * It shares no code with the learner: the two are written from the text, and tested against each other.
 *
 *   waiting for the learner --connected, join sent--> joining --joined--> joined
 *            ^----------------- connection lost ---------'------------------'
 *
 * This file is the conversation; connection.h has the lines. The two vectors keep their addresses when the
 * learner is started again: new memory is mapped there.
 */
#include "tools/libstarling/starling.h"

#include "tools/libstarling/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#define VERSION 1
#define ELEMENTS_MAX (UINT64_C(1) << 30)
#define DIMENSIONS_MAX 8u
#define NAME_BYTES_MAX 1023u
#define RETRY_MS 200
#define SAY_MS 5000 /* without a learner, before each STARLING_WAITING */
#define TEXT_BYTES 1024u

enum stage { WAITING, JOINING, JOINED, FAILED };

struct handle {
	struct starling base; /* first member: converted by pointer */
	enum stage stage;
	struct sl_connection link;
	json_t *join;	     /* the message */
	const void *initial; /* the model before training, of the caller; NULL: none */
	int64_t since_ms;    /* when the learner was last there, or its absence was last said */
	bool asked, done;
	bool changed; /* the unit of dp; record: clip or sampling, since the vector was given */
	bool invalid; /* the join failed: the next event is an error */
	size_t metric_count;
	double *metrics;
	char text[TEXT_BYTES];
	char name[NAME_BYTES_MAX + 1];
};

static struct handle *owned(struct starling *s)
{
	return (struct handle *)s;
}

static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void set_text(struct handle *h, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void set_text(struct handle *h, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(h->text, sizeof h->text, format, args);
	va_end(args);
	h->base.text = h->text;
}

/* ---- joining, waiting, losing ---- */

static void disconnect(struct handle *h)
{
	sl_connection_disconnect(&h->link);
	h->asked = false;
}

static enum starling_event fail(struct handle *h)
{
	disconnect(h);
	sl_connection_set_timer(&h->link, 0, 0);
	h->stage = FAILED;
	return STARLING_ERROR;
}

/* Send a message; if that fails, the next event says that the connection is lost. */
static void send_message(const struct handle *h, const json_t *message)
{
	char *text = json_dumps(message, JSON_COMPACT);
	sl_connection_send(&h->link, text);
	free(text);
}

/* Return WAITING, with a text that names the socket between `before` and `after`; NONE if that was said less
 * than SAY_MS ago. */
static enum starling_event say_waiting(struct handle *h, const char *before, const char *after)
{
	if (now_ms() - h->since_ms < SAY_MS)
		return STARLING_NONE;
	h->since_ms = now_ms();
	set_text(h, "%s %s %s", before, h->link.path, after);
	return STARLING_WAITING;
}

/* Go on waiting if there is no socket, no listener or a busy learner; fail after any other error. */
static enum starling_event not_connected(struct handle *h)
{
	if (errno != ENOENT && errno != ECONNREFUSED && errno != EAGAIN && errno != EINTR) {
		set_text(h, "%s: %s", h->link.path, strerror(errno));
		return fail(h);
	}
	return say_waiting(h, "no learner listens on", "yet");
}

static enum starling_event try_to_connect(struct handle *h)
{
	if (sl_connection_connect(&h->link) < 0)
		return not_connected(h);
	h->stage = JOINING;
	send_message(h, h->join);
	return STARLING_NONE;
}

static enum starling_event tick(struct handle *h)
{
	if (!sl_connection_tick(&h->link) || h->stage == JOINED)
		return STARLING_NONE;
	if (h->stage == WAITING)
		return try_to_connect(h);
	return say_waiting(h, "the learner on", "does not answer");
}

static enum starling_event lose(struct handle *h)
{
	bool joined = h->stage == JOINED;
	disconnect(h);
	h->stage = WAITING;
	sl_connection_set_timer(&h->link, joined ? 1 : RETRY_MS, RETRY_MS);
	if (!joined)
		return say_waiting(h, "the learner on", "ends each connection before it answers");
	h->since_ms = now_ms();
	return STARLING_LOST;
}

/* ---- the vectors ---- */

/* Return true if the memory has this size and keeps it; else the text says what is wrong. */
static bool fits(struct handle *h, int fd, size_t bytes)
{
	struct stat status;
	int seals = fcntl(fd, F_GET_SEALS);
	if (fstat(fd, &status) < 0 || status.st_size < (off_t)bytes)
		set_text(h, "%s: the learner shares less memory than the %zu bytes of a vector", h->link.path,
			 bytes);
	else if (seals < 0 || (seals & F_SEAL_SHRINK) == 0)
		set_text(h, "%s: the shared memory is not sealed against shrinking", h->link.path);
	else
		return true;
	return false;
}

/* Map a vector at `old`, if that is not NULL; `keep`: with what is there. NULL: the text says what is wrong.
 */
static void *map(struct handle *h, int fd, int protection, void *old, bool keep)
{
	size_t bytes = h->base.bytes;
	if (!fits(h, fd, bytes))
		return NULL;
	void *memory = mmap(NULL, bytes, protection, MAP_SHARED, fd, 0);
	if (memory != MAP_FAILED && old != NULL) {
		if (keep)
			memcpy(memory, old, bytes);
		memory = mremap(memory, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, old);
	}
	if (memory != MAP_FAILED)
		return memory;
	set_text(h, "%s: the shared memory cannot be mapped: %s", h->link.path, strerror(errno));
	return NULL;
}

static bool map_vectors(struct handle *h)
{
	struct starling *s = &h->base;
	if (h->link.received != SL_CONNECTION_FDS) {
		set_text(h, "%s: the learner sent %u pieces of shared memory, not %u", h->link.path,
			 h->link.received, SL_CONNECTION_FDS);
		return false;
	}
	void *up = map(h, h->link.fds[0], PROT_READ | PROT_WRITE, s->up, true);
	void *down = up != NULL ? map(h, h->link.fds[1], PROT_READ, (void *)s->down, false) : NULL;
	s->up = up != NULL ? up : s->up;
	s->down = down != NULL ? down : s->down;
	sl_connection_close_fds(&h->link);
	return down != NULL;
}

/* ---- messages ---- */

static enum starling_event garbled(struct handle *h)
{
	set_text(h, "the learner on %s does not speak version %d of the protocol", h->link.path, VERSION);
	return fail(h);
}

static void take_encoding(struct starling *s, const json_t *message)
{
	const json_t *decimals = json_object_get(message, "decimals"),
		     *range = json_object_get(message, "clipping_range");
	if (json_is_integer(decimals))
		s->decimals = (int)json_integer_value(decimals);
	if (json_is_number(range))
		s->clipping_range = json_number_value(range);
}

static double number_of(const json_t *object, const char *key, double otherwise)
{
	const json_t *number = json_object_get(object, key);
	return json_is_number(number) ? json_number_value(number) : otherwise;
}

/* Take the terms of differential privacy. Return false for a unit that this library does not know. */
static bool take_privacy(struct handle *h, const json_t *terms)
{
	struct starling *s = &h->base;
	double clip = s->clip, sampling = s->sampling;
	enum starling_unit dp = s->dp;
	const char *unit = json_string_value(json_object_get(terms, "unit"));
	bool record = unit != NULL && strcmp(unit, "record") == 0;
	if (terms == NULL)
		return true;
	if (s->dp == STARLING_EXACT)
		s->noise = s->spent = (double)NAN;
	s->dp = record ? STARLING_RECORD : STARLING_LEARNER;
	s->clip = number_of(terms, "clip", 0);
	s->sampling = number_of(terms, "sampling", 1);
	s->delta = number_of(terms, "delta", 0);
	s->epsilon = number_of(terms, "epsilon", 0);
	s->noise_of_clip = number_of(terms, "noise", 0);
	h->changed |=
		s->name != NULL && (s->dp != dp || (record && (s->clip != clip || s->sampling != sampling)));
	return record || (unit != NULL && strcmp(unit, "learner") == 0);
}

static enum starling_event take_joined(struct handle *h, json_t *message)
{
	struct starling *s = &h->base;
	json_int_t version, learner, learners, rounds, elements, bytes;
	const char *name;
	int weighted;
	if (h->stage != JOINING ||
	    json_unpack(message, "{s:I, s:I, s:s, s:I, s:I, s:I, s:I, s:b}", "version", &version, "learner",
			&learner, "name", &name, "learners", &learners, "rounds", &rounds, "elements",
			&elements, "bytes", &bytes, "weighted", &weighted) != 0 ||
	    version != VERSION || !take_privacy(h, json_object_get(message, "dp")))
		return garbled(h);
	if ((uint64_t)elements != s->elements || (uint64_t)bytes != s->bytes) {
		set_text(h, "the learner on %s takes %lld bytes, not %zu", h->link.path, (long long)bytes,
			 s->bytes);
		return fail(h);
	}
	if (!map_vectors(h))
		return fail(h);
	s->learner = (uint32_t)learner;
	s->learners = (uint32_t)learners;
	s->rounds = (uint32_t)rounds;
	s->weighted = weighted;
	s->repeatable = json_is_true(json_object_get(message, "repeatable"));
	snprintf(h->name, sizeof h->name, "%s", name);
	s->name = h->name;
	take_encoding(s, message);
	if (h->initial != NULL && json_is_true(json_object_get(message, "initial"))) {
		memcpy(s->up, h->initial, s->bytes);
		sl_connection_send(&h->link, "{\"type\":\"initial\"}");
	}
	h->stage = JOINED;
	sl_connection_set_timer(&h->link, 0, 0);
	return STARLING_JOINED;
}

static enum starling_event take_train(struct handle *h, json_t *message)
{
	json_int_t round, committed;
	int again;
	if (json_unpack(message, "{s:I, s:I, s:b}", "round", &round, "committed", &committed, "again",
			&again) != 0)
		return garbled(h);
	h->base.round = (uint32_t)round;
	if (h->base.committed != (uint32_t)committed) { /* its mean was not heard of */
		h->base.participants = 0;
		h->base.noise = h->base.dp != STARLING_EXACT ? (double)NAN : 0;
	}
	h->base.committed = (uint32_t)committed;
	h->base.again = again || h->changed;
	h->changed = false;
	h->asked = true;
	return STARLING_TRAIN;
}

static enum starling_event take_mean(struct handle *h, json_t *message)
{
	json_int_t round, learners, weight;
	json_t *metrics = json_object_get(message, "metrics"), *name;
	size_t i;
	if (json_unpack(message, "{s:I, s:I, s:I}", "round", &round, "learners", &learners, "total_weight",
			&weight) != 0)
		return garbled(h);
	h->base.committed = (uint32_t)round;
	h->base.participants = (uint32_t)learners;
	h->base.total_weight = (uint64_t)weight;
	h->asked = false;
	take_encoding(&h->base, message);
	h->base.noise = h->base.dp != STARLING_EXACT ? number_of(message, "noise", (double)NAN) : 0;
	h->base.spent = h->base.dp != STARLING_EXACT ? number_of(message, "spent", (double)NAN) : 0;
	json_array_foreach(json_object_get(h->join, "metrics"), i, name)
	{
		const json_t *value = json_object_get(metrics, json_string_value(name));
		h->metrics[i] = json_is_number(value) ? json_number_value(value) : (double)NAN;
	}
	return STARLING_MEAN;
}

static enum starling_event take_text(struct handle *h, const json_t *message, enum starling_event event)
{
	const char *text = json_string_value(json_object_get(message, "text"));
	if (text == NULL)
		return garbled(h);
	set_text(h, "%s", text);
	return event;
}

static enum starling_event take_line(struct handle *h, const char *line)
{
	json_t *message = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
	const char *type = json_string_value(json_object_get(message, "type"));
	enum starling_event event;
	if (type == NULL)
		event = garbled(h);
	else if (strcmp(type, "error") == 0)
		event = take_text(h, message, STARLING_ERROR);
	else if (strcmp(type, "joined") == 0)
		event = take_joined(h, message);
	else if (h->stage != JOINED)
		event = garbled(h);
	else if (strcmp(type, "train") == 0)
		event = take_train(h, message);
	else if (strcmp(type, "mean") == 0)
		event = take_mean(h, message);
	else if (strcmp(type, "waiting") == 0)
		event = take_text(h, message, STARLING_WAITING);
	else if (strcmp(type, "refused") == 0)
		event = take_text(h, message, STARLING_REFUSED);
	else
		event = strcmp(type, "done") == 0 ? STARLING_DONE : garbled(h);
	json_decref(message);
	if (event == STARLING_REFUSED)
		h->asked = true;
	if (event == STARLING_DONE)
		h->done = true;
	return event == STARLING_ERROR && h->stage != FAILED ? fail(h) : event;
}

/* ---- joining ---- */

static const char *const dtypes[] = {"float32", "float64", "int64"};
static const size_t sizes[] = {4, 8, 8};

/* Return the description of a tensor; NULL: the text says what is wrong. */
static json_t *describe(struct handle *h, const struct starling_tensor *t)
{
	uint64_t elements = 1;
	if (t->name == NULL || *t->name == '\0' || strlen(t->name) > NAME_BYTES_MAX) {
		set_text(h, "a tensor needs a name of 1 to %u bytes", NAME_BYTES_MAX);
		return NULL;
	}
	if ((unsigned)t->dtype > STARLING_INT64 || t->dimensions > DIMENSIONS_MAX) {
		set_text(h, "%s: unknown dtype, or more than %u dimensions", t->name, DIMENSIONS_MAX);
		return NULL;
	}
	json_t *shape = json_array();
	for (unsigned d = 0; d < t->dimensions; d++) {
		json_array_append_new(shape, json_integer((json_int_t)t->shape[d]));
		if (__builtin_mul_overflow(elements, t->shape[d], &elements))
			elements = UINT64_MAX;
	}
	h->base.elements += elements <= ELEMENTS_MAX ? elements : ELEMENTS_MAX + 1;
	h->base.bytes = h->base.elements <= ELEMENTS_MAX ? h->base.bytes + sizes[t->dtype] * elements : 0;
	json_t *entry = json_pack("{s:s, s:o, s:s, s:o*}", "name", t->name, "shape", shape, "dtype",
				  dtypes[t->dtype], "nonnegative", t->nonnegative ? json_true() : NULL);
	if (entry == NULL)
		set_text(h, "the name of a tensor is not UTF-8");
	return entry;
}

static bool describe_all(struct handle *h, json_t *list, const struct starling_tensor *tensors, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		json_t *entry = describe(h, &tensors[i]);
		if (entry == NULL)
			return false;
		json_array_append_new(list, entry);
		if (h->base.elements > ELEMENTS_MAX)
			break;
	}
	if (h->base.elements == 0 || h->base.elements > ELEMENTS_MAX)
		set_text(h, "a model has 1 to %llu elements", (unsigned long long)ELEMENTS_MAX);
	return h->base.elements > 0 && h->base.elements <= ELEMENTS_MAX;
}

static bool add_metrics(struct handle *h, const char *const *names)
{
	json_t *list = json_array();
	for (; names != NULL && names[h->metric_count] != NULL; h->metric_count++)
		if (json_array_append_new(list, json_string(names[h->metric_count])) != 0)
			set_text(h, "the name of a metric is not UTF-8");
	h->metrics = calloc(h->metric_count + 1, sizeof *h->metrics);
	for (size_t i = 0; h->metrics != NULL && i < h->metric_count; i++)
		h->metrics[i] = (double)NAN;
	h->base.metrics = h->metrics;
	json_object_set_new(h->join, "metrics", list);
	return h->metrics != NULL && h->base.text == NULL;
}

static bool fits_a_line(struct handle *h)
{
	size_t bytes = json_dumpb(h->join, NULL, 0, JSON_COMPACT);
	if (bytes >= SL_CONNECTION_LINE_BYTES_MAX) /* a newline follows */
		set_text(h,
			 "the tensors' description has %zu bytes, at most 32 MiB: fewer tensors, or shorter "
			 "names",
			 bytes);
	return bytes < SL_CONNECTION_LINE_BYTES_MAX;
}

/* Prepare the handle; the text says what is wrong. */
static bool prepare(struct handle *h, const char *path, const struct starling_tensor *tensors, size_t count,
		    const char *const *metrics, enum starling_values values)
{
	json_t *list = json_array();
	h->join = json_pack("{s:s, s:i, s:o, s:s, s:s*}", "type", "join", "version", VERSION, "tensors", list,
			    "values", values == STARLING_MODEL ? "model" : "update", "token",
			    getenv("STARLING_TOKEN"));
	if (path == NULL)
		path = getenv("STARLING_SOCKET");
	path = path != NULL ? path : "";
	if (sl_connection_open(&h->link, path) < 0 || h->join == NULL) {
		set_text(h, "cannot join %s: %s", path, strerror(errno));
		return false;
	}
	if (*path == '\0') {
		set_text(h, "STARLING_SOCKET is not set: start this program by `starling launch -- ...`, or "
			    "name the socket of a learner");
		return false;
	}
	return describe_all(h, list, tensors, count) && add_metrics(h, metrics) && fits_a_line(h);
}

void starling_initial(struct starling *s, const void *model)
{
	struct handle *h = owned(s);
	h->initial = model;
	json_object_set_new(h->join, "initial", json_true());
}

struct starling *starling_join(const char *path, const struct starling_tensor *tensors, size_t count,
			       const char *const *metrics, enum starling_values values)
{
	struct handle *h = calloc(1, sizeof *h);
	if (h == NULL)
		return NULL;
	h->base.decimals = -1;
	h->since_ms = now_ms();
	h->invalid = !prepare(h, path, tensors, count, metrics, values);
	sl_connection_set_timer(&h->link, 1, RETRY_MS); /* the first event comes from starling_next */
	return &h->base;
}

void starling_leave(struct starling *s)
{
	if (s == NULL)
		return;
	struct handle *h = owned(s);
	sl_connection_close(&h->link);
	if (s->up != NULL)
		munmap(s->up, s->bytes);
	if (s->down != NULL)
		munmap((void *)s->down, s->bytes);
	json_decref(h->join);
	free(h->metrics);
	free(h);
}

/* ---- events ---- */

int starling_fd(const struct starling *s)
{
	return ((const struct handle *)s)->link.epoll;
}

enum starling_event starling_next(struct starling *s)
{
	struct handle *h = owned(s);
	bool lost = false;
	if (h->invalid)
		fail(h);
	if (h->stage == FAILED)
		return STARLING_ERROR;
	if (h->done)
		return STARLING_DONE;
	s->text = NULL;
	const char *line = h->link.socket >= 0 ? sl_connection_line(&h->link, &lost) : NULL;
	if (line != NULL)
		return take_line(h, line);
	return lost ? lose(h) : tick(h);
}

enum starling_event starling_wait(struct starling *s, int timeout_ms)
{
	int64_t end = now_ms() + timeout_ms;
	for (;;) {
		enum starling_event event = starling_next(s);
		int64_t left = timeout_ms < 0 ? -1 : end - now_ms();
		if (event != STARLING_NONE || (timeout_ms >= 0 && left <= 0))
			return event;
		poll(&(struct pollfd){.fd = starling_fd(s), .events = POLLIN}, 1, (int)left);
	}
}

/* Return the finite `values` by name: JSON has no NaN and no infinity. */
static json_t *metrics_of(const struct handle *h, const double *values)
{
	json_t *metrics = json_object(), *name;
	size_t i;
	json_array_foreach(json_object_get(h->join, "metrics"), i, name)
	{
		if (values != NULL && isfinite(values[i]))
			json_object_set_new(metrics, json_string_value(name), json_real(values[i]));
	}
	return metrics;
}

int starling_trained(struct starling *s, uint64_t weight, const double *metrics)
{
	struct handle *h = owned(s);
	if (!h->asked)
		return -1;
	json_t *message = json_pack("{s:s, s:I, s:I, s:o}", "type", "trained", "round", (json_int_t)s->round,
				    "weight", (json_int_t)weight, "metrics", metrics_of(h, metrics));
	h->asked = false;
	send_message(h, message);
	json_decref(message);
	return 0;
}

/* ---- a loop over the rounds ---- */

/* Wait for an event other than JOINED and LOST; print the text of WAITING and go on. */
static enum starling_event await(struct starling *s)
{
	for (;;) {
		enum starling_event event = starling_wait(s, -1);
		if (event == STARLING_WAITING)
			fprintf(stderr, "starling: %s\n", s->text);
		else if (event != STARLING_JOINED && event != STARLING_LOST)
			return event;
	}
}

uint32_t starling_round(struct starling *s, void *model)
{
	struct handle *h = owned(s);
	enum starling_event event = STARLING_NONE;
	while (!h->asked && event != STARLING_DONE && event != STARLING_ERROR)
		event = await(s);
	if (event == STARLING_ERROR)
		return 0;
	if (s->committed > 0)
		memcpy(model, s->down, s->bytes);
	return h->asked ? s->round : 0;
}

enum starling_event starling_average(struct starling *s, void *model, uint64_t weight, const double *metrics)
{
	uint32_t tried = s->round;
	enum starling_event event = STARLING_TRAIN;
	if (!owned(s)->asked) {
		set_text(owned(s), "starling_average was called before starling_round");
		return STARLING_ERROR;
	}
	do {
		if (event ==
		    STARLING_TRAIN) { /* also of a learner that was started again without the vector */
			memcpy(s->up, model, s->bytes);
			starling_trained(s, weight, metrics);
		}
		event = await(s);
		if (event != STARLING_MEAN && event != STARLING_TRAIN)
			return event;
	} while (s->committed < tried && (event == STARLING_MEAN || !s->again));
	const void *base = owned(s)->initial; /* with dp: what sums are added to */
	if (s->committed > 0)
		memcpy(model, s->down, s->bytes);
	else if (s->dp != STARLING_EXACT && base != NULL)
		memcpy(model, base, s->bytes);
	return s->committed >= tried ? STARLING_MEAN : STARLING_TRAIN;
}
