/* Addresses: their parts, and which of a name's is dialled. */
#include <errno.h>
#include <string.h>

#include "daemon/runtime/address.h"
#include "test/lib/test.h"

static void expect_parts(const char *address, const char *host, const char *port)
{
	char found_host[SL_ADDRESS_BYTES], found_port[SL_ADDRESS_PORT_BYTES];
	sl_address_split(address, found_host, found_port);
	assert_string_equal(found_host, host);
	assert_string_equal(found_port, port);
}

TEST(parts)
{
	expect_parts("a.example.org:7400", "a.example.org", "7400");
	expect_parts("[2001:db8::1]:1", "2001:db8::1", "1");
	expect_parts("10.0.0.1", "10.0.0.1", "0");
}

/* The first address of a name may be one that leads nowhere, such as IPv6 without a route. */
TEST(each_address_in_its_turn)
{
	struct addrinfo third = {.ai_flags = 3}, second = {.ai_next = &third, .ai_flags = 2},
			first = {.ai_next = &second, .ai_flags = 1};
	static const int turns[] = {1, 2, 3, 1, 2, 3, 1};
	uint32_t count;
	for (uint32_t turn = 0; turn < sizeof turns / sizeof *turns; turn++) {
		assert_int_equal(sl_address_pick(&first, turn, &count)->ai_flags, turns[turn]);
		assert_int_equal(count, 3);
	}
	assert_ptr_equal(sl_address_pick(&third, 5, &count), &third);
	assert_int_equal(count, 1);
}

TEST(families)
{
	assert_non_null(sl_address_family_fault(AF_INET6, ENETUNREACH));
	assert_non_null(sl_address_family_fault(AF_INET6, EAFNOSUPPORT));
	assert_null(sl_address_family_fault(AF_INET6, ECONNREFUSED));
	assert_null(sl_address_family_fault(AF_INET, ENETUNREACH));
}
