/* `starling status --watch`: the same again and again. On a terminal a screen that is redrawn in place, in
 * one write; in a pipe a line for each change.
 *
 * Owns the state of the terminal, which it restores. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "tools/lib/command.h"
#include "tools/lib/progress.h"
#include "tools/lib/terminal.h"
#include "tools/starling/status.h"

#define REPEAT_MS 1000
#define CHANGE_BYTES 640u

static volatile sig_atomic_t ended;

static void on_signal(int number)
{
	(void)number;
	ended = 1;
}

static void catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = on_signal};
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaction(signals[i], &action, NULL);
	signal(SIGTSTP, SIG_IGN); /* the terminal would stay as it is */
}

/* ---- a terminal ---- */

struct tty {
	struct termios before;
	bool keys; /* standard input is a terminal, of which single keys are read */
};

static void tty_open(struct tty *tty)
{
	struct termios raw;
	tty->keys = tcgetattr(STDIN_FILENO, &tty->before) == 0;
	raw = tty->before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO); /* Ctrl-C stays a signal */
	if (tty->keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	fputs("\033[?1049h\033[?25l", stdout); /* another screen, no cursor */
}

static void tty_close(const struct tty *tty)
{
	fputs("\033[?25h\033[?1049l", stdout);
	fflush(stdout);
	if (tty->keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &tty->before);
}

/* Wait for the next time to ask; return false after q or a signal. */
static bool wait_key(bool keys)
{
	struct pollfd in = {.fd = keys ? STDIN_FILENO : -1, .events = POLLIN};
	char key = 0;
	if (ended)
		return false;
	if (poll(&in, 1, REPEAT_MS) > 0 && read(STDIN_FILENO, &key, 1) != 1)
		return false;
	return !ended && key != 'q' && key != 'Q';
}

/* ---- the screen ---- */

static sl_round most_rounds(const struct sl_status_all *all)
{
	sl_round rounds = 0;
	for (size_t i = 0; i < all->of.count; i++)
		rounds = all->rows[i].rounds > rounds ? all->rows[i].rounds : rounds;
	return rounds;
}

/* Write the bar: committed rounds of all, and the time left. */
static void write_bar(const struct sl_status_all *all, struct sl_pace *pace, size_t width, char *text,
		      size_t size)
{
	sl_round done = sl_status_least(all), rounds = most_rounds(all);
	*text = '\0';
	if (rounds == 0)
		return;
	struct sl_bar bar = {.round = done, .rounds = rounds, .phase = "done", .part = (double)done / rounds};
	bar.left_s = sl_progress_left_s(pace, done, rounds);
	sl_progress_bar_format(&bar, width, text, size);
}

static void draw(const struct sl_status_all *all, struct sl_pace *pace)
{
	struct winsize size = {0};
	char *frame = NULL, *line, bar[512], clock[16];
	size_t bytes, width = sl_terminal_width(stdout);
	time_t now = time(NULL);
	FILE *out = open_memstream(&frame, &bytes);
	if (out == NULL)
		return;
	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	strftime(clock, sizeof clock, "%H:%M:%S", localtime(&now));
	write_bar(all, pace, width < 8 ? 8 : width, bar, sizeof bar);
	fprintf(out, "%s  q ends  %.*s\n", clock, width > 20 ? (int)width - 20 : 0,
		*all->of.folder != '\0' ? all->of.folder : "");
	fprintf(out, "%s\n", bar);
	sl_status_print(all, out, width, size.ws_row > 8 ? size.ws_row - 3u : 5);
	fclose(out);
	fputs("\033[H", stdout);
	for (char *rest = frame; (line = strsep(&rest, "\n")) != NULL && rest != NULL;)
		printf("%s\033[K\n", line); /* to the end of the line: nothing is cleared first */
	fputs("\033[J", stdout);
	fflush(stdout);
	free(frame);
}

/* ---- a pipe ---- */

static void write_change(const struct sl_status_all *all, const struct sl_status_row *row, char *text)
{
	char wait[CHANGE_BYTES / 2] = "";
	double phase_s = json_number_value(json_object_get(row->status, "phase_s"));
	if (row->status == NULL) {
		snprintf(text, CHANGE_BYTES, "%s: %s, round %u committed", sl_status_name(row),
			 sl_status_state_name(row->state), row->committed);
		return;
	}
	if (row->state != SL_STATUS_RUNNING || phase_s >= 1)
		sl_status_wait(all, row, wait, sizeof wait);
	snprintf(text, CHANGE_BYTES, "%s: round %lld of %u, attempt %lld%s%s%s%s", sl_status_name(row),
		 sl_learners_number(row->status, "round"), row->rounds,
		 sl_learners_number(row->status, "attempt"), *wait != '\0' ? ", " : "",
		 *wait != '\0' ? sl_learners_text(row->status, "phase") : "", *wait != '\0' ? ", " : "",
		 wait);
}

/* Print a line for each learner that has changed since the last time. */
static void print_changes(const struct sl_status_all *all, char (*said)[CHANGE_BYTES])
{
	char text[CHANGE_BYTES], clock[16];
	time_t now = time(NULL);
	strftime(clock, sizeof clock, "%H:%M:%S", localtime(&now));
	for (size_t i = 0; i < all->of.count; i++) {
		write_change(all, &all->rows[i], text);
		if (strcmp(text, said[i]) != 0)
			printf("%s %s\n", clock, text);
		memcpy(said[i], text, sizeof text);
	}
}

static void print_json(const struct sl_status_all *all)
{
	json_t *document = sl_status_json(all);
	sl_command_print_json(document, JSON_COMPACT | JSON_REAL_PRECISION(15));
}

/* A screen stays until it is left; a pipe ends with the run. */
int sl_status_watch(struct sl_status_all *all, bool json)
{
	bool screen = !json && isatty(STDOUT_FILENO) && sl_terminal_width(stdout) > 0;
	char(*said)[CHANGE_BYTES] = sl_command_memory(all->of.count, sizeof *said);
	struct tty tty = {0};
	struct sl_pace pace = {0};
	catch_signals();
	if (screen)
		tty_open(&tty);
	do {
		sl_status_read(all);
		if (screen)
			draw(all, &pace);
		else if (json)
			print_json(all);
		else
			print_changes(all, said);
		if (fflush(stdout) != 0) {
			sl_command_output_failed();
			break;
		}
	} while ((screen || !sl_status_over(all)) && wait_key(tty.keys));
	if (screen)
		tty_close(&tty);
	free(said);
	return sl_status_exit(all);
}
