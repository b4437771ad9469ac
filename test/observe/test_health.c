/* When a learner is healthy, and what it says. */
#include <string.h>

#include "daemon/observe/health.h"
#include "test/lib/test.h"

#define NOW 100000u

struct row {
	struct sl_health health;
	bool healthy;
	const char *line;
};

static struct sl_core_status in(enum sl_phase phase, sl_ms deadline)
{
	return (struct sl_core_status){.t = 7, .a = 2, .rounds = 10, .phase = phase, .deadline = deadline};
}

TEST(healths)
{
	struct row rows[] = {
		{{.status = in(SL_PHASE_TRAIN, SL_NEVER)}, true, "round 7 of 10: TRAIN"},
		{{.status = in(SL_PHASE_MIX, NOW + 1)}, true, "round 7 of 10: MIX"},
		{{.status = in(SL_PHASE_MIX, NOW - SL_HEALTH_LATE_MS)}, true, "round 7 of 10: MIX"},
		{{.status = in(SL_PHASE_MIX, NOW - SL_HEALTH_LATE_MS - 1),
		  .wait = SL_WAIT_STATES,
		  .awaited = "ana (2)"},
		 false,
		 "round 7 attempt 2: MIX beyond its deadline, waiting for ana (2) to send a deposit key "
		 "or a state"},
		{{.status = in(SL_PHASE_DISCOVER, 1), .wait = SL_WAIT_RANGE},
		 false,
		 "round 7 attempt 2: DISCOVER beyond its deadline, waiting for the list of learners in "
		 "range"},
		{{.status = in(SL_PHASE_DISCOVER, SL_NEVER),
		  .wait = SL_WAIT_CHANGE,
		  .failures = 1,
		  .reason = SL_REASON_QUORUM},
		 false,
		 "round 7 attempt 2: DISCOVER, waiting for other links or settings, since the last attempt "
		 "was "
		 "refused (quorum)"},
		{{.status = in(SL_PHASE_DISCOVER, SL_NEVER),
		  .wait = SL_WAIT_CHANGE,
		  .obstacle = "2 learners are too few",
		  .failures = 1,
		  .reason = SL_REASON_FEW},
		 false,
		 "round 7 attempt 2: DISCOVER, waiting for other links or settings, since the last attempt "
		 "was "
		 "refused: 2 learners are too few"},
		{{.status = in(SL_PHASE_READY, NOW), .writing_ms = SL_HEALTH_DISK_MS},
		 true,
		 "round 7 of 10: READY"},
		{{.status = in(SL_PHASE_READY, NOW), .writing_ms = 12345},
		 false,
		 "a record has not reached the disk for 12 s; see to the disk of the state folder"},
		{{.status = in(SL_PHASE_AGREE, NOW), .failures = SL_HEALTH_FAILURES_MOST - 1},
		 true,
		 "round 7 of 10: AGREE"},
		{{.status = in(SL_PHASE_AGREE, NOW),
		  .failures = SL_HEALTH_FAILURES_MOST,
		  .reason = SL_REASON_QUORUM},
		 false,
		 "round 7: 5 attempts in a row have failed, the last because of: quorum"},
		{{.status = in(SL_PHASE_TRAIN, SL_NEVER), .failed = true},
		 false,
		 "this learner has failed; its log says why"},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct sl_health *h = &rows[i].health;
		char line[512];
		h->now = NOW;
		h->awaited = h->awaited ? h->awaited : "";
		h->obstacle = h->obstacle ? h->obstacle : "";
		assert_int_equal(sl_health_line(h, line, sizeof line), rows[i].healthy);
		assert_string_equal(line, rows[i].line);
	}
}
