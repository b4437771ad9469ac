#include "tools/sim/disk.h"

#include <stdlib.h>
#include <string.h>

#include "tools/sim/heap.h"

static void *copy(const void *bytes, size_t size)
{
	void *to = bytes == NULL || size == 0 ? NULL : sl_heap_take(size);
	if (to != NULL)
		memcpy(to, bytes, size);
	return to;
}

struct sl_persist sl_sim_disk_copy(const struct sl_persist *persist, bool whole)
{
	struct sl_persist record = *persist;
	record.view = copy(persist->view, whole ? persist->view_bytes : 0);
	record.readys = copy(persist->readys, whole ? persist->ready_count * sizeof *persist->readys : 0);
	record.certificate = copy(persist->certificate, sizeof *persist->certificate);
	return record;
}

void sl_sim_disk_drop(struct sl_persist *record)
{
	sl_heap_give((void *)record->view);
	sl_heap_give((void *)record->readys);
	sl_heap_give((void *)record->certificate);
}

static void forget_open(struct sl_sim_disk *disk)
{
	sl_heap_give((void *)disk->open.view);
	sl_heap_give((void *)disk->open.readys);
	disk->open = (struct sl_open){.a = 0};
}

static void take_readys(struct sl_sim_disk *disk, struct sl_persist *record)
{
	sl_heap_give((void *)disk->open.readys);
	disk->open.readys = record->readys;
	disk->open.ready_count = record->ready_count;
	record->readys = NULL;
}

static void prepare(struct sl_sim_disk *disk, struct sl_persist *record)
{
	forget_open(disk);
	disk->open =
		(struct sl_open){.a = record->what.a, .view = record->view, .view_bytes = record->view_bytes};
	record->view = NULL;
	take_readys(disk, record);
}

/* `t` is the round of the open attempt. */
static void commit(struct sl_sim_disk *disk, const struct sl_persist *record, sl_round t, uint8_t *result)
{
	sl_heap_give(disk->result);
	disk->result = result;
	disk->certificate = *record->certificate;
	if (disk->open.released && disk->open.a == record->what.a && t == record->what.t) {
		sl_heap_give((void *)disk->last_view);
		disk->last_view = disk->open.view;
		disk->last_view_bytes = disk->open.view_bytes;
		disk->open.view = NULL;
	}
	forget_open(disk);
	disk->aborted = disk->closed = 0;
	disk->released_count = 0;
}

void sl_sim_disk_write(struct sl_sim_disk *disk, struct sl_persist *record, uint8_t *result)
{
	const struct sl_durable *what = &record->what;
	if (what->kind != SL_PERSIST_COMMIT && what->t <= disk->certificate.t)
		return; /* of a round that was committed meanwhile: no start looks for it */
	sl_round before = disk->t;
	disk->t = what->t;
	switch (what->kind) {
	case SL_PERSIST_ABORTED:
		disk->aborted = what->a > disk->aborted ? what->a : disk->aborted;
		if (!disk->open.released && disk->open.a <= disk->aborted)
			forget_open(disk);
		break;
	case SL_PERSIST_PREPARED:
		prepare(disk, record);
		break;
	case SL_PERSIST_RELEASED:
		take_readys(disk, record);
		disk->open.released = true;
		if (disk->released_count < SL_RELEASED_MAX)
			disk->released[disk->released_count++] = what->a;
		break;
	case SL_PERSIST_CLOSED:
		disk->closed = what->a;
		forget_open(disk);
		break;
	case SL_PERSIST_COMMIT:
		commit(disk, record, before, result);
		break;
	}
}

void sl_sim_disk_read(const struct sl_sim_disk *disk, struct sl_core_config *config)
{
	config->committed = disk->certificate.t;
	memcpy(config->previous, disk->certificate.digest, SL_HASH_BYTES);
	config->certificate = disk->certificate.t > 0 ? &disk->certificate : NULL;
	config->aborted = disk->aborted;
	config->closed = disk->closed;
	config->released_count = disk->released_count;
	memcpy(config->released, disk->released, sizeof disk->released);
	config->last_view = disk->last_view;
	config->last_view_bytes = disk->last_view_bytes;
	config->open = disk->open.a != 0 ? &disk->open : NULL;
}

void sl_sim_disk_clone(struct sl_sim_disk *to, const struct sl_sim_disk *from, size_t elements)
{
	size_t width = from->result != NULL ? (size_t)(64 - __builtin_clzll(from->certificate.p) + 7) / 8 : 0;
	*to = *from;
	to->result = copy(from->result, elements * width);
	to->open.view = copy(from->open.view, from->open.view_bytes);
	to->last_view = copy(from->last_view, from->last_view_bytes);
	to->open.readys = copy(from->open.readys, from->open.ready_count * sizeof *from->open.readys);
}

void sl_sim_disk_free(struct sl_sim_disk *disk)
{
	forget_open(disk);
	sl_heap_give((void *)disk->last_view);
	sl_heap_give(disk->result);
}
