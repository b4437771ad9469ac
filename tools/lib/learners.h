/* learners.h - the learners that a command speaks to: those of a run folder, or control sockets.
 *
 * A folder is that of a run (RUN/NAME/control.sock), one with a folder for each learner set up by hand
 * (FOLDER/NAME/state/control.sock), or that of a single learner. A learner that has ended is found by the
 * files that it left.
 */
#pragma once

#include "common/base/err.h"
#include "tools/lib/control_query.h"
#include "tools/lib/option.h"

/* Where the learners of the units are: that of deploy/starlingd.yaml, and those of groups. */
#define SL_LEARNERS_SOCKET "/run/starling/control.sock"
#define SL_LEARNERS_FOLDER "/var/lib/starling"

struct sl_learners {
	struct sl_control_query *asked;
	size_t count, room;
	char folder[PATH_MAX]; /* the run folder; "": there is none */
};

/* Find the learners in `folder`. SL_ERR_NOTFOUND: there is none, or no folder. */
int sl_learners_find(struct sl_learners *learners, const char *folder, struct sl_error *error);
/* Add the learner with the control socket `path`. */
void sl_learners_add(struct sl_learners *learners, const char *path);
/* Write the folder that has those of groups: SL_LEARNERS_FOLDER for root, else one in the home folder. */
int sl_learners_place(char path[static PATH_MAX], struct sl_error *error);

/* Return true if SL_LEARNERS_FOLDER has a folder that this user cannot read; say SL_LEARNERS_AS_ROOT. */
bool sl_learners_hidden(void);
#define SL_LEARNERS_AS_ROOT                                                                                  \
	", or run this command as root: " SL_LEARNERS_FOLDER " has folders that this user cannot read"
/* Find those of the present folder, or else the installed one, or else those of groups of this user or of
 * root. SL_ERR_NOTFOUND: none is there. */
int sl_learners_usual(struct sl_learners *learners, struct sl_error *error);
void sl_learners_close(struct sl_learners *learners);

/* The options of a command for the learners: [RUNFOLDER | --control SOCKET ...]. A struct of options begins
 * with it; the row of --control and the two functions go into its table and its sl_usage. */
struct sl_learners_options {
	const char *folder, **sockets;
	size_t count, room;
};
#define SL_LEARNERS_CONTROL                                                                                  \
	{                                                                                                    \
		"control", 'c', "SOCKET", "the learner with this control socket; may be repeated",           \
			.take = sl_learners_take_socket                                                      \
	}
void sl_learners_take_socket(struct argp_state *state, const char *value, void *options);
void sl_learners_take_folder(struct argp_state *state, const char *value, void *options);
/* For the help of such a command. */
#define SL_LEARNERS_WITHOUT                                                                                  \
	"Without RUNFOLDER and --control: the learners of the present folder, or else the installed "        \
	"daemon (" SL_LEARNERS_SOCKET ", or else those of groups in " SL_LEARNERS_FOLDER ")."
/* Find what the options name, and free them, or end the program with an error and SL_EXIT_USAGE. */
void sl_learners_open(struct sl_learners *learners, struct sl_learners_options *options);
/* Return true if the learner has done what it was asked; else print why not. */
bool sl_learners_did(const struct sl_control_query *one);

/* Return true if a daemon holds the state folder, `folder` or FOLDER/state; `process` is its process id, 0 if
 * unknown. */
bool sl_learners_runs(const char *folder, long *process);

/* Return a text or a number of a reply; "" or 0 without it. */
const char *sl_learners_text(const json_t *object, const char *key);
long long sl_learners_number(const json_t *object, const char *key);

/* Keep id and name of the learner: `id` is the key of the id in `object`, a reply or a log record. */
void sl_learners_know(struct sl_control_query *one, const json_t *object, const char *id);

/* Write the first `most` learners of the array `ids` as "ana (1), bo (2) and 7 more", with their names as far
 * as the log or replies tell them. */
void sl_learners_names(const struct sl_learners *learners, const json_t *ids, size_t most, char *text,
		       size_t size);
