/* Which slots of the state file are given room before which job, what ends with an attempt, and what of a
 * slot is sent. */
#include "test/lib/folder.h"
#include "test/lib/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/learner/masked_states.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions that the linker wraps */

#define FILE_7_2 "attempt-000007-000002.states"
#define ELEMENTS 10

static char asked[256];

int __real_posix_fallocate64(int fd, off_t at, off_t size);
int __wrap_posix_fallocate64(int fd, off_t at, off_t size)
{
	size_t used = strlen(asked);
	assert_int_equal(size, SL_SLOT_ALIGN);
	snprintf(asked + used, sizeof asked - used, "%d;", (int)(at / SL_SLOT_ALIGN));
	return __real_posix_fallocate64(fd, at, size);
}

/* --- a learner in an attempt of four, whose neighbours are positions 0 and 3 --- */

struct learner {
	char folder[SL_PATH_BYTES];
	struct sl_member members[5];
	uint32_t neighbours[2], position[5];
	struct sl_view view;
	struct sl_store *store;
	struct sl_workspace workspace;
	struct sl_masked_states states;
};

static struct learner learner; /* of the case */

static int setup(void **state)
{
	int rc = folder_setup(state);
	static const uint32_t positions[5] = {0, UINT32_MAX, 1, 2, 3};
	learner = (struct learner){.neighbours = {0, 3}};
	asked[0] = '\0';
	memcpy(learner.position, positions, sizeof positions);
	snprintf(learner.folder, sizeof learner.folder, "%s", (const char *)*state);
	for (uint32_t i = 0; i < 5; i++)
		learner.members[i].id = 10 * (i + 1);
	learner.view = (struct sl_view){
		.t = 7, .a = 2, .n = 4, .self = 1, .degree = 2, .elements = ELEMENTS, .chunks = 1};
	learner.view.neighbours = learner.neighbours;
	learner.view.position = learner.position;
	assert_int_equal(sl_field_init(&learner.view.field, 2147483647), SL_OK);
	learner.states.folder = learner.folder;
	struct sl_roster roster = {.members = learner.members, .size = 5};
	struct sl_store_owner owner = {.run = "a", .roster = &roster};
	assert_int_equal(sl_store_open(&learner.store, *state, &owner, NULL), SL_OK);
	return rc;
}

static void run_job(enum sl_job_kind kind, struct sl_buffer *buffers)
{
	struct sl_job job = {.kind = kind, .view = &learner.view, .buffers = buffers};
	struct sl_error error;
	if (sl_masked_states_reserve(&learner.states, &learner.workspace, &job, &error) != SL_OK)
		fail_msg("%s", error.text);
}

static int teardown(void **state)
{
	sl_masked_states_close(&learner.states);
	sl_store_close(learner.store);
	return folder_teardown(state);
}

/* --- tests --- */

/* A job writes into no slot that has no room: that would be a SIGBUS on a full disk. */
TEST_WITH(room_before_each_job_that_writes, setup, teardown)
{
	struct sl_buffer second = {.from = 1}, first = {.from = 0, .next = &second},
			 later = {.from = 0, .iteration = 1};
	struct sl_buffer fetched = {.from = 2};
	run_job(SL_JOB_ENCODE, NULL);
	assert_int_equal(access(folder_path(*state, FILE_7_2), F_OK), 0);
	assert_ptr_equal(learner.workspace.state_file.base, learner.states.current.base);
	run_job(SL_JOB_GATHER, &first);
	assert_string_equal(asked, "");
	run_job(SL_JOB_COMMITMENT, NULL);
	assert_string_equal(asked, "1;");
	run_job(SL_JOB_MIX, &later);
	assert_string_equal(asked, "1;");
	run_job(SL_JOB_MIX, &first);
	assert_string_equal(asked, "1;0;3;");
	run_job(SL_JOB_FETCH, &fetched);
	run_job(SL_JOB_FETCH, &fetched);
	assert_string_equal(asked, "1;0;3;2;");
}

TEST_WITH(room_before_first_states_are_kept, setup, teardown)
{
	struct sl_buffer second = {.from = 1}, first = {.from = 0, .next = &second};
	run_job(SL_JOB_ENCODE, NULL);
	run_job(SL_JOB_BACKUP, &first);
	assert_string_equal(asked, "0;3;");
}

static void end(void)
{
	struct sl_store_round last = {0};
	sl_store_last_round(learner.store, &last, NULL);
	sl_masked_states_end(&learner.states, &learner.workspace, &last);
}

static void commit(sl_round t, sl_attempt a)
{
	struct sl_certificate certificate = {.t = t, .a = a, .p = 2147483647, .learners = 4};
	struct sl_store_round round;
	sl_store_round_fill(&round, &certificate, 4);
	assert_int_equal(sl_store_commit_round(learner.store, &round, NULL), SL_OK);
}

/* It ends with its attempt, unless that has become the round. */
TEST_WITH(only_what_committed_is_kept, setup, teardown)
{
	for (int i = 0; i < 3; i++) {
		run_job(SL_JOB_ENCODE, NULL);
		if (i > 0)
			commit((sl_round)(5 + i), 2);
		end();
		assert_null(learner.workspace.state_file.base);
		assert_int_equal(learner.states.current.t, 0);
		assert_int_equal(access(folder_path(*state, FILE_7_2), F_OK), i == 2 ? 0 : -1);
	}
}

/* Rounds 8, 9, 10 ...: two files, by turns, of which one is the last committed round's. */
TEST_WITH(a_file_serves_every_other_round, setup, teardown)
{
	ino_t files[2] = {0};
	for (sl_round t = 8; t < 14; t++) {
		struct stat status;
		char name[64];
		learner.view.t = t;
		run_job(SL_JOB_ENCODE, NULL);
		run_job(SL_JOB_COMMITMENT, NULL);
		snprintf(name, sizeof name, "attempt-%06u-000002.states", t);
		assert_int_equal(stat(folder_path(*state, name), &status), 0);
		assert_true(files[t % 2] == 0 || files[t % 2] == status.st_ino);
		files[t % 2] = status.st_ino;
		commit(t, 2);
		assert_int_equal(sl_masked_states_wanted(&learner.states, t, t - 1, 2),
				 t > 8); /* it is the next one's */
		assert_false(sl_masked_states_wanted(&learner.states, t, t - 1, 1));
		assert_false(sl_masked_states_wanted(&learner.states, t, t - 2, 2));
		end();
	}
	assert_string_equal(asked, "1;1;"); /* room, once in each */
}

/* Of another view: its slots would lie elsewhere. */
TEST_WITH(another_shape_is_another_file, setup, teardown)
{
	for (sl_round t = 8; t < 11; t++) {
		learner.view.t = t;
		learner.view.n = t == 10 ? 3 : 4;
		run_job(SL_JOB_ENCODE, NULL);
		if (t == 10)
			break;
		commit(t, 2);
		end();
	}
	assert_int_equal(learner.states.current.slots, 3);
	assert_int_equal(access(folder_path(*state, "attempt-000008-000002.states"), F_OK), -1);
}

static uint8_t nonce_of(enum sl_source source, uint32_t row, struct sl_chunk chunk)
{
	const struct sl_payload payload = {.source = source, .row = row};
	sl_payload_nonce(&learner.workspace, &learner.view, &payload, &chunk);
	return chunk.nonce[31];
}

/* The own nonce with a first state, the owner's with what is asked for; and none with a later chunk. */
TEST_WITH(nonces_go_with_first_chunks, setup, teardown)
{
	uint8_t out[4];
	run_job(SL_JOB_ENCODE, NULL);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(sl_state_file_reserve(&learner.states.current, i, NULL), SL_OK);
		memset(sl_slot_nonce(&learner.workspace.state_file, i), 0xa0 + (int)i, SL_NONCE_BYTES);
		memset(sl_slot_state(&learner.workspace.state_file, i), 0xb0 + (int)i, 4 * ELEMENTS);
	}
	assert_int_equal(nonce_of(SL_SOURCE_STATE, 0, (struct sl_chunk){0}), 0xa1);
	assert_int_equal(nonce_of(SL_SOURCE_STATE, 0, (struct sl_chunk){.iteration = 1}), 0);
	assert_int_equal(nonce_of(SL_SOURCE_SLOT, 3, (struct sl_chunk){0}), 0xa3);
	assert_int_equal(nonce_of(SL_SOURCE_SLOT, 2, (struct sl_chunk){.index = 1}), 0);
	const struct sl_payload last = {.source = SL_SOURCE_SLOT, .row = 3, .at = 4 * ELEMENTS - sizeof out};
	sl_payload_write(&learner.workspace, &learner.view, &last, &(struct sl_chunk){.size = sizeof out},
			 NULL, out);
	assert_int_equal(out[3], 0xb3);
}
