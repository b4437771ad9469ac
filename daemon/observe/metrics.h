/* metrics.h - the figures of one learner for a monitoring system: one struct, and its text.
 *
 *   core reports, daemon records, figures of the links --> struct sl_metrics --> sl_metrics_text --> /metrics
 *
 * How to add a figure: one row of SL_METRICS, its line in starling-metrics(7), and what sets its field. No
 * figure tells a value of a model, a key, a share or a number of samples. Label values come from the lists
 * below, so that the number of time series does not grow with rounds, learners or input.
 */
#pragma once

#include "common/config/level.h"
#include "common/protocol/report.h"
#include "common/report/record.h"
#include "daemon/net/links.h"

enum {
	SL_METRICS_REASONS = 0
#define X(reason, name) +1
	SL_REASONS(X)
#undef X
};

/* Labels: X(label, its name, number of its values). */
#define SL_METRICS_LABELS(X)                                                                                 \
	X(NONE, "", 1)                                                                                       \
	X(PHASE, "phase", SL_PHASE_COUNT)                                                                    \
	X(REASON, "reason", SL_METRICS_REASONS)                                                              \
	X(MESSAGE, "message", SL_MESSAGE_KINDS)                                                              \
	X(CAUSE, "cause", SL_TLS_FAILURE_COUNT)                                                              \
	X(LEVEL, "level", SL_ERROR + 1)                                                                      \
	X(BY, "by", 2)

enum sl_metrics_label {
#define X(label, name, count) SL_METRICS_##label,
	SL_METRICS_LABELS(X)
#undef X
};

enum {
#define X(label, name, count) SL_METRICS_##label##_COUNT = (count),
	SL_METRICS_LABELS(X)
#undef X
};

/* X(type, field, label, name, help). The sample of a COUNTER is called name_total. A GAUGE that is NaN is
 * left out. */
#define SL_METRICS(X)                                                                                        \
	/* rounds */                                                                                         \
	X(GAUGE, healthy, NONE, "starling_healthy",                                                          \
	  "1 if /healthz answers 200: the learner makes progress or waits within its deadlines.")            \
	X(GAUGE, round, NONE, "starling_round", "Present round.")                                            \
	X(GAUGE, attempt, NONE, "starling_attempt", "Present attempt of the round.")                         \
	X(GAUGE, rounds, NONE, "starling_run_rounds", "Rounds of the run.")                                  \
	X(GAUGE, committed, NONE, "starling_committed_round",                                                \
	  "Last round whose model this learner has, committed or received.")                                 \
	X(GAUGE, last_commit, NONE, "starling_last_commit_timestamp_seconds",                                \
	  "Unix time of the last round committed or caught up with since the start; 0: none yet.")           \
	X(COUNTER, rounds_committed, NONE, "starling_rounds_committed",                                      \
	  "Rounds that this learner has committed.")                                                         \
	X(COUNTER, rounds_caught_up, NONE, "starling_rounds_caught_up",                                      \
	  "Results of missed rounds that were received from a peer.")                                        \
	/* phases */                                                                                         \
	X(GAUGE, phase, PHASE, "starling_phase", "1 for the present phase of the round.")                    \
	X(GAUGE, phase_entered, NONE, "starling_phase_entered_timestamp_seconds",                            \
	  "Unix time at which the present phase was entered.")                                               \
	X(GAUGE, overdue, NONE, "starling_overdue",                                                          \
	  "1 while the present phase has waited beyond its deadline, or waits for a change of links or "     \
	  "settings.")                                                                                       \
	X(GAUGE, awaited, NONE, "starling_awaited_learners", "Learners that this learner waits for.")        \
	/* attempts */                                                                                       \
	X(COUNTER, views, NONE, "starling_views", "Views agreed on.")                                        \
	X(GAUGE, view_learners, NONE, "starling_view_learners", "Learners in the last view.")                \
	X(GAUGE, view_tolerance, NONE, "starling_view_tolerance",                                            \
	  "Further learners of the last view that may be lost for good: its attempt completes without "      \
	  "them.")                                                                                           \
	X(GAUGE, smallest_atom, NONE, "starling_smallest_atom",                                              \
	  "Fewest learners that hide each other in the last 16 sums that others may know and the last "      \
	  "view; "                                                                                           \
	  "below tolerance + 2, coalitions learn of fewer than two others.")                                 \
	X(COUNTER, exchanges, NONE, "starling_exchanges", "Exchanges of the committed attempts.")            \
	X(GAUGE, margin, NONE, "starling_rounding_margin",                                                   \
	  "Distance of the last sum from the integers that it was rounded to; a sum with 0.375 or more is "  \
	  "refused.")                                                                                        \
	X(COUNTER, failed, REASON, "starling_attempts_failed",                                               \
	  "Attempts that ended without a commit, by reason.")                                                \
	X(COUNTER, aborted, BY, "starling_attempts_aborted",                                                 \
	  "Attempts aborted after this learner was ready, by learners or by the operator.")                  \
	X(COUNTER, invalidated, NONE, "starling_models_invalidated",                                         \
	  "Trained models that an attempt used up, and that were trained again.")                            \
	X(COUNTER, recoveries, NONE, "starling_recoveries", "Attempts that went on without mixing.")         \
	X(COUNTER, recovered, NONE, "starling_recoveries_completed",                                         \
	  "Recoveries in which all deposits were collected.")                                                \
	/* differential privacy */                                                                           \
	X(GAUGE, dp_epsilon, NONE, "starling_dp_epsilon",                                                    \
	  "Epsilon that this learner has spent, at dp_delta, with dp_sampling as it is declared.")           \
	X(GAUGE, dp_budget, NONE, "starling_dp_epsilon_budget", "Epsilon that it may spend.")                \
	X(COUNTER, dp_charges, NONE, "starling_dp_charges",                                                  \
	  "Attempts that were charged, since the run began.")                                                \
	/* links */                                                                                          \
	X(GAUGE, roster, NONE, "starling_roster_learners", "Learners in the roster.")                        \
	X(GAUGE, peers, NONE, "starling_peers_linked", "Peers with a link.")                                 \
	X(COUNTER, dials_failed, NONE, "starling_dials_failed",                                              \
	  "Attempts to connect to a peer that failed.")                                                      \
	X(COUNTER, links_lost, NONE, "starling_links_lost", "Links that ended.")                             \
	X(COUNTER, tls_failures, CAUSE, "starling_tls_failures", "Connections that TLS ended, by cause.")    \
	X(COUNTER, sent, NONE, "starling_sent_bytes", "Bytes of ciphertext sent to peers.")                  \
	X(COUNTER, received, NONE, "starling_received_bytes", "Bytes of ciphertext received from peers.")    \
	X(COUNTER, message_sent, MESSAGE, "starling_message_sent_bytes",                                     \
	  "Bytes of messages queued for peers, by message.")                                                 \
	X(COUNTER, message_received, MESSAGE, "starling_message_received_bytes",                             \
	  "Bytes of messages received from peers, by message.")                                              \
	X(GAUGE, queue, NONE, "starling_send_queue_bytes", "Bytes that wait in all send queues.")            \
	X(GAUGE, queue_largest, NONE, "starling_send_queue_largest_bytes",                                   \
	  "Bytes that wait in the fullest send queue.")                                                      \
	X(GAUGE, socket_unsent, NONE, "starling_socket_unsent_bytes",                                        \
	  "Bytes of all links that the kernel holds and has not sent.")                                      \
	X(GAUGE, socket_buffers, NONE, "starling_socket_buffer_bytes",                                       \
	  "Bytes that the socket buffers of all links may take.")                                            \
	X(GAUGE, rtt_largest, NONE, "starling_link_rtt_largest_seconds",                                     \
	  "Least round trip time of the longest link.")                                                      \
	/* trouble */                                                                                        \
	X(COUNTER, rejected, NONE, "starling_messages_rejected", "Messages of peers that were rejected.")    \
	X(COUNTER, equivocations, NONE, "starling_equivocations",                                            \
	  "Pairs of contradicting records that a peer signed.")                                              \
	X(GAUGE, two_places, NONE, "starling_two_places",                                                    \
	  "Learners whose key two processes have, this one included.")                                       \
	X(GAUGE, disk_write, NONE, "starling_disk_write_pending_seconds",                                    \
	  "Duration so far of the durable write that is under way; 0: none is.")                             \
	X(COUNTER, log_records, LEVEL, "starling_log_records",                                               \
	  "Log records by level, also those below log_level.")                                               \
	/* the process */                                                                                    \
	X(COUNTER, cpu, NONE, "process_cpu_seconds", "Processor time, user and system.")                     \
	X(GAUGE, memory, NONE, "process_resident_memory_bytes", "Resident memory.")                          \
	X(GAUGE, fds, NONE, "process_open_fds", "Open file descriptors.")                                    \
	X(GAUGE, fds_most, NONE, "process_max_fds", "Largest number of open file descriptors.")              \
	X(GAUGE, start, NONE, "process_start_time_seconds", "Unix time at which the learner started.")

/* The one histogram: durations of phases. */
#define SL_METRICS_PHASE_NAME "starling_phase_duration_seconds"
#define SL_METRICS_PHASE_HELP "Seconds from entering a phase to leaving it."
#define SL_METRICS_BUCKETS(X) X(0.005) X(0.02) X(0.1) X(0.5) X(2.0) X(10.0) X(60.0) X(300.0) X(1800.0)
enum {
	SL_METRICS_BUCKET_COUNT = 0
#define X(bound) +1
	SL_METRICS_BUCKETS(X)
#undef X
};

struct sl_metrics_durations {
	double count, sum;
	double buckets[SL_METRICS_BUCKET_COUNT]; /* durations up to the bound and above the one before */
};

struct sl_metrics {
#define X(type, field, label, name, help) double field[SL_METRICS_##label##_COUNT];
	SL_METRICS(X)
#undef X
	struct sl_metrics_durations durations[SL_PHASE_COUNT];
	enum sl_phase in;    /* the present phase */
	double entered_s;    /* when it was entered, monotonic; 0: none was */
	uint32_t failures;   /* attempts that failed since the last commit */
	enum sl_reason last; /* reason of the last of them */
};

/* Begin: `now` is Unix time. */
void sl_metrics_init(struct sl_metrics *metrics, double now);
/* Count a report of the core. `now`: Unix time, `monotonic_s`: of a clock that never jumps. */
void sl_metrics_report(struct sl_metrics *metrics, const struct sl_report *report, double now,
		       double monotonic_s);
/* Count a log record. */
void sl_metrics_record(struct sl_metrics *metrics, const struct sl_record *record);
/* Take over the figures of the links. */
void sl_metrics_links(struct sl_metrics *metrics, const struct sl_links_figures *figures);
/* Look at the process: its time, memory and descriptors. */
void sl_metrics_process(struct sl_metrics *metrics);
