#include "common/model/idx.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/base/bytes.h"

#define IMAGES_MAGIC 0x00000803u
#define LABELS_MAGIC 0x00000801u
#define READ_AHEAD (128u << 10)

/* A file that is being read; zlib reads plain files too. */
struct stream {
	gzFile file;
	uint64_t offset; /* offset of the next unpacked byte */
	char path[SL_PATH_BYTES + 64];
};

/* Open "FOLDER/PREFIX-NAME", otherwise the same with .gz. SL_ERR_NOTFOUND, without a text: neither exists. */
static int stream_open(struct stream *s, const char *folder, const char *prefix, const char *name,
		       struct sl_error *error)
{
	static const char *const endings[] = {"", ".gz"};
	for (size_t i = 0; i < 2; i++) {
		*s = (struct stream){0};
		int length =
			snprintf(s->path, sizeof s->path, "%s/%s-%s%s", folder, prefix, name, endings[i]);
		if (length < 0 || (size_t)length >= sizeof s->path)
			return sl_err_set(error, SL_ERR_RANGE, "data: the folder's path is too long");
		errno = 0;
		s->file = gzopen(s->path, "rbe");
		if (s->file != NULL) {
			gzbuffer(s->file, READ_AHEAD);
			return SL_OK;
		}
		if (errno == ENOTDIR)
			return sl_err_set(error, SL_ERR_INVALID,
					  "%s: not a folder; data must name the folder of the IDX files",
					  folder);
		if (errno != ENOENT)
			return sl_err_set(error, SL_ERR_IO, "%s: %s", s->path,
					  errno != 0 ? strerror(errno) : sl_err_text(SL_ERR_NOMEM));
	}
	return SL_ERR_NOTFOUND;
}

static void stream_close(struct stream *s)
{
	if (s->file != NULL)
		gzclose_r(s->file);
	s->file = NULL;
}

/* Return the error of zlib or of the system, without the path that zlib puts in front; NULL at the end of the
 * file. */
static const char *stream_trouble(const struct stream *s)
{
	int code = Z_OK;
	const char *text = gzerror(s->file, &code);
	if (code == Z_OK || code == Z_STREAM_END)
		return NULL;
	if (code == Z_ERRNO)
		return strerror(errno);
	size_t prefix = strlen(s->path);
	return strncmp(text, s->path, prefix) == 0 && text[prefix] == ':' ? text + prefix + 2 : text;
}

/* Read the next `size` bytes; `what` and `number` (or -1) name them in the error. */
static int stream_read(struct stream *s, void *bytes, uint32_t size, const char *what, int64_t number,
		       struct sl_error *error)
{
	char numbered[24] = "";
	int got = gzread(s->file, bytes, size);
	if (got == (int)size) {
		s->offset += size;
		return SL_OK;
	}
	const char *trouble = stream_trouble(s);
	if (number >= 0)
		snprintf(numbered, sizeof numbered, " %" PRId64, number);
	return sl_err_set(error, SL_ERR_FORMAT,
			  "%s: offset %" PRIu64 ": expected %" PRIu32 " bytes of %s%s, got %d%s%s%s", s->path,
			  s->offset, size, what, numbered, got < 0 ? 0 : got, trouble ? " (" : "",
			  trouble ? trouble : "", trouble ? ")" : "");
}

/* Check that the file ends here; reading to the end also makes zlib compare its checksum. */
static int stream_end(struct stream *s, struct sl_error *error)
{
	uint8_t byte;
	int got = gzread(s->file, &byte, 1);
	const char *trouble = stream_trouble(s);
	if (got == 0 && trouble == NULL)
		return SL_OK;
	return sl_err_set(error, SL_ERR_FORMAT, "%s: offset %" PRIu64 ": %s", s->path, s->offset,
			  trouble != NULL ? trouble : "bytes after the last item");
}

static uint32_t word(const uint8_t *b)
{
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static int read_magic(struct stream *s, const uint8_t *header, uint32_t expected, const char *what,
		      struct sl_error *error)
{
	if (word(header) == expected)
		return SL_OK;
	return sl_err_set(error, SL_ERR_FORMAT,
			  "%s: offset 0: magic 0x%08" PRIx32 ", expected 0x%08" PRIx32 " of IDX %s", s->path,
			  word(header), expected, what);
}

static int read_images_header(struct stream *s, uint32_t *count, struct sl_error *error)
{
	uint8_t header[16];
	int rc = stream_read(s, header, sizeof header, "header", -1, error);
	if (rc == SL_OK)
		rc = read_magic(s, header, IMAGES_MAGIC, "images", error);
	if (rc != SL_OK)
		return rc;
	*count = word(header + 4);
	if (*count > SL_IMAGES_MAX)
		return sl_err_set(error, SL_ERR_FORMAT,
				  "%s: offset 4: %" PRIu32 " images, at most %u are read", s->path, *count,
				  SL_IMAGES_MAX);
	if (word(header + 8) != SL_IMAGE_SIDE || word(header + 12) != SL_IMAGE_SIDE)
		return sl_err_set(error, SL_ERR_FORMAT,
				  "%s: offset 8: images of %" PRIu32 " x %" PRIu32
				  " pixels, expected 28 x 28",
				  s->path, word(header + 8), word(header + 12));
	return SL_OK;
}

/* Read the labels of an open file; there must be `count`. */
static int read_labels(struct stream *s, uint32_t count, uint8_t *labels, struct sl_error *error)
{
	uint8_t header[8];
	int rc = stream_read(s, header, sizeof header, "header", -1, error);
	if (rc == SL_OK)
		rc = read_magic(s, header, LABELS_MAGIC, "labels", error);
	if (rc != SL_OK)
		return rc;
	if (word(header + 4) != count)
		return sl_err_set(error, SL_ERR_FORMAT,
				  "%s: offset 4: %" PRIu32 " labels for %" PRIu32 " images", s->path,
				  word(header + 4), count);
	rc = stream_read(s, labels, count, "labels", -1, error);
	return rc == SL_OK ? stream_end(s, error) : rc;
}

static int load_labels(const char *folder, const char *prefix, uint32_t count, uint8_t **labels,
		       struct sl_error *error)
{
	struct stream s;
	int rc = stream_open(&s, folder, prefix, "labels-idx1-ubyte", error);
	if (rc == SL_ERR_NOTFOUND)
		return sl_err_set(error, rc,
				  "%s: no %s-labels-idx1-ubyte or .gz, which `partition: by_label` needs",
				  folder, prefix);
	if (rc != SL_OK)
		return rc;
	*labels = malloc(count);
	rc = *labels == NULL ? sl_err_set(error, SL_ERR_NOMEM, "%s: out of memory", s.path)
			     : read_labels(&s, count, *labels, error);
	stream_close(&s);
	return rc;
}

/* Read all images; keep the slice and the held-out ones, which follow the pool. */
static int read_images(struct stream *s, uint32_t count, const uint64_t *slice, struct sl_dataset *set,
		       struct sl_error *error)
{
	uint8_t image[SL_PIXELS];
	uint32_t pool = count - sl_images_held_out(count);
	for (uint32_t i = 0; i < count; i++) {
		int rc = stream_read(s, image, sizeof image, "image", i, error);
		if (rc != SL_OK)
			return rc;
		if (i < pool && !sl_bit(slice, i))
			continue;
		uint8_t *kept = sl_images_add(i < pool ? &set->mine : &set->held);
		if (kept == NULL)
			return sl_err_set(error, SL_ERR_NOMEM, "%s: out of memory at image %" PRIu32, s->path,
					  i);
		memcpy(kept, image, sizeof image);
	}
	return stream_end(s, error);
}

/* Read the header, the labels if the partition needs them, and the images. */
static int load_from(struct stream *s, const char *folder, const char *prefix, const struct sl_deal *deal,
		     struct sl_dataset *set, struct sl_error *error)
{
	uint32_t count;
	uint8_t *labels = NULL;
	uint64_t *slice = NULL;
	int rc = read_images_header(s, &count, error);
	if (rc != SL_OK)
		return rc;
	uint32_t held = sl_images_held_out(count);
	if (count < held || count - held < deal->learners)
		return sl_err_set(error, SL_ERR_RANGE,
				  "%s: offset 4: %" PRIu32 " images are too few for %" PRIu32
				  " learners and %" PRIu32 " held out",
				  s->path, count, deal->learners, held);
	if (deal->partition == SL_PARTITION_BY_LABEL)
		rc = load_labels(folder, prefix, count, &labels, error);
	if (rc == SL_OK && (slice = sl_images_deal(deal, labels, count - held)) == NULL)
		rc = sl_err_set(error, SL_ERR_NOMEM, "%s: out of memory", s->path);
	if (rc == SL_OK)
		rc = read_images(s, count, slice, set, error);
	free(slice);
	free(labels);
	return rc;
}

int sl_idx_load(const char *folder, const struct sl_deal *deal, struct sl_dataset *set,
		struct sl_error *error)
{
	static const char *const prefixes[] = {"train", "t10k"};
	for (size_t i = 0; i < 2; i++) {
		struct stream s;
		int rc = stream_open(&s, folder, prefixes[i], "images-idx3-ubyte", error);
		if (rc == SL_ERR_NOTFOUND)
			continue;
		if (rc != SL_OK)
			return rc;
		rc = load_from(&s, folder, prefixes[i], deal, set, error);
		stream_close(&s);
		return rc;
	}
	return sl_err_set(error, SL_ERR_NOTFOUND,
			  "%s: no train-images-idx3-ubyte or t10k-images-idx3-ubyte, plain or .gz", folder);
}
