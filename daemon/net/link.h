/* link.h - one connection; private to links.c, link.c and tls_offload.c.
 *
 *   dialled:   CONNECT --connected--> HANDSHAKE --pinned, Finished sent--> OFFERED --first byte--> UP
 *   accepted:                         HANDSHAKE --pinned, Finished read, it does not lose--> UP, a ping says
 * so any of them --> CLOSED (handle closing; freed in its close callback)
 *
 * One link to a peer. S is the end with the smaller index, L the other one; s is a link that S dialled, l one
 * that L dialled. With TLS 1.3 the dialler is done before the acceptor has seen its Finished. It does not
 * take the link for standing yet: the acceptor has the last word, and its first byte is that word, so that
 * what stands at the dialler stood at the acceptor before. The acceptor, when the peer has shown its key,
 * decides by what it holds itself:
 *
 *   it holds                    L accepts s              S accepts l
 *   nothing                     takes s                  takes l
 *   a dial before its Finished  takes s, drops its dial  takes l, drops its dial
 *   a dial that is OFFERED      takes s, drops its dial  closes l: L takes s, or has taken it
 *   its own link, UP            replaces it              closes l, pings s to see if L has lost s
 *   the peer's link, UP         replaces it if the new one was accepted later
 *
 * A collision, all of it in flight at once:
 *
 *   S  dials s ... Finished: OFFERED ... reads l's Finished: l turned away ........ reads the ping: s is UP
 *   L  dials l ... Finished: OFFERED ........ reads s's Finished: l given up, s is UP, ping
 *
 * In whatever order these happen, S does not take l while L may take s, so that neither end gives up what the
 * other one keeps, and a collision tells each handler of one up and of nothing else. At most one of slot.up
 * and slot.dialling is set. (One thing can come late: the Finished of a dial that S gave up after offering
 * it, no longer wanted or without a word for 10 s. L takes it, reads its end behind it, and both dial again.)
 *
 * Who no longer wants a link closes it only if it dialled it. The other end, if it still wants the link,
 * dials once and owns what comes of that, so that the two do not take turns; where lists of peers in range
 * only differ for a moment, the second that L waits saves the dial. A link that stood less than STEADY_MS
 * counts as a failure in the backoff.
 */
#pragma once

#include "daemon/net/links.h"
#include "daemon/net/link_speed.h"

enum sl_link_state_kind { SL_LINK_CONNECT, SL_LINK_HANDSHAKE, SL_LINK_OFFERED, SL_LINK_UP, SL_LINK_CLOSED };

struct sl_frame_node {
	struct sl_frame_node *next;
	struct sl_frame *frame;
};
struct sl_frame_queue {
	struct sl_frame_node *head, **end;
};

#define SL_SEGMENT_BYTES (64u << 10) /* of a frame that are encrypted at once */
#define SL_TLS_OFFLOAD_SEGMENTS (SL_TLS_WRITE_BYTES / SL_SEGMENT_BYTES)

/* Part of a frame. `last`: with it, the reference that the queue held. */
struct sl_write_segment {
	struct sl_frame *frame;
	size_t at, count;
	bool last;
};
/* A whole frame that came in and was not handed over yet. */
struct sl_arrived {
	struct sl_arrived *next;
	uint32_t kind;
	uint8_t *payload;
	size_t size;
};

/* What TLS has to do on the crypto worker, because it is much: decrypt what came, encrypt slices of vectors
 * (bulk.c). One a link at a time. While it is away the worker owns the link's `secure` and `splitter`: the
 * loop's thread leaves them alone, keeps one more read, and puts off the goodbye. */
struct sl_tls_offload {
	struct sl_task task;
	bool away;
	uint8_t *ciphertext; /* NULL: nothing came */
	size_t bytes;
	struct sl_write_segment segments[SL_TLS_OFFLOAD_SEGMENTS];
	uint32_t segment_count;
	struct sl_arrived *first, **end; /* in order */
	int read, written;		 /* how it ended */
	uint8_t *kept;			 /* what was read meanwhile; NULL: nothing */
	ssize_t kept_bytes;		 /* or why nothing more is read, < 0; 0: neither */
};

struct sl_link {
	struct sl_links *links;
	struct sl_link *next;
	enum sl_link_state_kind state;
	uint32_t peer; /* roster index; UINT32_MAX until an accepted peer has shown its key */
	bool dialled;
	uint64_t number; /* counts links in the order in which they were dialled or accepted */
	uv_tcp_t tcp;
	uv_connect_t connect;
	uv_getaddrinfo_t resolve;
	bool resolving;
	struct sl_tls_session session;
	struct sl_deframer deframer;
	struct sl_tls_offload offload;
	struct sl_frame_queue control, vectors;
	struct sl_frame *current; /* partly encrypted */
	size_t current_at;
	size_t in_flight; /* ciphertext that the kernel has not taken yet */
	struct sl_link_speed speed;
	size_t control_bytes; /* waiting in `control` */
	size_t vector_bytes;  /* waiting in `vectors` */
	uint32_t unread;      /* frames handed over and not dealt with yet */
	bool paused;	      /* not read until fewer are */
	bool rejected;	      /* offered, and closed in order: the other end has another link, or ends */
	uint64_t since, heard, sent; /* ms of the loop; since: begun, or up */
	const char *why;	     /* of closing */
};

struct sl_slot {
	struct sl_link *up, *dialling;
	bool wanted, refused;
	uint64_t retry_at, dialled_at;
	uint64_t alone_since; /* wanted, or without a link, since */
	uint32_t failures;
};

#define SL_RECORD_BYTES (16u << 10) /* plaintext of a TLS record, at most */
#define SL_UNKNOWN_PEERS_MAX 64u
#define SL_HANDSHAKING_MAX 128u /* accepted connections that have not shown a pinned key yet */
#define SL_UNREAD_MAX 64u
#define SL_READ_BYTES (256u << 10)

struct sl_links {
	struct sl_links_config config;
	uv_tcp_t listener;
	uv_timer_t tick;
	struct sl_link *all;
	uint64_t count;	       /* of links so far */
	struct sl_slot *slots; /* by roster index */
	uint8_t unknown_peers[SL_UNKNOWN_PEERS_MAX][SL_HASH_BYTES];
	uint32_t unknown_peer_count;
	struct sl_links_figures figures;
	uint8_t *ciphertext; /* where the next read lands, SL_READ_BYTES; NULL: the last one is in a bulk */
	uint8_t batch[SL_RECORD_BYTES]; /* control frames on their way into one record */
	uint32_t handshaking;
	uint32_t open; /* links that are not freed yet */
	bool closing;
};

/* link.c */
struct sl_link *sl_link_new(struct sl_links *links, uint32_t peer, bool dialled);
void sl_link_connect(struct sl_link *link, const struct sockaddr *address);
void sl_link_accept(struct sl_link *link);
void sl_link_pump(struct sl_link *link);
void sl_link_queue(struct sl_link *link, struct sl_frame *frame);
void sl_link_ping(struct sl_link *link);
void sl_link_resume(struct sl_link *link);
/* The next part of what waits, at most SL_SEGMENT_BYTES; false: nothing waits. */
bool sl_link_segment(struct sl_link *link, struct sl_write_segment *segment);
/* Part of a vector, whatever else waits: between frames, control goes first. */
bool sl_link_segment_is_vector(const struct sl_link *link);
/* Decrypts into the frame that is coming in; *whole: that was the last of it. SL_PENDING: nothing is left to
 * decrypt; SL_ERR_NOTFOUND: the peer's orderly end; SL_ERR_CRYPTO; SL_ERR_FORMAT: of a frame; SL_ERR_NOMEM.
 */
int sl_link_decrypt(struct sl_link *link, bool *whole);
/* Of its socket; -1: closed. */
int sl_link_descriptor(const struct sl_link *link);
/* Closes; the slot hears of it. Safe to call twice. */
void sl_link_close(struct sl_link *link, const char *why);

/* The bulk is back: what it brought is handed over, and sent. */
void sl_link_returned(struct sl_link *link);

/* tls_offload.c */
/* Whether so many bytes are for the crypto worker. */
bool sl_tls_offload_wanted(const struct sl_links *links, size_t bytes);
/* Takes slices of the vectors that wait, as much as a write takes. */
void sl_tls_offload_fill(struct sl_link *link);
/* Away, with the slices and the ciphertext; sl_link_returned says when it is back. */
void sl_tls_offload_send(struct sl_link *link);
/* What came in, in order; NULL: that was all. The caller frees it, and owns the payload. */
struct sl_arrived *sl_tls_offload_next(struct sl_tls_offload *offload);
/* No longer away, and empty: slices, ciphertext, and frames that nobody took. */
void sl_tls_offload_clear(struct sl_link *link);

/* links.c: what a link tells its owner */
/* The handshake is done at this end: the link is offered, or stands, or is turned away (false: closed). */
bool sl_links_handshake_done(struct sl_link *link);
bool sl_links_established(struct sl_link *link);
void sl_links_lost(struct sl_link *link);
void sl_links_unknown_peer(struct sl_link *link);
