#include "tools/starling/ask.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/libstarling/starling.h"

/* ---- the tensors ---- */

static struct starling *join(const struct sl_ask_options *o, const struct sl_question *q)
{
	struct starling_tensor *tensors = calloc(q->count, sizeof *tensors);
	struct starling *s = NULL;
	size_t count = q->array.values != NULL ? 1 : q->count;
	if (tensors == NULL)
		return NULL;
	for (size_t i = 0; i < count; i++)
		tensors[i] = (struct starling_tensor){q->cells[i].name, STARLING_FLOAT64, q->array.dimensions,
						      q->array.shape, 0};
	s = starling_join(o->socket, tensors, count, NULL, STARLING_MODEL);
	free(tensors);
	return s;
}

static void give(struct starling *s, const struct sl_question *q)
{
	double *up = s->up;
	if (q->array.values != NULL)
		memcpy(up, q->array.values, s->bytes);
	else
		for (size_t i = 0; i < q->count; i++)
			up[i] = sl_decimal_double(&q->cells[i].value);
	starling_trained(s, 1, NULL);
}

/* ---- what the settings of the learners keep ---- */

static int check_settings(const struct starling *s, const struct sl_question *q, struct sl_error *error)
{
	double largest = sl_question_largest(q);
	if (s->decimals >= 0 && q->decimals > (uint32_t)s->decimals)
		return sl_err_set(
			error, SL_ERR_RANGE,
			"a value has %u decimals, and the learners keep %d: set decimals: %u at all of them",
			q->decimals, s->decimals, q->decimals);
	if (s->clipping_range > 0 && largest > s->clipping_range)
		return sl_err_set(
			error, SL_ERR_RANGE,
			"%.15g is beyond clipping_range %g of the learners: set clipping_range: %g at "
			"all of them",
			largest, s->clipping_range, pow(10, ceil(log10(largest))));
	return SL_OK;
}

/* ---- the answer ---- */

#define DIGITS 15 /* that a double keeps of a total */
#define TOTAL_END 1e15L

/* Set *total to the total near `value`, with the decimals that the learners keep; exact values, with as many
 * as make 15 digits. */
static int set_total(const struct starling *s, const char *name, long double value, uint32_t typed,
		     struct sl_decimal *total, struct sl_error *error)
{
	uint32_t decimals = s->decimals >= 0 ? (uint32_t)s->decimals : typed;
	while (s->decimals < 0 && decimals < SL_DECIMALS_MAX &&
	       fabsl(value) * powl(10, decimals + 1) < TOTAL_END)
		decimals++;
	long double digits = rintl(value * powl(10, decimals));
	if (fabsl(digits) >= TOTAL_END)
		return sl_err_set(
			error, SL_ERR_RANGE,
			"%s: the total has more than %d digits, which is not exact: use a larger unit", name,
			DIGITS);
	*total = (struct sl_decimal){(int64_t)digits, decimals};
	return SL_OK;
}

static int take_cells(const struct starling *s, const struct sl_question *q, struct sl_ask_answer *answer,
		      struct sl_error *error)
{
	const double *means = s->down;
	int rc = SL_OK;
	answer->totals = calloc(q->count, sizeof *answer->totals);
	if (answer->totals == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	for (size_t i = 0; rc == SL_OK && i < q->count; i++)
		rc = set_total(s, q->cells[i].name, (long double)means[i] * (long double)s->total_weight,
			       i == 0 ? q->decimals : 0, &answer->totals[i], error);
	return rc;
}

/* Return a total of an array: of exact values, rounded to as many digits as its mean has. */
static double total_of(const struct starling *s, double mean)
{
	char text[32];
	long double sum = (long double)mean * (long double)s->total_weight, unit = powl(10, s->decimals);
	if (s->decimals >= 0)
		return (double)(rintl(sum * unit) / unit);
	snprintf(text, sizeof text, "%.*Lg", DIGITS, sum);
	return strtod(text, NULL);
}

static int take_array(const struct starling *s, const struct sl_question *q, struct sl_ask_answer *answer,
		      struct sl_error *error)
{
	const double *means = s->down;
	answer->array = malloc(s->bytes);
	if (answer->array == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	for (size_t i = 0; i < s->elements; i++)
		answer->array[i] = q->options.kind == SL_QUESTION_MEAN ? means[i] : total_of(s, means[i]);
	return SL_OK;
}

static int take_answer(const struct starling *s, const struct sl_question *q, struct sl_ask_answer *answer,
		       struct sl_error *error)
{
	int rc = check_settings(s, q, error); /* of settings that are agreed in the round */
	if (rc != SL_OK)
		return rc;
	if (s->participants == 0)
		return sl_err_set(
			error, SL_ERR_NOTFOUND,
			"round %u is committed, but the learner was started again and no longer knows "
			"how many took part: ask again",
			s->committed);
	sl_ask_close(answer);
	answer->round = s->committed;
	answer->learners = s->participants;
	return q->array.values != NULL ? take_array(s, q, answer, error) : take_cells(s, q, answer, error);
}

void sl_ask_close(struct sl_ask_answer *answer)
{
	free(answer->totals);
	free(answer->array);
	*answer = (struct sl_ask_answer){0};
}

/* ---- the round ---- */

#define NEW_RUN "start all daemons with another run: and another state:"

/* Set the error that the learner told. */
static int take_error(const char *text, struct sl_error *error)
{
	bool second = strstr(text, "this run") != NULL;
	return sl_err_set(error, SL_ERR_REFUSED, "%s%s", text,
			  second ? ": a run answers one question: for another one, " NEW_RUN : "");
}

/* Print what the learner waits for. An error: waiting does not help. */
static int take_waiting(const char *text, struct sl_error *error)
{
	fprintf(stderr, "%s\n", text);
	if (strstr(text, "trains another model") == NULL)
		return SL_PENDING;
	return sl_err_set(error, SL_ERR_REFUSED,
			  "all learners must ask the same question: the same command, --column, categories, "
			  "bins and shape of an array; agree on it, and " NEW_RUN);
}

/* Take an event. SL_PENDING: go on. *given is the round that was answered, 0: none. */
static int take_event(struct starling *s, enum starling_event event, const struct sl_question *q,
		      uint32_t *given, struct sl_ask_answer *answer, struct sl_error *error)
{
	int rc;
	switch (event) {
	case STARLING_JOINED:
		rc = check_settings(s, q, error);
		return rc == SL_OK ? SL_PENDING : rc;
	case STARLING_TRAIN:
		if (*given != 0 && s->committed >= *given)
			return take_answer(s, q, answer, error);
		if (s->again) /* the same numbers beside those of other learners would tell one learner's */
			return sl_err_set(error, SL_ERR_REFUSED,
					  "round %u failed after deposit keys were sent; the same answer "
					  "again could reveal it: start a new run (setting run)",
					  s->round);
		*given = s->round;
		give(s, q);
		return SL_PENDING;
	case STARLING_MEAN:
		rc = take_answer(s, q, answer, error);
		if (*given != 0 && s->committed >= *given)
			return rc;
		return SL_PENDING; /* of an earlier call, which was interrupted: the answer if no round is
				      left */
	case STARLING_DONE:
		return answer->round != 0
			       ? SL_OK
			       : sl_err_set(error, SL_ERR_REFUSED,
					    "the run is over: all of its %u rounds are committed; start the "
					    "learners with more rounds, or with another run",
					    s->rounds);
	case STARLING_WAITING:
		return take_waiting(s->text, error);
	case STARLING_REFUSED:
	case STARLING_ERROR:
		return take_error(s->text, error);
	case STARLING_LOST:
	case STARLING_NONE:
		break;
	}
	return SL_PENDING;
}

int sl_ask(const struct sl_ask_options *options, const struct sl_question *question,
	   struct sl_ask_answer *answer, struct sl_error *error)
{
	const char *variable = getenv("STARLING_SOCKET");
	*answer = (struct sl_ask_answer){0};
	if (options->socket == NULL && (variable == NULL || *variable == '\0'))
		return sl_err_set(error, SL_ERR_NOTFOUND,
				  "no learner is named: give the socket of yours with --socket PATH or "
				  "STARLING_SOCKET, or try the command with --local and at least 3 values");
	struct starling *s = join(options, question);
	uint32_t given = 0;
	int rc = s != NULL ? SL_PENDING : sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	while (rc == SL_PENDING)
		rc = take_event(s, starling_wait(s, -1), question, &given, answer, error);
	starling_leave(s);
	return rc;
}
