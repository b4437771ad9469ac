/* What TLS has much to do with, off the loop's thread: struct sl_bulk in link.h. */
#include <assert.h>
#include <stdlib.h>
#include <strings.h>

#include "daemon/net/link.h"

#define BULK_BYTES (64u << 10) /* what is less is done before a worker has woken up */

bool sl_bulk_is(const struct sl_links *links, size_t bytes)
{
	return links->config.crypto != NULL && bytes >= BULK_BYTES;
}

void sl_bulk_fill(struct sl_link *link)
{
	struct sl_bulk *bulk = &link->bulk;
	assert(!bulk->away && bulk->slice_count == 0);
	while (bulk->slice_count < SL_BULK_SLICES && sl_link_slice_is_vector(link))
		sl_link_slice(link, &bulk->slices[bulk->slice_count++]);
}

/* ---- on the crypto worker ---- */

static int keep(struct sl_bulk *bulk, struct sl_splitter *splitter)
{
	struct sl_arrived *a = malloc(sizeof *a);
	if (a == NULL)
		return SL_ERR_NOMEM;
	*a = (struct sl_arrived){.kind = splitter->kind, .payload = splitter->payload, .size = splitter->size};
	splitter->payload = NULL;
	sl_splitter_next(splitter);
	*bulk->end = a;
	bulk->end = &a->next;
	return SL_OK;
}

static int decrypt_all(struct sl_link *link)
{
	struct sl_bulk *bulk = &link->bulk;
	int rc = SL_OK;
	link->secure.in = bulk->ciphertext;
	link->secure.in_bytes = bulk->bytes;
	while (rc == SL_OK) {
		bool whole;
		rc = sl_link_decrypt(link, &whole);
		if (whole)
			rc = keep(bulk, &link->splitter);
	}
	return rc;
}

static int encrypt_all(struct sl_link *link)
{
	const struct sl_bulk *bulk = &link->bulk;
	int rc = SL_OK;
	for (uint32_t i = 0; i < bulk->slice_count && rc == SL_OK; i++) {
		const struct sl_slice *slice = &bulk->slices[i];
		rc = sl_secure_write(&link->secure, slice->frame->bytes + slice->at, slice->count);
	}
	return rc;
}

static struct sl_link *link_of(struct sl_task *task)
{
	return (struct sl_link *)((char *)task - offsetof(struct sl_link, bulk.task));
}

static void run(struct sl_task *task)
{
	struct sl_link *link = link_of(task);
	link->bulk.written = encrypt_all(link);
	link->bulk.read = link->bulk.ciphertext == NULL ? SL_PENDING : decrypt_all(link);
}

/* ---- on the loop's thread ---- */

static void done(struct sl_task *task)
{
	sl_link_returned(link_of(task));
}

void sl_bulk_send(struct sl_link *link)
{
	struct sl_bulk *bulk = &link->bulk;
	assert(!bulk->away && bulk->first == NULL);
	bulk->task.run = run;
	bulk->task.done = done;
	bulk->end = &bulk->first;
	bulk->away = true;
	sl_worker_add(link->links->config.crypto, &bulk->task);
}

struct sl_arrived *sl_bulk_next(struct sl_bulk *bulk)
{
	struct sl_arrived *a = bulk->first;
	if (a != NULL)
		bulk->first = a->next;
	return a;
}

void sl_bulk_clear(struct sl_link *link)
{
	struct sl_bulk *bulk = &link->bulk;
	for (uint32_t i = 0; i < bulk->slice_count; i++)
		if (bulk->slices[i].last)
			sl_frame_release(bulk->slices[i].frame);
	bulk->slice_count = 0;
	free(bulk->ciphertext);
	bulk->ciphertext = NULL;
	bulk->away = false;
	for (struct sl_arrived *a; (a = sl_bulk_next(bulk)) != NULL; free(a)) {
		if (a->payload != NULL)
			explicit_bzero(a->payload, a->size); /* it may hold a share */
		free(a->payload);
	}
}
