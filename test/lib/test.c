#include "test/lib/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What to run: `names` are the arguments FILE[:CASE], ended by NULL. */
struct choice {
	char *const *names;
	bool nightly;
};

size_t test_completed;
static struct test_entry *entries; /* files in link order; within a file by number */

void test_add(struct test_entry *entry)
{
	struct test_entry **at = &entries;
	while (*at != NULL && strcmp((*at)->file, entry->file) != 0)
		at = &(*at)->next;
	while (*at != NULL && strcmp((*at)->file, entry->file) == 0 && (*at)->number < entry->number)
		at = &(*at)->next;
	entry->next = *at;
	*at = entry;
}

/* Copy the name of `file` without folder, "test_" and ".c". */
static void short_name(char out[64], const char *file)
{
	const char *slash = strrchr(file, '/'), *name = slash != NULL ? slash + 1 : file;
	if (strncmp(name, "test_", 5) == 0)
		name += 5;
	snprintf(out, 64, "%.*s", (int)strcspn(name, "."), name);
}

/* Return true if `name` is this case, or its file and the case is of the kind to run. */
static bool names_entry(const char *name, const struct test_entry *entry, bool nightly)
{
	char file[64];
	short_name(file, entry->file);
	size_t length = strlen(file);
	if (entry->test.name == NULL || strncmp(name, file, length) != 0)
		return false;
	return name[length] == ':' ? strcmp(name + length + 1, entry->test.name) == 0
				   : name[length] == '\0' && entry->nightly == nightly;
}

static bool is_chosen(const struct test_entry *entry, const struct choice *choice)
{
	if (choice->names[0] == NULL)
		return entry->test.name != NULL && entry->nightly == choice->nightly;
	for (char *const *name = choice->names; *name != NULL; name++)
		if (names_entry(*name, entry, choice->nightly))
			return true;
	return false;
}

/* Return the first name that no case has, or NULL. */
static const char *unknown_name(const struct choice *choice)
{
	for (char *const *name = choice->names; *name != NULL; name++) {
		const struct test_entry *entry = entries;
		while (entry != NULL && !names_entry(*name, entry, choice->nightly))
			entry = entry->next;
		if (entry == NULL)
			return *name;
	}
	return NULL;
}

static void list_cases(void)
{
	char file[64];
	for (const struct test_entry *entry = entries; entry != NULL; entry = entry->next) {
		short_name(file, entry->file);
		if (entry->test.name != NULL)
			printf("%s:%s%s\n", file, entry->test.name, entry->nightly ? " (nightly)" : "");
	}
}

/* Run the chosen cases of the file that starts at `*at` as one cmocka group. Advance `*at` to the next file,
 * add the number of cases to `*count` and return how many failed. */
static int run_file(struct test_entry **at, const struct choice *choice, size_t *count)
{
	const char *path = (*at)->file;
	struct CMUnitTest fixture = {0}, *tests = NULL;
	size_t chosen = 0;
	char file[64], *label;
	short_name(file, path);
	for (; *at != NULL && strcmp((*at)->file, path) == 0; *at = (*at)->next) {
		if ((*at)->test.name == NULL)
			fixture = (*at)->test;
		if (!is_chosen(*at, choice))
			continue;
		tests = reallocarray(tests, chosen + 1, sizeof *tests);
		if (tests == NULL || asprintf(&label, "%s: %s", file, (*at)->test.name) < 0)
			abort();
		tests[chosen] = (*at)->test;
		tests[chosen++].name = label;
	}
	int failed = chosen == 0 ? 0
				 : _cmocka_run_group_tests(file, tests, chosen, fixture.setup_func,
							   fixture.teardown_func);
	for (size_t i = 0; i < chosen; i++)
		free((char *)tests[i].name);
	free(tests);
	*count += chosen;
	return failed;
}

int main(int argc, char **argv)
{
	bool nightly = argc > 1 && strcmp(argv[1], "--nightly") == 0;
	struct choice choice = {argv + (nightly ? 2 : 1), nightly};
	size_t count = 0;
	int failed = 0;
	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		list_cases();
		return 0;
	}
	const char *unknown = unknown_name(&choice);
	if (unknown != NULL) {
		fprintf(stderr,
			"usage: %s [--list | --nightly] [FILE[:CASE]...]\nthere is no '%s'; --list lists the "
			"cases\n",
			argv[0], unknown);
		return 2;
	}
	for (struct test_entry *at = entries; at != NULL;)
		failed += run_file(&at, &choice, &count);
	if (failed != 0)
		return 1;
	return count > 0 && test_completed == 0 ? 77 : 0;
}
