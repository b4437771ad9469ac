/* observe.h - what a learner shows of itself: its log, its status, its waits, its metrics and its health.
 *
 * Owns all that is kept for that purpose only. What it shows it borrows and only reads. The other way,
 * nothing in the rounds depends on what is here.
 *
 *   core, links, records ---> struct sl_observe ---> log, application, status, /metrics, /healthz
 *
 * One thread, that of the loop; but for the fields that are atomic.
 */
#pragma once

#include <stdatomic.h>
#include <time.h>
#include <uv.h>

#include "common/core/core.h"
#include "common/model/trainer.h"
#include "common/report/record.h"
#include "daemon/net/keys.h"
#include "daemon/net/links.h"
#include "daemon/observe/metrics.h"
#include "daemon/observe/record_limit.h"
#include "daemon/runtime/clock.h"
#include "daemon/runtime/http.h"
#include "daemon/runtime/log.h"
#include "daemon/runtime/recent.h"
#include "daemon/store/ledger.h"

/* The warnings about one peer. */
struct sl_peer_warning {
	sl_ms quiet_until; /* end of the interval in which warnings are only counted */
	uint32_t unsaid;   /* warnings counted in it */
	bool other_run;	   /* its last Hello was of another run */
};

#define SL_LINK_FAULT_REASONS 4u

/* Failed dials to a peer since its link was up last. */
struct sl_link_fault {
	sl_ms since; /* the first one; 0: none */
	uint32_t count;
	const char *said[SL_LINK_FAULT_REASONS]; /* the reasons of warnings; its addresses may have several */
};

#define SL_PROGRAM_BYTES 32u /* of a program's version, with the NUL */

/* What is shown of one peer. */
struct sl_observed_peer {
	struct sl_peer_warning warning;
	struct sl_link_fault fault;
	struct sl_link_bytes bytes;	  /* at the last commit */
	char places[SL_PLACES_BYTES];	  /* addresses of two processes that have its key, .. */
	sl_ms places_until;		  /* .. shown until then; 0: never */
	char program[SL_PROGRAM_BYTES];	  /* version of its program, as it told; "": not told */
	char other_model[SL_ERROR_BYTES]; /* how its model differs; "": not known */
};

static inline const char *sl_observe_places(const struct sl_observed_peer *peer)
{
	return sl_clock_ms() < peer->places_until ? peer->places : "";
}

/* The durable write that the compute worker is in. */
struct sl_writing {
	atomic_uint_fast64_t since_ms; /* 0: none */
	atomic_uint kind;	       /* enum sl_persist_kind */
	sl_ms report_at;	       /* loop thread: time of the next report; 0: none yet */
};

/* Seconds in each phase of the present attempt, and in TRAIN of its round. */
struct sl_phase_times {
	double spent[SL_PHASE_COUNT];
	enum sl_phase phase; /* the present one */
	double since;	     /* time at which it was entered, monotonic; 0: none was */
};

/* The present wait (wait_log.h). */
struct sl_wait_log {
	enum sl_wait wait; /* NOTHING: none */
	enum sl_phase phase;
	sl_round t;
	sl_attempt a;
	sl_ms since, log_at;
	bool said;				   /* a record was written */
	uint64_t set[(SL_LEARNERS_MAX + 63) / 64]; /* .. the learners that it named */
};

#define SL_OBSTACLE_BYTES 1024u

/* The last sentences of two kinds of reports (obstacle.h); empty at the start. */
struct sl_obstacles {
	char refused[SL_OBSTACLE_BYTES];   /* why the last attempt ended */
	enum sl_reason reason;		   /* .. of it */
	char different[SL_OBSTACLE_BYTES]; /* how a peer differs in roster, parameters or last result */
	uint32_t peer;			   /* .. which one: roster index */
};

/* What came while models of missed rounds were fetched, since the learner had the last one. */
struct sl_fetched {
	double begun, since; /* times, monotonic, of the first CATCHUP and of the present one; 0: none */
	double seconds;	     /* in CATCHUP */
	uint64_t at, bytes;  /* received when it began; received in CATCHUP */
};

/* Measurements for the log and the status. */
struct sl_figures_round {
	uint64_t bytes_sent, bytes_received; /* at the last commit */
	uint64_t flood_bytes;		     /* of link states, Readys and Aborts, since the last commit */
	uint64_t view_bytes;		     /* sent when the present view was agreed */
	sl_ms view_ms;			     /* time of that agreement; 0: no view */
	double rate; /* bytes per second between the last committed view and its commit; 0: none yet */
	struct sl_phase_times times;
	double cpu_s;	/* at the last commit */
	double train_s; /* duration of the last training */
};

/* A warning or error. */
struct sl_status_problem {
	char at[SL_LOG_TIME_BYTES]; /* "": none */
	enum sl_record_kind kind;
	enum sl_level level;
	sl_id peer; /* that a failed link leads to */
	char text[SL_RECORD_TEXT_BYTES];
};

/* What the status says of records that were logged. Times are wall clock; 0: never. */
struct sl_status_notes {
	time_t started_at, committed_at;
	sl_round committed, evaluated; /* rounds of committed_at and loss, of mse */
	double trained_loss, loss, mse;
	uint32_t rounded; /* tensors of the last trained model that were rounded to 0 as a whole */
	uint64_t cut;	  /* values of the update in the present attempt that the log tells are cut */
	struct sl_status_problem passing,
		lasting; /* the last one that can be over and is not; of the others */
};

/* What is spent of the privacy (setting dp), as it is on record. */
struct sl_observed_spent {
	double epsilon, epsilon_unsampled; /* NAN: no dp */
	uint64_t charges, guessed;
};

/* What is shown; borrowed. The pointers of the second paragraph are NULL until the start has made them. */
struct sl_observed {
	const struct sl_settings *settings;
	const struct sl_roster *roster;
	const struct sl_core_config *core_config;
	const struct sl_keys *keys;
	const char *checkpoint;	   /* name of the last checkpoint file */
	const atomic_bool *failed; /* set after a fatal error */
	uv_loop_t *loop;

	struct sl_core *core;
	struct sl_links *links;
	struct sl_trainer *trainer;
};

struct sl_observe {
	struct sl_observed of;
	struct sl_observed_peer *peers; /* by roster index; owned */
	struct sl_log *log;
	struct sl_record_limit record_limit;
	struct sl_metrics counters;
	struct sl_http *http;	 /* NULL: `http: off` */
	struct sl_recent recent; /* log records for those that ask over HTTP */
	struct sl_status_notes notes;
	struct sl_observed_spent spent;
	struct sl_figures_round figures;
	struct sl_wait_log wait;
	struct sl_obstacles obstacles;
	struct sl_fetched fetched;
	struct sl_writing writing;
	atomic_bool computes;	       /* the compute worker is in a job */
	struct json_t *metrics;	       /* of the last training, as its application named them; NULL: none */
	atomic_uint training_permille; /* progress of the training */
	uint32_t step;		       /* step of the topology playback, as last reported */
};

/* Begin to count, with nothing to show of peers. */
void sl_observe_begin(struct sl_observe *observe, const struct sl_observed *of);
/* Make room for what is shown of the peers of the roster. */
int sl_observe_peers(struct sl_observe *observe, struct sl_error *error);
/* Count a report of the core. */
void sl_observe_report(struct sl_observe *observe, const struct sl_report *report);
/* Show what is spent of the privacy, as the ledger has it. */
void sl_observe_spent(struct sl_observe *observe, const struct sl_ledger *ledger);
/* Return what the learner waits for, and for whom. The core does not tell a job from a write: while a job
 * runs, a wait for the disk is one for the arithmetic. */
enum sl_wait sl_observe_awaits(const struct sl_observe *observe, uint64_t *set);
/* Free all of it. The log is closed: nothing is logged any more. */
void sl_observe_close(struct sl_observe *observe);
