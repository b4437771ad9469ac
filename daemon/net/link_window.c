#include "daemon/net/link_window.h"

#include <assert.h>
#include <linux/socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

#include "common/base/limits.h"
#include "daemon/net/tcp_info.h"

static_assert(SL_LINK_WINDOW_TOTAL / SL_LEARNERS_MAX >= 4 * (32u << 10), "a link of 2,000 can send");

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static enum sl_link_window_mode follow(enum sl_link_window_mode now, const struct sl_link_path *path,
				       size_t share, size_t fixed)
{
	double rate = path->rate > SL_LINK_WINDOW_RATE ? path->rate : SL_LINK_WINDOW_RATE;
	bool room = path->size < share;
	if (now == SL_LINK_WINDOW_FIXED)
		return room && 2 * rate * path->rtt_s > (double)fixed ? SL_LINK_WINDOW_GROWING
								      : SL_LINK_WINDOW_FIXED;
	if (path->size > 2 * share)
		return SL_LINK_WINDOW_FIXED;
	return room ? SL_LINK_WINDOW_GROWING : SL_LINK_WINDOW_KEPT;
}

struct sl_link_window sl_link_window_choose(const struct sl_link_window *now, const struct sl_link_path *path)
{
	size_t share = SL_LINK_WINDOW_TOTAL / (path->links > 0 ? path->links : 1);
	size_t fixed = smaller(SL_LINK_WINDOW_SMALL, share / 4); /* twice in each of two directions */
	size_t unsent = (size_t)(path->rate * SL_LINK_WINDOW_UNSENT_S);
	return (struct sl_link_window){.mode = follow(now->mode, path, share, fixed),
				       .fixed = fixed,
				       .unsent = path->rate > 0 ? larger(unsent, SL_LINK_WINDOW_UNSENT) : 0,
				       .reno = now->reno};
}

/* ---- the socket ---- */

static size_t option(int descriptor, int name)
{
	int size = 0;
	socklen_t length = sizeof size;
	getsockopt(descriptor, SOL_SOCKET, name, &size, &length);
	return (size_t)size;
}

size_t sl_link_window_size(int descriptor)
{
	return option(descriptor, SO_SNDBUF) + option(descriptor, SO_RCVBUF);
}

static void set(int descriptor, int level, int name, size_t value)
{
	int number = (int)value;
	setsockopt(descriptor, level, name, &number, sizeof number); /* an older kernel keeps what it has */
}

static void apply(const struct sl_link_window *next, const struct sl_link_window *now, int descriptor)
{
	bool fixed = next->mode == SL_LINK_WINDOW_FIXED, other = next->mode != now->mode;
	if (fixed && (other || next->fixed != now->fixed)) {
		set(descriptor, SOL_SOCKET, SO_SNDBUF, next->fixed);
		set(descriptor, SOL_SOCKET, SO_RCVBUF, next->fixed);
	}
	if (!fixed && other)
		set(descriptor, SOL_SOCKET, SO_BUF_LOCK,
		    next->mode == SL_LINK_WINDOW_KEPT ? SOCK_SNDBUF_LOCK | SOCK_RCVBUF_LOCK : 0);
	if (next->unsent > 0 && next->unsent != now->unsent)
		set(descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, next->unsent);
}

/* Replace the algorithm for congestion control `from` by `to`. Return false if another one is in use. */
static bool replace(int descriptor, const char *from, const char *to)
{
	char name[16] = "";
	socklen_t size = sizeof name - 1;
	return getsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, name, &size) == 0 &&
	       strcmp(name, from) == 0 &&
	       setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, to, (socklen_t)strlen(to)) == 0;
}

static bool follow_line(bool reno, int descriptor, double rtt_s)
{
	bool near = rtt_s > 0 && rtt_s <= SL_LINK_WINDOW_NEAR_S;
	if (near == reno)
		return reno;
	return near ? replace(descriptor, "bbr", "reno") : !replace(descriptor, "reno", "bbr");
}

struct sl_link_window sl_link_window_set(const struct sl_link_window *now, int descriptor,
					 const struct sl_link_path *path)
{
	struct sl_link_window next = sl_link_window_choose(now, path);
	apply(&next, now, descriptor);
	next.reno = follow_line(now->reno, descriptor, path->rtt_s);
	return next;
}

static struct sl_link_path path_of(int descriptor, double rate, uint32_t links)
{
	struct sl_tcp_info info;
	sl_tcp_info_get(descriptor, &info);
	return (struct sl_link_path){
		.rate = rate, .rtt_s = info.rtt_s, .links = links, .size = sl_link_window_size(descriptor)};
}

void sl_link_window_open(struct sl_link_window *window, int descriptor, uint32_t links)
{
	*window = (struct sl_link_window){.mode = SL_LINK_WINDOW_FIXED};
	sl_link_window_look(window, descriptor, 0, links);
}

void sl_link_window_look(struct sl_link_window *window, int descriptor, double rate, uint32_t links)
{
	struct sl_link_path path = path_of(descriptor, rate, links);
	*window = sl_link_window_set(window, descriptor, &path);
}
