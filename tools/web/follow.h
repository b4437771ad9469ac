/* follow.h - the records of learners that are asked over HTTP: their /records, server-sent events.
 *
 *   sl_web_follow_open --> connecting --> streaming --> (the connection ends) --> waiting --> connecting ...
 *                              `-- cannot be reached, or refuses ------------------'
 *
 * A learner sends its last records, then what it logs from the connection on. A lost connection is
 * tried again, after 0.25 s at first and 5 s at last. Everything happens in the calls: libcurl is run by
 * reading. Owns the connections, and the last records of each learner for its log on the page. */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"
#include "tools/web/source.h"

struct sl_web_follow;

/* Take one line for people: a learner is lost, or is back. */
typedef void sl_web_follow_say_fn(void *context, const char *line);

struct sl_web_follow_config {
	const char *const
		*urls; /* http://HOST:PORT, the setting `http` of a learner; https:// behind a proxy */
	size_t count;
	const char *token; /* that of http_token_file at the learners; NULL: none */
	sl_web_follow_say_fn *say;
	void *context; /* of `say` */
};

/* Connect, and wait up to 5 s until each learner has answered or cannot be reached; the latter is said, and
 * tried again later. The texts of `config` are copied. SL_ERR_INVALID: an address is not one, a token is
 * missing or wrong, or no Starling daemon answers. */
int sl_web_follow_open(struct sl_web_follow **follow, const struct sl_web_follow_config *config,
		       struct sl_error *error);
/* Disconnect and free `follow`, which may be NULL. */
void sl_web_follow_close(struct sl_web_follow *follow);

/* Return the source of a page; `follow` stays the caller's. Reading from it hands over the records that have
 * come since the last call, and connects anew to learners that were lost. */
struct sl_web_source sl_web_follow_source(struct sl_web_follow *follow);
