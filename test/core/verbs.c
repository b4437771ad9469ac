/* Verbs of tests: wait for a condition under a virtual deadline, break a link, look at reports. */
#include <stdlib.h>

#include "test/core/verbs.h"

#define WAIT_US (UINT64_C(3600) * 1000 * 1000)

/* One more step towards a condition; ends the test when there is none, or an hour has gone by. */
static void go_on(struct sl_sim *sim, uint64_t since, const char *what)
{
	if (sim->now > since + WAIT_US)
		sl_sim_fail(sim, "waited an hour for %s", what);
	if (!sl_sim_step(sim))
		sl_sim_fail(sim, "no event is left, waiting for %s", what);
}

void sl_sim_elapse(struct sl_sim *sim, sl_ms ms)
{
	uint64_t end = sim->now + ms * 1000;
	while (sl_sim_next(sim) <= end && sl_sim_step(sim))
		;
	sim->now = end;
}

void sl_sim_run_until_round(struct sl_sim *sim, sl_round t)
{
	uint64_t since = sim->now;
	for (uint32_t i = 0; i < sim->n; i++)
		while (!sim->learners[i].silent && sim->learners[i].host.committed < t) {
			if (sim->learners[i].host.stopped)
				sl_sim_fail(sim, "learner %u stopped with %d", sim->ids[i],
					    sim->learners[i].code);
			go_on(sim, since, "a commit");
		}
}

void sl_sim_run_until_commit(struct sl_sim *sim, uint32_t i, sl_round t)
{
	uint64_t since = sim->now;
	while (sim->learners[i].host.committed < t)
		go_on(sim, since, "a commit");
}

void sl_sim_run_until_phase(struct sl_sim *sim, uint32_t i, enum sl_phase phase)
{
	uint64_t since = sim->now;
	while (sim->learners[i].host.phase != phase)
		go_on(sim, since, sl_phase_name(phase));
}

/* A report that comes from now on. */
const struct sl_sim_note *sl_sim_run_until_report(struct sl_sim *sim, uint32_t i, enum sl_report_kind kind,
						  enum sl_reason reason)
{
	uint64_t since = sim->now;
	for (size_t k = sim->note_count;; k++) {
		while (k >= sim->note_count)
			go_on(sim, since,
			      kind == SL_REPORT_FAILED ? sl_report_reason_name(reason)
						       : sl_report_name(kind));
		const struct sl_sim_note *note = &sim->notes[k];
		if (note->learner == i && note->report.kind == kind && note->report.reason == reason)
			return note;
	}
}

void sl_sim_run_until_all_say(struct sl_sim *sim, enum sl_report_kind kind, enum sl_reason reason)
{
	uint64_t since = sim->now;
	for (uint32_t i = 0; i < sim->n; i++)
		while (!sim->learners[i].host.stopped && sl_sim_find(sim, i, kind, reason) == NULL)
			go_on(sim, since,
			      kind == SL_REPORT_FAILED ? sl_report_reason_name(reason)
						       : sl_report_name(kind));
}

void sl_sim_run_until_stopped(struct sl_sim *sim, uint32_t i, int code)
{
	uint64_t since = sim->now;
	while (!sim->learners[i].host.stopped)
		go_on(sim, since, "a stop");
	if (sim->learners[i].code != code)
		sl_sim_fail(sim, "learner %u stopped with %d, not %d", sim->ids[i], sim->learners[i].code,
			    code);
}

void sl_sim_run_until_done(struct sl_sim *sim)
{
	for (uint32_t i = 0; i < sim->n; i++)
		if (!sim->learners[i].silent)
			sl_sim_run_until_stopped(sim, i, SL_OK);
	for (uint32_t i = 0; i < sim->n; i++)
		if (sim->learners[i].held_count != 0)
			sl_sim_fail(sim, "learner %u kept %u buffers", sim->ids[i],
				    sim->learners[i].held_count);
}

void sl_sim_join(struct sl_sim *sim, uint32_t i, uint32_t j)
{
	sl_sim_link(sim, i, j)->possible = sl_sim_link(sim, j, i)->possible = true;
	sl_sim_restore(sim, i, j);
}

const struct sl_sim_note *sl_sim_find(const struct sl_sim *sim, uint32_t i, enum sl_report_kind kind,
				      enum sl_reason reason)
{
	for (size_t k = 0; k < sim->note_count; k++)
		if (sim->notes[k].learner == i && sim->notes[k].report.kind == kind &&
		    sim->notes[k].report.reason == reason)
			return &sim->notes[k];
	return NULL;
}

uint32_t sl_sim_count(const struct sl_sim *sim, uint32_t i, enum sl_report_kind kind, enum sl_reason reason,
		      const struct sl_sim_note **last)
{
	uint32_t count = 0;
	for (size_t k = 0; k < sim->note_count; k++) {
		const struct sl_sim_note *note = &sim->notes[k];
		if (note->learner != i || note->report.kind != kind || note->report.reason != reason)
			continue;
		count++;
		if (last != NULL)
			*last = note;
	}
	return count;
}

const struct sl_sim_note *sl_sim_expect(struct sl_sim *sim, uint32_t i, enum sl_report_kind kind,
					enum sl_reason reason)
{
	const struct sl_sim_note *note = sl_sim_find(sim, i, kind, reason);
	if (note == NULL)
		sl_sim_fail(sim, "learner %u never said %s %s", sim->ids[i], sl_report_name(kind),
			    sl_report_reason_name(reason));
	return note;
}

void sl_sim_expect_none(struct sl_sim *sim, uint32_t i, enum sl_report_kind kind, enum sl_reason reason)
{
	if (sl_sim_find(sim, i, kind, reason) != NULL)
		sl_sim_fail(sim, "learner %u said %s %s", sim->ids[i], sl_report_name(kind),
			    sl_report_reason_name(reason));
}

void sl_sim_refuse_sums(struct sl_sim *sim, uint32_t i, struct sl_job_result *result)
{
	bool sum = result->kind == SL_JOB_CLOSE || result->kind == SL_JOB_SUM;
	(void)i;
	if (sum && sim->now < 10000000)
		result->code = SL_ERR_INVALID;
}
