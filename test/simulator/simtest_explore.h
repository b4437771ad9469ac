/* simtest_explore.h - the exhaustive part of simtest: every history of a few learners. */
#pragma once

/* Explore what `text` says, "KEY=VALUE,KEY=VALUE": show progress, the number of states, and the history of a
 * broken rule. Return the exit status; 2: there is no such key or value. */
int sl_simtest_explore(const char *text);
