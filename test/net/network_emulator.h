/* network_emulator.h - a TCP relay within the test's loop, between a learner that dials and the one it
 * reaches.
 *
 * What it reads is a piece (a flight of the handshake, a write of frames); pieces of a connection stay in
 * order. It delays them, holds them back, loses them together with the connection's end, and counts TLS
 * records. One clock of 1 ms serves all emulators of a test.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

enum { THERE, BACK }; /* from the dialler; to the dialler */

struct trip; /* one connection */

struct emulator {
	struct emulator *next;
	uv_tcp_t listener;
	uint16_t port, target;
	struct trip *trips;
	uint32_t opened;      /* connections so far */
	bool deaf;	      /* new connections are taken and never answered */
	bool closed;	      /* refuses new connections */
	uint32_t pass[2];     /* pieces of a connection that may pass; UINT32_MAX at first */
	uint32_t held;	      /* of the first so many connections; all at first */
	uint32_t jitter_ms;   /* a piece waits 0 .. this */
	uint64_t bytes_per_s; /* 0: no limit */
	uint64_t random;
	uint32_t
		answer_count; /* as a proxy: to the first so many pieces from the dialler it answers itself */
	struct emulator_text {
		const char *bytes;
		size_t size;
	} answers[3];
	char asked[3][512];  /* .. those pieces, of the last connection */
	uint64_t records[2]; /* of application data that passed */
};

struct emulators {
	uv_loop_t *loop;
	uv_timer_t clock;
	struct emulator *first;
};

void emulators_open(struct emulators *emulators, uv_loop_t *loop);
void emulators_close(struct emulators *emulators);

void emulator_open(struct emulators *emulators, struct emulator *emulator, uint16_t target);
/* Closes; the clock frees the connections. When there are none, emulator_leave. */
void emulator_close(struct emulator *emulator);
void emulator_leave(struct emulators *emulators, struct emulator *emulator);
/* From now on nothing of the present connections passes, and neither end hears that the other one closed.
 * With `tell`, an end that still sends is answered with a reset, as by a host that does not know the
 * connection.
 */
void emulator_lose(struct emulator *emulator, bool tell);
void emulator_let_pass(struct emulator *emulator);
