/* What every part of the simulator uses: failures, the queue of events, memory. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/bytes.h"
#include "test/simulator/sim.h"

uint64_t sl_sim_delay(struct sl_sim *sim, uint32_t ms_max)
{
	uint64_t most = (uint64_t)ms_max * 1000;
	return 1 + sl_sim_random(&sim->random) % (most + 1);
}

void sl_sim_fail(struct sl_sim *sim, const char *format, ...)
{
	char why[4096], text[sizeof why + SL_SIM_TRACE_BYTES + 128];
	va_list list;
	va_start(list, format);
	vsnprintf(why, sizeof why, format, list);
	va_end(list);
	sim->trace.used = 0;
	sim->trace.text[0] = '\0';
	if (sim->cause != NULL) {
		sl_sim_trace_cause(&sim->trace, sim->cause);
		sl_sim_trace_effects(&sim->trace, &sim->actions);
	}
	snprintf(text, sizeof text, "seed %llu, %llu ms: %s%s%s%s", (unsigned long long)sim->options.seed,
		 (unsigned long long)(sim->now / 1000), why, sim->cause != NULL ? ", after step \"" : "",
		 sim->trace.text, sim->cause != NULL ? "\"" : "");
	sl_sim_failed(sim, text);
}

void sl_sim_tell(struct sl_sim *sim, uint32_t i, const char *format, ...)
{
	va_list list;
	if (sim->lines == NULL)
		return;
	fprintf(sim->lines, "%8llu [%u] ", (unsigned long long)(sim->now / 1000), sim->ids[i]);
	va_start(list, format);
	vfprintf(sim->lines, format, list);
	va_end(list);
	fputc('\n', sim->lines);
}

struct sl_sim_link *sl_sim_link(const struct sl_sim *sim, uint32_t i, uint32_t j)
{
	return &sim->links[(size_t)i * sim->n + j];
}

/* --- the event queue: a binary heap by time, then by order of posting --- */

static bool before(const struct sl_sim_place *a, const struct sl_sim_place *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static void grow(struct sl_sim *sim)
{
	size_t room = sim->heap_room * 2 + 64;
	sim->heap = realloc(sim->heap, room * sizeof *sim->heap);
	sim->events = realloc(sim->events, room * sizeof *sim->events);
	if (sim->heap == NULL || sim->events == NULL)
		abort();
	for (size_t k = sim->heap_room; k < room; k++)
		sim->heap[k].slot = k;
	sim->heap_room = room;
}

void sl_sim_push(struct sl_sim *sim, const struct sl_sim_event *event)
{
	if (sim->heap_count == sim->heap_room)
		grow(sim);
	size_t k = sim->heap_count++;
	struct sl_sim_place place = {event->at, event->seq, sim->heap[k].slot};
	sim->events[place.slot] = *event;
	for (; k > 0 && before(&place, &sim->heap[(k - 1) / 2]); k = (k - 1) / 2)
		sim->heap[k] = sim->heap[(k - 1) / 2];
	sim->heap[k] = place;
}

void sl_sim_post(struct sl_sim *sim, uint64_t at, struct sl_sim_event event)
{
	event.at = at;
	event.seq = sim->seq++;
	event.life = sim->learners[event.learner].life;
	sl_sim_push(sim, &event);
}

void sl_sim_post_core(struct sl_sim *sim, uint64_t at, enum sl_event_kind event, uint32_t learner,
		      uint32_t peer)
{
	sl_sim_post(sim, at, (struct sl_sim_event){.event = event, .learner = learner, .peer = peer});
}

struct sl_sim_event sl_sim_pop(struct sl_sim *sim)
{
	size_t k = 0, free_slot = sim->heap[0].slot;
	struct sl_sim_place last = sim->heap[--sim->heap_count];
	for (;;) {
		size_t child = 2 * k + 1;
		if (child + 1 < sim->heap_count && before(&sim->heap[child + 1], &sim->heap[child]))
			child++;
		if (child >= sim->heap_count || !before(&sim->heap[child], &last))
			break;
		sim->heap[k] = sim->heap[child];
		k = child;
	}
	sim->heap[k] = last;
	sim->heap[sim->heap_count].slot = free_slot;
	return sim->events[free_slot];
}

void sl_sim_event_free(struct sl_sim_event *event)
{
	sl_packet_drop(event->packet);
	free(event->range);
}

void sl_sim_post_packet(struct sl_sim *sim, uint32_t i, uint32_t j, uint64_t at, struct sl_packet *packet)
{
	sl_sim_post(sim, at,
		    (struct sl_sim_event){.kind = SL_SIM_MAIL,
					  .learner = j,
					  .peer = i,
					  .generation = sl_sim_link(sim, i, j)->generation,
					  .packet = packet});
}

void sl_sim_echo(struct sl_sim *sim, uint32_t i, uint32_t j, const struct sl_message *message,
		 uint32_t delay_ms)
{
	uint64_t at = sim->now + sl_sim_delay(sim, delay_ms), up = sl_sim_link(sim, i, j)->up_at;
	sl_sim_post_packet(sim, i, j, at > up ? at : up + 1, sl_packet_copy(message));
}

/* --- memory --- */

struct sl_sim_memory {
	struct sl_sim_memory *next;
	_Alignas(16) uint8_t bytes[];
};

void *sl_sim_alloc(struct sl_sim *sim, size_t count, size_t size)
{
	struct sl_sim_memory *memory = calloc(1, sizeof *memory + count * size);
	if (memory == NULL)
		abort();
	memory->next = sim->memory;
	sim->memory = memory;
	return memory->bytes;
}

void *sl_sim_copy(struct sl_sim *sim, const void *from, size_t bytes)
{
	return memcpy(sl_sim_alloc(sim, 1, bytes), from, bytes);
}

void sl_sim_post_end(struct sl_sim *sim)
{
	while (sim->heap_count > 0)
		sl_sim_event_free(&sim->events[sim->heap[--sim->heap_count].slot]);
	free(sim->heap);
	free(sim->events);
	while (sim->memory != NULL) {
		struct sl_sim_memory *memory = sim->memory;
		sim->memory = memory->next;
		free(memory);
	}
}
