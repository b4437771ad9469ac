/* Evidence files: what is written is read back, and only a true contradiction under the true key is a proof.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "common/protocol/canonical.h"
#include "daemon/store/evidence.h"
#include "test/lib/folder.h"
#include "test/lib/test.h"

static const sl_id candidates[] = {2, 9};
static uint8_t secret[crypto_sign_SECRETKEYBYTES];

static void sign(struct sl_evidence *e, int k)
{
	uint8_t hash[SL_HASH_BYTES];
	sl_canonical_message(&e->scope, &e->records[k], hash);
	crypto_sign_detached(sl_message_role(&e->records[k], SL_ROLE_SIGNATURE), NULL, hash, sizeof hash,
			     secret);
}

static void sign_both(struct sl_evidence *e)
{
	sign(e, 0);
	sign(e, 1);
}

/* Two link states of learner 5 that differ in their candidates. */
static void make(struct sl_evidence *e)
{
	struct sl_link_state *ls = &e->records[0].link_state;
	*e = (struct sl_evidence){.run = "first", .scope.roster = {2}};
	sl_canonical_run(e->run, e->scope.run);
	crypto_sign_keypair(e->key, secret);
	e->records[0].kind = SL_MSG_LINK_STATE;
	*ls = (struct sl_link_state){.id = 5,
				     .t = 4,
				     .a = 2,
				     .incarnation = 1,
				     .roster_size = 9,
				     .count = 2,
				     .candidates = candidates};
	memcpy(ls->key, e->key, sizeof ls->key);
	ls->n = 7;
	e->records[1] = e->records[0];
	e->records[1].link_state.count = 1;
	sign_both(e);
}

static void same(struct sl_evidence *e)
{
	e->records[1] = e->records[0];
}

/* The same content under two signatures: the second is not even valid. */
static void two_signatures(struct sl_evidence *e)
{
	same(e);
	e->records[1].link_state.signature[0] ^= 1;
}

static void other_attempt(struct sl_evidence *e)
{
	e->records[1].link_state.a++;
	sign_both(e);
}

static void other_start(struct sl_evidence *e)
{
	e->records[1].link_state.incarnation++;
	sign_both(e);
}

static void other_signer(struct sl_evidence *e)
{
	e->records[1].link_state.id++;
	sign_both(e);
}

static void other_key(struct sl_evidence *e)
{
	e->key[0] ^= 1;
}

static void forged(struct sl_evidence *e)
{
	e->records[1].link_state.t = e->records[0].link_state.t = 5;
}

static void other_run(struct sl_evidence *e)
{
	snprintf(e->run, sizeof e->run, "second");
}

static void nothing(struct sl_evidence *e)
{
	(void)e;
}

static void hop_bytes(struct sl_evidence *e)
{
	e->records[1].link_state.hop_bytes++;
	sign_both(e);
}

/* Two Readys of learner 5 that differ in their deposits. */
static void readys(struct sl_evidence *e)
{
	e->kind = SL_EVIDENCE_TWO_READYS;
	e->records[0] = (struct sl_message){
		SL_MSG_READY, {.ready = {.id = 5, .t = 4, .a = 2, .view = {1}, .deposit = {2}}}};
	e->records[1] = e->records[0];
	e->records[1].ready.deposit[0]++;
	sign_both(e);
}

static void readys_of_two_attempts(struct sl_evidence *e)
{
	readys(e);
	e->records[1].ready.a++;
	sign_both(e);
}

/* A Ready of learner 5, and an Abort of the attempt that says that there is none. */
static void ready_and_abort(struct sl_evidence *e)
{
	readys(e);
	e->kind = SL_EVIDENCE_READY_AND_ABORT;
	e->records[1] = (struct sl_message){SL_MSG_ABORT,
					    {.abort = {.id = 5, .t = 4, .a = 2, .says = SL_ABORT_PROMISES}}};
	memcpy(e->records[1].abort.key, e->key, sizeof e->key);
	sign_both(e);
}

static void abort_that_names_it(struct sl_evidence *e)
{
	ready_and_abort(e);
	sl_canonical_message(&e->scope, &e->records[0], e->records[1].abort.ready);
	sign_both(e);
}

static void ready_and_give_up(struct sl_evidence *e)
{
	ready_and_abort(e);
	e->records[1].abort.says = SL_ABORT_UNSIGNED;
	e->records[1].abort.ready[0] = 1;
	sign_both(e);
}

static void expect(const char *folder, void (*spoil)(struct sl_evidence *e), const char *flaw,
		   const char *differ)
{
	struct sl_evidence made, e;
	struct sl_error error = {0};
	char name[SL_EVIDENCE_FILE_BYTES], path[256], fields[256] = "";
	make(&made);
	spoil(&made);
	assert_int_equal(sl_evidence_kind(made.records), made.kind);
	assert_int_equal(sl_evidence_write(folder, &made, name, &error), SL_OK);
	snprintf(path, sizeof path, "%s/%s", folder, name);
	assert_int_equal(sl_evidence_read(path, &e, &error), SL_OK);
	int rc = sl_evidence_check(&e, &error);
	if ((rc == SL_OK) != (flaw == NULL) || (flaw != NULL && strstr(error.text, flaw) == NULL))
		fail_msg("wanted %s, got %s", flaw == NULL ? "a proof" : flaw, error.text);
	if (flaw == NULL) {
		assert_string_equal(name, "evidence-5-round-000004-attempt-2.json");
		assert_int_equal(sl_evidence_signer(&e), 5);
		assert_int_equal(sl_evidence_round(&e), 4);
		assert_int_equal(sl_evidence_attempt(&e), 2);
		sl_evidence_differences(&e, fields, sizeof fields);
		assert_string_equal(fields, differ);
	}
	sl_evidence_close(&e);
}

static int prepare(void **state)
{
	(void)state;
	return sodium_init() < 0;
}
TEST_SETUP(prepare, NULL)

TEST_WITH(only_a_contradiction_is_a_proof, folder_setup, folder_teardown)
{
	static const struct {
		void (*spoil)(struct sl_evidence *e);
		const char *flaw, *differ;
	} cases[] = {
		{nothing, NULL, "candidates"},
		{hop_bytes, NULL, "hop_bytes, candidates"},
		{same, "both records say the same", NULL},
		{two_signatures, "a signature is wrong", NULL},
		{other_attempt, "an honest learner may sign both", NULL},
		{other_start, "an honest learner may sign both", NULL},
		{other_signer, "different signers", NULL},
		{other_key, "shows another key", NULL},
		{forged, "a signature is wrong", NULL},
		{other_run, "a signature is wrong", NULL},
		{readys, NULL, "deposit"},
		{readys_of_two_attempts, "an honest learner may sign both", NULL},
		{ready_and_abort, NULL, ""},
		{abort_that_names_it, "an honest learner may sign both", NULL},
		{ready_and_give_up, NULL, ""},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		expect(*state, cases[i].spoil, cases[i].flaw, cases[i].differ);
}

TEST_WITH(damaged_files_are_no_evidence, folder_setup, folder_teardown)
{
	static const char *const damages[][2] = {
		{"", "not an evidence file"},
		{"[]", "\"format\""},
		{"{\"format\": \"starling evidence 2\"}", "\"format\""},
		{"{\"format\": \"starling evidence 1\", \"kind\": \"x\"}", "\"kind\""},
		{"{\"format\": \"starling evidence 1\", \"kind\": \"two link states\"}", "run"},
		{"{\"format\": \"starling evidence 1\", \"kind\": \"two link states\", \"run\": \"r\", "
		 "\"key\": \"0\"}",
		 "\"roster\" or no \"key\""},
	};
	struct sl_evidence e;
	struct sl_error error;
	char path[256];
	snprintf(path, sizeof path, "%s/e.json", (const char *)*state);
	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		FILE *file = fopen(path, "we");
		assert_non_null(file);
		fputs(damages[i][0], file);
		fclose(file);
		assert_int_equal(sl_evidence_read(path, &e, &error), SL_ERR_FORMAT);
		assert_non_null(strstr(error.text, damages[i][1]));
		sl_evidence_close(&e);
	}
	for (off_t more = 0; more <= 1; more++) {
		assert_int_equal(truncate(path, 4 * SL_CONTROL_BYTES_MAX + 4096 + more), 0);
		assert_int_equal(sl_evidence_read(path, &e, &error), SL_ERR_FORMAT);
		assert_int_equal(strstr(error.text, "it is larger than") != NULL, more);
		sl_evidence_close(&e);
	}
	snprintf(path, sizeof path, "%s/nowhere/e.json", (const char *)*state);
	assert_int_equal(sl_evidence_read(path, &e, &error), SL_ERR_IO);
	sl_evidence_close(&e);
	assert_int_equal(sl_evidence_read(*state, &e, &error), SL_ERR_IO);
	assert_non_null(strstr(error.text, ": Is a directory"));
	sl_evidence_close(&e);
	make(&e);
	char name[SL_EVIDENCE_FILE_BYTES];
	snprintf(path, sizeof path, "%s/nowhere", (const char *)*state);
	assert_int_equal(sl_evidence_write(path, &e, name, &error), SL_ERR_IO);
}

/* A learner that lies for ever does not fill the disk, nor hide what another one does. */
TEST_WITH(as_many_files_as_prove_enough, folder_setup, folder_teardown)
{
	struct sl_evidence e;
	struct sl_error error;
	char name[SL_EVIDENCE_FILE_BYTES];
	make(&e);
	for (sl_round t = 1; t <= SL_EVIDENCE_FILES + 1; t++) {
		e.records[0].link_state.t = e.records[1].link_state.t = t;
		int code = t <= SL_EVIDENCE_FILES ? SL_OK : SL_ERR_REFUSED;
		assert_int_equal(sl_evidence_write(*state, &e, name, &error), code);
	}
	assert_non_null(strstr(error.text, ": 100 files of its evidence are there"));
	e.records[0].link_state.id = e.records[1].link_state.id = 50;
	assert_int_equal(sl_evidence_write(*state, &e, name, &error), SL_OK);
	assert_int_equal(folder_count(*state), SL_EVIDENCE_FILES + 1);
}

/* Every bit of a payload is covered: a file with one digit changed proves nothing. */
TEST_WITH(every_digit_counts, folder_setup, folder_teardown)
{
	struct sl_evidence e;
	struct sl_error error;
	char name[SL_EVIDENCE_FILE_BYTES], path[256], text[8192];
	make(&e);
	assert_int_equal(sl_evidence_write(*state, &e, name, &error), SL_OK);
	snprintf(path, sizeof path, "%s/%s", (const char *)*state, name);
	FILE *file = fopen(path, "r+e");
	size_t size = fread(text, 1, sizeof text - 1, file);
	text[size] = '\0';
	const char *payload = strstr(text, "\"payload\": \"") + strlen("\"payload\": \"");
	for (const char *digit = payload; *digit != '"'; digit++) {
		fseek(file, digit - text, SEEK_SET);
		fputc(*digit == '0' ? '1' : '0', file);
		fflush(file);
		bool proof =
			sl_evidence_read(path, &e, &error) == SL_OK && sl_evidence_check(&e, &error) == SL_OK;
		sl_evidence_close(&e);
		assert_false(proof);
		fseek(file, digit - text, SEEK_SET);
		fputc(*digit, file);
	}
	fclose(file);
}
