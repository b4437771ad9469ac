/* state.h - the state of a trainer that is a program of the user. Only the files of this room include it.
 *
 *   application.c   the trainer: opening, training, commits      training thread
 *   conversation.c  messages from and to the application         socket thread
 *   trained_file.c  the vector of the round on disk              training thread
 *   vector_check.c  which values can be encoded                  training thread
 */
#pragma once

#include <stdatomic.h>
#include <uv.h>

#include "daemon/application/config.h"
#include "daemon/application/line_socket.h"
#include "daemon/application/shared_vector.h"
#include "daemon/application/trained_file.h"

struct sl_application {
	struct sl_trainer base; /* first member: converted by pointer */
	struct sl_application_config config;
	uv_thread_t thread;
	bool serving;	    /* the thread runs */
	atomic_bool ending; /* the thread is to end */
	atomic_bool bound;  /* the model has been used: other tensors are refused */

	/* Set by the first application, or from the state folder, before there are other threads: */
	bool opened;		/* base.tensors and what follows is set */
	enum sl_values values;	/* that are averaged */
	size_t n;		/* elements of the model */
	uint32_t metrics_count; /* of them, metrics that are averaged; they are the first */
	size_t bytes;		/* of a vector: of the model without its metrics */
	bool offers_initial;	/* the application that has joined has said so in join */
	void *initial;		/* model before the first round, as a vector; owned; NULL: not known */
	struct sl_shared_vector up, down; /* from the application; to it: the last committed model */

	/* Used by the training thread, and before there are other threads: */
	struct sl_trained_file file;

	/* Under the mutex, which is never held while a vector is copied: */
	uv_mutex_t mutex;
	uv_cond_t answered;
	struct sl_line_socket socket;
	struct sl_command *command; /* trainer: exec; NULL: none */
	bool joined;
	uint8_t program[SL_HASH_BYTES]; /* hash of the last that has joined; zeros: it told none */
	uint64_t called_ms;		/* when the application connected */
	sl_round last;	 /* the application has ended the run after this round; 0: it has not */
	sl_round wanted; /* the round whose vector is awaited; 0: none */
	bool again;	 /* the vector was requested before */
	struct sl_trainer_commit committed; /* its model is in `down`; round 0: none */
	json_t *means;			    /* of the metrics that are averaged; owned; NULL: none */
	bool have; /* an answer is there; the training thread owns it until this is false: */
	uint64_t weight;
	json_t *metrics; /* owned; NULL: none */
};

/* Log a line, as information or as a warning; from any thread. */
void sl_state_say(const struct sl_application *a, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void sl_state_warn(const struct sl_application *a, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Return what is averaged when the application has asked for `asked`. */
enum sl_values sl_state_values(const struct sl_application *a, enum sl_values asked);
/* Return true if the learner cannot begin without the model before training, which it does not have: changes
 * to it are all that is summed with differential privacy. With a vector from the state folder, it has it. */
bool sl_state_lacks_initial(const struct sl_application *a);
/* Take `tensors`, with their items, as those of the model, and make the vectors. SL_ERR_NOMEM;
 * SL_ERR_INVALID: the settings have no such dtype. */
int sl_state_adopt(struct sl_application *a, const struct sl_tensors *tensors, enum sl_values asked,
		   struct sl_error *error);
/* Free everything; the thread has ended. */
void sl_state_close(struct sl_application *a);
