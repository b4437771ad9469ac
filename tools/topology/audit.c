/* The report on what a named coalition learns. */
#include "tools/topology/audit.h"

#include <assert.h>
#include <stdlib.h>

#include "tools/lib/command.h"
#include "tools/topology/annotations.h"
#include "tools/topology/ids.h"
#include "tools/topology/json.h"
#include "tools/topology/leakage_text.h"

struct inquiry {
	const struct sl_audit_request *request;
	struct sl_participants participants;
	struct sl_leakage leakage; /* over all steps so far */
	struct sl_annotations text;
	void *memory; /* of the audit */
	uint32_t rounds,
		beyond; /* steps with a quorum; steps in which the coalition learns more than the mean */
	uint32_t groups_most; /* sums learned in a step, at most */
};

static int open_inquiry(struct inquiry *q, const struct sl_audit_request *request)
{
	struct sl_field field;
	struct sl_arena arena;
	uint32_t n = request->schedule->learners;
	size_t bytes = sl_leakage_bytes(n);
	*q = (struct inquiry){.request = request, .memory = sl_command_memory(1, bytes)};
	sl_participants_open(&q->participants, request->schedule, request->quorum);
	sl_annotations_open(&q->text);
	sl_arena_init(&arena, q->memory, bytes);
	int rc = sl_field_init(&field, SL_P_MERSENNE31);
	if (rc == SL_OK)
		rc = sl_leakage_init(&q->leakage, n, &field, &arena);
	return rc == SL_OK ? sl_leakage_coalition(&q->leakage, request->coalition, request->count) : rc;
}

static void close_inquiry(struct inquiry *q)
{
	sl_participants_close(&q->participants);
	sl_annotations_close(&q->text);
	free(q->memory);
}

static void ask_step(struct inquiry *q, uint32_t step)
{
	struct sl_participants *m = &q->participants;
	sl_participants_at(m, step);
	sl_participants_without(m, q->request->coalition, q->request->count);
	if (m->present_count == 0)
		return;
	uint32_t groups = sl_leakage_round(&q->leakage, &m->graph, m->present, NULL);
	assert(groups == m->groups);
	q->rounds++;
	q->beyond += sl_participants_beyond(m);
	if (groups > q->groups_most)
		q->groups_most = groups;
}

/* Return whether all steps together reveal more than one of them alone. */
static bool together(const struct inquiry *q)
{
	return q->leakage.rank > q->groups_most;
}

static bool verdict(const struct inquiry *q)
{
	return q->beyond > 0 || (q->request->unchanged && together(q));
}

/* ---- text ---- */

static void write_heading(FILE *out, const struct inquiry *q)
{
	const struct sl_audit_request *r = q->request;
	fputs("What ", out);
	sl_ids_write_learners(out, r->coalition, r->count);
	fprintf(out, " of %u %s from the rounds. ", r->schedule->learners,
		r->count == 1 ? "learns" : "learn together");
	fputs(SL_LEARNED_LEGEND "\n", out);
}

static void write_together(FILE *out, const struct inquiry *q)
{
	if (q->rounds < 2)
		return;
	fputs("all steps: ", out);
	if (!together(q)) {
		fputs("no more than that, even if no model changes between steps\n", out);
		return;
	}
	fprintf(out, "if no model changes between steps, %s ", q->request->count == 1 ? "learns" : "learn");
	sl_leakage_text_span(out, &q->leakage);
	fputc('\n', out);
}

static void write_verdict(FILE *out, const struct inquiry *q)
{
	const struct sl_audit_request *r = q->request;
	const char *who = r->count == 1 ? "it learns" : "together they learn";
	if (q->rounds == 0)
		fputs("PRIVATE: no step has a round.\n", out);
	else if (q->beyond > 0)
		sl_leakage_text_not_private(out, who, q->beyond, q->rounds, (uint32_t)r->count,
					    r->schedule->learners);
	else if (together(q))
		fprintf(out,
			"%s: %s no more than the mean in each round, but more from all rounds together if "
			"models do not change in between.\n",
			r->unchanged ? "NOT PRIVATE" : "PRIVATE while models change", who);
	else
		fprintf(out, "PRIVATE: %s no more than the mean.\n", who);
}

static int print_text(struct inquiry *q, FILE *out, struct sl_error *error)
{
	const struct sl_audit_request *r = q->request;
	(void)error;
	write_heading(q->text.out, q);
	sl_annotations_say(&q->text, out);
	for (uint32_t s = 0; s < r->schedule->steps; s++) {
		ask_step(q, s);
		sl_leakage_text_learned(q->text.out, &q->participants, r->coalition, r->count, true);
		sl_annotations_add(&q->text, s);
	}
	sl_annotations_print(&q->text, out);
	write_together(q->text.out, q);
	write_verdict(q->text.out, q);
	sl_annotations_say(&q->text, out);
	return SL_OK;
}

/* ---- JSON ---- */

static json_t *step_json(const struct inquiry *q, uint32_t step)
{
	const struct sl_participants *m = &q->participants;
	json_t *groups = json_array(), *absent = json_array();
	for (uint32_t g = 0; g < m->groups; g++)
		json_array_append_new(groups,
				      sl_json_ids(m->member + m->start[g], sl_participants_size(m, g)));
	for (uint32_t v = 0; v < m->graph.n; v++)
		if (!m->present[v])
			json_array_append_new(absent, json_integer((json_int_t)v + 1));
	return json_pack("{s:I, s:b, s:o, s:o, s:b}", "step", (json_int_t)step + 1, "round",
			 m->present_count > 0, "absent", absent, "sums", groups, "beyond_mean",
			 sl_participants_beyond(m));
}

/* {"1": 1, "4": -2}: x1 - 2 x4. */
static json_t *combination(const int32_t *coefficients, uint32_t n)
{
	char id[16];
	json_t *all = json_object();
	for (uint32_t v = 0; v < n; v++) {
		snprintf(id, sizeof id, "%u", v + 1);
		if (coefficients[v] != 0)
			json_object_set_new(all, id, json_integer(coefficients[v]));
	}
	return all;
}

static json_t *span_json(const struct inquiry *q)
{
	const struct sl_leakage *a = &q->leakage;
	json_t *revealed = json_array(), *basis = json_array();
	int32_t *coefficients = sl_command_memory(a->n, sizeof *coefficients);
	for (uint32_t v = 0; v < a->n; v++) {
		if (sl_leakage_reveals(a, v))
			json_array_append_new(revealed, json_integer((json_int_t)v + 1));
		if (sl_leakage_row(a, v) != NULL)
			json_array_append_new(basis,
					      sl_leakage_integers(a, v, SL_COEFFICIENT_MOST, coefficients)
						      ? combination(coefficients, a->n)
						      : json_null());
	}
	free(coefficients);
	return json_pack("{s:I, s:o, s:o, s:b}", "rank", (json_int_t)a->rank, "models", revealed, "basis",
			 basis, "beyond_each_step", together(q));
}

static int print_json(struct inquiry *q, FILE *out, struct sl_error *error)
{
	const struct sl_audit_request *r = q->request;
	json_t *steps = json_array();
	for (uint32_t s = 0; s < r->schedule->steps; s++) {
		ask_step(q, s);
		json_array_append_new(steps, step_json(q, s));
	}
	json_t *all = json_pack("{s:I, s:I, s:o, s:o, s:o, s:I, s:I, s:b}", "learners",
				(json_int_t)r->schedule->learners, "quorum", (json_int_t)r->quorum,
				"coalition", sl_json_ids(r->coalition, r->count), "steps", steps,
				"unchanged_models", span_json(q), "rounds", (json_int_t)q->rounds,
				"rounds_beyond_mean", (json_int_t)q->beyond, "private", !verdict(q));
	return sl_json_print(all, out, error);
}

int sl_audit_named(const struct sl_audit_request *request, FILE *out, bool *beyond, struct sl_error *error)
{
	struct inquiry q;
	int rc = open_inquiry(&q, request);
	if (rc != SL_OK)
		sl_err_set(error, rc, "%s", sl_err_text(rc));
	else
		rc = (request->json ? print_json : print_text)(&q, out, error);
	*beyond = rc == SL_OK && verdict(&q);
	close_inquiry(&q);
	return rc;
}
