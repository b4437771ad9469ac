/* machine.h - how fast a machine is, as far as a plan needs it.
 *
 * The defaults are round figures for a processor with AVX2 that nobody else wants; a plan made with them
 * bounds seconds from below. sl_estimate_machine_measure takes those of this machine instead, in about two
 * seconds, all but `byte_ns`, which it scales by how fast TLS is here.
 */
#pragma once

#include <stdint.h>

struct sl_estimate_machine {
	uint32_t processors;		/* that all learners share, where they are on one machine */
	double byte_ns;			/* CPU of both ends for a byte sent, all included */
	double shamir_ns[2];		/* a share at degree d takes about [0] + [1] d */
	double additive_ns;		/* a share */
	double seeded_ns;		/* an element of a seed, made or expanded */
	double gather_ns;		/* an element of a share taken in */
	double metropolis_ns, exact_ns; /* an element of a neighbour's state mixed in */
	double element_ns;    /* all else that is done once for each element of a round: encode, hash, decode,
				 write */
	double verify_s;      /* a signature checked */
	double record_s;      /* a record made durable */
	double process_bytes; /* memory of a learner without a model */
	double float_bytes;   /* and for each float */
};

extern const struct sl_estimate_machine sl_estimate_machine_usual;

/* SL_ERR_NOMEM, SL_ERR_IO. */
int sl_estimate_machine_measure(struct sl_estimate_machine *machine);
