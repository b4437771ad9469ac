/* What the page knows: a document of each of the last rounds, a row of every round, and what is shown. */

/* Phases in their order, each with the letter that marks it besides its colour. */
const PHASES = {
	train: 'T', discover: 'D', agree: 'A', share: 'S', ready: 'R', release: 'L', mix: 'M', check: 'K',
	confirm: 'C', commit: '✓', recover: '!', catchup: 'U', done: '✓',
};

const model = {
	run: '', total: null, live: false, state: '',
	learners: [],              // {id, name}, in the order of the roster
	rows: new Map(),           // round -> summary row
	documents: new Map(),      // round -> document
	time: null,                // of the server, Unix seconds
	shown: null, following: true, // round; the latest one is followed
	moment: null,              // seconds since the beginning of the run; null: the latest
	selected: null, hovered: null, // learner ids
};

const nameOf = id => model.learners.find(l => l.id === id)?.name ?? `learner ${id}`;
const phaseOf = span => String(span.phase).toLowerCase();
const roundsKept = () => [...model.documents.keys()].sort((a, b) => a - b);
const latest = () => Math.max(...model.documents.keys());
const shownDocument = () => model.documents.get(model.shown);

function takeDocument(doc) {
	model.run = doc.run ?? model.run;
	model.total = doc.rounds ?? model.total;
	for (const l of doc.learners ?? [])
		if (!model.learners.some(k => k.id === l.id))
			model.learners.push(l);
	model.learners.sort((a, b) => a.id - b.id);
	doc.of = new Map((doc.learners_of_round ?? []).map(l => [l.learner, l]));
	model.documents.set(doc.round, doc);
	if (model.following)
		model.shown = latest();
}

function takeRow(row) {
	model.rows.set(row.round, row);
}

/* The end of what is known of `doc`: its own end, the present of a live run, or its last instant. */
function endOf(doc) {
	if (known(doc.end_s))
		return doc.end_s;
	let end = doc.start_s;
	for (const l of doc.learners_of_round ?? []) {
		for (const s of [...l.spans ?? [], ...l.waits ?? []])
			end = Math.max(end, s.to_s ?? s.from_s);
	}
	if (model.live && known(model.time))
		end = Math.max(end, doc.start_s + model.time - Date.parse(doc.start) / 1000);
	return end;
}

const momentOf = doc => model.moment ?? endOf(doc);
const holds = (span, t) => span.from_s <= t && (!known(span.to_s) || t < span.to_s);

/* The span of a learner at `t`; at the end of a round, its last one. */
function spanAt(doc, id, t) {
	const spans = doc.of.get(id)?.spans ?? [];
	return spans.findLast(s => s.from_s <= t) ?? null;
}

/* The attempt at `t`: the last one that has begun. */
function attemptAt(doc, t) {
	const attempts = doc.attempts ?? [];
	return attempts.findLast(a => a.from_s <= t && known(a.edges)) ?? attempts.findLast(a => known(a.edges)) ?? null;
}

/* Return the parts of [from, to] in which learner `id` does not wait itself: then it is the cause of waits for it. */
function causeParts(doc, id, from, to, end) {
	let parts = [[from, to]];
	for (const w of doc.of.get(id)?.waits ?? [])
		parts = parts.flatMap(([a, b]) => [[a, Math.min(b, w.from_s)], [Math.max(a, w.to_s ?? end), b]].filter(([x, y]) => x < y));
	return parts;
}

/* The last view before round `round` that is known: shown faintly while there is none yet. */
function viewBefore(round) {
	const before = roundsKept().filter(r => r < round).at(-1);
	return before === undefined ? null : attemptAt(model.documents.get(before), Infinity);
}

/* Waits at `t`, without those for learners that wait themselves: learner awaited -> those that wait for it, since when, and for what. */
function awaitedAt(doc, t) {
	const awaited = new Map();
	for (const l of doc.learners_of_round ?? [])
		for (const w of l.waits ?? [])
			if (holds(w, t))
				for (const id of w.awaited ?? []) {
					const entry = awaited.get(id) ?? {waiters: [], from_s: w.from_s, for: w.for};
					entry.waiters.push(l.learner);
					entry.from_s = Math.min(entry.from_s, w.from_s);
					awaited.set(id, entry);
				}
	const waits = new Set([...awaited.values()].flatMap(a => a.waiters)), causes = [...awaited].filter(([id]) => !waits.has(id));
	return causes.length > 0 ? new Map(causes) : awaited;
}
