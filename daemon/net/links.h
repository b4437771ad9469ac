/* links.h - the live, mutually authenticated connections of one learner (LINKS.md §6.2 Links).
 *
 * Owns every socket between learners. Both ends may dial, so that a learner behind a one-way firewall gets
 * its links independent of its roster index. The end with the smaller index dials first, the other one after
 * a second without a link. Two learners never hold two links: the accepting end decides by a rule that both
 * know (link.h). sl_links_want names the peers to dial. The end that dialled a link closes it when the link
 * is no longer wanted there; a link that only the other end wants is kept. A link is a TCP connection with
 * TLS (tls.h), frames (frame.h) and two send queues. Control frames are sent first, between the frames of
 * vectors, and share TLS records. At most about SL_LINK_QUEUE_BYTES of ciphertext wait per link; the rest
 * waits as frames that links share. Socket buffers follow the link (link_window.h). Large amounts are
 * encrypted and decrypted by a crypto worker (tls_offload.c), small ones at once.
 *
 *   want -> connect -> handshake (both pins verified) -> up ... frames, pings ... -> down
 *     -> retry in 0.25-15 s
 */
#pragma once

#include <uv.h>

#include "common/base/err.h"
#include "common/config/roster.h"
#include "common/wire/frame.h"
#include "daemon/net/proxy.h"
#include "daemon/net/tls.h"
#include "daemon/runtime/worker.h"

/* One encoded message, shared by the links that send it. */
struct sl_frame {
	uint32_t references;
	bool vector; /* sent after control frames */
	bool secret; /* wiped with the last reference */
	size_t size;
	uint8_t bytes[];
};
/* Return a frame that is not secret, with one reference held by the caller; NULL: out of memory. */
struct sl_frame *sl_link_frame_new(size_t size, bool vector);
void sl_link_frame_release(struct sl_frame *frame);

/* Callbacks. Per peer, `up` and `down` alternate; while no link is up, each failed dial is another `down`.
 * The replacement of a link is a `down` and an `up`, because frames sent on the first may be lost. */
struct sl_links_handler {
	void *context;
	/* Both ends have verified the other's pin and hold this link. */
	void (*up)(void *context, uint32_t peer);
	/* `why`: a constant text for the log. `dialled`: the dial failed, the link was never up. */
	void (*down)(void *context, uint32_t peer, bool dialled, const char *why);
	/* `payload` passes to the handler, which frees it. `kind`: a message, or of a roster (frame.h). */
	void (*frame)(void *context, uint32_t peer, uint32_t kind, uint8_t *payload, size_t size);
	/* A connection with a key without a roster line, or with another member's key; called once per key or
	 * address. NULL: not called. */
	void (*refused)(void *context, const char *address, int expected, const uint8_t *pin);
	/* Two processes have the key of `peer`, which may be this learner; `places`: their addresses. Called
	 * again while it lasts. NULL: not called. */
	void (*two_places)(void *context, uint32_t peer, const char *places);
};

#define SL_LINK_TURNED_AWAY                                                                                  \
	"turned away: it waits for its first program, ends, or is linked to another process with this key"
#define SL_LINK_NARROW "large packets are lost on the way: it is linked again with small ones"
#define SL_PLACE_BYTES 61u
#define SL_PLACES_BYTES (2 * SL_PLACE_BYTES + 6)

struct sl_join_handler; /* join_server.h */

/* Intervals of the links, ms. */
struct sl_links_timing {
	uint32_t tick;	    /* of the timer that looks at all links and dials */
	uint32_t ping;	    /* after which a link that sends nothing sends a ping */
	uint32_t silence;   /* after which a link that receives nothing is closed */
	uint32_t handshake; /* longest duration of one */
	uint32_t retry_least,
		retry_most;  /* pause after the first failed dial, doubled with each further one */
	uint32_t head_start; /* in which only the end with the smaller index dials */
	uint32_t steady;     /* after which the loss of a link is not a failure in the back-off */
	uint32_t direct;     /* after which a relayed link tries the addresses of the peer again */
	uint32_t hint;	     /* in which only the first new hint for a peer ends the back-off */
};

struct sl_links_config {
	uv_loop_t *loop;
	const struct sl_links_timing *timing; /* NULL: the usual one */
	const struct sl_roster *roster;
	uint32_t self;
	const struct sl_tls *tls;
	const char *listen;	  /* one address */
	struct sl_worker *crypto; /* worker for TLS offload, closed after sl_links_close; NULL: all TLS work
				     runs on the loop thread */
	struct sl_links_handler handler;
	const struct sl_join_handler *join; /* serves learners that join; used if tls->joins */
	const struct sl_proxy *proxy;	    /* of this machine; NULL: none */
	bool relays;	 /* pass bytes on between peers that cannot reach each other (relay.h) */
	bool joins_only; /* turn members away, until sl_links_take_members */
};

struct sl_links;

/* Listen. SL_ERR_BUSY: the port is in use; SL_ERR_INVALID: the address cannot be bound. */
int sl_links_open(struct sl_links **links, const struct sl_links_config *config, struct sl_error *error);
/* Take links of members from now on, with this worker for TLS offload. */
void sl_links_take_members(struct sl_links *links, struct sl_worker *crypto);
/* Keep links to the peers of `set`, bits over the roster: dial missing ones, close links to other peers that
 * this end dialled. */
void sl_links_want(struct sl_links *links, const uint64_t *set);
/* Set the addresses at which `peer` was found, in the form of a roster's, "": none. They are hints: dialled
 * after those of the roster. A new one ends the back-off. Return true if one is new. */
bool sl_links_hint(struct sl_links *links, uint32_t peer, const char *addresses);
/* Queue `frame` for `peer`, with a reference of its own. A peer without a link is skipped. A link on which
 * more than SL_LINK_WAITING_BYTES wait is closed instead: its peer does not read. */
void sl_links_send(struct sl_links *links, uint32_t peer, struct sl_frame *frame);
/* Note that a frame of `peer` was processed: a link is not read while too many frames wait. */
void sl_links_consumed(struct sl_links *links, uint32_t peer);
/* Close the link to `peer`, if there is one; it may be dialled again. */
void sl_links_drop(struct sl_links *links, uint32_t peer, const char *why);
/* Two processes may have the key of `peer`: tell the others for a while where the one is that is linked here.
 */
void sl_links_suspect(struct sl_links *links, uint32_t peer);
/* Copy the address of `peer` at which it is dialled now or next; in the handler's `down`: was dialled. */
void sl_links_address(const struct sl_links *links, uint32_t peer, char address[static SL_ADDRESS_BYTES]);
/* Write the queued frames; called after each drain of the event queue. */
void sl_links_flush(struct sl_links *links);
/* Bytes since the start. */
struct sl_link_bytes {
	uint64_t sent, received;
};
struct sl_links_figures {
	uint32_t up;
	uint64_t bytes_sent, bytes_received;		 /* ciphertext since the start */
	uint64_t records_sent, writes;			 /* TLS records that carry frames; write calls */
	struct sl_link_bytes messages[SL_MESSAGE_KINDS]; /* frames by message: queued, received */
	uint64_t tls_failures[SL_TLS_FAILURE_COUNT];
};
const struct sl_links_figures *sl_links_figures(const struct sl_links *links);
/* Return the bytes of ciphertext to and from one peer. */
struct sl_link_bytes sl_links_bytes(const struct sl_links *links, uint32_t peer);
/* Return the measured bytes per second to `peer` (link_speed.h), 0: unknown or no link. *floor is set before
 * the first large write and without a link. */
double sl_links_speed(const struct sl_links *links, uint32_t peer, bool *floor);
/* How a link goes: X(path, name) */
#define SL_LINK_WAYS(X)                                                                                      \
	X(DIRECT, "direct") /* also a link that the peer has dialled through its own proxy */                \
	X(PROXY, "proxy")                                                                                    \
	X(RELAY, "relay") /* through another learner */
enum sl_link_way {
#define X(path, name) SL_LINK_##path,
	SL_LINK_WAYS(X)
#undef X
};
/* One link at present. */
struct sl_link_figures {
	double rtt_s;	/* least round trip time, 0: unknown */
	double rate;	/* measured bytes per second, 0: unknown */
	double flight;	/* the rate at which more would be sent, if it is not that (link_speed.h); or 0 */
	size_t waiting; /* bytes that the kernel has not accepted yet */
	size_t unsent;	/* bytes that it has accepted and not sent */
	enum sl_link_way way;
	uint32_t via;	  /* RELAY: roster index of that learner */
	uint32_t segment; /* most bytes of a packet */
	size_t buffers;	  /* size of the socket buffers, as the kernel counts them */
};
/* Look at the link to `peer`; false: there is none, all is 0. */
bool sl_links_figures_of(const struct sl_links *links, uint32_t peer, struct sl_link_figures *state);
/* Return the bytes of frames queued for `peer`, 0 without a link. */
size_t sl_links_waiting(const struct sl_links *links, uint32_t peer);
/* Return false if so much is queued for `peer` that its requests must not be answered: more than
 * SL_LINK_ANSWER_BYTES of vectors, or SL_LINK_QUEUE_BYTES of control frames. */
bool sl_links_reads(const struct sl_links *links, uint32_t peer);
/* Say goodbye on every link and close. The loop must run until the handles are closed; then call
 * sl_links_free. */
void sl_links_close(struct sl_links *links);
void sl_links_free(struct sl_links *links);
