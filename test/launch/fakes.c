#include "test/launch/fakes.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void fake_start(struct cluster *c, const char *fault, const char *arguments)
{
	char all[1024];
	bool said = strstr(arguments, "privacy_check=") != NULL || strstr(arguments, "--resume") != NULL;
	snprintf(all, sizeof all, "%s%s", arguments, said ? "" : " --set privacy_check=warn");
	if (strcmp(c->starling, STARLING_PATH) == 0)
		cluster_copy_programs(c, FAKE_DAEMON_PATH);
	setenv("FAKE_FAULT", fault != NULL ? fault : "", 1);
	setenv("TERM", "xterm", 1);
	cluster_launch_start(c, all);
}

void fake_run(struct cluster *c, const char *fault, const char *arguments)
{
	fake_start(c, fault, arguments);
	cluster_launch_wait(c);
}

void fake_expect_exact(const struct cluster *c, const char *pattern)
{
	assert_int_equal(json_array_size(json_object_get(c->summary, "rounds")), strlen(pattern));
	for (size_t i = 0; pattern[i] != '\0'; i++)
		assert_int_equal((int)cluster_figure(c, i, "same"), pattern[i] == '+');
	assert_int_equal(json_is_true(json_object_get(c->summary, "all_same")), strchr(pattern, '-') == NULL);
}

void fake_await(const struct cluster *c, const char *file, const char *text)
{
	if (!process_expect(cluster_path(c, 0, file), text, NULL))
		fail_msg("\"%s\" never stood in %s", text, file);
}

void fake_make_folder(const struct cluster *c, const char *name)
{
	assert_int_equal(mkdir(cluster_path(c, 0, name), 0755), 0);
}

int fake_count_files(const struct cluster *c, const char *prefix)
{
	struct outcome o;
	char pattern[32];
	int count = 0;
	snprintf(pattern, sizeof pattern, "%s*", prefix);
	process_run(
		&o, NULL,
		(const char *const[]){"/usr/bin/find", c->run.path, "-name", pattern, "-type", "f", NULL});
	for (const char *line = o.out; (line = strchr(line, '\n')) != NULL; line++)
		count++;
	return count;
}

void fake_expect_nothing_left(const struct cluster *c)
{
	assert_false(process_alive(c->folder));
	if (access(cluster_path(c, 0, "run"), F_OK) == 0)
		assert_int_equal(fake_count_files(c, "pid"), 0);
}

void fake_interrupt(struct cluster *c)
{
	kill(c->launcher, SIGINT);
	cluster_launch_wait(c);
	expect_outcome(c, 130, "\nto continue: ./starling launch --resume run\n", "");
	fake_expect_nothing_left(c);
}
