/* exact_form.h - whether a payload is the only one that its message packs to. */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

/* Return true if `m` packs to `payload`. protobuf-c itself takes the last of two fields, drops bits above 32
 * and reads fields in any order. */
bool sl_exact_form(const ProtobufCMessage *m, const uint8_t *payload, size_t size);
