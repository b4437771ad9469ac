/* The program itself, as a user starts it. */
#include "test/config/settings_folder.h"
#include "test/lib/test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static const char program[] = STARLING_PATH;

#define RECORD(ms, id, level, rest)                                                                          \
	"{\"time\":\"2026-11-21T12:00:00." ms "Z\",\"mono_ms\":" ms ".5,\"level\":\"" level                  \
	"\",\"learner\":" id ",\"name\":\"learner-0" id "\",\"event\":\"e\",\"text\":\"at " ms "\"" rest     \
	"}\n"

/* Runs a shell line with $S as the program; its exit status. */
static int sh(const char *line)
{
	setenv("S", program, 1);
	int status = system(line);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void expect_file(const char *path, const char *text)
{
	char got[16384];
	assert_string_equal(folder_get(path, got, sizeof got), text);
}

static void make_run(void)
{
	assert_int_equal(sh("mkdir -p run/learner-01 run/learner-02"), 0);
	folder_put("run/learner-01/log.jsonl",
		   RECORD("100", "1", "info", ",\"round\":1") RECORD("300", "1", "warn", ",\"round\":2"));
	folder_put("run/learner-02/log.jsonl",
		   RECORD("200", "2", "debug", ",\"round\":1") RECORD("250", "2", "info", "")
			   RECORD("400", "2", "error", ",\"round\":2"));
}

#define TEXT(ms, id, level) "12:00:00." ms " learner-0" id " " level " e          at " ms "\n"

TEST_WITH(merges_in_time, folder_enter, folder_leave)
{
	make_run();
	assert_int_equal(sh("\"$S\" logs run > out 2> err"), 0);
	expect_file("out", TEXT("100", "1", "info ") TEXT("200", "2", "debug") TEXT("250", "2", "info ")
				   TEXT("300", "1", "warn ") TEXT("400", "2", "error"));
	expect_file("err", "");
}

TEST_WITH(filters, folder_enter, folder_leave)
{
	make_run();
	assert_int_equal(sh("\"$S\" logs run --round 2 > out"), 0);
	expect_file("out", TEXT("300", "1", "warn ") TEXT("400", "2", "error"));
	assert_int_equal(sh("\"$S\" logs --learner 2 --level info run > out"), 0);
	expect_file("out", TEXT("250", "2", "info ") TEXT("400", "2", "error"));
	assert_int_equal(sh("\"$S\" logs --learner learner-01 --level=error run > out"), 0);
	expect_file("out", "");
}

TEST_WITH(says_what_there_is, folder_enter, folder_leave)
{
	make_run();
	assert_int_equal(sh("\"$S\" logs run --learner 3 > out 2> err"), 2);
	expect_file("out", "");
	expect_file(
		"err",
		"starling logs: run: no record of learner '3'; there are learner-01 (1), learner-02 (2)\n");
	assert_int_equal(sh("\"$S\" logs run --learner learner-2 2> err"), 2);
	assert_int_equal(sh("\"$S\" logs run --round 9 > out 2> err"), 0);
	expect_file("out", "");
	expect_file("err", "starling logs: run: no record of round 9; there are rounds 1 to 2\n");
	assert_int_equal(sh("\"$S\" logs run --round 2 --level error --learner 1 > out 2> err"), 0);
	expect_file("err", "");
}

TEST_WITH(json_passes_through, folder_enter, folder_leave)
{
	make_run();
	assert_int_equal(sh("\"$S\" logs run --json --learner 1 > out && cmp out run/learner-01/log.jsonl"),
			 0);
}

TEST_WITH(a_files_order_is_kept, folder_enter, folder_leave)
{
	assert_int_equal(sh("mkdir -p run/a run/b"), 0);
	folder_put("run/a/log.jsonl", RECORD("500", "1", "info", "") RECORD("100", "1", "info", ""));
	folder_put("run/b/log.jsonl", RECORD("500", "2", "info", "") RECORD("600", "2", "info", ""));
	assert_int_equal(sh("\"$S\" logs run > out"), 0);
	expect_file("out", TEXT("500", "1", "info ") TEXT("100", "1", "info ") TEXT("500", "2", "info ")
				   TEXT("600", "2", "info "));
}

TEST_WITH(counts_malformed_lines, folder_enter, folder_leave)
{
	assert_int_equal(sh("mkdir -p run/a run/b"), 0);
	folder_put("run/a/log.jsonl",
		   "nonsense\n" RECORD("100", "1", "info", "") "[1]\n{\"time\":3}\n{\"time\":\"20");
	folder_put("run/b/log.jsonl", RECORD("200", "2", "info", ""));
	assert_int_equal(sh("head -c 3000000 /dev/zero >> run/b/log.jsonl; printf '\\n' >> run/b/log.jsonl"),
			 0);
	assert_int_equal(sh("\"$S\" logs run > out 2> err"), 0);
	expect_file("out", TEXT("100", "1", "info ") TEXT("200", "2", "info "));
	expect_file("err", "starling logs: 5 malformed lines left out, the first at a/log.jsonl:1\n");
}

TEST_WITH(many_files_make_one_stream, folder_enter, folder_leave)
{
	assert_int_equal(sh("i=1; while [ $i -le 40 ]; do mkdir -p run/$i; j=100; while [ $j -lt 150 ]; do "
			    "echo \"{\\\"time\\\":\\\"2026-11-21T12:00:00.$((j + i * 7 % "
			    "13))Z\\\",\\\"text\\\":\\\"$i $j\\\"}\"; "
			    "j=$((j + 1)); done > run/$i/log.jsonl; i=$((i + 1)); done"),
			 0);
	assert_int_equal(sh("\"$S\" logs run --json > out && test $(wc -l < out) = 2000 && "
			    "cut -c1-34 out > times && LC_ALL=C sort -c -s times"),
			 0);
}

TEST_WITH(clear_errors, folder_enter, folder_leave)
{
	assert_int_equal(sh("\"$S\" logs none 2> err"), 2);
	expect_file("err", "starling logs: none: No such file or directory\n");
	assert_int_equal(sh("mkdir empty; \"$S\" logs empty 2> err"), 2);
	expect_file("err", "starling logs: empty: no log.jsonl in it or in its folders; a learner writes one "
			   "with the setting `log: log.jsonl`\n");
	assert_int_equal(sh("\"$S\" logs --level loud empty 2> err"), 2);
	expect_file("err", "starling logs: --level: 'loud' is not one of debug, info, warn, error\n");
	assert_int_equal(sh("\"$S\" logs --round 0 empty 2> err"), 2);
	expect_file("err", "starling logs: --round 0: must be a whole number from 1 to 4294967295\n");
	assert_int_equal(sh("\"$S\" logs 2> err"), 2);
	expect_file("err", "starling logs: give the run folder; see 'starling logs --help'\n");
}

TEST_WITH(a_closed_pipe_is_quiet, folder_enter, folder_leave)
{
	assert_int_equal(sh("mkdir -p run/a; yes '{\"time\":\"2026-11-21T12:00:00.100Z\",\"text\":\"x\"}' | "
			    "head -20000 "
			    "> run/a/log.jsonl"),
			 0);
	assert_int_equal(sh("{ \"$S\" logs run 2> err; echo $? > status; } | head -1 > out"), 0);
	expect_file("status", "0\n");
	expect_file("err", "");
	assert_int_equal(sh("\"$S\" logs run > /dev/full 2> err"), 1);
	expect_file("err", "starling logs: cannot write standard output: No space left on device\n");
}

/* ---- --follow ---- */

static pid_t start_following(void)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	int out = open("out", O_WRONLY | O_CREAT | O_APPEND, 0600);
	dup2(out, STDOUT_FILENO);
	execl(program, program, "logs", "run", "--follow", (char *)NULL);
	_exit(127);
}

/* Waits until the file `out` reads so, ten seconds at most. */
static void await_out(const char *text)
{
	char got[4096] = "";
	for (int i = 0; i < 1000; i++) {
		if (access("out", R_OK) == 0 && strcmp(folder_get("out", got, sizeof got), text) == 0)
			return;
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
	assert_string_equal(got, text);
}

static void append(const char *path, const char *text)
{
	FILE *file = fopen(path, "ae");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

TEST_WITH(follows_lines_and_files, folder_enter, folder_leave)
{
	int status = 0;
	assert_int_equal(sh("mkdir -p run/a run/b"), 0);
	folder_put("run/a/log.jsonl", RECORD("100", "1", "info", "") "{\"time\":\"2026-11-21T12:0");
	pid_t pid = start_following();
	await_out(TEXT("100", "1", "info "));
	append("run/a/log.jsonl", "0:00.200Z\",\"name\":\"learner-01\",\"level\":\"info\",\"event\":\"e\","
				  "\"text\":\"at 200\"}\n");
	await_out(TEXT("100", "1", "info ") TEXT("200", "1", "info "));
	append("run/b/log.jsonl", RECORD("300", "2", "warn", ""));
	await_out(TEXT("100", "1", "info ") TEXT("200", "1", "info ") TEXT("300", "2", "warn "));
	assert_int_equal(kill(pid, SIGINT), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

TEST_WITH(following_ends_with_its_reader, folder_enter, folder_leave)
{
	make_run();
	assert_int_equal(sh("{ timeout 10 \"$S\" logs run --follow; echo $? > status; } | head -1 > out"), 0);
	expect_file("status", "0\n");
}

/* ---- the program and `starling keygen` ---- */

TEST_WITH(names_its_commands, folder_enter, folder_leave)
{
	assert_int_equal(sh("\"$S\" --help > out && grep -q '^  logs ' out && grep -q '^  keygen ' out"), 0);
	assert_int_equal(sh("\"$S\" help logs > out && \"$S\" logs --help | cmp - out"), 0);
	assert_int_equal(sh("\"$S\" help lgos 2> err"), 2);
	expect_file("err", "starling: unknown command 'lgos'; did you mean 'logs'?\n");
	assert_int_equal(sh("\"$S\" --version | grep -q '^starling [0-9]'"), 0);
	assert_int_equal(sh("\"$S\" lgos 2> err"), 2);
	expect_file("err", "starling: unknown command 'lgos'; did you mean 'logs'?\n");
	assert_int_equal(sh("\"$S\" launch -n 3 --set --what=1 --lerners 3 2> err"), 2);
	expect_file("err", "starling launch: unknown option '--lerners'; did you mean '--learners'?\n");
	assert_int_equal(sh("\"$S\" topology analyze ring --stepps=3 2> err"), 2);
	expect_file("err", "starling topology analyze: unknown option '--stepps'; did you mean '--steps'?\n");
	assert_int_equal(sh("\"$S\" logs --hepl 2> err"), 2);
	expect_file("err", "starling logs: unknown option '--hepl'; did you mean '--help'?\n");
	assert_int_equal(sh("\"$S\" logs --colour 2> err"), 2);
	assert_int_equal(sh("grep -q \"starling logs: unrecognized option '--colour'\" err"), 0);
	assert_int_equal(sh("\"$S\" --colour 2> err"), 2);
	expect_file("err", "starling: unknown option '--colour'; see 'starling --help'\n");
	assert_int_equal(sh("\"$S\" > out 2> err"), 2);
	expect_file("out", "");
}

TEST_WITH(names_what_became_of_old_commands, folder_enter, folder_leave)
{
	static const char *const old[][2] = {{"init", "'starling keygen'"},
					     {"abandon", "'starling abort'"},
					     {"bench", "starling-bench"},
					     {"sim", "simtest"},
					     {"reproduce", "starling-paper"}};
	for (size_t i = 0; i < sizeof old / sizeof *old; i++) {
		char line[128];
		snprintf(line, sizeof line, "\"$S\" %s --help > out 2> err", old[i][0]);
		assert_int_equal(sh(line), 2);
		snprintf(line, sizeof line, "grep -qF \"%s\" err && test $(wc -l < err) = 1", old[i][1]);
		assert_int_equal(sh(line), 0);
		expect_file("out", "");
	}
}

TEST_WITH(keygen_prints_its_line_only, folder_enter, folder_leave)
{
	assert_int_equal(sh("\"$S\" keygen --id 3 --name clinic-c --address 10.0.0.3:7400 >> roster 2> err"),
			 0);
	assert_int_equal(sh("grep -Eqx -- '- \\{id: 3, name: clinic-c, address: \"10.0.0.3:7400\", key: "
			    "\"sha256:[0-9a-f]{64}\"\\}' roster && test $(wc -l < roster) = 1"),
			 0);
	assert_int_equal(sh("\"$S\" keygen --show > shown && cmp roster shown"), 0);
	assert_int_equal(sh("\"$S\" keygen --show --id 4 | sed 's/id: 4/id: 3/' > shown && cmp roster shown"),
			 0);
	assert_int_equal(sh("\"$S\" keygen --id 3 --name c --address h:1 > out 2> err"), 2);
	expect_file("out", "");
	expect_file("err", "starling keygen: identity/key.pem: exists; an identity is never overwritten\n");
}

TEST_WITH(keygen_refuses_bad_words, folder_enter, folder_leave)
{
	assert_int_equal(sh("\"$S\" keygen --id 0 --name c --address h:1 2> err"), 2);
	expect_file("err", "starling keygen: --id 0: must be a whole number from 1 to 4294967295\n");
	assert_int_equal(sh("\"$S\" keygen --id 1 --name c 2> err"), 2);
	expect_file("err",
		    "starling keygen: --id, --name and --address are needed; see 'starling keygen --help'\n");
	assert_int_equal(sh("\"$S\" keygen --id 1 --name c --address h 2> err"), 2);
	expect_file("err",
		    "starling keygen: --address: 'h' is not an address; expected HOST:PORT or [IPV6]:PORT\n");
	assert_int_equal(sh("\"$S\" keygen --show --dir none 2> err"), 2);
	expect_file("err", "starling keygen: none/key.pem: No such file or directory\n");
	assert_int_equal(sh("test ! -e identity"), 0);
}
