/* join_ask.h - a request to a learner of a group, and the checks of its answer (GROUP.md §12.9 Joining).
 */
#pragma once

#include "common/membership/group.h"
#include "common/membership/invitation.h"
#include "daemon/membership/join_client.h"

struct sl_join_ask {
	const char *group;
	const uint8_t *admin; /* that the first roster must have; NULL: the caller has set `roster` */
	const char
		*addresses[SL_INVITATION_ADDRESSES_MAX]; /* tried in this order; each text may list several */
	uint32_t address_count;
	const struct sl_identity *identity;
	struct sl_proxy proxy; /* of this machine */
	/* Complete the request, for this connection. */
	void (*prove)(void *context, const struct sl_join_client *client, struct sl_join_request *request);
	void *context;

	struct sl_group roster; /* newest checked roster; owned */
	bool has_roster;
	uint32_t pause_ms;	     /* last pause between two requests */
	uint64_t time;		     /* of the last answer: the clock of the other end */
	char from[SL_ADDRESS_BYTES]; /* .. the address that gave it */
	bool by_proxy;		     /* it was the proxy that failed last */
};

/* Ask once. SL_ERR_BUSY: no address answers; another code: the answer must not be used. */
int sl_join_ask(struct sl_join_ask *ask, struct sl_join_request *request, enum sl_join_verdict *verdict,
		struct sl_error *error);

/* How a command asks until the roster has the key `pin`. */
struct sl_join_wait {
	const uint8_t *pin;
	uint64_t timeout_s; /* 0: none */
	uint64_t quiet_s;   /* in which nothing is said of an admin that has not decided */
	/* Ask once, as sl_join_ask does. */
	int (*once)(void *context, struct sl_join_request *request, enum sl_join_verdict *verdict,
		    struct sl_error *error);
	/* Say which command the admin is to run. */
	void (*say)(const void *context);
	/* Set the error after too long. `reached`: a machine has answered; else the error says why none has.
	 */
	int (*late)(const void *context, bool reached, uint64_t waited_s, struct sl_error *error);
};
/* Ask until the roster has the key, with ask->context. The error of `late`: not in time. */
int sl_join_ask_wait(struct sl_join_ask *ask, const struct sl_join_wait *wait,
		     struct sl_join_request *request, struct sl_error *error);
/* Wait until the next request: 0.5 s at first, then 1 s, then 2 s. */
void sl_join_ask_pause(struct sl_join_ask *ask);
void sl_join_ask_close(struct sl_join_ask *ask);

/* Return the member of the roster that has the key, or NULL. */
const struct sl_member *sl_join_ask_member(const struct sl_join_ask *ask,
					   const uint8_t pin[static SL_HASH_BYTES]);
/* Set the error for a verdict that ends the command. */
int sl_join_ask_refused(const struct sl_join_ask *ask, enum sl_join_verdict verdict,
			const struct sl_join_request *request, struct sl_error *error);
