/* group.h - a group made by `starling group create`, `join` and `admit` alone, on machines that are folders
 * here: no file is copied or edited. Machine i is the folder learner-0i of the run folder. */
#pragma once

#include "test/lib/cluster.h"

/* Options of `group create`, and of it and `join`. */
#define GROUP_SHARED "--set rounds=100000 --set hidden_units=1 --set values=model --set partition=iid"
#define GROUP_OWN "--set data=digits --set keep_checkpoints=all --set log=log.jsonl --set log_level=debug"

/* Run a command line of `starling` in the run folder. */
void group_run(const struct cluster *c, struct outcome *o, const char *arguments);
/* Run a command line that must succeed. */
void group_done(const struct cluster *c, const char *arguments);
/* Expect one line of error with this part, and this status. */
void group_refused(const struct cluster *c, const char *arguments, int status, const char *part);
/* Make the group on machine 1, with room for `machines`, and start its learner. Without dp, all dump their
 * encodings. */
void group_create(struct cluster *c, uint32_t machines, const char *options);
/* Begin to join as machine i, with the invitation in the file `invitation`. */
pid_t group_begin_join(struct cluster *c, uint32_t i);
/* Wait until the join of machine i says `text`. */
void group_said(const struct cluster *c, uint32_t i, const char *text);
/* Wait until it has joined, and start its learner. */
void group_end_join(struct cluster *c, uint32_t i, pid_t pid);
/* Join as machine i; the admin is asked. */
void group_join(struct cluster *c, uint32_t i);
/* Wait until learner i has committed `more` rounds. */
void group_rounds(struct cluster *c, uint32_t i, int more);
/* The same for learners 1 .. n, as far as they run. */
void group_all_rounds(struct cluster *c, uint32_t n, int more);
/* Have learner i die in an attempt, once it is released. */
void group_die_in_attempt(struct cluster *c, uint32_t i);
/* Make a group of n learners that join at the same time. */
void group_create_all(struct cluster *c, uint32_t machines, uint32_t n, const char *more);
/* Expect `text` in the file `said` of the run folder. */
void group_printed(const struct cluster *c, const char *text);
