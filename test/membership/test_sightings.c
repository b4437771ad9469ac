/* Members that announce themselves: whose announcement it is, and how many addresses are kept. */
#include <stdio.h>
#include <string.h>

#include "daemon/membership/sightings.h"
#include "test/lib/test.h"

enum { ETH0 = 2, WLAN0 = 3, V4 = 0, V6 = 1 };

static struct sl_member members[3];
static const struct sl_roster roster = {.members = members, .size = 3};

static void open_as(struct sl_sightings *sightings, uint32_t self, const char *run)
{
	for (uint32_t i = 0; i < roster.size; i++)
		memset(members[i].pin, (int)(0xa0 + i), SL_HASH_BYTES);
	assert_int_equal(sl_sightings_open(sightings, &roster, self, run, NULL), SL_OK);
}

static void expect_addresses(const struct sl_sightings *sightings, uint32_t member, const char *expected)
{
	char addresses[SL_ADDRESS_BYTES];
	sl_sightings_addresses(sightings, member, addresses);
	assert_string_equal(addresses, expected);
}

/* The tag is BLAKE2b-128("starling mdns 1" || BLAKE2b-128("ward") || pin), by Python's hashlib. */
TEST(the_tag_is_that_of_the_protocol)
{
	struct sl_sightings sightings;
	open_as(&sightings, 0, "ward");
	assert_string_equal(sightings.tags[0], "cb8cb3f9c27c8864deed8052e9cb6b4e");
	sl_sightings_close(&sightings);
}

TEST(whose_announcement)
{
	struct sl_sightings sightings, other;
	char name[SL_SERVICE_NAME_BYTES + 1];
	open_as(&sightings, 0, "ward");
	open_as(&other, 0, "another run");
	assert_int_equal(sl_sightings_member(&sightings, sightings.tags[2]), 2);
	assert_int_equal(sl_sightings_member(&sightings, sightings.tags[0]), -1); /* this learner */
	assert_int_equal(sl_sightings_member(&sightings, other.tags[2]), -1);
	snprintf(name, sizeof name, "%s #2", sightings.tags[1]);
	assert_int_equal(sl_sightings_member(&sightings, name), 1);
	snprintf(name, sizeof name, "%s2", sightings.tags[1]);
	assert_int_equal(sl_sightings_member(&sightings, name), -1);
	snprintf(name, sizeof name, "%.31s", sightings.tags[1]);
	assert_int_equal(sl_sightings_member(&sightings, name), -1);
	snprintf(name, sizeof name, "%s %031d", sightings.tags[1], 2); /* too long for a name */
	assert_int_equal(sl_sightings_member(&sightings, name), -1);
	assert_int_equal(sl_sightings_member(&sightings, ""), -1);
	sl_sightings_close(&sightings);
	sl_sightings_close(&other);
}

TEST(addresses_of_a_member)
{
	struct sl_sightings sightings;
	open_as(&sightings, 0, "ward");
	const char *name = sightings.tags[1];
	struct sl_sighting *v4 = sl_sightings_add(&sightings, ETH0, V4, name),
			   *v6 = sl_sightings_add(&sightings, ETH0, V6, name),
			   *twice = sl_sightings_add(&sightings, WLAN0, V4, name);
	assert_ptr_equal(sl_sightings_find(&sightings, ETH0, V6, name), v6);
	assert_null(sl_sightings_find(&sightings, WLAN0, V6, name));
	expect_addresses(&sightings, 1, "");
	assert_int_equal(sl_sightings_locate(v4, "10.0.0.5", 7400), SL_OK);
	assert_int_equal(sl_sightings_locate(twice, "10.0.0.5", 7400), SL_OK);
	expect_addresses(&sightings, 1, "10.0.0.5:7400");
	assert_int_equal(sl_sightings_locate(v6, "fe80::1", 7400), SL_OK);
	expect_addresses(&sightings, 1, "10.0.0.5:7400, [fe80::1%2]:7400");
	assert_int_equal(sl_sightings_locate(v6, "2001:db8::1", 7400), SL_OK);
	sl_sightings_remove(&sightings, twice);
	expect_addresses(&sightings, 1, "[2001:db8::1]:7400, 10.0.0.5:7400");
	assert_int_equal(sl_sightings_locate(v6, "ship.local", 7400), SL_ERR_INVALID);
	assert_int_equal(sl_sightings_locate(v6, "10.0.0.6", 0), SL_ERR_INVALID);
	expect_addresses(&sightings, 2, "");
	sl_sightings_close(&sightings);
}

/* One network can announce a member as often as it likes: SL_ADDRESSES_MAX of them count. */
TEST(at_most_four_addresses_of_a_member)
{
	struct sl_sightings sightings;
	char name[SL_SERVICE_NAME_BYTES], addresses[SL_ADDRESS_BYTES];
	open_as(&sightings, 0, "ward");
	for (uint32_t i = 0; i < 100; i++) {
		snprintf(name, sizeof name, "%s #%u", sightings.tags[1], i + 2);
		struct sl_sighting *sighting = sl_sightings_add(&sightings, ETH0, V6, name);
		assert_int_equal(sighting != NULL, i < SL_ADDRESSES_MAX);
		snprintf(addresses, sizeof addresses, "fe80:1111:2222:3333:4444:5555:6666:%x", 0x7000 + i);
		if (sighting != NULL) {
			sighting->interface = INT32_MAX; /* the longest text */
			assert_int_equal(sl_sightings_locate(sighting, addresses, 65535), SL_OK);
		}
	}
	assert_non_null(sl_sightings_add(&sightings, ETH0, V4, sightings.tags[2])); /* no other member's */
	sl_sightings_addresses(&sightings, 1, addresses);
	assert_int_equal(sl_roster_addresses_check(addresses, NULL), SL_OK);
	assert_non_null(strstr(addresses, ":7003%2147483647]:65535"));
	assert_non_null(strstr(addresses, ":7000%2147483647]:65535"));
	sl_sightings_clear(&sightings);
	sl_sightings_addresses(&sightings, 1, addresses);
	assert_string_equal(addresses, "");
	sl_sightings_close(&sightings);
}
