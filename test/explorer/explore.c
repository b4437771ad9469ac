#include "test/explorer/explore.h"

#include <stdlib.h>
#include <string.h>

#define OFTEN 4096u /* worlds between two calls of `progress` */
#define HISTORY_MOST 4096u
#define REST (sizeof(struct sl_explore_world) - offsetof(struct sl_explore_world, left))

struct search {
	struct sl_explore *x;
	struct sl_explore_store worlds;
	uint32_t *parents, room; /* by world */
	uint16_t *chosen;	 /* the choice of the parent that led here */
	uint32_t broken;	 /* the world that breaks a rule */
	bool found, last;	 /* last: by having no choices */
};

/* A world as a string: the learners and queues that there are, then the rest. */
static size_t pack(const struct sl_explore *x, const struct sl_explore_world *w, uint32_t *words)
{
	size_t count = 0;
	for (uint32_t i = 0; i < x->actors; i++) {
		words[count++] = w->learner[i];
		for (uint32_t j = 0; j < x->actors; j++)
			if (i != j)
				words[count++] = w->queue[i][j];
	}
	memcpy(words + count, &w->left, REST);
	return count * sizeof *words + REST;
}

static struct sl_explore_world unpack(const struct search *s, uint32_t number)
{
	const uint32_t *words = sl_explore_store_get(&s->worlds, number, NULL);
	struct sl_explore_world w;
	memset(&w, 0, sizeof w);
	for (uint32_t i = 0; i < s->x->actors; i++) {
		w.learner[i] = *words++;
		for (uint32_t j = 0; j < s->x->actors; j++)
			w.queue[i][j] = i != j ? *words++ : 0;
	}
	memcpy(&w.left, words, REST);
	return w;
}

static uint32_t put(struct search *s, const struct sl_explore_world *w, uint32_t parent, uint32_t choice)
{
	uint32_t words[SL_EXPLORE_ACTORS * SL_EXPLORE_ACTORS + REST];
	uint32_t known = s->worlds.count;
	uint32_t number = sl_explore_store_put(&s->worlds, words, pack(s->x, w, words));
	if (number < known)
		return number;
	if (number >= s->room) {
		s->room = 2 * s->room + 4096;
		s->parents = reallocarray(s->parents, s->room, sizeof *s->parents);
		s->chosen = reallocarray(s->chosen, s->room, sizeof *s->chosen);
		if (s->parents == NULL || s->chosen == NULL)
			abort();
	}
	s->parents[number] = parent;
	s->chosen[number] = (uint16_t)choice;
	return number;
}

/* Write the choices that lead to the broken world, and what they made the learners do. */
static void tell(struct search *s, FILE *lines)
{
	uint32_t path[HISTORY_MOST], count = 0;
	struct sl_explore *x = s->x;
	for (uint32_t k = s->broken; k != 0 && count < HISTORY_MOST; k = s->parents[k])
		path[count++] = k;
	for (uint32_t step = 1; count > 0; step++) {
		uint32_t number = path[--count];
		struct sl_explore_world w = unpack(s, s->parents[number]);
		sl_explore_world_choices(x, &w);
		struct sl_explore_choice c = x->choices[s->chosen[number]];
		fprintf(lines, "%3u  ", step);
		sl_explore_world_tell(x, &c, lines);
		x->learners.lines = lines;
		sl_explore_world_choose(x, &w, &c);
		x->learners.lines = NULL;
	}
}

static void expand(struct search *s, uint32_t number, struct sl_explore_result *r)
{
	struct sl_explore *x = s->x;
	struct sl_explore_choice choices[SL_EXPLORE_CHOICES];
	const struct sl_explore_world w = unpack(s, number);
	sl_explore_world_choices(x, &w);
	uint32_t count = x->choice_count;
	memcpy(choices, x->choices, count * sizeof *choices);
	x->broken[0] = '\0';
	if (count == 0) {
		sl_explore_world_last(x, &w);
		s->broken = number;
	}
	for (uint32_t k = 0; k < count && x->broken[0] == '\0'; k++) {
		struct sl_explore_world next = w;
		sl_explore_world_choose(x, &next, &choices[k]);
		s->broken = put(s, &next, number, k);
		r->choices++;
	}
	s->found = x->broken[0] != '\0';
	memcpy(r->broken, x->broken, sizeof r->broken);
}

static void measure(const struct search *s, struct sl_explore_result *r)
{
	r->states = s->worlds.count;
	r->steps = s->x->learners.executed;
	r->learners = s->x->learners.learners.count;
	r->bytes = s->worlds.bytes + s->room * (sizeof *s->parents + sizeof *s->chosen) +
		   sl_explore_learners_bytes(&s->x->learners);
}

void sl_explore_run(const struct sl_explore_options *options, FILE *lines,
		    void (*progress)(const struct sl_explore_result *result, void *context), void *context,
		    struct sl_explore_result *r)
{
	struct sl_explore *x = calloc(1, sizeof *x);
	struct sl_explore_world w;
	struct search s = {.x = x};
	if (x == NULL)
		abort();
	*r = (struct sl_explore_result){.depth = 0};
	x->options = *options;
	sl_explore_world_first(x, &w);
	put(&s, &w, 0, 0);
	uint32_t level = 1, number = 0;
	for (; number < s.worlds.count && !s.found; number++) {
		if (number == level) {
			level = s.worlds.count;
			r->depth++;
		}
		if (number % OFTEN == 0) {
			measure(&s, r);
			if (r->states >= options->states_most || r->bytes >> 20 >= options->megabytes_most)
				break;
			if (progress != NULL)
				progress(r, context);
		}
		expand(&s, number, r);
	}
	measure(&s, r);
	r->complete = !s.found && number == s.worlds.count;
	if (s.found && lines != NULL)
		tell(&s, lines);
	free(s.parents);
	free(s.chosen);
	sl_explore_store_free(&s.worlds);
	sl_explore_learners_close(&x->learners);
	free(x);
}
