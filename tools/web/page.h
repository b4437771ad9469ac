/* page.h - the page of a run, embedded at build time: one HTML file whose data is put in at one place.
 *
 * Without data ("null") the page is live: it asks its server for /events and /log. With data it is a report,
 * which opens from a file. */
#pragma once

#include <stddef.h>

struct sl_web_text {
	const char *bytes;
	size_t size;
};

extern const struct sl_web_page {
	struct sl_web_text before, after; /* the data */
	const char *directives;		  /* of its Content-Security-Policy, beside default-src 'none' */
} sl_web_page;
