#include "tools/starling/join_ask.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tools/starling/wait_report.h"

#define REACH_S 30u /* in which a machine must answer for the first time */
#define SILENT_TRIES                                                                                         \
	3u /* failures in a row that are not reported: a machine that has answered may restart               \
	    */
#define ANSWER_MS 10000u
#define PAUSE_MS 500u
#define PAUSE_MS_MAX 2000u
#define CLOCK_S 86400u /* by which two clocks may differ */

static int check_clock(const struct sl_join_ask *ask, struct sl_error *error)
{
	time_t here = time(NULL), there = (time_t)ask->time;
	char shown[2][32];
	uint64_t difference = (uint64_t)(here > there ? here - there : there - here);
	struct tm parts;
	if (difference <= CLOCK_S)
		return SL_OK;
	strftime(shown[0], sizeof shown[0], "%F %H:%M", gmtime_r(&here, &parts));
	if (gmtime_r(&there, &parts) == NULL || strftime(shown[1], sizeof shown[1], "%F %H:%M", &parts) == 0)
		snprintf(shown[1], sizeof shown[1], "%" PRIu64, ask->time);
	return sl_err_set(
		error, SL_ERR_REFUSED,
		"the clock of this machine shows %s, and that of %s %s (UTC): set the wrong one, with "
		"timedatectl set-ntp true, and try again",
		shown[0], ask->from, shown[1]);
}

static const struct sl_member *member_with(const struct sl_group *group, const uint8_t *pin)
{
	int at = sl_roster_find_pin(&group->roster, pin);
	return at >= 0 ? &group->roster.members[at] : NULL;
}

/* Decide on a first roster without the signature of the admin of the invitation: an impostor could have made
 * it up. SL_PENDING: do not keep it, and go on asking, since the roster that admits this learner will have
 * that signature. */
static int check_first(const struct sl_join_ask *ask, const struct sl_group *fresh, struct sl_error *error)
{
	if (member_with(fresh, ask->identity->pin) == NULL)
		return SL_PENDING;
	return sl_err_set(
		error, SL_ERR_CRYPTO,
		"the admin that the invitation names has not signed it: it may come from an impostor; ask an "
		"admin that has signed the present roster for an invitation");
}

/* Check a roster that has just been received against the invitation, or the roster of before. */
static int check_roster(const struct sl_join_ask *ask, const struct sl_group *fresh, const uint8_t *pin,
			struct sl_error *error)
{
	if (strcmp(fresh->name, ask->group) != 0)
		return sl_err_set(
			error, SL_ERR_REFUSED,
			"%s answers with the roster of group %s, not of %s: ask the admin for the right "
			"address",
			ask->from, fresh->name, ask->group);
	if (ask->admin != NULL && sl_group_find_admin(fresh, ask->admin) < 0)
		return sl_err_set(
			error, SL_ERR_CRYPTO,
			"%s answers with a roster without the admin that the invitation names: it may be an "
			"impostor; ask the admin for a new invitation",
			ask->from);
	int rc = SL_OK;
	if (ask->has_roster)
		rc = sl_group_follows(&ask->roster, fresh, error);
	else if (ask->admin != NULL && !sl_group_has_signed(fresh, ask->admin))
		rc = check_first(ask, fresh, error);
	if (rc != SL_OK)
		return rc == SL_PENDING ? rc : sl_err_wrap(error, "the roster of %s", ask->from);
	if (member_with(fresh, pin) == NULL)
		return sl_err_set(
			error, SL_ERR_CRYPTO,
			"%s answers with a key that is not in the roster of %s: it may be an impostor or a "
			"learner that was removed; ask the admin for a new invitation",
			ask->from, ask->group);
	return SL_OK;
}

/* Check that the other end is a member of the roster that is here, whose version it has. */
static int check_member(const struct sl_join_ask *ask, const uint8_t *pin, struct sl_error *error)
{
	return ask->has_roster && member_with(&ask->roster, pin) != NULL
		       ? SL_OK
		       : sl_err_set(error, SL_ERR_CRYPTO, "%s answers without a roster that has its key",
				    ask->from);
}

static int take_roster(struct sl_join_ask *ask, const struct sl_join_answer *answer, const uint8_t *pin,
		       struct sl_error *error)
{
	struct sl_group fresh;
	if (answer->roster == NULL)
		return check_member(ask, pin, error);
	int rc = sl_group_read(ask->from, (const char *)answer->roster, answer->roster_bytes, &fresh, error);
	if (rc != SL_OK)
		return rc;
	bool same = ask->has_roster && fresh.version == ask->roster.version;
	rc = same ? check_member(ask, pin, error) : check_roster(ask, &fresh, pin, error);
	if (rc != SL_OK || same) {
		sl_group_close(&fresh);
		return rc == SL_PENDING ? SL_OK : rc;
	}
	if (ask->has_roster)
		sl_group_close(&ask->roster);
	ask->roster = fresh;
	ask->has_roster = true;
	return SL_OK;
}

static int ask_at(struct sl_join_ask *ask, struct sl_join_client *client, struct sl_join_request *request,
		  enum sl_join_verdict *verdict, struct sl_error *error)
{
	struct sl_join_answer answer;
	snprintf(request->group, sizeof request->group, "%s", ask->group);
	request->version = ask->has_roster ? ask->roster.version : 0;
	ask->prove(ask->context, client, request);
	int rc = sl_join_client_ask(client, request, &answer, error);
	if (rc == SL_ERR_IO)
		error->code = rc = SL_ERR_BUSY;
	if (rc != SL_OK)
		return rc;
	ask->time = answer.time;
	*verdict = answer.verdict;
	rc = check_clock(ask, error);
	bool accepted = answer.verdict == SL_JOIN_ADMITTED || answer.verdict == SL_JOIN_WAITING;
	return rc == SL_OK && accepted ? take_roster(ask, &answer, sl_join_client_pin(client), error) : rc;
}

/* Ask at the address ask->from. */
static int ask_from(struct sl_join_ask *ask, struct sl_join_request *request, enum sl_join_verdict *verdict,
		    struct sl_error *error)
{
	struct sl_join_client client;
	int rc = sl_join_client_open(&client, SL_JOIN_FOR_ANSWER, false, ask->identity, NULL, &ask->proxy,
				     ask->from, ANSWER_MS, error);
	ask->by_proxy = rc != SL_OK && client.failure == SL_JOIN_FAILURE_PROXY;
	if (rc == SL_OK)
		rc = ask_at(ask, &client, request, verdict, error);
	else
		rc = error->code = SL_ERR_BUSY;
	sl_join_client_close(&client);
	return rc;
}

int sl_join_ask(struct sl_join_ask *ask, struct sl_join_request *request, enum sl_join_verdict *verdict,
		struct sl_error *error)
{
	int rc = SL_ERR_BUSY;
	for (uint32_t i = 0; i < ask->address_count; i++) {
		uint32_t count = sl_roster_address_at(ask->addresses[i], 0, ask->from);
		for (uint32_t k = 0; k < count; k++) {
			sl_roster_address_at(ask->addresses[i], k, ask->from);
			rc = ask_from(ask, request, verdict, error);
			if (rc != SL_ERR_BUSY)
				return rc;
		}
	}
	return rc;
}

void sl_join_ask_pause(struct sl_join_ask *ask)
{
	uint32_t next = ask->pause_ms == 0 ? PAUSE_MS : 2 * ask->pause_ms;
	ask->pause_ms = next < PAUSE_MS_MAX ? next : PAUSE_MS_MAX;
	struct timespec pause = {ask->pause_ms / 1000, (long)(ask->pause_ms % 1000) * 1000000};
	nanosleep(&pause, NULL);
}

void sl_join_ask_close(struct sl_join_ask *ask)
{
	if (ask->has_roster)
		sl_group_close(&ask->roster);
	ask->has_roster = false;
}

const struct sl_member *sl_join_ask_member(const struct sl_join_ask *ask,
					   const uint8_t pin[static SL_HASH_BYTES])
{
	return ask->has_roster ? member_with(&ask->roster, pin) : NULL;
}

int sl_join_ask_refused(const struct sl_join_ask *ask, enum sl_join_verdict verdict,
			const struct sl_join_request *request, struct sl_error *error)
{
	static const char another[] = "ask the admin for another one: starling group invite";
	switch (verdict) {
	case SL_JOIN_UNKNOWN:
		return sl_err_set(error, SL_ERR_REFUSED,
				  "%s does not know this invitation: it was withdrawn, or expired long ago, "
				  "or its file is damaged (the log there says so), or that machine was "
				  "restored from a backup; %s",
				  ask->from, another);
	case SL_JOIN_EXPIRED:
		return sl_err_set(error, SL_ERR_REFUSED, "the invitation has expired; %s", another);
	case SL_JOIN_USED:
		return sl_err_set(
			error, SL_ERR_REFUSED,
			"the invitation was used before, by another learner, or by this one before it was "
			"removed; %s",
			another);
	case SL_JOIN_OTHER_GROUP:
		return sl_err_set(
			error, SL_ERR_REFUSED,
			"%s is a learner of another group than %s; ask the admin for the right address",
			ask->from, ask->group);
	case SL_JOIN_NAME_TAKEN:
		return sl_err_set(error, SL_ERR_REFUSED,
				  "another learner is called %s; choose a name with --name", request->name);
	case SL_JOIN_ADDRESS_TAKEN:
		return sl_err_set(error, SL_ERR_REFUSED,
				  "another learner has the address %s; choose another one with --address",
				  request->address);
	case SL_JOIN_KEY_TAKEN:
		return sl_err_set(error, SL_ERR_REFUSED,
				  "the group has the key of this machine under another name than %s: give "
				  "that name, or another folder with --folder",
				  request->name);
	case SL_JOIN_NO_MEMBER:
		return sl_err_set(error, SL_ERR_REFUSED,
				  "%s: the key of this learner is not in the roster of %s", ask->from,
				  ask->group);
	case SL_JOIN_FULL:
		return sl_err_set(error, SL_ERR_REFUSED,
				  "too many learners wait at %s; ask the admin to run starling admit",
				  ask->from);
	case SL_JOIN_FAILED:
		return sl_err_set(error, SL_ERR_IO,
				  "%s cannot read or write the folder of its group; its log says why",
				  ask->from);
	default:
		return sl_err_set(
			error, SL_ERR_REFUSED,
			"%s does not understand this request: upgrade Starling on the machine with the "
			"older version",
			ask->from);
	}
}

/* Say what is waited for: at once if that is news, else every minute. */
static void report(const struct sl_join_ask *ask, const struct sl_join_wait *wait,
		   struct sl_wait_report *reported, const char *problem)
{
	if (!sl_wait_report_due(reported, problem))
		return;
	if (problem != NULL)
		fprintf(stderr, "%s; trying again\n", problem);
	else
		wait->say(ask->context);
}

int sl_join_ask_wait(struct sl_join_ask *ask, const struct sl_join_wait *wait,
		     struct sl_join_request *request, struct sl_error *error)
{
	struct sl_wait_report reported = {0};
	uint64_t begun = sl_wait_report_now(), limit = wait->timeout_s == 0 ? UINT64_MAX : wait->timeout_s;
	uint32_t failed = 0;
	bool reached = false;
	for (;; sl_join_ask_pause(ask)) {
		enum sl_join_verdict verdict = SL_JOIN_LATER;
		int rc = wait->once(ask->context, request, &verdict, error);
		uint64_t waited = sl_wait_report_now() - begun;
		if (rc != SL_OK && rc != SL_ERR_BUSY)
			return rc;
		reached |= rc == SL_OK;
		if (rc == SL_OK && sl_join_ask_member(ask, wait->pin) != NULL)
			return SL_OK;
		if (rc == SL_OK && verdict != SL_JOIN_WAITING && verdict != SL_JOIN_ADMITTED &&
		    verdict != SL_JOIN_LATER)
			return sl_join_ask_refused(ask, verdict, request, error);
		if (waited >= limit || (!reached && waited >= REACH_S))
			return wait->late(ask->context, reached, waited, error);
		failed = rc == SL_OK ? 0 : failed + 1;
		if (rc == SL_OK ? waited >= wait->quiet_s : !reached || failed > SILENT_TRIES)
			report(ask, wait, &reported, rc == SL_OK ? NULL : error->text);
	}
}
