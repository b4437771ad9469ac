#include "common/core/certificate.h"

#include "common/core/emit.h"

bool sl_certificate_agrees(const struct sl_certificate *certificate, const struct sl_digest *d)
{
	return certificate->t == d->t && certificate->a == d->a && certificate->p == d->p &&
	       certificate->learners == d->learners && certificate->decimals == d->decimals &&
	       certificate->encoding == d->encoding && certificate->clipping_range == d->clipping_range &&
	       memcmp(certificate->view, d->view, SL_HASH_BYTES) == 0 &&
	       memcmp(certificate->digest, d->digest, SL_HASH_BYTES) == 0;
}

void sl_certificate_add(struct sl_certificate *certificate, const struct sl_digest *d)
{
	if (!sl_certificate_agrees(certificate, d) || certificate->count == SL_SIGNERS_MAX)
		return;
	for (uint32_t i = 0; i < certificate->count; i++)
		if (certificate->digests[i].id == d->id)
			return;
	certificate->digests[certificate->count++] = *d;
}

void sl_certificate_begin(struct sl_certificate *certificate, const struct sl_digest *d)
{
	*certificate = (struct sl_certificate){.t = d->t,
					       .a = d->a,
					       .p = d->p,
					       .learners = d->learners,
					       .decimals = d->decimals,
					       .encoding = d->encoding,
					       .clipping_range = d->clipping_range};
	memcpy(certificate->view, d->view, SL_HASH_BYTES);
	memcpy(certificate->digest, d->digest, SL_HASH_BYTES);
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
	for (uint32_t i = 0; i < core->certificate.count; i++) {
		const struct sl_digest *digest = &core->certificate.digests[i];
		bool own = is_own(core, digest);
		if (all || own)
			sl_emit_send(core, to, &(struct sl_message){.kind = SL_MSG_DIGEST, .digest = *digest},
				     own);
	}
}

void sl_certificate_attest(struct sl_core *core, const uint64_t *to)
{
	struct sl_message message = {.kind = SL_MSG_DIGEST, .digest = core->certificate.digests[0]};
	message.digest.id = core->config.ids[core->config.self];
	memcpy(message.digest.key, core->config.key, SL_KEY_BYTES);
	sl_emit_send(core, to, &message, true);
}

void sl_certificate_greet(struct sl_core *core)
{
	show_digests(core, core->single, false);
	if (core->attested)
		sl_certificate_attest(core, core->single);
}

static void show_chunk(struct sl_core *core, uint32_t index)
{
	struct sl_message message = {.kind = SL_MSG_RESULT};
	struct sl_field field;
	uint64_t elements = core->config.parameters.n + 1, first = (uint64_t)index * SL_CHUNK_ELEMENTS;
	uint64_t count = elements - first < SL_CHUNK_ELEMENTS ? elements - first : SL_CHUNK_ELEMENTS;
	if (index >= sl_certificate_chunks(core) || sl_field_init(&field, core->certificate.p) != SL_OK)
		return;
	message.chunk.t = core->certificate.t;
	message.chunk.a = core->certificate.a;
	memcpy(message.chunk.view, core->certificate.view, SL_HASH_BYTES);
	message.chunk.index = index;
	message.chunk.size = (size_t)count * field.bytes;
	struct sl_payload payload = {.source = SL_SOURCE_RESULT, .at = (size_t)first * field.bytes};
	sl_emit_payload(core, core->single, &message, payload);
}

void sl_certificate_signed(struct sl_core *core)
{
	if (core->certificate.count <= core->config.parameters.tolerance)
		return;
	bool any = false;
	memset(core->signed_to, 0, sl_core_set_bytes(core));
	for (uint32_t i = 0; i < core->config.roster_size; i++) {
		if (core->peers[i].few_shown)
			sl_bit_set(core->signed_to, i);
		any |= core->peers[i].few_shown;
		core->peers[i].few_shown = false;
	}
	if (any)
		show_digests(core, core->signed_to, true);
}

void sl_certificate_ask(struct sl_core *core, uint32_t peer, const struct sl_request *request)
{
	if (core->certificate.t == 0)
		return; /* nothing to show */
	sl_core_only(core, peer);
	if (request->t != core->certificate.t) {
		show_digests(core, core->single, true);
		core->peers[peer].few_shown = core->certificate.count <= core->config.parameters.tolerance;
	}
	show_chunk(core, request->t == core->certificate.t ? request->index : 0);
}
