/* ask.h - the commands `starling mean`, `sum`, `count` and `histogram`: one learner's answer goes in, the
 * exact total of all learners comes out.
 *
 *   inputs -> question (question.h) -> learner (ask.c, libstarling) -> answer -> text (ask_print.c)
 *
 * With --local, the command starts a cluster with one learner for each input (ask_local.c). Each learner's
 * trainer is this command again, with --pick: it takes the input of its learner. */
#pragma once

#include "tools/starling/question.h"

struct sl_ask_options {
	struct sl_question_options question;
	const char *socket, *output;
	bool local, pick, json;
	struct sl_question_input *inputs;
	size_t count;
};

/* The exact totals of a round: the committed means times the number of learners. */
struct sl_ask_answer {
	sl_round round;
	uint32_t learners;
	struct sl_decimal *totals; /* of the cells */
	double *array;		   /* of an array: the mean, or the sum */
};

/* Give the answer of this learner and wait for the total. SL_ERR_RANGE: the settings of the learners do not
 * keep all digits; other errors are those of the run. */
int sl_ask(const struct sl_ask_options *options, const struct sl_question *question,
	   struct sl_ask_answer *answer, struct sl_error *error);
void sl_ask_close(struct sl_ask_answer *answer);

/* Print the answer to `out`, and who took part to `notes`. */
int sl_ask_print(const struct sl_ask_options *options, const struct sl_question *question,
		 const struct sl_ask_answer *answer, FILE *out, FILE *notes, struct sl_error *error);

/* Run a learner for each input on this machine, with `argv` for each; return the exit status. */
int sl_ask_local(const struct sl_ask_options *options, int argc, char **argv);
