/* Seeds that once failed are played in every test run. */
#include <stdio.h>
#include <string.h>

#include "test/lib/test.h"
#include "test/simulator/play.h"

static void replay(const char *line)
{
	unsigned long long seed;
	unsigned learners, rounds;
	char faults[256], lies[256];
	const char *wrong;
	struct sl_sim_outcome outcome;
	if (sscanf(line, "%llu %u %u %255s %255s", &seed, &learners, &rounds, faults, lies) != 5)
		fail_msg("not a seed: %s", line);
	struct sl_sim_play play = {.seed = seed, .learners = learners, .rounds = rounds};
	bool drawn = strcmp(faults, "-") == 0;
	play.faults = drawn ? 0 : sl_sim_fault_parse(faults, false, &wrong);
	play.lies = strcmp(lies, "-") == 0 ? 0 : sl_sim_fault_parse(lies, true, &wrong);
	assert_true(drawn || play.faults != 0);
	assert_false(sl_sim_play_noise(seed)); /* it would be another run */
	sl_sim_play(&play, &outcome);
	if (outcome.failed || outcome.stuck)
		fail_msg("%s\n  simtest --seed %llu --learners %u --rounds %u%s%s%s%s --trace", outcome.why,
			 seed, learners, rounds, drawn ? "" : " --faults ", drawn ? "" : faults,
			 play.lies != 0 ? " --lies " : "", play.lies != 0 ? lies : "");
}

TEST(test_kept)
{
	char line[512];
	FILE *file = fopen(SL_SOURCE_ROOT "/test/sim/kept_seeds", "r");
	assert_non_null(file);
	while (fgets(line, sizeof line, file) != NULL)
		if (line[0] != '#' && line[0] != '\n')
			replay(line);
	fclose(file);
}
