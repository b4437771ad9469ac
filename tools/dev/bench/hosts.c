#include "tools/dev/bench/hosts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/launch/launch.h"
#include "tools/lib/round_table.h"

/* ---- the launcher's programs ---- */

/* FOLDER/bin/starlingd, which the copy of `starling` beside it starts, in the folder of the learner: with the
 * addresses of the hosts in place of the loopback address, and on the host of the learner. */
static const char start_learner[] =
	"#!/bin/sh\n"
	"set -e\n"
	"id=${PWD##*-}\n"
	"id=${id#0}\n"
	"sed 's/id: \\([0-9]*\\),\\(.*\\)\"127[.]0[.]0[.]1:/id: \\1,\\2\"" SL_HOSTS_ADDRESS "\\1:/' "
	"../roster.yaml >roster.yaml\n"
	"exec nsenter --net --uts --target \"$(cat \"${0%/*}/../host-$id\")\" \"${0%/*}/" SL_HOSTS_PROGRAM
	"\" \"$@\" "
	"--set roster=roster.yaml\n";

/* FOLDER/reach HOST COMMAND: for mpirun. */
static const char reach[] = "#!/bin/sh\n"
			    "host=${1##*.}\n"
			    "shift\n"
			    "exec nsenter --net --uts --target \"$(cat \"host-$host\")\" sh -c \"$*\"\n";

static int write_file(struct sl_bench *bench, const char *name, const char *text, mode_t mode,
		      struct sl_error *error)
{
	char path[PATH_MAX + 32];
	snprintf(path, sizeof path, "%s/%s", bench->folder, name);
	FILE *file = fopen(path, "we");
	bool good = file != NULL && fputs(text, file) >= 0;
	if (file != NULL)
		good &= fclose(file) == 0;
	good = good && chmod(path, mode) == 0;
	return good ? SL_OK : sl_err_set(error, SL_ERR_IO, "cannot write %s", path);
}

static int write_programs(struct sl_bench *bench, const struct sl_hosts_net *net, struct sl_error *error)
{
	char path[PATH_MAX + 32], learner[PATH_MAX], name[32], text[32], *output = NULL;
	snprintf(path, sizeof path, "%s/bin", bench->folder);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/bin/" SL_HOSTS_PROGRAM, bench->folder);
	sl_child_program(learner);
	int rc = symlink(learner, path) == 0 ? SL_OK : sl_err_set(error, SL_ERR_IO, "cannot make %s", path);
	const char *const copy[] = {"cp", bench->options.program, "bin/starling", NULL};
	if (rc == SL_OK)
		rc = sl_bench_child(bench, copy, NULL, &output, error);
	free(output);
	if (rc == SL_OK)
		rc = write_file(bench, "bin/starlingd", start_learner, 0700, error);
	if (rc == SL_OK)
		rc = write_file(bench, "reach", reach, 0700, error);
	for (uint32_t i = 0; rc == SL_OK && i < net->what->hosts; i++) {
		snprintf(name, sizeof name, "host-%u", i + 1);
		snprintf(text, sizeof text, "%d\n", (int)net->holders[i]);
		rc = write_file(bench, name, text, 0600, error);
	}
	return rc;
}

/* ---- moments of rounds, from the logs ---- */

#define ROUNDS_MOST (SL_REPEAT_MOST + 2)

/* Of the last learner, seconds of CLOCK_MONOTONIC; by round. 0: not known. */
struct moments {
	double trained_s[ROUNDS_MOST], committed_s[ROUNDS_MOST];
	json_int_t attempts[ROUNDS_MOST]; /* up to the one that committed */
	json_int_t learners[ROUNDS_MOST]; /* that took part */
	bool recovered[ROUNDS_MOST];	  /* mixing failed, and deposits were added up */
};

static void take_record(struct moments *moments, const json_t *record)
{
	json_int_t round = json_integer_value(json_object_get(record, "round"));
	double at_s = 1e-3 * json_number_value(json_object_get(record, "mono_ms"));
	const char *event = json_string_value(json_object_get(record, "event"));
	if (event == NULL || round < 1 || round >= (json_int_t)ROUNDS_MOST)
		return;
	if (strcmp(event, "trained") == 0)
		moments->trained_s[round] = fmax(moments->trained_s[round], at_s);
	if (strcmp(event, "committed") == 0) {
		moments->committed_s[round] = fmax(moments->committed_s[round], at_s);
		moments->attempts[round] = json_integer_value(json_object_get(record, "attempt"));
		moments->learners[round] = json_integer_value(json_object_get(record, "learners"));
	}
	moments->recovered[round] |= strcmp(event, "recovering") == 0;
}

static void read_log(struct moments *moments, const char *path)
{
	char *line = NULL;
	size_t room = 0;
	FILE *in = fopen(path, "re");
	while (in != NULL && getline(&line, &room, in) > 0) {
		json_t *record = json_loads(line, 0, NULL);
		take_record(moments, record);
		json_decref(record);
	}
	free(line);
	if (in != NULL)
		fclose(in);
}

static void read_logs(struct moments *moments, const struct sl_bench *bench, uint32_t learners)
{
	char path[PATH_MAX + 64];
	*moments = (struct moments){.trained_s = {0}};
	for (uint32_t i = 0; i < learners; i++) {
		snprintf(path, sizeof path, "%s/run/learner-%02u/log.jsonl", bench->folder, i + 1);
		read_log(moments, path);
	}
}

/* ---- figures ---- */

/* Plain adding up: measured, and the least that the busiest host must send on any graph. */
struct plain {
	struct sl_figure *mpi, *ring, *ring_sent;
};

static double ring_vectors(const struct sl_bench_hosts *what)
{
	return 2.0 * (what->hosts - 1) / what->hosts;
}

static int measure_plain(struct sl_bench *bench, const struct sl_hosts_net *net, struct plain *plain,
			 struct sl_error *error)
{
	double bytes = ring_vectors(net->what) * 4.0 * net->what->size;
	plain->mpi = sl_bench_figure(bench, "s", "MPI_Allreduce of float32");
	struct sl_figure *sent = sl_bench_figure(bench, "MB", "MPI_Allreduce: sent at most");
	plain->ring = sl_bench_figure(bench, "s", "ring of float32, from its bytes");
	plain->ring_sent = sl_bench_figure(bench, "MB", "ring of float32: sent at most");
	sl_figure_add(plain->ring, 8e-6 * bytes / net->what->mbit);
	sl_figure_add(plain->ring_sent, 1e-6 * bytes);
	int rc = sl_bench_at(bench, "MPI_Allreduce", 0, 0);
	return rc == SL_OK ? sl_hosts_mpi(bench, net, plain->mpi, sent, error) : rc;
}

/* A note with the medians of the parts of a round. */
static void note_parts(struct sl_bench *bench, const char *name, const json_t *rows)
{
	char text[SL_NOTE_BYTES];
	bool any = false; /* a round that is finished by recovery has no parts */
	int used = snprintf(text, sizeof text, "%s, medians of its parts:", name);
	for (int part = 0; part < SL_PARTS; part++) {
		struct sl_figure figure = {.count = 0};
		for (size_t i = 1; i < json_array_size(rows); i++) {
			const json_t *parts = json_object_get(json_array_get(rows, i), "parts_s"),
				     *s = json_object_get(parts, sl_round_table_part_names[part]);
			if (json_is_number(s))
				sl_figure_add(&figure, json_number_value(s));
		}
		any |= figure.count > 0;
		if (figure.count > 0)
			used += snprintf(text + used, sizeof text - (size_t)used, "%s %s %.3f s",
					 part > 0 ? "," : "", sl_round_table_part_names[part],
					 sl_figure_spread(&figure).median);
	}
	if (any)
		sl_bench_note(bench, "%s", text);
}

/* A note if the figures are not those of rounds that went well. */
static void note_failures(struct sl_bench *bench, const char *name, const struct moments *moments,
			  uint32_t learners)
{
	long failed = 0, recovered = 0, fewer = 0;
	for (uint32_t t = 2; t <= bench->options.repeat + 1; t++) {
		failed += (long)moments->attempts[t] - 1;
		recovered += moments->recovered[t];
		fewer += moments->learners[t] < (json_int_t)learners;
	}
	if (failed > 0 || recovered > 0 || fewer > 0)
		sl_bench_note(bench,
			      "%s: of %u rounds, %ld were finished by recovery, %ld without all learners; "
			      "%ld attempts failed",
			      name, bench->options.repeat, recovered, fewer, failed);
}

static void figures_of(struct sl_bench *bench, const struct sl_bench_hosts *what, const char *name,
		       const json_t *rows, const struct sl_hosts_sample *samples, size_t count,
		       const struct plain *plain)
{
	struct moments moments;
	struct sl_figure *round = sl_bench_figure(bench, "s", "%s", name),
			 *full = sl_bench_figure(bench, "s", "%s: bandwidth", name),
			 *cpu = sl_bench_figure(bench, "s", "%s: CPU", name),
			 *taken = sl_bench_figure(bench, "s", "%s: CPU taken by others", name),
			 *disk = sl_bench_figure(bench, "s", "%s: disk", name),
			 *trips = sl_bench_figure(bench, "s", "%s: round trips", name),
			 *used = sl_bench_figure(bench, "s", "%s: CPU of all learners", name),
			 *sent = sl_bench_figure(bench, "MB", "%s: sent at most", name);
	char ratio[64];
	read_logs(&moments, bench, what->hosts);
	for (uint32_t t = 2; t <= bench->options.repeat + 1; t++) {
		double from = moments.trained_s[t], to = moments.committed_s[t];
		struct sl_hosts_waits waits = sl_hosts_waits(samples, count, from, to);
		sl_figure_add(round, to - from);
		sl_figure_add(full, waits.bandwidth);
		sl_figure_add(cpu, waits.cpu);
		sl_figure_add(taken, waits.processor);
		sl_figure_add(disk, waits.disk);
		sl_figure_add(trips, waits.trips);
		sl_figure_add(used, json_number_value(json_object_get(json_array_get(rows, t - 1), "cpu_s")));
		sl_figure_add(sent, 1e-6 * (double)sl_hosts_waits_sent(samples, count, what->hosts,
								       moments.committed_s[t - 1], to));
	}
	snprintf(ratio, sizeof ratio, "%.40s: over MPI_Allreduce", name);
	sl_bench_ratio(bench, round, plain->mpi, ratio);
	snprintf(ratio, sizeof ratio, "%.40s: over the ring", name);
	sl_bench_ratio(bench, round, plain->ring, ratio);
	snprintf(ratio, sizeof ratio, "%.40s: bytes over the ring", name);
	sl_bench_ratio(bench, sent, plain->ring_sent, ratio);
	note_parts(bench, name, rows);
	note_failures(bench, name, &moments, what->hosts);
}

/* ---- settings in turn ---- */

/* Cut "sharing=seeded mixing=forest" into settings, in place, and write "seeded + forest" to name. */
static void read_way(char *way, const char *set[static SL_RUN_SETS + 1], char *name, size_t size)
{
	char *save = NULL;
	uint32_t count = 0;
	*name = '\0';
	for (char *word = strtok_r(way, " ", &save); word != NULL && count < SL_RUN_SETS;
	     word = strtok_r(NULL, " ", &save)) {
		const char *value = strchr(word, '=');
		set[count++] = word;
		if (strncmp(word, "privacy_check=", strlen("privacy_check=")) == 0)
			continue;
		size_t used = strlen(name);
		snprintf(name + used, size - used, "%s%s", used > 0 ? " + " : "",
			 value != NULL ? value + 1 : word);
	}
}

static int measure_way(struct sl_bench *bench, const struct sl_hosts_net *net, const char *settings,
		       const struct plain *plain, struct sl_error *error)
{
	const struct sl_bench_hosts *what = net->what;
	struct sl_bench_daemons daemons = {
		.learners = what->hosts, .size = what->size, .topology = what->topology};
	const char *set[SL_RUN_SETS + 1] = {NULL};
	char way[256], name[48], run[PATH_MAX + 8];
	struct sl_hosts_watch watch = {.pid = 0};
	json_t *rows = NULL;
	size_t count;
	snprintf(way, sizeof way, "%s", settings);
	read_way(way, set, name, sizeof name);
	memcpy(daemons.set, set, sizeof daemons.set);
	int rc = sl_bench_at(bench, name, 0, 0);
	if (rc == SL_OK)
		rc = sl_hosts_watch_start(&watch, net, error);
	if (rc == SL_OK)
		rc = sl_bench_launch_kept(bench, &daemons, bench->options.repeat + 1, bench->folder, &rows,
					  error);
	if (rc == SL_OK) {
		const struct sl_hosts_sample *samples = sl_hosts_watch_stop(&watch, &count);
		figures_of(bench, what, name, rows, samples, count, plain);
	}
	sl_hosts_watch_close(&watch);
	json_decref(rows);
	snprintf(run, sizeof run, "%s/run", bench->folder);
	sl_bench_take_away(run);
	return rc;
}

/* Return the last word of the first line of a file in `line`; "unknown" if it cannot be read. */
static const char *last_word(const char *path, char *line, int size)
{
	FILE *in = fopen(path, "re");
	bool got = in != NULL && fgets(line, size, in) != NULL;
	if (in != NULL)
		fclose(in);
	if (!got)
		return "unknown";
	line[strcspn(line, "\n")] = '\0';
	const char *blank = strrchr(line, '\t');
	return blank != NULL ? blank + 1 : line;
}

/* A note with the TCP of this kernel: rounds over links depend on it. */
static void note_tcp(struct sl_bench *bench)
{
	char control[64], buffer[64];
	sl_bench_note(bench, "TCP: congestion control %s, receive buffer at most %s bytes",
		      last_word("/proc/sys/net/ipv4/tcp_congestion_control", control, sizeof control),
		      last_word("/proc/sys/net/ipv4/tcp_rmem", buffer, sizeof buffer));
}

static int work(struct sl_bench *bench, const struct sl_bench_hosts *what, struct sl_error *error)
{
	struct sl_hosts_net net;
	struct plain plain;
	char program[PATH_MAX + 32];
	const char *const own[] = {bench->options.way, NULL};
	const char *const *ways = bench->options.way[0] != '\0' ? own : what->ways;
	int rc = sl_hosts_net_open(&net, bench, what, error);
	if (rc == SL_OK)
		rc = write_programs(bench, &net, error);
	snprintf(program, sizeof program, "%s/bin/starling", bench->folder);
	bench->options.program = program;
	if (rc == SL_OK)
		rc = measure_plain(bench, &net, &plain, error);
	for (uint32_t i = 0; rc == SL_OK && i < SL_HOSTS_WAYS && ways[i] != NULL; i++)
		rc = measure_way(bench, &net, ways[i], &plain, error);
	if (rc == SL_OK)
		note_tcp(bench);
	sl_hosts_net_close(&net);
	return rc;
}

int sl_bench_hosts(struct sl_bench *bench, const struct sl_bench_case *self, struct sl_error *error)
{
	char bin[PATH_MAX + 8];
	int rc = sl_hosts_room(bench, self->details, work, error);
	snprintf(bin, sizeof bin, "%s/bin", bench->folder);
	sl_bench_take_away(bin); /* of this case's hosts */
	if (rc != SL_ERR_REFUSED)
		return rc;
	sl_bench_note(bench, "skipped: %s", error->text);
	*error = (struct sl_error){0};
	return SL_OK;
}
