/* fake_daemon.c - a daemon for tests of the launcher: it speaks the control protocol and writes the files,
 * and nothing else.
 *
 * Every step in which it has a peer gives one commit, of a model that every fake can compute alone. It is
 * built as `starlingd` beside the launcher under test, which finds it there. FAKE_FAULT="learner:kind:round"
 * gives one of them a fault:
 *
 *   die      logs an error, also on standard error, and ends with status 3
 *   digest   reports another digest
 *   margin   reports a margin of 0.4
 *   flip     changes one bit of its checkpoint
 *   reveal   dumps another encoding
 *   linger   ignores `stop` and SIGTERM (any round)
 *   stall    commits nothing from that round on
 *   disk     commits nothing from that round on, and has waited for its disk
 *   lost     commits nothing from that round on, and waits for learner 3's masked state
 *   clamp    reports 47,000 clamped parameters
 *   round    reports two tensors that were rounded to 0, once
 *   late     evaluates after it has finished, and ends
 *   sleep    stops for ever after it has dumped an encoding
 *   crash    is killed, once
 *   again    is killed, each time
 *   each     is killed in each round but the first of a start
 *   early    is killed before it is up, each time
 *   hidden   opens its control socket only when the file ../shown is there
 *   drop     closes its control connections, once
 *   mute     is killed once, after a commit that it has not reported
 *   redo     is killed once, after it has dumped an encoding; then it has trained another model
 *   final    reports an error that a restart cannot cure, and ends with status 1
 *   usage    ends with status 2
 *   quit     ends with status 0, once
 *
 * Started again, it goes on after its last checkpoint.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "common/base/bytes.h"
#include "test/lib/encoding.h"
#include "daemon/store/result.h"
#include "common/model/autoencoder.h"

#define CLIP_16 UINT64_C(0x4030000000000000) /* the bits of 16.0 */

#define PARAMETERS 5u
#define DIGEST "f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0"
#define CLIENTS_MOST 4u
#define MODEL_MOST 4096u

struct fake {
	unsigned id, rounds, learners, hidden_units, round; /* round: committed */
	char name[64], run[64];
	bool model_dump, watched[CLIENTS_MOST], stop;
	int listener, clients[CLIENTS_MOST];
	char line[CLIENTS_MOST][65536];
	size_t used[CLIENTS_MOST];
	FILE *log;
	char fault[16];
	unsigned fault_round;
	bool heard; /* of a step */
};

static struct sl_field field;
static const struct sl_encoding encoding = {
	.kind = SL_ENCODING_WEIGHTED, .decimals = 4, .clipping_range = 16, .weight = 1};

static void die(const char *what)
{
	fprintf(stderr, "fake: %s: %s\n", what, strerror(errno));
	exit(1);
}

static bool faulty(const struct fake *f, const char *kind)
{
	return strcmp(f->fault, kind) == 0 && f->round + 1 == f->fault_round;
}

static void read_fault(struct fake *f)
{
	unsigned id = 0, round = 0;
	char kind[16] = "";
	const char *text = getenv("FAKE_FAULT");
	if (text == NULL || sscanf(text, "%u:%15[a-z]:%u", &id, kind, &round) < 2 || id != f->id)
		return;
	memcpy(f->fault, kind, sizeof kind);
	f->fault_round = round;
}

static void read_config(struct fake *f, const char *path)
{
	char line[512];
	FILE *in = fopen(path, "r");
	if (in == NULL)
		die(path);
	while (fgets(line, sizeof line, in) != NULL) {
		sscanf(line, "id: %u", &f->id);
		sscanf(line, "run: %63s", f->run);
		f->model_dump |= strcmp(line, "unsafe_dump_model: true\n") == 0;
	}
	fclose(in);
	in = fopen("../roster.yaml", "r");
	if (in == NULL)
		die("roster");
	while (fgets(line, sizeof line, in) != NULL) {
		unsigned id = 0;
		char name[64] = "";
		f->learners += line[0] == '-';
		if (strstr(line, "rounds: \"") != NULL)
			sscanf(strstr(line, "rounds: \""), "rounds: \"%u", &f->rounds);
		if (strstr(line, "hidden_units: \"") != NULL)
			sscanf(strstr(line, "hidden_units: \""), "hidden_units: \"%u", &f->hidden_units);
		if (sscanf(line, "- {id: %u, name: %63[^,],", &id, name) == 2 && id == f->id)
			memcpy(f->name, name, sizeof name);
	}
	fclose(in);
}

/* ---- saying ---- */

static void say(int fd, const json_t *object)
{
	char *text = json_dumps(object, JSON_COMPACT), *line = NULL;
	int n = asprintf(&line, "%s\n", text);
	if (n > 0 && send(fd, line, (size_t)n, MSG_NOSIGNAL) != n)
		fprintf(stderr, "fake: a line was lost\n");
	free(line);
	free(text);
}

static void record(struct fake *f, const char *level, const char *event, json_t *fields)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	json_object_set_new(fields, "mono_ms", json_real((double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6));
	json_object_set_new(fields, "level", json_string(level));
	json_object_set_new(fields, "learner", json_integer(f->id));
	json_object_set_new(fields, "event", json_string(event));
	json_dumpf(fields, f->log, JSON_COMPACT);
	fputc('\n', f->log);
	fflush(f->log);
	for (unsigned i = 0; i < CLIENTS_MOST; i++)
		if (f->clients[i] >= 0 && f->watched[i])
			say(f->clients[i], fields);
	json_decref(fields);
}

/* ---- a round ---- */

static void model_of(unsigned id, unsigned round, float theta[PARAMETERS])
{
	for (unsigned l = 0; l < PARAMETERS; l++)
		theta[l] = (float)id * 0.37f - (float)(round * l) * 0.11f;
}

static void encode(unsigned id, unsigned round, uint64_t x[PARAMETERS + 1])
{
	float theta[PARAMETERS];
	struct sl_encode_note note;
	model_of(id, round, theta);
	if (sl_encoding_encode(&field, &encoding, NULL, theta, NULL, PARAMETERS, x, &note) != SL_OK)
		die("encode");
}

static void mean(const struct fake *f, unsigned round, float model[PARAMETERS])
{
	uint64_t z[PARAMETERS + 1] = {0}, x[PARAMETERS + 1];
	for (unsigned id = 1; id <= f->learners; id++) {
		encode(id, round, x);
		for (unsigned l = 0; l <= PARAMETERS; l++)
			z[l] = sl_field_add(&field, z[l], x[l]);
	}
	if (sl_encoding_decode(&field, &encoding, NULL, z, PARAMETERS, model) != SL_OK)
		die("decode");
}

static void write_model_dump(const struct fake *f, unsigned round)
{
	struct {
		uint64_t weight;
		float theta[PARAMETERS];
	} dump = {.weight = 1};
	char path[64];
	size_t bytes = sizeof dump.weight + sizeof dump.theta;
	snprintf(path, sizeof path, "state/trained-%06u.model", round);
	model_of(f->id, round, dump.theta);
	if (faulty(f, "reveal") || (faulty(f, "redo") && access("once", F_OK) != 0))
		dump.theta[1] += 1;
	FILE *out = fopen(path, "w");
	if (out == NULL || fwrite(&dump, bytes, 1, out) != 1 || fclose(out) != 0)
		die(path);
}

static void write_checkpoint(const struct fake *f, unsigned round)
{
	float model[PARAMETERS];
	char path[64], header[128];
	snprintf(path, sizeof path, "state/checkpoints/round-%06u.safetensors", round);
	int n = snprintf(
		header, sizeof header,
		"{\"__metadata__\":{\"format\":\"test\"},\"model\":{\"dtype\":\"F32\",\"shape\":[%u],"
		"\"data_offsets\":[0,%u]}}",
		PARAMETERS, 4 * PARAMETERS);
	uint64_t length = (uint64_t)n;
	mean(f, round, model);
	if (faulty(f, "flip"))
		((unsigned char *)model)[9] ^= 1;
	FILE *out = fopen(path, "w");
	if (out == NULL || fwrite(&length, 8, 1, out) != 1 || fwrite(header, length, 1, out) != 1 ||
	    fwrite(model, sizeof model, 1, out) != 1 || fclose(out) != 0)
		die(path);
}

/* Return true on the first call in this folder. */
static bool once(void)
{
	int fd = open("once", O_CREAT | O_EXCL | O_WRONLY, 0600);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void crash(void)
{
	kill(getpid(), SIGKILL);
}

/* As a learner that took part: it signed first. */
static void write_result(const struct fake *f, unsigned round)
{
	static const uint8_t model[4 * MODEL_MOST];
	uint8_t sum[SL_HASH_BYTES];
	size_t n = sl_autoencoder_parameters(f->hidden_units);
	uint32_t members[2 * SL_LEARNERS_MAX] = {0};
	struct sl_round_head head = {
		.t = round, .a = 1, .p = field.p, .n = n, .count = 2 * f->learners, .members = members};
	struct sl_digest own = {.t = round, .a = 1, .id = f->id};
	struct sl_certificate certificate = {.t = round, .a = 1, .round = &head, .count = 1, .digests = &own};
	struct sl_error error = {0};
	for (uint32_t i = 0; i < f->learners; i++)
		members[2 * i] = i + 1;
	memset(certificate.digest, 0xf0, sizeof certificate.digest);
	memset(own.digest, 0xf0, sizeof own.digest);
	if (sl_result_write("state", f->run, &certificate, n, model, 4 * n, NULL, 0, sum, &error) != SL_OK)
		die(error.text);
}

/* Ends here, where the fault wants that. */
static void end_at(struct fake *f, const char *kind, bool each_time)
{
	if (faulty(f, kind) && (each_time || once()))
		crash();
}

static void fail_round(struct fake *f)
{
	record(f, "error", "fatal",
	       json_pack("{s:s, s:s}", "reason", "test", "text", "the test wants this to end"));
	fprintf(stderr, "last words of the fake\n");
	_exit(3); /* a crash frees nothing */
}

static void train(struct fake *f)
{
	if (f->round < f->rounds)
		record(f, "info", "trained",
		       json_pack("{s:I, s:i, s:f}", "round", (json_int_t)f->round + 1, "attempt", 1,
				 "train_s", 0.25));
}

/* Wait, and say for what, if that is the fault. */
static bool waits_for_ever(struct fake *f, json_int_t round)
{
	if (strcmp(f->fault, "stuck") == 0) {
		record(f, "warn", "attempt_failed",
		       json_pack("{s:I, s:i, s:s, s:s}", "round", round, "attempt", 1, "reason", "too few",
				 "text", "round ended: too few"));
		record(f, "warn", "waiting",
		       json_pack("{s:I, s:s, s:s, s:[], s:s, s:s}", "round", round, "phase", "DISCOVER",
				 "for", "a change", "awaited", "reason", "too few: start more", "text",
				 "waiting for a change: too few: start more"));
		return true;
	}
	if (strcmp(f->fault, "disk") == 0 && once()) {
		record(f, "warn", "waiting",
		       json_pack("{s:I, s:s, s:s, s:[], s:s}", "round", round, "phase", "READY", "for",
				 "its disk", "awaited", "text", "waiting for its disk"));
		return true;
	}
	if (strcmp(f->fault, "lost") == 0) {
		record(f, "warn", "waiting",
		       json_pack("{s:I, s:s, s:s, s:[i], s:s}", "round", round, "phase", "RECOVER", "for",
				 "masked states", "awaited", 3, "text",
				 "no linked learner has the deposit or the deposit key of learner-03 (3). If "
				 "none ever will: x"));
		return true;
	}
	return strcmp(f->fault, "stall") == 0 || strcmp(f->fault, "disk") == 0;
}

static void commit(struct fake *f)
{
	unsigned t = f->round + 1;
	json_int_t round = t;
	if (faulty(f, "die"))
		fail_round(f);
	if (faulty(f, "final")) {
		record(f, "error", "fatal",
		       json_pack("{s:I, s:s}", "round", round, "text",
				 "the model is above its clipping_range"));
		exit(1);
	}
	if (faulty(f, "quit") && once())
		exit(0);
	end_at(f, "crash", false);
	end_at(f, "again", true);
	static bool before;
	if (strcmp(f->fault, "each") == 0 && before)
		crash();
	before = true;
	if (t >= f->fault_round && waits_for_ever(f, round))
		return;
	record(f, "info", "view",
	       json_pack("{s:I, s:i, s:I, s:I, s:s, s:i}", "round", round, "attempt", 1, "learners",
			 (json_int_t)f->learners, "edges", (json_int_t)f->learners, "mixing", "exact",
			 "steps", 33));
	if (faulty(f, "clamp")) /* twice: of an attempt that failed, and of this one */
		for (json_int_t count = 1; count <= 47000; count += 46999)
			record(f, "warn", "clamped", json_pack("{s:I, s:I}", "round", round, "count", count));
	if (faulty(f, "round"))
		record(f, "warn", "encoded",
		       json_pack("{s:I, s:i, s:s}", "round", round, "frozen", 2, "tensor", "bias"));
	if (f->model_dump)
		write_model_dump(f, t);
	if (faulty(f, "sleep"))
		raise(SIGSTOP);
	end_at(f, "redo", false);
	write_checkpoint(f, t);
	if (strcmp(f->fault, "mute") == 0)
		write_result(f, t);
	end_at(f, "mute", false);
	record(f, "info", "committed",
	       json_pack("{s:I, s:i, s:I, s:I, s:s, s:i, s:f, s:s, s:f, s:i}", "round", round, "decimals", 4,
			 "learners", (json_int_t)f->learners, "edges", (json_int_t)f->learners, "mixing",
			 "exact", "steps", 33, "margin", faulty(f, "margin") ? 0.4 : 0.001, "digest",
			 faulty(f, "digest") ? "bad0" : DIGEST, "train_s", 0.25, "round_bytes_sent", 1000));
	if (faulty(f, "late")) {
		record(f, "info", "finished", json_pack("{s:I}", "rounds", round));
		nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
		f->stop = true;
	}
	for (unsigned i = 0; i < CLIENTS_MOST && faulty(f, "drop"); i++) {
		close(f->clients[i]);
		f->clients[i] = -1;
	}
	f->round = t;
	if (f->id == 1)
		record(f, "info", "evaluated", json_pack("{s:I, s:f}", "round", round, "mse", 0.5 / t));
	train(f);
}

static void hear_range(struct fake *f, const json_t *request)
{
	if (f->round == f->rounds)
		return;
	if (json_array_size(json_object_get(request, "peers")) > 0) {
		/* a fake that comes late has missed steps, in which the others committed without it */
		json_int_t missed =
			f->heard ? 0 : json_integer_value(json_object_get(request, "step")) - 1 - f->round;
		f->heard = true;
		commit(f);
		while (missed-- > 0 && f->round < f->rounds)
			commit(f);
		return;
	}
	f->heard = true;
	record(f, "warn", "attempt_failed",
	       json_pack("{s:I, s:s}", "round", (json_int_t)f->round + 1, "reason",
			 "no learner is in range"));
}

/* ---- the control socket ---- */

static void hear(struct fake *f, unsigned client, const char *line)
{
	json_t *request = json_loads(line, 0, NULL), *reply = json_pack("{s:b}", "ok", 1);
	const char *op = json_string_value(json_object_get(request, "op"));
	if (op == NULL)
		die("request without op");
	if (strcmp(op, "status") == 0)
		json_object_update_new(reply, json_pack("{s:I, s:s, s:i, s:I, s:{s:f}}", "round",
							(json_int_t)f->round + 1, "phase", "DISCOVER",
							"progress", 500, "committed", (json_int_t)f->round,
							"metrics", "loss", 0.25));
	if (strcmp(op, "status") == 0 && strcmp(f->fault, "disk") == 0)
		json_object_set_new(reply, "waits_for", json_string("its arithmetic"));
	say(f->clients[client], reply);
	json_decref(reply);
	f->watched[client] |= strcmp(op, "watch") == 0;
	if (strcmp(op, "range") == 0)
		hear_range(f, request);
	if (strcmp(op, "stop") == 0 && strcmp(f->fault, "linger") == 0)
		fprintf(stderr, "this fake does not hear\n");
	else
		f->stop |= strcmp(op, "stop") == 0;
	json_decref(request);
}

static void receive(struct fake *f, unsigned c)
{
	char *line = f->line[c], *newline;
	ssize_t n = read(f->clients[c], line + f->used[c], sizeof f->line[c] - 1 - f->used[c]);
	if (n <= 0) {
		close(f->clients[c]);
		f->clients[c] = -1;
		return;
	}
	f->used[c] += (size_t)n;
	while ((newline = memchr(line, '\n', f->used[c])) != NULL) {
		size_t taken = (size_t)(newline - line) + 1;
		*newline = '\0';
		hear(f, c, line);
		f->used[c] -= taken;
		memmove(line, line + taken, f->used[c]);
	}
}

static void take_client(struct fake *f)
{
	int fd = accept(f->listener, NULL, NULL);
	for (unsigned i = 0; i < CLIENTS_MOST && fd >= 0; i++) {
		if (f->clients[i] >= 0)
			continue;
		f->clients[i] = fd;
		f->used[i] = 0;
		f->watched[i] = false;
		return;
	}
}

static void serve(struct fake *f)
{
	struct pollfd polls[1 + CLIENTS_MOST] = {{.fd = f->listener, .events = POLLIN}};
	while (!f->stop) {
		for (unsigned i = 0; i < CLIENTS_MOST; i++)
			polls[1 + i] = (struct pollfd){.fd = f->clients[i], .events = POLLIN};
		if (poll(polls, 1 + CLIENTS_MOST, -1) < 0 && errno != EINTR)
			die("poll");
		for (unsigned i = 0; i < CLIENTS_MOST; i++)
			if (polls[1 + i].revents != 0)
				receive(f, i);
		if (polls[0].revents != 0)
			take_client(f);
	}
}

/* Goes on after the last checkpoint. */
static void resume(struct fake *f)
{
	char path[64];
	do
		snprintf(path, sizeof path, "state/checkpoints/round-%06u.safetensors", ++f->round);
	while (access(path, F_OK) == 0);
	f->round--;
}

static void open_all(struct fake *f)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "control.sock"};
	f->listener = socket(AF_UNIX, SOCK_STREAM, 0);
	unlink(address.sun_path);
	mkdir("state", 0700);
	mkdir("state/checkpoints", 0700);
	resume(f);
	if (bind(f->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
	    listen(f->listener, 4) != 0)
		die("control.sock");
	f->log = fopen("log.jsonl", "a");
	FILE *pid = fopen("fake.pid", "w");
	if (f->log == NULL || pid == NULL || fprintf(pid, "%d\n", (int)getpid()) < 0 || fclose(pid) != 0)
		die("files");
	for (unsigned i = 0; i < CLIENTS_MOST; i++)
		f->clients[i] = -1;
}

int main(int argc, char **argv)
{
	static struct fake f;
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* with its launcher */
	if (argc < 3 || strcmp(argv[1], "--config") != 0)
		return 2;
	sl_field_init(&field, SL_P_MERSENNE31);
	read_config(&f, argv[2]);
	read_fault(&f);
	if (strcmp(f.fault, "linger") == 0)
		signal(SIGTERM, SIG_IGN);
	if (strcmp(f.fault, "early") == 0)
		crash();
	if (strcmp(f.fault, "usage") == 0) {
		fprintf(stderr, "config.yaml:1:1: what the fake does not know\n");
		return 2;
	}
	while (strcmp(f.fault, "hidden") == 0 && access("../shown", F_OK) != 0)
		nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
	open_all(&f);
	train(&f);
	serve(&f);
	fclose(f.log);
	return 0;
}
