#include "tools/lib/learners.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "tools/lib/command.h"

/* ---- where they are ---- */

static struct sl_control_query *add(struct sl_learners *l)
{
	l->asked = sl_command_grow(l->asked, l->count, &l->room, sizeof *l->asked);
	struct sl_control_query *one = &l->asked[l->count];
	memset(one, 0, sizeof *one);
	return one;
}

static bool has(const char *base, const char *file)
{
	char path[PATH_MAX];
	return snprintf(path, sizeof path, "%s/%s", base, file) < PATH_MAX && access(path, F_OK) == 0;
}

/* Add FOLDER/NAME, or FOLDER itself for the name "", if it is the folder of a learner: it has a control
 * socket, or had one, or `starling group create` or `starling join` has made it. */
static void look(struct sl_learners *l, const char *folder, const char *name)
{
	static const char *const places[] = {"control.sock", "state/control.sock", "state/lock"};
	char base[PATH_MAX];
	size_t place = 0, count = sizeof places / sizeof *places;
	if (snprintf(base, sizeof base, "%s%s%s", folder, *name != '\0' ? "/" : "", name) >= PATH_MAX)
		return;
	while (place < count && !has(base, places[place]))
		place++;
	bool fresh = place == count && has(base, "starlingd.yaml") && has(base, "identity");
	if (place == count && !fresh)
		return;
	const char *slash = strrchr(folder, '/');
	struct sl_control_query *one = add(l);
	one->fresh = fresh;
	int n = snprintf(one->folder, sizeof one->folder, "%s%s", base, place == 0 ? "" : "/state");
	int m = snprintf(one->log, sizeof one->log, "%s/log.jsonl", base);
	snprintf(one->shown, sizeof one->shown, "%s",
		 *name != '\0'			     ? name
		 : slash != NULL && slash[1] != '\0' ? slash + 1
						     : folder);
	snprintf(one->socket, sizeof one->socket, "control.sock");
	l->count += n < PATH_MAX && m < PATH_MAX;
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int sl_learners_find(struct sl_learners *learners, const char *folder, struct sl_error *error)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, visible, alphasort);
	if (count < 0)
		return sl_err_set(error, SL_ERR_NOTFOUND, "%s: %s", folder, strerror(errno));
	look(learners, folder, "");
	bool itself = learners->count > 0;
	for (int i = 0; i < count; i++) {
		if (!itself)
			look(learners, folder, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	if (learners->count == 0)
		return sl_err_set(
			error, SL_ERR_NOTFOUND,
			"%s: no learner in it: no NAME/control.sock, and no NAME/state/control.sock; for a "
			"learner whose socket is elsewhere, give --control SOCKET",
			folder);
	snprintf(learners->folder, sizeof learners->folder, "%s", folder);
	return SL_OK;
}

void sl_learners_add(struct sl_learners *learners, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct sl_control_query *one = add(learners);
	snprintf(one->shown, sizeof one->shown, "%s", path);
	snprintf(one->socket, sizeof one->socket, "%s", slash == NULL ? path : slash + 1);
	snprintf(one->folder, sizeof one->folder, "%.*s",
		 slash == NULL || slash == path ? 1 : (int)(slash - path), slash == NULL ? "." : path);
	learners->count++;
}

int sl_learners_place(char path[static PATH_MAX], struct sl_error *error)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	int n;
	if (geteuid() == 0)
		n = snprintf(path, PATH_MAX, SL_LEARNERS_FOLDER);
	else if (data != NULL && data[0] == '/')
		n = snprintf(path, PATH_MAX, "%s/starling", data);
	else if (home != NULL && home[0] == '/')
		n = snprintf(path, PATH_MAX, "%s/.local/share/starling", home);
	else
		return sl_err_set(error, SL_ERR_NOTFOUND,
				  "HOME is not set; name the folder with --folder DIR");
	return n > 0 && (size_t)n + SL_NAME_BYTES + 64 < PATH_MAX
		       ? SL_OK
		       : sl_err_set(error, SL_ERR_RANGE, "the path of the home folder is too long");
}

bool sl_learners_hidden(void)
{
	char path[PATH_MAX];
	bool hidden = false;
	DIR *all = opendir(SL_LEARNERS_FOLDER);
	if (all == NULL)
		return errno == EACCES;
	for (const struct dirent *entry; !hidden && (entry = readdir(all)) != NULL;) {
		snprintf(path, sizeof path, SL_LEARNERS_FOLDER "/%s", entry->d_name);
		hidden = visible(entry) && access(path, R_OK | X_OK) != 0 && errno == EACCES;
	}
	closedir(all);
	return hidden;
}

int sl_learners_usual(struct sl_learners *learners, struct sl_error *error)
{
	char folder[PATH_MAX] = ".";
	if (getcwd(folder, sizeof folder) != NULL && sl_learners_find(learners, folder, error) == SL_OK)
		return SL_OK;
	if (access(SL_LEARNERS_SOCKET, F_OK) == 0) {
		sl_learners_add(learners, SL_LEARNERS_SOCKET);
		return SL_OK;
	}
	if (sl_learners_place(folder, error) != SL_OK)
		snprintf(folder, sizeof folder, SL_LEARNERS_FOLDER);
	if (sl_learners_find(learners, folder, error) == SL_OK ||
	    sl_learners_find(learners, SL_LEARNERS_FOLDER, error) == SL_OK)
		return SL_OK;
	bool two = strcmp(folder, SL_LEARNERS_FOLDER) != 0, hidden = sl_learners_hidden();
	return sl_err_set(error, SL_ERR_NOTFOUND,
			  "the present folder is no run folder, there is no daemon at " SL_LEARNERS_SOCKET
			  ", and no group in %.200s%s; name a run folder, or --control SOCKET%s",
			  folder, two && !hidden ? " or " SL_LEARNERS_FOLDER : "",
			  hidden ? SL_LEARNERS_AS_ROOT : "");
}

void sl_learners_close(struct sl_learners *learners)
{
	for (size_t i = 0; i < learners->count; i++)
		json_decref(learners->asked[i].reply);
	free(learners->asked);
	*learners = (struct sl_learners){0};
}

/* ---- options ---- */

bool sl_learners_runs(const char *folder, long *process)
{
	char path[PATH_MAX + 16], text[32] = "";
	snprintf(path, sizeof path, has(folder, "lock") ? "%s/lock" : "%s/state/lock", folder);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	*process = 0;
	if (fd < 0)
		return false;
	bool held = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	*process = pread(fd, text, sizeof text - 1, 0) > 0 ? strtol(text, NULL, 10) : 0;
	close(fd);
	return held;
}

void sl_learners_take_socket(struct argp_state *state, const char *value, void *options)
{
	struct sl_learners_options *o = options;
	(void)state;
	o->sockets = sl_command_grow(o->sockets, o->count, &o->room, sizeof *o->sockets);
	o->sockets[o->count++] = value;
}

void sl_learners_take_folder(struct argp_state *state, const char *value, void *options)
{
	struct sl_learners_options *o = options;
	if (o->folder != NULL)
		argp_error(state, "give one run folder; '%s' is another one", value);
	o->folder = value;
}

void sl_learners_open(struct sl_learners *learners, struct sl_learners_options *options)
{
	struct sl_error error = {0};
	int rc = SL_OK;
	*learners = (struct sl_learners){0};
	if (options->folder != NULL && options->count > 0)
		rc = sl_err_set(&error, SL_ERR_INVALID, "give a run folder or --control SOCKET, not both");
	else if (options->folder != NULL)
		rc = sl_learners_find(learners, options->folder, &error);
	else if (options->count == 0)
		rc = sl_learners_usual(learners, &error);
	for (size_t i = 0; i < options->count; i++)
		sl_learners_add(learners, options->sockets[i]);
	free(options->sockets);
	if (rc == SL_OK)
		return;
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, error.text);
	exit(SL_EXIT_USAGE);
}

/* ---- replies ---- */

bool sl_learners_did(const struct sl_control_query *one)
{
	if (json_is_true(json_object_get(one->reply, "ok")))
		return true;
	const char *problem = sl_control_query_problem(one);
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, one->shown,
		problem != NULL ? problem : sl_learners_text(one->reply, "error"));
	return false;
}

const char *sl_learners_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text == NULL ? "" : text;
}

long long sl_learners_number(const json_t *object, const char *key)
{
	return (long long)json_integer_value(json_object_get(object, key));
}

void sl_learners_know(struct sl_control_query *one, const json_t *object, const char *id)
{
	const char *name = sl_learners_text(object, "name");
	if (*name == '\0' || strlen(name) >= sizeof one->name ||
	    !json_is_integer(json_object_get(object, id)))
		return; /* no name of a roster */
	one->id = json_integer_value(json_object_get(object, id));
	snprintf(one->name, sizeof one->name, "%s", name);
}

/* Return the name of a peer with this id in a reply, or NULL. */
static const char *peer_name(const json_t *reply, json_int_t id)
{
	size_t index;
	json_t *peer;
	json_array_foreach(json_object_get(reply, "peers"), index, peer)
	{
		if (json_integer_value(json_object_get(peer, "id")) == id)
			return json_string_value(json_object_get(peer, "name"));
	}
	return NULL;
}

static const char *name_of(const struct sl_learners *learners, json_int_t id)
{
	const char *name = NULL;
	for (size_t i = 0; i < learners->count; i++)
		if (learners->asked[i].id == id)
			return learners->asked[i].name;
	for (size_t i = 0; i < learners->count && name == NULL; i++)
		name = peer_name(learners->asked[i].reply, id);
	return name != NULL ? name : "learner";
}

void sl_learners_names(const struct sl_learners *learners, const json_t *ids, size_t most, char *text,
		       size_t size)
{
	size_t count = json_array_size(ids), shown = count < most ? count : most, used = 0;
	*text = '\0';
	for (size_t i = 0; i < shown; i++) {
		json_int_t id = json_integer_value(json_array_get(ids, i));
		int n = snprintf(text + used, size - used, "%s%s (%lld)", i > 0 ? ", " : "",
				 name_of(learners, id), (long long)id);
		used += n > 0 && (size_t)n < size - used ? (size_t)n : 0;
	}
	if (shown < count)
		snprintf(text + used, size - used, " and %zu more", count - shown);
}
