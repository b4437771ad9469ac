/* Catch-up, message by message: answers of a learner from what it has on disk (ROUND.md §11 Catch-up). */
#include "common/base/bytes.h"
#include "test/core/driver.h"
#include "test/lib/test.h"

#define SIX_CHUNKS (6 * SL_CHUNK_ELEMENTS - 1) /* n + 1 elements: the last chunk is full */

/* Restarted after round 4. */
static struct driver *ahead(const struct sl_certificate *certificate)
{
	struct driver *p = driver_new(3, SIX_CHUNKS);
	p->config.parameters.rounds = 9;
	p->config.committed = 4;
	p->config.certificate = certificate;
	play(p, "link up 2");
	return p;
}

TEST(answers)
{
	sl_id members[] = {1, 1, 2, 1, 3, 1};
	struct sl_round_head round = {
		.t = 4, .a = 1, .p = UINT64_C(2147483647), .count = 6, .members = members};
	struct sl_certificate certificate = {.t = 4,
					     .a = 1,
					     .view = {9},
					     .digest = {7},
					     .round = &round,
					     .count = 2,
					     .digests = (struct sl_digest[]){{.id = 1}, {.id = 3}}};
	struct driver *p = ahead(&certificate);
	memset(&certificate, 0, sizeof certificate); /* the core has copied it */
	memset(&round, 0, sizeof round);
	play(p, "request t0 0 from 2 -> round t4 to 2, digest to 2, digest to 2, result 0 to 2");
	assert_int_equal(p->actions.items[0].send.message.round_head.members[4], 3);
	assert_true(p->actions.items[1].send.own);
	assert_false(p->actions.items[2].send.own); /* signed by 3 */
	assert_int_equal(p->actions.items[2].send.message.digest.id, 3);
	assert_int_equal(p->actions.items[3].send.message.chunk.size, SL_RESULT_BYTES);
	play(p, "request t0 1 from 2 -> round t4 to 2, digest to 2, digest to 2\n"
		"request t4 5 from 2 -> result 5 to 2\n"
		"request t4 6 from 2 ->\n" /* there is none */
		"request t4 4294967295 from 2 ->\n"
		"request t3 2 from 2 ->"); /* that round is gone, as a Hello has said */
	driver_free(p);
}

/* Of a group of the largest size: one step shows all digests. */
TEST(answers_with_many_digests)
{
	static sl_id members[2 * SL_LEARNERS_MAX];
	static struct sl_digest digests[SL_LEARNERS_MAX];
	struct sl_round_head round = {
		.t = 4, .a = 1, .p = UINT64_C(2147483647), .count = 2 * SL_LEARNERS_MAX, .members = members};
	struct sl_certificate certificate = {.t = 4,
					     .a = 1,
					     .view = {9},
					     .digest = {7},
					     .round = &round,
					     .count = SL_LEARNERS_MAX,
					     .digests = digests};
	struct driver *p = driver_new(SL_LEARNERS_MAX, 4);
	for (uint32_t i = 0; i < SL_LEARNERS_MAX; i++) {
		members[2 * i] = digests[i].id = i + 1;
		members[2 * i + 1] = 1;
	}
	p->config.parameters.rounds = 9;
	p->config.committed = 4;
	p->config.certificate = &certificate;
	play(p, "link up 2\n"
		"request t0 0 from 2");
	assert_int_equal(p->actions.count, SL_LEARNERS_MAX + 2);
	play(p, "hello t4 open from 2");
	assert_int_equal(p->actions.count, SL_LEARNERS_MAX);
	driver_free(p);
}

/* Its certificate is lost. */
CASE(no_certificate, ahead(NULL), "request t0 0 from 2 ->")
CASE(no_result, driver_new(3, 4), "link up 2\nrequest t0 0 from 2 ->")

/* Between the digest and the disk it has neither the old result nor the new one. */
CASE(not_before_it_is_durable, driver_confirm(driver_new(2, 4)),
     "request t0 0 from 2 ->\n"
     "digest from 2\n"
     "accept done\n"
     "request t0 0 from 2 ->\n"
     "durable commit\n"
     "request t0 0 from 2 -> round t1 to 2, digest to 2, digest to 2, result 0 to 2")
