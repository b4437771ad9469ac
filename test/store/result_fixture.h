/* result_fixture.h - results to write, and what must come back. */
#pragma once

#include "daemon/store/result.h"
#include "test/lib/folder.h"

#define RUN "a"
#define P31 UINT64_C(2147483647)	     /* 31 bits an element */
#define CLIP_16 UINT64_C(0x4030000000000000) /* the bits of 16.0 */
#define FLOATS 3
#define Z_BYTES (4 * (FLOATS + 1))
#define THIRD "result-000003.safetensors"

/* A Round of the learners 51 to 70; valid until the next but three. */
struct sl_round_head *round_of(sl_round t, sl_attempt a, uint64_t p, uint64_t n);

/* A proof of round t by `signers`, with its Round; no two of its fields hold the same bytes. */
struct sl_certificate certificate_of(sl_round t, uint32_t signers);

extern const uint8_t made_z[Z_BYTES];

/* Writes round t of the run, with FLOATS, P31, made_z and two signers. */
void write_made(const char *folder, const char *run, sl_round t);

/* Opens round 3 of RUN, which must give the code; and, unless NULL, "folder/THIRD: reason". What is not SL_OK
 * must be empty, and every open one is closed. */
void expect_third(const char *folder, int code, const char *reason);
