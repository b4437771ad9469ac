#include "test/net/network_emulator.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define PIECE (64u << 10)
#define WAITING_MAX (128u << 10) /* bytes that wait before reading stops; with a limit of speed */
#define SLOW_WAITING_MAX 1u	 /* fewer, so that the sender feels the limit */
#define SOCKET_BUFFER (32 << 10)

struct piece {
	struct piece *next;
	uint64_t due;
	size_t size; /* 0: the end */
	uint8_t bytes[];
};

struct lane {
	struct trip *trip;
	uv_tcp_t *from, *to;
	struct piece *head, **end;
	size_t waiting;
	uint32_t passed;
	uint64_t last_due;
	double credit;		/* bytes that the limit allows now */
	bool full, over, ended; /* not read for now; read to its end; the end passed on */
	uint8_t header[5];	/* of the TLS record that passes */
	size_t header_bytes, record_left;
};

struct trip {
	struct trip *next;
	struct emulator *emulator;
	uv_tcp_t ends[2]; /* the dialler's, the acceptor's */
	uv_connect_t connect;
	bool connected, lost, tell;
	uint32_t number; /* among those of its emulator, from 1 */
	uint32_t open;	 /* handles */
	uint32_t answered;
	struct lane lanes[2];
};

static uint32_t chance(struct emulator *emulator, uint32_t bound)
{
	emulator->random = emulator->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(emulator->random >> 33) % bound;
}

static void on_closed(uv_handle_t *handle)
{
	struct trip *trip = handle->data;
	trip->open--;
}

static void close_end(uv_tcp_t *end)
{
	if (!uv_is_closing((uv_handle_t *)end))
		uv_close((uv_handle_t *)end, on_closed);
}

static void append(struct lane *lane, const uint8_t *bytes, size_t size)
{
	struct emulator *emulator = lane->trip->emulator;
	struct piece *piece = malloc(sizeof *piece + size);
	assert(piece != NULL);
	uint64_t due = uv_now(lane->from->loop) +
		       (emulator->jitter_ms > 0 ? chance(emulator, emulator->jitter_ms + 1) : 0);
	piece->next = NULL;
	piece->due = lane->last_due = due > lane->last_due ? due : lane->last_due;
	piece->size = size;
	if (size > 0)
		memcpy(piece->bytes, bytes, size);
	lane->waiting += size;
	*lane->end = piece;
	lane->end = &piece->next;
}

static void on_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	(void)handle;
	(void)suggested;
	static char room[PIECE];
	*buffer = uv_buf_init(room, sizeof room);
}

static size_t waiting_max(const struct emulator *emulator)
{
	return emulator->bytes_per_s > 0 ? SLOW_WAITING_MAX : WAITING_MAX;
}

/* Answer a piece in place of the acceptor. */
static void answer(struct trip *trip, const char *bytes, size_t size)
{
	struct emulator *emulator = trip->emulator;
	const struct emulator_text *text = &emulator->answers[trip->answered];
	char *asked = emulator->asked[trip->answered++];
	uv_buf_t buffer = uv_buf_init((char *)text->bytes, (unsigned)text->size);
	size = size < sizeof emulator->asked[0] ? size : sizeof emulator->asked[0] - 1;
	memcpy(asked, bytes, size);
	asked[size] = '\0';
	uv_try_write((uv_stream_t *)&trip->ends[0], &buffer, 1);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
	struct trip *trip = stream->data;
	struct lane *lane = &trip->lanes[stream == (uv_stream_t *)&trip->ends[0] ? THERE : BACK];
	if (count == 0)
		return;
	if (trip->lost) {
		if (count < 0)
			uv_read_stop(stream);
		else if (trip->tell && !uv_is_closing((uv_handle_t *)stream))
			uv_tcp_close_reset((uv_tcp_t *)stream, on_closed);
		return;
	}
	if (count > 0 && lane == &trip->lanes[THERE] && trip->answered < trip->emulator->answer_count) {
		answer(trip, buffer->base, (size_t)count);
		return;
	}
	if (count < 0) {
		lane->over = true;
		uv_read_stop(stream);
	}
	append(lane, (const uint8_t *)buffer->base, count > 0 ? (size_t)count : 0);
	if (lane->waiting > waiting_max(trip->emulator)) {
		lane->full = true;
		uv_read_stop(stream);
	}
}

static void on_written(uv_write_t *request, int status)
{
	(void)status;
	free(request->data);
	free(request);
}

static void on_shutdown(uv_shutdown_t *request, int status)
{
	(void)status;
	free(request);
}

/* TLS shows the kind and size of each record. */
static void count_records(struct lane *lane, const uint8_t *bytes, size_t size)
{
	struct emulator *emulator = lane->trip->emulator;
	while (size > 0) {
		size_t n = lane->record_left < size ? lane->record_left : size;
		lane->record_left -= n;
		bytes += n;
		size -= n;
		if (size == 0)
			return;
		lane->header[lane->header_bytes++] = *bytes++;
		size--;
		if (lane->header_bytes < 5)
			continue;
		lane->header_bytes = 0;
		lane->record_left = (size_t)lane->header[3] << 8 | lane->header[4];
		emulator->records[lane - lane->trip->lanes] += lane->header[0] == 23;
	}
}

static void hand_on(struct lane *lane, struct piece *piece)
{
	uv_write_t *write = malloc(sizeof *write);
	uv_buf_t buffer = uv_buf_init((char *)piece->bytes, (unsigned)piece->size);
	assert(write != NULL);
	count_records(lane, piece->bytes, piece->size);
	write->data = piece;
	if (uv_write(write, (uv_stream_t *)lane->to, &buffer, 1, on_written) < 0) {
		free(piece);
		free(write);
	}
}

static void end_lane(struct lane *lane)
{
	uv_shutdown_t *request = malloc(sizeof *request);
	assert(request != NULL);
	lane->ended = true;
	if (uv_shutdown(request, (uv_stream_t *)lane->to, on_shutdown) < 0)
		free(request);
}

static bool may_pass(const struct lane *lane)
{
	const struct trip *trip = lane->trip;
	const struct emulator *emulator = trip->emulator;
	if (lane->head == NULL || lane->head->due > uv_now(lane->from->loop))
		return false;
	if (trip->number <= emulator->held && lane->passed >= emulator->pass[lane - trip->lanes])
		return false;
	return emulator->bytes_per_s == 0 || lane->credit > 0;
}

static void drive(struct lane *lane, double ms)
{
	struct emulator *emulator = lane->trip->emulator;
	double most = (double)emulator->bytes_per_s / 100;
	lane->credit += (double)emulator->bytes_per_s * ms / 1000;
	lane->credit = lane->credit > most ? most : lane->credit;
	while (may_pass(lane)) {
		struct piece *piece = lane->head;
		lane->head = piece->next;
		if (lane->head == NULL)
			lane->end = &lane->head;
		lane->waiting -= piece->size;
		lane->credit -= (double)piece->size;
		lane->passed++;
		if (piece->size > 0) {
			hand_on(lane, piece);
		} else {
			free(piece);
			end_lane(lane);
		}
	}
	if (lane->full && !lane->over && lane->waiting <= waiting_max(emulator) / 2) {
		lane->full = false;
		uv_read_start((uv_stream_t *)lane->from, on_allocate, on_read);
	}
}

static void on_connect(uv_connect_t *request, int status)
{
	struct trip *trip = request->data;
	if (status < 0) {
		close_end(&trip->ends[0]);
		close_end(&trip->ends[1]);
		return;
	}
	trip->connected = true;
	uv_read_start((uv_stream_t *)&trip->ends[0], on_allocate, on_read);
	uv_read_start((uv_stream_t *)&trip->ends[1], on_allocate, on_read);
}

static void set_out(struct trip *trip)
{
	struct sockaddr_in name;
	uv_ip4_addr("127.0.0.1", trip->emulator->target, &name);
	trip->connect.data = trip;
	for (int way = THERE; way <= BACK; way++)
		trip->lanes[way] = (struct lane){.trip = trip,
						 .from = &trip->ends[way],
						 .to = &trip->ends[1 - way],
						 .end = &trip->lanes[way].head};
	uv_tcp_nodelay(&trip->ends[0], 1);
	uv_tcp_nodelay(&trip->ends[1], 1);
	int rc = uv_tcp_connect(&trip->connect, &trip->ends[1], (const struct sockaddr *)&name, on_connect);
	assert(rc == 0);
	(void)rc;
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct emulator *emulator = listener->data;
	struct trip *trip = calloc(1, sizeof *trip);
	assert(status == 0 && trip != NULL);
	trip->emulator = emulator;
	trip->open = 2;
	for (int i = 0; i < 2; i++) {
		uv_tcp_init(listener->loop, &trip->ends[i]);
		trip->ends[i].data = trip;
	}
	uv_accept(listener, (uv_stream_t *)&trip->ends[0]);
	trip->next = emulator->trips;
	emulator->trips = trip;
	trip->number = ++emulator->opened;
	if (emulator->closed) {
		uv_tcp_close_reset(&trip->ends[0], on_closed);
		close_end(&trip->ends[1]);
	} else if (!emulator->deaf) {
		set_out(trip);
	}
}

static void free_trip(struct trip *trip)
{
	for (int way = THERE; way <= BACK; way++)
		for (struct piece *piece = trip->lanes[way].head, *next; piece != NULL; piece = next) {
			next = piece->next;
			free(piece);
		}
	free(trip);
}

static void drive_emulator(struct emulator *emulator, double ms)
{
	for (struct trip **p = &emulator->trips; *p != NULL;) {
		struct trip *trip = *p;
		if (trip->connected && !trip->lost) {
			drive(&trip->lanes[THERE], ms);
			drive(&trip->lanes[BACK], ms);
		}
		if (trip->lanes[THERE].ended && trip->lanes[BACK].ended) {
			close_end(&trip->ends[0]);
			close_end(&trip->ends[1]);
		}
		if (trip->open > 0) {
			p = &trip->next;
			continue;
		}
		*p = trip->next;
		free_trip(trip);
	}
}

static void on_clock(uv_timer_t *timer)
{
	struct emulators *emulators = timer->data;
	static uint64_t before;
	uint64_t now = uv_hrtime();
	double ms = before == 0 ? 0 : (double)(now - before) / 1e6;
	before = now;
	for (struct emulator *emulator = emulators->first; emulator != NULL; emulator = emulator->next)
		drive_emulator(emulator, ms);
}

void emulators_open(struct emulators *emulators, uv_loop_t *loop)
{
	*emulators = (struct emulators){.loop = loop};
	uv_timer_init(loop, &emulators->clock);
	emulators->clock.data = emulators;
	uv_timer_start(&emulators->clock, on_clock, 1, 1);
}

void emulators_close(struct emulators *emulators)
{
	uv_close((uv_handle_t *)&emulators->clock, NULL);
}

void emulator_open(struct emulators *emulators, struct emulator *emulator, uint16_t target)
{
	struct sockaddr_in name;
	int size = sizeof name, buffer = SOCKET_BUFFER;
	*emulator = (struct emulator){.target = target,
				      .pass = {UINT32_MAX, UINT32_MAX},
				      .held = UINT32_MAX,
				      .next = emulators->first};
	emulators->first = emulator;
	uv_tcp_init(emulators->loop, &emulator->listener);
	emulator->listener.data = emulator;
	uv_ip4_addr("127.0.0.1", 0, &name);
	int rc = uv_tcp_bind(&emulator->listener, (const struct sockaddr *)&name, 0);
	if (rc == 0)
		rc = uv_recv_buffer_size((uv_handle_t *)&emulator->listener, &buffer);
	if (rc == 0)
		rc = uv_listen((uv_stream_t *)&emulator->listener, 128, on_connection);
	if (rc == 0)
		rc = uv_tcp_getsockname(&emulator->listener, (struct sockaddr *)&name, &size);
	assert(rc == 0);
	emulator->port = ntohs(name.sin_port);
}

void emulator_close(struct emulator *emulator)
{
	uv_close((uv_handle_t *)&emulator->listener, NULL);
	for (struct trip *trip = emulator->trips; trip != NULL; trip = trip->next) {
		close_end(&trip->ends[0]);
		close_end(&trip->ends[1]);
	}
}

void emulator_leave(struct emulators *emulators, struct emulator *emulator)
{
	for (struct emulator **p = &emulators->first; *p != NULL; p = &(*p)->next)
		if (*p == emulator) {
			*p = emulator->next;
			return;
		}
}

void emulator_lose(struct emulator *emulator, bool tell)
{
	for (struct trip *trip = emulator->trips; trip != NULL; trip = trip->next) {
		trip->lost = true;
		trip->tell = tell;
	}
}

void emulator_let_pass(struct emulator *emulator)
{
	emulator->pass[THERE] = emulator->pass[BACK] = UINT32_MAX;
}
