/* refuse.h - payloads written byte by byte, and what the decoder must say of them. */
#pragma once

#include "common/base/bytes.h"
#include "common/wire/codec.h"

/* The decoder gives this reason, or NULL: takes the payload. It reads a copy of exactly `size` bytes. */
void expect(uint32_t kind, const uint8_t *payload, size_t size, const char *reason);
/* The same for a message in protobuf-c's struct. */
void expect_packed(uint32_t kind, const void *message, const char *reason);

/* A payload under construction: begin, put.., expect_written. */
extern struct sl_writer w;
void begin(void);
void put_byte(unsigned byte);
void put_varint(uint64_t value);
/* A tag with a length-delimited value. */
void put_span(unsigned tag, const void *bytes, size_t size);
/* The fields of protobuf-c's struct that are set. */
void put_packed(const void *message);
void expect_written(uint32_t kind, const char *reason);
