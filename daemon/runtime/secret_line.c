#include "daemon/runtime/secret_line.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int sl_secret_line_read(const char *path, char *line, size_t size, struct sl_error *error)
{
	struct stat status;
	FILE *in = fopen(path, "re");
	if (in == NULL || fstat(fileno(in), &status) < 0) {
		int saved = errno;
		if (in != NULL)
			fclose(in);
		return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(saved));
	}
	if (fgets(line, (int)size, in) == NULL)
		line[0] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	fclose(in);
	if ((status.st_mode & 077) != 0)
		return sl_err_set(error, SL_ERR_INVALID, "%s: others can read it; run chmod 600 on it", path);
	return SL_OK;
}
