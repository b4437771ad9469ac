#include "tools/lib/verbs.h"

#include <string.h>

#include "tools/lib/command.h"
#include "tools/lib/python.h"
#include "tools/lib/terminal.h"

static int print_verbs(const char *called, const struct sl_verb *verbs, void (*more)(FILE *out), FILE *out)
{
	for (const struct sl_verb *v = verbs; v->name != NULL; v++) {
		sl_terminal_print(out, "%s %s %s %s\n", v == verbs ? "Usage:" : "      ", called, v->name,
				  v->usage);
		if (v->summary != NULL)
			sl_terminal_print(out, "      %s\n", v->summary);
	}
	more(out);
	return out == stdout ? 0 : SL_EXIT_USAGE;
}

int sl_verbs_run(const char *called, const struct sl_verb *verbs, void (*more)(FILE *out), int argc,
		 char **argv)
{
	const char *word = argc > 1 ? argv[1] : "", *names[SL_VERBS_MOST + 1] = {NULL};
	for (size_t i = 0; i < SL_VERBS_MOST && verbs[i].name != NULL; i++) {
		names[i] = verbs[i].name;
		if (strcmp(word, verbs[i].name) != 0)
			continue;
		sl_command_set_name(argv + 1, "%s %s", called, word);
		return verbs[i].module != NULL ? sl_python_run(verbs[i].module, argc - 1, argv + 1)
					       : verbs[i].run(argc - 1, argv + 1);
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-?") == 0)
		return print_verbs(called, verbs, more, stdout);
	return *word != '\0' ? sl_command_unknown(called, "verb", word, names)
			     : print_verbs(called, verbs, more, stderr);
}
