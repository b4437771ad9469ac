/* link.h - one connection; private to the files that implement it. Each calls only those before it:
 *
 *   link_frame.c, link_proxy.c, tls_offload.c, link_send.c, join_server.c, link.c, relay.c, links_places.c,
 *   links_report.c, links_traffic.c, links_dial.c, links_slots.c
 *
 *   dialled:   CONNECT --connected--> HANDSHAKE --pin verified, Finished sent--> OFFERED --first byte--> UP
 *              .. CONNECT --connected to the proxy--> TUNNEL --it is there--> HANDSHAKE ..
 *   accepted:  HANDSHAKE --pin verified, Finished read, not rejected--> UP, announced by a ping
 *              HANDSHAKE --as a learner that joins, Finished read--> JOIN (join_server.h)
 *              HANDSHAKE --bytes of a preface (relay.h)--> LEG --its token is known--> SPLICED
 *   any of them --> CLOSED (handle closing; freed in its close callback)
 *
 * Two learners hold one link. S is the end with the smaller roster index, L the other one; s is a link that S
 * dialled, l one that L dialled. With TLS 1.3 the dialling end completes the handshake before the accepting
 * end has read its Finished. The dialling end therefore waits for the first byte from the accepting end,
 * which makes the final decision: a link that is up at the dialling end was up at the accepting end before.
 * The accepting end decides by the links that it holds when the key of the peer is verified:
 *
 *   link held                     L accepts s                  S accepts l
 *   none                          accept s                     accept l
 *   a dial before its Finished    accept s, cancel the dial    accept l, cancel the dial: L cannot accept it
 *   a dial that is OFFERED        accept s, cancel the dial    reject l: L accepts or has accepted the dial
 *   its own link, UP              replace it: S has lost l     reject l, ping s: this shows a lost s
 *   the peer's link, UP           replace it if the new one was accepted later: only lost links are redialled
 *   a link to another start of    reject the new one: the old process has ended, and its link will, or its
 *   the peer, UP                  state folder was copied
 *
 * A collision, with both dials under way at once:
 *
 *   S  dials s ... Finished: OFFERED ... reads l's Finished: l rejected ........ reads the ping: s is UP
 *   L  dials l ... Finished: OFFERED ........ reads s's Finished: l cancelled, s is UP, ping
 *
 * In every order of these events, S does not accept l while L may accept s, so that no end drops the link
 * that the other one keeps, and each handler sees one `up` and nothing else. At most one of slot.up and
 * slot.dialling is set, unless the link is relayed and its peer is dialled directly: such a link counts as
 * none in the table when a direct one comes. One event can be late: the Finished of a dial that S cancelled
 * after offering it, because it was no longer wanted or got no byte for 10 s. L accepts it, then reads the
 * end of the connection, and both dial again.
 *
 * An end that no longer wants a link closes it only if it dialled it. The other end, if it still wants the
 * link, dials once and owns the result, so that the two do not alternate; if the neighbour lists differ only
 * for a moment, the second that L waits saves the dial. A link that was up for less than timing.steady counts
 * as a failure in the back-off.
 */
#pragma once

#include "daemon/net/link_segment.h"
#include "daemon/net/link_speed.h"
#include "daemon/net/link_window.h"
#include "daemon/net/links.h"

enum sl_link_state_kind {
	SL_LINK_CONNECT,
	SL_LINK_TUNNEL,
	SL_LINK_HANDSHAKE,
	SL_LINK_OFFERED,
	SL_LINK_UP,
	SL_LINK_JOIN,
	SL_LINK_LEG,
	SL_LINK_SPLICED,
	SL_LINK_CLOSED
};

#define SL_RELAY_TOKEN_BYTES 16u
#define SL_RELAY_MAGIC "relay starling/1" /* of a preface, before the token */
#define SL_RELAY_PREFACE_BYTES (sizeof SL_RELAY_MAGIC - 1 + SL_RELAY_TOKEN_BYTES)

struct sl_frame_node {
	struct sl_frame_node *next;
	struct sl_frame *frame;
};
struct sl_frame_queue {
	struct sl_frame_node *head, **end;
};

#define SL_SEGMENT_BYTES (64u << 10) /* part of a frame that is encrypted at once */
#define SL_TLS_OFFLOAD_SEGMENTS (SL_TLS_WRITE_BYTES / SL_SEGMENT_BYTES)

/* Part of a frame. `last`: the segment carries the reference that the queue held. */
struct sl_write_segment {
	struct sl_frame *frame;
	size_t at, count;
	bool last;
};
struct sl_link;

/* A complete received frame, not handed over yet. */
struct sl_arrived {
	struct sl_arrived *next;
	uint32_t kind;
	uint8_t *payload;
	size_t size;
};

/* TLS work of a link on the crypto worker: decrypt received bytes, encrypt segments of vectors
 * (tls_offload.c). At most one per link. During it, the worker owns the link's `session` and `deframer`; the
 * loop thread keeps one more read and delays the goodbye. */
struct sl_tls_offload {
	struct sl_task task;
	bool away;
	uint8_t *ciphertext; /* received; NULL: none */
	size_t bytes;
	struct sl_write_segment segments[SL_TLS_OFFLOAD_SEGMENTS];
	uint32_t segment_count;
	struct sl_arrived *first, **end;	/* in the order of arrival */
	int read, written;			/* results */
	void (*returned)(struct sl_link *link); /* link.c: hand over the frames that it decrypted, send the
						   bytes that it encrypted */
	uint8_t *kept;				/* read during the offload; NULL: nothing */
	ssize_t kept_bytes;			/* their count; < 0: why reading ended; 0: neither */
};

struct sl_link {
	struct sl_links *links;
	struct sl_link *next;
	enum sl_link_state_kind state;
	uint32_t peer;	     /* roster index; UINT32_MAX until the key of an accepted peer is verified */
	bool dialled, begun; /* begun: the connection is there */
	uint64_t number;     /* counts links in the order in which they were dialled or accepted */
	uv_tcp_t tcp;
	uv_connect_t connect;
	int family; /* of the address that it dials */
	enum sl_link_way way;
	uint32_t via;  /* roster index of the learner at the other end of the connection: the peer, or the
			  relay;  UINT32_MAX: not known yet */
	uint32_t ways; /* addresses of that learner, each name counted as one */
	uint8_t token[SL_RELAY_TOKEN_BYTES]; /* for the relay */
	struct sl_leg *leg;		     /* of a connection that this learner relays; owned */
	struct sl_proxy_talk *talk;	     /* on the way through the proxy; NULL: none, or past it */
	struct sl_address_query *query;	     /* of the name to dial; NULL: none is looked up */
	const char *without; /* why the last address stands in for a name; NULL: it does not */
	struct sl_tls_session session;
	struct sl_deframer deframer;
	struct sl_tls_offload offload;
	struct sl_frame_queue control, vectors;
	struct sl_frame *current; /* partly encrypted */
	size_t current_at;
	size_t in_flight;    /* ciphertext that the kernel has not accepted yet */
	uint64_t stalled_at; /* link_segment.h */
	struct sl_link_speed speed;
	struct sl_link_window window;
	uint64_t looked;      /* bytes both ways at the last look at speed and window */
	size_t control_bytes; /* waiting in `control` */
	size_t vector_bytes;  /* waiting in `vectors` */
	uint32_t unread;      /* frames handed over and not processed yet */
	bool paused;	      /* reading stops until fewer are unread */
	bool large;	      /* what was written may be more than a small segment, and not be acknowledged */
	bool reset;	      /* it ends at once: nothing that is sent would arrive before the end */
	bool rejected; /* offered, then closed in order: the other end has another link, takes none yet, or
			  ends */
	uint64_t since, heard, sent; /* loop time, ms; `since`: begin of the present state */
	const char *why;	     /* reason of closing */
	void (*close)(struct sl_link *link, const char *why); /* sl_link_close */
	struct sl_link_bytes early;			      /* before the peer was known */
	struct sl_join_input *join;			      /* in state JOIN: its request; owned */
};

/* What a link reports to its owner, links_slots.c. */
struct sl_link_reports {
	/* Handle the end of the handshake at this end: the link is offered, up, or rejected (false: closed).
	 */
	bool (*handshake_done)(struct sl_link *link);
	bool (*established)(struct sl_link *link);
	void (*lost)(struct sl_link *link);
	void (*unknown_peer)(struct sl_link *link);
	/* An order of a relay, or for it; first bytes that are a preface (relay.h). */
	void (*order)(struct sl_link *link, const uint8_t *payload, size_t size);
	void (*leg)(struct sl_link *link, const uint8_t *bytes, size_t count);
	void (*place)(struct sl_link *link, const uint8_t *payload, size_t size);
};

/* A process of a member, by the serial number of its certificate, and when it was seen. */
struct sl_place {
	uint64_t start, first, last, told; /* start: 0: none */
	char address[SL_PLACE_BYTES];
};

struct sl_slot {
	struct sl_link *up, *dialling;
	bool wanted, refused;
	uint64_t retry_at, dialled_at;
	uint64_t alone_since; /* time since which the peer is wanted without a link */
	uint32_t failures;
	uint32_t tries;		      /* failed dials: each goes to the next address */
	uint32_t ways;		      /* addresses that the peer has, as far as its names are resolved */
	struct sl_link_bytes bytes;   /* of all its links */
	char hints[SL_ADDRESS_BYTES]; /* addresses beside those of the roster; "": none */
	bool relays;		      /* its link is up, and it relays */
	uint32_t relay;		     /* the last one asked for a way to it, plus 1: the next is asked first */
	uint64_t asked_at, taken_at; /* when it was asked; when a way from the peer was taken last */
	uint32_t taken_via;	     /* .. and through which relay */
	uint64_t direct_at;	     /* when a relayed link tries the addresses */
	uint64_t hinted_at;	     /* when a new one ended the back-off; 0: never */
	uint64_t suspect_until;	     /* while which others are told where it is; 0: never */
	struct sl_place places[2];
	struct sockaddr_storage last; /* address of the last link; family 0: none */
	bool last_proxied;	      /* .. is the proxy's */
	uint32_t segment;	      /* most bytes of a TCP segment to it; 0: as the path has it */
	uint32_t guess;		      /* .. of the next link, if there is one soon; 0: none */
	bool heard;		      /* .. bytes of the peer came while larger ones were lost */
};

#define SL_RECORD_BYTES (16u << 10) /* largest plaintext of a TLS record */
#define SL_UNKNOWN_PEERS_MAX 64u
#define SL_HANDSHAKING_MAX 128u /* accepted connections without a verified key */
#define SL_UNREAD_MAX 64u
#define SL_TAKEN_MAX 16u /* ways through one relay without a verified key */
#define SL_READ_BYTES (256u << 10)

struct sl_links {
	struct sl_links_config config;
	const struct sl_link_reports *reports;
	uv_tcp_t listener;
	uv_timer_t tick;
	struct sl_link *all;
	uint64_t count;	       /* links so far */
	struct sl_slot *slots; /* by roster index */
	uint8_t unknown_peers[SL_UNKNOWN_PEERS_MAX][SL_HASH_BYTES];
	uint32_t unknown_peer_count;
	struct sl_links_figures figures;
	struct sl_relay *relay;		/* NULL: it is none; owned */
	uint32_t relays;		/* slots with one */
	uint8_t *ciphertext;		/* buffer of the next read, SL_READ_BYTES; NULL: an offload has it */
	uint8_t batch[SL_RECORD_BYTES]; /* control frames collected into one record */
	uint32_t handshaking;
	uint32_t joining;      /* .. of which in state JOIN */
	uint32_t asked;	       /* requests of learners that join, in this second */
	uint64_t asked_since;  /* .. which began then */
	uint32_t dials, begun; /* dials under way; dials begun since the last tick */
	uint64_t wary_until;   /* while which any peer is suspect; 0: never */
	uint32_t told;	       /* places told in this second */
	uint64_t told_since;   /* .. which began then */
	uint32_t next;	       /* peer that is dialled first at the next tick */
	int64_t slept;	       /* ms that the machine has slept since it was booted */
	bool crowded;	       /* a dial waits for the end of another */
	uint32_t open;	       /* links not freed yet */
	uint64_t narrow_until; /* accepted connections have small segments, and guesses hold until then */
	uint64_t found_until;  /* a link has lost full ones a moment ago */
	bool closing;
};

/* Return the counter of the bytes of `link`. */
static inline struct sl_link_bytes *sl_link_bytes_of(struct sl_link *link)
{
	return link->peer == UINT32_MAX ? &link->early : &link->links->slots[link->peer].bytes;
}

/* Close the link, from a file below link.c. */
static inline void sl_link_fail(struct sl_link *link, const char *why)
{
	link->close(link, why);
}

/* link_frame.c */
/* Decrypt into the frame under way; *whole: it is complete. SL_PENDING: nothing left to decrypt;
 * SL_ERR_NOTFOUND: the peer said goodbye; SL_ERR_CRYPTO; SL_ERR_FORMAT: malformed frame; SL_ERR_NOMEM. */
int sl_link_decrypt(struct sl_link *link, bool *whole);

/* link_proxy.c */
/* Have the link go through the proxy: replace the address to dial. false: out of memory. */
bool sl_link_proxy_open(struct sl_link *link, char address[static SL_ADDRESS_BYTES]);
/* Send the next request to the proxy. */
void sl_link_proxy_send(struct sl_link *link);
/* Take a part of its answer; true: the tunnel is there. */
bool sl_link_proxy_take(struct sl_link *link, const uint8_t *bytes, size_t count);
/* Return what is wrong with a dial that has failed by `why`, or by the proxy on the way. */
const char *sl_link_proxy_fault(const struct sl_link *link, const char *why);
void sl_link_proxy_end(struct sl_link *link);

/* link.c */
struct sl_link *sl_link_new(struct sl_links *links, uint32_t peer, bool dialled);
void sl_link_connect(struct sl_link *link, const struct sockaddr *address);
/* Begin the handshake on a connected socket. */
void sl_link_begin(struct sl_link *link);
/* Read again once few frames are unread. */
void sl_link_resume(struct sl_link *link);
/* Close the link and report it to links_slots.c. A second call has no effect. */
void sl_link_close(struct sl_link *link, const char *why);

/* links_places.c */
/* Write the address of the other end, and its port if `port`. */
void sl_links_end_name(const struct sl_link *link, char text[static SL_ADDRESS_BYTES], bool port);
/* Tell all peers where the process of each suspect is that is linked here. */
void sl_links_places_look(struct sl_links *links, uint64_t now);
/* Take the payload of a frame, and pass it on. */
void sl_links_place(struct sl_link *link, const uint8_t *payload, size_t size);
/* `link`, not kept, is of another start of the member than the link that is up: it is a suspect. */
void sl_links_rival(struct sl_link *link, uint32_t member);
/* Bound the segments of the connections that are accepted for some time, if those to `peer` are: it may be
 * the one that dials. */
void sl_link_expect(struct sl_links *links, uint32_t peer);
/* Once that time is over, bound them no longer, and forget what was guessed: all packets are lost. */
void sl_link_expect_no_more(struct sl_links *links);

/* links_report.c */
/* Report a key without a roster line: once for each member in whose place it answers, and once if it only
 * connects or comes over a relay. */
void sl_links_report_unknown(struct sl_link *link);
/* Return true if the pin is that of the dialled member, or for an accepted link of any other member than this
 * learner. Else report it, if no relay has chosen it. */
bool sl_links_is_rightful(struct sl_link *link);

/* links_dial.c */
/* Dial `peer`: at its own address, or through the relay `via`, which has made the `token`. */
void sl_links_dial(struct sl_links *links, uint32_t peer, uint32_t via, const uint8_t *token);
/* Connect to the address of link->via whose turn it is. */
void sl_links_go(struct sl_link *link);
/* Connect if the name of the link is looked up. */
void sl_links_answered(struct sl_link *link);
/* Return the slot whose last address stands in for the name that is looked up; NULL: none does. */
const struct sl_slot *sl_links_stand_in(const struct sl_link *link);
/* The name of a link does not resolve, or not yet: connect to the address at which the learner was last. */
void sl_links_do_without(struct sl_link *link, const char *why);
/* Keep the address at which the peer, or its proxy, was dialled; of one that has dialled, with its usual
 * port. */
void sl_links_note_address(const struct sl_link *link);

/* join_server.c */
/* Take over an accepted connection, of a learner that joins, after its handshake. */
void sl_join_server_begin(struct sl_link *link);
/* Decrypt and use what has arrived on it. */
void sl_join_server_read(struct sl_link *link);
/* Free what it has. */
void sl_join_server_end(struct sl_link *link);

/* link_send.c */
/* Queue `frame`, with a reference of its own. */
void sl_link_queue(struct sl_link *link, struct sl_frame *frame);
void sl_link_ping(struct sl_link *link);
/* Encrypt waiting frames for one write: control frames first, and vectors if their size is small. Large ones
 * become segments of the offload. */
void sl_link_encrypt(struct sl_link *link);
/* Hand the output of TLS to the kernel. */
void sl_link_write(struct sl_link *link);
/* Encrypt and write while the kernel accepts bytes. */
void sl_link_pump(struct sl_link *link);
/* Release the frames that were not sent. */
void sl_link_discard(struct sl_link *link);
/* Return the descriptor of the socket; -1: closed. */
int sl_link_descriptor(const struct sl_link *link);

/* tls_offload.c */
/* Return true if `bytes` are enough for the crypto worker. */
bool sl_tls_offload_wanted(const struct sl_links *links, size_t bytes);
/* Send the segments and the ciphertext to the worker; `returned` follows. */
void sl_tls_offload_send(struct sl_link *link);
/* Return the next decrypted frame, NULL: no more. The caller owns it and its payload. */
struct sl_arrived *sl_tls_offload_next(struct sl_tls_offload *offload);
/* End the offload: free its segments, ciphertext and remaining frames. */
void sl_tls_offload_clear(struct sl_link *link);
