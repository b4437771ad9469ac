/* starling.h - average a model with other learners, without a server: libstarling(3), proto/APPLICATION.md.
 */
#ifndef STARLING_H
#define STARLING_H
#include <stdint.h>
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
enum starling_dtype { STARLING_FLOAT32, STARLING_FLOAT64, STARLING_INT64 };
enum starling_values {
	STARLING_UPDATE, /* what training adds to the last mean: fewer bits */
	STARLING_MODEL	 /* the vectors, exactly: for numbers that are not trained from the last mean */
};
struct starling_tensor { /* float64 and int64 before float32; dimensions 0: a single number */
	const char *name;
	enum starling_dtype dtype;
	unsigned dimensions;
	const uint64_t *shape;
	int nonnegative; /* 1: committed values below 0 become 0, as variances need; the same at all learners
			  */
};
enum starling_event {
	STARLING_NONE,	  /* nothing: wait until starling_fd is readable */
	STARLING_JOINED,  /* the fields of the run are there, up and down among them */
	STARLING_TRAIN,	  /* train the model of `round`, write it to `up`, call starling_trained */
	STARLING_MEAN,	  /* `committed` is committed: its model is in `down` */
	STARLING_WAITING, /* no progress: `text` says why */
	STARLING_REFUSED, /* the vector cannot be used: `text` says why; write a better one */
	STARLING_LOST,	  /* the learner is gone; the library joins it again */
	STARLING_DONE,	  /* the last round is committed */
	STARLING_ERROR	  /* `text` says why; the handle can only be closed */
};
enum starling_unit {
	STARLING_EXACT,	 /* no noise */
	STARLING_RECORD, /* noise hides a record: `up` is a sum of contributions of norm `clip` at most */
	STARLING_LEARNER /* noise hides a learner, which scales `up` down to the norm `clip` */
};
/* To be read only, but for the vector at `up`. The addresses in `up` and `down` never change. */
struct starling {
	const char *text;      /* of the last event; NULL: none */
	const char *name;      /* of the learner */
	uint32_t learner;      /* id of the learner */
	uint32_t learners;     /* number of learners in the roster */
	uint32_t rounds;       /* rounds of the run */
	uint32_t round;	       /* to be trained; 0: none yet */
	uint32_t committed;    /* last committed round; 0: none */
	uint32_t participants; /* number in the round `committed`; 0: not known */
	uint64_t total_weight; /* sum of the weights of the participants */
	int again;	       /* `round` is to be trained again: its last vector was possibly released, or
				  is of records and was made for another clip or sampling */
	int repeatable; /* .. and the same vector may be given: the learner sees to it that sums tell none
			   alone */
	int weighted;	/* weights count */
	int decimals;	/* that are kept of a value; -1: all, or not known yet */
	double clipping_range; /* limit of absolute values; 0: none, or not known yet */
	const double *metrics; /* means of the round `committed`, in the order of join; NaN: not known */
	size_t elements;       /* of a vector */
	size_t bytes;	       /* of a vector */
	void *up;
	const void *down; /* valid from MEAN, or from TRAIN if committed > 0, to starling_trained */
	/* Differential privacy, from JOINED on; without, all are 0: */
	enum starling_unit dp;
	double clip;	       /* Euclidean norm; with STARLING_UPDATE, that of the change to the last mean */
	double sampling;       /* probability with which a record is in a round; 1: each is */
	double delta, epsilon; /* budget; epsilon 0: none */
	double noise_of_clip;  /* noise multiplier: see dp_noise in starling-dp(7) */
	double noise; /* standard deviation in each coordinate of the mean `committed`; NaN: not known */
	double spent; /* epsilon so far; NaN: not known, or no bound */
};
/* Return a handle that joins the learner on socket `path` (NULL: $STARLING_SOCKET), and joins it again
 * whenever it is restarted. NULL: out of memory; any other error is the first event. `metrics`: names ended
 * by NULL, or NULL; their values come in the same order. `values`: what is averaged, if the settings of the
 * learner leave it open. */
struct starling *starling_join(const char *path, const struct starling_tensor *tensors, size_t count,
			       const char *const *metrics, enum starling_values values);
/* Right after starling_join: state the model before training, of the bytes of a vector, which the caller
 * keeps until the first round is committed. If all learners have the same, the first round averages what
 * training adds to it; else, and without it, whole models, with two to eight times as many bytes. Needed
 * for STARLING_UPDATE with differential privacy. */
void starling_initial(struct starling *s, const void *model);
void starling_leave(struct starling *s);
int starling_fd(const struct starling *s);
enum starling_event starling_next(struct starling *s);		       /* never waits */
enum starling_event starling_wait(struct starling *s, int timeout_ms); /* -1: without end */
int starling_trained(struct starling *s, uint64_t weight,
		     const double *metrics); /* -1: no vector is awaited */
/* For a loop over the rounds: wait, and say on standard error for what. `model` has the bytes of up. */
uint32_t starling_round(struct starling *s, void *model); /* takes the committed model; 0: done or error */
enum starling_event starling_average(struct starling *s, void *model, uint64_t weight,
				     const double *metrics); /* MEAN; TRAIN: train again; REFUSED; ERROR */
#ifdef __cplusplus
}
#endif
#endif
