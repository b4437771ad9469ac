#include "test/wire/literal.h"

#include <assert.h>

/* So many bytes of zero. */
#define Z15 "000000000000000000000000000000"
#define Z31 Z15 "00" Z15
#define Z32 Z31 "00"
#define Z63 Z31 "00" Z31
#define Z71 Z63 "0000000000000000"

#define STATEMENT                                                                                            \
	.n = 1000, .model = 0x0123456789abcdef, .values = 1, .initial = 0xfedcba9876543210, .failed = 1,     \
	.hop_bytes = 300

const struct sl_scope literal_scope = {.run = {0x51}, .roster = {0x52}};

static const sl_id candidates[] = {1, 2, 3};
static const uint8_t held[] = {0x0b}, keys[] = {0x09}, piece[] = {0xd0, 0xd1, 0xd2},
		     share[SL_KEY_SHARE_BYTES + SL_HASH_BYTES] = {0xd3}, values[] = {1, 2, 3, 4, 5, 6, 7, 8};
static const uint32_t members[] = {1, 2, 300, 0};

const struct literal literals[] = {
	{{.kind = SL_MSG_HELLO,
	  .hello = {.id = 7,
		    .incarnation = 2,
		    .t = 3,
		    .a = 300,
		    .status = SL_PEER_STATUS_OPEN,
		    .run = {0x51},
		    .roster = {0x52},
		    .records = {0x53}}},
	 "08071002180320ac022804321051" Z15 "3a2052" Z31 "422053" Z31,
	 NULL},
	{{.kind = SL_MSG_LINK_STATE,
	  .link_state = {.id = 7,
			 .incarnation = 2,
			 .t = 3,
			 .a = 300,
			 .key = {0x10},
			 .roster = {0x53},
			 .roster_size = 5,
			 STATEMENT,
			 .previous = {0x11},
			 .count = 3,
			 .candidates = candidates,
			 .signature = {0x12}}},
	 "08071002180320ac022a2010" Z31 "322053" Z31 "380540e80749efcdab8967452301"
	 "5001591032547698badcfe600168ac02722011" Z31 "7a03010203820140"
	 "12" Z63,
	 "8d212cb12043b9948b6f96f4e97e02b41f3b386b014c4b2d68901822e051fd40"},
	{{.kind = SL_MSG_READY,
	  .ready = {.id = 7,
		    .t = 3,
		    .a = 300,
		    .view = {0x20},
		    .k = 90,
		    .deposit = {0x21},
		    .key_hash = {0x22},
		    .challenge_hash = {0x23},
		    .share_root = {0x24},
		    .signature = {0x25}}},
	 "0807100318ac02222020" Z31 "285a322021" Z31 "3a2022" Z31 "422023" Z31 "4a2024" Z31 "524025" Z63,
	 "885fe0bb648f4e2018b5c40fcae8e061a22d5bfb2a06a4ac2fada1b89f6acaf3"},
	{{.kind = SL_MSG_DIGEST,
	  .digest = {.id = 7,
		     .t = 3,
		     .a = 300,
		     .key = {0x30},
		     .view = {0x31},
		     .digest = {0x32},
		     .signature = {0x33}}},
	 "0807100318ac02222030" Z31 "2a2031" Z31 "322032" Z31 "3a4033" Z63,
	 "e2bfef46c044e5df33f9992d66edbf8a040739702b1fb0289ba87dc73dc90498"},
	{{.kind = SL_MSG_REQUEST, .request = {.t = 1, .index = 1}}, "08011001", NULL},
	{{.kind = SL_MSG_REQUEST, .request = {.t = 1, .a = 1, .origin = 300, .index = 1}},
	 "08011001180120ac02",
	 NULL},
	{{.kind = SL_MSG_ABORT,
	  .abort = {.id = 7,
		    .incarnation = 2,
		    .t = 3,
		    .a = 100,
		    .key = {0x40},
		    .says = SL_ABORT_UNRELEASED,
		    .ready = {0x41},
		    .signature = {0x42}}},
	 "0807100218032064"
	 "2a2040" Z31 "322041" Z31 "3a4042" Z63 "4001",
	 "8104869ed657cbcbe2c331beb4f95d9c7a09a62ec3341bc6e0795d50cad99346"},
	{{.kind = SL_MSG_HAVE,
	  .have = {.t = 3,
		   .a = 300,
		   .view = {0x50},
		   .size = sizeof held,
		   .held = held,
		   .keys_size = sizeof keys,
		   .keys = keys}},
	 "080310ac021a2050" Z31 "22010b2a0109",
	 NULL},
	{{.kind = SL_MSG_MODEL, .model = {.count = 300, .size = sizeof piece, .tensors = piece}},
	 "08ac021203d0d1d2",
	 NULL},
	{{.kind = SL_MSG_KEY,
	  .key = {.t = 3, .a = 300, .view = {0x51}, .origin = 300, .key = {0x52}, .readys = {0x57}}},
	 "080310ac021a2051" Z31 "20ac022a2052" Z31 "322057" Z31,
	 NULL},
	{{.kind = SL_MSG_OPENING,
	  .opening = {.t = 3,
		      .a = 300,
		      .view = {0x53},
		      .origin = 300,
		      .holder = 7,
		      .size = sizeof share,
		      .share = share}},
	 "080310ac021a2053" Z31 "20ac0228073248d3" Z71,
	 NULL},
	{{.kind = SL_MSG_CHALLENGE,
	  .challenge = {.t = 3, .a = 300, .view = {0x54}, .origin = 300, .value = {0x55}}},
	 "080310ac021a2054" Z31 "20ac022a2055" Z31,
	 NULL},
	{{.kind = SL_MSG_CHECKSUM,
	  .checksums = {.id = 7,
			.t = 3,
			.a = 300,
			.view = {0x56},
			.digest = {0x57},
			.size = sizeof values,
			.values = values,
			.signature = {0x58}}},
	 "080310ac021a2056" Z31 "20072a2057" Z31 "320801020304050607083a4058" Z63,
	 "e8c295349b661ff9c0120c137a37da4e8b98f790e8b24507b8b95cd51831920e"},
	{{.kind = SL_MSG_ROUND,
	  .round_head = {.t = 3,
			 .a = 300,
			 .p = 1020431,
			 .update_bits = 12,
			 .forgetful = 2,
			 STATEMENT,
			 .previous = {0x59},
			 .roster = {0x5a},
			 .count = 4,
			 .members = members,
			 .edges = {0x5b},
			 .total = 300,
			 .strands = {0x5c}}},
	 "080310ac02188fa43e200c280230e80739efcdab8967452301400149"
	 "1032547698badcfe500158ac02622059" Z31 "6a205a" Z31 "72050102ac02007a205b" Z31
	 "8001ac028a0180025c" Z31 Z32 Z32 Z32 Z32 Z32 Z32 Z32,
	 NULL},
	{{.kind = SL_MSG_SHARE,
	  .chunk = {.t = 3, .a = 300, .view = {0x60}, .index = 1, .size = sizeof piece, .bytes = piece}},
	 "080310ac021a2060" Z31 "28013a03d0d1d2",
	 NULL},
	{{.kind = SL_MSG_STATE,
	  .chunk = {.t = 3,
		    .a = 300,
		    .view = {0x63},
		    .iteration = 1000,
		    .index = 1,
		    .size = sizeof piece,
		    .bytes = piece}},
	 "080310ac021a2063" Z31 "20e80728013a03d0d1d2",
	 NULL},
	{{.kind = SL_MSG_RESULT,
	  .chunk = {.t = 3, .a = 300, .view = {0x64}, .index = 1, .size = sizeof piece, .bytes = piece}},
	 "080310ac021a2064" Z31 "28013a03d0d1d2",
	 NULL},
	{{.kind = SL_MSG_DEPOSIT,
	  .chunk = {.t = 3, .a = 300, .view = {0x65}, .origin = 300, .size = sizeof piece, .bytes = piece}},
	 "080310ac021a2065" Z31 "30ac023a03d0d1d2",
	 NULL},
	{{.kind = SL_MSG_KEY_SHARE,
	  .chunk = {.t = 3, .a = 300, .view = {0x66}, .size = sizeof share, .bytes = share}},
	 "080310ac021a2066" Z31 "3a48d3" Z71,
	 NULL},
};
const size_t literals_count = sizeof literals / sizeof *literals;

const struct literal *literal_of(uint32_t kind)
{
	const struct literal *l = literals;
	while (l->message.kind != kind) {
		l++;
		assert(l < literals + literals_count);
	}
	return l;
}
