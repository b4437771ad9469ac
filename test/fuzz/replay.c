/* Replay the files that are named, and those of folders. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "test/fuzz/fuzz.h"

static size_t replayed;

static void replay(const char *path)
{
	FILE *in = fopen(path, "rbe");
	if (in == NULL || fseek(in, 0, SEEK_END) != 0) {
		perror(path);
		exit(1);
	}
	size_t size = (size_t)ftell(in);
	uint8_t *bytes = malloc(size); /* of this size, so that a sanitizer sees what is read behind it */
	rewind(in);
	if ((bytes == NULL && size > 0) || fread(bytes, 1, size, in) != size)
		abort();
	fclose(in);
	printf("%s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(bytes, size);
	free(bytes);
	replayed++;
}

static void replay_folder(const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		char file[4096];
		snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.')
			replay(file);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct stat status;
		if (stat(argv[i], &status) == 0 && S_ISDIR(status.st_mode))
			replay_folder(argv[i]);
		else
			replay(argv[i]);
	}
	if (replayed == 0)
		fprintf(stderr, "usage: %s FILE-OR-FOLDER...\n", argv[0]);
	return replayed > 0 ? 0 : 2;
}
