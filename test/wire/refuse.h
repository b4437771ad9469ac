/* refuse.h - payloads that are spoilt in one place, and the reason that the decoder must give. */
#pragma once

#include <protobuf-c/protobuf-c.h>

#include "common/base/bytes.h"
#include "common/wire/codec.h"

/* Expect the decoder to refuse `payload` with `reason`, or to accept it if `reason` is NULL. The decoder
 * reads a copy of exactly `size` bytes. */
void expect(uint32_t kind, const uint8_t *payload, size_t size, const char *reason);
/* Expect the same of a message in protobuf-c's struct. */
void expect_packed(uint32_t kind, const void *message, const char *reason);

/* Return protobuf-c's description of messages of `kind`. */
const ProtobufCMessageDescriptor *described(uint32_t kind);
/* Return a valid message of `kind` (literal.h) in protobuf-c's struct, to be spoilt; it lasts until the next
 * call. */
ProtobufCMessage *valid(uint32_t kind);
/* Return the member `name` of `m`. */
void *member(ProtobufCMessage *m, const char *name);
/* Set the number `name` of `m`, or the count of a list, or the size of a span, whose contents are valid up to
 * one above the largest that is allowed. */
void set(ProtobufCMessage *m, const char *name, uint64_t value);
/* Expect `reason` of a valid message of `kind` in which `name` was set to `value`. */
void expect_with(uint32_t kind, const char *name, uint64_t value, const char *reason);

/* A payload under construction: begin, put.., expect_written. */
extern struct sl_writer w;
void begin(void);
void put_byte(unsigned byte);
void put_varint(uint64_t value);
/* Put a tag with a length-delimited value. */
void put_span(unsigned tag, const void *bytes, size_t size);
/* Put the fields of protobuf-c's struct that are set. */
void put_packed(const void *message);
void expect_written(uint32_t kind, const char *reason);
