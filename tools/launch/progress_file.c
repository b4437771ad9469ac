/* RUN/progress.txt holds the last shown round, the last verified one and the step of the schedule. It is not
 * synced: if it is missing or damaged, the learners' records tell the last committed round. */
#include <stdio.h>

#include "common/base/bytes.h"
#include "tools/launch/state.h"

void sl_progress_file_write(const struct sl_launch *launch)
{
	char path[PATH_MAX], temporary[PATH_MAX];
	sl_run_folder_file(&launch->plan->folder, "progress.txt", path);
	sl_run_folder_file(&launch->plan->folder, "progress.txt.new", temporary);
	FILE *out = fopen(temporary, "we");
	if (out == NULL)
		return; /* resuming works without it */
	fprintf(out, "round %u\nstep %u\nverified %u\n", launch->handed, launch->step, launch->verified);
	for (uint32_t i = 0; i < launch->plan->learners; i++)
		if (!launch->learners[i].took_part)
			fprintf(out, "idle %u\n", i + 1);
	if (fclose(out) == 0)
		rename(temporary, path);
}

bool sl_progress_file_read(struct sl_plan *plan)
{
	char path[PATH_MAX];
	struct sl_resume *r = &plan->resume;
	unsigned shown = 0, step = 0, verified = 0;
	sl_run_folder_file(&plan->folder, "progress.txt", path);
	FILE *in = fopen(path, "re");
	if (in == NULL)
		return false;
	bool whole = fscanf(in, "round %u step %u verified %u", &shown, &step, &verified) == 3 && step > 0;
	if (whole)
		*r = (struct sl_resume){.shown = shown, .step = step, .verified = verified, .of = r->of};
	for (unsigned id; whole && fscanf(in, " idle %u", &id) == 1;)
		if (id >= 1 && id <= plan->learners)
			sl_bit_set(r->idle, id - 1);
	fclose(in);
	return whole;
}
