#include "common/core/certificate.h"

#include "common/core/emit.h"

bool sl_proof_agrees(const struct sl_proof *proof, const struct sl_digest *d)
{
	return proof->t == d->t && proof->a == d->a && proof->p == d->p && proof->learners == d->learners &&
	       proof->sigma == d->sigma && proof->encoding == d->encoding && proof->clip == d->clip &&
	       memcmp(proof->view, d->view, SL_HASH_BYTES) == 0 && memcmp(proof->digest, d->digest, SL_HASH_BYTES) == 0;
}

void sl_proof_add(struct sl_proof *proof, const struct sl_digest *d)
{
	if (!sl_proof_agrees(proof, d) || proof->count == SL_SIGNERS_MAX)
		return;
	for (uint32_t i = 0; i < proof->count; i++)
		if (proof->digests[i].id == d->id)
			return;
	proof->digests[proof->count++] = *d;
}

void sl_proof_begin(struct sl_proof *proof, const struct sl_digest *d)
{
	*proof = (struct sl_proof){.t = d->t,
				   .a = d->a,
				   .p = d->p,
				   .learners = d->learners,
				   .sigma = d->sigma,
				   .encoding = d->encoding,
				   .clip = d->clip};
	memcpy(proof->view, d->view, SL_HASH_BYTES);
	memcpy(proof->digest, d->digest, SL_HASH_BYTES);
}

uint32_t sl_certificate_chunks(const struct sl_core *core)
{
	return (uint32_t)((core->config.parameters.n + SL_CHUNK_ELEMENTS) / SL_CHUNK_ELEMENTS);
}

static bool is_own(const struct sl_core *core, const struct sl_digest *digest)
{
	return digest->id == core->config.ids[core->config.self];
}

static void show_digests(struct sl_core *core, const uint64_t *to, bool all)
{
	for (uint32_t i = 0; i < core->proof.count; i++) {
		const struct sl_digest *digest = &core->proof.digests[i];
		bool own = is_own(core, digest);
		if (all || own)
			sl_send(core, to, &(struct sl_message){.kind = SL_MSG_DIGEST, .digest = *digest}, own);
	}
}

void sl_certificate_attest(struct sl_core *core, const uint64_t *to)
{
	struct sl_message message = {.kind = SL_MSG_DIGEST, .digest = core->proof.digests[0]};
	message.digest.id = core->config.ids[core->config.self];
	memcpy(message.digest.key, core->config.key, SL_KEY_BYTES);
	sl_send(core, to, &message, true);
}

void sl_certificate_greet(struct sl_core *core)
{
	show_digests(core, core->single, false);
	if (core->vouched)
		sl_certificate_attest(core, core->single);
}

static void show_chunk(struct sl_core *core, uint32_t index)
{
	struct sl_message message = {.kind = SL_MSG_RESULT};
	struct sl_field field;
	uint64_t elements = core->config.parameters.n + 1, first = (uint64_t)index * SL_CHUNK_ELEMENTS;
	uint64_t count = elements - first < SL_CHUNK_ELEMENTS ? elements - first : SL_CHUNK_ELEMENTS;
	if (index >= sl_certificate_chunks(core) || sl_field_init(&field, core->proof.p) != SL_OK)
		return;
	message.chunk.t = core->proof.t;
	message.chunk.a = core->proof.a;
	memcpy(message.chunk.view, core->proof.view, SL_HASH_BYTES);
	message.chunk.index = index;
	message.chunk.size = (size_t)count * field.bytes;
	struct sl_payload payload = {.source = SL_SOURCE_RESULT, .at = (size_t)first * field.bytes};
	sl_send_chunk(core, core->single, &message, payload);
}

void sl_certificate_signed(struct sl_core *core)
{
	if (core->proof.count <= core->config.parameters.tolerance)
		return;
	bool any = false;
	memset(core->signed_to, 0, sl_set_bytes(core));
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		if (core->peers[i].few_shown)
			sl_bit_set(core->signed_to, i);
		any |= core->peers[i].few_shown;
		core->peers[i].few_shown = false;
	}
	if (any)
		show_digests(core, core->signed_to, true);
}

void sl_certificate_ask(struct sl_core *core, uint32_t peer, const struct sl_ask *ask)
{
	if (core->proof.t == 0)
		return; /* nothing to show */
	memset(core->single, 0, sl_set_bytes(core));
	sl_bit_set(core->single, peer);
	if (ask->t != core->proof.t) {
		show_digests(core, core->single, true);
		core->peers[peer].few_shown = core->proof.count <= core->config.parameters.tolerance;
	}
	show_chunk(core, ask->t == core->proof.t ? ask->index : 0);
}
