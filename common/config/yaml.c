#include "common/config/yaml.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/yaml_text.h"

/* Read the file, of at most SL_YAML_BYTES_MAX bytes: a wrong path may name a disk or a log. */
static int read_all(struct sl_yaml *yaml, size_t *bytes, struct sl_error *error)
{
	FILE *file = fopen(yaml->path, "re");
	if (file == NULL)
		return sl_err_set(error, errno == ENOENT ? SL_ERR_NOTFOUND : SL_ERR_IO, "%s: %s", yaml->path,
				  strerror(errno));
	int code = SL_ERR_NOMEM;
	yaml->text = malloc(SL_YAML_BYTES_MAX + 2);
	if (yaml->text == NULL) {
		sl_err_set(error, code, "%s: out of memory", yaml->path);
		goto out;
	}
	*bytes = fread(yaml->text, 1, SL_YAML_BYTES_MAX + 1, file);
	yaml->text[*bytes] = '\0';
	code = SL_OK;
	if (ferror(file))
		code = sl_err_set(error, SL_ERR_IO, "%s: %s", yaml->path, strerror(errno));
	else if (*bytes > SL_YAML_BYTES_MAX)
		code = sl_err_set(error, SL_ERR_FULL, "%s: longer than %u bytes", yaml->path,
				  SL_YAML_BYTES_MAX);
out:
	fclose(file);
	return code;
}

static int start_parser(struct sl_yaml *yaml, size_t bytes)
{
	struct fy_diag_cfg diag_cfg;
	fy_diag_cfg_default(&diag_cfg);
	diag_cfg.colorize = false;
	yaml->diag = fy_diag_create(&diag_cfg);
	if (yaml->diag == NULL)
		return SL_ERR_NOMEM;
	fy_diag_set_collect_errors(yaml->diag, true);
	/* check_twice refuses duplicate keys: libfyaml's error does not name both places. */
	struct fy_parse_cfg cfg = {.flags = FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_ALLOW_DUPLICATE_KEYS,
				   .diag = yaml->diag};
	yaml->parser = fy_parser_create(&cfg);
	if (yaml->parser == NULL || fy_parser_set_string(yaml->parser, yaml->text, bytes) != 0)
		return SL_ERR_NOMEM;
	return SL_OK;
}

static struct fy_diag_error *first_diagnosis(const struct sl_yaml *yaml)
{
	void *at = NULL;
	return fy_diag_errors_iterate(yaml->diag, &at);
}

static int fail_syntax(const struct sl_yaml *yaml, const struct fy_diag_error *bad, struct sl_error *error)
{
	int line = bad->line;
	const char *cause = sl_yaml_text_cause(yaml->text, &line);
	return sl_err_set(error, SL_ERR_FORMAT, "%s:%d:%d: %s", yaml->path, line, cause ? 1 : bad->column,
			  cause ? cause : bad->msg);
}

static int load(struct sl_yaml *yaml, struct sl_error *error)
{
	yaml->document = fy_parse_load_document(yaml->parser);
	struct fy_document *more = yaml->document ? fy_parse_load_document(yaml->parser) : NULL;
	struct fy_diag_error *bad = first_diagnosis(yaml);
	int code = SL_OK;
	yaml->root = yaml->document ? fy_document_root(yaml->document) : NULL;
	if (bad)
		code = fail_syntax(yaml, bad, error);
	else if (yaml->root == NULL)
		code = sl_err_set(error, SL_ERR_FORMAT, "%s:1:1: the file is empty", yaml->path);
	else if (more)
		code = sl_yaml_fail(yaml, fy_document_root(more), error, SL_ERR_FORMAT,
				    "a second document starts here; a file must have one");
	if (more)
		fy_parse_document_destroy(yaml->parser, more);
	return code;
}

/* Parse yaml->text; close after an error. */
static int parse(struct sl_yaml *yaml, size_t bytes, struct sl_error *error)
{
	int code = sl_yaml_text_check(yaml->path, yaml->text, bytes, error);
	if (code == SL_OK && start_parser(yaml, bytes) != SL_OK)
		code = sl_err_set(error, SL_ERR_NOMEM, "%s: out of memory", yaml->path);
	if (code == SL_OK)
		code = load(yaml, error);
	if (code != SL_OK)
		sl_yaml_close(yaml);
	return code;
}

int sl_yaml_open(struct sl_yaml *yaml, const char *path, struct sl_error *error)
{
	size_t bytes = 0;
	*yaml = (struct sl_yaml){.path = path};
	int code = read_all(yaml, &bytes, error);
	if (code == SL_OK)
		return parse(yaml, bytes, error);
	sl_yaml_close(yaml);
	return code;
}

int sl_yaml_read(struct sl_yaml *yaml, const char *name, const char *text, size_t bytes,
		 struct sl_error *error)
{
	*yaml = (struct sl_yaml){.path = name};
	if (bytes > SL_YAML_BYTES_MAX)
		return sl_err_set(error, SL_ERR_FULL, "%s: longer than %u bytes", name, SL_YAML_BYTES_MAX);
	yaml->text = malloc(bytes + 1);
	if (yaml->text == NULL)
		return sl_err_set(error, SL_ERR_NOMEM, "%s: out of memory", name);
	memcpy(yaml->text, text, bytes);
	yaml->text[bytes] = '\0';
	return parse(yaml, bytes, error);
}

void sl_yaml_close(struct sl_yaml *yaml)
{
	if (yaml->document)
		fy_parse_document_destroy(yaml->parser, yaml->document);
	if (yaml->parser)
		fy_parser_destroy(yaml->parser);
	if (yaml->diag)
		fy_diag_destroy(yaml->diag);
	free(yaml->text);
	*yaml = (struct sl_yaml){0};
}

void sl_yaml_place(const struct sl_yaml *yaml, struct fy_node *node, int *line, int *column)
{
	*line = *column = 1;
	if (node == NULL)
		return;
	/* In libfyaml 0.7 only scalars have a mark; a report has the place of any node. */
	fy_diag_node_report(yaml->diag, node, FYET_ERROR, "here");
	void *at = NULL;
	for (struct fy_diag_error *e; (e = fy_diag_errors_iterate(yaml->diag, &at)) != NULL;) {
		*line = e->line;
		*column = e->column;
	}
}

int sl_yaml_fail(const struct sl_yaml *yaml, struct fy_node *node, struct sl_error *error, int code,
		 const char *format, ...)
{
	char text[SL_ERROR_BYTES];
	int line, column;
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	sl_yaml_place(yaml, node, &line, &column);
	return sl_err_set(error, code, "%s:%d:%d: %s", yaml->path, line, column, text);
}

/* Return the text of a scalar; NULL for other nodes and for texts that contain an escaped zero byte. */
static const char *scalar(struct fy_node *node)
{
	size_t bytes = 0;
	if (node == NULL || !fy_node_is_scalar(node) || fy_node_is_alias(node))
		return NULL;
	if (fy_node_get_scalar(node, &bytes) == NULL)
		return NULL;
	const char *text = fy_node_get_scalar0(node);
	return text && strlen(text) == bytes ? text : NULL;
}

static int check_twice(const struct sl_yaml *yaml, struct fy_node *mapping, const struct sl_yaml_pair *pair,
		       struct sl_error *error)
{
	void *at = NULL;
	for (struct fy_node_pair *p; (p = fy_node_mapping_iterate(mapping, &at)) != NULL;) {
		struct fy_node *node = fy_node_pair_key(p);
		if (node == pair->key_node)
			return SL_OK;
		if (strcmp(scalar(node), pair->key) != 0)
			continue;
		int line, column;
		sl_yaml_place(yaml, node, &line, &column);
		return sl_yaml_fail(yaml, pair->key_node, error, SL_ERR_FORMAT,
				    "duplicate key '%s', first given in line %d", pair->key, line);
	}
	return SL_OK;
}

static int take_pair(const struct sl_yaml *yaml, struct fy_node *mapping, struct fy_node_pair *from,
		     struct sl_yaml_pair *pair, struct sl_error *error)
{
	pair->key_node = fy_node_pair_key(from);
	pair->value_node = fy_node_pair_value(from);
	pair->key = scalar(pair->key_node);
	pair->value = scalar(pair->value_node);
	if (pair->key == NULL || pair->key[0] == '\0')
		return sl_yaml_fail(yaml, pair->key_node ? pair->key_node : mapping, error, SL_ERR_FORMAT,
				    "a key must be a word");
	int code = check_twice(yaml, mapping, pair, error);
	if (code == SL_OK && (pair->value_node == NULL || (pair->value && pair->value[0] == '\0')))
		code = sl_yaml_fail(yaml, pair->key_node, error, SL_ERR_FORMAT, "key '%s' has no value",
				    pair->key);
	if (code == SL_OK && pair->value == NULL)
		code = sl_yaml_fail(yaml, pair->value_node, error, SL_ERR_FORMAT,
				    "the value of '%s' must be a single word or number", pair->key);
	return code;
}

int sl_yaml_each(const struct sl_yaml *yaml, struct fy_node *mapping, sl_yaml_visit visit, void *context,
		 struct sl_error *error)
{
	if (!fy_node_is_mapping(mapping))
		return sl_yaml_fail(yaml, mapping, error, SL_ERR_FORMAT, "expected 'key: value' lines");
	void *at = NULL;
	int code = SL_OK;
	for (struct fy_node_pair *p; code == SL_OK && (p = fy_node_mapping_iterate(mapping, &at)) != NULL;) {
		struct sl_yaml_pair pair;
		code = take_pair(yaml, mapping, p, &pair, error);
		if (code == SL_OK)
			code = visit(context, &pair, error);
	}
	return code;
}

int sl_yaml_part(const struct sl_yaml *yaml, struct fy_node *mapping, const char *key, bool sequence,
		 struct fy_node **part, struct sl_error *error)
{
	*part = fy_node_mapping_lookup_value_by_string(mapping, key, strlen(key));
	if (*part == NULL)
		return sl_yaml_fail(yaml, mapping, error, SL_ERR_INVALID, "missing key '%s'", key);
	if (sequence ? !fy_node_is_sequence(*part) : !fy_node_is_mapping(*part))
		return sl_yaml_fail(yaml, *part, error, SL_ERR_INVALID, "'%s' must be a %s", key,
				    sequence ? "list" : "mapping");
	return SL_OK;
}
