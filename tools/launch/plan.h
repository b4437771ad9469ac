/* plan.h - what a launch or a simulation is to do: its options, its schedule, its settings, its folder.
 * Everything is known before the first learner starts. */
#pragma once

#include "common/config/settings.h"
#include "tools/lib/progress.h"
#include "tools/lib/round_table.h"
#include "tools/lib/run_folder.h"
#include "tools/lib/schedule.h"

struct sl_launch_options {
	const char *program;  /* as the user called it */
	uint32_t learners;    /* 0: not given */
	uint32_t rounds;      /* 0: not given */
	const char *topology; /* NULL: not given */
	const char *data;     /* NULL: not given */
	const char *run_dir;  /* NULL: ./run-YYYYmmdd-HHMMSS */
	const char *resume;   /* run folder of a run to resume; NULL: a new run */
	uint64_t seed;
	bool seed_said;
	double step_s;
	bool verify, json, no_restart, web;
	uint32_t chaos;	    /* how often to kill a learner */
	uint32_t http_port; /* of the first learner; 0: they answer no HTTP */
	uint32_t lose;	    /* how many learners to kill for good, besides */
	const char **set;   /* "KEY=VALUE" */
	size_t sets;
	char *const *command; /* to run for each learner, with its arguments; NULL: none */
};

/* State of a run that is resumed; all 0 in a new run. */
struct sl_resume {
	sl_round shown;	    /* last round whose line was printed */
	sl_round verified;  /* last round of which the dumps were to be deleted */
	sl_round first;	    /* last round that is not shown again */
	sl_round committed; /* last round that some learner committed */
	sl_round *of;	    /* last committed round of each learner; NULL in a new run */
	uint32_t step;	    /* of the schedule, from 1 */
	uint64_t idle[(SL_LEARNERS_MAX + 63) / 64]; /* set of those that took part in no shown round */
};

/* Facts known before the first daemon starts. */
struct sl_plan {
	struct sl_launch_options options;
	struct sl_schedule schedule;
	struct sl_run_folder folder;
	struct sl_settings settings; /* of the first learner */
	uint32_t learners, quorum;
	uint64_t p; /* of a round of all learners; 0: of an application, not known */
	size_t n;   /* parameters of a model; 0: of an application, not known */
	const char *topology;
	char topology_text[128]; /* of a resumed run */
	struct sl_resume resume;
};

/* Read the schedule, make and fill the run folder, and check all that can be checked now. Warn of
 * disconnected steps. After an error no file is left. */
int sl_plan_make(struct sl_plan *plan, const struct sl_launch_options *options, struct sl_progress *progress,
		 struct sl_error *error);
void sl_plan_close(struct sl_plan *plan);
/* For a run without daemons and folder: read options and schedule; then, with settings and learners set,
 * check. */
int sl_plan_begin(struct sl_plan *plan, const struct sl_launch_options *options, struct sl_error *error);
int sl_plan_check(struct sl_plan *plan, struct sl_progress *progress, struct sl_error *error);

/* Warn of the steps that the privacy check will refuse (privacy_check.c). Return SL_ERR_REFUSED if it refuses
 * all. */
int sl_launch_privacy_check(struct sl_plan *plan, struct sl_progress *progress, struct sl_error *error);

/* Return the encoding of the round, for decoding; decimals may be SL_DECIMALS_AUTO: not known. The weight is
 * 1, not that of a learner. */
struct sl_encoding sl_plan_encoding(const struct sl_plan *plan, const struct sl_round_row *row);
