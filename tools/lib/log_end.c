#include "tools/lib/log_end.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/lib/command.h"

/* Read the end of a file into `text`; return its bytes. A pipe would wait for its other end: it has none. */
static size_t read_end(const char *path, size_t from, size_t bytes, char *text)
{
	struct stat st;
	ssize_t n = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		size_t size = (size_t)st.st_size, least = size > bytes ? size - bytes : 0;
		n = pread(fd, text, bytes, (off_t)(least > from ? least : from));
	}
	if (fd >= 0)
		close(fd);
	return n > 0 ? (size_t)n : 0;
}

void sl_log_end_read(const char *path, size_t from, size_t bytes, sl_log_end_take_fn *take, void *context)
{
	char *text = sl_command_memory(1, bytes);
	const char *line = text, *all = text + read_end(path, from, bytes, text);
	while (line < all) {
		const char *end = memchr(line, '\n', (size_t)(all - line));
		end = end != NULL ? end : all;
		json_t *json = json_loadb(line, (size_t)(end - line), 0, NULL);
		struct sl_record record;
		sl_record_read(&record, json);
		if (json_is_object(json))
			take(context, &record);
		json_decref(json);
		line = end + 1;
	}
	free(text);
}
