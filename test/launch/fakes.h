/* fakes.h - the launcher beside fake daemons (fake_daemon.c), which only speak the control protocol. */
#pragma once

#include "test/lib/cluster.h"

/* Start the launcher in a folder with a fake daemon beside it; `fault` as in fake_daemon.c, or NULL. The
 * fakes have no privacy check: that of the launcher warns unless a test names it. */
void fake_start(struct cluster *c, const char *fault, const char *arguments);
/* The same, and wait for its end. */
void fake_run(struct cluster *c, const char *fault, const char *arguments);
/* Interrupt the launcher, and expect how it ends. */
void fake_interrupt(struct cluster *c);
/* Wait until `text` stands in a file of the folder. */
void fake_await(const struct cluster *c, const char *file, const char *text);
void fake_make_folder(const struct cluster *c, const char *name);

/* Expect which rounds are exact, such as "++-". */
void fake_expect_exact(const struct cluster *c, const char *pattern);
/* Return how many files in the run folder have a name that begins so. */
int fake_count_files(const struct cluster *c, const char *prefix);
/* Expect that no process works in the folder, and no pid file is left. */
void fake_expect_nothing_left(const struct cluster *c);
