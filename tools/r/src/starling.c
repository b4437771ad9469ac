/* starling.c - libstarling(3) for R: handles, events and vectors. R/group.R has the loops. */
#define R_NO_REMAP
#include <R.h>
#include <R_ext/Rdynload.h>
#include <Rinternals.h>
#include <starling.h>
#include <string.h>

#define SLICE_MS 200 /* of a wait, between two looks for an interrupt */

static const char *const events[] = {
	[STARLING_NONE] = "none", [STARLING_JOINED] = "joined",	  [STARLING_TRAIN] = "train",
	[STARLING_MEAN] = "mean", [STARLING_WAITING] = "waiting", [STARLING_REFUSED] = "refused",
	[STARLING_LOST] = "lost", [STARLING_DONE] = "done",	  [STARLING_ERROR] = "error",
};

/* Return the handle of `group`; end with an error of R if it was closed. */
static struct starling *handle(SEXP group)
{
	struct starling *s = TYPEOF(group) == EXTPTRSXP ? R_ExternalPtrAddr(group) : NULL;
	if (s == NULL)
		Rf_error("the group is closed: call starling_join again");
	return s;
}

static void finalize(SEXP group)
{
	starling_leave(R_ExternalPtrAddr(group)); /* NULL: nothing */
	R_ClearExternalPtr(group);
}

static SEXP leave(SEXP group)
{
	if (TYPEOF(group) == EXTPTRSXP)
		finalize(group);
	return R_NilValue;
}

/* Return the strings of `names`, ended by NULL; they live until the end of the call. */
static const char **strings(SEXP names)
{
	R_xlen_t count = XLENGTH(names);
	const char **list = (const char **)R_alloc((size_t)count + 1, sizeof *list);
	for (R_xlen_t i = 0; i < count; i++)
		list[i] = Rf_translateCharUTF8(STRING_ELT(names, i));
	list[count] = NULL;
	return list;
}

/* Return an external pointer to a new handle. `state`: environment of R/group.R, kept in its tag. `initial`:
 * a vector, which the pointer keeps alive, or NULL. */
static SEXP join(SEXP path, SEXP names, SEXP shapes, SEXP metrics, SEXP exact, SEXP initial, SEXP state)
{
	R_xlen_t count = XLENGTH(names);
	const char **tensor_names = strings(names), **metric_names = strings(metrics);
	struct starling_tensor *tensors = (struct starling_tensor *)R_alloc((size_t)count, sizeof *tensors);
	for (R_xlen_t i = 0; i < count; i++) {
		SEXP dims = VECTOR_ELT(shapes, i);
		uint64_t *shape = (uint64_t *)R_alloc((size_t)XLENGTH(dims), sizeof *shape);
		for (R_xlen_t d = 0; d < XLENGTH(dims); d++)
			shape[d] = (uint64_t)REAL(dims)[d];
		tensors[i] = (struct starling_tensor){tensor_names[i], STARLING_FLOAT64,
						      (unsigned)XLENGTH(dims), shape, 0};
	}
	const char *socket = Rf_translateChar(STRING_ELT(path, 0));
	SEXP group = PROTECT(R_MakeExternalPtr(NULL, state, initial));
	R_RegisterCFinalizerEx(group, finalize, TRUE);
	struct starling *s = starling_join(socket, tensors, (size_t)count, metric_names,
					   Rf_asLogical(exact) ? STARLING_MODEL : STARLING_UPDATE);
	if (s == NULL)
		Rf_error("out of memory");
	R_SetExternalPtrAddr(group, s);
	if (initial != R_NilValue && (size_t)XLENGTH(initial) * sizeof(double) == s->bytes)
		starling_initial(s, REAL(initial));
	UNPROTECT(1);
	return group;
}

static SEXP state_of(SEXP group)
{
	if (TYPEOF(group) != EXTPTRSXP)
		Rf_error("not a group of starling_join");
	return R_ExternalPtrTag(group);
}

/* Wait for an event and return its name. The user may interrupt the wait. */
static SEXP wait_event(SEXP group)
{
	enum starling_event event = STARLING_NONE;
	while (event == STARLING_NONE) {
		R_CheckUserInterrupt();
		event = starling_wait(handle(group), SLICE_MS);
	}
	return Rf_mkString(events[event]);
}

static SEXP text_of(const char *text)
{
	return Rf_ScalarString(text != NULL ? Rf_mkCharCE(text, CE_UTF8) : NA_STRING);
}

static SEXP fields(SEXP group)
{
	const char *names[] = {"name",	       "learner",      "learners", "rounds", "round",	 "committed",
			       "participants", "total_weight", "metrics",  "again",  "weighted", "repeatable",
			       "text",	       "dp",	       "clip",	   "noise",  "spent",	 ""};
	const char *units[] = {
		[STARLING_EXACT] = NULL, [STARLING_RECORD] = "record", [STARLING_LEARNER] = "learner"};
	const struct starling *s = handle(group);
	SEXP list = PROTECT(Rf_mkNamed(VECSXP, names));
	const double numbers[] = {s->learner,
				  s->learners,
				  s->rounds,
				  s->round,
				  s->committed,
				  s->participants,
				  (double)s->total_weight};
	const int count = sizeof numbers / sizeof *numbers;
	SET_VECTOR_ELT(list, 0, text_of(s->name));
	for (int i = 0; i < count; i++)
		SET_VECTOR_ELT(list, i + 1, Rf_ScalarReal(numbers[i]));
	SEXP names_of_metrics = Rf_findVarInFrame(R_ExternalPtrTag(group), Rf_install("metrics"));
	SEXP metrics = Rf_allocVector(REALSXP, XLENGTH(names_of_metrics));
	SET_VECTOR_ELT(list, count + 1, metrics);
	for (R_xlen_t i = 0; i < XLENGTH(metrics); i++)
		REAL(metrics)[i] = s->metrics[i];
	Rf_setAttrib(metrics, R_NamesSymbol, names_of_metrics);
	SET_VECTOR_ELT(list, count + 2, Rf_ScalarLogical(s->again));
	SET_VECTOR_ELT(list, count + 3, Rf_ScalarLogical(s->weighted));
	SET_VECTOR_ELT(list, count + 4, Rf_ScalarLogical(s->repeatable));
	SET_VECTOR_ELT(list, count + 5, text_of(s->text));
	SET_VECTOR_ELT(list, count + 6, text_of(units[s->dp]));
	const double privacy[] = {s->clip, s->noise, s->spent};
	for (int i = 0; i < 3; i++)
		SET_VECTOR_ELT(list, count + 7 + i, Rf_ScalarReal(privacy[i]));
	UNPROTECT(1);
	return list;
}

/* Return the committed vector. */
static SEXP down(SEXP group)
{
	const struct starling *s = handle(group);
	if (s->down == NULL)
		Rf_error("no model is committed yet");
	SEXP vector = Rf_allocVector(REALSXP, (R_xlen_t)s->elements);
	memcpy(REAL(vector), s->down, s->bytes);
	return vector;
}

/* Hand a vector over. Return false if none is awaited. */
static SEXP trained(SEXP group, SEXP vector, SEXP weight, SEXP metrics)
{
	struct starling *s = handle(group);
	if (s->up == NULL || (size_t)XLENGTH(vector) * sizeof(double) != s->bytes)
		Rf_error("a vector has %.0f values", (double)s->elements);
	memcpy(s->up, REAL(vector), s->bytes);
	return Rf_ScalarLogical(starling_trained(s, (uint64_t)Rf_asReal(weight), REAL(metrics)) == 0);
}

static const R_CallMethodDef entries[] = {
	{"join", (DL_FUNC)&join, 7},	     {"leave", (DL_FUNC)&leave, 1},
	{"state_of", (DL_FUNC)&state_of, 1}, {"wait_event", (DL_FUNC)&wait_event, 1},
	{"fields", (DL_FUNC)&fields, 1},     {"down", (DL_FUNC)&down, 1},
	{"trained", (DL_FUNC)&trained, 4},   {NULL, NULL, 0},
};

void R_init_starling(DllInfo *dll)
{
	R_registerRoutines(dll, NULL, entries, NULL, NULL);
	R_useDynamicSymbols(dll, FALSE);
}
