/* The socket of an application, driven by a scripted one. */
#include "test/lib/folder.h"
#include "test/lib/test.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/application/application.h"

#define JOIN                                                                                                 \
	"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[2,2]},{\"name\":\"b\","    \
	"\"shape\":[]}]}"
#define N 5u
#define DEADLINE_MS 20000

/* ---- a scripted application ---- */

struct client {
	int fd;
	char line[4096];
	size_t used;
	int fds[2];
	float *up, *down;
};

static void client_open(struct client *c, const char *folder)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	*c = (struct client){.fd = socket(AF_UNIX, SOCK_STREAM, 0), .fds = {-1, -1}};
	snprintf(address.sun_path, sizeof address.sun_path, "%s", folder_path(folder, "a.sock"));
	for (int tries = 0; connect(c->fd, (struct sockaddr *)&address, sizeof address) < 0; tries++) {
		assert_true(tries < 2000);
		usleep(10000);
	}
}

static void client_close(struct client *c)
{
	if (c->up != NULL) {
		munmap(c->up, N * sizeof *c->up);
		munmap(c->down, N * sizeof *c->down);
		close(c->fds[0]);
		close(c->fds[1]);
	}
	close(c->fd);
}

static void tell(struct client *c, const char *line)
{
	assert_int_equal(send(c->fd, line, strlen(line), MSG_NOSIGNAL), (ssize_t)strlen(line));
	assert_int_equal(send(c->fd, "\n", 1, MSG_NOSIGNAL), 1);
}

static void take_fds(struct client *c, struct msghdr *message)
{
	struct cmsghdr *header = CMSG_FIRSTHDR(message);
	if (header == NULL)
		return;
	assert_int_equal(header->cmsg_len, CMSG_LEN(sizeof c->fds));
	memcpy(c->fds, CMSG_DATA(header), sizeof c->fds);
	c->up = mmap(NULL, N * sizeof(float), PROT_READ | PROT_WRITE, MAP_SHARED, c->fds[0], 0);
	c->down = mmap(NULL, N * sizeof(float), PROT_READ | PROT_WRITE, MAP_SHARED, c->fds[1], 0);
	assert_true(c->up != MAP_FAILED && c->down != MAP_FAILED);
}

/* Receive the next byte; return false at the end. */
static bool next_byte(struct client *c, char *byte)
{
	union {
		struct cmsghdr aligned;
		char bytes[CMSG_SPACE(sizeof c->fds)];
	} control;
	struct iovec part = {byte, 1};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof control.bytes};
	struct pollfd ready = {.fd = c->fd, .events = POLLIN};
	if (poll(&ready, 1, DEADLINE_MS) != 1)
		fail_msg("the learner says nothing");
	if (recvmsg(c->fd, &message, 0) != 1)
		return false;
	take_fds(c, &message);
	return true;
}

/* Expect a line that begins with `text`; NULL: the end of the connection. */
static void hear(struct client *c, const char *text)
{
	char byte;
	c->used = 0;
	while (next_byte(c, &byte) && byte != '\n' && c->used < sizeof c->line - 1)
		c->line[c->used++] = byte;
	c->line[c->used] = '\0';
	if (text == NULL)
		assert_int_equal(c->used, 0);
	else if (strncmp(c->line, text, strlen(text)) != 0)
		fail_msg("heard %s, not %s", c->line, text);
}

/* ---- a learner ---- */

static struct learner {
	struct sl_settings settings;
	struct sl_member members[2];
	struct sl_roster roster;
	struct sl_application_config config;
	struct sl_trainer *trainer;
	pthread_t opening, training;
	struct sl_training_request request;
	struct sl_training result;
	atomic_bool stop;
	atomic_uint progress;
	float model[N];
	int rc;
	char said[256];
} learner;

static void say(void *context, const char *text)
{
	size_t used = strlen(learner.said);
	(void)context;
	snprintf(learner.said + used, sizeof learner.said - used, "%s; ", strstr(text, "has"));
}

static void *open_learner(void *argument)
{
	(void)argument;
	assert_int_equal(sl_application_open(&learner.config, &learner.trainer, NULL), SL_OK);
	return NULL;
}

/* The learner and its first application. */
static void begin(struct client *c, const char *folder)
{
	learner = (struct learner){.settings = {.id = 3,
						.rounds = 2,
						.clipping_range = 16,
						.weighting = SL_WEIGHTING_SAMPLES,
						.max_weight = 100}};
	strcpy(learner.members[1].name, "clinic-c");
	learner.roster = (struct sl_roster){.members = learner.members, .size = 2};
	snprintf(learner.settings.application, sizeof learner.settings.application, "%s",
		 folder_path(folder, "a.sock"));
	learner.config = (struct sl_application_config){
		.settings = &learner.settings, .roster = &learner.roster, .self = 1, .say = say};
	pthread_create(&learner.opening, NULL, open_learner, NULL);
	client_open(c, folder);
	tell(c, JOIN);
	hear(c, "{\"type\":\"joined\",\"version\":1,\"learner\":3,\"name\":\"clinic-c\",\"learners\":2,"
		"\"rounds\":2,\"elements\":5,\"clipping_range\":16.0,\"weighted\":true}");
	pthread_join(learner.opening, NULL);
	assert_int_equal(sl_application_serve(learner.trainer, NULL), SL_OK);
	assert_int_equal(learner.trainer->ops->parameters(learner.trainer), N);
}

static void *train(void *argument)
{
	(void)argument;
	learner.rc = learner.trainer->ops->train(learner.trainer, &learner.request, learner.model,
						 &learner.result, NULL);
	return NULL;
}

static void train_begin(sl_round round)
{
	learner.request = (struct sl_training_request){
		.round = round, .stop = &learner.stop, .progress = &learner.progress};
	pthread_create(&learner.training, NULL, train, NULL);
}

static void train_end(float first, uint64_t weight)
{
	pthread_join(learner.training, NULL);
	assert_int_equal(learner.rc, SL_OK);
	assert_true(learner.model[0] == first);
	assert_int_equal(learner.result.samples, weight);
}

static void show(sl_round round, float value)
{
	float model[N] = {value, value, value, value, value};
	learner.trainer->ops->show(learner.trainer, &(struct sl_trainer_commit){round, 2, 70}, model);
}

static void end(struct client *c)
{
	client_close(c);
	learner.trainer->ops->close(learner.trainer);
}

TEST_WITH(a_run_of_two_rounds, folder_setup, folder_teardown)
{
	struct client c;
	struct stat st;
	begin(&c, *state);
	assert_int_equal(stat(folder_path(*state, "a.sock"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	for (sl_round t = 1; t <= 2; t++) {
		train_begin(t);
		hear(&c, t == 1 ? "{\"type\":\"train\",\"round\":1,\"committed\":0,\"again\":false}"
				: "{\"type\":\"train\",\"round\":2,\"committed\":1,\"again\":false}");
		c.up[0] = (float)t + 0.5f;
		tell(&c,
		     t == 1 ? "{\"type\":\"trained\",\"round\":1,\"weight\":50,\"metrics\":{\"loss\":2.5}}"
			    : "{\"type\":\"trained\",\"round\":2,\"weight\":100}");
		train_end((float)t + 0.5f, t == 1 ? 50 : 100);
		assert_true(learner.result.loss == (t == 1 ? 2.5 : 0));
		learner.trainer->ops->notice(learner.trainer, "waiting for ana");
		hear(&c, "{\"type\":\"waiting\",\"text\":\"waiting for ana\"}");
		show(t, (float)t);
		hear(&c, t == 1 ? "{\"type\":\"mean\",\"round\":1,\"learners\":2,\"total_weight\":70}"
				: "{\"type\":\"mean\",\"round\":2,\"learners\":2,\"total_weight\":70}");
		assert_true(c.down[N - 1] == (float)t);
	}
	hear(&c, "{\"type\":\"done\"}");
	end(&c);
	assert_int_equal(folder_count(*state), 0);
}

TEST_WITH(an_unusable_vector_is_refused_by_name, folder_setup, folder_teardown)
{
	struct client c;
	begin(&c, *state);
	train_begin(1);
	hear(&c, "{\"type\":\"train\"");
	c.up[3] = NAN;
	tell(&c, "{\"type\":\"trained\",\"round\":1}");
	hear(&c, "{\"type\":\"refused\",\"round\":1,\"text\":\"w[1,1] is not a finite number: the training "
		 "has diverged\"}");
	c.up[3] = 0;
	c.up[4] = -16.5f;
	tell(&c, "{\"type\":\"trained\",\"round\":1}");
	hear(&c, "{\"type\":\"refused\",\"round\":1,\"text\":\"b is -16.5, beyond clipping_range 16");
	c.up[4] = -16;
	tell(&c, "{\"type\":\"trained\",\"round\":1,\"weight\":0}");
	hear(&c, "{\"type\":\"refused\",\"round\":1,\"text\":\"the weight 0 is not within 1 and max_weight, "
		 "100\"}");
	tell(&c, "{\"type\":\"trained\",\"round\":1,\"weight\":101}");
	hear(&c, "{\"type\":\"refused\"");
	tell(&c, "{\"type\":\"trained\",\"round\":2}");
	hear(&c, "{\"type\":\"refused\",\"round\":2,\"text\":\"no vector is awaited for this round\"}");
	tell(&c, "{\"type\":\"trained\",\"round\":1}");
	train_end(0, 1);
	tell(&c, "{\"type\":\"trained\",\"round\":1}");
	hear(&c, "{\"type\":\"refused\",\"round\":1,\"text\":\"no vector is awaited");
	end(&c);
}

TEST_WITH(an_application_may_come_back, folder_setup, folder_teardown)
{
	struct client first, second, other;
	begin(&first, *state);
	client_open(&other, *state);
	hear(&other, "{\"type\":\"error\",\"text\":\"another application has joined this learner\"}");
	hear(&other, NULL);
	client_close(&other);
	train_begin(1);
	hear(&first, "{\"type\":\"train\"");
	client_close(&first);

	client_open(&other, *state);
	tell(&other, "{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[2,3]}]}");
	hear(&other, "{\"type\":\"error\",\"text\":\"tensor 1 is w [2,2] in this run, not w [2,3]\"}");
	client_close(&other);

	client_open(&second, *state);
	tell(&second, JOIN);
	hear(&second, "{\"type\":\"joined\"");
	hear(&second, "{\"type\":\"train\",\"round\":1,\"committed\":0,\"again\":false}");
	tell(&second, "{\"type\":\"trained\",\"round\":1}");
	train_end(0, 1);
	client_close(&second); /* while the round is aggregated: nothing is asked for */

	client_open(&second, *state);
	tell(&second, JOIN);
	hear(&second, "{\"type\":\"joined\"");
	train_begin(1); /* the model was invalidated */
	hear(&second, "{\"type\":\"train\",\"round\":1,\"committed\":0,\"again\":true}");
	tell(&second, "{\"type\":\"trained\",\"round\":1}");
	train_end(0, 1);
	client_close(&second);
	show(2, 1); /* and the next one was caught up with */

	client_open(&second, *state);
	tell(&second, JOIN);
	hear(&second, "{\"type\":\"joined\"");
	hear(&second, "{\"type\":\"mean\",\"round\":2");
	hear(&second, "{\"type\":\"done\"}");
	assert_true(second.down[0] == 1);
	end(&second);
	assert_true(strncmp(learner.said, "has joined; has left; has joined; has left; ", 44) == 0);
}

TEST_WITH(bad_lines_end_the_connection, folder_setup, folder_teardown)
{
	static const char *const cases[][2] = {
		{"hello", "expected one JSON object per line"},
		{"[]", "expected one JSON object per line"},
		{"{\"type\":\"trained\",\"round\":1}", "expected one JSON object per line: first join"},
		{"{\"type\":\"join\",\"version\":2}", "this learner speaks version 1 of the protocol, not 2"},
		{"{\"type\":\"join\",\"version\":1}", "the model has no elements"},
		{"{\"type\":\"join\",\"version\":1,\"tensors\":[]}", "the model has no elements"},
		{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[0]}]}",
		 "the model has no elements"},
		{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[1000000000]}]}",
		 "tensor w: the shape is a list of at most 8 lengths"},
		{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[40000,40000]}]}",
		 "a model has at most 268435455 elements"},
		{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"\",\"shape\":[1]}]}",
		 "a tensor needs a name of 1 to 63 bytes"},
		{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[-1]}]}",
		 "tensor w:"},
		{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"w\",\"shape\":[1]},{\"name\":"
		 "\"w\",\"shape\":[1]}]}",
		 "two tensors have the name w"},
		{"{\"type\":\"join\",\"version\":1,\"tensors\":[{\"name\":\"__metadata__\",\"shape\":[1]}]}",
		 "a tensor cannot have the name __metadata__"},
	};
	struct client c, bad;
	begin(&c, *state);
	tell(&c, JOIN);
	hear(&c, "{\"type\":\"error\",\"text\":\"joined twice\"}");
	hear(&c, NULL);
	client_close(&c);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char expected[256];
		snprintf(expected, sizeof expected, "{\"type\":\"error\",\"text\":\"%s", cases[i][1]);
		client_open(&bad, *state);
		tell(&bad, cases[i][0]);
		hear(&bad, expected);
		hear(&bad, NULL);
		client_close(&bad);
	}
	client_open(&c, *state);
	tell(&c, JOIN);
	hear(&c, "{\"type\":\"joined\"");
	end(&c);
}

TEST_WITH(a_line_without_an_end_is_not_kept, folder_setup, folder_teardown)
{
	struct client c, endless;
	static char bytes[1 << 16];
	begin(&c, *state);
	client_close(&c);
	client_open(&endless, *state);
	memset(bytes, ' ', sizeof bytes);
	size_t sent = 0;
	for (ssize_t n; sent < (8u << 20) && (n = send(endless.fd, bytes, sizeof bytes, MSG_NOSIGNAL)) > 0;)
		sent += (size_t)n;
	assert_true(sent < (8u << 20));
	client_close(&endless);
	client_open(&c, *state);
	tell(&c, JOIN);
	hear(&c, "{\"type\":\"joined\"");
	end(&c);
}

/* The leaving of one and the coming of the next are told apart, however fast they are. */
TEST_WITH(many_come_and_go, folder_setup, folder_teardown)
{
	struct client c;
	begin(&c, *state);
	for (int i = 0; i < 500; i++) {
		client_close(&c);
		client_open(&c, *state);
		tell(&c, JOIN);
		hear(&c, "{\"type\":\"joined\"");
	}
	end(&c);
}

/* A model that a crash may have left released is asked for as one that must differ. */
TEST_WITH(a_start_after_a_release_asks_again, folder_setup, folder_teardown)
{
	struct client c;
	begin(&c, *state);
	learner.request = (struct sl_training_request){
		.round = 1, .stop = &learner.stop, .progress = &learner.progress, .again = true};
	pthread_create(&learner.training, NULL, train, NULL);
	hear(&c, "{\"type\":\"train\",\"round\":1,\"committed\":0,\"again\":true}");
	tell(&c, "{\"type\":\"trained\",\"round\":1}");
	train_end(0, 1);
	end(&c);
}

TEST_WITH(a_stopped_learner_waits_no_longer, folder_setup, folder_teardown)
{
	struct client c;
	begin(&c, *state);
	train_begin(1);
	hear(&c, "{\"type\":\"train\"");
	atomic_store(&learner.stop, true);
	pthread_join(learner.training, NULL);
	assert_int_equal(learner.rc, SL_PENDING);
	end(&c);
}
