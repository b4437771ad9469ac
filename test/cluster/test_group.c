/* A group made by `starling group create`, `join` and `admit` alone, on machines that are folders here: no
 * file is copied or edited. Learners come and go, and a key is renewed, while rounds go on. Then all that can
 * be wrong when a learner joins, each with its one line. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/cluster/group.h"
#include "tools/lib/ports.h"

/* Let the roster have another key of learner i, which is not on the admin's machine. */
static void begin_rotation(struct cluster *c, uint32_t i)
{
	char arguments[160], path[PATH_MAX + 32];
	snprintf(arguments, sizeof arguments, "exec " STARLING_PATH " group rotate --folder learner-%02u", i);
	snprintf(path, sizeof path, "%s/rotate-%02u", c->run.path, i);
	pid_t pid = process_start(c->run.path, path, path,
				  (const char *const[]){"/bin/sh", "-ec", arguments, NULL});
	assert_true(process_expect(path, "Waiting for the admin of ward to run: starling admit", NULL));
	snprintf(arguments, sizeof arguments, "admit learner-%02u --folder learner-01", i);
	group_done(c, arguments);
	assert_int_equal(process_wait(pid), 0);
}

static void rotate(struct cluster *c, uint32_t i)
{
	begin_rotation(c, i);
	cluster_expect(c, i, "a round has committed under the new key: the old one is deleted");
}

CLUSTER_TEST(created_joined_changed_in_mid_run)
{
	group_create(c, 4, "--members 3 --set quorum=all");
	group_join(c, 2);
	group_join(c, 3);
	group_all_rounds(c, 3, 5);
	group_join(c, 4);
	cluster_expect(c, 4, "committed: 4 learners");
	group_all_rounds(c, 4, 2);
	rotate(c, 2);
	group_done(c, "group rotate --folder learner-01");
	cluster_expect(c, 1, "a round has committed under the new key: the old one is deleted");
	group_done(c, "group remove learner-03 --folder learner-01");
	assert_int_equal(cluster_wait(c, 3), 2); /* it says that it was removed */
	group_all_rounds(c, 4, 2);
	cluster_stop(c);
	assert_true(cluster_expect_exact(c) >= 7);
	for (uint32_t i = 1; i <= 2; i++) /* no round is missed with a new key */
		assert_int_equal(cluster_committed(c, i), cluster_last_round(c, i));
}

CLUSTER_TEST(admitted_without_a_question)
{
	group_create(c, 4, "--members 3 --auto-admit 2");
	pid_t second = group_begin_join(c, 2), third = group_begin_join(c, 3);
	group_end_join(c, 2, second);
	group_end_join(c, 3, third);
	group_all_rounds(c, 3, 2);
	assert_int_not_equal(process_wait(group_begin_join(c, 4)), 0);
	group_said(c, 4, "the invitation was used before");
	c->run.learners = 3;
	cluster_stop(c);
	assert_true(cluster_expect_exact(c) >= 2);
}

/* While learner 3 is away, both others get other keys: it has no link any more, and asks for the roster. */
CLUSTER_TEST(away_while_all_keys_changed)
{
	group_create(c, 3, "--members 9");
	group_join(c, 2);
	group_join(c, 3);
	cluster_signal(c, 3, SIGKILL);
	group_done(c, "group rotate --folder learner-01");
	begin_rotation(c, 2);
	cluster_start(c, 3, "");
	group_done(c, "group update --folder learner-03");
	cluster_shell(c, "grep -q 'version 5' learner-03/roster.yaml");
	cluster_stop(c);
}

/* The same without a command: it asks by itself after 30 s. */
CLUSTER_TEST_NIGHTLY(asks_when_it_has_no_links)
{
	group_create_all(c, 4, 4, "");
	cluster_end(c, 4);
	rotate(c, 2);
	rotate(c, 3);
	group_done(c, "group rotate --folder learner-01");
	cluster_expect(c, 1, "a round has committed under the new key: the old one is deleted");
	cluster_start(c, 4, "");
	group_rounds(c, 4, 2);
	cluster_stop(c);
}

/* A copy of learner 2 runs as machine 4 and has its links. Learner 2 gets another key, and takes part again;
 * the copy is told the roster, and ends. */
CLUSTER_TEST(another_key_beside_a_copy)
{
	char listen[64];
	group_create_all(c, 4, 3, "");
	cluster_signal(c, 2, SIGKILL);
	cluster_shell(c, "cp -r learner-02 learner-04");
	snprintf(listen, sizeof listen, "listen=127.0.0.1:%u", c->ports[3]);
	cluster_start(c, 4, listen);
	cluster_expect(c, 4, "the state folder is a copy: ");
	group_rounds(c, 4, 1);
	cluster_start(c, 2, "");
	cluster_expect(c, 2, "start number 2 of this learner");
	rotate(c, 2);
	assert_int_equal(cluster_wait(c, 4), 2);
	assert_int_equal(cluster_count(c, 4, "\"level\":\"error\""), 1);
	assert_int_equal(
		cluster_count(c, 4, "pins another key than the one in identity: either that key was renewed"),
		1);
	group_all_rounds(c, 3, 2);
	cluster_stop(c);
}

/* Learner 2 dies in an attempt, and learner 3 is removed. Learner 2 has the roster without it when it comes
 * back, and ends the attempt under the roster of five. */
CLUSTER_TEST(removed_while_another_was_in_an_attempt)
{
	group_create_all(c, 5, 5, "--set stall_timeout=4");
	group_die_in_attempt(c, 2);
	group_done(c, "group remove learner-03 --folder learner-01");
	assert_int_equal(cluster_wait(c, 3), 2);
	cluster_expect(c, 1, "committed: 3 learners");
	cluster_shell(c, "cp learner-01/roster.yaml learner-02/");
	cluster_start(c, 2, "");
	cluster_expect(c, 2, "\"event\":\"past_roster\"");
	group_all_rounds(c, 5, 2);
	cluster_stop(c);
}

/* A second change waits until a round has committed under the first one. */
CLUSTER_TEST(one_change_between_two_rounds)
{
	group_create_all(c, 4, 3, "");
	for (uint32_t i = 2; i <= 3; i++) {
		cluster_end(c, i);
	}
	pid_t fourth = group_begin_join(c, 4);
	group_said(c, 4, "Waiting for the admin of ward to run: starling admit");
	group_done(c, "admit learner-04 --folder learner-01");
	cluster_end(c, 1);
	cluster_start(c, 1, "");
	assert_int_equal(process_wait(fourth), 0);
	group_refused(c, "group remove learner-02 --folder learner-01 --no-wait", 1,
		      "of the roster cannot be signed yet: no round has committed since the last "
		      "change of the roster");
	cluster_shell(c, "ln -s starlingd.yaml learner-04/config.yaml");
	group_done(c, "group update --folder learner-02"); /* otherwise they take it after 30 s */
	group_done(c, "group update --folder learner-03");
	for (uint32_t i = 2; i <= 4; i++)
		cluster_start(c, i, "");
	group_done(c, "group rotate --folder learner-01");
	group_all_rounds(c, 4, 1);
	cluster_stop(c);
}

/* ---- several admins ---- */

/* Print in the run folder what `starling group sign` of machine i says to the proposal of machine `author`.
 */
static void sign(const struct cluster *c, uint32_t i, uint32_t author)
{
	char arguments[160];
	snprintf(arguments, sizeof arguments,
		 "group sign learner-%02u/proposal.yaml --yes --folder learner-%02u >said", author, i);
	group_done(c, arguments);
}

/* Have learners 1, 2 and 3 as admins, of whom two must sign. */
static void make_three_admins(struct cluster *c)
{
	group_create_all(c, 4, 3, "");
	group_done(c, "group admins --key --folder learner-02 >key-2");
	group_done(c, "group admins --key --folder learner-03 >key-3");
	group_refused(c, "group remove learner-03 --folder learner-02", 2,
		      "the admin key of this machine does not belong to an admin of group ward");
	group_refused(c, "group admins --add $(cat key-2) --add $(cat key-3) --folder learner-01", 2,
		      "of 3 admins, 1 cannot be required to sign: it must be more than half of them");
	group_refused(c, "group admins --add $(cat learner-02/admin.key) --folder learner-01", 2,
		      "not the public key of an admin");
	group_done(
		c,
		"group admins --add $(cat key-2) --add $(cat key-3) --required 2 --folder learner-01 >said");
	group_printed(c, "Signed, so that 2 of 3 admins must sign; needs 1 more signature: send ");
	group_printed(c, "learner-01/proposal.yaml to another admin, who runs: starling group sign FILE");
	sign(c, 2, 1);
	group_printed(c, "  2 of 3 admins must sign, not 1 of 1\nSigned; it is in force; version ");
	group_all_rounds(c, 3, 2);
}

/* What `group sign` refuses, of the proposal of learner 1 that needs one more signature. */
static void expect_not_signed(const struct cluster *c)
{
	group_refused(c, "group sign learner-01/proposal.yaml --yes --folder learner-01", 2,
		      "this admin has signed it already, and 1 more must: send it to another admin");
	group_refused(c, "group rotate --folder learner-01", 2,
		      "this admin has signed another proposal of version ");
	cluster_shell(c, "sed s/127.0.0.1/127.0.0.2/ learner-01/proposal.yaml >changed");
	group_refused(c, "group sign changed --yes --folder learner-02", 2,
		      "changed: was changed after admin:");
	group_refused(c, "group sign learner-01/proposal.yaml --folder learner-02 </dev/null", 2,
		      "nothing is signed; to sign it without a question, give --yes");
	group_refused(c, "group sign learner-01/proposal.yaml --yes --folder learner-04", 2, "learner-04");
	group_refused(c, "group invite --auto-admit --folder learner-01", 2,
		      "--auto-admit is not possible: 2 admins of group ward must sign");
}

CLUSTER_TEST(two_of_three_admins)
{
	make_three_admins(c);
	pid_t fourth = group_begin_join(c, 4);
	group_said(c, 4, "Waiting for the admin of ward to run: starling admit");
	group_done(c, "admit learner-04 --folder learner-01 >said");
	group_printed(c, "Signed, to admit learner-04; needs 1 more signature: send ");
	expect_not_signed(c);
	cluster_shell(c, "cp learner-01/proposal.yaml old; ! grep learner-04 learner-0[123]/roster.yaml");
	sign(c, 3, 1);
	group_printed(c, "  added: learner-04 (4), 127.0.0.1:");
	group_end_join(c, 4, fourth);
	cluster_expect(c, 4, "committed: 4 learners");
	group_all_rounds(c, 4, 2);
	group_refused(c, "group sign old --yes --folder learner-02", 2,
		      "old: is in force already; nothing is left to sign");
	cluster_shell(c, "! ls learner-01/waiting | grep .; ls learner-01/proposal.yaml && ! ls "
			 "learner-03/proposal.yaml");
	group_done(c, "group set quorum all --folder learner-01 >said");
	group_printed(c, "Signed, to change quorum: all; needs 1 more signature: send ");
	sign(c, 2, 1);
	group_printed(c, "  setting: quorum: \"all\"\nSigned; it is in force; version ");
	group_all_rounds(c, 4, 1);
	group_done(c, "group rotate --folder learner-01");
	sign(c, 2, 1);
	group_printed(c, "  new key: learner-01 (1) has sha256:");
	cluster_expect(c, 1, "a round has committed under the new key: the old one is deleted");
	cluster_stop(c);
	assert_true(cluster_expect_exact(c) >= 5);
}

/* ---- what can be wrong ---- */

#define JOIN "join - --name x --address 127.0.0.1:1 --folder x <invitation"

CLUSTER_TEST(wrong_invitations)
{
	group_create(c, 4, "--members 9");
	cluster_shell(c, "tr A-Y B-Z <invitation >mistyped");
	group_refused(c, "join - --folder x <mistyped", 2,
		      "the invitation was cut or mistyped; copy the whole line that begins with starling1-");
	group_refused(c, "join \"$(head -c 40 invitation)\" --folder x", 2, "was cut or mistyped");
	group_join(c, 2);
	cluster_shell(c, "cp -r learner-01/invitations kept");
	group_done(c, "group invite --expires 1s --folder learner-01 >expired");
	group_done(c, "group invite --folder learner-01 >withdrawn");
	sleep(2);
	group_refused(c, "join - --name x --address 127.0.0.1:1 --folder x <expired", 2,
		      "the invitation has expired; ask the admin for another one: starling group invite");
	group_done(c, "group invite --withdraw --folder learner-01");
	group_refused(c, "join - --name x --address 127.0.0.1:1 --folder x <withdrawn", 2,
		      "does not know this invitation: it was withdrawn, or expired long ago, or its file is "
		      "damaged (the log there says so), or that machine was "
		      "restored from a backup; ask the admin for "
		      "another one");
	group_done(c, "group invite --folder learner-01 >invitation");
	pid_t third = group_begin_join(c, 3);
	group_said(c, 3, "Waiting for the admin");
	group_refused(c, JOIN, 2, "the invitation was used before, by another learner");
	group_done(c, "admit learner-03 --refuse --folder learner-01");
	assert_int_equal(process_wait(third), 2);
	group_said(c, 3, "it was withdrawn");
	cluster_stop(c);
	cluster_shell(c, "! grep -l starling1-B learner-*/log.jsonl join-*; "
			 "for s in $(sed -n 's/^secret: \"\\(.*\\)\"/\\1/p' kept/*); do "
			 "! grep -l $s learner-*/log.jsonl join-* || exit 1; done");
}

#if defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Three years behind. The sanitizer wants to be loaded first. */
static void expect_wrong_clock(const struct cluster *c)
{
	if (SANITIZED)
		return;
	setenv("LD_PRELOAD", OTHER_CLOCK_PATH, 1);
	setenv("OTHER_CLOCK_S", "-94608000", 1);
	group_refused(c, JOIN, 2, "(UTC): set the wrong one, with timedatectl set-ntp true, and try again");
	unsetenv("LD_PRELOAD");
	unsetenv("OTHER_CLOCK_S");
}

CLUSTER_TEST(wrong_machines)
{
	char arguments[512];
	group_create(c, 4, "--members 9");
	group_join(c, 2);
	group_refused(c,
		      "join - --name learner-02 --address 127.0.0.1:1 --folder x --timeout 600 <invitation",
		      2, "another learner is called learner-02; choose a name with --name");
	snprintf(arguments, sizeof arguments, "join - --name x --address 127.0.0.1:%u --folder x <invitation",
		 c->ports[1]);
	group_refused(c, arguments, 1,
		      "of this machine is in use by another program; choose another one with --address");
	cluster_shell(c, "mkdir twin; cp -r learner-02/identity twin/");
	group_refused(c, "join - --name twin --address 127.0.0.1:1 --folder twin <invitation", 2,
		      "the group has the key of this machine under another name");
	cluster_shell(c, "mkdir open; cp -r learner-02/identity open/; chmod 640 open/identity/key.pem");
	group_refused(c, "join - --name open --address 127.0.0.1:1 --folder open <invitation", 2,
		      "lets others read the secret key; run chmod 600");
	group_refused(c, "join - --name x --address 127.0.0.1:1 --folder learner-02 <invitation", 2,
		      "; start its learner: starlingd --config");
	expect_wrong_clock(c);
	snprintf(arguments, sizeof arguments,
		 "group invite --address 127.0.0.1:1,127.0.0.1:%u --folder learner-01 >invitation",
		 c->ports[0]);
	group_done(c, arguments);
	group_join(c, 3);
	cluster_expect(c, 3, "\"event\":\"forming\"");
	cluster_stop(c);
	group_refused(c, "join - --name x --address 127.0.0.1:1 --folder x --timeout 1 <invitation", 1,
		      "the inviting machine cannot be reached; does starlingd run there");
	assert_int_equal(cluster_count(c, 1, "\"level\":\"error\""), 0);
}

/* The admin names another address of a learner, which takes it up and listens there. */
CLUSTER_TEST(another_address)
{
	char arguments[256], taken[64];
	group_create(c, 4, "--members 9");
	group_join(c, 2);
	group_refused(c, "group address nobody 127.0.0.1:1 --folder learner-01", 2,
		      "group ward has no learner nobody; 'starling group list' shows them");
	group_refused(c, "group address learner-02 127.0.0.1 --folder learner-01", 2,
		      "'127.0.0.1' is not an address; expected HOST:PORT or [IPV6]:PORT");
	group_refused(c, "group address learner-02 --folder learner-01", 2, "no address given");
	group_refused(c, "group address learner-02 127.0.0.1:1 --folder learner-02", 2, "has no admin key");
	snprintf(arguments, sizeof arguments, "group address learner-02 127.0.0.1:%u --folder learner-01",
		 c->ports[0]);
	snprintf(taken, sizeof taken, "learner learner-01 (1) has the address 127.0.0.1:%u", c->ports[0]);
	group_refused(c, arguments, 2, taken);
	snprintf(arguments, sizeof arguments, "group address learner-02 127.0.0.1:%u --folder learner-01",
		 c->ports[3]);
	group_done(c, arguments);
	snprintf(taken, sizeof taken, "listening on 127.0.0.1:%u;", c->ports[3]);
	cluster_expect(c, 2, taken);
	snprintf(arguments, sizeof arguments,
		 "group update --address 127.0.0.1:1,127.0.0.1:%u --folder learner-02", c->ports[0]);
	group_done(c, arguments);
	group_done(c, "group invite --address '[ff02::1]:7400' --folder learner-01 >invitation");
	group_refused(c, JOIN " --timeout 1", 1,
		      "[ff02::1]:7400: this machine has no IPv6 route to it; that learner needs an IPv4 "
		      "address in the roster, too: the inviting machine cannot be reached");
	cluster_stop(c);
}

/* A second group of the same name on machine 4, and one of another name on machine 3. */
static void create_others(struct cluster *c)
{
	char arguments[512];
	for (uint32_t i = 3; i <= 4; i++) {
		snprintf(arguments, sizeof arguments,
			 "group create %s --learner learner-%02u --address 127.0.0.1:%u --folder "
			 "learner-%02u " GROUP_OWN " >other",
			 i == 3 ? "lab" : "ward", i, c->ports[i - 1], i);
		group_done(c, arguments);
		snprintf(arguments, sizeof arguments, "ln -s starlingd.yaml learner-%02u/config.yaml", i);
		cluster_shell(c, arguments);
		cluster_start(c, i, "");
		cluster_expect(c, i, "\"event\":\"forming\"");
	}
}

static void invite_to(struct cluster *c, uint32_t i)
{
	char arguments[256];
	snprintf(arguments, sizeof arguments,
		 "group invite --address 127.0.0.1:%u --folder learner-01 >invitation; mkdir -p "
		 "learner-%02u/invitations; "
		 "cp learner-01/invitations/* learner-%02u/invitations/",
		 c->ports[i - 1], i, i);
	group_done(c, arguments);
}

/* Machine 4 lists the admin of the invitation beside two of its own, which sign. */
static void expect_made_up_roster(struct cluster *c)
{
	cluster_shell(
		c, "mkdir twin; cp -r learner-04/starlingd.yaml learner-04/roster.yaml learner-04/identity "
		   "learner-03/admin.key twin/");
	group_done(c, "group admins --folder learner-01 | sed -n 's/  \\(admin:[0-9a-f]*\\).*/\\1/p' >key-1");
	group_done(c, "group admins --key --folder twin >key-2");
	group_done(c, "group admins --add $(cat key-1) --add $(cat key-2) --required 2 --folder learner-04");
	group_done(c, "group sign learner-04/proposal.yaml --yes --folder twin");
	cluster_shell(c, "cp twin/roster.yaml learner-04/");
	invite_to(c, 4);
	pid_t pid = group_begin_join(c, 2);
	group_said(c, 2, "Waiting for the admin of ward to run: starling admit");
	group_done(c, "admit learner-02 --folder learner-04");
	group_done(c, "group sign learner-04/proposal.yaml --yes --folder twin");
	cluster_shell(c, "cp twin/roster.yaml learner-04/");
	assert_int_equal(process_wait(pid), 2);
	group_said(c, 2,
		   "the admin that the invitation names has not signed it: it may come from an impostor");
	cluster_shell(c, "rm -r learner-02 join-02");
}

/* The other end knows the invitation, and is not what the invitation says. */
CLUSTER_TEST(impostors)
{
	group_create(c, 4, "--members 9");
	create_others(c);
	invite_to(c, 3);
	group_refused(c, JOIN, 2,
		      "is a learner of another group than ward; ask the admin for the right address");
	invite_to(c, 4);
	group_refused(
		c, JOIN, 2,
		"answers with a roster without the admin that the invitation names: it may be an impostor");
	expect_made_up_roster(c);
	/* a learner that was removed and does not know it yet */
	group_done(c, "group invite --folder learner-01 >invitation");
	group_join(c, 2);
	cluster_expect(c, 2, "\"event\":\"forming\"");
	cluster_signal(c, 1, SIGKILL);
	group_done(c, "group remove learner-02 --folder learner-01");
	cluster_shell(c, "cp learner-01/roster.yaml learner-02/");
	invite_to(c, 2);
	group_refused(c, JOIN, 2, "answers with a key that is not in the roster of ward");
	cluster_stop(c);
}
