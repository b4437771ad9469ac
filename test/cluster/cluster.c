#include "test/cluster/cluster.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define ARGUMENTS_MAX 48

struct command {
	char words[1024];
	const char *argv[ARGUMENTS_MAX + 1];
};

static void prepare(struct cluster *cluster, struct command *command, const char *arguments)
{
	int n = 4;
	char *save = NULL;
	process_folder(cluster->folder, sizeof cluster->folder);
	snprintf(cluster->run, sizeof cluster->run, "%s/run", cluster->folder);
	snprintf(command->words, sizeof command->words, "%s", arguments);
	*command->argv = process_starling();
	memcpy(command->argv + 1, (const char *const[]){"launch", "--run-dir", cluster->run},
	       3 * sizeof *command->argv);
	for (char *word = strtok_r(command->words, " ", &save); word != NULL && n < ARGUMENTS_MAX;
	     word = strtok_r(NULL, " ", &save))
		command->argv[n++] = word;
	command->argv[n] = NULL;
}

static void load_summary(struct cluster *cluster)
{
	char path[256];
	snprintf(path, sizeof path, "%s/summary.json", cluster->run);
	cluster->summary = json_load_file(path, 0, NULL);
}

void cluster_launch(struct cluster *cluster, double seconds, const char *arguments)
{
	struct command command;
	prepare(cluster, &command, arguments);
	process_run(&cluster->outcome, NULL, seconds, command.argv);
	load_summary(cluster);
}

void cluster_start(struct cluster *cluster, const char *arguments)
{
	struct command command;
	char log[256];
	prepare(cluster, &command, arguments);
	snprintf(log, sizeof log, "%s/launch.txt", cluster->folder);
	cluster->launcher = process_start(NULL, log, command.argv);
}

void cluster_wait(struct cluster *cluster, double seconds)
{
	char log[256];
	struct outcome *outcome = &cluster->outcome;
	snprintf(log, sizeof log, "%s/launch.txt", cluster->folder);
	outcome->status = process_wait(cluster->launcher, seconds);
	FILE *file = fopen(log, "re");
	outcome->out[file != NULL ? fread(outcome->out, 1, sizeof outcome->out - 1, file) : 0] = '\0';
	outcome->err[0] = '\0';
	if (file != NULL)
		fclose(file);
	load_summary(cluster);
}

void cluster_resume(struct cluster *cluster, double seconds, const char *rounds)
{
	const char *argv[] = {process_starling(),
			      "launch",
			      "--resume",
			      cluster->run,
			      rounds != NULL ? "--rounds" : NULL,
			      rounds,
			      NULL};
	json_decref(cluster->summary);
	process_run(&cluster->outcome, NULL, seconds, argv);
	load_summary(cluster);
}

void cluster_kill(const struct cluster *cluster, uint32_t n, uint32_t i, int signal)
{
	char path[512];
	int pid = 0;
	cluster_path(cluster, n, i, "pid", path, sizeof path);
	assert_true(process_expect(path, "\n", 20));
	FILE *file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%d", &pid), 1);
	fclose(file);
	assert_true(pid > 1);
	assert_int_equal(kill(pid, signal), 0);
}

void cluster_launch_on(struct cluster *cluster, double seconds, const char *schedule, const char *arguments)
{
	char path[] = "/tmp/starling-schedule-XXXXXX", all[512];
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, schedule, strlen(schedule)), strlen(schedule));
	close(fd);
	snprintf(all, sizeof all, "%s --topology %s", arguments, path);
	cluster_launch(cluster, seconds, all);
	unlink(path);
}

void cluster_close(struct cluster *cluster)
{
	json_decref(cluster->summary);
	process_remove(cluster->folder);
}

static const json_t *round_of(const struct cluster *cluster, size_t round)
{
	return json_array_get(json_object_get(cluster->summary, "rounds"), round);
}

void cluster_expect_exact(const struct cluster *cluster, size_t rounds, bool verified)
{
	if (cluster->outcome.status != 0)
		print_error("status %d\n%s%s\n", cluster->outcome.status, cluster->outcome.out,
			    cluster->outcome.err);
	assert_int_equal(cluster->outcome.status, 0);
	assert_non_null(cluster->summary);
	assert_int_equal(json_array_size(json_object_get(cluster->summary, "rounds")), rounds);
	for (size_t r = 0; r < rounds; r++) {
		const json_t *round = round_of(cluster, r);
		assert_int_equal(json_integer_value(json_object_get(round, "round")), r + 1);
		assert_true(json_is_true(json_object_get(round, "same")));
		assert_int_equal(json_is_true(json_object_get(round, "verified")), verified);
	}
	assert_false(process_alive(cluster->folder));
}

double cluster_real(const struct cluster *cluster, size_t round, const char *field)
{
	return json_number_value(json_object_get(round_of(cluster, round), field));
}

void cluster_path(const struct cluster *cluster, uint32_t n, uint32_t i, const char *file, char *path,
		  size_t size)
{
	char digits[16];
	int width = snprintf(digits, sizeof digits, "%u", n);
	snprintf(path, size, "%s/learner-%0*u/%s", cluster->run, width < 2 ? 2 : width, i, file);
}

static bool same_file(const char *a, const char *b)
{
	FILE *fa = fopen(a, "re"), *fb = fopen(b, "re");
	int ca = 0, cb = 0;
	while (fa != NULL && fb != NULL && ca == cb && ca != EOF) {
		ca = fgetc(fa);
		cb = fgetc(fb);
	}
	bool same = fa != NULL && fb != NULL && ca == cb;
	if (fa != NULL)
		fclose(fa);
	if (fb != NULL)
		fclose(fb);
	return same;
}

size_t cluster_checkpoints(const struct cluster *cluster, uint32_t learners, uint32_t round)
{
	char file[64], first[512], other[512];
	size_t different = 1;
	snprintf(file, sizeof file, "state/round-%06u.safetensors", round);
	cluster_path(cluster, learners, 1, file, first, sizeof first);
	for (uint32_t i = 2; i <= learners; i++) {
		cluster_path(cluster, learners, i, file, other, sizeof other);
		different += !same_file(first, other);
	}
	return different;
}
