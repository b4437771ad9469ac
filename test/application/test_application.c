/* The socket of an application, driven by a scripted one. */
#include "test/application/client.h"
#include "test/application/learner.h"
#include "test/lib/folder.h"

#include "daemon/application/conversation.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TEST_WITH(a_run_of_two_rounds, folder_setup, folder_teardown)
{
	struct client c;
	struct stat st;
	learner_begin(&c, *state);
	assert_int_equal(stat(folder_path(*state, "a.sock"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	for (sl_round t = 1; t <= 2; t++) {
		train_begin(t, false);
		client_hear(&c, t == 1 ? "{\"type\":\"train\",\"round\":1,\"committed\":0,\"learners\":0,"
					 "\"total_weight\":0,\"again\":false}"
				       : "{\"type\":\"train\",\"round\":2,\"committed\":1,\"learners\":2,"
					 "\"total_weight\":70,\"again\":false}");
		c.up[0] = (float)t + 0.5f;
		client_tell(
			&c,
			t == 1 ? "{\"type\":\"trained\",\"round\":1,\"weight\":50,\"metrics\":{\"loss\":2.5}}"
			       : "{\"type\":\"trained\",\"round\":2,\"weight\":100}");
		train_end((float)t + 0.5f, t == 1 ? 50 : 100);
		assert_true(t == 1 ? learner.result.loss == 2.5 : isnan(learner.result.loss));
		learner.trainer->ops->notice(learner.trainer, "waiting for ana");
		client_hear(&c, "{\"type\":\"waiting\",\"text\":\"waiting for ana\"}");
		show(t, (float)t);
		client_hear(&c,
			    t == 1 ? "{\"type\":\"mean\",\"round\":1,\"learners\":2,\"total_weight\":70,"
				     "\"cut\":3,\"decimals\":4,"
				     "\"clipping_range\":16.0}"
				   : "{\"type\":\"mean\",\"round\":2,\"learners\":2,\"total_weight\":70,");
		assert_true(c.down[N - 1] == (float)t);
	}
	client_hear(&c, "{\"type\":\"done\"}");
	learner_end(&c);
	assert_int_equal(folder_count(*state), 0);
}

TEST_WITH(an_unusable_vector_is_refused_by_name, folder_setup, folder_teardown)
{
	struct client c;
	learner_begin(&c, *state);
	train_ask(&c);
	c.up[3] = NAN;
	client_expect_refused(
		&c, "w[1,1] is not a finite number: the training "
		    "has diverged, or it is a constant, such as a mask: leave it out of the model\"}");
	c.up[3] = 0;
	c.up[4] = -16.5f;
	client_expect_refused(&c, "b is -16.5, beyond clipping_range 16");
	c.up[4] = -16;
	client_tell(&c, "{\"type\":\"trained\",\"round\":1,\"weight\":0}");
	train_end(0, 0);
	learner_end(&c);
}

/* What is wrong with `trained`, its rest after the type, does not end the connection. */
TEST_WITH(a_bad_weight_or_round_is_refused, folder_setup, folder_teardown)
{
	static const struct {
		const char *rest, *round, *text;
	} cases[] = {
		{"\"round\":1,\"weight\":101", "1",
		 "the weight is not a whole number from 0 to max_weight, 100"},
		{"\"round\":1,\"weight\":-1", "1", "the weight is not"},
		{"\"round\":1,\"weight\":1.5", "1", "the weight is not"},
		{"\"round\":1,\"weight\":9223372036854775808", "1", "the weight is not"},
		{"\"round\":1,\"weight\":1e300", "1", "the weight is not"},
		{"\"round\":1,\"weight\":\"5\"", "1", "the weight is not"},
		{"\"round\":1,\"weight\":null", "1", "the weight is not"},
		{"\"round\":2", "2", "no vector is awaited for this round"},
		{"\"round\":0", "0", "no vector is awaited for this round"},
		{"\"round\":-1", "0", "no vector is awaited for this round"},
		{"\"round\":1.5", "0", "no vector is awaited for this round"},
		{"\"round\":\"1\"", "0", "no vector is awaited for this round"},
		{"\"round\":1e300", "0", "no vector is awaited for this round"},
		{"\"weight\":1", "0", "no vector is awaited for this round"},
	};
	struct client c;
	char line[256];
	learner_begin(&c, *state);
	train_ask(&c);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		snprintf(line, sizeof line, "{\"type\":\"trained\",%s}", cases[i].rest);
		client_tell(&c, line);
		snprintf(line, sizeof line, "{\"type\":\"refused\",\"round\":%s,\"text\":\"%s",
			 cases[i].round, cases[i].text);
		client_hear(&c, line);
	}
	learner.settings.max_weight = 1;
	client_tell(&c, "{\"type\":\"trained\",\"round\":1,\"weight\":0}");
	client_hear(
		&c,
		"{\"type\":\"refused\",\"round\":1,\"text\":\"the weight is not a whole number from 1 to");
	client_tell(&c, "{\"type\":\"trained\",\"round\":1}");
	train_end(0, 1);
	client_expect_refused(&c, "no vector is awaited");
	learner_end(&c);
}

TEST_WITH(metrics_that_cannot_be_used_are_left_out, folder_setup, folder_teardown)
{
	struct client c;
	char line[4096] =
		"{\"type\":\"trained\",\"round\":1,\"metrics\":{\"\":1,\"text\":\"1\",\"accuracy\":0.5,",
	     *end;
	learner_begin(&c, *state);
	train_ask(&c);
	end = line + strlen(line);
	end += sprintf(end, "\"%064d\":1", 0); /* a name of 64 bytes */
	for (int i = 0; i < 64; i++)
		end += sprintf(end, ",\"m%d\":%d", i, i);
	strcpy(end, "}}");
	client_tell(&c, line);
	train_end(0, 1);
	assert_int_equal(json_object_size(learner.result.metrics), 64);
	assert_true(json_real_value(json_object_get(learner.result.metrics, "m62")) == 62);
	assert_null(json_object_get(learner.result.metrics, "m63"));
	assert_true(isnan(learner.result.loss));
	assert_non_null(strstr(learner.said, "warning: 4 metrics of the application are left out"));
	learner_end(&c);
}

#define OTHER "{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[2,3]}]}"

TEST_WITH(an_application_may_come_back, folder_setup, folder_teardown)
{
	struct client first, second, other;
	learner_begin(&first, *state);
	client_open(&other, socket_path(*state));
	client_hear(&other, "{\"type\":\"error\",\"text\":\"another application has joined this learner\"}");
	client_hear(&other, NULL);
	client_close(&other);
	train_begin(1, false);
	client_hear(&first, "{\"type\":\"train\"");
	client_close(&first);

	/* another model is taken, by another learner in this place, until the first one has been used */
	client_open(&other, socket_path(*state));
	client_tell(&other, OTHER);
	client_hear(&other, NULL);
	client_close(&other);
	assert_int_equal(learner.restarts, 1);
	sl_application_bind(learner.trainer);
	client_open(&other, socket_path(*state));
	client_tell(&other, OTHER);
	client_hear(&other, "{\"type\":\"error\",\"text\":\"this run has another model: tensor w is "
			    "float32 [2,2] there and float32 [2,3] here\"}");
	client_close(&other);
	assert_int_equal(learner.restarts, 1);

	client_join(&second, socket_path(*state), JOIN);
	client_hear(&second, "{\"type\":\"train\",\"round\":1,\"committed\":0,\"learners\":0,\"total_"
			     "weight\":0,\"again\":false}");
	client_tell(&second, "{\"type\":\"trained\",\"round\":1}");
	train_end(0, 1);
	client_close(&second); /* while the round is aggregated: nothing is asked for */

	client_join(&second, socket_path(*state), JOIN);
	train_begin(1, false); /* the model was invalidated */
	client_hear(&second, "{\"type\":\"train\",\"round\":1,\"committed\":0,\"learners\":0,\"total_"
			     "weight\":0,\"again\":true}");
	second.up[1] = 1;
	client_tell(&second, "{\"type\":\"trained\",\"round\":1}");
	train_end(0, 1);
	client_close(&second);
	show(2, 1); /* and the next one was caught up with */

	client_join(&second, socket_path(*state), JOIN);
	client_hear(&second, "{\"type\":\"mean\",\"round\":2");
	client_hear(&second, "{\"type\":\"done\"}");
	assert_true(second.down[0] == 1);
	learner_end(&second);
	const char *at = learner.said;
	static const char *const said[] = {"waiting for an application on ", "has joined; ", "has left; ",
					   "has joined; ", "has left; "};
	for (size_t i = 0; i < sizeof said / sizeof *said; i++)
		assert_non_null(at = strstr(at, said[i]));
}

/* A process that joins, and forks a child that holds the connection. Set *child; return the process. */
static pid_t join_and_fork(const char *path, pid_t *child)
{
	int ends[2];
	struct client c;
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		client_join(&c, path, JOIN);
		pid_t held = fork();
		alarm(600); /* should the test fail */
		if (held != 0 && write(ends[1], &held, sizeof held) != sizeof held)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ends[0], child, sizeof *child), sizeof *child);
	close(ends[0]);
	close(ends[1]);
	return pid;
}

/* The death of the application ends the conversation, whatever its children hold. */
TEST_WITH(a_forked_child_does_not_hold_the_conversation, folder_setup, folder_teardown)
{
	struct client c;
	pid_t child;
	learner_begin(&c, *state);
	client_close(&c);
	for (int i = 0; i < 3; i++) {
		pid_t pid = join_and_fork(socket_path(*state), &child);
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		client_join(&c, socket_path(*state), JOIN);
		client_close(&c);
		assert_int_equal(kill(child, SIGKILL), 0);
	}
	learner_close();
}

/* The next round may not have been asked for yet; nor is it later. */
TEST_WITH(the_application_ends_the_run, folder_setup, folder_teardown)
{
	struct client c;
	learner_begin(&c, *state);
	train_once(&c);
	show(1, 2);
	client_hear(&c, "{\"type\":\"mean\",\"round\":1");
	client_tell(&c, "{\"type\":\"stop\",\"round\":1}");
	client_hear(&c, "{\"type\":\"done\"}");
	assert_int_equal(learner.last, 1);
	atomic_store(&learner.stop, true);
	train_begin(2, false);
	pthread_join(learner.training, NULL);
	client_tell(&c, "{\"type\":\"trained\",\"round\":2}");
	client_hear(&c, "{\"type\":\"refused\",\"round\":2,\"text\":\"no vector is awaited");
	learner_end(&c);
}

/* The application hears of it once, after the mean of that round, whichever comes first. */
TEST_WITH(the_learner_ends_the_run, folder_setup, folder_teardown)
{
	struct client c;
	for (int early = 0; early < 2; early++) {
		learner_begin(&c, *state);
		train_once(&c);
		if (early)
			sl_application_end(learner.trainer, 1);
		show(1, 2);
		client_hear(&c, "{\"type\":\"mean\",\"round\":1");
		if (!early)
			sl_application_end(learner.trainer, 1);
		client_hear(&c, "{\"type\":\"done\"}");
		client_tell(&c, "{\"type\":\"trained\",\"round\":2}");
		client_hear(&c, "{\"type\":\"refused\",\"round\":2,\"text\":\"no vector is awaited");
		learner_end(&c);
	}
}

TEST_WITH(no_round_is_no_last_round, folder_setup, folder_teardown)
{
	struct client c;
	learner_begin(&c, *state);
	client_tell(&c, "{\"type\":\"stop\",\"round\":0}");
	client_hear(&c, "{\"type\":\"error\",\"text\":\"stop names the last committed round");
	learner_end(&c);
}

/* A line, and what is said to it. */
static const char *const bad_lines[][2] = {
	{"hello", "expected one JSON object per line"},
	{"[]", "expected one JSON object per line"},
	{"", "expected one JSON object per line"},
	{JOIN "x", "expected one JSON object per line"},
	{JOIN JOIN, "expected one JSON object per line"},
	{"{\"type\":\"trained\",\"round\":1}", "expected one JSON object per line: first join"},
	{"{\"type\":\"join\",\"version\":2}", "this learner speaks version 1 of the protocol: the "
					      "version in join is the number 1"},
	{"{\"type\":\"join\",\"version\":\"1\"}", "this learner speaks version 1 of the protocol: the"},
	{"{\"type\":\"join\",\"version\":1.5}", "this learner speaks version 1 of the protocol: the"},
	{"{\"type\":\"join\"}", "this learner speaks version 1 of the protocol: the"},
	{"{\"type\":\"join\",\"version\":1,\"other\":9223372036854775808}", "the model has no elements"},
	{"{\"type\":\"join\",\"version\":1}", "the model has no elements"},
	{"{\"type\":\"join\",\"version\":1,\"tensors\":[]}", "the model has no elements"},
	{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[0]}]}",
	 "the model has no elements"},
	{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[2000000000]}]}",
	 "a model has at most 1073741824 elements"},
	{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":"
	 "[9223372036854775807,9223372036854775807]}]}",
	 "a model has at most 1073741824 elements"},
	{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[40000,40000,0]}]}",
	 "a model has at most 1073741824 elements"},
	{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[0,40000,40000]}]}",
	 "the model has no elements"},
	{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[1,1,1,1,1,1,1,1,1]"
	 "}]}",
	 "tensor w: the shape is a list of at most 8 lengths"},
	{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[1.5]}]}",
	 "tensor w: the shape is a list of at most 8 lengths"},
	{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[40000,40000]}]}",
	 "a model has at most 1073741824 elements"},
	{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"\",\"shape\":[1]}]}",
	 "a tensor needs a name of 1 to 1023 bytes"},
	{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[-1]}]}", "tensor w:"},
	{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[1],\"nonnegative\":1}]}",
	 "tensor w: nonnegative is true or false"},
	{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[1]},{\"name\":"
	 "\"w\",\"shape\":[1]}]}",
	 "two tensors have the name w"},
	{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"__metadata__\",\"shape\":[1]}]}",
	 "a tensor cannot have the name __metadata__"},
	{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"metric:w\",\"shape\":[1]}]}",
	 "a tensor cannot have the name metric:w"},
	{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[1],\"dtype\":"
	 "\"float16\"}]}",
	 "tensor w: the dtype is float32, float64 or int64"},
	{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[1]},{\"name\":"
	 "\"d\","
	 "\"shape\":[1],\"dtype\":\"float64\"}]}",
	 "a tensor of float64 or int64 follows one of float32"},
	{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[2,2],\"dtype\":"
	 "\"float64\"},{\"name\":\"b\",\"shape\":[]}]}",
	 "this run has another model: tensor w is float32 [2,2] there and float64 [2,2] here"},
	{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[2,2]}]}",
	 "this run has another model: tensor b is there, and not here"},
};

TEST_WITH(bad_lines_end_the_connection, folder_setup, folder_teardown)
{
	struct client c, bad;
	learner_begin(&c, *state);
	sl_application_bind(learner.trainer);
	client_tell(&c, JOIN);
	client_hear(&c, "{\"type\":\"error\",\"text\":\"joined twice\"}");
	client_hear(&c, NULL);
	client_close(&c);
	for (size_t i = 0; i < sizeof bad_lines / sizeof bad_lines[0]; i++) {
		char expected[256];
		snprintf(expected, sizeof expected, "{\"type\":\"error\",\"text\":\"%s", bad_lines[i][1]);
		client_open(&bad, socket_path(*state));
		client_tell(&bad, bad_lines[i][0]);
		client_hear(&bad, expected);
		client_hear(&bad, NULL);
		client_close(&bad);
	}
	client_open(&c, socket_path(*state));
	assert_int_equal(send(c.fd, JOIN "\0x\n", sizeof JOIN + 2, MSG_NOSIGNAL), sizeof JOIN + 2);
	client_hear(&c, "{\"type\":\"error\",\"text\":\"expected one JSON object per line");
	client_close(&c);
	client_join(&c, socket_path(*state), JOIN);
	learner_end(&c);
}

TEST_WITH(a_line_without_an_end_is_not_kept, folder_setup, folder_teardown)
{
	struct client c, endless;
	static char bytes[1 << 16];
	learner_begin(&c, *state);
	client_close(&c);
	client_open(&endless, socket_path(*state));
	memset(bytes, ' ', sizeof bytes);
	size_t sent = 0;
	for (ssize_t n; sent < (80u << 20) && (n = send(endless.fd, bytes, sizeof bytes, MSG_NOSIGNAL)) > 0;)
		sent += (size_t)n;
	assert_true(sent < (80u << 20));
	client_hear(&endless, "{\"type\":\"error\",\"text\":\"a line has at most 32 MiB");
	client_close(&endless);
	client_join(&c, socket_path(*state), JOIN);
	learner_end(&c);
}

/* It ends the connection when it is complete: many applications listen only then. */
TEST_WITH(a_line_that_is_too_long_is_answered, folder_setup, folder_teardown)
{
	static const size_t sizes[] = {(32 << 20) - 1, 32 << 20, 40 << 20}; /* without the newline */
	struct client c;
	learner_begin(&c, *state);
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		char *line = malloc(sizes[i] + 1);
		memset(line, ' ', sizes[i]);
		strcpy(line + sizes[i] - strlen(JOIN), JOIN);
		client_close(&c);
		client_open(&c, socket_path(*state));
		client_tell(&c, line);
		client_hear(&c, i == 0 ? "{\"type\":\"joined\""
				       : "{\"type\":\"error\",\"text\":\"a line has at most 32 MiB");
		free(line);
	}
	client_hear(&c, NULL);
	learner_end(&c);
}

/* The leaving of one and the coming of the next are told apart, however fast they are. */
TEST_WITH(many_come_and_go, folder_setup, folder_teardown)
{
	struct client c;
	learner_begin(&c, *state);
	for (int i = 0; i < 500; i++) {
		client_close(&c);
		client_join(&c, socket_path(*state), JOIN);
	}
	learner_end(&c);
}

#define TENSORS "\"tensors\":[{\"name\":\"w\",\"shape\":[2,2]},{\"name\":\"b\",\"shape\":[]}]"

/* One line is handled at a time: in between, the other threads can have the mutex. */
TEST_WITH(a_flood_of_lines_is_taken_one_by_one, folder_setup, folder_teardown)
{
	struct client c;
	learner_begin(&c, *state);
	sl_application_stop(learner.trainer); /* the test serves */
	struct sl_application *a = (struct sl_application *)learner.trainer;
	for (int i = 0; i < 100; i++)
		client_tell(&c, "{\"type\":\"trained\",\"round\":7}");
	for (int i = 0; i < 100; i++) {
		char bytes[256];
		sl_conversation_serve(a, -1, 0);
		ssize_t size = recv(c.fd, bytes, sizeof bytes, MSG_DONTWAIT);
		assert_in_range(size, 1, sizeof bytes - 1);
		assert_ptr_equal(memchr(bytes, '\n', (size_t)size), &bytes[size - 1]); /* one answer */
	}
	learner_end(&c);
}

TEST_WITH(a_learner_that_waits_for_its_application_can_be_stopped, folder_setup, folder_teardown)
{
	learner_init(*state);
	learner_open_begin();
	atomic_store(&learner.stopped, true);
	pthread_join(learner.opening, NULL);
	assert_int_equal(learner.rc, SL_PENDING);
	assert_int_equal(folder_count(*state), 0); /* the socket is gone */
}

TEST_WITH(a_stopped_learner_waits_no_longer, folder_setup, folder_teardown)
{
	struct client c;
	learner_begin(&c, *state);
	train_ask(&c);
	atomic_store(&learner.stop, true);
	pthread_join(learner.training, NULL);
	assert_int_equal(learner.rc, SL_PENDING);
	learner_end(&c);
}

/* The account of the rounds shows the program that has joined last. */
TEST_WITH(the_hash_of_the_program, folder_setup, folder_teardown)
{
	static const struct {
		const char *field;
		uint8_t first, last;
	} cases[] = {
		{",\"program\":\"a10000000000000000000000000000000000000000000000000000000000000b\"", 0xa1,
		 0x0b},
		{"", 0, 0},
		{",\"program\":\"a1\"", 0, 0},
		{",\"program\":\"a1000000000000000000000000000000000000000000000000000000000000zb\"", 0, 0},
		{",\"program\":7", 0, 0},
	};
	struct client c;
	learner_begin(&c, *state);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char fields[256];
		uint8_t hash[SL_HASH_BYTES];
		client_close(&c);
		snprintf(fields, sizeof fields, TENSORS "%s", cases[i].field);
		join_with(&c, fields, "{\"type\":\"joined\"");
		sl_application_program(learner.trainer, hash);
		assert_int_equal(hash[0], cases[i].first);
		assert_int_equal(hash[SL_HASH_BYTES - 1], cases[i].last);
	}
	learner_end(&c);
}
