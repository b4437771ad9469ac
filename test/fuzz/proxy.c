/* Answer a request for a tunnel as a proxy does. Input: the kind of the proxy, whether there is a password,
 * and the address; then answers in pieces, each after its length. */
#include <assert.h>
#include <string.h>

#include "daemon/net/proxy.h"
#include "test/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count)
{
	static const char *const addresses[] = {"192.0.2.1:7400", "[2001:db8::1]:7400",
						"ana.example.org:65535"};
	struct sl_proxy proxy = {.kind = SL_PROXY_HTTP, .address = "192.0.2.9:3128"};
	struct sl_proxy_talk talk;
	const char *why = NULL;
	int rc = SL_PENDING;
	if (count == 0)
		return 0;
	proxy.kind = bytes[0] & 1 ? SL_PROXY_SOCKS5 : SL_PROXY_HTTP;
	memset(proxy.user, 'u', bytes[0] & 2 ? sizeof proxy.user - 1 : 0);
	memset(proxy.password, 'p', bytes[0] & 2 ? sizeof proxy.password - 1 : 0);
	sl_proxy_begin(&talk, &proxy, addresses[(bytes[0] >> 2) % 3]);
	assert(talk.out_bytes > 0 && talk.out_bytes <= sizeof talk.out);
	bytes++, count--;
	while (rc == SL_PENDING && count > 0) {
		size_t piece = bytes[0] < count ? bytes[0] : count - 1;
		rc = sl_proxy_take(&talk, bytes + 1, piece, &why);
		assert(talk.out_bytes <= sizeof talk.out && talk.in_bytes <= sizeof talk.in);
		assert(rc != SL_ERR_REFUSED || (why != NULL && why[0] != '\0'));
		bytes += 1 + piece;
		count -= 1 + piece;
	}
	return 0;
}
