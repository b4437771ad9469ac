#include "tools/starling/npz.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6u
#define ALIGNMENT 64u
#define HEADER_BYTES 512u
#define LOCAL 0x04034b50u
#define ENTRY 0x02014b50u
#define END 0x06054b50u
#define VERSION 20u  /* of zip, needed to read */
#define UTF8 0x0800u /* flag: names are UTF-8 */
#define DATE 0x0021u /* 1980-01-01, the first one */
#define NAME_BYTES (SL_TENSOR_NAME_BYTES + 4)

static_assert(8 * (uint64_t)SL_ELEMENTS_MAX + (64u << 20) < UINT32_MAX, "sizes and places have 32 bits");

/* A record under construction: little-endian numbers of 2 and 4 bytes. */
struct record {
	uint8_t bytes[64];
	size_t used;
};

static void put(struct record *r, uint32_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		r->bytes[r->used++] = (uint8_t)(value >> 8 * i);
}

/* A file in the zip file. */
struct member {
	char name[NAME_BYTES], header[HEADER_BYTES];
	size_t header_bytes;
	uint32_t crc, size, place;
};

/* Write the header of an .npy file with this tensor; return its bytes. */
static size_t put_header(const struct sl_tensor *t, char header[static HEADER_BYTES])
{
	static const char *const types[] = {[SL_FLOAT32] = "<f4", [SL_FLOAT64] = "<f8", [SL_INT64] = "<i8"};
	size_t start = MAGIC_BYTES + 4;
	memcpy(header, MAGIC "\x01", MAGIC_BYTES + 2); /* with the zero of the version */
	size_t used = start + (size_t)snprintf(header + start, HEADER_BYTES - start,
					       "{'descr': '%s', 'fortran_order': False, 'shape': (",
					       types[t->dtype]);
	for (uint32_t d = 0; d < t->dimensions; d++)
		used += (size_t)snprintf(header + used, HEADER_BYTES - used, "%" PRIu64 ", ", t->shape[d]);
	if (t->dimensions > 0)
		used -= t->dimensions == 1 ? 1 : 2; /* (3,) and (3, 2) */
	used += (size_t)snprintf(header + used, HEADER_BYTES - used, "), }");
	while ((used + 1) % ALIGNMENT != 0)
		header[used++] = ' ';
	header[used++] = '\n';
	header[MAGIC_BYTES + 2] = (char)((used - start) & 0xff);
	header[MAGIC_BYTES + 3] = (char)((used - start) >> 8);
	return used;
}

static void describe(struct member *m, const struct sl_model_tensor *t)
{
	snprintf(m->name, sizeof m->name, "%s.npy", t->tensor.name);
	m->header_bytes = put_header(&t->tensor, m->header);
	m->size = (uint32_t)(m->header_bytes + t->size);
	m->crc = (uint32_t)crc32_z(crc32_z(0, (const Bytef *)m->header, m->header_bytes),
				   (const Bytef *)t->bytes, t->size);
}

/* Put the fields that the local header and the entry of the directory have in common. */
static void put_common(struct record *r, const struct member *m)
{
	put(r, VERSION, 2);
	put(r, UTF8, 2);
	put(r, 0, 2); /* stored */
	put(r, 0, 2); /* midnight */
	put(r, DATE, 2);
	put(r, m->crc, 4);
	put(r, m->size, 4);
	put(r, m->size, 4);
	put(r, (uint32_t)strlen(m->name), 2);
	put(r, 0, 2); /* no more fields */
}

static void write_member(FILE *out, struct member *m, const struct sl_model_tensor *t, uint32_t *place)
{
	struct record r = {.used = 0};
	describe(m, t);
	m->place = *place;
	put(&r, LOCAL, 4);
	put_common(&r, m);
	fwrite(r.bytes, 1, r.used, out);
	fwrite(m->name, 1, strlen(m->name), out);
	fwrite(m->header, 1, m->header_bytes, out);
	fwrite(t->bytes, 1, t->size, out);
	*place += (uint32_t)(r.used + strlen(m->name)) + m->size;
}

static void write_entry(FILE *out, const struct member *m, uint32_t *place)
{
	struct record r = {.used = 0};
	put(&r, ENTRY, 4);
	put(&r, VERSION, 2); /* that wrote it */
	put_common(&r, m);
	put(&r, 0, 2); /* no comment */
	put(&r, 0, 2); /* first disk */
	put(&r, 0, 2); /* attributes */
	put(&r, 0, 4);
	put(&r, m->place, 4);
	fwrite(r.bytes, 1, r.used, out);
	fwrite(m->name, 1, strlen(m->name), out);
	*place += (uint32_t)(r.used + strlen(m->name));
}

int sl_npz_write(FILE *out, const struct sl_model_file *file)
{
	struct member *members = calloc(file->count, sizeof *members);
	struct record r = {.used = 0};
	uint32_t place = 0;
	if (members == NULL || file->count > UINT16_MAX) {
		free(members);
		return -1;
	}
	for (size_t i = 0; i < file->count; i++)
		write_member(out, &members[i], &file->tensors[i], &place);
	uint32_t directory = place;
	for (size_t i = 0; i < file->count; i++)
		write_entry(out, &members[i], &place);
	put(&r, END, 4);
	put(&r, 0, 4); /* one disk */
	put(&r, (uint32_t)file->count, 2);
	put(&r, (uint32_t)file->count, 2);
	put(&r, place - directory, 4);
	put(&r, directory, 4);
	put(&r, 0, 2); /* no comment */
	fwrite(r.bytes, 1, r.used, out);
	free(members);
	return ferror(out) ? -1 : 0;
}
