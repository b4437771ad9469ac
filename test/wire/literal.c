#include "test/wire/literal.h"

#include <assert.h>

/* So many bytes of zero. */
#define Z15 "000000000000000000000000000000"
#define Z31 Z15 "00" Z15
#define Z63 Z31 "00" Z31

const struct sl_scope literal_scope = {.run = {0x51}, .roster = {0x52}};

static const sl_id candidates[] = {1, 2, 3};
static const uint8_t members[] = {0x0b}, piece[] = {0xd0, 0xd1, 0xd2};

const struct literal literals[] = {
	{{.kind = SL_MSG_HELLO,
	  .hello = {.id = 7,
		    .incarnation = 2,
		    .t = 3,
		    .a = 300,
		    .status = SL_PEER_STATUS_OPEN,
		    .run = {0x51},
		    .roster = {0x52}}},
	 "08071002180320ac022804321051" Z15 "3a2052" Z31,
	 NULL},
	{{.kind = SL_MSG_LINK_STATE,
	  .link_state = {.id = 7,
			 .incarnation = 2,
			 .t = 3,
			 .a = 300,
			 .key = {0x10},
			 .roster = {0x53},
			 .roster_size = 5,
			 .parameters = {.n = 1000,
					.p = 1020431,
					.rounds = 9,
					.quorum = 4,
					.tolerance = 1,
					.decimals = 6,
					.clipping_range = 0x4030000000000000,
					.max_weight = 70000,
					.encoding = 1,
					.sharing = 2,
					.mixing = 3,
					.k = 8,
					.iterations_rule = 1,
					.max_degree = 16,
					.model = 0x0123456789abcdef},
			 .previous = {0x11},
			 .count = 3,
			 .candidates = candidates,
			 .signature = {0x12}}},
	 "08071002180320ac022a2010" Z31 "322053" Z31
	 "3805423108e807108fa43e180920042801300639000000000000304040f0a20448015002580360086801701079efcdab896"
	 "74523014a2011" Z31 "52030102035a4012" Z63,
	 "1b6ffa0104bad74555393545088823eabe7575e6487012bcd6604361567a7957"},
	{{.kind = SL_MSG_READY,
	  .ready = {.id = 7,
		    .t = 3,
		    .a = 300,
		    .view = {0x20},
		    .k = 90,
		    .commitment = {0x21},
		    .signature = {0x22}}},
	 "0807100318ac02222020" Z31 "285a322021" Z31 "3a4022" Z63,
	 "538531006c1f9648437081b28ff58fdb2756461e0c02685ef253533ac6ed6ed1"},
	{{.kind = SL_MSG_DIGEST,
	  .digest = {.id = 7,
		     .t = 3,
		     .a = 300,
		     .key = {0x30},
		     .view = {0x31},
		     .digest = {0x32},
		     .p = 1020431,
		     .learners = 6,
		     .decimals = 4,
		     .encoding = 1,
		     .clipping_range = 0x4030000000000000,
		     .signature = {0x33}}},
	 "0807100318ac02222030" Z31 "2a2031" Z31 "322032" Z31
	 "388fa43e400648045001590000000000003040624033" Z63,
	 "6b39525dc3becb11b729da0d81a2d3b53335d9a14e1b707a00dc42b533366792"},
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
		    .count = 3,
		    .released = {1, 2, 3},
		    .closed = 2,
		    .signature = {0x41}}},
	 "08071002180320642a03010203322040" Z31 "3802424041" Z63,
	 "22036e2bbb683b07c7367879ace457356387970e5e3dde80f5d1df43c53ae200"},
	{{.kind = SL_MSG_HAVE,
	  .have = {.t = 3, .a = 300, .view = {0x50}, .size = sizeof members, .held = members}},
	 "080310ac021a2050" Z31 "22010b",
	 NULL},
	{{.kind = SL_MSG_MODEL, .model = {.count = 300, .size = sizeof piece, .tensors = piece}},
	 "08ac021203d0d1d2",
	 NULL},
	{{.kind = SL_MSG_SHARE,
	  .chunk = {.t = 3, .a = 300, .view = {0x60}, .index = 1, .size = sizeof piece, .bytes = piece}},
	 "080310ac021a2060" Z31 "28014203d0d1d2",
	 NULL},
	{{.kind = SL_MSG_STATE,
	  .chunk = {.t = 3, .a = 300, .view = {0x61}, .nonce = {0x62}, .size = sizeof piece, .bytes = piece}},
	 "080310ac021a2061" Z31 "3a2062" Z31 "4203d0d1d2",
	 NULL},
	{{.kind = SL_MSG_STATE,
	  .chunk = {.t = 3,
		    .a = 300,
		    .view = {0x63},
		    .iteration = 1000,
		    .index = 1,
		    .size = sizeof piece,
		    .bytes = piece}},
	 "080310ac021a2063" Z31 "20e80728014203d0d1d2",
	 NULL},
	{{.kind = SL_MSG_RESULT,
	  .chunk = {.t = 3, .a = 300, .view = {0x64}, .index = 1, .size = sizeof piece, .bytes = piece}},
	 "080310ac021a2064" Z31 "28014203d0d1d2",
	 NULL},
	{{.kind = SL_MSG_MASKED,
	  .chunk = {.t = 3,
		    .a = 300,
		    .view = {0x65},
		    .origin = 300,
		    .nonce = {0x66},
		    .size = sizeof piece,
		    .bytes = piece}},
	 "080310ac021a2065" Z31 "30ac023a2066" Z31 "4203d0d1d2",
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
