#include "test/simulator/forget.h"

#include <stdlib.h>

#include "common/base/bytes.h"
#include "test/simulator/check.h"
#include "tools/host/heap.h"

#define COPIES 6u

struct copy {
	struct sl_host_disk disk;
	uint8_t *slots; /* of the state file; NULL: there is none */
	size_t slots_bytes, slot_bytes;
	uint32_t slot_count, own_slot;
	uint32_t incarnation;
};

struct sl_sim_copies {
	struct copy of[COPIES]; /* a ring */
	uint32_t count;
};

static void drop(struct copy *copy)
{
	sl_host_disk_free(&copy->disk);
	free(copy->slots);
	*copy = (struct copy){.slots = NULL};
}

void sl_sim_forget_begin(struct sl_sim *sim)
{
	sim->copies = sl_sim_alloc(sim, sim->n, sizeof *sim->copies);
}

void sl_sim_forget_end(struct sl_sim *sim)
{
	for (uint32_t i = 0; sim->copies != NULL && i < sim->n; i++)
		for (uint32_t k = 0; k < COPIES; k++)
			drop(&sim->copies[i].of[k]);
}

void sl_sim_forget_keep(struct sl_sim *sim, uint32_t i)
{
	const struct sl_sim_learner *l = &sim->learners[i];
	const struct sl_slots *file = &l->host.workspace.state_file;
	struct copy *copy = &sim->copies[i].of[sim->copies[i].count++ % COPIES];
	drop(copy);
	sl_host_disk_clone(&copy->disk, &l->host.disk, l->host.config.model_bytes);
	copy->incarnation = l->host.config.incarnation;
	if (file->base == NULL)
		return;
	copy->slot_count = l->slots;
	copy->own_slot = l->own_slot;
	copy->slot_bytes = file->slot_bytes;
	copy->slots_bytes = l->slots * file->slot_bytes;
	copy->slots = malloc(copy->slots_bytes);
	memcpy(copy->slots, file->base, copy->slots_bytes);
}

void sl_sim_forget_now(struct sl_sim *sim, uint32_t i, bool empty, uint64_t random)
{
	struct sl_sim_learner *l = &sim->learners[i];
	struct sl_slots *file = &l->host.workspace.state_file;
	uint32_t kept = sim->copies[i].count < COPIES ? sim->copies[i].count : COPIES;
	struct copy none = {.incarnation = 0},
		    *copy = empty || kept == 0 ? &none : &sim->copies[i].of[random % kept];
	l->forgot_in =
		l->host.disk.certificate.t + 1 > l->forgot_in ? l->host.disk.certificate.t + 1 : l->forgot_in;
	l->forgot = true;
	sl_sim_tell(sim, i, "FAULT its disk is set back to t%u%s%s, start %u", copy->disk.certificate.t,
		    copy->disk.open.a == 0 ? "" : " prepared",
		    copy->disk.open.a != 0 && copy->disk.open.state == SL_OPEN_RELEASED ? " released" : "",
		    copy->incarnation);
	sl_host_disk_free(&l->host.disk);
	l->host.disk = (struct sl_host_disk){.t = 0};
	sl_host_disk_clone(&l->host.disk, &copy->disk, l->host.config.model_bytes);
	sl_heap_give(file->base);
	*file = (struct sl_slots){.slot_bytes = copy->slot_bytes};
	if (copy->slots != NULL) {
		file->base = sl_heap_take(copy->slots_bytes);
		memcpy(file->base, copy->slots, copy->slots_bytes);
		l->slots = copy->slot_count;
		l->own_slot = copy->own_slot;
	}
	l->host.config.incarnation = copy->incarnation + 1;
	sl_host_disk_read(&l->host.disk, &l->host.config);
	sl_sim_check_forgot(sim, i);
}
