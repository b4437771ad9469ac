/* settings_keys.h - the table of every configuration key, in the order of the reference. Included by
 * settings.c only.
 *
 * X(key, type, field, least, most, default, words, description)
 * default NULL: the key is required; "": it may be left out. words: the values that are words, or NULL.
 */
#pragma once

#include "common/config/settings.h"

struct sl_word {
	const char *text;
	uint64_t value;
};

#define WORDS(name, ...) static const struct sl_word name[] = {__VA_ARGS__, {NULL, 0}}

WORDS(words_bool, {"false", 0}, {"true", 1});
WORDS(words_quorum, {"all", 0}, {"majority", UINT32_MAX});
WORDS(words_privacy_check, {"refuse", 0}, {"warn", 1});
WORDS(words_iterations_rule, {"floor", 0}, {"fixed", 1});
WORDS(words_modulus, {"auto", 0});
WORDS(words_clipping, {"error", 0}, {"clamp", 1});
WORDS(words_encoding, {"weighted", SL_ENCODING_WEIGHTED}, {"literal", SL_ENCODING_PAPER});
WORDS(words_weighting, {"equal", 0}, {"samples", 1});
WORDS(words_sharing, {"shamir", SL_SHARING_SHAMIR}, {"additive", SL_SHARING_ADDITIVE},
      {"seeded", SL_SHARING_SEEDED});
WORDS(words_mixing, {"exact", SL_ENGINE_EXACT}, {"metropolis", SL_ENGINE_METROPOLIS},
      {"tree", SL_ENGINE_TREE}, {"auto", SL_ENGINE_AUTO});
WORDS(words_randomness, {"stream", SL_RANDOMNESS_PRG}, {"os", SL_RANDOMNESS_OS});
WORDS(words_neighbours, {"roster", SL_RANGE_ROSTER}, {"told", SL_RANGE_CONTROL});
WORDS(words_trainer, {"autoencoder", SL_TRAINER_AUTOENCODER}, {"noise", SL_TRAINER_NOISE});
WORDS(words_split, {"even", SL_SPLIT_IID}, {"label", SL_SPLIT_BY_LABEL});
WORDS(words_log_format, {"auto", SL_LOG_AUTO}, {"json", SL_LOG_JSON}, {"text", SL_LOG_TEXT});
WORDS(words_log_level, {"debug", 0}, {"info", 1}, {"warn", 2}, {"error", 3});
WORDS(words_log, {"-", 0});
WORDS(words_data, {"digits", 0});

#define SECONDS_MAX 86400
#define HIDDEN_MAX ((SL_ELEMENTS_MAX - 785u) / 1569u) /* n + 1 = 1569h + 785 elements fit a vector */
#define P_MOST ((UINT64_C(1) << 61) - 1)
#define WEIGHT_MOST (UINT64_C(1) << 44)

#define SL_SETTINGS(X)                                                                                       \
	X("run", NAME, run, 0, 0, NULL, NULL, "name of the run; learners of different runs never share")     \
	X("id", WHOLE, id, 1, UINT32_MAX, NULL, NULL, "this learner's id in the roster")                     \
	X("listen", ADDRESS, listen, 0, 0, "", NULL, "HOST:PORT to listen on; default: its roster address")  \
	X("roster", PATH, roster, 0, 0, NULL, NULL, "file that lists the learners")                          \
	X("accept_roster", NAME, accept_roster, 0, 0, "", NULL,                                              \
	  "8 digits: take this roster, of which more than one member changed")                               \
	X("identity", PATH, identity, 0, 0, NULL, NULL, "folder with key.pem (mode 0600) and cert.pem")      \
	X("state", PATH, state, 0, 0, NULL, NULL, "folder for checkpoints and what must survive a restart")  \
	X("control", PATH, control, 0, 0, "", NULL, "control socket; default: control.sock in state")        \
	X("log", PATH, log, 0, 0, "-", words_log, "file, or - for standard error")                           \
	X("log_format", WORD, log_format, 0, 0, "auto", words_log_format, "auto: text on a terminal")        \
	X("log_level", WORD, log_level, 0, 0, "info", words_log_level, "least level that is logged")         \
	X("rounds", WHOLE, rounds, 1, SL_ROUNDS_MAX, "10", NULL, "rounds to commit, then end")               \
	X("quorum", WHOLE, quorum, 1, SL_LEARNERS_MAX, "all", words_quorum,                                  \
	  "learners that a round needs; never less than a majority")                                         \
	X("tolerance", WHOLE, tolerance, 1, SL_LEARNERS_MAX - 2, "1", NULL,                                  \
	  "curious learners (c) that may pool what they see and learn the mean only")                        \
	X("gate", WORD, privacy_check_warns, 0, 0, "refuse", words_privacy_check,                            \
	  "what a graph that bears fewer leads to")                                                          \
	X("p", PRIME, p, 3, P_MOST, "auto", words_modulus,                                                   \
	  "prime of the field; auto: the smallest that fits")                                                \
	X("sigma", WHOLE, decimals, 0, SL_DECIMALS_MAX, "4", NULL, "decimal digits kept of a parameter")     \
	X("clip", POSITIVE, clipping_range, 0, 1e9, "16", NULL, "bound on the size of a parameter")          \
	X("clip_policy", WORD, clamp, 0, 0, "error", words_clipping, "what a larger one leads to")           \
	X("encoding", WORD, encoding, 0, 0, "weighted", words_encoding, "literal: as the paper prints it")   \
	X("weight", WORD, weight_samples, 0, 0, "equal", words_weighting, "of a learner in the mean")        \
	X("max_weight", WHOLE, max_weight, 1, WEIGHT_MOST, "1", NULL,                                        \
	  "public bound on a weight, needed for weight: samples")                                            \
	X("sharing", WORD, sharing, 0, 0, "shamir", words_sharing, "how secret shares are made")             \
	X("coins", WORD, randomness, 0, 0, "stream", words_randomness,                                       \
	  "of shares: ChaCha20 or the system's")                                                             \
	X("mixing", WORD, mixing, 0, 0, "exact", words_mixing, "how masked states are added up")             \
	X("k", WHOLE, k, 0, SL_ITERATIONS_MAX, "0", NULL, "metropolis: least number of iterations")          \
	X("k_rule", WORD, iterations_rule, 0, 0, "floor", words_iterations_rule,                             \
	  "fixed: exactly k, an error if too few")                                                           \
	X("degree_max", WHOLE, max_degree, SL_DEGREE_LEAST, SL_LEARNERS_MAX, "16", NULL,                     \
	  "neighbours; of more in range, a random overlay is used")                                          \
	X("in_range", WORD, in_range, 0, 0, "roster", words_neighbours, "told: by the control socket")       \
	X("straggler_wait", REAL, straggler_timeout, 0, SECONDS_MAX, "60", NULL,                             \
	  "seconds to wait for more learners once a quorum is ready")                                        \
	X("silent_wait", POSITIVE, hello_timeout, 0, SECONDS_MAX, "2", NULL,                                 \
	  "seconds to wait for silent peers")                                                                \
	X("flood_wait", POSITIVE, agreement_timeout, 0, SECONDS_MAX, "10", NULL,                             \
	  "seconds that a flood may take")                                                                   \
	X("ready_wait", POSITIVE, prepare_timeout, 0, SECONDS_MAX, "60", NULL,                               \
	  "seconds for all to hold their shares")                                                            \
	X("stall_wait", POSITIVE, stall_timeout, 0, SECONDS_MAX, "10", NULL,                                 \
	  "seconds without a byte that is owed")                                                             \
	X("settle_wait", POSITIVE, confirm_timeout, 0, SECONDS_MAX, "10", NULL,                              \
	  "seconds to wait for digests")                                                                     \
	X("linger", REAL, serve_after_end, 0, SECONDS_MAX, "30", NULL,                                       \
	  "seconds to serve others after the last round")                                                    \
	X("trainer", WORD, trainer, 0, 0, "autoencoder", words_trainer,                                      \
	  "noise: no data, no training; for measuring")                                                      \
	X("size", WHOLE, size, 1, SL_ELEMENTS_MAX - 1, "100000", NULL, "parameters of a model of noise")     \
	X("data", PATH, data, 0, 0, "digits", words_data,                                                    \
	  "folder of IDX files; digits: drawn by the program")                                               \
	X("split", WORD, split, 0, 0, "even", words_split, "how the images are dealt to the learners")       \
	X("hidden", WHOLE, hidden_units, 1, HIDDEN_MAX, "32", NULL, "hidden units h of the autoencoder")     \
	X("learning_rate", POSITIVE, learning_rate, 0, 1e3, "0.02", NULL, "of SGD")                          \
	X("batch", WHOLE, batch, 1, 65536, "10", NULL, "images in one step of SGD")                          \
	X("epochs", WHOLE, epochs, 1, 10000, "5", NULL, "local epochs in a round")                           \
	X("seed", WHOLE, seed, 0, UINT64_MAX, "1", NULL, "of the initial model, equal at all learners")      \
	X("unsafe_reveal", WORD, unsafe_dump_encoding, 0, 0, "false", words_bool,                            \
	  "write this learner's secret encoding to disk, for --verify")
