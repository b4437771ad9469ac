/* TLS offload: encrypt and decrypt large amounts on the crypto worker (struct sl_tls_offload in link.h). */
#include <assert.h>
#include <stdlib.h>
#include <strings.h>

#include "daemon/net/link.h"

#define OFFLOAD_BYTES (64u << 10) /* smaller amounts are done before a worker wakes up */

bool sl_tls_offload_wanted(const struct sl_links *links, size_t bytes)
{
	return links->config.crypto != NULL && bytes >= OFFLOAD_BYTES;
}

/* ---- on the crypto worker ---- */

static int keep(struct sl_tls_offload *offload, struct sl_deframer *deframer)
{
	struct sl_arrived *a = malloc(sizeof *a);
	if (a == NULL)
		return SL_ERR_NOMEM;
	*a = (struct sl_arrived){
		.kind = deframer->kind, .payload = deframer->payload, .size = deframer->size};
	deframer->payload = NULL;
	sl_deframer_next(deframer);
	*offload->end = a;
	offload->end = &a->next;
	return SL_OK;
}

static int decrypt_all(struct sl_link *link)
{
	struct sl_tls_offload *offload = &link->offload;
	int rc = SL_OK;
	link->session.in = offload->ciphertext;
	link->session.in_bytes = offload->bytes;
	while (rc == SL_OK) {
		bool whole;
		rc = sl_link_decrypt(link, &whole);
		if (whole)
			rc = keep(offload, &link->deframer);
	}
	return rc;
}

static int encrypt_all(struct sl_link *link)
{
	const struct sl_tls_offload *offload = &link->offload;
	int rc = SL_OK;
	for (uint32_t i = 0; i < offload->segment_count && rc == SL_OK; i++) {
		const struct sl_write_segment *segment = &offload->segments[i];
		rc = sl_tls_session_write(&link->session, segment->frame->bytes + segment->at,
					  segment->count);
	}
	return rc;
}

static struct sl_link *link_of(struct sl_task *task)
{
	return (struct sl_link *)((char *)task - offsetof(struct sl_link, offload.task));
}

static void run(struct sl_task *task)
{
	struct sl_link *link = link_of(task);
	link->offload.written = encrypt_all(link);
	link->offload.read = link->offload.ciphertext == NULL ? SL_PENDING : decrypt_all(link);
}

/* ---- on the loop's thread ---- */

static void done(struct sl_task *task)
{
	struct sl_link *link = link_of(task);
	link->offload.returned(link);
}

void sl_tls_offload_send(struct sl_link *link)
{
	struct sl_tls_offload *offload = &link->offload;
	assert(!offload->away && offload->first == NULL);
	offload->task.run = run;
	offload->task.done = done;
	offload->end = &offload->first;
	offload->away = true;
	sl_worker_add(link->links->config.crypto, &offload->task);
}

struct sl_arrived *sl_tls_offload_next(struct sl_tls_offload *offload)
{
	struct sl_arrived *a = offload->first;
	if (a != NULL)
		offload->first = a->next;
	return a;
}

void sl_tls_offload_clear(struct sl_link *link)
{
	struct sl_tls_offload *offload = &link->offload;
	for (uint32_t i = 0; i < offload->segment_count; i++)
		if (offload->segments[i].last)
			sl_link_frame_release(offload->segments[i].frame);
	offload->segment_count = 0;
	free(offload->ciphertext);
	offload->ciphertext = NULL;
	offload->away = false;
	for (struct sl_arrived *a; (a = sl_tls_offload_next(offload)) != NULL; free(a)) {
		if (a->payload != NULL)
			explicit_bzero(a->payload, a->size); /* it may hold a share */
		free(a->payload);
	}
}
