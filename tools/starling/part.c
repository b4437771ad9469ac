/* `starling part`: what commands in Python ask this program for, by starling_timeline/command.py. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/field/encoding.h"
#include "common/graph/generate.h"
#include "tools/lib/command.h"
#include "tools/starling/doctor.h"
#include "tools/starling/dp_plan.h"
#include "tools/topology/analyze.h"
#include "tools/topology/augment.h"
#include "tools/topology/topology.h"

static uint32_t whole(const json_t *request, const char *name)
{
	return (uint32_t)json_integer_value(json_object_get(request, name));
}

/* Return the schedule that is asked for; seeds have more bits than integers of JSON. */
static struct sl_topology_request source_of(const char *subject, const json_t *request)
{
	const char *seed = json_string_value(json_object_get(request, "seed"));
	return (struct sl_topology_request){.text = subject,
					    .learners = whole(request, "learners"),
					    .steps = whole(request, "steps"),
					    .redraws = whole(request, "redraws"),
					    .seed = seed != NULL ? strtoull(seed, NULL, 10) : 1};
}

/* ---- the figures of steps ---- */

/* Return the prime that `modulus: auto` chooses for updates with the other defaults, if no tensor needs more
 * bits. */
static uint64_t usual_p(uint64_t learners, uint64_t floats)
{
	const struct sl_encoding encoding = {.kind = SL_ENCODING_WEIGHTED,
					     .values = SL_VALUES_UPDATE,
					     .update_bits = 12,
					     .clipping_range = 1,
					     .weight = 1};
	const struct sl_addends addends = {
		.learners = learners, .max_weight = 1, .n = floats, .largest_id = learners};
	return sl_encoding_modulus(&encoding, &addends, SL_P_BITS_MAX);
}

/* Read which figures are asked for; p is 0: the usual one. */
static int read_figures(const json_t *request, struct sl_figures_request *figures, struct sl_error *error)
{
	bool refusals = json_is_true(json_object_get(request, "refusals"));
	bool exact = json_is_true(json_object_get(request, "exact"));
	*figures = (struct sl_figures_request){
		.analysis = {.tolerance = whole(request, "tolerance"),
			     .kappa_most = refusals ? SL_LEARNERS_MAX : 0,
			     .missing = refusals,
			     .engines = SL_ENGINE_SET_ALL & ~(exact ? 0 : SL_ENGINE_SET(SL_ENGINE_EXACT))},
		.floats = whole(request, "floats"),
		.p = (uint64_t)json_integer_value(json_object_get(request, "p"))};
	return figures->p == 0 || sl_field_is_prime(figures->p)
		       ? SL_OK
		       : sl_err_set(error, SL_ERR_INVALID, "--modulus %llu: not a prime",
				    (unsigned long long)figures->p);
}

static int print_figures(json_t *figures, uint64_t learners, const struct sl_figures_request *asked)
{
	uint64_t p = asked->p != 0 ? asked->p : usual_p(learners, asked->floats);
	json_object_set_new(figures, "learners", json_integer((json_int_t)learners));
	json_object_set_new(figures, "p", json_integer((json_int_t)p));
	sl_command_print_json(figures, 0);
	return SL_OK;
}

/* Answer the parameter of a family that has more learners than this version runs. */
static int print_family(const struct sl_topology_request *source, const struct sl_figures_request *asked,
			struct sl_error *error)
{
	struct sl_family family;
	const char *why = NULL;
	int rc = sl_family_read(source->text, source->learners, &family, &why);
	return rc == SL_OK ? print_figures(json_pack("{s:f}", "family", family.parameter), source->learners,
					   asked)
			   : sl_err_set(error, rc, "%s: %s", source->text, why);
}

/* Answer the analysis of all steps, or of the `first` ones. */
static int print_steps(const char *subject, const json_t *request, struct sl_error *error)
{
	struct sl_topology_request source = source_of(subject, request);
	struct sl_figures_request figures;
	struct sl_schedule schedule;
	uint32_t first = whole(request, "first");
	int rc = read_figures(request, &figures, error);
	if (source.learners == 0 && sl_topology_is_name(subject))
		source.learners = whole(request, "usual"); /* 0: none */
	if (rc == SL_OK && source.learners > SL_LEARNERS_MAX && sl_topology_is_name(subject))
		return print_family(&source, &figures, error);
	if (rc == SL_OK)
		rc = sl_topology_schedule(&source, &schedule, error);
	if (rc != SL_OK)
		return rc;
	if (figures.p == 0)
		figures.p = usual_p(schedule.learners, figures.floats);
	json_t *steps = sl_analyze(&schedule, first > 0 ? first : schedule.steps, &figures, error);
	if (steps != NULL)
		print_figures(json_pack("{s:o}", "steps", steps), schedule.learners, &figures);
	sl_schedule_close(&schedule);
	return error->code;
}

/* ---- schedules ---- */

static int print_schedule(const char *subject, const json_t *request, struct sl_error *error)
{
	struct sl_topology_request source = source_of(subject, request);
	struct sl_schedule schedule;
	int rc = sl_topology_schedule(&source, &schedule, error);
	if (rc != SL_OK)
		return rc;
	sl_schedule_write(&schedule, stdout);
	sl_schedule_close(&schedule);
	return SL_OK;
}

/* Answer the schedule, and the schedule of what it lacks. */
static int print_missing(const char *subject, const json_t *request, struct sl_error *error)
{
	struct sl_topology_request source = source_of(subject, request);
	struct sl_schedule schedule, added;
	int rc = sl_topology_schedule(&source, &schedule, error);
	if (rc != SL_OK)
		return rc;
	rc = sl_augment_schedule(&schedule, whole(request, "tolerance"), &added, error);
	if (rc == SL_OK) {
		sl_schedule_write(&schedule, stdout);
		sl_schedule_write(&added, stdout);
	}
	sl_schedule_close(&schedule);
	sl_schedule_close(&added);
	return rc;
}

/* ---- rosters ---- */

static json_t *members_json(const struct sl_roster *roster)
{
	json_t *members = json_array();
	for (uint32_t i = 0; i < roster->size; i++) {
		const struct sl_member *m = &roster->members[i];
		char pin[SL_PIN_TEXT_BYTES];
		sl_roster_pin_text(m->pin, pin);
		json_array_append_new(members, json_pack("{s:I, s:s, s:s}", "id", (json_int_t)m->id, "name",
							 m->name, "key", pin));
	}
	return members;
}

/* Answer what a roster says. One that is a list has no settings: they stand elsewhere. */
static int print_roster(const char *subject, const json_t *request, struct sl_error *error)
{
	struct sl_group group;
	struct sl_settings settings = {0};
	char hash[SL_DIGITS_BYTES], text[SL_VALUE_TEXT_BYTES];
	(void)request;
	if (sl_group_load(subject, &group, error) != SL_OK)
		return error->code;
	const struct sl_setting_list list = sl_group_list_settings(&group, subject);
	sl_settings_share(&settings, &list, error); /* the hash covers them: they are good */
	sodium_bin2hex(hash, sizeof hash, group.roster.hash, sizeof group.roster.hash);
	sl_command_print_json(json_pack("{s:s, s:s, s:b, s:I, s:b, s:o}", "hash", hash, "dp",
					sl_settings_value("dp", settings.dp, text), "list",
					(int)(group.settings == NULL), "tolerance",
					(json_int_t)settings.tolerance, "warns",
					(int)(settings.privacy_check == SL_PRIVACY_WARN), "members",
					members_json(&group.roster)),
			      0);
	sl_group_close(&group);
	return SL_OK;
}

static const struct {
	const char *name;
	int (*print)(const char *subject, const json_t *request, struct sl_error *error);
} parts[] = {{"steps", print_steps},  {"schedule", print_schedule},   {"missing", print_missing},
	     {"dp", sl_dp_plan},      {"machine", sl_doctor_machine}, {"peers", sl_doctor_others},
	     {"roster", print_roster}};

/* Arguments: the command that asks, the part, what it is about, and the request. */
int sl_cmd_part(int argc, char **argv)
{
	struct sl_error error = {.code = SL_ERR_INVALID, .text = "for commands of this program"};
	json_t *request = argc == 5 ? json_loads(argv[4], 0, NULL) : NULL;
	for (size_t i = 0; request != NULL && i < sizeof parts / sizeof *parts; i++)
		if (strcmp(argv[2], parts[i].name) == 0) {
			error.code = SL_OK;
			parts[i].print(argv[3], request, &error);
		}
	json_decref(request);
	return error.code == SL_OK ? 0 : sl_topology_failed(argc == 5 ? argv[1] : argv[0], &error);
}
