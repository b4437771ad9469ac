/* links.h - the live, mutually authenticated connections of one learner.
 *
 * Owns every socket between learners. Either end dials, so that a learner behind a one-way firewall has its
 * links whatever its place in the roster; the end with the smaller index goes first, the other one after a
 * second without a link. Two learners never hold two links: who accepts decides, by a rule that both know
 * (link.h). Who is to be dialled is told by sl_links_want; who dialled a link closes it when it is no longer
 * wanted here, and one that only the other end wants is kept. Each link: a TCP connection, TLS over it
 * (tls.h), frames over that (frame.h), two queues out. Control frames go first, between the frames of
 * vectors, and those that wait together share TLS records; about SL_LINK_QUEUE_BYTES of ciphertext wait in a
 * link at most, the rest as frames shared between links. What TLS has much to do with, vectors, it does on a
 * crypto worker (bulk.c); a little is done at once.
 *
 *   want -> connect -> handshake (both pins checked) -> up ... frames, pings ... -> down -> retry 0.25 s ..
 * 15 s
 */
#pragma once

#include <uv.h>

#include "common/base/err.h"
#include "common/wire/frame.h"
#include "common/config/roster.h"
#include "daemon/net/tls.h"
#include "daemon/runtime/worker.h"

/* One encoded message, shared by the links that send it. */
struct sl_frame {
	uint32_t references;
	bool vector; /* goes behind control frames */
	bool secret; /* wiped when the last reference goes */
	size_t size;
	uint8_t bytes[];
};
/* Not secret; one reference, held by the caller. NULL: out of memory. */
struct sl_frame *sl_link_frame_new(size_t size, bool vector);
void sl_link_frame_release(struct sl_frame *frame);

/* For each peer: up, down, up, down ..., and while no link stands any number of downs of dials that failed. A
 * link that takes another's place is a down and an up, because what was sent on the first may be lost. */
struct sl_links_handler {
	void *context;
	/* Both ends have checked the other's pin, and both hold this link. */
	void (*up)(void *context, uint32_t peer);
	/* why: a constant text, for the log. dialled: it never stood. */
	void (*down)(void *context, uint32_t peer, bool dialled, const char *why);
	/* The payload becomes the handler's (free it). */
	void (*frame)(void *context, uint32_t peer, uint32_t kind, uint8_t *payload, size_t size);
	/* Somebody without a place in the roster, or with another's key; called once for each key or address.
	 */
	void (*refused)(void *context, const char *address, int expected, const uint8_t *pin);
};

struct sl_links_config {
	uv_loop_t *loop;
	const struct sl_roster *roster;
	uint32_t self;
	const struct sl_tls *tls;
	const char *listen;
	struct sl_worker *crypto; /* for what TLS has much to do with; it ends after sl_links_close. NULL:
				     nothing is much */
	struct sl_links_handler handler;
};

struct sl_links;

/* Check that `listen` can be resolved to an address of this machine. */
int sl_links_check_address(const char *listen, struct sl_error *error);

/* Listens. SL_ERR_BUSY when the port is in use, SL_ERR_INVALID for an address that cannot be bound. */
int sl_links_open(struct sl_links **links, const struct sl_links_config *config, struct sl_error *error);
/* Keeps links to the peers of a bit set over the roster, dials those it has to, closes those it dialled and
 * need not keep. */
void sl_links_want(struct sl_links *links, const uint64_t *set);
/* Queues a frame (takes a reference of its own); nothing for a peer without a link. */
void sl_links_send(struct sl_links *links, uint32_t peer, struct sl_frame *frame);
/* One frame of this peer was dealt with: a link is not read while too many wait. */
void sl_links_consumed(struct sl_links *links, uint32_t peer);
/* Closes the link to a peer, if there is one; it may be dialled again. */
void sl_links_drop(struct sl_links *links, uint32_t peer, const char *why);
/* Writes what is queued: once per turn of the loop. */
void sl_links_flush(struct sl_links *links);
struct sl_links_figures {
	uint32_t up;
	uint64_t bytes_sent, bytes_received; /* of ciphertext, since the start */
	uint64_t records_sent, writes;	     /* TLS records of frames; system calls that were asked for */
};
void sl_links_figures(const struct sl_links *links, struct sl_links_figures *figures);
/* Bytes per second to a peer, as measured on its link (link_speed.h); 0: not known, or no link. Until
 * something large was sent it is a floor, which may be far too low. */
double sl_links_speed(const struct sl_links *links, uint32_t peer);
bool sl_links_speed_is_floor(const struct sl_links *links, uint32_t peer);
/* The least round trip to a peer, microseconds; 0: not known, or no link. */
uint32_t sl_links_rtt_us(const struct sl_links *links, uint32_t peer);
/* Bytes of vectors that wait for a peer to read; 0 without a link. */
size_t sl_links_waiting(const struct sl_links *links, uint32_t peer);
/* Says goodbye on every link and closes; the loop must run until its handles are gone, then sl_links_free. */
void sl_links_close(struct sl_links *links);
void sl_links_free(struct sl_links *links);
