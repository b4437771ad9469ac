#include "daemon/membership/roster_fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/membership/group_update.h"
#include "daemon/membership/join_client.h"
#include "daemon/membership/membership.h"

/* One question, which the thread owns until it is answered. */
struct question {
	uv_work_t work;
	struct sl_membership *m;
	struct sl_join_request request;
	char identity[SL_PATH_BYTES], address[SL_ADDRESS_BYTES];
	uint8_t pin[SL_HASH_BYTES]; /* of the own key */
	struct sl_join_client client;
	char *text; /* of a newer roster; owned; NULL: none came */
	size_t bytes;
};

/* Ask, and keep a copy of the roster. */
static void ask(uv_work_t *work)
{
	struct question *q = work->data;
	struct sl_identity identity;
	struct sl_join_answer answer;
	struct sl_error error;
	if (sl_identity_load_pinned(q->identity, q->pin, &identity, &error) != SL_OK)
		return;
	int rc = sl_join_client_open(&q->client, SL_JOIN_FOR_ANSWER, false, &identity, NULL, &q->m->proxy,
				     q->address, SL_ROSTER_FETCH_ASK_MS, &error);
	if (rc == SL_OK)
		rc = sl_join_client_ask(&q->client, &q->request, &answer, &error);
	if (rc == SL_OK && answer.verdict == SL_JOIN_ADMITTED && answer.roster != NULL &&
	    (q->text = malloc(answer.roster_bytes + 1)) != NULL) {
		memcpy(q->text, answer.roster, answer.roster_bytes);
		q->bytes = answer.roster_bytes;
	}
	sl_join_client_close(&q->client);
	sl_identity_close(&identity);
}

/* Take the roster at once: without a link no attempt goes on that could be waited for. An older one, or one
 * that does not follow, is nothing new. */
static void answered(uv_work_t *work, int status)
{
	struct question *q = work->data;
	struct sl_membership *m = q->m;
	struct sl_error error;
	m->fetch.busy = false;
	if (status == 0 && q->text != NULL && !*m->host.stopping &&
	    sl_group_update_text(m, q->text, q->bytes, &error) == SL_OK && m->update.take_at != 0 &&
	    sl_links_figures(m->host.links)->up == 0)
		m->update.take_at = uv_now(m->host.loop);
	free(q->text);
	free(q);
}

/* Begin to ask the next member; the next time at another of its addresses. */
static void begin(struct sl_membership *m)
{
	struct sl_roster_fetch *f = &m->fetch;
	uint32_t others = m->roster.size - 1, other = f->count % others, turn = f->count / others;
	const struct sl_member *member = &m->roster.members[other + (other >= m->self)];
	f->count++;
	struct question *q = calloc(1, sizeof *q);
	if (q == NULL)
		return;
	q->work.data = q;
	q->m = m;
	q->request = (struct sl_join_request){.kind = SL_JOIN_ROSTER, .version = m->group.version};
	memcpy(q->request.group, m->group.name, sizeof q->request.group);
	snprintf(q->identity, sizeof q->identity, "%s", m->host.settings->identity);
	sl_roster_address_at(member->address, turn, q->address);
	memcpy(q->pin, m->identity.pin, sizeof q->pin);
	f->busy = uv_queue_work(m->host.loop, &q->work, ask, answered) == 0;
	if (!f->busy)
		free(q);
}

void sl_roster_fetch_look(struct sl_membership *m)
{
	struct sl_roster_fetch *f = &m->fetch;
	uint64_t now = uv_now(m->host.loop);
	if (m->update.text == NULL || m->roster.size < 2 || *m->host.stopping)
		return;
	if (f->linked_at == 0 || sl_links_figures(m->host.links)->up > 0)
		f->linked_at = now;
	if (f->busy || m->update.take_at != 0 || now < f->linked_at + SL_ROSTER_FETCH_ALONE_MS ||
	    now < f->asked_at + SL_ROSTER_FETCH_PAUSE_MS)
		return;
	f->asked_at = now;
	begin(m);
}
