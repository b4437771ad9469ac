/* A peer that requests much and reads little costs a bounded amount of memory. */
#include <string.h>

#include "test/lib/test.h"
#include "test/net/pair.h"

#define VECTOR_BYTES (200u << 10)
#define CONTROL_BYTES 4000u

static struct pair *open_slow(uint64_t bytes_per_s)
{
	struct pair *pair = pair_alone();
	pair_want(pair, 0, true);
	pair_await(pair, 2000, pair_settled);
	pair->emulators[1].bytes_per_s = bytes_per_s;
	return pair;
}

static void answer(struct end *end)
{
	end_send(end, CONTROL_BYTES, false);
	end_send(end, VECTOR_BYTES, true);
	end_flush(end);
}

/* As the daemon answers requests: only a peer that reads. */
TEST(answers_wait_for_the_reader)
{
	struct pair *pair = open_slow(1500000);
	struct end *end = &pair->ends[0];
	size_t most = 0, answers = 0, refused = 0;
	while (pair->ends[1].received < 40 || refused < 100) {
		net_turn(pair->net);
		for (int k = 0; k < 20; k++) {
			bool reads = sl_links_reads(end->links, 1);
			refused += !reads;
			answers += reads;
			if (reads)
				answer(end);
		}
		most = sl_links_waiting(end->links, 1) > most ? sl_links_waiting(end->links, 1) : most;
	}
	assert_in_range(most, SL_LINK_ANSWER_BYTES,
			SL_LINK_ANSWER_BYTES + SL_LINK_QUEUE_BYTES + 2 * (VECTOR_BYTES + CONTROL_BYTES));
	assert_true(answers >= 20 && end->downs == 0 && pair->ends[1].downs == 0); /* the link is kept */
	pair_end(pair);
}

TEST(small_answers_wait_too)
{
	struct pair *pair = pair_alone();
	struct end *end = &pair->ends[0];
	pair_want(pair, 0, true);
	pair_await(pair, 2000, pair_settled);
	pair->emulators[1].pass[THERE] = 0;
	for (int k = 0; k < 2000 && sl_links_reads(end->links, 1); k++) {
		end_send(end, CONTROL_BYTES, false);
		end_flush(end);
	}
	bool reads = sl_links_reads(end->links, 1);
	size_t waiting = sl_links_waiting(end->links, 1);
	emulator_let_pass(&pair->emulators[1]);
	pair_end(pair);
	assert_false(reads);
	assert_in_range(waiting, SL_LINK_QUEUE_BYTES, SL_LINK_QUEUE_BYTES + 2 * CONTROL_BYTES);
}

/* Whatever is queued without a look at the reader ends the link before it fills the memory. */
TEST(a_link_that_is_not_read_is_closed)
{
	static const size_t sizes[] = {CONTROL_BYTES, VECTOR_BYTES};
	for (size_t i = 0; i < 2; i++) {
		struct pair *pair = pair_alone();
		struct end *end = &pair->ends[0];
		size_t most = 0;
		pair_want(pair, 0, true);
		pair_await(pair, 2000, pair_settled);
		pair->emulators[1].pass[THERE] = 0;
		for (int k = 0; k < 40000 && end->up; k++) {
			end_send(end, sizes[i], i == 1);
			most = sl_links_waiting(end->links, 1) > most ? sl_links_waiting(end->links, 1)
								      : most;
			if (k % 1000 == 0)
				end_flush(end);
		}
		bool closed = !end->up && strcmp(end->why, "it does not read what it is sent") == 0;
		emulator_let_pass(&pair->emulators[1]);
		pair_end(pair);
		assert_true(closed);
		assert_in_range(most, SL_LINK_WAITING_BYTES / 2, SL_LINK_WAITING_BYTES);
	}
}
