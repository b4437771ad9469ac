/* settings.h - the configuration of a learner: one struct, parsed once, constant afterwards.
 *
 * Each setting is a row of settings.def, which makes a field of struct sl_settings. Files are YAML. Unknown
 * and duplicate keys are refused; an error starts with file:line:column.
 */
#pragma once

#include <stdio.h>

#include "common/base/err.h"
#include "common/base/types.h"
#include "common/field/encoding.h"
#include "common/field/share.h"
#include "common/mixing/engine.h"
#include "common/mixing/privacy.h"

#define SL_PATH_BYTES 1024u
#define SL_COMMAND_BYTES 4096u
#define SL_URL_BYTES (SL_ADDRESS_BYTES + 16u)
#define SL_DIGITS_BYTES (2 * SL_HASH_BYTES + 1u) /* a hash in hexadecimal digits */
#define SL_ACCEPT_DIGITS 8u			 /* least number of digits of accept_roster */
#define SL_QUORUM_ALL 0u
#define SL_QUORUM_MAJORITY UINT32_MAX
#define SL_MODULUS_AUTO 0u
#define SL_DECIMALS_AUTO UINT32_MAX
#define SL_CLIPPING_RANGE_AUTO 0.0
#define SL_VALUES_AUTO UINT32_MAX

enum sl_trainer_kind { SL_TRAINER_AUTOENCODER, SL_TRAINER_NOISE, SL_TRAINER_APPLICATION, SL_TRAINER_EXEC };
#define SL_CHECKPOINTS_ALL 0u
#define SL_TRAINING_DEADLINE_NONE 0u

enum sl_metrics_use { SL_METRICS_LOCAL, SL_METRICS_AGGREGATE };
enum sl_partition { SL_PARTITION_NONE, SL_PARTITION_IID, SL_PARTITION_BY_LABEL };
enum sl_discover { SL_DISCOVER_NONE, SL_DISCOVER_MDNS };
enum sl_neighbours_from { SL_NEIGHBOURS_ROSTER, SL_NEIGHBOURS_CONTROL };
enum sl_forgetful { SL_FORGETFUL_NO, SL_FORGETFUL_YES };
enum sl_privacy_check { SL_PRIVACY_WARN, SL_PRIVACY_ENFORCE };
enum sl_clipping { SL_CLIPPING_ERROR, SL_CLIPPING_CLAMP };
enum sl_rounded_to_zero { SL_ROUNDED_ERROR, SL_ROUNDED_WARN };
enum sl_weighting { SL_WEIGHTING_EQUAL, SL_WEIGHTING_SAMPLES };
enum sl_iterations_rule { SL_ITERATIONS_AT_LEAST, SL_ITERATIONS_EXACTLY };
enum sl_dp_use { SL_DP_USE_OFF, SL_DP_USE_RECORD, SL_DP_USE_LEARNER };
enum sl_dp_spent_use { SL_DP_SPENT_END, SL_DP_SPENT_ZEROS };
enum sl_log_format { SL_LOG_AUTO, SL_LOG_JSON, SL_LOG_TEXT, SL_LOG_JOURNAL };

/* Relative paths are relative to the configuration file's folder; the struct has them resolved. */
struct sl_settings {
#define TEXT(group, key, kind, ...) char key[SL_##kind##_BYTES];
#define NUMBER(group, key, type, ...) type key;
#define CHOICE(group, key, type, ...) type key;
#include "common/config/settings.def"
#undef TEXT
#undef NUMBER
#undef CHOICE
};

/* Return true if the trainer is a program that joins (proto/APPLICATION.md): application or exec. */
static inline bool sl_settings_has_application(const struct sl_settings *settings)
{
	return settings->trainer == SL_TRAINER_APPLICATION || settings->trainer == SL_TRAINER_EXEC;
}

#define SL_SETTINGS_SHARED_MAX 64u
/* A setting as a roster states it. */
struct sl_setting_text {
	char key[SL_NAME_BYTES], value[256];
};
/* The settings of the roster `path`; those that it leaves out have their defaults. */
struct sl_setting_list {
	const char *path;
	const struct sl_setting_text *items;
	uint32_t count;
};
/* Read the roster `path`. `own`: what the configuration says; values that are auto are not chosen yet. */
typedef int (*sl_settings_roster)(void *context, const char *path, const struct sl_settings *own,
				  struct sl_setting_list *list, struct sl_error *error);

/* Read and check the file `path`. `overrides`: `count` texts "KEY=VALUE" that replace what the file says; may
 * be NULL. The shared settings are those of the roster that the file names, which `roster` reads; a value
 * that differs from the roster's is refused. `roster` NULL: the file has all settings. */
int sl_settings_load(const char *path, const char *const *overrides, size_t count, sl_settings_roster roster,
		     void *context, struct sl_settings *settings, struct sl_error *error);

/* Replace all shared settings by those of `list`. */
int sl_settings_share(struct sl_settings *settings, const struct sl_setting_list *list,
		      struct sl_error *error);
/* Write the shared settings that do not have their defaults. Return their number, or a negative code. */
int sl_settings_differing(const struct sl_settings *settings,
			  struct sl_setting_text items[static SL_SETTINGS_SHARED_MAX],
			  struct sl_error *error);
/* Compute the hash of the shared settings of `list`: of a line "key: value" for each, with its default where
 * the list has none, in the order of settings.def. */
int sl_settings_hash(const struct sl_setting_list *list, uint8_t hash[static SL_HASH_BYTES],
		     struct sl_error *error);

/* Set the defaults and `overrides`, without a file; required settings that `overrides` leaves out stay empty.
 */
int sl_settings_assign(const char *const *overrides, size_t count, struct sl_settings *settings,
		       struct sl_error *error);

/* Check one "KEY=VALUE" without a file: unknown key, bad value. */
int sl_settings_check(const char *assignment, struct sl_error *error);

/* Resolve `settings->quorum` against a roster of `roster_size`. SL_ERR_RANGE unless the number is within
 * [sl_view_quorum_least, roster_size] and f is below roster_size: two views of one round must share
 * a learner that has not forgotten. */
int sl_settings_quorum(const struct sl_settings *settings, uint32_t roster_size, uint32_t *quorum,
		       struct sl_error *error);

/* A round of fewer than c + 2 learners never passes the privacy check. SL_ERR_REFUSED: the roster has fewer.
 */
int sl_settings_size(const struct sl_settings *settings, uint32_t roster_size, struct sl_error *error);

/* Return z for models of so many elements, with dp on: as given, or the least that keeps the budget over all
 * rounds; INFINITY: there is none. */
double sl_settings_noise(const struct sl_settings *settings, uint64_t elements, uint32_t roster_size);
/* Check that learners with committed rounds can go on with the shared settings of `next` after those of
 * `now`: the model has the same tensors, and results have exponents or not, as before. SL_ERR_REFUSED. */
int sl_settings_follow(const struct sl_settings *now, const struct sl_settings *next, struct sl_error *error);

#define SL_VALUE_TEXT_BYTES 32u
/* Return `value` as a configuration file states it for the key: its word, or a number in `text`. A real
 * number is given by its bits. A name that is no key has whole numbers. */
const char *sl_settings_value(const char *key, uint64_t value, char text[static SL_VALUE_TEXT_BYTES]);

/* Print every setting with its type, default, unit and description to `out`: for a terminal and, by
 * deploy/man/insert-settings, for starlingd.yaml(5), or as a configuration file, deploy/starlingd.yaml. */
void sl_settings_print(FILE *out, bool yaml);
