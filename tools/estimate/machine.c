#include "tools/estimate/machine.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/field/vector.h"
#include "common/field/encode.h"
#include "common/field/metropolis.h"
#include "tools/dev/bench/kernels.h"

#define ELEMENTS 32768u /* a chunk */
#define NEIGHBOURS 8u
#define PASSES 5u
#define RECORD_BYTES 4096u
#define HASHED_BYTES 20u /* of an element: masked state, digest and checkpoint */

const struct sl_estimate_machine sl_estimate_machine_usual = {
	.processors = 2,
	.byte_ns = 1.3,
	.shamir_ns = {6, 0.5},
	.additive_ns = 6,
	.seeded_ns = 6,
	.gather_ns = 1,
	.metropolis_ns = 1,
	.exact_ns = 1,
	.element_ns = 60,
	.verify_s = 60e-6,
	.record_s = 3e-3,
	.process_bytes = 15e6,
	.float_bytes = 40,
};

/* ---- one quantity each; the least of a few passes ---- */

struct memory {
	struct sl_field field;
	uint64_t *x;
	uint8_t *packed;
	float *model;
	const uint8_t *states[NEIGHBOURS];
	struct sl_divisor divisors[NEIGHBOURS];
};

static int memory_open(struct memory *m)
{
	*m = (struct memory){.x = calloc(ELEMENTS, 8),
			     .packed = calloc(ELEMENTS, 8),
			     .model = calloc(ELEMENTS, sizeof(float))};
	for (uint32_t r = 0; r < NEIGHBOURS; r++) {
		m->states[r] = m->packed;
		sl_metropolis_divisor_init(&m->divisors[r], NEIGHBOURS + 1);
	}
	bool good = m->x != NULL && m->packed != NULL && m->model != NULL;
	return good ? sl_field_init(&m->field, SL_P_MERSENNE31) : SL_ERR_NOMEM;
}

static void memory_close(struct memory *m)
{
	free(m->x);
	free(m->packed);
	free(m->model);
}

static void gather(struct memory *m)
{
	sl_vector_take(&m->field, m->x, m->packed, ELEMENTS, true);
}

static void metropolis(struct memory *m)
{
	sl_metropolis_step((int64_t *)m->x, ELEMENTS, m->states, m->divisors, NEIGHBOURS);
}

static void element(struct memory *m)
{
	const struct sl_encoding encoding = {.kind = SL_ENCODING_WEIGHTED,
					     .decimals = 4,
					     .clipping_range = 16,
					     .weight = 1,
					     .weight_total = 100};
	struct sl_encode_note note;
	uint8_t hash[SL_HASH_BYTES];
	sl_encoding_encode(&m->field, &encoding, m->model, ELEMENTS - 1, m->x, &note);
	for (uint32_t bytes = 0; bytes < HASHED_BYTES; bytes += 4)
		crypto_generichash(hash, sizeof hash, m->packed, 4 * (size_t)ELEMENTS, NULL, 0);
	m->x[ELEMENTS - 1] = 1;
	sl_encoding_decode(&m->field, &encoding, m->x, ELEMENTS - 1, m->model);
}

static void verify(struct memory *m)
{
	uint8_t key[crypto_sign_PUBLICKEYBYTES], secret[crypto_sign_SECRETKEYBYTES],
		signature[crypto_sign_BYTES];
	crypto_sign_keypair(key, secret);
	crypto_sign_detached(signature, NULL, m->packed, 300, secret);
	for (int i = 0; i < 20; i++)
		if (crypto_sign_verify_detached(signature, m->packed, 300, key) != 0)
			abort();
}

static double least_ns(void (*work)(struct memory *), struct memory *m)
{
	double least = 1e300;
	for (uint32_t i = 0; i < PASSES; i++) {
		double begun = sl_bench_thread_ns();
		work(m);
		double spent = sl_bench_thread_ns() - begun;
		least = spent < least ? spent : least;
	}
	return least;
}

static void measure_elements(struct memory *m, struct sl_estimate_machine *machine)
{
	machine->gather_ns = least_ns(gather, m) / ELEMENTS;
	machine->exact_ns = sl_bench_kernel_exact(NEIGHBOURS);
	machine->element_ns = least_ns(element, m) / ELEMENTS;
	machine->verify_s = 1e-9 * least_ns(verify, m) / 20;
	memset(m->x, 0, 8 * (size_t)ELEMENTS);
	machine->metropolis_ns = least_ns(metropolis, m) / ELEMENTS / NEIGHBOURS;
}

/* ---- shares, as the bench makes them ---- */

static double share_ns(enum sl_sharing_kind kind, uint32_t degree)
{
	struct sl_figure figure = {.count = 0};
	if (sl_bench_kernel_shares(kind, SL_P_MERSENNE31, degree, PASSES, &figure) != SL_OK)
		return -1;
	return sl_figure_spread(&figure).least;
}

static int measure_shares(struct sl_estimate_machine *machine)
{
	double few = share_ns(SL_SHARING_SHAMIR, 4), many = share_ns(SL_SHARING_SHAMIR, 40);
	double seeded = share_ns(SL_SHARING_SEEDED, 10);
	machine->additive_ns = share_ns(SL_SHARING_ADDITIVE, 10);
	if (few < 0 || many < 0 || seeded < 0 || machine->additive_ns < 0 || machine->exact_ns < 0)
		return SL_ERR_NOMEM;
	machine->shamir_ns[1] = many > few ? (many - few) / 36 : 0;
	machine->shamir_ns[0] = few - 4 * machine->shamir_ns[1];
	machine->seeded_ns = seeded * 11 / 10; /* all shares but the learner's own cost one expansion */
	return SL_OK;
}

/* ---- the disk ---- */

static double wall_s(void)
{
	struct sl_cpu_clock clock;
	sl_machine_cpu_clock_read(&clock);
	return clock.wall_s;
}

static int measure_record(struct sl_estimate_machine *machine)
{
	static const uint8_t bytes[RECORD_BYTES];
	const char *temporary = getenv("TMPDIR");
	struct sl_figure figure = {.count = 0};
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/starling-plan-XXXXXX",
		 temporary != NULL && *temporary != '\0' ? temporary : "/tmp");
	int fd = mkstemp(path);
	if (fd < 0)
		return SL_ERR_IO;
	unlink(path);
	for (uint32_t i = 0; i < PASSES; i++) {
		double begun = wall_s();
		if (write(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes && fsync(fd) == 0)
			sl_figure_add(&figure, wall_s() - begun);
	}
	close(fd);
	if (figure.count == 0)
		return SL_ERR_IO;
	machine->record_s = sl_figure_spread(&figure).median;
	return SL_OK;
}

int sl_estimate_machine_measure(struct sl_estimate_machine *machine)
{
	struct memory memory;
	int rc = memory_open(&memory);
	if (rc == SL_OK)
		measure_elements(&memory, machine);
	memory_close(&memory);
	if (rc == SL_OK)
		rc = measure_shares(machine);
	return rc == SL_OK ? measure_record(machine) : rc;
}
