/* libstarling, beside a learner that follows a script. */
#include "test/lib/folder.h"
#include "test/lib/test.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "tools/libstarling/starling.h"

#define DEADLINE_MS 600000 /* ends a test that hangs */
#define NAME_BYTES 100	   /* with its end, of a long name */
#define BYTES 20u	   /* of the tensors below */

static const uint64_t shape[] = {3};
static const struct starling_tensor tensors[] = {{"count", STARLING_INT64, 0, NULL, 0},
						 {"w", STARLING_FLOAT32, 1, shape, 0}};
static const char *const metrics[] = {"loss", "accuracy", NULL};

static time_t ahead; /* seconds: of the library's clock */

int clock_gettime(clockid_t clock, struct timespec *now)
{
	long rc = syscall(SYS_clock_gettime, clock, now);
	now->tv_sec += ahead;
	return (int)rc;
}

/* ---- a scripted learner ---- */

struct learner {
	void *folder;
	char path[108];
	int listener, peer;
	FILE *lines;
	size_t bytes; /* of its shared memory */
	int seals;
	size_t shared; /* of its descriptors, the number that is sent */
	int fds[2];
	char *up, *down;
	bool initial; /* the program states a model before training */
};

static void learner_open(struct learner *l)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	*l = (struct learner){.peer = -1, .bytes = BYTES, .seals = F_SEAL_SHRINK, .shared = 2};
	folder_setup(&l->folder);
	snprintf(l->path, sizeof l->path, "%s", folder_path(l->folder, "a.sock"));
	memcpy(address.sun_path, l->path, sizeof address.sun_path);
	l->listener = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(l->listener, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(l->listener, 4), 0);
}

static void learner_drop(struct learner *l)
{
	if (l->peer < 0)
		return;
	fclose(l->lines);
	munmap(l->up, l->bytes);
	munmap(l->down, l->bytes);
	close(l->fds[0]);
	close(l->fds[1]);
	l->peer = -1;
}

static void learner_close(struct learner *l)
{
	learner_drop(l);
	close(l->listener);
	folder_teardown(&l->folder);
}

/* Expect a line of exactly these bytes. */
static void expect(struct learner *l, const char *text)
{
	char line[4096];
	assert_non_null(fgets(line, sizeof line, l->lines));
	line[strcspn(line, "\n")] = '\0';
	assert_string_equal(line, text);
}

static void tell(struct learner *l, const char *text)
{
	assert_int_equal(send(l->peer, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

static char *share(int *fd, size_t bytes, int seals)
{
	*fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(*fd, (off_t)bytes), 0);
	assert_int_equal(fcntl(*fd, F_ADD_SEALS, seals), 0);
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	assert_true(memory != MAP_FAILED);
	return memory;
}

static void send_with_fds(struct learner *l, const char *text)
{
	union {
		struct cmsghdr aligned;
		char bytes[CMSG_SPACE(sizeof l->fds)];
	} control = {0};
	struct iovec part = {(void *)text, strlen(text)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof control.bytes};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(l->shared * sizeof *l->fds);
	message.msg_controllen = CMSG_SPACE(l->shared * sizeof *l->fds);
	memcpy(CMSG_DATA(header), l->fds, l->shared * sizeof *l->fds);
	assert_int_equal(sendmsg(l->peer, &message, MSG_NOSIGNAL), (ssize_t)part.iov_len);
}

#define JOIN                                                                                                 \
	"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"count\",\"shape\":[],\"dtype\":"          \
	"\"int64\"},"                                                                                        \
	"{\"name\":\"w\",\"shape\":[3],\"dtype\":\"float32\"}],\"values\":\"update\",\"metrics\":[\"loss\"," \
	"\"accuracy\"]"
#define JOINED(bytes) "{" JOINED_FIELDS(bytes)
#define JOINED_FIELDS(bytes)                                                                                 \
	"\"type\":\"joined\",\"version\":1,\"learner\":7,\"name\":\"g\",\"learners\":3,\"rounds\":2,"        \
	"\"elements\":4,\"bytes\":" bytes ",\"clipping_range\":null,\"decimals\":null,\"weighted\":true}"

/* Accept a connection, expect the join and send the answer, in two parts. */
static void answer(struct learner *l, const char *joined)
{
	l->peer = accept(l->listener, NULL, NULL);
	assert_true(l->peer >= 0);
	l->lines = fdopen(l->peer, "r");
	assert_non_null(l->lines);
	expect(l, l->initial ? JOIN ",\"initial\":true}" : JOIN "}");
	l->up = share(&l->fds[0], l->bytes, l->seals);
	l->down = share(&l->fds[1], l->bytes, l->seals);
	send_with_fds(l, joined);
	tell(l, "\n");
}

static void train(struct learner *l, int round, int committed, bool again)
{
	char text[128];
	snprintf(text, sizeof text,
		 "{\"type\":\"train\",\"round\":%d,\"committed\":%d,\"again\":%s,\"unknown\":[]}\n", round,
		 committed, again ? "true" : "false");
	tell(l, text);
}

static void expect_trained(struct learner *l, int round, int weight)
{
	char text[128];
	snprintf(text, sizeof text, "{\"type\":\"trained\",\"round\":%d,\"weight\":%d,\"metrics\":{}}", round,
		 weight);
	expect(l, text);
}

/* Set the last float of the mean. */
static void put_down(struct learner *l, float value)
{
	memcpy(l->down + BYTES - sizeof value, &value, sizeof value);
}

static float last_of(const void *vector)
{
	float value;
	memcpy(&value, (const char *)vector + BYTES - sizeof value, sizeof value);
	return value;
}

static void expect_event(struct starling *s, enum starling_event event)
{
	assert_int_equal(starling_wait(s, DEADLINE_MS), event);
}

/* Join, answer, and return the first event after that. */
static enum starling_event joined_by(struct learner *l, struct starling **s, const char *joined)
{
	*s = starling_join(l->path, tensors, 2, metrics, STARLING_UPDATE);
	assert_int_equal(starling_wait(*s, 10), STARLING_NONE); /* the join is sent */
	answer(l, joined);
	return starling_wait(*s, DEADLINE_MS);
}

/* ---- events ---- */

/* The model before training is sent if the learner asks for it, and not else. */
TEST(initial_model)
{
	for (int asks = 0; asks < 2; asks++) {
		struct learner l;
		char model[BYTES] = "a model of 20 bytes";
		learner_open(&l);
		l.initial = true;
		struct starling *s = starling_join(l.path, tensors, 2, metrics, STARLING_UPDATE);
		starling_initial(s, model);
		assert_int_equal(starling_wait(s, 10), STARLING_NONE);
		answer(&l, asks ? "{\"initial\":true," JOINED_FIELDS("20") : JOINED("20"));
		expect_event(s, STARLING_JOINED);
		if (asks) {
			expect(&l, "{\"type\":\"initial\"}");
			assert_memory_equal(l.up, model, BYTES);
		}
		train(&l, 1, 0, false);
		expect_event(s, STARLING_TRAIN);
		assert_int_equal(starling_trained(s, 3, NULL), 0);
		expect_trained(&l, 1, 3);
		starling_leave(s);
		learner_close(&l);
	}
}

#define TERMS(unit, clip)                                                                                    \
	"{\"dp\":{\"unit\":\"" unit "\",\"clip\":" clip                                                      \
	",\"noise\":1.5,\"sampling\":0.25,\"delta\":0.001,\"epsilon\":null}," JOINED_FIELDS("20")
#define PRIVATE(unit) TERMS(unit, "0.5")

/* The noise of a mean is known from the message on that tells it, up to a mean that was not heard of. */
TEST(terms_of_differential_privacy)
{
	struct learner l;
	struct starling *s;
	learner_open(&l);
	assert_int_equal(joined_by(&l, &s, PRIVATE("record")), STARLING_JOINED);
	assert_true(s->dp == STARLING_RECORD && s->clip == 0.5 && s->sampling == 0.25);
	assert_true(s->delta == 0.001 && s->epsilon == 0 && s->noise_of_clip == 1.5);
	assert_true(isnan(s->noise) && isnan(s->spent));
	tell(&l, "{\"type\":\"mean\",\"round\":1,\"learners\":3,\"total_weight\":3,\"noise\":0.125,"
		 "\"spent\":2.5}\n");
	expect_event(s, STARLING_MEAN);
	assert_true(s->noise == 0.125 && s->spent == 2.5);
	train(&l, 2, 1, false);
	expect_event(s, STARLING_TRAIN);
	assert_true(s->noise == 0.125);
	train(&l, 4, 3, false);
	expect_event(s, STARLING_TRAIN);
	assert_true(isnan(s->noise) && s->spent == 2.5);
	starling_leave(s);
	learner_close(&l);

	learner_open(&l);
	assert_int_equal(joined_by(&l, &s, PRIVATE("learner")), STARLING_JOINED);
	assert_true(s->dp == STARLING_LEARNER);
	starling_leave(s);
	learner_close(&l);

	learner_open(&l);
	assert_int_equal(joined_by(&l, &s, PRIVATE("ward")), STARLING_ERROR);
	starling_leave(s);
	learner_close(&l);
}

TEST(a_round_as_events)
{
	struct learner l;
	struct starling *s;
	learner_open(&l);
	assert_int_equal(joined_by(&l, &s, JOINED("20")), STARLING_JOINED);
	assert_true(s->elements == 4 && s->bytes == BYTES);
	assert_true(s->learner == 7 && s->learners == 3 && s->rounds == 2);
	assert_string_equal(s->name, "g");
	assert_true(s->weighted && s->decimals == -1 && s->clipping_range == 0);
	assert_true(s->dp == STARLING_EXACT && s->clip == 0 && s->noise == 0 && s->spent == 0);
	assert_int_equal(starling_next(s), STARLING_NONE);
	assert_int_equal(starling_trained(s, 1, NULL), -1);

	struct pollfd readable = {.fd = starling_fd(s), .events = POLLIN};
	assert_int_equal(poll(&readable, 1, 0), 0);
	train(&l, 1, 0, false);
	assert_int_equal(poll(&readable, 1, DEADLINE_MS), 1);
	expect_event(s, STARLING_TRAIN);
	assert_true(s->round == 1 && s->committed == 0 && !s->again);
	memcpy(s->up, "the vector of shape", BYTES);
	assert_int_equal(starling_trained(s, 600, (const double[]){0.5, NAN}), 0);
	assert_int_equal(starling_trained(s, 600, NULL), -1); /* once */
	expect(&l, "{\"type\":\"trained\",\"round\":1,\"weight\":600,\"metrics\":{\"loss\":0.5}}");
	assert_memory_equal(l.up, "the vector of shape", BYTES);

	tell(&l, "{\"type\":\"waiting\",\"text\":\"for b\"}\n"
		 "{\"type\":\"refused\",\"round\":1,\"text\":\"not a number\"}\n");
	expect_event(s, STARLING_WAITING);
	assert_string_equal(s->text, "for b");
	expect_event(s, STARLING_REFUSED);
	assert_string_equal(s->text, "not a number");
	assert_int_equal(starling_trained(s, 600, NULL), 0);
	expect_trained(&l, 1, 600);

	put_down(&l, 2.5F);
	tell(&l, "{\"type\":\"mean\",\"round\":1,\"learners\":3,\"total_weight\":1800,\"decimals\":5,"
		 "\"clipping_range\":2.0,\"metrics\":{\"loss\":0.25}}\n");
	train(&l, 2, 1, true);
	expect_event(s, STARLING_MEAN);
	assert_true(s->committed == 1 && s->participants == 3 && s->total_weight == 1800);
	assert_true(s->decimals == 5 && s->clipping_range == 2.0);
	assert_true(s->metrics[0] == 0.25 && isnan(s->metrics[1]));
	assert_true(last_of(s->down) == 2.5F && s->text == NULL);
	expect_event(s, STARLING_TRAIN);
	assert_true(s->round == 2 && s->again && s->participants == 3);
	tell(&l, "{\"type\":\"done\"}\n");
	expect_event(s, STARLING_DONE);
	expect_event(s, STARLING_DONE);
	starling_leave(s);
	learner_close(&l);
}

TEST(a_learner_that_comes_back)
{
	struct learner l;
	struct starling *s;
	learner_open(&l);
	assert_int_equal(joined_by(&l, &s, JOINED("20")), STARLING_JOINED);
	train(&l, 1, 0, false);
	expect_event(s, STARLING_TRAIN);
	memcpy(s->up, "the vector of shape", BYTES);
	void *up = s->up;
	const void *down = s->down;
	int fd = starling_fd(s);
	learner_drop(&l);
	expect_event(s, STARLING_LOST);
	assert_int_equal(starling_trained(s, 1, NULL), -1);

	assert_int_equal(starling_wait(s, 10), STARLING_NONE);
	answer(&l, JOINED("20"));
	train(&l, 4, 3, false);
	expect_event(s, STARLING_JOINED);
	assert_ptr_equal(s->up, up);
	assert_ptr_equal(s->down, down);
	assert_int_equal(starling_fd(s), fd);
	assert_memory_equal(l.up, "the vector of shape",
			    BYTES); /* kept, and where the new learner reads it */
	put_down(&l, 1.5F);
	expect_event(s, STARLING_TRAIN);
	assert_true(last_of(s->down) == 1.5F && s->committed == 3 && s->participants == 0);
	starling_leave(s);
	learner_close(&l);
}

TEST(a_learner_that_is_not_there_yet)
{
	struct learner l;
	char path[sizeof l.path + 8];
	learner_open(&l);
	snprintf(path, sizeof path, "%s.later", l.path);
	struct starling *s = starling_join(path, tensors, 2, metrics, STARLING_UPDATE);
	assert_int_equal(starling_wait(s, 10), STARLING_NONE);
	assert_int_equal(rename(l.path, path), 0);
	for (int tries = 0; poll(&(struct pollfd){.fd = l.listener, .events = POLLIN}, 1, 10) == 0; tries++) {
		assert_true(tries < 2000);
		assert_int_equal(starling_next(s), STARLING_NONE);
	}
	answer(&l, JOINED("20"));
	expect_event(s, STARLING_JOINED);
	starling_leave(s);
	learner_close(&l);
}

TEST(a_learner_that_ends_each_connection)
{
	struct learner l;
	learner_open(&l);
	struct starling *s = starling_join(l.path, tensors, 2, metrics, STARLING_UPDATE);
	ahead = 5;
	for (int tries = 0; tries < 3; tries++) { /* it is said once in 5 s */
		for (int i = 0; poll(&(struct pollfd){.fd = l.listener, .events = POLLIN}, 1, 0) == 0; i++) {
			assert_true(i < 1000);
			assert_int_equal(starling_wait(s, 10), STARLING_NONE);
		}
		int peer = accept(l.listener, NULL, NULL);
		assert_true(peer >= 0);
		close(peer);
		assert_int_equal(starling_wait(s, 100), tries == 0 ? STARLING_WAITING : STARLING_NONE);
	}
	ahead = 0;
	starling_leave(s);
	learner_close(&l);
}

/* ---- what cannot be used ---- */

TEST(answers_that_cannot_be_used)
{
	static const struct {
		const char *joined, *text;
		size_t bytes, shared;
		int seals;
	} cases[] = {
		{"{\"type\":\"error\",\"text\":\"another application\"}", "another application", BYTES, 2,
		 F_SEAL_SHRINK},
		{"{\"type\":\"train\",\"round\":1,\"committed\":0,\"again\":false}",
		 "does not speak version 1", BYTES, 2, F_SEAL_SHRINK},
		{"{\"type\":\"joined\",\"version\":1}", "does not speak version 1", BYTES, 2, F_SEAL_SHRINK},
		{"garbage", "does not speak version 1", BYTES, 2, F_SEAL_SHRINK},
		{JOINED("16"), "takes 16 bytes, not 20", BYTES, 2, F_SEAL_SHRINK},
		{JOINED("20"), "less memory than the 20 bytes", BYTES - 1, 2, F_SEAL_SHRINK},
		{JOINED("20"), "sent 1 pieces of shared memory, not 2", BYTES, 1, F_SEAL_SHRINK},
		{JOINED("20"), "not sealed against shrinking", BYTES, 2, F_SEAL_GROW},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct learner l;
		struct starling *s;
		learner_open(&l);
		l.bytes = cases[i].bytes;
		l.shared = cases[i].shared;
		l.seals = cases[i].seals;
		assert_int_equal(joined_by(&l, &s, cases[i].joined), STARLING_ERROR);
		assert_non_null(strstr(s->text, cases[i].text));
		assert_int_equal(starling_next(s), STARLING_ERROR);
		starling_leave(s);
		learner_close(&l);
	}
}

TEST(a_line_without_end)
{
	struct learner l;
	struct starling *s;
	static char noise[1 << 14];
	enum starling_event event = STARLING_NONE;
	learner_open(&l);
	assert_int_equal(joined_by(&l, &s, JOINED("20")), STARLING_JOINED);
	memset(noise, ' ', sizeof noise);
	for (size_t sent = 0; sent < 1 << 26 && event == STARLING_NONE; sent += sizeof noise) {
		assert_int_equal(send(l.peer, noise, sizeof noise, MSG_NOSIGNAL), sizeof noise);
		event = starling_next(s);
	}
	assert_int_equal(event, STARLING_LOST);
	starling_leave(s);
	learner_close(&l);
}

TEST(joins_that_cannot_be_made)
{
	static const uint64_t large[] = {1 << 20, 1 << 21}, none[] = {0};
	static const char name[1025] = {[0 ... 1023] = 'n'};
	static const struct {
		const char *path;
		struct starling_tensor tensor;
		const char *text;
	} cases[] = {
		{NULL, {"w", STARLING_FLOAT32, 0, NULL, 0}, "STARLING_SOCKET is not set"},
		{"x", {"w", STARLING_FLOAT32, 2, large, 0}, "1 to 1073741824 elements"},
		{"x", {"w", STARLING_FLOAT32, 1, none, 0}, "1 to 1073741824 elements"},
		{"x", {name, STARLING_FLOAT32, 0, NULL, 0}, "a name of 1 to 1023 bytes"},
		{"x", {"\xff", STARLING_FLOAT32, 0, NULL, 0}, "not UTF-8"},
		{"x", {"w", STARLING_FLOAT32, 9, none, 0}, "more than 8 dimensions"},
		{"/dev/null/x", {"w", STARLING_FLOAT32, 0, NULL, 0}, "/dev/null/x: Not a directory"},
	};
	unsetenv("STARLING_SOCKET");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct starling *s = starling_join(cases[i].path, &cases[i].tensor, 1, NULL, STARLING_UPDATE);
		expect_event(s, STARLING_ERROR);
		assert_non_null(strstr(s->text, cases[i].text));
		starling_leave(s);
	}
}

TEST(a_description_that_is_too_long)
{
	static struct starling_tensor many[40000];
	static char names[40000][1000];
	for (size_t i = 0; i < 40000; i++) {
		snprintf(names[i], sizeof names[i], "%0*zu", (int)sizeof names[i] - 1, i);
		many[i] = (struct starling_tensor){names[i], STARLING_FLOAT32, 0, NULL, 0};
	}
	struct starling *s = starling_join("x", many, 40000, NULL, STARLING_UPDATE);
	expect_event(s, STARLING_ERROR);
	assert_non_null(strstr(s->text, "the tensors' description has "));
	assert_non_null(strstr(s->text, " bytes, at most 32 MiB"));
	starling_leave(s);
}

/* ---- a loop over the rounds ---- */

static void *play(void *argument)
{
	struct learner *l = argument;
	answer(l, JOINED("20"));
	train(l, 1, 0, false);
	expect_trained(l, 1, 10);
	learner_drop(l);
	answer(l, JOINED("20"));
	train(l, 1, 0, false); /* it has lost the vector */
	expect_trained(l, 1, 10);
	assert_true(last_of(l->up) == 1.0F);
	train(l, 1, 0, true); /* and now it needs another one */
	expect_trained(l, 1, 11);
	put_down(l, 8.0F);
	tell(l, "{\"type\":\"mean\",\"round\":1,\"learners\":3,\"total_weight\":30}\n");
	train(l, 2, 1, false);
	expect_trained(l, 2, 12);
	learner_drop(l);
	answer(l, JOINED("20"));
	put_down(l, 9.0F);
	tell(l, "{\"type\":\"mean\",\"round\":2,\"learners\":3,\"total_weight\":30}\n{\"type\":\"done\"}\n");
	return NULL;
}

TEST(a_loop_over_the_rounds)
{
	static const struct {
		uint32_t round;
		float before;
		enum starling_event event;
		float after;
	} turns[] = {{1, 0, STARLING_TRAIN, 1}, {1, 1, STARLING_MEAN, 8}, {2, 8, STARLING_MEAN, 9}};
	struct learner l;
	pthread_t thread;
	char model[BYTES] = {0};
	float one = 1;
	learner_open(&l);
	struct starling *s = starling_join(l.path, tensors, 2, metrics, STARLING_UPDATE);
	assert_int_equal(pthread_create(&thread, NULL, play, &l), 0);
	assert_int_equal(starling_average(s, model, 1, NULL), STARLING_ERROR); /* before starling_round */
	for (uint64_t i = 0; i < 3; i++) {
		assert_int_equal(starling_round(s, model), turns[i].round);
		assert_true(last_of(model) == turns[i].before);
		memcpy(model + BYTES - sizeof one, &one, sizeof one);
		assert_int_equal(starling_average(s, model, 10 + i, NULL), turns[i].event);
		assert_true(last_of(model) == turns[i].after);
	}
	assert_int_equal(starling_round(s, model), 0);
	assert_null(s->text);
	pthread_join(thread, NULL);
	starling_leave(s);
	learner_close(&l);
}

static void *play_other_terms(void *argument)
{
	struct learner *l = argument;
	for (int i = 0; i < 3; i++, learner_drop(l)) {
		if (i == 2) { /* it is started again, before it asks */
			answer(l, TERMS("record", "0.25"));
			learner_drop(l);
		}
		answer(l, i < 2 ? TERMS("record", "0.5") : TERMS("record", "0.25"));
		train(l, 1, 0, false);
		expect_trained(l, 1, i < 2 ? 10 : 11);
	}
	answer(l, TERMS("record", "0.25"));
	tell(l, "{\"type\":\"done\"}\n");
	return NULL;
}

/* A sum of records that was made for another clip is not given: it is made again, from the model before. */
TEST(other_terms_of_records)
{
	char before[BYTES] = "a model of 20 bytes", model[BYTES];
	pthread_t thread;
	struct learner l;
	learner_open(&l);
	l.initial = true;
	struct starling *s = starling_join(l.path, tensors, 2, metrics, STARLING_UPDATE);
	starling_initial(s, before);
	assert_int_equal(pthread_create(&thread, NULL, play_other_terms, &l), 0);
	memcpy(model, before, BYTES);
	for (uint64_t weight = 10; weight < 12; weight++) {
		assert_int_equal(starling_round(s, model), 1);
		assert_memory_equal(model, before, BYTES);
		model[19] = 'X';
		assert_int_equal(starling_average(s, model, weight, NULL),
				 weight == 10 ? STARLING_TRAIN : STARLING_DONE);
	}
	pthread_join(thread, NULL);
	starling_leave(s);
	learner_close(&l);
}
