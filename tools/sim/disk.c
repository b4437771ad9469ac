#include "tools/sim/disk.h"

#include <stdlib.h>
#include <string.h>

static void *copy(const void *bytes, size_t size)
{
	void *to = size == 0 ? NULL : malloc(size);
	if (to != NULL)
		memcpy(to, bytes, size);
	return to;
}

struct sl_sim_record *sl_sim_record_new(const struct sl_persist *persist, bool whole)
{
	struct sl_sim_record *record = calloc(1, sizeof *record);
	if (record == NULL)
		abort();
	record->what = persist->what;
	record->total_weight = persist->total_weight;
	record->certificate =
		copy(persist->certificate, persist->certificate == NULL ? 0 : sizeof *persist->certificate);
	if (whole) {
		record->view = copy(persist->view, persist->view_bytes);
		record->view_bytes = persist->view_bytes;
		record->readys = copy(persist->readys, persist->ready_count * sizeof *persist->readys);
		record->ready_count = persist->ready_count;
	}
	return record;
}

void sl_sim_record_free(struct sl_sim_record *record)
{
	if (record == NULL)
		return;
	free(record->view);
	free(record->readys);
	free(record->certificate);
	free(record->packed);
	free(record);
}

static void forget_open(struct sl_sim_disk *disk)
{
	free(disk->view);
	free(disk->readys);
	disk->view = NULL;
	disk->readys = NULL;
	disk->a = 0;
}

static void prepare(struct sl_sim_disk *disk, struct sl_sim_record *record)
{
	forget_open(disk);
	disk->a = record->what.a;
	disk->view = record->view;
	disk->readys = record->readys;
	disk->open = (struct sl_open){.a = disk->a,
				      .view = disk->view,
				      .view_bytes = record->view_bytes,
				      .readys = disk->readys,
				      .ready_count = record->ready_count};
	record->view = NULL;
	record->readys = NULL;
}

static void release(struct sl_sim_disk *disk, struct sl_sim_record *record)
{
	free(disk->readys);
	disk->readys = record->readys;
	record->readys = NULL;
	disk->open.released = true;
	disk->open.readys = disk->readys;
	disk->open.ready_count = record->ready_count;
	if (disk->released_count < SL_RELEASED_MAX)
		disk->released[disk->released_count++] = record->what.a;
}

static void commit(struct sl_sim_disk *disk, struct sl_sim_record *record)
{
	free(disk->result);
	disk->result = record->packed;
	disk->certificate = *record->certificate;
	record->packed = NULL;
	forget_open(disk);
	disk->aborted = disk->closed = 0;
	disk->released_count = 0;
}

void sl_sim_disk_write(struct sl_sim_disk *disk, struct sl_sim_record *record)
{
	if (record->what.kind != SL_PERSIST_COMMIT && record->what.t <= disk->certificate.t)
		return; /* of a round that was committed meanwhile: no start looks for it */
	disk->t = record->what.t;
	switch (record->what.kind) {
	case SL_PERSIST_ABORTED:
		disk->aborted = record->what.a > disk->aborted ? record->what.a : disk->aborted;
		if (disk->a != 0 && !disk->open.released && disk->a <= disk->aborted)
			forget_open(disk);
		break;
	case SL_PERSIST_PREPARED:
		prepare(disk, record);
		break;
	case SL_PERSIST_RELEASED:
		release(disk, record);
		break;
	case SL_PERSIST_CLOSED:
		disk->closed = record->what.a;
		forget_open(disk);
		break;
	case SL_PERSIST_COMMIT:
		commit(disk, record);
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
	config->open = disk->a != 0 ? &disk->open : NULL;
}

void sl_sim_disk_free(struct sl_sim_disk *disk)
{
	forget_open(disk);
	free(disk->result);
}
