#include "tools/host/disk.h"

#include <string.h>

#include "tools/host/heap.h"

static void *copy(const void *bytes, size_t size)
{
	void *to = bytes == NULL || size == 0 ? NULL : sl_heap_take(size);
	if (to != NULL)
		memcpy(to, bytes, size);
	return to;
}

static const struct sl_secrets *copy_secrets(const struct sl_secrets *secrets)
{
	struct sl_secrets *to = copy(secrets, sizeof *secrets);
	if (to != NULL)
		to->shares = copy(secrets->shares, secrets->count * sizeof *secrets->shares);
	return to;
}

static void free_secrets(const struct sl_secrets *secrets)
{
	if (secrets != NULL)
		sl_heap_give(secrets->shares);
	sl_heap_give((void *)secrets);
}

static const struct sl_certificate *copy_certificate(const struct sl_certificate *certificate)
{
	struct sl_certificate *to = copy(certificate, sizeof *certificate);
	struct sl_round_head *round = to == NULL ? NULL : copy(to->round, sizeof *to->round);
	if (round == NULL)
		return to;
	round->members = copy(round->members, round->count * sizeof *round->members);
	to->round = round;
	to->digests = copy(to->digests, to->count * sizeof *to->digests);
	return to;
}

static void free_certificate(const struct sl_certificate *certificate)
{
	if (certificate->round != NULL)
		sl_heap_give((void *)certificate->round->members);
	sl_heap_give((void *)certificate->round);
	sl_heap_give(certificate->digests);
}

static struct sl_seen *copy_seen(const struct sl_seen *seen)
{
	return copy(seen, seen == NULL ? 0 : sl_seen_size(seen));
}

struct sl_persist sl_host_disk_copy(const struct sl_persist *persist, bool whole)
{
	struct sl_persist record = *persist;
	record.view = copy(persist->view, whole ? persist->view_bytes : 0);
	record.readys = copy(persist->readys, whole ? persist->ready_count * sizeof *persist->readys : 0);
	record.secrets = whole ? copy_secrets(persist->secrets) : NULL;
	record.aborts = copy(persist->aborts, whole ? persist->abort_count * sizeof *persist->aborts : 0);
	record.certificate = copy_certificate(persist->certificate);
	record.seen = copy_seen(persist->seen);
	if (!whole)
		record.ready_count = record.abort_count = 0;
	return record;
}

void sl_host_disk_drop(struct sl_persist *record)
{
	sl_heap_give((void *)record->view);
	sl_heap_give((void *)record->readys);
	free_secrets(record->secrets);
	sl_heap_give((void *)record->aborts);
	sl_heap_give((void *)record->seen);
	if (record->certificate != NULL)
		free_certificate(record->certificate);
	sl_heap_give((void *)record->certificate);
}

static void forget_open(struct sl_host_disk *disk)
{
	sl_heap_give((void *)disk->open.view);
	sl_heap_give((void *)disk->open.readys);
	free_secrets(disk->open.secrets);
	disk->open = (struct sl_open){.a = 0};
}

static void forget_over(struct sl_host_disk *disk)
{
	for (uint32_t k = 0; k < disk->over_count; k++)
		sl_heap_give((void *)disk->over[k].aborts);
	sl_heap_give(disk->over);
	disk->over = NULL;
	disk->over_count = 0;
	disk->reuse = true;
}

static void take_readys(struct sl_host_disk *disk, struct sl_persist *record)
{
	sl_heap_give((void *)disk->open.readys);
	disk->open.readys = record->readys;
	disk->open.ready_count = record->ready_count;
	record->readys = NULL;
}

static void prepare(struct sl_host_disk *disk, struct sl_persist *record)
{
	forget_open(disk);
	disk->open = (struct sl_open){.state = SL_OPEN_PREPARED,
				      .a = record->what.a,
				      .view = record->view,
				      .view_bytes = record->view_bytes,
				      .secrets = record->secrets};
	record->view = NULL;
	record->secrets = NULL;
	take_readys(disk, record);
}

static void end(struct sl_host_disk *disk, struct sl_persist *record)
{
	struct sl_over over = {.a = record->what.a, .count = record->abort_count, .aborts = record->aborts};
	for (uint32_t k = 0; k < disk->open.ready_count && disk->open.a == over.a; k++)
		over.ready = disk->open.readys[0];
	struct sl_over *more = sl_heap_take((disk->over_count + 1) * sizeof *more);
	if (disk->over_count > 0)
		memcpy(more, disk->over, disk->over_count * sizeof *more);
	more[disk->over_count++] = over;
	sl_heap_give(disk->over);
	disk->over = more;
	disk->reuse &= record->reuse;
	record->aborts = NULL;
	if (disk->aborted < over.a)
		disk->aborted = over.a;
	forget_open(disk);
}

static void commit(struct sl_host_disk *disk, struct sl_persist *record, uint8_t *model)
{
	sl_heap_give(disk->model);
	free_certificate(&disk->certificate);
	const struct sl_certificate *certificate = copy_certificate(record->certificate);
	disk->model = model;
	disk->certificate = *certificate;
	sl_heap_give((void *)certificate);
	forget_open(disk);
	forget_over(disk);
	disk->aborted = 0;
}

void sl_host_disk_write(struct sl_host_disk *disk, struct sl_persist *record, uint8_t *model)
{
	const struct sl_durable *what = &record->what;
	if (what->kind != SL_PERSIST_COMMIT && what->t <= disk->certificate.t)
		return; /* of a round that was committed meanwhile: no start looks for it */
	if (disk->t != what->t)
		disk->reuse = true;
	disk->t = what->t;
	if (record->seen != NULL) {
		sl_heap_give(disk->seen);
		disk->seen = (struct sl_seen *)record->seen;
		record->seen = NULL;
	}
	switch (what->kind) {
	case SL_PERSIST_ABORTED:
		if (record->ready && what->says == SL_ABORT_UNRELEASED)
			disk->open.state = SL_OPEN_ABORTED;
		else if (record->ready)
			disk->open.vote = SL_VOTE_ABORT;
		else
			disk->aborted = what->a > disk->aborted ? what->a : disk->aborted;
		break;
	case SL_PERSIST_PREPARED:
		prepare(disk, record);
		break;
	case SL_PERSIST_RELEASED:
		take_readys(disk, record);
		disk->open.state = SL_OPEN_RELEASED;
		break;
	case SL_PERSIST_SIGNS:
		disk->open.vote = SL_VOTE_DIGEST;
		break;
	case SL_PERSIST_OVER:
		end(disk, record);
		break;
	case SL_PERSIST_COMMIT:
		commit(disk, record, model);
		break;
	}
}

void sl_host_disk_read(const struct sl_host_disk *disk, struct sl_core_config *config)
{
	config->committed = disk->certificate.t;
	memcpy(config->previous, disk->certificate.digest, SL_HASH_BYTES);
	config->certificate = disk->certificate.t > 0 ? &disk->certificate : NULL;
	config->aborted = disk->aborted;
	config->over = disk->over;
	config->over_count = disk->over_count;
	config->reuse = disk->reuse;
	config->seen = disk->seen;
	config->open = disk->open.a != 0 ? &disk->open : NULL;
}

void sl_host_disk_clone(struct sl_host_disk *to, const struct sl_host_disk *from, size_t bytes)
{
	const struct sl_certificate *certificate = copy_certificate(&from->certificate);
	*to = *from;
	to->certificate = *certificate;
	sl_heap_give((void *)certificate);
	to->seen = copy_seen(from->seen);
	to->model = from->model != NULL ? copy(from->model, bytes) : NULL;
	to->open.view = copy(from->open.view, from->open.view_bytes);
	to->open.readys = copy(from->open.readys, from->open.ready_count * sizeof *from->open.readys);
	to->open.secrets = copy_secrets(from->open.secrets);
	to->over = copy(from->over, from->over_count * sizeof *from->over);
	for (uint32_t k = 0; k < from->over_count; k++)
		to->over[k].aborts =
			copy(from->over[k].aborts, from->over[k].count * sizeof *from->over[k].aborts);
}

void sl_host_disk_free(struct sl_host_disk *disk)
{
	forget_open(disk);
	forget_over(disk);
	sl_heap_give(disk->seen);
	free_certificate(&disk->certificate);
	sl_heap_give(disk->model);
}
