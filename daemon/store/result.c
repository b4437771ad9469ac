/* result.c - a committed model and its certificate as a file of one tensor (common/model/safetensors.h).
 *
 *   {"__metadata__":{...},"model":{"data_offsets":[0,b],"dtype":"U8","shape":[b]}}
 *
 * and then the model, as base/tensors.h lays it out, and the exponents of its ranges: b bytes.
 *
 * "round" is the payload of the Round message in hexadecimal, "digests" that of each signer's Digest,
 * separated by spaces. The checksum is BLAKE2b-256 of the strands of the model (common/field/vector_hash.h)
 * and of the other metadata as JSON: nothing in the file can change unseen.
 */
#include "daemon/store/result.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/core/certificate.h"
#include "common/field/field.h"
#include "common/protocol/canonical.h"
#include "common/wire/check.h"
#include "common/wire/codec.h"
#include "daemon/runtime/pages.h"

#define FORMAT "starling-result-8"
#define EMPTY_TENSORS 65536u /* without elements, at most; each has an exponent */
#define PATH_BYTES 4096u
/* Do not block on a pipe of that name. */
#define OPEN_FLAGS (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
#define DIGEST_BYTES 512u /* more than the frame of a Digest */

void sl_result_name(sl_round t, char name[static SL_FILE_NAME_BYTES])
{
	snprintf(name, SL_FILE_NAME_BYTES, "result-%06" PRIu32 ".safetensors", t);
}

/* Parse "result-NNNNNN.safetensors" or the name of its temporary file. */
static bool name_parse(const char *name, sl_round *t, bool *temporary)
{
	char again[SL_FILE_NAME_BYTES];
	if (sscanf(name, "result-%7" SCNu32, t) != 1)
		return false;
	sl_result_name(*t, again);
	size_t length = strlen(again);
	if (strncmp(name, again, length) != 0)
		return false;
	*temporary = strcmp(name + length, SL_TEMPORARY) == 0;
	return *temporary || name[length] == '\0';
}

/* ---- checks before writing and after reading ---- */

static bool signed_before(const struct sl_certificate *certificate, uint32_t i)
{
	for (uint32_t j = 0; j < i; j++)
		if (certificate->digests[j].id == certificate->digests[i].id)
			return true;
	return false;
}

static const char *certificate_flaw(const struct sl_certificate *certificate)
{
	if (certificate->t > SL_ROUNDS_MAX)
		return "round out of range";
	if (certificate->count < 1 || certificate->count > SL_LEARNERS_MAX)
		return "no digest, or too many";
	if (certificate->round == NULL || certificate->round->t != certificate->t ||
	    certificate->round->a != certificate->a)
		return "the Round is of another attempt";
	const char *wrong =
		sl_check_message(&(struct sl_message){SL_MSG_ROUND, {.round_head = *certificate->round}});
	if (wrong != NULL)
		return wrong;
	for (uint32_t i = 0; i < certificate->count; i++) {
		struct sl_message message = {.kind = SL_MSG_DIGEST, .digest = certificate->digests[i]};
		const char *flaw = sl_check_message(&message); /* it will be sent */
		if (flaw != NULL)
			return flaw;
		if (!sl_certificate_agrees(certificate, &certificate->digests[i]))
			return "digests that do not agree";
		if (signed_before(certificate, i))
			return "two digests of one signer";
	}
	return NULL;
}

static const char *result_flaw(const struct sl_certificate *certificate, uint64_t n, uint64_t bytes)
{
	struct sl_field field;
	const char *flaw = certificate_flaw(certificate);
	if (flaw != NULL)
		return flaw;
	if (sl_field_init(&field, certificate->round->p) != SL_OK)
		return "p is not a prime between 2 and 2^61";
	if (n != certificate->round->n)
		return "a result of another n";
	return bytes >= 4 * n && bytes <= 8 * n + 2 * (n + EMPTY_TENSORS) ? NULL
									  : "the model is not n elements";
}

/* Hash the strands of the model and `metadata`, which have no checksum yet; false: out of memory. */
static bool checksum_of(const json_t *metadata, const uint8_t strands[static SL_STRANDS_BYTES],
			uint8_t sum[static SL_HASH_BYTES])
{
	crypto_generichash_state state;
	char *text = json_dumps(metadata, JSON_COMPACT | JSON_SORT_KEYS);
	if (text == NULL)
		return false;
	crypto_generichash_init(&state, NULL, 0, SL_HASH_BYTES);
	crypto_generichash_update(&state, strands, SL_STRANDS_BYTES);
	crypto_generichash_update(&state, (const uint8_t *)text, strlen(text));
	crypto_generichash_final(&state, sum, SL_HASH_BYTES);
	free(text);
	return true;
}

/* ---- writing ---- */

/* Return the payload of `message` in hexadecimal, which the caller frees; NULL: out of memory. */
static char *payload_text(const struct sl_message *message)
{
	size_t size = sl_codec_bytes(message), digits = 2 * (size - SL_FRAME_HEADER_BYTES) + 1;
	uint8_t *frame = malloc(size);
	char *text = malloc(digits);
	if (frame != NULL && text != NULL) {
		sl_codec_encode(message, frame, size, NULL);
		sodium_bin2hex(text, digits, frame + SL_FRAME_HEADER_BYTES, size - SL_FRAME_HEADER_BYTES);
	} else {
		free(text);
		text = NULL;
	}
	free(frame);
	return text;
}

/* Return the digests in hexadecimal, which the caller frees; NULL: out of memory. */
static char *digests_text(const struct sl_certificate *certificate)
{
	size_t used = 0, room = certificate->count * (size_t)(2 * DIGEST_BYTES + 1) + 1;
	char *text = malloc(room);
	for (uint32_t i = 0; i < certificate->count && text != NULL; i++) {
		char *digest = payload_text(
			&(struct sl_message){SL_MSG_DIGEST, {.digest = certificate->digests[i]}});
		if (digest == NULL) {
			free(text);
			return NULL;
		}
		used += (size_t)snprintf(text + used, room - used, "%s%s", i > 0 ? " " : "", digest);
		assert(used < room);
		free(digest);
	}
	return text;
}

/* Return the metadata without the checksum, or NULL if the name of the run is not UTF-8 or memory is short.
 */
static json_t *metadata_of(const char *run, const struct sl_certificate *certificate, uint64_t n)
{
	char number[24], *digests = digests_text(certificate);
	char *round = payload_text(&(struct sl_message){SL_MSG_ROUND, {.round_head = *certificate->round}});
	json_t *metadata = NULL;
	snprintf(number, sizeof number, "%" PRIu64, n);
	if (round != NULL && digests != NULL)
		metadata = json_pack("{s:s,s:s,s:s,s:s,s:s}", "format", FORMAT, "run", run, "n", number,
				     "round", round, "digests", digests);
	free(digests);
	free(round);
	return metadata;
}

/* Return the header, or NULL if the name of the run is not UTF-8 or memory is short. */
static json_t *header_of(const char *run, const struct sl_certificate *certificate, uint64_t n, size_t bytes,
			 const uint8_t strands[static SL_STRANDS_BYTES], uint8_t sum[static SL_HASH_BYTES])
{
	char text[2 * SL_HASH_BYTES + 1];
	json_t *metadata = metadata_of(run, certificate, n);
	if (metadata == NULL || !checksum_of(metadata, strands, sum)) {
		json_decref(metadata);
		return NULL;
	}
	sodium_bin2hex(text, sizeof text, sum, SL_HASH_BYTES);
	json_object_set_new(metadata, "checksum", json_string(text));
	return json_pack("{s:o,s:{s:s,s:[I],s:[I,I]}}", "__metadata__", metadata, "model", "dtype", "U8",
			 "shape", (json_int_t)bytes, "data_offsets", (json_int_t)0, (json_int_t)bytes);
}

static bool file_of_run(int folder, const char *name, const char *run)
{
	json_t *header = NULL;
	uint64_t begin;
	const char *theirs;
	int fd = openat(folder, name, OPEN_FLAGS);
	bool same = fd >= 0 && sl_safetensors_header(fd, &header, &begin) == NULL &&
		    json_unpack(header, "{s:{s:s}}", "__metadata__", "run", &theirs) == 0 &&
		    strcmp(theirs, run) == 0;
	json_decref(header);
	if (fd >= 0)
		close(fd);
	return same;
}

void sl_result_forget(const char *folder, sl_round t)
{
	char name[SL_FILE_NAME_BYTES], path[PATH_BYTES];
	sl_result_name(t, name);
	if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) < sizeof path)
		unlink(path);
}

/* Give the file of round `over` the name of that of round `t`, of which there is none; false: it is not
 * there. */
static bool take_over(const char *folder, sl_round over, sl_round t)
{
	char from[SL_FILE_NAME_BYTES], to[SL_FILE_NAME_BYTES];
	int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	sl_result_name(over, from);
	sl_result_name(t, to);
	bool taken = at >= 0 && faccessat(at, to, F_OK, 0) != 0 && renameat(at, from, at, to) == 0;
	if (at >= 0)
		close(at);
	return taken;
}

int sl_result_write(const char *folder, const char *run, const struct sl_certificate *certificate, uint64_t n,
		    const void *model, size_t bytes, const uint8_t *strands, sl_round over,
		    uint8_t checksum[static SL_HASH_BYTES], struct sl_error *error)
{
	char name[SL_FILE_NAME_BYTES];
	uint8_t found[SL_STRANDS_BYTES];
	sl_result_name(certificate->t, name);
	const char *flaw = result_flaw(certificate, n, bytes);
	if (flaw != NULL)
		return sl_err_set(error, SL_ERR_INVALID, "%s/%s: %s", folder, name, flaw);
	if (strands == NULL)
		sl_canonical_strands(model, bytes, found);
	json_t *header = header_of(run, certificate, n, bytes, strands == NULL ? found : strands, checksum);
	bool taken = header != NULL && over > 0 && take_over(folder, over, certificate->t);
	return sl_safetensors_write(folder, name, taken ? SL_SAFETENSORS_OVER : SL_SAFETENSORS_WHOLE, 0644,
				    header, model, bytes, error);
}

/* ---- reading ---- */

struct file {
	json_t *header;	  /* owned */
	json_t *metadata; /* of it, from metadata_parse on without the checksum */
	const char *run;
	uint64_t n;
	struct sl_certificate certificate;
	struct sl_decoded *round; /* owned */
	uint8_t checksum[SL_HASH_BYTES];
	uint64_t begin, bytes; /* of the data */
};

/* Each of the following checks returns the flaw or NULL. */

/* Decode the payload of a message of `kind` in `length` hexadecimal digits. */
static const char *payload_parse(const char *text, size_t length, enum sl_message_kind kind,
				 struct sl_decoded *decoded)
{
	size_t size = 0, room = length / 2 + 1;
	const char *end = NULL, *why = NULL;
	uint8_t *payload = malloc(room);
	if (payload == NULL)
		return "out of memory";
	if (sodium_hex2bin(payload, room, text, length, NULL, &size, &end) != 0 || end != text + length)
		why = "round or digests are not hexadecimal digits";
	else
		sl_codec_decode(kind, payload, size, decoded, &why);
	free(payload);
	return why;
}

static const char *round_parse(const char *text, struct file *f)
{
	f->round = calloc(1, sizeof *f->round);
	return f->round == NULL ? "out of memory" : payload_parse(text, strlen(text), SL_MSG_ROUND, f->round);
}

/* Read the Digest in `length` hexadecimal digits into the certificate; the first one begins it. */
static const char *digest_parse(const char *text, size_t length, struct file *f)
{
	struct sl_decoded decoded;
	struct sl_certificate *certificate = &f->certificate;
	const char *why = payload_parse(text, length, SL_MSG_DIGEST, &decoded);
	if (why != NULL)
		return why;
	if (certificate->count == 0)
		sl_certificate_begin(certificate, &decoded.message.digest);
	certificate->round = &f->round->message.round_head;
	certificate->digests[certificate->count++] = decoded.message.digest;
	sl_codec_close(&decoded);
	return NULL;
}

static const char *digests_parse(const char *text, struct file *f)
{
	const char *flaw, *at = text;
	size_t room = 1;
	for (const char *c = text; *c != '\0'; c++)
		room += *c == ' ';
	if (room > SL_LEARNERS_MAX)
		return "too many digests";
	f->certificate.digests = calloc(room, sizeof *f->certificate.digests);
	if (f->certificate.digests == NULL)
		return "out of memory";
	do {
		size_t length = strcspn(at, " ");
		flaw = digest_parse(at, length, f);
		at += length;
	} while (flaw == NULL && *at++ == ' ');
	return flaw;
}

static const char *metadata_parse(struct file *f)
{
	const char *format, *n, *round, *digests, *checksum;
	if (json_unpack(f->metadata, "{s:s,s:s,s:s,s:s,s:s,s:s!}", "format", &format, "run", &f->run, "n", &n,
			"round", &round, "digests", &digests, "checksum", &checksum) != 0)
		return "the metadata are not those of a result";
	if (strcmp(format, FORMAT) != 0)
		return "the format is not " FORMAT;
	if (!sl_safetensors_metadata_number(n, UINT64_MAX, &f->n))
		return "n is no number";
	if (!sl_safetensors_metadata_bytes(checksum, f->checksum, sizeof f->checksum))
		return "checksum is not 64 hexadecimal digits";
	json_object_del(f->metadata, "checksum");
	const char *flaw = round_parse(round, f);
	return flaw == NULL ? digests_parse(digests, f) : flaw;
}

static const char *header_read(int fd, struct file *f)
{
	const char *type;
	json_int_t size, begin, end;
	const char *wrong = sl_safetensors_header(fd, &f->header, &f->begin);
	if (wrong != NULL)
		return wrong;
	if (json_unpack(f->header, "{s:o,s:{s:s,s:[I!],s:[I,I!]!}!}", "__metadata__", &f->metadata, "model",
			"dtype", &type, "shape", &size, "data_offsets", &begin, &end) != 0)
		return "the header is not that of a result";
	if (strcmp(type, "U8") != 0)
		return "the model is not U8";
	if (size < 0 || begin != 0 || end != size)
		return "shape and data_offsets do not agree";
	f->bytes = (uint64_t)size;
	return metadata_parse(f);
}

/* Check the header before the tensor is mapped. */
static const char *content_flaw(int fd, const struct file *f, uint64_t n, sl_round t)
{
	if (f->certificate.t != t)
		return "holds another round";
	if (f->n != n)
		return "a result of another n";
	const char *flaw = result_flaw(&f->certificate, n, f->bytes);
	return flaw != NULL ? flaw : sl_safetensors_extent(fd, f->begin, f->bytes);
}

/* Map the file. */
static int map(int fd, struct file *f, struct sl_result *result)
{
	size_t size = f->begin + f->bytes;
	void *base = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (base == MAP_FAILED)
		return SL_ERR_IO;
	*result = (struct sl_result){.certificate = f->certificate,
				     .round = f->round,
				     .model = (const uint8_t *)base + f->begin,
				     .bytes = f->bytes,
				     .map = base,
				     .map_bytes = size};
	memcpy(result->checksum, f->checksum, sizeof f->checksum);
	f->round = NULL;
	f->certificate.digests = NULL;
	return SL_OK;
}

static bool undamaged(const struct file *f, const struct sl_result *result)
{
	uint8_t strands[SL_STRANDS_BYTES], sum[SL_HASH_BYTES];
	sl_canonical_strands(result->model, result->bytes, strands);
	bool same = checksum_of(f->metadata, strands, sum) && memcmp(sum, f->checksum, sizeof sum) == 0;
	sl_pages_release(result->map, result->map_bytes);
	return same;
}

static int no_result(const char *folder, const char *run, sl_round t, struct sl_error *error)
{
	return sl_err_set(error, SL_ERR_NOTFOUND, "%s: no result of round %" PRIu32 " of run %s", folder, t,
			  run);
}

static int file_read(int fd, const char *path, struct file *f, uint64_t n, sl_round t, bool check,
		     struct sl_result *result, struct sl_error *error)
{
	const char *wrong = content_flaw(fd, f, n, t);
	if (wrong != NULL)
		return sl_err_set(error, SL_ERR_FORMAT, "%s: %s", path, wrong);
	if (map(fd, f, result) != SL_OK)
		return sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	if (check && !undamaged(f, result))
		return sl_err_set(error, SL_ERR_FORMAT, "%s: damaged: it does not match its checksum", path);
	return SL_OK;
}

static void round_free(struct sl_decoded *round)
{
	if (round != NULL)
		sl_codec_close(round);
	free(round);
}

static int open_result(const char *folder, const char *run, uint64_t n, sl_round t, bool check,
		       struct sl_result *result, struct sl_error *error)
{
	char name[SL_FILE_NAME_BYTES], path[PATH_BYTES];
	struct file file = {0};
	*result = (struct sl_result){0};
	sl_result_name(t, name);
	if ((size_t)snprintf(path, sizeof path, "%s/%s", folder, name) >= sizeof path)
		return sl_err_set(error, SL_ERR_RANGE, "%s: the folder's path is too long", folder);
	int fd = open(path, OPEN_FLAGS);
	if (fd < 0)
		return errno == ENOENT ? no_result(folder, run, t, error)
				       : sl_err_set(error, SL_ERR_IO, "%s: %s", path, strerror(errno));
	const char *wrong = header_read(fd, &file);
	int rc;
	if (wrong != NULL)
		rc = sl_err_set(error, SL_ERR_FORMAT, "%s: %s", path, wrong);
	else if (strcmp(file.run, run) != 0)
		rc = no_result(folder, run, t, error);
	else
		rc = file_read(fd, path, &file, n, t, check, result, error);
	if (rc != SL_OK)
		sl_result_close(result);
	round_free(file.round);
	free(file.certificate.digests);
	json_decref(file.header);
	close(fd);
	return rc;
}

int sl_result_open(const char *folder, const char *run, uint64_t n, sl_round t, struct sl_result *result,
		   struct sl_error *error)
{
	return open_result(folder, run, n, t, true, result, error);
}

int sl_result_show(const char *folder, const char *run, uint64_t n, sl_round t, struct sl_result *result,
		   struct sl_error *error)
{
	return open_result(folder, run, n, t, false, result, error);
}

void sl_result_close(struct sl_result *result)
{
	if (result->map != NULL)
		munmap(result->map, result->map_bytes);
	round_free(result->round);
	free(result->certificate.digests);
	*result = (struct sl_result){0};
}

/* ---- after a crash ---- */

/* Return true if the file holds round `t` of this run, whatever its name says. */
static bool holds_round(int folder, const char *name, const char *run, sl_round t)
{
	struct file file = {0};
	int fd = openat(folder, name, OPEN_FLAGS);
	bool holds = fd >= 0 && header_read(fd, &file) == NULL && strcmp(file.run, run) == 0 &&
		     file.certificate.t == t;
	round_free(file.round);
	free(file.certificate.digests);
	json_decref(file.header);
	if (fd >= 0)
		close(fd);
	return holds;
}

/* Remove an old file. One that cannot be removed now is removed at the next start. Temporary files are safe
 * to remove: the lock of the folder excludes other writers. */
static void sweep_one(int folder, const char *name, const char *run, sl_round limit)
{
	sl_round t;
	bool temporary;
	char wanted[SL_FILE_NAME_BYTES];
	sl_result_name(limit, wanted);
	if (!name_parse(name, &t, &temporary) || (t >= limit && !temporary))
		return;
	if (!temporary && faccessat(folder, wanted, F_OK, 0) != 0 && holds_round(folder, name, run, limit))
		renameat(folder, name, folder, wanted);
	else if (temporary || file_of_run(folder, name, run))
		unlinkat(folder, name, 0);
}

void sl_result_sweep(const char *folder, const char *run, sl_round limit)
{
	DIR *entries = opendir(folder);
	const struct dirent *entry;
	while (entries != NULL && (entry = readdir(entries)) != NULL)
		sweep_one(dirfd(entries), entry->d_name, run, limit);
	if (entries != NULL)
		closedir(entries);
}
