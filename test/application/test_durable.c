/* The vector of a round on disk: from the moment it is accepted, the round does not need the application. */
#include "test/application/client.h"
#include "test/application/learner.h"
#include "test/lib/folder.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/application/trained_file.h"

static bool file_is_there(const char *folder)
{
	struct stat st;
	if (stat(folder_path(folder, SL_TRAINED_FILE_NAME), &st) < 0)
		return false;
	assert_int_equal(st.st_mode & 0777, 0600);
	return true;
}

/* Train a round with an application that gives `first` and leaves; the learner ends. */
static void give_and_end(const char *folder, sl_round round, float first)
{
	struct client c;
	char line[128];
	learner_begin(&c, folder);
	train_begin(round, false);
	client_hear(&c, "{\"type\":\"train\"");
	c.up[0] = first;
	snprintf(line, sizeof line,
		 "{\"type\":\"trained\",\"round\":%u,\"weight\":50,\"metrics\":{\"loss\":0.25}}", round);
	client_tell(&c, line);
	train_end(first, 50);
	learner_end(&c);
}

static void join(struct client *c, const char *folder)
{
	client_join(c, socket_path(folder), JOIN);
}

/* Give a vector in answer to `again`. */
static void give_again(struct client *c, float first)
{
	c->up[0] = first;
	client_tell(c, "{\"type\":\"trained\",\"round\":1}");
}

TEST_WITH(a_restarted_learner_needs_no_application, folder_setup, folder_teardown)
{
	give_and_end(*state, 1, 2.5f);
	assert_true(file_is_there(*state));

	learner_init(*state);
	learner_open();
	assert_int_equal(learner.trainer->ops->parameters(learner.trainer), N);
	train_begin(1, false);
	train_end(2.5f, 50);
	assert_true(learner.result.loss == 0.25);
	assert_int_equal(json_object_size(learner.result.metrics), 1);
	assert_non_null(strstr(learner.said, "round 1: going on with the vector in "));
	assert_true(file_is_there(*state));

	show(1, 1);
	assert_false(file_is_there(*state));
	learner_close();
	assert_int_equal(folder_count(*state), 0);
}

/* What is in the file has to have the tensors of this run: so has the application that joins later. */
TEST_WITH(an_application_joins_with_the_tensors_of_the_file, folder_setup, folder_teardown)
{
	struct client c;
	give_and_end(*state, 1, 2.5f);
	learner_init(*state);
	learner_open();
	sl_application_bind(learner.trainer); /* as one that was Ready is */
	client_open(&c, socket_path(*state));
	client_tell(&c, "{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[2,3]}]}");
	client_hear(&c, "{\"type\":\"error\",\"text\":\"this run has another model: tensor w is "
			"float32 [2,2] there and float32 [2,3] here\"}");
	client_close(&c);
	join(&c, *state);
	learner_end(&c);
}

/* The settings may be others after a start. */
TEST_WITH(a_file_that_does_not_fit_the_settings_is_removed, folder_setup, folder_teardown)
{
	for (int changed = 0; changed < 2; changed++) {
		struct client c;
		give_and_end(*state, 1, 2.5f);
		learner_init(*state);
		if (changed == 0)
			learner.settings.clipping_range = 2;
		else
			learner.settings.max_weight = 49;
		learner_open();
		join(&c, *state);
		train_begin(1, false);
		client_hear(&c, "{\"type\":\"train\",\"round\":1,\"committed\":0,\"learners\":0,\"total_"
				"weight\":0,\"again\":false}");
		assert_non_null(
			strstr(learner.said, changed == 0 ? "removed: w[0,0] is 2.5, beyond clipping_range 2"
							  : "removed: its weight is 50, max_weight is 49"));
		assert_false(file_is_there(*state));
		client_tell(&c, "{\"type\":\"trained\",\"round\":1}");
		train_end(0, 1);
		show(1, 1);
		learner_end(&c);
	}
}

/* After an attempt that may have shown the vector, the program is asked again, also after a restart; one that
 * always trains alike gives the same bytes, and they are taken. */
TEST_WITH(again_takes_the_same_bytes, folder_setup, folder_teardown)
{
	struct client c;
	give_and_end(*state, 1, 2.5f);
	for (int start = 0; start < 2; start++) {
		learner_init(*state);
		learner.config.tensors = (struct sl_tensors){
			.items = (const struct sl_tensor[]){{.name = "w", .dimensions = 2, .shape = {2, 2}},
							    {.name = "b"}},
			.count = 2};
		learner_open();
		join(&c, *state);
		train_begin(1, true);
		client_hear(&c, "{\"type\":\"train\",\"round\":1,\"committed\":0,\"learners\":0,\"total_"
				"weight\":0,\"again\":true}");
		if (start == 0) { /* an end while it is awaited: nothing is on disk */
			client_close(&c);
			atomic_store(&learner.stop, true);
			pthread_join(learner.training, NULL);
			assert_int_equal(learner.rc, SL_PENDING);
			learner_close();
			assert_int_not_equal(access(folder_path(*state, SL_TRAINED_FILE_NAME), F_OK), 0);
			continue;
		}
		give_again(&c, 2.5f);
		train_end(2.5f, 1);
		learner_end(&c);
	}
}

/* Within one process, too. */
TEST_WITH(a_vector_may_be_given_again, folder_setup, folder_teardown)
{
	struct client c;
	learner_begin(&c, *state);
	train_once(&c);
	train_begin(1, false); /* the model was invalidated */
	client_hear(&c, "{\"type\":\"train\",\"round\":1,\"committed\":0,\"learners\":0,\"total_weight\":0,"
			"\"again\":true}");
	give_again(&c, 0);
	train_end(0, 1);
	show(1, 1);
	client_hear(&c, "{\"type\":\"mean\"");
	train_begin(2, false); /* in another round it may be the same */
	client_hear(&c, "{\"type\":\"train\",\"round\":2,\"committed\":1,\"learners\":2,\"total_weight\":70,"
			"\"again\":false}");
	client_tell(&c, "{\"type\":\"trained\",\"round\":2}");
	train_end(0, 1);
	learner_end(&c);
}

/* ---- files that are not used ---- */

static void cut(uint8_t *bytes, size_t *size)
{
	(void)bytes;
	--*size;
}

static void flip(uint8_t *bytes, size_t *size)
{
	bytes[*size - 1] ^= 1;
}

static void garble(uint8_t *bytes, size_t *size)
{
	(void)size;
	bytes[9] = 'x';
}

static void empty(uint8_t *bytes, size_t *size)
{
	(void)bytes;
	*size = 0;
}

/* Or each start would end as the one before. */
TEST_WITH(a_vector_that_cannot_be_encoded_is_forgotten, folder_setup, folder_teardown)
{
	struct client c;
	give_and_end(*state, 1, 2.5f);
	learner_init(*state);
	learner_open();
	learner.trainer->ops->forget(learner.trainer);
	assert_false(file_is_there(*state));
	join(&c, *state);
	train_ask(&c);
	c.up[0] = 3;
	client_tell(&c, "{\"type\":\"trained\",\"round\":1}");
	train_end(3, 1);
	learner_end(&c);
}

#define CHECKSUM "the file does not match its checksum"

static void edit(uint8_t *bytes, size_t size, const char *from, const char *to)
{
	uint8_t *at = memmem(bytes, size, from, strlen(from));
	assert_non_null(at);
	memcpy(at, to, strlen(to));
}

TEST_WITH(a_file_that_cannot_be_used_is_removed, folder_setup, folder_teardown)
{
	static const struct sl_tensor others[] = {{.name = "w", .dimensions = 2, .shape = {2, 3}}};
	static const struct {
		const char *run, *said;
		sl_round committed;
		bool others;
		void (*damage)(uint8_t *bytes, size_t *size);
		const char *from, *to; /* in the header */
	} cases[] = {
		{"ward", "it is of round 1", .committed = 1},
		{"ward", "it is of round 1", .committed = 2},
		{"other", "it belongs to another run", .committed = 0},
		{"ward", "this run has another model: tensor w is float32 [2,3] there and float32 [2,2] here",
		 .others = true},
		{"ward", "the size of the file does not match its header", .damage = cut},
		{"ward", CHECKSUM, .damage = flip},
		{"ward", "the header is not JSON", .damage = garble},
		{"ward", "shorter than a header", .damage = empty},
		{"ward", CHECKSUM, .from = "\"weight\":\"50\"", .to = "\"weight\":\"90\""},
		{"ward", CHECKSUM, .from = "\"round\":\"1\"", .to = "\"round\":\"2\""},
		{"ward", CHECKSUM, .from = "0.25", .to = "0.75"},
		{"ward", CHECKSUM, .from = "\"F32\",\"shape\":[2,2]", .to = "\"F64\",\"shape\":[2,1]"},
		{"ward", CHECKSUM, .from = "[2,2]", .to = "[1,4]"},
		{"ward", CHECKSUM, .from = "\"b\":", .to = "\"c\":"},
		{"ward", "a tensor of float64 or int64 follows one of float32",
		 .from = "[16,20],\"dtype\":\"F32\"", .to = "[16,24],\"dtype\":\"F64\""},
	};
	give_and_end(*state, 1, 2.5f);
	size_t whole;
	uint8_t *bytes = folder_get(*state, SL_TRAINED_FILE_NAME, &whole);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		size_t size = whole;
		uint8_t *copy = memcpy(malloc(whole), bytes, whole);
		if (cases[i].damage != NULL)
			cases[i].damage(copy, &size);
		if (cases[i].from != NULL)
			edit(copy, size, cases[i].from, cases[i].to);
		folder_put(*state, SL_TRAINED_FILE_NAME, copy, size);
		free(copy);
		learner_init(*state);
		strcpy(learner.settings.run, cases[i].run);
		learner.config.committed = cases[i].committed;
		if (cases[i].others)
			learner.config.tensors = (struct sl_tensors){.items = others, .count = 1};
		atomic_store(&learner.stopped, true); /* without tensors, it does not wait */
		learner_open_begin();
		pthread_join(learner.opening, NULL);
		assert_int_equal(learner.rc, cases[i].others ? SL_OK : SL_PENDING);
		if (strstr(learner.said, cases[i].said) == NULL)
			fail_msg("'%s' is not in: %s", cases[i].said, learner.said);
		assert_non_null(strstr(learner.said, SL_TRAINED_FILE_NAME " is not used, and removed: "));
		assert_false(file_is_there(*state));
		if (learner.rc == SL_OK)
			learner_close();
	}
	free(bytes);
}

/* What stays is not said to be removed. */
TEST_WITH(a_folder_in_the_place_of_the_file_stays, folder_setup, folder_teardown)
{
	struct client c;
	assert_int_equal(mkdir(folder_path(*state, SL_TRAINED_FILE_NAME), 0700), 0);
	learner_begin(&c, *state);
	assert_non_null(strstr(learner.said, SL_TRAINED_FILE_NAME " cannot be removed: Is a directory; "));
	assert_non_null(strstr(learner.said, SL_TRAINED_FILE_NAME " is not used: "));
	assert_int_equal(rmdir(folder_path(*state, SL_TRAINED_FILE_NAME)), 0);
	learner_end(&c);
}
