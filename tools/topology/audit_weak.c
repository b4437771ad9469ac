/* The report on the coalitions that learn more than the mean. */
#include <stdlib.h>

#include "tools/topology/annotations.h"
#include "tools/topology/audit.h"
#include "tools/topology/ids.h"
#include "tools/topology/json.h"
#include "tools/topology/leakage_text.h"
#include "tools/topology/weak.h"

#define COALITIONS_SAID 12u

/* ---- text ---- */

/* Write "learner 4, step 3 (and 2 more): learns x1+x2 and x3+x5". */
static void write_coalition(const struct sl_weak *weak, size_t at, struct sl_participants *m, FILE *out)
{
	const struct sl_weak_point *p = &weak->point[at];
	size_t steps = sl_weak_next(weak, at) - at;
	sl_participants_at(m, p->step);
	sl_participants_without(m, p->member, p->size);
	sl_ids_write_learners(out, p->member, p->size);
	fprintf(out, ", step %u", p->step + 1);
	if (steps > 1)
		fprintf(out, " (and %zu more)", steps - 1);
	fputs(": ", out);
	sl_leakage_text_learned(out, m, p->member, p->size, false);
	fputc('\n', out);
}

static size_t count_coalitions(const struct sl_weak *weak)
{
	size_t count = 0;
	for (size_t at = 0; at < weak->count; at = sl_weak_next(weak, at))
		count++;
	return count;
}

static void write_verdict(const struct sl_audit_request *r, const struct sl_weak *weak, size_t coalitions,
			  FILE *out)
{
	uint32_t c = r->tolerance, n = r->schedule->learners;
	char who[96];
	if (weak->rounds == 0) {
		fputs("PRIVATE: no step has a round.\n", out);
		return;
	}
	if (coalitions == 0) {
		fprintf(out, "PRIVATE: no %s learns more than the mean.\n",
			c == 1 ? "learner" : "coalition of that size");
		return;
	}
	if (c == 1)
		snprintf(who, sizeof who, "%zu of %u learners learn%s", coalitions, n,
			 coalitions == 1 ? "s" : "");
	else
		snprintf(who, sizeof who, "%zu coalition%s of up to %u learn%s", coalitions,
			 coalitions == 1 ? "" : "s", c, coalitions == 1 ? "s" : "");
	sl_leakage_text_not_private(out, who, 1, 1, c, n);
}

static void write_heading(const struct sl_audit_request *r, FILE *out)
{
	uint32_t c = r->tolerance;
	fputs("What ", out);
	if (c == 1)
		fprintf(out, "each of %u learners learns alone", r->schedule->learners);
	else
		fprintf(out, "up to %u of %u learners learn together", c, r->schedule->learners);
	fputs(" from the rounds, if more than the mean. " SL_LEARNED_LEGEND "\n", out);
}

static int print_text(const struct sl_audit_request *r, const struct sl_weak *weak, FILE *out,
		      struct sl_error *error)
{
	size_t said = 0, coalitions = count_coalitions(weak);
	struct sl_participants participants;
	struct sl_annotations text;
	(void)error;
	sl_participants_open(&participants, r->schedule, r->quorum);
	sl_annotations_open(&text);
	write_heading(r, text.out);
	for (size_t at = 0; at < weak->count && said < COALITIONS_SAID; at = sl_weak_next(weak, at), said++)
		write_coalition(weak, at, &participants, text.out);
	if (coalitions > said)
		fprintf(text.out, "... and %zu more; --json lists all\n", coalitions - said);
	write_verdict(r, weak, coalitions, text.out);
	sl_annotations_say(&text, out);
	sl_annotations_close(&text);
	sl_participants_close(&participants);
	return SL_OK;
}

/* ---- JSON ---- */

static json_t *coalition_json(const struct sl_weak *weak, size_t at)
{
	const struct sl_weak_point *p = &weak->point[at];
	json_t *steps = json_array();
	for (size_t i = at; i < sl_weak_next(weak, at); i++)
		json_array_append_new(steps, json_integer((json_int_t)weak->point[i].step + 1));
	return json_pack("{s:o, s:o}", "coalition", sl_json_ids(p->member, p->size), "steps", steps);
}

static int print_json(const struct sl_audit_request *request, const struct sl_weak *weak, FILE *out,
		      struct sl_error *error)
{
	json_t *coalitions = json_array();
	for (size_t at = 0; at < weak->count; at = sl_weak_next(weak, at))
		json_array_append_new(coalitions, coalition_json(weak, at));
	json_t *all = json_pack(
		"{s:I, s:I, s:I, s:I, s:o, s:b}", "learners", (json_int_t)request->schedule->learners,
		"quorum", (json_int_t)request->quorum, "tolerance", (json_int_t)request->tolerance, "rounds",
		(json_int_t)weak->rounds, "weak", coalitions, "private", weak->count == 0);
	return sl_json_print(all, out, error);
}

int sl_audit_weak(const struct sl_audit_request *request, FILE *out, bool *beyond, struct sl_error *error)
{
	struct sl_weak weak;
	int rc = sl_weak_find(&weak, request->schedule, request->quorum, request->tolerance, error);
	if (rc != SL_OK)
		return rc;
	rc = (request->json ? print_json : print_text)(request, &weak, out, error);
	*beyond = weak.count > 0;
	sl_weak_close(&weak);
	return rc;
}
