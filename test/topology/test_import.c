/* What others recorded, as schedules: the readers of edge lists and movements, and where nodes are when. */
#include "test/config/settings_folder.h"
#include "test/lib/test.h"
#include "test/topology/schedules.h"

#include <math.h>

#include "tools/topology/import_parts.h"

struct world { /* what a test reads into */
	struct sl_import_text text;
	struct sl_error error;
	struct sl_import_names *names;
	struct sl_import_tracks *tracks;
	struct sl_contacts contacts;
};

static struct sl_import_names names;
static struct sl_import_tracks tracks;
static struct world world = {.names = &names, .tracks = &tracks}, *const w = &world;

static void empty(void)
{
	sl_import_text_close(&w->text);
	sl_import_tracks_close(w->tracks);
	free(w->contacts.contact);
	memset(w->names, 0, sizeof *w->names);
	memset(w->tracks, 0, sizeof *w->tracks);
	w->contacts = (struct sl_contacts){0};
	w->error = (struct sl_error){0};
}

static int leave(void **state)
{
	empty();
	return folder_leave(state);
}

static int read_bytes(const void *bytes, size_t count)
{
	FILE *file = fopen("f", "we");
	assert_true(file != NULL && fwrite(bytes, 1, count, file) == count && fclose(file) == 0);
	empty();
	return sl_import_text_read(&w->text, "f", SL_IMPORT_BYTES_MAX, &w->error);
}

/* Starts anew with a text of its own. */
static void say(const char *text)
{
	if (read_bytes(text, strlen(text)) != SL_OK)
		fail_msg("%s", w->error.text);
}

#define SUCCEEDS(call)                                                                                       \
	do {                                                                                                 \
		if ((call) != SL_OK)                                                                         \
			fail_msg("%s", w->error.text);                                                       \
	} while (0)

/* Read the text as a file of the format. */
static int read_as(enum sl_import_format format, const struct sl_import_request *request, const char *text)
{
	say(text);
	return format == SL_IMPORT_EDGES ? sl_import_edges(&w->text, request, 4, w->names, &w->contacts)
	       : format == SL_IMPORT_NS2 ? sl_import_ns2(&w->text, w->names, w->tracks)
					 : sl_import_bonnmotion(&w->text, w->names, w->tracks);
}

static void moves(enum sl_import_format format, const char *text)
{
	SUCCEEDS(read_as(format, NULL, text));
}

/* Expect an error for each pair of a text and its error, up to NULL. */
static void faults_are(enum sl_import_format format, const struct sl_import_request *request,
		       const char *const (*faults)[2])
{
	for (; (*faults)[0] != NULL; faults++) {
		assert_int_equal(read_as(format, request, (*faults)[0]), SL_ERR_FORMAT);
		assert_string_equal(w->error.text, (*faults)[1]);
	}
}

/* ---- text ---- */

TEST_WITH(test_lines, folder_enter, leave)
{
	say("\xef\xbb\xbf"
	    "a\r\n\nb\tc\nlast");
	assert_string_equal(sl_import_text_line(&w->text), "   a ");
	assert_string_equal(sl_import_text_line(&w->text), "");
	assert_string_equal(sl_import_text_line(&w->text), "b\tc");
	assert_int_equal(w->text.line, 3);
	assert_string_equal(sl_import_text_line(&w->text), "last");
	assert_null(sl_import_text_line(&w->text));
	say("");
	assert_null(sl_import_text_line(&w->text));
}

TEST_WITH(test_a_copy_reads_the_same_lines, folder_enter, leave)
{
	say("a\r\n\nb\n");
	struct sl_import_text copy = w->text;
	while (sl_import_text_line(&copy) != NULL)
		;
	assert_string_equal(sl_import_text_line(&w->text), "a ");
	assert_string_equal(sl_import_text_line(&w->text), "");
	assert_string_equal(sl_import_text_line(&w->text), "b");
	assert_null(sl_import_text_line(&w->text));
}

TEST_WITH(test_what_is_no_text, folder_enter, leave)
{
	static const struct {
		const char *bytes;
		size_t count;
		const char *error;
	} cases[] = {
		{"a\nb\0c", 5, "f:2: a byte 0x00: not a text file"},
		{"\x1b[2J", 4, "f:1: a byte 0x1b: not a text file"},
		{"a\n\n\x7f", 4, "f:3: a byte 0x7f: not a text file"},
		{"caf\xc3\xa9 \xc2\x9b", 8, "f:1: a byte 0xc2: not a text file"},
		{"\x1f\x8c\x08", 3, "f:1: a byte 0x1f: not a text file"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(read_bytes(cases[i].bytes, cases[i].count), SL_ERR_FORMAT);
		assert_string_equal(w->error.text, cases[i].error);
		assert_null(w->text.bytes);
	}
	SUCCEEDS(read_bytes("caf\xc3\xa9 \xc2\xa0\xc2", 8));
}

TEST_WITH(test_a_file_has_a_limit, folder_enter, leave)
{
	folder_put("ten", "0123456789");
	assert_int_equal(sl_import_text_read(&w->text, "ten", 9, &w->error), SL_ERR_FORMAT);
	assert_non_null(strstr(w->error.text, ": more than 0 MB of text"));
	SUCCEEDS(sl_import_text_read(&w->text, "ten", 10, &w->error));
	assert_string_equal(sl_import_text_line(&w->text), "0123456789");
}

TEST_WITH(test_numbers, folder_enter, leave)
{
	static const char *const bad[] = {"",	  "nan",   "NaN",  "inf",   "-inf", "infinity",
					  "0x10", "1e400", "1e10", "-1e10", "1,5",  "1.2.3",
					  "--1",  "1e",	   "e",	   ".",	    "+",    "1 "};
	double value;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (sl_import_text_number(bad[i], 1e9, &value))
			fail_msg("\"%s\" is a number", bad[i]);
	assert_true(sl_import_text_number("-1e9", 1e9, &value) && value == -1e9);
	assert_true(sl_import_text_number("+.5E-1", 1e9, &value) && value == 0.05);
	assert_true(sl_import_text_number("007", 1e9, &value) && value == 7);
	assert_true(sl_import_text_number("1e-400", 1e9, &value) && value >= 0);
}

/* ---- names ---- */

static void sorted_are(const char *given, const char *expected)
{
	char got[256] = "", copy[256];
	uint32_t index, vertex[SL_LEARNERS_MAX];
	empty();
	snprintf(copy, sizeof copy, "%s", given);
	for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " "))
		assert_int_equal(sl_import_names_index(w->names, word, strlen(word), &index), SL_OK);
	sl_import_names_sort(w->names, vertex);
	for (uint32_t i = 0; i < w->names->count; i++)
		snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i == 0 ? "" : " ",
			 w->names->name[i]);
	assert_string_equal(got, expected);
}

TEST_WITH(test_names_in_order, folder_enter, leave)
{
	sorted_are("10 9 0 100 2 10", "0 2 9 10 100");
	sorted_are("10 -9 0 -100 2", "-100 -9 0 2 10");
	sorted_are("99999999999999999999999 100000000000000000000000 007 7 8",
		   "007 7 8 99999999999999999999999 100000000000000000000000");
	sorted_are("b 10 9 a Z", "10 9 Z a b"); /* one word among them: bytes */
	sorted_are("1.5 10 9", "1.5 10 9");
}

TEST_WITH(test_a_name_finds_its_learner, folder_enter, leave)
{
	uint32_t index, vertex[SL_LEARNERS_MAX];
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(sl_import_names_index(w->names, &"c a b"[2 * i], 1, &index), SL_OK);
	assert_int_equal(sl_import_names_index(w->names, "a", 1, &index), SL_OK);
	assert_int_equal(index, 1);
	sl_import_names_sort(w->names, vertex);
	assert_true(vertex[0] == 2 && vertex[1] == 0 && vertex[2] == 1);
	assert_false(sl_import_names_same(w->names));
	sorted_are("3 1 2", "1 2 3");
	assert_true(sl_import_names_same(w->names));
}

TEST_WITH(test_as_many_names_as_learners, folder_enter, leave)
{
	char name[SL_NAME_BYTES + 1];
	uint32_t index;
	for (uint32_t i = 0; i < 2 * SL_LEARNERS_MAX; i++) { /* each twice */
		int n = snprintf(name, sizeof name, "node-%u", i % SL_LEARNERS_MAX);
		assert_int_equal(sl_import_names_index(w->names, name, (size_t)n, &index), SL_OK);
		assert_int_equal(index, i % SL_LEARNERS_MAX);
	}
	assert_int_equal(sl_import_names_index(w->names, "more", 4, &index), SL_ERR_FULL);
	memset(name, 'x', sizeof name);
	empty();
	assert_int_equal(sl_import_names_index(w->names, name, SL_NAME_BYTES, &index), SL_ERR_RANGE);
	assert_int_equal(sl_import_names_index(w->names, name, SL_NAME_BYTES - 1, &index), SL_OK);
}

/* ---- edge lists ---- */

/* Compare with "a-b@when ...". */
static void contacts_are(const char *expected)
{
	char got[512] = "";
	for (size_t i = 0; i < w->contacts.count; i++) {
		const struct sl_contact *c = &w->contacts.contact[i];
		size_t used = strlen(got);
		snprintf(got + used, sizeof got - used, "%s%s-%s@%g", i == 0 ? "" : " ",
			 w->names->name[c->edge.a], w->names->name[c->edge.b], c->when);
	}
	assert_string_equal(got, expected);
}

static void edges_are(const char *text, const struct sl_import_request *request, const char *expected)
{
	SUCCEEDS(read_as(SL_IMPORT_EDGES, request, text));
	contacts_are(expected);
}

TEST_WITH(test_edge_lists, folder_enter, leave)
{
	static const struct sl_import_request plain = {0}, key = {.by = "t"}, column = {.by_column = 4};
	edges_are("# a graph\n\n0 1\n1 2 {}\n2\t3 {'weight': 7, 'colour': 'green'}\n 3  0 7 green # red\n",
		  &plain, "0-1@4 1-2@4 2-3@4 3-0@4");
	edges_are("a,b\nb, c,{'x': 1}\r\nnord,s\xc3\xbc"
		  "d 1",
		  &plain,
		  "a-b@4 b-c@4 nord-s\xc3\xbc"
		  "d 1@4");
	edges_are("5 5", &plain, "5-5@4");
	edges_are("", &plain, "");
	edges_are("a b {'at': 3, 't': 2}\nb c {\"t\" : \"7.5\"}\nc a {'t':-1e3}", &key,
		  "a-b@2 b-c@7.5 c-a@-1000");
	edges_are("a b x 2 y\nb c  -  3", &column, "a-b@2 b-c@3");
	edges_are("a,b,x,2", &column, "a-b@2");
}

TEST_WITH(test_edge_lists_with_faults, folder_enter, leave)
{
	static const struct sl_import_request none = {0}, by_key = {.by = "t"}, third = {.by_column = 3},
					      fourth = {.by_column = 4};
	static const char *const plain[][2] = {
		{"1 2\n3\n", "f:2: \"3\" is half an edge; one reads \"u v\""},
		{"1 2\n3 # 4\n", "f:2: \"3\" is half an edge; one reads \"u v\""},
		{",b\n", "f:1: \"b\" is half an edge; one reads \"u v\""},
		{"north side,south side",
		 "f:1: \"side,south\" has a comma: are blanks part of the names? They "
		 "cannot be here"},
		{"a 0123456789012345678901234567890123456789012345678901234567890123",
		 "f:1: \"0123456789012345678901234567890123456789...\": a name of more than 63 bytes"},
		{NULL, NULL}};
	static const char *const keyed[][2] = {
		{"a b\na b {'s': 1}", "f:1: the edge has no 't' that says its step"},
		{"a b {'t': 1}\na b {'xt': 1}", "f:2: the edge has no 't' that says its step"},
		{"a b {'t': }", "f:1: the edge has no 't' that says its step"},
		{"a b t", "f:1: the edge has no 't' that says its step"},
		{"a b {'t'", "f:1: the edge has no 't' that says its step"},
		{"a b {'t': nan}", "f:1: 't', \"nan\", is no step or time up to 1e+15"},
		{"a b {'t': 'x'}", "f:1: 't', \"x\", is no step or time up to 1e+15"},
		{NULL, NULL}};
	static const char *const in_third[][2] = {
		{"a b 1e16", "f:1: column 3, \"1e16\", is no step or time up to 1e+15"}, {NULL, NULL}};
	static const char *const in_fourth[][2] = {
		{"a b 1", "f:1: the edge has no column 4 that says its step"}, {NULL, NULL}};
	faults_are(SL_IMPORT_EDGES, &none, plain);
	faults_are(SL_IMPORT_EDGES, &by_key, keyed);
	faults_are(SL_IMPORT_EDGES, &third, in_third);
	faults_are(SL_IMPORT_EDGES, &fourth, in_fourth);
}

TEST_WITH(test_one_node_too_many, folder_enter, leave)
{
	char *text = malloc(SL_LEARNERS_MAX * 8), *at = text;
	const struct sl_import_request plain = {0};
	for (uint32_t i = 0; i <= SL_LEARNERS_MAX; i++)
		at += sprintf(at, "0 %u\n", i);
	say(text);
	free(text);
	assert_int_equal(sl_import_edges(&w->text, &plain, 0, w->names, &w->contacts), SL_ERR_FORMAT);
	assert_string_equal(w->error.text, "f:2001: node 2001, \"2000\", is one too many");
}

/* ---- where nodes are ---- */

static void is_at(uint32_t node, double t, double x, double y)
{
	struct sl_place at = sl_import_tracks_at(&w->tracks->track[node], t);
	if (fabs(at.x - x) > 1e-9 || fabs(at.y - y) > 1e-9)
		fail_msg("node %u is at %g, %g after %g s, not at %g, %g", node, at.x, at.y, t, x, y);
}

TEST_WITH(test_bonnmotion, folder_enter, leave)
{
	moves(SL_IMPORT_BONNMOTION,
	      "# by hand\n0.0 10 20 5.0 10 20 15.0 30.0 60.0\r\n\n2 -1 -2\n0 0 0 1e1 1e1 0");
	assert_int_equal(w->tracks->count, 3);
	is_at(0, 0, 10, 20);
	is_at(0, 5, 10, 20);
	is_at(0, 7.5, 15, 30);
	is_at(0, 15, 30, 60);
	is_at(0, 1e9, 30, 60);
	is_at(1, 0, -1, -2); /* before its first place */
	is_at(2, 2.5, 2.5, 0);
	assert_true(sl_import_tracks_end(w->tracks) == 15);
}

TEST_WITH(test_bonnmotion_with_heights, folder_enter, leave)
{
	moves(SL_IMPORT_BONNMOTION, "#3D\n0 1 2 100 10 11 22 300\n0 5 6 7\n");
	is_at(0, 5, 6, 12);
	is_at(1, 5, 5, 6);
}

TEST_WITH(test_bonnmotion_with_faults, folder_enter, leave)
{
	static const char *const faults[][2] = {
		{"0 1 2\n0 1 2 3 4\n", "f:2: 5 numbers, which are no places \"t x y\""},
		{"0 1 2 3 4 5 6 7",
		 "f:1: 8 numbers, which are no places \"t x y\" (a file with heights must begin with "
		 "\"#3D\")"},
		{"0 1 2 0", "f:1: 4 numbers, which are no places \"t x y\" (a file with heights must begin "
			    "with \"#3D\")"},
		{"0 1 2 9 1 5 6 9 2 3 4 9",
		 "f:1: time decreases from 9 to 6 (a file with heights must begin with \"#3D\")"},
		{"#3D\n0 1 2 3 4", "f:2: 5 numbers, which are no places \"t x y z\""},
		{"#3D\n5 1 2 3 4 5 6 7", "f:2: time decreases from 5 to 4"},
		{"-1 0 0", "f:1: negative time -1"},
		{"0 nan 0", "f:1: \"nan\" is no coordinate up to 1e+09"},
		{"0 1e10 0", "f:1: \"1e10\" is no coordinate up to 1e+09"},
		{"0 0 -inf", "f:1: \"-inf\" is no coordinate up to 1e+09"},
		{"1e300 0 0", "f:1: \"1e300\" is no time up to 1e+09"},
		{"0 0 0 1 2 x", "f:1: \"x\" is no coordinate up to 1e+09"},
		{"1 0 0 1 0 1", "f:1: two places at time 1"},
		{NULL, NULL},
	};
	faults_are(SL_IMPORT_BONNMOTION, NULL, faults);
	say("1 0 0 1 0 0"); /* said twice */
	SUCCEEDS(sl_import_bonnmotion(&w->text, w->names, w->tracks));
}

TEST_WITH(test_ns2, folder_enter, leave)
{
	moves(SL_IMPORT_NS2,
	      "#\n# nodes: 3\n#\nset val(nn) 3\n"
	      "$node_(0) set X_ 0\n$node_(0) set Y_ 0.0\n$node_(0) set Z_ 7\r\n"
	      "$god_ set-dist 0 1 2\n"
	      "$ns_ at 10.0 \"$node_(0) setdest 30.0 40.0 5.0\"\n"
	      "$ns_ at 12 \"$god_ set-dist 1 2 1\"\n"
	      "$ns at 4 \"$node_(2) setdest 8 0 1\" ; # comment\n"
	      "$ns_ at 2 \"$node_(2) setdest 4 0 0\"\n"
	      "  $ns_ at 15 \"$node_(1) set X_ 100\"\n"
	      "$ns_ at 15 \"$node_(1) set Y_ 200\"\n"
	      "$node_(1) set Y_ 2\n$node_(1) set X_ 1\n$node_(02) set X_ 0\n$node_(2) set Y_ 0");
	assert_int_equal(w->tracks->count, 3);
	assert_string_equal(w->names->name[1], "2"); /* in the order met */
	is_at(0, 0, 0, 0);
	is_at(0, 10, 0, 0);
	is_at(0, 15, 15, 20); /* 25 m of 50, at 5 m/s */
	is_at(0, 20, 30, 40);
	is_at(0, 99, 30, 40);
	is_at(2, 14.999, 1, 2);
	is_at(2, 15, 100, 200);
	is_at(1, 4, 0, 0); /* speed 0: stays */
	is_at(1, 8, 4, 0);
	assert_true(sl_import_tracks_end(w->tracks) == 20);
}

TEST_WITH(test_ns2_changes_its_mind, folder_enter, leave)
{
	moves(SL_IMPORT_NS2,
	      "$node_(7) set X_ 0\n$node_(7) set Y_ 0\n"
	      "$ns_ at 5 \"$node_(7) setdest 5 100 10\"\n" /* later in time, earlier in the file */
	      "$ns_ at 0 \"$node_(7) setdest 10 0 1\"\n"   /* at 5 it is half way there */
	      "$ns_ at 20 \"$node_(7) setdest 6 100 1e-30\"\n");
	is_at(0, 2, 2, 0);
	is_at(0, 5, 5, 0);
	is_at(0, 10, 5, 50);
	is_at(0, 15, 5, 100);
	is_at(0, 1e9, 5, 100); /* creeps */
}

TEST_WITH(test_ns2_jumps_on_its_way, folder_enter, leave)
{
	moves(SL_IMPORT_NS2, "$n(0) set X_ 0\n$n(0) set Y_ 0\n$ns_ at 0 \"$n(0) setdest 10 0 1\"\n"
			     "$ns_ at 4 \"$n(0) set Y_ 50\"");
	is_at(0, 3, 3, 0);
	is_at(0, 4, 4, 50);
	is_at(0, 100, 4, 50);
}

TEST_WITH(test_ns2_without_orders, folder_enter, leave)
{
	moves(SL_IMPORT_NS2, "# nothing\nset val(nn) 0");
	assert_int_equal(w->tracks->count, 0);
	moves(SL_IMPORT_NS2, "$node_(0) set X_ 1\n$node_(0) set Y_ 2");
	is_at(0, 5, 1, 2);
	moves(SL_IMPORT_NS2, "$node_(0) set X_ 1\n$node_(0) set Y_ 2\n$ns_ at 7 \"$node_(0) setdest 9 9 0\"");
	is_at(0, 8, 1, 2);
	assert_true(sl_import_tracks_end(w->tracks) == 7);
	moves(SL_IMPORT_NS2,
	      "$node_(0) set X_ 1\n$node_(0) set Y_ 2\n$ns_ at 7 \"$node_(0) setdest 9 9 1e-320\"");
	is_at(0, 8, 1, 2);
}

TEST_WITH(test_ns2_with_faults, folder_enter, leave)
{
	static const char *const faults[][2] = {
		{"$node_(0) set X_ 1", "f: node 0 is never given its X_ and Y_"},
		{"$ns_ at 1 \"$node_(3) setdest 1 2 3\"", "f: node 3 is never given its X_ and Y_"},
		{"$node_(0) set X_ 1\nhello", "f:2: an ns-2 movement has no line that begins with \"hello\""},
		{"$node_(0)", "f:1: an ns-2 movement has no line that begins with \"$node_(0)\""},
		{"$node_(0) get X_ 1", "f:1: \"get\" is neither \"set\" nor \"at\""},
		{"$node_(x) set X_ 1", "f:1: \"$node_(x)\" is no node, as in $node_(0)"},
		{"$node_(-1) set X_ 1", "f:1: \"$node_(-1)\" is no node, as in $node_(0)"},
		{"$node_(1 set X_ 1", "f:1: \"$node_(1\" is no node, as in $node_(0)"},
		{"$node_(0) set", "f:1: \"set\" needs X_, Y_ or Z_ and a number"},
		{"$node_(0) set W_ 1", "f:1: \"set\" needs X_, Y_ or Z_ and a number"},
		{"$node_(0) set X_", "f:1: the coordinate is missing"},
		{"$node_(0) set X_ NaN", "f:1: \"NaN\" is no coordinate from -1e+09 to 1e+09"},
		{"$node_(0) set X_ 1 2", "f:1: unexpected \"2\""},
		{"$ns_ at", "f:1: the time is missing"},
		{"$ns_ at -1 \"$node_(0) setdest 1 2 3\"", "f:1: \"-1\" is no time from 0 to 1e+09"},
		{"$ns_ at 1e99 \"$node_(0) setdest 1 2 3\"", "f:1: \"1e99\" is no time from 0 to 1e+09"},
		{"$ns_ at 1", "f:1: \"\" is no node, as in $node_(0)"},
		{"$ns_ at 1 \"finish\"", "f:1: \"finish\" is no node, as in $node_(0)"},
		{"$ns_ at 1 \"$node_(0)\"", "f:1: \"\" is neither \"setdest\" nor \"set\""},
		{"$ns_ at 1 \"$node_(0) reset\"", "f:1: \"reset\" is neither \"setdest\" nor \"set\""},
		{"$ns_ at 1 \"$node_(0) setdest 1 2\"", "f:1: the speed is missing"},
		{"$ns_ at 1 \"$node_(0) setdest 1\"", "f:1: the coordinate is missing"},
		{"$ns_ at 1 \"$node_(0) setdest 1 2 -3\"", "f:1: \"-3\" is no speed from 0 to 1e+09"},
		{"$ns_ at 1 \"$node_(0) setdest 1 2 3 4\"", "f:1: unexpected \"4\""},
		{NULL, NULL},
	};
	faults_are(SL_IMPORT_NS2, NULL, faults);
}

/* ---- who is in range ---- */

static void links_are(double range_m, double every_s, uint32_t steps, const char *expected)
{
	static const uint32_t vertex[] = {2, 0, 1};
	struct sl_schedule schedule;
	sl_schedule_init(&schedule, w->tracks->count);
	assert_int_equal(
		sl_import_tracks_schedule(w->tracks, vertex, range_m, every_s, steps, 100, &schedule), SL_OK);
	char *text = print_schedule(&schedule);
	assert_string_equal(text, expected);
	free(text);
	sl_schedule_close(&schedule);
}

TEST_WITH(test_in_range_at_the_instant, folder_enter, leave)
{
	say("0 0 0\n0 3 4 10 6 8\n0 -300 0 10 300 0\n"); /* track 2 passes 0 at 5 s */
	SUCCEEDS(sl_import_bonnmotion(&w->text, w->names, w->tracks));
	links_are(5, 5, 3, "learners 3\nstep 1-3\nstep 2-3\nstep\n");
	links_are(4.999999, 5, 3, "learners 3\nstep\nstep 2-3\nstep\n");
	links_are(10, 5, 3, "learners 3\nstep 1-3\nstep 1-2 1-3 2-3\nstep 1-3\n");
	links_are(5, 2.5, 4, "learners 3\nstep 1-3\nstep\nstep 2-3\nstep\n");
}

TEST_WITH(test_links_have_a_limit, folder_enter, leave)
{
	static const uint32_t vertex[] = {0, 1, 2};
	struct sl_schedule schedule;
	moves(SL_IMPORT_BONNMOTION, "0 0 0\n0 0 0\n0 0 0\n");
	sl_schedule_init(&schedule, 3);
	assert_int_equal(sl_import_tracks_schedule(w->tracks, vertex, 1, 1, 3, 8, &schedule), SL_ERR_RANGE);
	sl_schedule_close(&schedule);
	sl_schedule_init(&schedule, 3);
	assert_int_equal(sl_import_tracks_schedule(w->tracks, vertex, 1, 1, 3, 9, &schedule), SL_OK);
	sl_schedule_close(&schedule);
}

/* ---- which format ---- */

TEST_WITH(test_guess, folder_enter, leave)
{
	static const struct {
		const char *text;
		enum sl_import_format format;
	} cases[] = {
		{"", SL_IMPORT_GUESS},
		{"# nothing\n\n  \n", SL_IMPORT_GUESS},
		{"# edges\n0 1\n", SL_IMPORT_EDGES},
		{"0 1 2.5\n", SL_IMPORT_EDGES}, /* a weight */
		{"0 1 {'weight': 1}\n", SL_IMPORT_EDGES},
		{"a b\n", SL_IMPORT_EDGES},
		{"1.5 a b\n", SL_IMPORT_EDGES},
		{"0.0 1.5 2.5\n", SL_IMPORT_BONNMOTION},
		{"0 1 2 3 4 5\n", SL_IMPORT_BONNMOTION},
		{"#3D\n0 1 2 3\n", SL_IMPORT_BONNMOTION},
		{"# by ns\n $node_(0) set X_ 1\n", SL_IMPORT_NS2},
		{"$god_ set-dist 0 1 2\n", SL_IMPORT_NS2},
		{"set val(nn) 2\n", SL_IMPORT_NS2},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		say(cases[i].text);
		if (sl_import_guess(&w->text) != cases[i].format)
			fail_msg("\"%s\" is taken for %s", cases[i].text,
				 sl_import_format_name(sl_import_guess(&w->text)));
		assert_int_equal(w->text.line, 0);
	}
}
