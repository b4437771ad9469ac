/* learner_fixture.h - a learner with nothing but its records: it starts from a folder, and commits rounds of
 * ELEMENTS times the round's number there. */
#pragma once

#include "common/model/checkpoint.h"
#include "daemon/learner/daemon.h"

#define ELEMENTS 3
#define MODULUS 2147483647u
#define RUN "a"

struct learner {
	struct sl_settings settings;
	struct sl_trainer trainer;
	struct sl_daemon daemon;
	float model[ELEMENTS];
	char log[1024];
};

extern struct sl_member learner_members[4];
extern uint32_t learner_member_count; /* of the roster; 3 */
extern const struct sl_tensors learner_tensors;

/* Make a new folder, for TEST_WITH. */
int learner_setup(void **state);
/* Prepare a start from `folder`. */
void learner_configure(struct learner *l, const char *folder);
/* Start as the daemon does; what is said is in the log, or in the error. */
int learner_start(struct learner *l, struct sl_error *error);
/* Both; the start must succeed. */
void learner_expect_started(struct learner *l, const char *folder);
/* Look at the records as --check does. */
int learner_look(struct learner *l, const char *folder, struct sl_error *error);
void learner_finish(struct learner *l);

/* Start the worker; let it do what was added, and end it. */
void learner_open_worker(struct learner *l);
void learner_close_worker(struct learner *l);

/* Expect that the log has `text`, or that it has not. */
void learner_expect_said(const struct learner *l, const char *text, bool said);
/* Expect a start that continues after round t (0: anew), refuses other attempts up to `committed_through`,
 * has a result to show or not, and says `said` (NULL: anything). */
void learner_expect_start(const char *folder, sl_round t, sl_round committed_through, bool shows,
			  const char *said);
/* Expect that the start fails with this code and text. */
void learner_expect_refused(const char *folder, int code, const char *text);

/* Return the certificate of round t; its Round stands until the next call. */
struct sl_certificate learner_certificate(sl_round t);
/* Write the files of round t and fill in its row. */
void learner_write_files(const char *folder, sl_round t, struct sl_store_round *round);
/* Start, commit round t and end. */
void learner_commit(const char *folder, sl_round t);
/* Change the last byte of a file. */
void learner_damage(const char *folder, const char *name);
