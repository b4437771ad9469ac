#include "daemon/learner/account.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "common/base/bytes.h"
#include "daemon/learner/daemon.h"

/* Return the epsilon that is spent, in millionths and rounded upwards; all bits set: there is no bound. */
static uint64_t spent(const struct sl_daemon *daemon, const struct sl_ledger *ledger)
{
	if (ledger->charges == 0)
		return 0;
	double epsilon = 1e6 * sl_dp_spent_epsilon(&ledger->spent, daemon->settings->dp_delta, true);
	return epsilon < 0x1p53 ? (uint64_t)ceil(epsilon) : UINT64_MAX;
}

/* Write what h is the hash of, with the members in place of their hash. */
static void put_view(struct sl_writer *writer, const struct sl_round_head *round)
{
	sl_bytes_put_u64(writer, round->t);
	sl_bytes_put_u64(writer, round->a);
	sl_bytes_put_u64(writer, round->p);
#define X(name) sl_bytes_put_u64(writer, round->name);
	SL_VIEW_NUMBERS(X)
#undef X
	sl_bytes_put(writer, round->previous, SL_HASH_BYTES);
	sl_bytes_put(writer, round->roster, SL_HASH_BYTES);
	sl_bytes_put(writer, round->edges, SL_HASH_BYTES);
	sl_bytes_put_u32(writer, sl_round_learners(round));
	for (uint32_t i = 0; i < round->count; i++)
		sl_bytes_put_u32(writer, round->members[i]);
}

static void put_digests(struct sl_writer *writer, const struct sl_certificate *certificate)
{
	sl_bytes_put_u32(writer, certificate->count);
	for (const struct sl_digest *d = certificate->digests; d < certificate->digests + certificate->count;
	     d++) {
		sl_bytes_put_u32(writer, d->id);
		sl_bytes_put(writer, d->key, SL_KEY_BYTES);
		sl_bytes_put(writer, d->signature, SL_SIG_BYTES);
	}
}

/* The writer may be empty: then it counts. */
static void put(const struct sl_daemon *daemon, const struct sl_store_round *round,
		const struct sl_certificate *certificate, const uint8_t *program, struct sl_writer *writer)
{
	const struct sl_ledger *ledger = sl_store_ledger(daemon->store);
	sl_bytes_put_u32(writer, (uint32_t)strlen(daemon->settings->run));
	sl_bytes_put(writer, daemon->settings->run, strlen(daemon->settings->run));
	put_view(writer, certificate->round);
	sl_bytes_put(writer, round->digest, SL_HASH_BYTES);
	sl_bytes_put(writer, round->checkpoint_sum, SL_HASH_BYTES);
	sl_bytes_put(writer, program, SL_HASH_BYTES);
	sl_bytes_put_u64(writer, round->learners * daemon->core_config.parameters.max_weight);
	sl_bytes_put_u64(writer, ledger->charges);
	sl_bytes_put_u64(writer, ledger->guessed);
	sl_bytes_put_u64(writer, spent(daemon, ledger));
	sl_bytes_put_u64(writer, (uint64_t)time(NULL));
	put_digests(writer, certificate);
	sl_bytes_put_u32(writer, daemon->settings->id);
	sl_bytes_put(writer, daemon->members.identity.public_key, SL_KEY_BYTES);
}

void sl_account_fill(const struct sl_daemon *daemon, const struct sl_store_round *round,
		     const struct sl_certificate *certificate, const uint8_t program[static SL_HASH_BYTES],
		     struct sl_account_entry *entry)
{
	struct sl_writer writer = {0};
	put(daemon, round, certificate, program, &writer);
	writer = (struct sl_writer){.bytes = malloc(writer.used), .size = writer.used};
	if (writer.bytes == NULL)
		abort();
	put(daemon, round, certificate, program, &writer);
	*entry = (struct sl_account_entry){
		.bytes = writer.bytes, .size = writer.size, .sign_key = daemon->members.identity.sign_key};
}
