/* What a learner continues from when it starts, and which files it refuses. */
#include "test/learner/learner_fixture.h"
#include "test/lib/folder.h"
#include "test/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TEST_WITH(a_new_learner, learner_setup, folder_teardown)
{
	learner_expect_start(*state, 0, 0, false, NULL);
	learner_expect_start(*state, 0, 0, false, NULL);
}

TEST_WITH(the_last_round, learner_setup, folder_teardown)
{
	learner_commit(*state, 1);
	learner_commit(*state, 2);
	learner_expect_start(*state, 2, 0, true, "continuing after round 2, from its checkpoint");
}

/* The power went between the files and their row. */
TEST_WITH(files_without_a_row_are_ignored, learner_setup, folder_teardown)
{
	struct sl_store_round round;
	learner_expect_start(*state, 0, 0, false, NULL);
	learner_write_files(*state, 1, &round);
	learner_expect_start(*state, 0, 0, false,
			     "round-000001.safetensors is ignored: a checkpoint is no record");
	learner_commit(*state, 1);
	learner_write_files(*state, 2, &round);
	learner_expect_start(*state, 1, 0, true,
			     NULL); /* the result of round 1 went only after the row of round 2 */
}

TEST_WITH(a_damaged_checkpoint_falls_back, learner_setup, folder_teardown)
{
	for (sl_round t = 1; t <= 3; t++)
		learner_commit(*state, t);
	learner_damage(*state, "checkpoints/round-000003.safetensors");
	learner_expect_start(
		*state, 2, 3, false,
		"round-000003.safetensors: damaged: the model does not match its checksum; going on "
		"from the checkpoint of "
		"round 2 until a peer sends the result of round 3 or a later one");
	remove(folder_path(*state, "checkpoints/round-000002.safetensors"));
	learner_expect_start(*state, 1, 3, false, "going on from the checkpoint of round 1");
	learner_damage(*state, "checkpoints/round-000001.safetensors");
	learner_expect_start(*state, 0, 3, false,
			     "going on from the initial model until a peer sends the result of round 3");
	learner_commit(*state, 3); /* a peer did */
	learner_expect_start(*state, 3, 0, true, NULL);
}

/* keep_checkpoints was `all`, and a file in the midst is gone. */
TEST_WITH(fewer_checkpoints_are_kept_from_a_start_on, learner_setup, folder_teardown)
{
	struct learner l;
	struct sl_error error;
	char name[64];
	for (sl_round t = 1; t <= 6; t++)
		learner_commit(*state, t);
	remove(folder_path(*state, "checkpoints/round-000003.safetensors"));
	learner_configure(&l, *state);
	l.settings.keep_checkpoints = 2;
	assert_int_equal(learner_start(&l, &error), SL_OK);
	learner_finish(&l);
	for (sl_round t = 1; t <= 6; t++) {
		snprintf(name, sizeof name, "checkpoints/round-%06u.safetensors", t);
		assert_int_equal(access(folder_path(*state, name), F_OK) == 0, t >= 5);
	}
}

/* Whole, of that round, and of another history. */
TEST_WITH(another_checkpoint_is_not_believed, learner_setup, folder_teardown)
{
	struct sl_checkpoint other = {
		.run = RUN, .round = 2, .learners = 3, .total_weight = 3, .n = ELEMENTS, .digest = {2}};
	float model[ELEMENTS] = {7, 7, 7};
	learner_commit(*state, 1);
	learner_commit(*state, 2);
	assert_int_equal(sl_checkpoint_write(folder_path(*state, SL_CHECKPOINT_FOLDER), &other,
					     &learner_tensors, model, NULL),
			 SL_OK);
	learner_expect_start(*state, 1, 2, false,
			     "round-000002.safetensors: is not the checkpoint that was committed");
	learner_commit(*state, 2);
	learner_expect_start(*state, 2, 0, true, NULL);
	other.digest[0] = 9;
	model[0] = model[1] = model[2] = 2;
	assert_int_equal(sl_checkpoint_write(folder_path(*state, SL_CHECKPOINT_FOLDER), &other,
					     &learner_tensors, model, NULL),
			 SL_OK);
	learner_expect_start(*state, 1, 2, false,
			     "round-000002.safetensors: is not the checkpoint that was committed");
}

TEST_WITH(another_model_is_the_configurations_fault, learner_setup, folder_teardown)
{
	struct learner l;
	struct sl_error error;
	learner_commit(*state, 1);
	learner_configure(&l, *state);
	static const struct sl_tensor other = {
		.name = "model", .dtype = SL_FLOAT32, .dimensions = 1, .shape = {ELEMENTS - 1}};
	l.daemon.workspace.n = ELEMENTS - 1;
	l.daemon.workspace.tensors = (struct sl_tensors){.items = &other, .count = 1};
	assert_int_equal(learner_start(&l, &error), SL_ERR_INVALID);
	assert_string_equal(error.text, folder_path(*state, "checkpoints/round-000001.safetensors: its "
							    "tensors are not those of this run's model"));
	learner_finish(&l);
}

/* Round 2 again, with the result of `certificate`. */
static void write_result_of(const char *folder, const struct sl_certificate *certificate)
{
	struct learner l;
	struct sl_store_round round;
	uint8_t other[4 * ELEMENTS] = {2};
	learner_expect_started(&l, folder);
	learner_write_files(folder, 2, &round);
	assert_int_equal(sl_result_write(folder, RUN, certificate, ELEMENTS, other, sizeof other, NULL, 0,
					 round.result_sum, NULL),
			 SL_OK);
	assert_int_equal(sl_store_commit_round(l.daemon.store, &round, NULL), SL_OK);
	learner_finish(&l);
}

/* Round 2 with the result of its checkpoint's model. */
static void commit_two(const char *folder)
{
	struct learner l;
	struct sl_store_round round;
	struct sl_certificate certificate = learner_certificate(2);
	const float model[ELEMENTS] = {2, 2, 2};
	learner_expect_started(&l, folder);
	learner_write_files(folder, 2, &round);
	certificate = learner_certificate(2);
	assert_int_equal(sl_result_write(folder, RUN, &certificate, ELEMENTS, model, sizeof model, NULL, 0,
					 round.result_sum, NULL),
			 SL_OK);
	assert_int_equal(sl_store_commit_round(l.daemon.store, &round, NULL), SL_OK);
	learner_finish(&l);
}

/* The link for users and their programs is there, too. */
static void expect_latest(const char *folder)
{
	char to[64];
	ssize_t n = readlink(folder_path(folder, "checkpoints/latest.safetensors"), to, sizeof to - 1);
	assert_true(n > 0);
	to[n] = '\0';
	assert_string_equal(to, "round-000002.safetensors");
}

/* A commit does not synchronise the checkpoint. */
TEST_WITH(a_lost_checkpoint_is_taken_from_the_result, learner_setup, folder_teardown)
{
	static const char *const last = "checkpoints/round-000002.safetensors";
	learner_commit(*state, 1);
	commit_two(*state);
	for (int how = 0; how < 3; how++) {
		size_t size;
		uint8_t *kept = folder_get(*state, last, &size);
		remove(folder_path(*state, last));
		remove(folder_path(*state, "checkpoints/latest.safetensors"));
		if (how > 0)
			folder_put(*state, last, kept, how == 1 ? 0 : size - 1);
		learner_expect_start(*state, 2, 0, true, "its model was taken from the result of round 2");
		size_t again_size;
		uint8_t *again = folder_get(*state, last, &again_size);
		assert_int_equal(again_size, size);
		assert_memory_equal(again, kept, size);
		expect_latest(*state);
		free(kept);
		free(again);
	}
	learner_damage(*state, last);
	learner_damage(*state, "result-000002.safetensors");
	learner_expect_start(*state, 1, 2, false, "round-000002.safetensors: damaged");
}

TEST_WITH(a_result_need_not_be_there, learner_setup, folder_teardown)
{
	struct sl_store_round other;
	learner_commit(*state, 1);
	learner_commit(*state, 2);
	learner_damage(*state, "result-000002.safetensors");
	learner_expect_start(*state, 2, 0, false,
			     "the result of round 2 cannot be shown to others before the next commit: ");
	learner_write_files(*state, 2, &other);
	learner_expect_start(*state, 2, 0, true, NULL);
	struct sl_certificate certificate = learner_certificate(2);
	uint8_t wrong[4 * ELEMENTS] = {9}, sum[SL_HASH_BYTES];
	assert_int_equal(
		sl_result_write(*state, RUN, &certificate, ELEMENTS, wrong, sizeof wrong, NULL, 0, sum, NULL),
		SL_OK);
	learner_expect_start(*state, 2, 0, false, "its file is not the one that was committed");
	certificate = learner_certificate(2);
	struct sl_round_head another = *certificate.round; /* not that of h */
	another.edges[0] ^= 1;
	certificate.round = &another;
	write_result_of(*state, &certificate);
	learner_expect_start(*state, 2, 0, false, "it does not show its view");
	remove(folder_path(*state, "result-000002.safetensors"));
	learner_expect_start(*state, 2, 0, false, "no result of round 2");
}
