/* link.h - one connection; private to links.c and link.c.
 *
 *   CONNECT --connected--> HANDSHAKE --pinned--> UP
 *      \_____________________\____________________\--> CLOSED (handle closing; freed in its close callback)
 */
#pragma once

#include "daemon/links.h"

enum sl_link_state_kind { SL_LINK_CONNECT, SL_LINK_HANDSHAKE, SL_LINK_UP, SL_LINK_CLOSED };

struct sl_frame_node {
	struct sl_frame_node *next;
	struct sl_frame *frame;
};
struct sl_frame_queue {
	struct sl_frame_node *head, **end;
};

struct sl_link {
	struct sl_links *links;
	struct sl_link *next;
	enum sl_link_state_kind state;
	uint32_t peer;    /* roster index; UINT32_MAX until an accepted peer has shown its key */
	bool dialled;
	uv_tcp_t tcp;
	uv_connect_t connect;
	uv_getaddrinfo_t resolve;
	bool resolving;
	struct sl_secure secure;
	struct sl_splitter splitter;
	struct sl_frame_queue control, vectors;
	struct sl_frame *current; /* partly encrypted */
	size_t current_at;
	size_t in_flight;         /* ciphertext handed to the kernel's queue */
	size_t control_bytes;     /* waiting in `control` */
	uint32_t unread;          /* frames handed over and not dealt with yet */
	bool paused;              /* not read until fewer are */
	uint64_t since, heard, sent; /* ms of the loop */
	const char *why;          /* of closing */
};

struct sl_slot {
	struct sl_link *up, *dialling;
	bool wanted, refused;
	uint64_t retry_at, dialled_at;
	uint32_t failures;
};

#define SL_STRANGERS_MAX 64u
#define SL_UNSHAKEN_MAX 128u /* accepted connections that have not shown a pinned key yet */
#define SL_UNREAD_MAX 64u

struct sl_links {
	struct sl_links_config config;
	uv_tcp_t listener;
	uv_timer_t tick;
	struct sl_link *all;
	struct sl_slot *slots; /* by roster index */
	uint8_t strangers[SL_STRANGERS_MAX][SL_HASH_BYTES];
	uint32_t stranger_count;
	struct sl_links_figures figures;
	uint8_t ciphertext[256 << 10]; /* where reads land; used up within the callback */
	uint8_t plaintext[64 << 10];
	uint32_t unshaken;
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
/* Closes; the slot hears of it. Safe to call twice. */
void sl_link_close(struct sl_link *link, const char *why);

/* links.c: what a link tells its owner */
bool sl_links_established(struct sl_link *link);
void sl_links_lost(struct sl_link *link);
void sl_links_stranger(struct sl_link *link);
