#include "tools/libstarlingcore/log.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "tools/host/heap.h"

#define VERSION 2u

struct head {
	uint32_t version, incarnation;
	uint32_t position, slots; /* of the state file; slots: 0: there is none in the record */
	uint64_t slot_bytes, deposit_bytes, model_bytes, seen_bytes;
	uint64_t has_secrets, has_certificate;
	struct sl_persist persist; /* without its pointers */
};

/* Bytes that are counted, written or read: the same functions pass over a record in each case. */
struct tape {
	uint8_t *bytes; /* NULL: counted */
	size_t used, size;
	bool reads, damaged;
};

static void pass(struct tape *tape, void *at, size_t n)
{
	if (tape->reads && (tape->damaged || n > tape->size - tape->used)) {
		tape->damaged = true;
		return;
	}
	if (n > 0 && tape->reads)
		memcpy(at, tape->bytes + tape->used, n);
	else if (n > 0 && tape->bytes != NULL)
		memcpy(tape->bytes + tape->used, at, n);
	tape->used += n;
}

/* The same, of `n` bytes at *at, for which memory is taken when they are read. */
static void pass_list(struct tape *tape, void *at, size_t n)
{
	void *list = NULL;
	memcpy(&list, at, sizeof list);
	if (tape->reads) {
		bool some = !tape->damaged && n > 0 && n <= tape->size - tape->used;
		list = some ? sl_heap_zeroed(1, n) : NULL;
		if (some && list == NULL)
			abort();
		memcpy(at, &list, sizeof list);
	}
	if (list != NULL || n > 0)
		pass(tape, list, n);
}

static void pass_secrets(struct tape *tape, struct sl_persist *record)
{
	struct sl_secrets *secrets = (struct sl_secrets *)record->secrets;
	pass_list(tape, &record->secrets, sizeof *secrets);
	secrets = (struct sl_secrets *)record->secrets;
	if (secrets != NULL && !tape->damaged)
		pass_list(tape, &secrets->shares, secrets->count * sizeof *secrets->shares);
}

static void pass_certificate(struct tape *tape, struct sl_persist *record)
{
	pass_list(tape, &record->certificate, sizeof *record->certificate);
	struct sl_certificate *certificate = (struct sl_certificate *)record->certificate;
	if (certificate == NULL || tape->damaged)
		return;
	pass_list(tape, &certificate->round, sizeof *certificate->round);
	struct sl_round_head *round = (struct sl_round_head *)certificate->round;
	if (round == NULL || tape->damaged)
		return;
	pass_list(tape, &round->members, round->count * sizeof *round->members);
	pass_list(tape, &certificate->digests, certificate->count * sizeof *certificate->digests);
}

/* Pass over a record; when it is read, `head` and `record` are filled in. */
static void pass_record(struct tape *tape, struct head *head, struct sl_persist *record, uint8_t **deposit,
			uint8_t **model)
{
	pass(tape, head, sizeof *head);
	if (tape->reads)
		*record = head->persist;
	pass_list(tape, &record->view, record->view_bytes);
	pass_list(tape, &record->readys, record->ready_count * sizeof *record->readys);
	pass_list(tape, &record->aborts, record->abort_count * sizeof *record->aborts);
	if (head->has_secrets)
		pass_secrets(tape, record);
	if (head->has_certificate)
		pass_certificate(tape, record);
	pass_list(tape, &record->seen, head->seen_bytes);
	pass_list(tape, deposit, head->deposit_bytes);
	pass_list(tape, model, head->model_bytes);
}

static void checksum(const uint8_t *bytes, size_t size, uint8_t sum[static SL_HASH_BYTES])
{
	crypto_generichash(sum, SL_HASH_BYTES, bytes + SL_HASH_BYTES, size - SL_HASH_BYTES, NULL, 0);
}

uint8_t *sl_log_write(const struct sl_hosted *l, const struct sl_persist *record, size_t *size)
{
	struct sl_persist copy = *record;
	struct head head;
	uint8_t *deposit = NULL, *model = l->workspace.committed;
	memset(&head, 0, sizeof head);
	head.version = VERSION;
	head.incarnation = l->config.incarnation;
	head.persist.what = record->what; /* member by member: what lies between them stays 0 */
	head.persist.view_bytes = record->view_bytes;
	head.persist.ready_count = record->ready_count;
	head.persist.draw = record->draw;
	head.persist.ready = record->ready;
	head.persist.abort_count = record->abort_count;
	head.persist.reuse = record->reuse;
	head.persist.total_weight = record->total_weight;
	head.seen_bytes = record->seen == NULL ? 0 : sl_seen_size(record->seen);
	head.has_secrets = record->secrets != NULL;
	head.has_certificate = record->certificate != NULL;
	if (record->what.kind == SL_PERSIST_PREPARED) {
		head.position = l->view->self;
		head.slots = l->view->n;
		head.slot_bytes = l->workspace.state_file.slot_bytes;
		head.deposit_bytes = sl_slot_state_bytes(l->view);
		deposit = sl_slot_state(&l->workspace.state_file, l->view->self);
	}
	if (record->what.kind == SL_PERSIST_COMMIT)
		head.model_bytes = l->config.model_bytes;
	struct tape tape = {.used = SL_HASH_BYTES};
	pass_record(&tape, &head, &copy, &deposit, &model);
	*size = tape.used;
	tape = (struct tape){.bytes = sl_heap_zeroed(1, *size), .used = SL_HASH_BYTES, .size = *size};
	if (tape.bytes == NULL)
		abort();
	pass_record(&tape, &head, &copy, &deposit, &model);
	checksum(tape.bytes, *size, tape.bytes);
	return tape.bytes;
}

/* Put the own deposit into a state file whose other slots are empty: they are fetched from peers. */
static void open_slots(struct sl_hosted *l, const struct head *head, const uint8_t *deposit)
{
	struct sl_slots *file = &l->workspace.state_file;
	sl_heap_give(file->base);
	*file = (struct sl_slots){.base = sl_heap_zeroed(head->slots, head->slot_bytes),
				  .slot_bytes = head->slot_bytes};
	if (file->base == NULL)
		abort();
	memcpy(sl_slot_state(file, head->position), deposit, head->deposit_bytes);
}

int sl_log_read(struct sl_hosted *l, const void *bytes, size_t size)
{
	struct tape tape = {.bytes = (uint8_t *)bytes, .used = SL_HASH_BYTES, .size = size, .reads = true};
	struct sl_persist record = {.view = NULL};
	struct head head = {.version = 0};
	uint8_t sum[SL_HASH_BYTES], *deposit = NULL, *model = NULL;
	if (size < SL_HASH_BYTES + sizeof head)
		return SL_ERR_FORMAT;
	checksum(bytes, size, sum);
	if (memcmp(sum, bytes, sizeof sum) != 0)
		return SL_ERR_FORMAT;
	pass_record(&tape, &head, &record, &deposit, &model);
	bool good = !tape.damaged && tape.used == size && head.version == VERSION &&
		    (record.what.kind != SL_PERSIST_COMMIT || head.model_bytes == l->config.model_bytes);
	if (good && head.slots > 0)
		open_slots(l, &head, deposit);
	if (good)
		l->config.incarnation = head.incarnation;
	if (good && record.what.kind != 0) {
		sl_host_disk_write(&l->disk, &record, model);
		model = record.what.kind == SL_PERSIST_COMMIT ? NULL : model;
	}
	sl_heap_give(deposit);
	sl_heap_give(model);
	sl_host_disk_drop(&record);
	return good ? SL_OK : SL_ERR_FORMAT;
}
