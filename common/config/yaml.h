/* yaml.h - reading small YAML files strictly: settings and roster.
 *
 * One document a file, mappings of scalars, no aliases, no duplicate keys. Every error is one line,
 * "file:line:column: message", both counted from 1. A sl_yaml owns everything its nodes and texts point to.
 */
#pragma once

#include <libfyaml.h>

#include "common/base/err.h"

#define SL_YAML_BYTES_MAX (1u << 20) /* a roster of SL_LEARNERS_MAX lines takes a third of it */

struct sl_yaml {
	const char *path; /* the caller's */
	char *text;
	struct fy_diag *diag;
	struct fy_parser *parser;
	struct fy_document *document;
	struct fy_node *root;
};

/* One "key: value" of a mapping; both texts are there and not empty. */
struct sl_yaml_pair {
	const char *key;
	const char *value;
	struct fy_node *key_node;
	struct fy_node *value_node;
};

typedef int (*sl_yaml_visit)(void *context, const struct sl_yaml_pair *pair, struct sl_error *error);

/* SL_ERR_NOTFOUND or SL_ERR_IO when the file cannot be read, SL_ERR_FORMAT when it is not one YAML document.
 * After an error there is nothing to close. */
int sl_yaml_open(struct sl_yaml *yaml, const char *path, struct sl_error *error);
void sl_yaml_close(struct sl_yaml *yaml);

/* Visits the pairs of a mapping in their order and stops at the first error. Keys must differ and be scalars;
 * so must values, and they must be there. */
int sl_yaml_each(const struct sl_yaml *yaml, struct fy_node *mapping, sl_yaml_visit visit, void *context,
		 struct sl_error *error);

void sl_yaml_place(const struct sl_yaml *yaml, struct fy_node *node, int *line, int *column);

/* Fails with the node's place in front. */
int sl_yaml_fail(const struct sl_yaml *yaml, struct fy_node *node, struct sl_error *error, int code,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));
