/* Nobody is named: which coalitions learn more than the mean. */
#include <stdlib.h>

#include "tools/lib/terminal.h"
#include "tools/topology/audit.h"
#include "tools/topology/ids.h"
#include "tools/topology/json.h"
#include "tools/topology/leakage_text.h"
#include "tools/topology/weak.h"

#define COALITIONS_SAID 12u

/* ---- text ---- */

struct report {
	const struct sl_audit_request *request;
	const struct sl_weak *weak;
	struct sl_participants participants;
};

/* "learner 4, step 3 (and 2 more): learns x1+x2 and x3+x5" */
static int write_coalition(struct report *r, size_t at, FILE *out)
{
	const struct sl_weak_point *p = &r->weak->point[at];
	size_t steps = sl_weak_next(r->weak, at) - at;
	int rc = sl_participants_at(&r->participants, p->step);
	if (rc != SL_OK)
		return rc;
	sl_participants_without(&r->participants, p->member, p->size);
	sl_ids_write_learners(out, p->member, p->size);
	fprintf(out, ", step %u", p->step + 1);
	if (steps > 1)
		fprintf(out, " (and %zu more)", steps - 1);
	fputs(": ", out);
	sl_leakage_text_learned(out, &r->participants, p->member, p->size, false);
	fputc('\n', out);
	return SL_OK;
}

static size_t count_coalitions(const struct sl_weak *weak)
{
	size_t count = 0;
	for (size_t at = 0; at < weak->count; at = sl_weak_next(weak, at))
		count++;
	return count;
}

static void write_verdict(const struct report *r, size_t coalitions, FILE *out)
{
	uint32_t c = r->request->tolerance, n = r->request->schedule->learners;
	char who[96];
	if (r->weak->rounds == 0) {
		fputs("PRIVATE: there is no round, and nothing to learn.\n", out);
		return;
	}
	if (coalitions == 0) {
		fprintf(out, "PRIVATE: no %s more than the mean, which everybody gets.\n",
			c == 1 ? "learner learns" : "coalition as small as that learns");
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

static void write_heading(const struct report *r, FILE *out)
{
	uint32_t c = r->request->tolerance;
	fputs("What ", out);
	if (c == 1)
		fprintf(out, "each of %u learners learns on its own", r->request->schedule->learners);
	else
		fprintf(out, "up to %u of %u learners learn together", c, r->request->schedule->learners);
	fputs(" from the rounds, if more than the mean. " SL_LEARNED_LEGEND "\n", out);
}

static int write_report(struct report *r, FILE *out)
{
	size_t said = 0, coalitions = count_coalitions(r->weak);
	write_heading(r, out);
	for (size_t at = 0; at < r->weak->count && said < COALITIONS_SAID;
	     at = sl_weak_next(r->weak, at), said++) {
		int rc = write_coalition(r, at, out);
		if (rc != SL_OK)
			return rc;
	}
	if (coalitions > said)
		fprintf(out, "... and %zu more; --json names them all\n", coalitions - said);
	write_verdict(r, coalitions, out);
	return SL_OK;
}

static int print_text(const struct sl_audit_request *request, const struct sl_weak *weak, FILE *out,
		      struct sl_error *error)
{
	struct report r = {.request = request, .weak = weak};
	char *text = NULL;
	size_t bytes = 0, width = sl_terminal_width(out);
	FILE *memory = open_memstream(&text, &bytes);
	int rc = sl_participants_open(&r.participants, request->schedule, request->quorum);
	if (memory == NULL)
		rc = SL_ERR_NOMEM;
	if (rc == SL_OK)
		rc = write_report(&r, memory);
	if (memory != NULL && fclose(memory) == 0 && rc == SL_OK)
		sl_terminal_fill(out, text, width > 0 ? width : SL_WIDTH_USUAL);
	free(text);
	sl_participants_close(&r.participants);
	return rc == SL_OK ? SL_OK : sl_err_set(error, rc, "%s", sl_err_text(rc));
}

/* ---- JSON ---- */

static json_t *coalition_json(const struct sl_weak *weak, size_t at)
{
	const struct sl_weak_point *p = &weak->point[at];
	json_t *steps = json_array();
	for (size_t i = at; i < sl_weak_next(weak, at); i++)
		json_array_append_new(steps, json_integer((json_int_t)weak->point[i].step + 1));
	return json_pack("{s:o, s:o}", "suspects", sl_json_ids(p->member, p->size), "steps", steps);
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
