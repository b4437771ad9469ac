/* Rounds out of log records. */
#include "test/lib/test.h"
#include "tools/timeline/timeline.h"

static void take(struct sl_timeline *timeline, int v, int learner, int round)
{
	json_t *record = json_pack("{s:i, s:s, s:f, s:i, s:s, s:s, s:i}", "v", v, "time",
				   "2026-11-21T12:00:00.100Z", "mono_ms", 100.5, "learner", learner, "event",
				   "phase", "phase", "READY", "round", round);
	assert_int_equal(sl_timeline_take(timeline, record), v == SL_TIMELINE_SCHEMA);
	json_decref(record);
}

TEST(changes_are_counted_per_round)
{
	struct sl_timeline *timeline = sl_timeline_new();
	take(timeline, 1, 1, 3);
	take(timeline, 1, 1, 1);
	uint64_t version = sl_timeline_version(timeline);
	take(timeline, 2, 1, 7); /* another schema */
	take(timeline, 1, 2, 3);
	take(timeline, 1, 2, 4);
	assert_int_equal(sl_timeline_changed_since(timeline, version, 0), 3);
	assert_int_equal(sl_timeline_changed_since(timeline, version, 3), 4);
	assert_int_equal(sl_timeline_changed_since(timeline, version, 4), 0);
	assert_null(sl_timeline_round_json(timeline, 7));
	json_t *document = sl_timeline_round_json(timeline, 1);
	assert_int_equal(json_integer_value(json_object_get(document, "round")), 1);
	json_decref(document);
	sl_timeline_free(timeline);
}
