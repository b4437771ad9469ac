/* learner.h - a learner with nothing but the trainer that is a program, for a scripted application. */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "daemon/application/application.h"
#include "test/application/client.h"

#define JOIN                                                                                                 \
	"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[2,2]},{\"name\":\"b\","    \
	"\"shape\":[]}]}"
#define N 5u

extern struct learner {
	struct sl_settings settings;
	struct sl_member members[2];
	struct sl_roster roster;
	struct sl_application_config config;
	struct sl_trainer *trainer;
	pthread_t opening, training;
	struct sl_training_request request;
	struct sl_training result;
	atomic_bool stop, stopped;
	atomic_uint progress;
	_Alignas(double) float model[N + 4]; /* two metrics of float64 may precede the N */
	int rc;
	struct sl_error error;
	char said[4096];	    /* what was logged */
	atomic_uint restarts, last; /* requested: new starts, the last round */
	atomic_uint failures;	    /* trainings that were said to have failed */
} learner;

const char *socket_path(const char *folder);

/* Join with these fields beside type and version, and expect an answer that begins so. */
void join_with(struct client *c, const char *fields, const char *answer);
/* Prepare a learner of a fresh process, with the state folder `folder`. */
void learner_init(const char *folder);
/* Open it and serve: the tensors are known. */
void learner_open(void);
/* The same in a thread: it waits for an application, or until learner.stopped. */
void learner_open_begin(void);
void learner_open_end(void);
/* Init, open, and let the first application join. */
void learner_begin(struct client *c, const char *folder);
/* End the learner; its files stay. */
void learner_close(void);
void learner_end(struct client *c);

/* Begin to train a round in a thread, and take its vector. */
void train_begin(sl_round round, bool again);
void train_end(float first, uint64_t weight);
/* Begin to train round 1, which the application hears. */
void train_ask(struct client *c);
/* The same, with its vector of zeros. */
void train_once(struct client *c);
/* Commit a model of equal values. */
void show(sl_round round, float value);
