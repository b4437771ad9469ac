#include "tools/sim/disk.h"

#include <stdlib.h>
#include <string.h>

#include "tools/sim/vectors.h"

static void *copy(const void *bytes, size_t size)
{
	void *to = size == 0 ? NULL : malloc(size);
	if (to != NULL)
		memcpy(to, bytes, size);
	return to;
}

struct sim_record *sim_record_new(const struct sl_persist *persist)
{
	struct sim_record *record = malloc(sizeof *record);
	*record = (struct sim_record){.what = persist->what,
				      .view = copy(persist->view, persist->view_bytes),
				      .view_bytes = persist->view_bytes,
				      .readys = copy(persist->readys, persist->ready_count * sizeof *persist->readys),
				      .ready_count = persist->ready_count,
				      .proof = copy(persist->proof, persist->proof == NULL ? 0 : sizeof *persist->proof)};
	return record;
}

void sim_record_free(struct sim_record *record)
{
	if (record == NULL)
		return;
	free(record->view);
	free(record->readys);
	free(record->proof);
	free(record->packed);
	free(record);
}

static void forget_open(struct sim_disk *disk)
{
	free(disk->view);
	free(disk->readys);
	disk->view = NULL;
	disk->readys = NULL;
	disk->a = 0;
}

static void prepare(struct sim_disk *disk, struct sim_record *record)
{
	forget_open(disk);
	disk->a = record->what.a;
	disk->view = record->view;
	disk->readys = record->readys;
	disk->open = (struct sl_open){
		.a = disk->a, .view = disk->view, .view_bytes = record->view_bytes, .readys = disk->readys, .ready_count = record->ready_count};
	record->view = NULL;
	record->readys = NULL;
}

static void release(struct sim_disk *disk, struct sim_record *record)
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

static void commit(struct sim_disk *disk, struct sim_record *record)
{
	free(disk->result);
	disk->result = record->packed;
	disk->proof = *record->proof;
	disk->result_bytes = sim_vectors_width(record->proof->p);
	record->packed = NULL;
	forget_open(disk);
	disk->fenced = disk->dead = 0;
	disk->released_count = 0;
}

void sim_disk_write(struct sim_disk *disk, struct sim_record *record)
{
	if (record->what.kind != SL_PERSIST_COMMIT && record->what.t <= disk->proof.t)
		return; /* of a round that was committed meanwhile: no start looks for it */
	disk->t = record->what.t;
	switch (record->what.kind) {
	case SL_PERSIST_FENCED:
		disk->fenced = record->what.a > disk->fenced ? record->what.a : disk->fenced;
		if (disk->a != 0 && !disk->open.released && disk->a <= disk->fenced)
			forget_open(disk);
		break;
	case SL_PERSIST_PREPARED:
		prepare(disk, record);
		break;
	case SL_PERSIST_RELEASED:
		release(disk, record);
		break;
	case SL_PERSIST_DEAD:
		disk->dead = record->what.a;
		forget_open(disk);
		break;
	case SL_PERSIST_COMMIT:
		commit(disk, record);
		break;
	}
}

void sim_disk_read(const struct sim_disk *disk, struct sl_core_config *config)
{
	config->committed = disk->proof.t;
	memcpy(config->previous, disk->proof.digest, SL_HASH_BYTES);
	config->proof = disk->proof.t > 0 ? &disk->proof : NULL;
	config->fenced = disk->fenced;
	config->dead = disk->dead;
	config->released_count = disk->released_count;
	memcpy(config->released, disk->released, sizeof disk->released);
	config->open = disk->a != 0 ? &disk->open : NULL;
}

void sim_disk_free(struct sim_disk *disk)
{
	forget_open(disk);
	free(disk->result);
}
