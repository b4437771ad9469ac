/* yaml.h - strict reader of small YAML files: settings and roster.
 *
 * One document a file, mappings of scalars, no aliases, no duplicate keys. Every error is one line,
 * "file:line:column: message", both counted from 1. Nodes and texts point into their struct sl_yaml.
 */
#pragma once

#include <libfyaml.h>

#include "common/base/err.h"

#define SL_YAML_BYTES_MAX (1u << 20) /* a roster of SL_LEARNERS_MAX lines takes a third of it */

struct sl_yaml {
	const char *path; /* not owned */
	char *text;
	struct fy_diag *diag;
	struct fy_parser *parser;
	struct fy_document *document;
	struct fy_node *root;
};

/* One "key: value" of a mapping; neither text is empty. */
struct sl_yaml_pair {
	const char *key;
	const char *value;
	struct fy_node *key_node;
	struct fy_node *value_node;
};

typedef int (*sl_yaml_visit)(void *context, const struct sl_yaml_pair *pair, struct sl_error *error);

/* Parse the file `path`. SL_ERR_NOTFOUND or SL_ERR_IO if it cannot be read, SL_ERR_FORMAT if it is not one
 * YAML document. After an error there is nothing to close. */
int sl_yaml_open(struct sl_yaml *yaml, const char *path, struct sl_error *error);
/* The same for `bytes` bytes of text that are not in a file; `name` is for errors. */
int sl_yaml_read(struct sl_yaml *yaml, const char *name, const char *text, size_t bytes,
		 struct sl_error *error);
void sl_yaml_close(struct sl_yaml *yaml);

/* Call `visit` for each pair of `mapping` in order, up to the first error. Keys must be different scalars;
 * values must be scalars and not empty. */
int sl_yaml_each(const struct sl_yaml *yaml, struct fy_node *mapping, sl_yaml_visit visit, void *context,
		 struct sl_error *error);

/* Return the value of `key` in `mapping` if it is a list or a mapping, as `sequence` says. SL_ERR_INVALID: it
 * is missing or something else. */
int sl_yaml_part(const struct sl_yaml *yaml, struct fy_node *mapping, const char *key, bool sequence,
		 struct fy_node **part, struct sl_error *error);

/* Get the line and the column of `node`, which may be NULL: 1 and 1. */
void sl_yaml_place(const struct sl_yaml *yaml, struct fy_node *node, int *line, int *column);

/* Fail with a message that starts with the place of `node`. */
int sl_yaml_fail(const struct sl_yaml *yaml, struct fy_node *node, struct sl_error *error, int code,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));
