#include "daemon/observe/metrics.h"

#include <dirent.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "daemon/runtime/process_usage.h"

static const double bounds[] = {
#define X(bound) bound,
	SL_METRICS_BUCKETS(X)
#undef X
};

void sl_metrics_init(struct sl_metrics *metrics, double now)
{
	*metrics = (struct sl_metrics){.start = {now},
				       .view_learners = {NAN},
				       .view_tolerance = {NAN},
				       .smallest_atom = {NAN},
				       .margin = {NAN},
				       .dp_epsilon = {NAN},
				       .dp_budget = {NAN}};
}

static void leave_phase(struct sl_metrics *metrics, double monotonic_s)
{
	struct sl_metrics_durations *durations = &metrics->durations[metrics->in];
	double took = monotonic_s - metrics->entered_s;
	uint32_t b = 0;
	if (metrics->entered_s == 0)
		return;
	while (b < SL_METRICS_BUCKET_COUNT && took > bounds[b])
		b++;
	if (b < SL_METRICS_BUCKET_COUNT)
		durations->buckets[b]++;
	durations->count++;
	durations->sum += took;
}

static void enter_phase(struct sl_metrics *metrics, enum sl_phase phase, double now, double monotonic_s)
{
	leave_phase(metrics, monotonic_s);
	metrics->phase[metrics->in] = 0;
	metrics->phase[phase] = 1;
	metrics->phase_entered[0] = now;
	metrics->in = phase;
	metrics->entered_s = monotonic_s;
}

static void commit(struct sl_metrics *metrics, const struct sl_report *r, double now)
{
	metrics->rounds_committed[0]++;
	metrics->exchanges[0] += (double)r->committed.exchanges;
	metrics->margin[0] = r->committed.margin;
	metrics->last_commit[0] = now;
	metrics->failures = 0;
}

void sl_metrics_report(struct sl_metrics *metrics, const struct sl_report *r, double now, double monotonic_s)
{
	switch (r->kind) {
	case SL_REPORT_PHASE:
		enter_phase(metrics, r->phase, now, monotonic_s);
		break;
	case SL_REPORT_VIEW:
		metrics->views[0]++;
		metrics->view_learners[0] = r->view.learners;
		metrics->view_tolerance[0] = r->view.tolerance;
		metrics->smallest_atom[0] = r->view.atom;
		break;
	case SL_REPORT_COMMITTED:
		commit(metrics, r, now);
		break;
	case SL_REPORT_CAUGHT_UP:
		metrics->rounds_caught_up[0]++;
		metrics->last_commit[0] = now;
		metrics->failures = 0;
		break;
	case SL_REPORT_FAILED:
		metrics->failed[r->reason]++;
		metrics->failures++;
		metrics->last = r->reason;
		break;
	case SL_REPORT_RECOVERING:
		metrics->recoveries[0]++;
		break;
	case SL_REPORT_RECOVERED:
		metrics->recovered[0]++;
		break;
	case SL_REPORT_OVER:
		metrics->aborted[r->peer == SL_NOBODY]++;
		break;
	case SL_REPORT_MODEL_INVALIDATED:
		metrics->invalidated[0]++;
		break;
	case SL_REPORT_EVIDENCE:
		metrics->equivocations[0]++;
		break;
	default:
		break;
	}
}

void sl_metrics_record(struct sl_metrics *metrics, const struct sl_record *record)
{
	metrics->log_records[sl_record_level(record)]++;
	metrics->links_lost[0] += record->kind == SL_RECORD_LINK_DOWN;
	metrics->dials_failed[0] +=
		record->kind == SL_RECORD_LINK_FAILED || record->kind == SL_RECORD_LINK_FAILED_AGAIN;
}

void sl_metrics_links(struct sl_metrics *metrics, const struct sl_links_figures *figures)
{
	metrics->peers[0] = figures->up;
	metrics->sent[0] = (double)figures->bytes_sent;
	metrics->received[0] = (double)figures->bytes_received;
	for (uint32_t kind = 0; kind < SL_MESSAGE_KINDS; kind++) {
		metrics->message_sent[kind] = (double)figures->messages[kind].sent;
		metrics->message_received[kind] = (double)figures->messages[kind].received;
	}
	for (uint32_t cause = 0; cause < SL_TLS_FAILURE_COUNT; cause++)
		metrics->tls_failures[cause] = (double)figures->tls_failures[cause];
}

static double open_descriptors(void)
{
	double count = 0;
	DIR *folder = opendir("/proc/self/fd");
	if (folder == NULL)
		return NAN;
	for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
		count += entry->d_name[0] != '.';
	closedir(folder);
	return count - 1; /* without the one of the folder */
}

void sl_metrics_process(struct sl_metrics *metrics)
{
	struct rlimit limit;
	metrics->cpu[0] = sl_process_usage_cpu_s();
	metrics->memory[0] = (double)sl_process_usage_bytes("VmRSS");
	metrics->fds[0] = open_descriptors();
	metrics->fds_most[0] = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? (double)limit.rlim_cur : NAN;
}
