#include "common/core/certificate.h"

#include "common/core/emit.h"

bool sl_certificate_agrees(const struct sl_certificate *certificate, const struct sl_digest *d)
{
	return certificate->t == d->t && certificate->a == d->a &&
	       memcmp(certificate->view, d->view, SL_HASH_BYTES) == 0 &&
	       memcmp(certificate->digest, d->digest, SL_HASH_BYTES) == 0;
}

void sl_certificate_append(struct sl_certificate *certificate, const struct sl_digest *d)
{
	if (sl_certificate_agrees(certificate, d) && certificate->count < certificate->room)
		certificate->digests[certificate->count++] = *d;
}

void sl_certificate_add(struct sl_certificate *certificate, const struct sl_digest *d)
{
	for (uint32_t i = 0; i < certificate->count; i++)
		if (certificate->digests[i].id == d->id)
			return;
	sl_certificate_append(certificate, d);
}

void sl_certificate_begin(struct sl_certificate *certificate, const struct sl_digest *d)
{
	certificate->t = d->t;
	certificate->a = d->a;
	certificate->count = 0;
	memcpy(certificate->view, d->view, SL_HASH_BYTES);
	memcpy(certificate->digest, d->digest, SL_HASH_BYTES);
}

bool sl_certificate_fits(const struct sl_core *core, const struct sl_round_head *round)
{
	return sl_round_learners(round) <= sl_core_candidates_max(core->config.roster_size);
}

void sl_certificate_keep(struct sl_certificate_store *store, const struct sl_round_head *round)
{
	uint32_t *members = store->members;
	memcpy(members, round->members, round->count * sizeof *members);
	store->head = *round;
	store->head.members = members;
	store->certificate.round = &store->head;
	store->certificate.t = store->certificate.count = 0;
}

void sl_certificate_copy(struct sl_certificate_store *store, const struct sl_certificate *from)
{
	struct sl_certificate *to = &store->certificate;
	sl_certificate_keep(store, from->round);
	to->t = from->t;
	to->a = from->a;
	memcpy(to->view, from->view, SL_HASH_BYTES);
	memcpy(to->digest, from->digest, SL_HASH_BYTES);
	to->count = from->count < to->room ? from->count : to->room;
	if (to->count > 0) /* else from->digests may be NULL */
		memcpy(to->digests, from->digests, to->count * sizeof *to->digests);
}

/* A Round that liars have made up may name only them: the digests of all its participants are not enough
 * then. With `privacy_check: warn` a view may have c participants, and fewer. */
uint32_t sl_certificate_need(const struct sl_core *core, const struct sl_round_head *round)
{
	const struct sl_parameters *own = &core->config.parameters;
	uint64_t need = sl_view_digests(sl_round_learners(round), own->tolerance, round->forgetful);
	uint64_t liars = own->forgetful;
	if (own->privacy_check != 0 && own->tolerance > liars)
		liars = own->tolerance;
	return (uint32_t)(need > liars ? need : liars + 1);
}

uint32_t sl_certificate_chunks(const struct sl_core *core)
{
	return (uint32_t)((core->config.model_bytes + SL_RESULT_BYTES - 1) / SL_RESULT_BYTES);
}

size_t sl_certificate_chunk_bytes(const struct sl_core *core, uint32_t index)
{
	size_t left = core->config.model_bytes - (size_t)index * SL_RESULT_BYTES;
	return left < SL_RESULT_BYTES ? left : SL_RESULT_BYTES;
}

static bool is_own(const struct sl_core *core, const struct sl_digest *digest)
{
	return digest->id == core->config.ids[core->config.self];
}

static void show_digests(struct sl_core *core, const uint64_t *to, bool all)
{
	const struct sl_certificate *last = &core->last.certificate;
	for (uint32_t i = 0; i < last->count; i++) {
		const struct sl_digest *digest = &last->digests[i];
		bool own = is_own(core, digest);
		if (all || own)
			sl_emit_send(core, to, &(struct sl_message){.kind = SL_MSG_DIGEST, .digest = *digest},
				     own);
	}
}

void sl_certificate_sign(struct sl_core *core, const uint64_t *to)
{
	show_digests(core, to, false);
}

void sl_certificate_hello(struct sl_core *core, uint32_t peer)
{
	const struct sl_peer *p = &core->peers[peer];
	if (p->status == SL_PEER_STATUS_OPEN && p->t == core->last.certificate.t)
		show_digests(core, sl_emit_only(core, peer), true);
}

static void show_chunk(struct sl_core *core, uint32_t peer, uint32_t index)
{
	const struct sl_certificate *last = &core->last.certificate;
	struct sl_message message = {.kind = SL_MSG_RESULT};
	if (index >= sl_certificate_chunks(core))
		return;
	message.chunk.t = last->t;
	message.chunk.a = last->a;
	memcpy(message.chunk.view, last->view, SL_HASH_BYTES);
	message.chunk.index = index;
	message.chunk.size = sl_certificate_chunk_bytes(core, index);
	struct sl_payload payload = {
		.source = SL_SOURCE_RESULT, .at = (size_t)index * SL_RESULT_BYTES, .requested = true};
	sl_emit_payload(core, sl_emit_only(core, peer), &message, payload);
}

void sl_certificate_ask(struct sl_core *core, uint32_t peer, const struct sl_request *request)
{
	const struct sl_certificate *last = &core->last.certificate;
	bool begins = request->t == 0;
	if (last->t == 0 || (!begins && request->t != last->t))
		return; /* nothing to show; a Hello has said which round it is now */
	if (begins) {
		sl_emit_send(core, sl_emit_only(core, peer),
			     &(struct sl_message){.kind = SL_MSG_ROUND, .round_head = *last->round}, true);
		show_digests(core, sl_emit_only(core, peer), true);
	}
	if (!begins || request->index == 0) /* else the Round is wanted alone */
		show_chunk(core, peer, request->index);
}
