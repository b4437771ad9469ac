#include "daemon/membership/admission.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "common/membership/admin_key.h"
#include "common/membership/admit.h"
#include "daemon/membership/renewal.h"
#include "daemon/net/identity.h"

#define MINUTE_S 60u

/* What a verdict says in the log of the refusing learner; NULL: it is none. */
static const char *const reasons[SL_JOIN_VERDICT_COUNT] = {
	[SL_JOIN_UNKNOWN] = "there is no such invitation, or its secret is another one",
	[SL_JOIN_EXPIRED] = "the invitation has expired",
	[SL_JOIN_USED] = "the invitation was used by another learner",
	[SL_JOIN_OTHER_GROUP] = "it names another group",
	[SL_JOIN_NAME_TAKEN] = "its name is taken",
	[SL_JOIN_ADDRESS_TAKEN] = "its address is taken",
	[SL_JOIN_KEY_TAKEN] = "its key is that of a member with another name",
	[SL_JOIN_NO_MEMBER] = "its key is not in the roster",
	[SL_JOIN_FULL] = "too many learners wait, or are in the roster",
	[SL_JOIN_LATER] = "too many wrong proofs",
	[SL_JOIN_FAILED] = "out of memory", /* else `why` */
	[SL_JOIN_INVALID] = "its request is malformed, or the signature wrong",
};

/* ---- the roster ---- */

/* Read the roster if its file is another one than before. A file that cannot be used is left for the reload
 * to complain about. */
static int refresh(struct sl_admission *admission, struct sl_error *error)
{
	struct stat st;
	struct sl_group fresh;
	if (stat(admission->path, &st) != 0 ||
	    memcmp(&st.st_mtim, &admission->written, sizeof st.st_mtim) == 0)
		return SL_OK;
	int rc = sl_group_load(admission->path, &fresh, error);
	if (rc != SL_OK)
		return rc;
	size_t bytes = 0;
	char *text = sl_group_is_signed(&fresh) ? sl_group_text(&fresh, &bytes) : NULL;
	bool newer = text != NULL && (admission->roster == NULL ||
				      sl_group_follows(&admission->group, &fresh, NULL) == SL_OK);
	admission->written = st.st_mtim;
	if (!newer) {
		free(text);
		sl_group_close(&fresh);
		return SL_OK;
	}
	sl_admission_close(admission);
	admission->group = fresh;
	admission->roster = text;
	admission->roster_bytes = bytes;
	sl_admit_forget(admission->folder, &fresh.roster, NULL); /* or at the next start */
	return SL_OK;
}

/* ---- wrong proofs ---- */

static uint64_t now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec + 1;
}

/* Return the count of an invitation, or of a member, in this minute; in place of the oldest one if it has
 * none yet. */
static uint32_t *tries_of(struct sl_admission *a, const uint8_t id[static SL_INVITATION_ID_BYTES])
{
	struct sl_admission_tries *found = NULL, *oldest = &a->tries[0];
	for (size_t i = 0; i < SL_ADMISSION_WATCHED; i++) {
		if (a->tries[i].since != 0 && memcmp(a->tries[i].id, id, SL_INVITATION_ID_BYTES) == 0)
			found = &a->tries[i];
		if (a->tries[i].since < oldest->since)
			oldest = &a->tries[i];
	}
	if (found == NULL || now_s() >= found->since + MINUTE_S) {
		found = found != NULL ? found : oldest;
		*found = (struct sl_admission_tries){.since = now_s()};
		memcpy(found->id, id, SL_INVITATION_ID_BYTES);
	}
	return &found->count;
}

/* Compare the proof. At most SL_JOIN_WRONG_MAX wrong ones a minute for an invitation that exists. */
static enum sl_join_verdict check_proof(struct sl_admission *a, const struct sl_join_peer *peer,
					const struct sl_join_request *request)
{
	uint8_t proof[SL_INVITATION_PROOF_BYTES];
	uint32_t *wrong = tries_of(a, request->invitation);
	if (*wrong >= SL_JOIN_WRONG_MAX)
		return SL_JOIN_LATER;
	sl_invitation_prove(request->invitation, a->invitation.secret, peer->exported, peer->pin, proof);
	bool right = sodium_memcmp(proof, request->proof, sizeof proof) == 0;
	sodium_memzero(proof, sizeof proof);
	*wrong += !right;
	return right ? SL_JOIN_WAITING : SL_JOIN_UNKNOWN;
}

/* ---- a new learner ---- */

static const struct sl_member *member_with(const struct sl_admission *a, const uint8_t *pin)
{
	int at = sl_roster_find_pin(&a->group.roster, pin);
	return at >= 0 ? &a->group.roster.members[at] : NULL;
}

/* Return a verdict against name or address, which another member or learner that waits may have. */
static enum sl_join_verdict check_taken(const struct sl_admission *a, const struct sl_waiting *waiting,
					const struct sl_waiting *others, uint32_t count)
{
	const struct sl_roster *roster = &a->group.roster;
	for (uint32_t i = 0; i < roster->size; i++) {
		if (strcmp(roster->members[i].name, waiting->name) == 0)
			return SL_JOIN_NAME_TAKEN;
		if (strcmp(roster->members[i].address, waiting->address) == 0)
			return SL_JOIN_ADDRESS_TAKEN;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (memcmp(others[i].pin, waiting->pin, SL_HASH_BYTES) == 0)
			continue;
		if (strcmp(others[i].name, waiting->name) == 0)
			return SL_JOIN_NAME_TAKEN;
		if (strcmp(others[i].address, waiting->address) == 0)
			return SL_JOIN_ADDRESS_TAKEN;
	}
	return count >= SL_WAITING_MAX || roster->size >= SL_LEARNERS_MAX ? SL_JOIN_FULL : SL_JOIN_WAITING;
}

/* Return a verdict against the invitation, which exists and whose secret the learner has. */
static enum sl_join_verdict check_use(const struct sl_admission *a, int use)
{
	if (use >= 0)
		return a->invitation.admitted[use] ? SL_JOIN_USED : SL_JOIN_WAITING;
	if ((uint64_t)time(NULL) > a->invitation.expires)
		return SL_JOIN_EXPIRED;
	return a->invitation.used >= a->invitation.uses ? SL_JOIN_USED : SL_JOIN_WAITING;
}

/* Return true if the learner that uses the invitation is admitted without a question: if the one admin of
 * this machine can sign for it. */
static bool is_automatic(const struct sl_admission *a)
{
	return sl_invitation_file_is_automatic(&a->invitation, &a->group.roster) && a->group.required == 1;
}

/* Return true if the learner waits already, with this name, address and key. */
static bool waits(const struct sl_admission *a, const struct sl_waiting *waiting)
{
	struct sl_waiting present;
	return sl_waiting_load(a->folder, waiting->name, &present, NULL) == SL_OK &&
	       memcmp(present.pin, waiting->pin, SL_HASH_BYTES) == 0 &&
	       strcmp(present.address, waiting->address) == 0;
}

/* Let the learner wait: note its key in the invitation, then the learner itself. `known`: the key is noted; a
 * change of name or address then counts like a wrong proof, so that the disk is not written all the time. */
static enum sl_join_verdict let_wait(struct sl_admission *a, const struct sl_waiting *waiting, bool known,
				     const char *address)
{
	if (known)
		++*tries_of(a, waiting->invitation);
	else if (sl_invitation_file_use(a->folder, waiting->invitation, &a->invitation, waiting->pin,
					&a->why) != SL_OK)
		return SL_JOIN_FAILED;
	if (sl_waiting_save(a->folder, waiting, &a->why) != SL_OK)
		return SL_JOIN_FAILED;
	if (!is_automatic(a))
		a->handler.say(a->handler.context, address, waiting, NULL);
	return SL_JOIN_WAITING;
}

/* Remove the files of the same key under other names: a learner may change its mind while it waits. */
static void forget_others(const struct sl_admission *a, const struct sl_waiting *waiting,
			  const struct sl_waiting *others, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (memcmp(others[i].pin, waiting->pin, SL_HASH_BYTES) == 0 &&
		    strcmp(others[i].name, waiting->name) != 0)
			sl_waiting_remove(a->folder, others[i].name, NULL);
}

/* Decide on a learner that does not wait yet as it is now. */
static enum sl_join_verdict begin_to_wait(struct sl_admission *a, const struct sl_waiting *waiting,
					  bool known, const char *address)
{
	struct sl_waiting *others = calloc(SL_WAITING_MAX, sizeof *others);
	if (others == NULL)
		return SL_JOIN_FAILED;
	uint32_t count = sl_waiting_list(a->folder, others, NULL);
	enum sl_join_verdict verdict = check_taken(a, waiting, others, count);
	if (verdict == SL_JOIN_FULL && known)
		verdict = SL_JOIN_WAITING; /* it is one of them */
	if (verdict == SL_JOIN_WAITING) {
		forget_others(a, waiting, others, count);
		verdict = let_wait(a, waiting, known, address);
	}
	free(others);
	return verdict;
}

static enum sl_join_verdict use_invitation(struct sl_admission *a, const struct sl_join_peer *peer,
					   const struct sl_join_request *request)
{
	struct sl_waiting waiting = {.since = (uint64_t)time(NULL)};
	memcpy(waiting.name, request->name, sizeof waiting.name);
	memcpy(waiting.address, request->address, sizeof waiting.address);
	memcpy(waiting.pin, peer->pin, sizeof waiting.pin);
	memcpy(waiting.invitation, request->invitation, sizeof waiting.invitation);
	int use = sl_invitation_file_find(&a->invitation, peer->pin);
	enum sl_join_verdict verdict = check_use(a, use);
	if (verdict == SL_JOIN_WAITING && (use < 0 || !waits(a, &waiting))) {
		verdict = begin_to_wait(a, &waiting, use >= 0, peer->address);
		a->fresh = true;
	}
	a->due |= verdict == SL_JOIN_WAITING && is_automatic(a);
	return verdict;
}

static enum sl_join_verdict join(struct sl_admission *a, const struct sl_join_peer *peer,
				 const struct sl_join_request *request)
{
	const struct sl_member *member = member_with(a, peer->pin);
	if (member != NULL)
		return strcmp(member->name, request->name) == 0 ? SL_JOIN_ADMITTED : SL_JOIN_KEY_TAKEN;
	if (sl_roster_name_check(request->name, NULL) != SL_OK ||
	    sl_roster_addresses_check(request->address, NULL) != SL_OK)
		return SL_JOIN_INVALID;
	int rc = sl_invitation_file_load(a->folder, request->invitation, &a->invitation, &a->why);
	if (rc != SL_OK)
		return rc == SL_ERR_NOTFOUND || rc == SL_ERR_FORMAT ? SL_JOIN_UNKNOWN : SL_JOIN_FAILED;
	enum sl_join_verdict verdict = check_proof(a, peer, request);
	if (verdict == SL_JOIN_WAITING)
		verdict = use_invitation(a, peer, request);
	sl_invitation_file_close(&a->invitation);
	return verdict;
}

/* ---- a member with another key ---- */

/* Return true if this is the machine of an admin. */
static bool has_admin_key(const struct sl_admission *a)
{
	uint8_t *key = sl_admin_key_load(a->folder, NULL);
	bool has = key != NULL && sl_group_find_admin(&a->group, sl_admin_key_public(key)) >= 0;
	if (key != NULL)
		sl_admin_key_close(key);
	return has;
}

static enum sl_join_verdict renew(struct sl_admission *a, const struct sl_join_peer *peer,
				  const struct sl_join_request *request)
{
	struct sl_waiting waiting = {.since = (uint64_t)time(NULL)};
	const struct sl_member *member = member_with(a, peer->pin);
	if (!sl_renewal_verify(request->key, peer->exported, peer->pin, request->proof))
		return SL_JOIN_INVALID;
	sl_identity_pin(request->key, waiting.pin);
	if (member_with(a, waiting.pin) != NULL)
		return SL_JOIN_ADMITTED;
	if (member == NULL)
		return SL_JOIN_NO_MEMBER;
	if (!has_admin_key(a))
		return SL_JOIN_ELSEWHERE;
	waiting.renews = member->id;
	memcpy(waiting.name, member->name, sizeof waiting.name);
	memcpy(waiting.address, member->address, sizeof waiting.address);
	if (waits(a, &waiting))
		return SL_JOIN_WAITING;
	uint32_t *changes = tries_of(a, peer->pin); /* of which the first bytes count */
	if (*changes >= SL_JOIN_WRONG_MAX)
		return SL_JOIN_LATER;
	++*changes;
	if (sl_waiting_save(a->folder, &waiting, &a->why) != SL_OK)
		return SL_JOIN_FAILED;
	a->handler.say(a->handler.context, peer->address, &waiting, NULL);
	return SL_JOIN_WAITING;
}

/* ---- opening ---- */

/* Set the path of the roster, with a folder, and the folder. */
static int set_path(struct sl_admission *admission, const char *path, struct sl_error *error)
{
	const char *slash = strrchr(path, '/');
	int n = snprintf(admission->path, sizeof admission->path, "%s%s", slash == NULL ? "./" : "", path);
	if (n < 0 || (size_t)n >= sizeof admission->path)
		return sl_err_set(error, SL_ERR_RANGE, "%.64s...: the path is too long", path);
	size_t size = (size_t)(strrchr(admission->path, '/') - admission->path);
	snprintf(admission->folder, sizeof admission->folder, "%.*s", size == 0 ? 1 : (int)size,
		 admission->path);
	return SL_OK;
}

int sl_admission_open(struct sl_admission *admission, const char *path,
		      const struct sl_admission_handler *handler, struct sl_error *error)
{
	*admission = (struct sl_admission){.handler = *handler};
	int rc = set_path(admission, path, error);
	if (rc == SL_OK)
		rc = refresh(admission, error);
	if (admission->roster != NULL)
		sl_invitation_file_sweep(admission->folder);
	return rc;
}

uint64_t sl_admission_version(struct sl_admission *admission)
{
	refresh(admission, NULL);
	return admission->group.version;
}

void sl_admission_close(struct sl_admission *admission)
{
	free(admission->roster);
	sl_group_close(&admission->group);
	admission->roster = NULL;
}

/* ---- all requests ---- */

static enum sl_join_verdict decide(struct sl_admission *a, const struct sl_join_peer *peer,
				   const struct sl_join_request *request)
{
	if (strcmp(request->group, a->group.name) != 0)
		return SL_JOIN_OTHER_GROUP;
	switch (request->kind) {
	case SL_JOIN_ASK:
		return join(a, peer, request);
	case SL_JOIN_RENEW:
		return renew(a, peer, request);
	case SL_JOIN_ROSTER:
		return member_with(a, peer->pin) != NULL ? SL_JOIN_ADMITTED : SL_JOIN_NO_MEMBER;
	}
	return SL_JOIN_INVALID;
}

void sl_admission_serve(void *context, const struct sl_join_peer *peer, const struct sl_join_request *request,
			struct sl_join_answer *answer)
{
	struct sl_admission *a = context;
	a->why = (struct sl_error){0};
	refresh(a, NULL);
	*answer = (struct sl_join_answer){.verdict = decide(a, peer, request), .time = (uint64_t)time(NULL)};
	bool accepted = answer->verdict == SL_JOIN_ADMITTED || answer->verdict == SL_JOIN_WAITING;
	if (accepted && request->version != a->group.version) {
		answer->roster = (const uint8_t *)a->roster;
		answer->roster_bytes = a->roster_bytes;
	}
	bool known = a->why.code == SL_OK || a->why.code == SL_ERR_NOTFOUND;
	if (reasons[answer->verdict] != NULL)
		a->handler.say(a->handler.context, peer->address, NULL,
			       known ? reasons[answer->verdict] : a->why.text);
}
