/* Fit a line to the points of all learners, without showing a point to anyone:
 *
 *     starling launch -n 3 --rounds 40 -- ./example
 *
 * Each learner takes a step of gradient descent on its own points; the learners then go on from the mean. */
#include <starling.h>
#include <stdio.h>
#include <stdlib.h>

#define POINTS 30
#define STEP 0.5

struct line {
	float height, slope; /* in the order of their names, as the Python package has them */
};

/* One step of gradient descent on the squared distances. Return their mean. */
static double step(struct line *line, const double *x, const double *y)
{
	double slope = 0, height = 0, sum = 0;
	for (int i = 0; i < POINTS; i++) {
		double error = line->slope * x[i] + line->height - y[i];
		slope += error * x[i] / POINTS;
		height += error / POINTS;
		sum += error * error / POINTS;
	}
	line->slope -= (float)(STEP * slope);
	line->height -= (float)(STEP * height);
	return sum;
}

int main(void)
{
	const struct starling_tensor tensors[] = {{"height", STARLING_FLOAT32, 0, NULL, 0},
						  {"slope", STARLING_FLOAT32, 0, NULL, 0}};
	const char *const metrics[] = {"loss", NULL};
	struct starling *s = starling_join(NULL, tensors, 2, metrics, STARLING_UPDATE);
	struct line line = {0, 0};
	double x[POINTS], y[POINTS];
	srand(getenv("STARLING_LEARNER") != NULL ? (unsigned)atoi(getenv("STARLING_LEARNER")) : 1);
	for (int i = 0; i < POINTS; i++) { /* points of 2 x - 1, with noise */
		x[i] = 2.0 * rand() / RAND_MAX - 1;
		y[i] = 2 * x[i] - 1 + 0.2 * rand() / RAND_MAX - 0.1;
	}
	while (s != NULL && starling_round(s, &line) > 0) {
		double loss = step(&line, x, y);
		if (starling_average(s, &line, POINTS, &loss) == STARLING_REFUSED)
			break;
	}
	int failed = s == NULL || s->text != NULL;
	if (failed)
		fprintf(stderr, "example: %s\n", s != NULL ? s->text : "out of memory");
	else
		printf("y = %.3f x %+.3f\n", (double)line.slope, (double)line.height);
	starling_leave(s);
	return failed;
}
