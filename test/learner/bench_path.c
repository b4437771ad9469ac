/* CPU of a neighbour exchange, both ends, per byte of state: two processes send each other chunks of their
 * vectors through codec, frames, TLS and links over loopback, a few at a time as learners do; beside the same
 * bytes over TLS with nothing around it, over a plain socket, and through memcpy, by turns in one run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/wire/codec.h"
#include "daemon/net/link.h"
#include "tools/dev/bench/bare.h"

#define PASSES 9
#define CHUNKS 31u /* of n = 10^6 */
#define ITERATIONS 16u
#define BYTES ((size_t)ITERATIONS * CHUNKS * SL_CHUNK_BYTES_MAX) /* each way */

struct bench {
	struct sl_bare_pair pair;
	uint8_t *vector;
};

struct side {
	const struct bench *bench;
	uint32_t peer;
	uv_loop_t loop;
	uv_prepare_t before;
	struct sl_links *links;
	bool up, over;
	uint32_t sent, got;
};

static void send_chunk(struct side *side)
{
	struct sl_message m = {.kind = SL_MSG_STATE};
	m.chunk = (struct sl_chunk){.t = 1,
				    .a = 1,
				    .view = {7},
				    .iteration = side->sent / CHUNKS + 1,
				    .index = side->sent % CHUNKS,
				    .size = SL_CHUNK_BYTES_MAX};
	size_t size = sl_codec_bytes(&m);
	uint8_t *piece = NULL;
	struct sl_frame *frame = sl_link_frame_new(size, true);
	sl_codec_encode(&m, frame->bytes, size, &piece);
	memcpy(piece, side->bench->vector + (size_t)m.chunk.index * SL_CHUNK_BYTES_MAX, SL_CHUNK_BYTES_MAX);
	sl_links_send(side->links, side->peer, frame);
	sl_link_frame_release(frame);
	side->sent++;
}

static void on_frame(void *context, uint32_t peer, uint32_t kind, uint8_t *payload, size_t size)
{
	struct side *side = context;
	struct sl_decoded decoded;
	const char *why;
	sl_bare_insist(sl_codec_decode(kind, payload, size, &decoded, &why) == SL_OK, "not a message");
	sl_codec_close(&decoded);
	free(payload);
	sl_links_consumed(side->links, peer);
	side->got++;
}

static void on_up(void *context, uint32_t peer)
{
	(void)peer;
	((struct side *)context)->up = true;
}

static void on_down(void *context, uint32_t peer, bool dialled, const char *why)
{
	(void)peer;
	sl_bare_insist(dialled || ((struct side *)context)->over, why);
}

static void on_refused(void *context, const char *address, int expected, const uint8_t *pin)
{
	(void)context;
	(void)expected;
	(void)pin;
	sl_bare_insist(false, address);
}

static void on_prepare(uv_prepare_t *handle)
{
	struct side *side = handle->data;
	while (side->up && side->sent < ITERATIONS * CHUNKS && side->sent < side->got + SL_WINDOW)
		send_chunk(side);
	sl_links_flush(side->links);
}

/* Where each listens, told over the socket. */
static void find_each_other(struct side *side, int socket)
{
	struct sockaddr_in name;
	int size = sizeof name;
	struct sl_member *peer = &side->bench->pair.roster.members[side->peer];
	uv_tcp_getsockname(&side->links->listener, (struct sockaddr *)&name, &size);
	sl_bare_insist(write(socket, &name, sizeof name) == sizeof name &&
			       read(socket, &name, sizeof name) == sizeof name,
		       "no peer");
	snprintf(peer->address, sizeof peer->address, "127.0.0.1:%u", ntohs(name.sin_port));
}

static void side_open(struct side *side, const struct bench *bench, uint32_t self)
{
	struct sl_error error;
	*side = (struct side){.bench = bench, .peer = 1 - self};
	uv_loop_init(&side->loop);
	struct sl_links_config config = {.loop = &side->loop,
					 .roster = &bench->pair.roster,
					 .self = self,
					 .tls = &bench->pair.tls[self],
					 .listen = "127.0.0.1:0",
					 .handler = {side, on_up, on_down, on_frame, on_refused}};
	sl_bare_insist(sl_links_open(&side->links, &config, &error) == SL_OK, error.text);
	uv_prepare_init(&side->loop, &side->before);
	side->before.data = side;
	uv_prepare_start(&side->before, on_prepare);
}

static void side_close(struct side *side)
{
	sl_links_close(side->links);
	uv_close((uv_handle_t *)&side->before, NULL);
	uv_run(&side->loop, UV_RUN_DEFAULT);
	sl_links_free(side->links);
	uv_loop_close(&side->loop);
}

static bool unsent(const struct sl_link *link)
{
	return link->vectors.head != NULL || link->current != NULL || link->in_flight > 0;
}

static void exchange(const struct bench *bench, uint32_t self, int socket)
{
	struct side side;
	uint64_t wanted = UINT64_C(1) << (1 - self);
	char word = 0;
	side_open(&side, bench, self);
	find_each_other(&side, socket);
	sl_links_want(side.links, &wanted);
	while (side.got < ITERATIONS * CHUNKS || unsent(side.links->slots[side.peer].up))
		uv_run(&side.loop, UV_RUN_ONCE);
	side.over = true;
	sl_bare_insist(write(socket, &word, 1) == 1 && read(socket, &word, 1) == 1, "the other end is gone");
	side_close(&side);
}

static void here(int socket, void *argument)
{
	exchange(argument, 0, socket);
}

static void there(int socket, void *argument)
{
	exchange(argument, 1, socket);
}

static void bench_open(struct bench *bench)
{
	sl_bare_open(&bench->pair, "/tmp");
	bench->vector = malloc((size_t)CHUNKS * SL_CHUNK_BYTES_MAX);
	sl_bare_insist(bench->vector != NULL, "out of memory");
	memset(bench->vector, 7, (size_t)CHUNKS * SL_CHUNK_BYTES_MAX);
}

static void bench_close(struct bench *bench)
{
	free(bench->vector);
	sl_bare_close(&bench->pair);
}

/* The least that a copy can cost: out of one vector of 8 MB into another. */
static double copy(const uint8_t *from, size_t bytes)
{
	size_t size = (size_t)CHUNKS * SL_CHUNK_BYTES_MAX;
	uint8_t *to = malloc(size);
	sl_bare_insist(to != NULL, "out of memory");
	memset(to, 1, size);
	double start = sl_bare_cpu_ns();
	for (size_t at = 0; at < bytes; at += size) {
		memcpy(to, from, size);
		__asm__ volatile("" : : "r"(to) : "memory");
	}
	double spent = sl_bare_cpu_ns() - start;
	free(to);
	return spent;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* The least of a few passes, by turns: what each costs when nothing else wants the machine. */
int main(void)
{
	static struct bench bench;
	double both_ways = 2.0 * (double)BYTES, c = 1e300, tcp = 1e300, tls = 1e300, path = 1e300;
	bench_open(&bench);
	for (int pass = 0; pass < PASSES; pass++) {
		c = least(c, copy(bench.vector, BYTES) / (double)BYTES);
		tcp = least(tcp, sl_bare_tcp(2 * BYTES) / both_ways);
		tls = least(tls, sl_bare_tls(&bench.pair, 2 * BYTES) / both_ways);
		path = least(path, sl_bare_both(here, there, &bench) / both_ways);
	}
	bench_close(&bench);
	printf("CPU of both ends, ns per byte\n%8s %8s %8s %10s %16s\n", "memcpy", "tcp", "tls", "exchange",
	       "times that of tls");
	printf("%8.3f %8.3f %8.3f %10.3f %16.2f\n", c, tcp, tls, path, path / tls);
	return 0;
}
