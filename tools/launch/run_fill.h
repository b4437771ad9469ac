/* run_fill.h - write identities, roster and configurations of a run folder, and change them for a resumed
 * run.
 */
#pragma once

#include "tools/lib/run_folder.h"

/* A "key: value" line of every learner's configuration. */
struct sl_run_setting {
	const char *key, *value;
};

/* Write identities, roster and configurations into `folder`. `overrides` ("KEY=VALUE", each key once) replace
 * what the launcher would write. */
int sl_run_fill(const struct sl_run_folder *folder, const struct sl_run_setting *settings, size_t count,
		const char *const *overrides, size_t override_count, struct sl_error *error);

/* Set `key`, a setting that all learners share, in the roster RUN/file. */
int sl_run_fill_share(const struct sl_run_folder *folder, const char *file, const char *key,
		      const char *value, struct sl_error *error);

/* Have the learners answer HTTP on the loopback ports `port`, `port` + 1 and so on, and write
 * prometheus.yaml, which scrapes them; `token_file` is their http_token_file, "": none. SL_ERR_BUSY: one of
 * the ports is in use. */
int sl_run_fill_http(const struct sl_run_folder *folder, uint32_t port, const char *token_file,
		     struct sl_error *error);

/* Write the roster of `folder` with a free port in place of each one that another program has taken since.
 * Return SL_OK without writing if all ports are free. */
int sl_run_fill_ports(const struct sl_run_folder *folder, struct sl_error *error);
