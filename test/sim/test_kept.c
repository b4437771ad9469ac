/* Seeds that once failed are played in every test run. */
#include <stdio.h>

#include "test/lib/test.h"
#include "tools/sim/play.h"

static void replay(const char *line)
{
	unsigned long long seed;
	unsigned learners, rounds;
	struct sl_sim_outcome outcome;
	if (sscanf(line, "%llu %u %u", &seed, &learners, &rounds) != 3)
		fail_msg("not a seed: %s", line);
	sl_sim_play(&(struct sl_sim_play){.seed = seed, .learners = learners, .rounds = rounds}, &outcome);
	if (outcome.failed)
		fail_msg("%s\n  simtest --seed %llu --learners %u --rounds %u --trace", outcome.why, seed,
			 learners, rounds);
}

TEST(test_kept)
{
	char line[256];
	FILE *file = fopen(SL_SOURCE_ROOT "/test/sim/kept_seeds", "r");
	assert_non_null(file);
	while (fgets(line, sizeof line, file) != NULL)
		if (line[0] != '#' && line[0] != '\n')
			replay(line);
	fclose(file);
}
