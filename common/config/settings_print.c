/* Prints the table of settings: for a terminal, and as a configuration file. */
#include <string.h>

#include "common/config/settings_table.h"

#define COLUMNS 100u

static const char *const titles[] = {
	[SL_GROUP_FILES] = "Identity and files",	 [SL_GROUP_ROUND] = "The round",
	[SL_GROUP_TIMEOUTS] = "Neighbours and timeouts", [SL_GROUP_TRAINING] = "Training",
	[SL_GROUP_PRIVACY] = "Differential privacy",	 [SL_GROUP_DEBUGGING] = "Debugging",
};

/* Describe the values of `row`: "all|majority|1..2000 learners". */
static void describe(const struct sl_setting *row, char *out, size_t size)
{
	static const char *const names[] = {[SL_SETTING_NAME] = "NAME",
					    [SL_SETTING_ADDRESS] = "HOST:PORT",
					    [SL_SETTING_PATH] = "PATH",
					    [SL_SETTING_DIGITS] = "DIGITS",
					    [SL_SETTING_URL] = "SCHEME://HOST:PORT",
					    [SL_SETTING_COMMAND] = "COMMAND",
					    [SL_SETTING_CHOICE] = "",
					    [SL_SETTING_PRIME] = "PRIME"};
	char words[128], limits[64] = "";
	const char *between = row->choices && row->kind != SL_SETTING_CHOICE ? "|" : "",
		   *space = row->unit[0] != '\0' ? " " : "";
	sl_settings_table_choices(row, "|", words, sizeof words);
	if (row->kind == SL_SETTING_WHOLE)
		snprintf(limits, sizeof limits, "%llu..%llu", (unsigned long long)row->least,
			 (unsigned long long)row->most);
	else if (row->kind == SL_SETTING_REAL)
		snprintf(limits, sizeof limits, "%g..%g", row->least_real, row->most_real);
	else if (row->kind == SL_SETTING_POSITIVE)
		snprintf(limits, sizeof limits, ">%g..%g", row->least_real, row->most_real);
	else
		snprintf(limits, sizeof limits, "%s", names[row->kind]);
	snprintf(out, size, "%s%s%s%s%s", words, between, limits, space, row->unit);
}

/* Print `text` in lines of at most COLUMNS bytes, each after `margin`. */
static void wrap(FILE *out, const char *margin, const char *text)
{
	size_t room = COLUMNS - strlen(margin);
	while (strlen(text) > room) {
		size_t n = room;
		while (n > 0 && text[n] != ' ')
			n--;
		fprintf(out, "%s%.*s\n", margin, (int)n, text);
		text += n + 1;
	}
	fprintf(out, "%s%s\n", margin, text);
}

static void describe_default(const struct sl_setting *row, char *out, size_t size)
{
	bool optional = row->usual && row->usual[0] == '\0';
	snprintf(out, size, "%s%s%s",
		 optional     ? ""
		 : row->usual ? " (default: "
			      : " (required",
		 row->usual ? row->usual : "", optional ? "" : ")");
}

static void print_text(FILE *out, const struct sl_setting *row, const char *values, const char *sentences)
{
	char usual[64];
	describe_default(row, usual, sizeof usual);
	fprintf(out, "  %s: %s%s\n", row->key, values, usual);
	wrap(out, "      ", sentences);
}

static void print_yaml(FILE *out, const struct sl_setting *row, const char *values, const char *sentences)
{
	const char *value = row->sample ? row->sample : row->usual[0] != '\0' ? row->usual : values;
	const char *quote = strcmp(value, "-") == 0 ? "\"" : "";
	wrap(out, "# ", sentences);
	if (row->choices || row->kind >= SL_SETTING_WHOLE)
		fprintf(out, "# Values: %s\n", values);
	fprintf(out, "%s%s: %s%s%s\n\n", row->sample ? "" : "#", row->key, quote, value, quote);
}

static void print_row(FILE *out, bool yaml, const struct sl_setting *row)
{
	char values[256], sentences[512];
	describe(row, values, sizeof values);
	snprintf(sentences, sizeof sentences, "%s%s", row->sentence,
		 row->shared ? " It stands in the roster." : "");
	(yaml ? print_yaml : print_text)(out, row, values, sentences);
}

void sl_settings_print(FILE *out, bool yaml)
{
	if (yaml)
		fputs("# Configuration of one learner, as printed by `starlingd --settings=yaml`. What is "
		      "commented out shows its default.\n"
		      "# Relative paths are relative to the folder of this file. `starlingd --config FILE "
		      "--check` checks it.\n"
		      "# Any setting can also be given on the command line: --set KEY=VALUE. The settings "
		      "that all "
		      "learners share stand in the\n# roster: see roster(5).\n\n",
		      out);
	for (size_t i = 0; i < SL_SETTINGS_ROWS; i++) {
		const struct sl_setting *row = &sl_settings_table[i];
		if (row->shared && yaml)
			continue;
		if (i == 0 || row->group != row[-1].group)
			fprintf(out, yaml ? "# ---- %s ----\n\n" : "%s:\n", titles[row->group]);
		print_row(out, yaml, row);
	}
}
