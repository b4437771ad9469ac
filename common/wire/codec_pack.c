/* Control messages: our struct -> protobuf-c's, which borrows every byte array, -> bytes. */
#include <assert.h>

#include "common/wire/codec_parts.h"
#include "proto/ask.pb-c.h"
#include "proto/digest.pb-c.h"
#include "proto/fence.pb-c.h"
#include "proto/hello.pb-c.h"
#include "proto/hold.pb-c.h"
#include "proto/link_state.pb-c.h"
#include "proto/ready.pb-c.h"

struct outgoing {
	union {
		ProtobufCMessage base;
		Starling__Hello hello;
		Starling__LinkState link_state;
		Starling__Ready ready;
		Starling__Digest digest;
		Starling__Request request;
		Starling__Abort abort_record;
		Starling__Have have;
	};
	Starling__Parameters parameters;
};

static ProtobufCBinaryData lend(const uint8_t *bytes, size_t size)
{
	return (ProtobufCBinaryData){.len = size, .data = (uint8_t *)bytes};
}

static Starling__Hello lend_hello(const struct sl_hello *hello)
{
	Starling__Hello m = STARLING__HELLO__INIT;
	m.id = hello->id;
	m.incarnation = hello->incarnation;
	m.t = hello->t;
	m.a = hello->a;
	m.status = (Starling__PeerStatus)hello->status;
	m.run = lend(hello->run, sizeof hello->run);
	m.roster = lend(hello->roster, sizeof hello->roster);
	return m;
}

static Starling__Parameters lend_parameters(const struct sl_parameters *parameters)
{
	Starling__Parameters m = STARLING__PARAMETERS__INIT;
#define X(name, rule) m.name = parameters->name;
	SL_PARAMETERS(X)
#undef X
	return m;
}

static Starling__LinkState lend_link_state(const struct sl_link_state *ls, Starling__Parameters *parameters)
{
	Starling__LinkState m = STARLING__LINK_STATE__INIT;
	m.id = ls->id;
	m.incarnation = ls->incarnation;
	m.t = ls->t;
	m.a = ls->a;
	m.key = lend(ls->key, sizeof ls->key);
	m.roster = lend(ls->roster, sizeof ls->roster);
	m.roster_size = ls->roster_size;
	*parameters = lend_parameters(&ls->parameters);
	m.parameters = parameters;
	m.previous = lend(ls->previous, sizeof ls->previous);
	m.n_candidates = ls->count;
	m.candidates = (uint32_t *)ls->candidates;
	m.signature = lend(ls->signature, sizeof ls->signature);
	return m;
}

static Starling__Ready lend_ready(const struct sl_ready *ready)
{
	Starling__Ready m = STARLING__READY__INIT;
	m.id = ready->id;
	m.t = ready->t;
	m.a = ready->a;
	m.view = lend(ready->view, sizeof ready->view);
	m.k = ready->k;
	m.commitment = lend(ready->commitment, sizeof ready->commitment);
	m.signature = lend(ready->signature, sizeof ready->signature);
	return m;
}

static Starling__Digest lend_digest(const struct sl_digest *digest)
{
	Starling__Digest m = STARLING__DIGEST__INIT;
	m.id = digest->id;
	m.t = digest->t;
	m.a = digest->a;
	m.key = lend(digest->key, sizeof digest->key);
	m.view = lend(digest->view, sizeof digest->view);
	m.digest = lend(digest->digest, sizeof digest->digest);
	m.p = digest->p;
	m.learners = digest->learners;
	m.decimals = digest->decimals;
	m.encoding = digest->encoding;
	m.clipping_range = digest->clipping_range;
	m.signature = lend(digest->signature, sizeof digest->signature);
	return m;
}

static Starling__Request lend_request(const struct sl_request *request)
{
	Starling__Request m = STARLING__REQUEST__INIT;
	m.t = request->t;
	m.index = request->index;
	m.a = request->a;
	m.origin = request->origin;
	return m;
}

static Starling__Abort lend_abort(const struct sl_abort *abort_record)
{
	Starling__Abort m = STARLING__ABORT__INIT;
	m.id = abort_record->id;
	m.incarnation = abort_record->incarnation;
	m.t = abort_record->t;
	m.a = abort_record->a;
	m.closed = abort_record->closed;
	m.n_released = abort_record->count;
	m.released = (uint32_t *)abort_record->released;
	m.key = lend(abort_record->key, sizeof abort_record->key);
	m.signature = lend(abort_record->signature, sizeof abort_record->signature);
	return m;
}

static Starling__Have lend_have(const struct sl_have *have)
{
	Starling__Have m = STARLING__HAVE__INIT;
	m.t = have->t;
	m.a = have->a;
	m.view = lend(have->view, sizeof have->view);
	m.held = lend(have->held, have->size);
	return m;
}

static void lend_message(const struct sl_message *message, struct outgoing *out)
{
	switch (message->kind) {
	case SL_MSG_HELLO:
		out->hello = lend_hello(&message->hello);
		break;
	case SL_MSG_LINK_STATE:
		out->link_state = lend_link_state(&message->link_state, &out->parameters);
		break;
	case SL_MSG_READY:
		out->ready = lend_ready(&message->ready);
		break;
	case SL_MSG_DIGEST:
		out->digest = lend_digest(&message->digest);
		break;
	case SL_MSG_REQUEST:
		out->request = lend_request(&message->request);
		break;
	case SL_MSG_ABORT:
		out->abort_record = lend_abort(&message->abort_record);
		break;
	case SL_MSG_HAVE:
		out->have = lend_have(&message->have);
		break;
	case SL_MSG_SHARE:
	case SL_MSG_STATE:
	case SL_MSG_RESULT:
	case SL_MSG_MASKED:
	default:
		assert(false && "not a control message");
	}
}

size_t sl_codec_control_bytes(const struct sl_message *message)
{
	struct outgoing out;
	lend_message(message, &out);
	return protobuf_c_message_get_packed_size(&out.base);
}

void sl_codec_control_write(const struct sl_message *message, uint8_t *payload, size_t size)
{
	struct outgoing out;
	lend_message(message, &out);
	assert(size == protobuf_c_message_get_packed_size(&out.base));
	protobuf_c_message_pack(&out.base, payload);
}
