#include "daemon/membership/group_update.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/bytes.h"
#include "common/membership/private_file.h"
#include "daemon/membership/membership.h"
#include "daemon/observe/report_log.h"

#define VERSION_BYTES 8u
#define PART_HEAD_BYTES 8u /* u32 offset, u32 size of the roster */

int sl_group_update_open(struct sl_membership *m, struct sl_error *error)
{
	struct sl_group_update *u = &m->update;
	if (!sl_group_is_signed(&m->group))
		return SL_OK;
	u->text = sl_group_text(&m->group, &u->bytes);
	u->version = m->group.version;
	u->peer_count = m->roster.size;
	u->peers = calloc(u->peer_count, sizeof *u->peers);
	u->arriving_max = m->host.settings->tolerance + 1 > 2 ? m->host.settings->tolerance + 1 : 2;
	return u->text != NULL && u->peers != NULL ? SL_OK : sl_err_set(error, SL_ERR_NOMEM, "out of memory");
}

static void drop_parts(struct sl_group_update *u, struct sl_group_peer *peer)
{
	u->arriving -= peer->parts.bytes != NULL;
	free(peer->parts.bytes);
	peer->parts = (struct sl_group_parts){0};
}

void sl_group_update_close(struct sl_membership *m)
{
	for (uint32_t i = 0; m->update.peers != NULL && i < m->update.peer_count; i++)
		drop_parts(&m->update, &m->update.peers[i]);
	free(m->update.text);
	free(m->update.peers);
	m->update = (struct sl_group_update){0};
}

/* ---- sending ---- */

/* Send a frame of `kind` with a payload of two pieces. */
static void send_frame(struct sl_membership *m, uint32_t peer, uint32_t kind, const void *head,
		       size_t head_bytes, const void *rest, size_t rest_bytes)
{
	size_t payload = head_bytes + rest_bytes;
	struct sl_frame *frame = sl_link_frame_new(SL_FRAME_HEADER_BYTES + payload, false);
	if (frame == NULL)
		return; /* the peer learns of it from another one, or on its next link */
	sl_frame_header(frame->bytes, kind, payload);
	memcpy(frame->bytes + SL_FRAME_HEADER_BYTES, head, head_bytes);
	if (rest_bytes > 0)
		memcpy(frame->bytes + SL_FRAME_HEADER_BYTES + head_bytes, rest, rest_bytes);
	sl_links_send(m->host.links, peer, frame);
	sl_link_frame_release(frame);
}

static void send_roster(struct sl_membership *m, uint32_t peer)
{
	const struct sl_group_update *u = &m->update;
	for (size_t at = 0; at < u->bytes; at += SL_GROUP_PART_BYTES) {
		uint8_t head[PART_HEAD_BYTES];
		struct sl_writer w = {.bytes = head, .size = sizeof head};
		size_t left = u->bytes - at, count = left < SL_GROUP_PART_BYTES ? left : SL_GROUP_PART_BYTES;
		sl_bytes_put_u32(&w, (uint32_t)at);
		sl_bytes_put_u32(&w, (uint32_t)u->bytes);
		send_frame(m, peer, SL_FRAME_ROSTER_PART, head, sizeof head, u->text + at, count);
	}
}

/* Send the roster to a peer that has told an older version: once for each version and link, and `again` if it
 * has just told it once more, but not all the time. */
static void send_if_older(struct sl_membership *m, uint32_t peer, bool again)
{
	struct sl_group_update *u = &m->update;
	struct sl_group_peer *p = &u->peers[peer];
	uint64_t now = uv_now(m->host.loop);
	bool due = p->sent < u->version || (again && now >= p->sent_at + SL_GROUP_AGAIN_MS / 2);
	if (p->told == 0 || p->told >= u->version || !due)
		return;
	p->sent = u->version;
	p->sent_at = now;
	send_roster(m, peer);
	sl_links_flush(m->host.links);
}

static void tell_version(struct sl_membership *m, uint32_t peer)
{
	uint8_t version[VERSION_BYTES];
	struct sl_writer w = {.bytes = version, .size = sizeof version};
	sl_bytes_put_u64(&w, m->update.version);
	send_frame(m, peer, SL_FRAME_ROSTER_VERSION, version, sizeof version, NULL, 0);
}

/* Tell the version once more to the peers whose parts were dropped: they send the roster again. */
static void tell_again(struct sl_membership *m)
{
	uint64_t now = uv_now(m->host.loop);
	for (uint32_t i = 0; i < m->update.peer_count; i++) {
		struct sl_group_peer *p = &m->update.peers[i];
		if (p->again_at == 0 || now < p->again_at || now < p->quiet_until)
			continue;
		p->again_at = 0;
		tell_version(m, i);
		sl_links_flush(m->host.links);
	}
}

void sl_group_update_link_up(struct sl_membership *m, uint32_t peer)
{
	struct sl_group_update *u = &m->update;
	if (u->text == NULL)
		return;
	assert(peer < u->peer_count);
	drop_parts(u, &u->peers[peer]);
	u->peers[peer] = (struct sl_group_peer){.quiet_until = u->peers[peer].quiet_until};
	m->host.observe->peers[peer].program[0] = '\0';
	tell_version(m, peer);
	send_frame(m, peer, SL_FRAME_PROGRAM, SL_VERSION, strlen(SL_VERSION), NULL, 0);
	sl_links_flush(m->host.links);
}

/* ---- a newer roster ---- */

/* Keep the text of the newer roster, send it on, and take it when it is time (sl_group_update_look). */
static void adopt(struct sl_membership *m, const struct sl_group *group, char *text, size_t bytes)
{
	struct sl_group_update *u = &m->update;
	struct sl_record record;
	free(u->text);
	u->text = text;
	u->bytes = bytes;
	u->version = group->version;
	u->take_at = uv_now(m->host.loop) + SL_GROUP_UPDATE_WAIT_MS;
	sl_record_init(&record, SL_RECORD_NEW_ROSTER);
	record.reason = sl_record_words(
		&record,
		"received version %" PRIu64 " of the roster of group %s, with %u learners: this "
		"learner takes it %sand restarts by itself",
		group->version, group->name, group->roster.size,
		sl_group_is_forming(&m->group) ? "" : "when it shares nothing, or after this round, ");
	sl_report_log_record(m->host.observe, &record);
	for (uint32_t i = 0; i < u->peer_count; i++)
		send_if_older(m, i, false);
}

static int check(const struct sl_membership *m, const struct sl_group *group, struct sl_error *error)
{
	if (!sl_group_is_signed(&m->group))
		return sl_err_set(error, SL_ERR_REFUSED, "the roster of this learner is not signed");
	if (group->version <= m->update.version && group->version > m->group.version)
		return SL_PENDING; /* it is here already */
	return sl_group_follows(&m->group, group, error);
}

int sl_group_update_file(struct sl_membership *m, const struct sl_group *group, struct sl_error *error)
{
	size_t bytes;
	int rc = check(m, group, error);
	if (rc != SL_OK)
		return rc == SL_PENDING ? SL_OK : rc;
	char *text = sl_group_text(group, &bytes);
	if (text == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	adopt(m, group, text, bytes);
	return SL_OK;
}

/* Take a roster that the peer at index `from` has sent; SL_LEARNERS_MAX: none has. SL_PENDING: it is here
 * already. */
static int take_text(struct sl_membership *m, uint32_t from, const char *text, size_t bytes,
		     struct sl_error *error)
{
	struct sl_group group;
	int rc = sl_group_read("the roster of a peer", text, bytes, &group, error);
	if (rc != SL_OK)
		return rc;
	rc = check(m, &group, error);
	if ((rc == SL_OK || rc == SL_PENDING) && from < m->update.peer_count)
		m->update.peers[from].told = group.version;
	size_t size = 0;
	char *own = rc == SL_OK ? sl_group_text(&group, &size) : NULL;
	if (rc == SL_OK && own == NULL)
		rc = sl_err_set(error, SL_ERR_NOMEM, "out of memory");
	if (rc == SL_OK)
		rc = sl_private_file_replace(m->host.settings->roster, own, size, error);
	if (rc == SL_OK)
		adopt(m, &group, own, size);
	else
		free(own);
	sl_group_close(&group);
	return rc;
}

int sl_group_update_text(struct sl_membership *m, const char *text, size_t bytes, struct sl_error *error)
{
	int rc = take_text(m, SL_LEARNERS_MAX, text, bytes, error);
	return rc == SL_PENDING ? SL_OK : rc;
}

/* Return true if a restart loses nothing: nothing is shared in an attempt, a training has only just begun, or
 * the last round is over, and maybe no more so. A model that was trained is trained again from the same
 * state, or is in its file. */
static bool is_idle(const struct sl_core *core)
{
	struct sl_core_status status;
	if (core == NULL)
		return false;
	sl_core_status(core, &status);
	return status.phase == SL_PHASE_DISCOVER || status.phase == SL_PHASE_AGREE ||
	       status.phase == SL_PHASE_DONE ||
	       (status.phase == SL_PHASE_TRAIN && sl_clock_ms() < status.since + SL_GROUP_UPDATE_TRAIN_MS);
}

void sl_group_update_look(struct sl_membership *m, bool committed)
{
	const struct sl_group_update *u = &m->update;
	if (!*m->host.stopping)
		tell_again(m);
	bool waits = uv_now(m->host.loop) < u->take_at && !committed && !is_idle(m->host.observe->of.core);
	if (u->take_at == 0 || *m->host.stopping || waits)
		return;
	struct sl_record record;
	sl_record_init(&record, SL_RECORD_TAKING_ROSTER);
	record.reason = sl_record_words(&record,
					"this learner restarts by itself, with version %" PRIu64
					" of the roster of group %s",
					u->version, m->group.name);
	sl_report_log_record(m->host.observe, &record);
	m->host.restart(m->host.context);
}

/* ---- receiving ---- */

/* Return true if one more roster may arrive, maybe in place of one that has had its time. */
static bool make_room(struct sl_group_update *u, uint64_t now)
{
	for (uint32_t i = 0; i < u->peer_count && u->arriving == u->arriving_max; i++)
		if (u->peers[i].parts.bytes != NULL && now >= u->peers[i].parts.since + SL_GROUP_PARTS_MS)
			drop_parts(u, &u->peers[i]);
	return u->arriving < u->arriving_max;
}

/* Begin with a roster of `whole` bytes. To begin again gives a peer no further time. */
static bool begin(struct sl_group_update *u, struct sl_group_peer *peer, uint32_t whole, uint64_t now)
{
	uint64_t since = peer->parts.bytes != NULL ? peer->parts.since : now;
	drop_parts(u, peer);
	if (whole == 0 || whole > SL_GROUP_TEXT_MAX || !make_room(u, now))
		return false;
	peer->parts = (struct sl_group_parts){.bytes = malloc(whole), .size = whole, .since = since};
	u->arriving += peer->parts.bytes != NULL;
	return peer->parts.bytes != NULL;
}

/* Add a part; false: it is dropped. */
static bool add_part(struct sl_group_update *u, struct sl_group_peer *peer, const uint8_t *payload,
		     size_t size, uint64_t now)
{
	struct sl_group_parts *p = &peer->parts;
	uint32_t at = sl_bytes_get_u32(payload), whole = sl_bytes_get_u32(payload + 4);
	size_t count = size - PART_HEAD_BYTES;
	if (at == 0 && !begin(u, peer, whole, now))
		return false;
	if (p->bytes == NULL || at != p->have || whole != p->size || count > p->size - p->have)
		return false;
	memcpy(p->bytes + p->have, payload + PART_HEAD_BYTES, count);
	p->have += count;
	return true;
}

static void take_part(struct sl_membership *m, uint32_t peer, const uint8_t *payload, size_t size)
{
	struct sl_group_update *u = &m->update;
	struct sl_group_peer *p = &u->peers[peer];
	struct sl_error error;
	uint64_t now = uv_now(m->host.loop);
	if (size <= PART_HEAD_BYTES)
		return;
	if (now < p->quiet_until || !add_part(u, p, payload, size, now)) {
		p->again_at = now + SL_GROUP_AGAIN_MS;
		return;
	}
	if (p->parts.have < p->parts.size)
		return;
	int rc = take_text(m, peer, (const char *)p->parts.bytes, p->parts.size, &error);
	if (rc != SL_OK)
		p->quiet_until = now + SL_GROUP_QUIET_MS; /* a text may take 0.7 s to read */
	if (rc != SL_OK && rc != SL_PENDING)
		sl_report_log_warn(m->host.observe, peer, error.text);
	drop_parts(u, p);
}

/* Keep the version of a peer's program, which is shown to the operator: printable ASCII without spaces. */
static void take_program(struct sl_observed_peer *peer, const uint8_t *payload, size_t size)
{
	bool good = size < sizeof peer->program;
	for (size_t i = 0; i < size && good; i++)
		good = payload[i] > ' ' && payload[i] <= '~';
	if (!good)
		return;
	memcpy(peer->program, payload, size);
	peer->program[size] = '\0';
}

void sl_group_update_frame(struct sl_membership *m, uint32_t peer, uint32_t kind, const uint8_t *payload,
			   size_t size)
{
	struct sl_group_update *u = &m->update;
	if (u->text == NULL)
		return; /* a plain roster */
	assert(peer < u->peer_count);
	if (kind == SL_FRAME_ROSTER_PART) {
		take_part(m, peer, payload, size);
		sl_group_update_look(m, false);
	} else if (kind == SL_FRAME_PROGRAM) {
		take_program(&m->host.observe->peers[peer], payload, size);
	} else if (size == VERSION_BYTES) {
		u->peers[peer].told = sl_bytes_get_u64(payload);
		send_if_older(m, peer, true);
	}
}
