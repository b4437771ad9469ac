/* link_proxy.c - a dial that goes through the proxy of the site. */
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#include "daemon/net/link.h"

bool sl_link_proxy_open(struct sl_link *link, char address[static SL_ADDRESS_BYTES])
{
	const struct sl_proxy *proxy = link->links->config.proxy;
	link->talk = malloc(sizeof *link->talk);
	if (link->talk == NULL)
		return false;
	if (link->way == SL_LINK_DIRECT)
		link->way = SL_LINK_PROXY;
	sl_proxy_begin(link->talk, proxy, address);
	snprintf(address, SL_ADDRESS_BYTES, "%s", proxy->address);
	return true;
}

void sl_link_proxy_end(struct sl_link *link)
{
	if (link->talk != NULL)
		sodium_memzero(link->talk, sizeof *link->talk);
	free(link->talk);
	link->talk = NULL;
}

/* A new connection accepts so few bytes at once. */
void sl_link_proxy_send(struct sl_link *link)
{
	uv_buf_t buffer = uv_buf_init((char *)link->talk->out, (unsigned)link->talk->out_bytes);
	int rc = uv_try_write((uv_stream_t *)&link->tcp, &buffer, 1);
	if (rc != (int)link->talk->out_bytes)
		sl_link_fail(link, sl_link_proxy_fault(link, ""));
}

bool sl_link_proxy_take(struct sl_link *link, const uint8_t *bytes, size_t count)
{
	const char *why;
	int rc = sl_proxy_take(link->talk, bytes, count, &why);
	if (rc == SL_ERR_REFUSED)
		sl_link_fail(link, why);
	else if (rc == SL_PENDING && link->talk->out_bytes > 0)
		sl_link_proxy_send(link);
	return rc == SL_OK;
}

const char *sl_link_proxy_fault(const struct sl_link *link, const char *why)
{
	if (link->talk == NULL)
		return why;
	return link->state == SL_LINK_CONNECT ? SL_PROXY_UNREACHABLE : SL_PROXY_SILENT;
}
