#include "test/cluster/group.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tools/lib/ports.h"

void group_run(const struct cluster *c, struct outcome *o, const char *arguments)
{
	char command[2048];
	snprintf(command, sizeof command, STARLING_PATH " %s", arguments);
	process_run(o, c->run.path, (const char *const[]){"/bin/sh", "-ec", command, NULL});
}

void group_done(const struct cluster *c, const char *arguments)
{
	struct outcome o;
	group_run(c, &o, arguments);
	if (o.status != 0)
		fail_msg("%s: status %d\n%s%s", arguments, o.status, o.out, o.err);
}

void group_refused(const struct cluster *c, const char *arguments, int status, const char *part)
{
	struct outcome o;
	group_run(c, &o, arguments);
	char *newline = strchr(o.err, '\n');
	char *first = strstr(o.err, "; trying again\n"); /* is told before the error */
	newline = first != NULL ? strchr(first + sizeof "; trying again", '\n') : newline;
	if (o.status != status || strstr(o.err, part) == NULL || newline == NULL || newline[1] != '\0')
		fail_msg("%s: status %d, not %d with '%s'\n%s%s", arguments, o.status, status, part, o.out,
			 o.err);
}

static const char *dump; /* options of each learner, beside GROUP_OWN */

void group_create(struct cluster *c, uint32_t machines, const char *options)
{
	struct sl_error error = {0};
	char path[160], arguments[1024];
	dump = strstr(options, "dp=") == NULL ? " --set unsafe_dump_model=true" : "";
	snprintf(path, sizeof path, "%s/run", c->folder);
	if (sl_run_folder_open(&c->run, path, machines, &error) != SL_OK ||
	    sl_ports_find(c->ports, machines, &error) != SL_OK)
		fail_msg("%s", error.text);
	snprintf(arguments, sizeof arguments,
		 "group create ward --learner learner-01 --address 127.0.0.1:%u --folder learner-01 "
		 "%s " GROUP_SHARED " " GROUP_OWN "%s >invitation",
		 c->ports[0], options, dump);
	group_done(c, arguments);
	cluster_shell(c, "ln -s starlingd.yaml learner-01/config.yaml");
	cluster_start(c, 1, "");
}

pid_t group_begin_join(struct cluster *c, uint32_t i)
{
	char command[1024], path[PATH_MAX + 32];
	snprintf(command, sizeof command,
		 "exec " STARLING_PATH
		 " join - --name learner-%02u --address 127.0.0.1:%u --folder learner-%02u " GROUP_OWN
		 "%s <invitation",
		 i, c->ports[i - 1], i, dump);
	snprintf(path, sizeof path, "%s/join-%02u", c->run.path, i);
	return process_start(c->run.path, path, path, (const char *const[]){"/bin/sh", "-ec", command, NULL});
}

void group_said(const struct cluster *c, uint32_t i, const char *text)
{
	char path[PATH_MAX + 32], said[4096];
	snprintf(path, sizeof path, "%s/join-%02u", c->run.path, i);
	if (process_expect(path, text, NULL))
		return;
	process_read(path, said, sizeof said);
	fail_msg("learner %u does not say '%s' but: %s", i, text, said);
}

void group_end_join(struct cluster *c, uint32_t i, pid_t pid)
{
	char command[128];
	int status = process_wait(pid);
	if (status != 0) {
		group_said(c, i, "nothing");
		fail_msg("join of %u: status %d", i, status);
	}
	snprintf(command, sizeof command, "ln -s starlingd.yaml learner-%02u/config.yaml", i);
	cluster_shell(c, command);
	cluster_start(c, i, "");
}

void group_join(struct cluster *c, uint32_t i)
{
	char arguments[128];
	pid_t pid = group_begin_join(c, i);
	group_said(c, i, "Waiting for the admin of ward to run: starling admit");
	snprintf(arguments, sizeof arguments, "admit learner-%02u --folder learner-01", i);
	group_done(c, arguments);
	group_end_join(c, i, pid);
	group_done(c, "group invite --folder learner-01 >invitation");
}

void group_rounds(struct cluster *c, uint32_t i, int more)
{
	cluster_expect_commits(c, CLUSTER_BIT(i), more);
}

void group_all_rounds(struct cluster *c, uint32_t n, int more)
{
	uint64_t running = 0;
	for (uint32_t i = 1; i <= n; i++)
		running |= c->pids[i - 1] > 0 ? CLUSTER_BIT(i) : 0;
	cluster_expect_commits(c, running, more);
}

void group_create_all(struct cluster *c, uint32_t machines, uint32_t n, const char *more)
{
	char options[400];
	pid_t pids[8];
	snprintf(options, sizeof options, "--members %u --auto-admit %u %s", n, n - 1, more);
	group_create(c, machines, options);
	for (uint32_t i = 2; i <= n; i++)
		pids[i - 1] = group_begin_join(c, i);
	for (uint32_t i = 2; i <= n; i++)
		group_end_join(c, i, pids[i - 1]);
	group_done(c, "group invite --folder learner-01 >invitation");
	group_all_rounds(c, n, 1);
}

void group_printed(const struct cluster *c, const char *text)
{
	char path[PATH_MAX + 32], said[4096];
	snprintf(path, sizeof path, "%s/said", c->run.path);
	process_read(path, said, sizeof said);
	if (strstr(said, text) == NULL)
		fail_msg("no '%s' in: %s", text, said);
}

void group_die_in_attempt(struct cluster *c, uint32_t i)
{
	cluster_end(c, i);
	cluster_start_failing(c, i, "after-released:2");
	assert_int_equal(cluster_wait(c, i), 128 + SIGKILL);
}
