/* Which slots of the state file are given room before which job, what ends with an attempt, and what of a
 * slot is sent. */
#include "test/lib/folder.h"
#include "test/lib/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/compute/payload.h"
#include "common/config/settings.h"
#include "daemon/learner/masked_states.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* functions that the linker wraps */

#define FILE_NAME "attempt.states"
#define ELEMENTS 10
#define SLOT SL_SLOT_ALIGN
#define FRONT SL_STATE_FILE_KEY_ROOM /* allocated with the first slot */

static char asked[256];

int __real_posix_fallocate64(int fd, off_t at, off_t size);
int __wrap_posix_fallocate64(int fd, off_t at, off_t size)
{
	size_t used = strlen(asked);
	assert_int_equal(size, at == 0 ? FRONT + SLOT : SLOT);
	snprintf(asked + used, sizeof asked - used, "%d;", at == 0 ? 0 : (int)((at - FRONT) / SLOT));
	return __real_posix_fallocate64(fd, at, size);
}

static char begun[256]; /* pages of the own slot whose writing was begun: "from-to;" */

int __wrap_sync_file_range(int fd, off_t at, off_t size, unsigned flags)
{
	size_t used = strlen(begun);
	(void)fd;
	assert_int_equal(flags, SYNC_FILE_RANGE_WRITE);
	assert_int_equal((at - FRONT) % SLOT, 0);
	assert_int_equal(size % SLOT, 0);
	snprintf(begun + used, sizeof begun - used, "%d-%d;", (int)((at - FRONT) / SLOT),
		 (int)((at - FRONT + size) / SLOT));
	return 0;
}

/* --- a learner in an attempt of four, whose neighbours are positions 0 and 3 --- */

struct learner {
	char folder[SL_PATH_BYTES];
	uint32_t neighbours[2], position[5];
	struct sl_view view;
	struct sl_workspace workspace;
	struct sl_masked_states states;
};

static struct learner learner; /* of the case */

static int setup(void **state)
{
	int rc = folder_setup(state);
	static const uint32_t positions[5] = {0, UINT32_MAX, 1, 2, 3};
	learner = (struct learner){.neighbours = {0, 3}};
	asked[0] = begun[0] = '\0';
	memcpy(learner.position, positions, sizeof positions);
	snprintf(learner.folder, sizeof learner.folder, "%s", (const char *)*state);
	learner.view = (struct sl_view){
		.t = 7, .a = 2, .n = 4, .self = 1, .degree = 2, .elements = ELEMENTS, .chunks = 1};
	learner.view.neighbours = learner.neighbours;
	learner.view.position = learner.position;
	assert_int_equal(sl_field_init(&learner.view.field, 2147483647), SL_OK);
	learner.states.folder = learner.folder;
	return rc;
}

static void run_job(enum sl_job_kind kind, struct sl_buffer *buffers)
{
	struct sl_job job = {.kind = kind, .view = &learner.view, .buffers = buffers};
	struct sl_error error;
	assert_ok(sl_masked_states_reserve(&learner.states, &learner.workspace, &job, &error), error);
}

static int teardown(void **state)
{
	sl_masked_states_close(&learner.states);
	return folder_teardown(state);
}

/* --- tests --- */

/* A job writes into no slot that has no room: that would be a SIGBUS on a full disk. The own slot, of
 * position 1, is the first. */
TEST_WITH(room_before_each_job_that_writes, setup, teardown)
{
	struct sl_buffer second = {.from = 3}, first = {.from = 0, .next = &second}, later = {.from = 2};
	run_job(SL_JOB_ENCODE, NULL);
	assert_int_equal(access(folder_path(*state, FILE_NAME), F_OK), 0);
	assert_ptr_equal(sl_slot_state(&learner.workspace.state_file, learner.view.self),
			 learner.states.current.base);
	run_job(SL_JOB_GATHER, &first);
	assert_string_equal(asked, "");
	run_job(SL_JOB_DEPOSIT, NULL);
	run_job(SL_JOB_COMMITMENT, NULL);
	assert_string_equal(asked, "0;");
	run_job(SL_JOB_FETCH, &first);
	assert_string_equal(asked, "0;1;3;");
	run_job(SL_JOB_FETCH, &later);
	run_job(SL_JOB_FETCH, &later);
	assert_string_equal(asked, "0;1;3;2;");
}

/* The own slot is on its way to the disk before the last chunk is made, a megabyte (256 pages) at a time; of
 * each attempt anew. A chunk of 31 bits has 31 pages. */
TEST_WITH(the_own_slot_is_begun_early, setup, teardown)
{
	for (int attempt = 0; attempt < 2; attempt++) {
		learner.states.begun = 12345; /* of the attempt before */
		learner.view.chunks = 20;
		learner.view.elements = 20 * SL_CHUNK_ELEMENTS - 1;
		begun[0] = '\0';
		assert_int_equal(
			sl_masked_states_open(&learner.states, &learner.workspace, &learner.view, NULL),
			SL_OK);
		struct sl_job job = {.kind = SL_JOB_FETCH, .view = &learner.view};
		sl_masked_states_made(&learner.states, &job);
		job.kind = SL_JOB_DEPOSIT;
		for (; job.chunk < 20; job.chunk++)
			sl_masked_states_made(&learner.states, &job);
		assert_string_equal(begun, "0-279;279-558;558-619;");
	}
}

static void end(void)
{
	sl_masked_states_end(&learner.states, &learner.workspace);
	assert_null(learner.workspace.state_file.base);
	assert_int_equal(learner.states.current.slots, 0);
}

/* Rounds 8, 9, 10 ..: one file, whether they are committed or aborted. The store removes it at the end. */
TEST_WITH(a_file_serves_every_attempt, setup, teardown)
{
	ino_t file = 0;
	for (sl_round t = 8; t < 14; t++) {
		struct stat status;
		learner.view.t = t;
		run_job(SL_JOB_ENCODE, NULL);
		run_job(SL_JOB_DEPOSIT, NULL);
		assert_int_equal(stat(folder_path(*state, FILE_NAME), &status), 0);
		assert_true(file == 0 || file == status.st_ino);
		file = status.st_ino;
		if (t % 2 == 0) /* else the next attempt ends this one */
			end();
	}
	assert_string_equal(asked, "0;"); /* room, once */
	end();
}

/* The file of an attempt under way stays: a restart may need it. */
TEST_WITH(an_open_attempt_keeps_its_file, setup, teardown)
{
	run_job(SL_JOB_ENCODE, NULL);
	sl_masked_states_close(&learner.states);
	assert_int_equal(access(folder_path(*state, FILE_NAME), F_OK), 0);
}

/* Of another view: its slots would lie elsewhere. */
TEST_WITH(another_shape_is_another_file, setup, teardown)
{
	for (sl_round t = 8; t < 11; t++) {
		learner.view.t = t;
		learner.view.n = t == 10 ? 3 : 4;
		run_job(SL_JOB_ENCODE, NULL);
	}
	assert_int_equal(learner.states.current.slots, 3);
	assert_int_equal(folder_count(*state), 1);
}

/* A deposit is sent as it lies in its slot. */
TEST_WITH(a_slot_is_sent, setup, teardown)
{
	uint8_t out[4];
	run_job(SL_JOB_ENCODE, NULL);
	assert_int_equal(sl_state_file_reserve(&learner.states.current, 3, NULL), SL_OK);
	memset(sl_slot_state(&learner.workspace.state_file, 3), 0xb3, 4 * ELEMENTS);
	const struct sl_payload last = {.source = SL_SOURCE_SLOT, .row = 3, .at = 4 * ELEMENTS - sizeof out};
	sl_payload_write(&learner.workspace, &learner.view, &last, &(struct sl_chunk){.size = sizeof out},
			 NULL, out);
	assert_int_equal(out[3], 0xb3);
}
