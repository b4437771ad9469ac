/* settings.h - everything a learner is configured with: one struct, parsed once, const afterwards.
 *
 * The keys, their types, ranges, defaults and one-line descriptions stand in one X-macro table,
 * settings_keys.h (used to parse, to print the reference and to name a key in an error). YAML through
 * libfyaml; unknown and duplicate keys are refused; every error reads file:line:column.
 */
#pragma once

#include "common/base/err.h"
#include "common/base/types.h"
#include "common/mixing/engine.h"
#include "common/field/encode.h"
#include "common/field/share.h"

#define SL_PATH_BYTES 1024u
#define SL_ACCEPT_DIGITS 8u

enum sl_trainer_kind { SL_TRAINER_AUTOENCODER, SL_TRAINER_NOISE };
enum sl_split { SL_SPLIT_IID, SL_SPLIT_BY_LABEL };
enum sl_range_source {
	SL_RANGE_ROSTER,
	SL_RANGE_CONTROL
}; /* in_range: everybody in the roster | as told by control */
enum sl_randomness { SL_RANDOMNESS_PRG, SL_RANDOMNESS_OS };
enum sl_log_format { SL_LOG_AUTO, SL_LOG_JSON, SL_LOG_TEXT };

struct sl_settings {
	/* who and where (relative paths are relative to the configuration file's folder and stored resolved)
	 */
	char run[SL_NAME_BYTES];	   /* run: name of the run; learners of different runs never share */
	sl_id id;			   /* id */
	char listen[SL_ADDRESS_BYTES];	   /* listen: host:port; default: the own address in the roster */
	char roster[SL_PATH_BYTES];	   /* roster: file */
	char accept_roster[SL_NAME_BYTES]; /* accept_roster: at least SL_ACCEPT_DIGITS of its hash; "": none
					    */
	char identity[SL_PATH_BYTES];	   /* identity: folder with key.pem (0600) and cert.pem */
	char state[SL_PATH_BYTES];	   /* state: folder for checkpoints and the incarnation */
	char control[SL_PATH_BYTES];   /* control: path of the control socket; default state/control.sock */
	char log[SL_PATH_BYTES];       /* log: file, or "-" for standard error (default) */
	enum sl_log_format log_format; /* log_format: auto (text on a terminal, else json) | json | text */
	int log_level;		       /* log_level: debug | info | warn | error (0..3), default info */

	/* the round: equal at all learners (protocol 5, AGREE) */
	sl_round rounds;	  /* rounds: T, default 10 */
	uint32_t quorum;	  /* quorum: all (default, 0 here) | majority (UINT32_MAX here) | a number */
	uint32_t tolerance;	  /* tolerance: c, default 1 */
	bool privacy_check_warns; /* gate: refuse (default) | warn; not negotiated: who refuses, refuses */
	uint64_t p;		  /* p: auto (0, default) | a prime */
	uint32_t decimals;	  /* sigma, default 4 */
	double clipping_range;	  /* clip, default 16 */
	bool clamp;		  /* clip_policy: error (default) | clamp */
	enum sl_encoding_kind encoding; /* encoding: weighted | literal */
	bool weight_samples;		/* weight: equal (default) | samples */
	uint64_t max_weight; /* max_weight: public bound on m_i, needed for weight: samples; default 1 */
	enum sl_sharing_kind sharing;  /* sharing: shamir | additive | seeded */
	enum sl_randomness randomness; /* coins: stream | os */
	enum sl_engine mixing;	       /* mixing: exact (default) | metropolis | tree | auto */
	uint64_t k;		       /* k: floor under the computed number of iterations, default 0 */
	bool iterations_rule;	       /* k_rule: floor (default) | fixed */
	uint32_t max_degree;	       /* max_degree: 16 */

	/* the radio and its deadlines, seconds */
	enum sl_range_source in_range; /* in_range: roster (default) | told */
	double straggler_timeout;      /* 60 */
	double hello_timeout;	       /* 2 */
	double agreement_timeout;      /* 10 */
	double prepare_timeout;	       /* 60 */
	double stall_timeout;	       /* 10 */
	double confirm_timeout;	       /* 10 */
	double serve_after_end;	       /* 30 */

	/* training (protocol 5, TRAIN) */
	enum sl_trainer_kind trainer; /* trainer: autoencoder (default) | noise, for measuring */
	uint32_t size;		      /* size: n of noise, default 100000 */
	char data[SL_PATH_BYTES];     /* data: "digits" (embedded, default) or a folder of IDX files */
	enum sl_split split;	      /* split: even | label */
	uint32_t hidden_units;	      /* hidden: h, default 32 */
	double learning_rate;	      /* 0.02 */
	uint32_t batch;		      /* 10 */
	uint32_t epochs;	      /* 5 */
	uint64_t seed;		      /* seed of the initial model, equal at all learners; default 1 */

	bool unsafe_dump_encoding; /* unsafe_dump_encoding: write this learner's encoding beside its
				      checkpoint, for --verify */
};

/* Reads and checks one file, including what can be checked alone: p prime, the p bound for M = roster size *
 * max_weight is checked by the daemon once the roster is read. `overrides` are "KEY=VALUE" strings applied on
 * top (--set), may be NULL. */
int sl_settings_load(const char *path, const char *const *overrides, size_t count,
		     struct sl_settings *settings, struct sl_error *error);

/* The defaults, and these on top, with no file: what a required key would say stays empty. */
int sl_settings_assign(const char *const *overrides, size_t count, struct sl_settings *settings,
		       struct sl_error *error);

/* Checks one "KEY=VALUE" without a file: unknown key, bad value. */
int sl_settings_check(const char *assignment, struct sl_error *error);

/* The learners that a round needs: `quorum` of the settings against the roster's size R. SL_ERR_RANGE unless
 * within [R/2+1, R]: two views of one round must share a learner. */
int sl_settings_quorum(const struct sl_settings *settings, uint32_t roster_size, uint32_t *quorum,
		       struct sl_error *error);

/* Prints the reference (key, type, default, description), one line each, for --help and the README. */
void sl_settings_reference(void *file /* FILE * */);
