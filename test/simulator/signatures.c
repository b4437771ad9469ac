/* Signatures. Mostly a tag in their place, since signing and verifying are tasks of the shell; in some runs
 * real ones, each verified once: a relayed message is the one that was signed. */
#include <sodium.h>
#include <stdlib.h>

#include "common/base/bytes.h"
#include "test/simulator/sim.h"

struct sl_sim_keys {
	uint8_t public[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES];
};

/* Write what the signature of `m` covers to `hash`, its signer to `id` and the place of the signature to
 * `signature`. Return false if messages of its kind are not signed. */
static bool canonical(const struct sl_sim *sim, const struct sl_message *m, uint8_t *hash, sl_id *id,
		      uint8_t **signature)
{
	if (!sl_canonical_message(&sim->learners[0].host.config.scope, m, hash))
		return false;
	*id = *(sl_id *)sl_message_role(m, SL_ROLE_SIGNER);
	*signature = sl_message_role(m, SL_ROLE_SIGNATURE);
	return true;
}

static const struct sl_sim_keys *keys_of(const struct sl_sim *sim, sl_id id)
{
	for (uint32_t i = 0; i < sim->n; i++)
		if (sim->ids[i] == id)
			return &sim->keys[i];
	return NULL;
}

void sl_sim_sign(const struct sl_sim *sim, struct sl_message *m)
{
	uint8_t hash[SL_HASH_BYTES], *signature;
	sl_id id;
	if (sim->keys == NULL)
		sl_packet_tag(&sim->learners[0].host.config.scope, m);
	else if (canonical(sim, m, hash, &id, &signature))
		crypto_sign_detached(signature, NULL, hash, sizeof hash, keys_of(sim, id)->secret);
}

void sl_sim_signatures_begin(struct sl_sim *sim)
{
	sim->keys = sl_sim_alloc(sim, sim->n, sizeof *sim->keys);
	for (uint32_t i = 0; i < sim->n; i++) {
		uint8_t seed[crypto_sign_SEEDBYTES] = {(uint8_t)i, (uint8_t)(i >> 8), 1};
		crypto_sign_seed_keypair(sim->keys[i].public, sim->keys[i].secret, seed);
		memcpy(sim->learners[i].host.config.key, sim->keys[i].public, SL_KEY_BYTES);
	}
}

static void verify(struct sl_sim *sim, uint32_t receiver, const struct sl_message *m)
{
	uint8_t hash[SL_HASH_BYTES], verdict[SL_HASH_BYTES], *signature;
	sl_id id;
	if (!canonical(sim, m, hash, &id, &signature))
		return;
	crypto_generichash(verdict, sizeof verdict, signature, SL_SIG_BYTES, hash, sizeof hash);
	if (!sl_sim_seen_add(&sim->verdicts, verdict))
		return;
	const struct sl_sim_keys *keys = keys_of(sim, id);
	if (keys == NULL || crypto_sign_verify_detached(signature, hash, sizeof hash, keys->public) != 0)
		sl_sim_fail(sim, "learner %u receives a message that %u did not sign", sim->ids[receiver],
			    id);
}

void sl_sim_signatures_verify(struct sl_sim *sim, uint32_t receiver, const struct sl_message *message)
{
	if (sim->keys != NULL)
		verify(sim, receiver, message);
}

bool sl_sim_signatures_hold(const struct sl_sim *sim, uint32_t receiver, const struct sl_message *m)
{
	const sl_id *signer = sl_message_role(m, SL_ROLE_SIGNER);
	if (!sim->rosters || signer == NULL || sl_message_role(m, SL_ROLE_SIGNATURE) == NULL ||
	    sl_message_role(m, SL_ROLE_ROSTER) != NULL)
		return true;
	for (uint32_t i = 0; i < sim->n; i++)
		if (sim->ids[i] == *signer)
			return memcmp(sim->learners[i].host.config.scope.roster,
				      sim->learners[receiver].host.config.scope.roster, SL_HASH_BYTES) == 0;
	return false;
}
