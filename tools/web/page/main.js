/* Documents in, drawing out: from the data embedded in a report, or from the server as events. */

const embedded = JSON.parse(byId('data').textContent || 'null');
const report = embedded; // null: a live page
const REDRAW_MS = 250;
const REDRAW_PART = 10; // drawing takes at most one part in so many of the time

/* An address of the server, with the token of this page's own address. */
function address(path, query = {}) {
	const token = new URLSearchParams(location.search).get('token');
	return `${path}?${new URLSearchParams({...query, ...token ? {token} : {}})}`;
}

/* ---- drawing ---- */

let wanted = false;

function redraw() {
	if (wanted)
		return;
	wanted = true;
	requestAnimationFrame(() => {
		wanted = false;
		draw();
	});
}

function hover(id) {
	if (model.hovered !== id) {
		model.hovered = id;
		redraw();
	}
}

const names = ids => ids.length <= 3 ? ids.map(nameOf).join(', ') : `${ids.slice(0, 2).map(nameOf).join(', ')} and ${ids.length - 2} more`;

function drawSentence(doc) {
	const t = momentOf(doc), attempt = (doc.attempts ?? []).findLast(a => a.from_s <= t), counts = new Map();
	for (const l of model.learners) {
		const span = spanAt(doc, l.id, t);
		if (span)
			counts.set(phaseOf(span), (counts.get(phaseOf(span)) ?? 0) + 1);
	}
	const most = [...counts].sort((a, b) => b[1] - a[1])[0], ended = known(doc.end_s) && !known(model.moment);
	const again = (attempt?.attempt ?? 1) > 1 ? `, attempt ${attempt.attempt}` : '';
	byId('sentence').textContent = `Round ${doc.round}${model.total ? ` of ${model.total}` : ''}${again}: ` +
		(ended ? `committed in ${seconds(doc.end_s - doc.start_s)}` : most ? `${most[1] === model.learners.length ? 'all' : most[1]} in ${most[0]}` : 'begins');
	const awaited = ended ? [] : [...awaitedAt(doc, t)].sort((a, b) => b[1].waiters.length - a[1].waiters.length);
	const first = awaited[0]?.[1];
	byId('awaited').textContent = first ? `${plural(first.waiters.length, 'learner')} ${first.waiters.length === 1 ? 'has waited' : 'have waited up to'} ${seconds(t - first.from_s)} for ` +
		`${names(awaited.filter(a => a[1].waiters.length === first.waiters.length).map(a => a[0]))} ${first.for ?? ''}` : '';
}

/* The largest epsilon that a learner has spent; "": differential privacy is off. */
function spentOf(learners) {
	const dp = learners.map(l => l.dp).filter(known);
	if (dp.length === 0)
		return '';
	const most = dp.find(d => !known(d.epsilon)) ?? dp.reduce((a, b) => b.epsilon > a.epsilon ? b : a);
	return `epsilon ${known(most.epsilon) ? number(most.epsilon) : 'without a bound'}${known(most.budget) ? ` of ${number(most.budget)}` : ''}`;
}

function drawFigures(doc) {
	const row = model.rows.get(doc.round) ?? {}, attempt = attemptAt(doc, momentOf(doc));
	const slowest = doc.slowest, committed = (doc.learners_of_round ?? []).filter(l => known(l.committed_s)).length;
	fillFigures(byId('figures'), [
		['Committed', `${committed} of ${attempt?.participants?.length ?? model.learners.length}`],
		['Same model', doc.same === true ? 'yes' : doc.same === false ? 'NO' : '–', doc.same === false ? 'accent' : null],
		['Loss', number(row.loss ?? row.mse)],
		['Hidden among', known(attempt?.atom) ? attempt.atom === 1 ? '1: itself' : `${attempt.atom} learners` : '–', attempt?.atom === 1 ? 'accent' : null],
		['Privacy spent', spentOf(doc.learners_of_round ?? [])],
		['Tolerates losing', known(attempt?.tolerance) ? `${attempt.tolerance} more` : '–'],
		['Slowest', slowest && known(slowest.learner) ? `${shorten(nameOf(slowest.learner), 16)}, ${seconds(slowest.s)}` : '–'],
		['Sent by all', bytes(row.bytes_sent)],
	]);
}

function drawLegend() {
	const present = new Set([...model.documents.values()].flatMap(d => (d.learners_of_round ?? []).flatMap(l => (l.spans ?? []).map(phaseOf))));
	join(byId('legend'), Object.keys(PHASES).filter(p => present.has(p)), p => p, p => html('li', {},
		svg('svg', {width: 14, height: 14, viewBox: '-7 -7 14 14', 'aria-hidden': 'true', class: `p-${p}`}, svg('circle', {r: 6.4, class: 'body'}), svg('text', {class: 'letter', text: PHASES[p]})), p), () => {});
}

function draw() {
	if (charts.shown !== model.shown)
		drawCharts();
	const doc = shownDocument();
	set(byId('source'), {text: model.state, class: `source ${model.live ? 'live' : ''}`});
	document.body.classList.toggle('empty', !doc);
	if (!doc)
		return;
	document.title = `${model.run || 'Starling'}: round ${model.shown}`;
	byId('run').textContent = model.run;
	byId('graph-title').textContent = `Graph of round ${doc.round}`;
	byId('phases-title').textContent = `Phases of round ${doc.round}`;
	drawSentence(doc);
	drawFigures(doc);
	drawGraph(doc);
	drawPhases(doc);
	drawReplay();
	drawLearner(doc);
}

/* What changes only with the documents is drawn less often than what follows the pointer. */
function drawAll() {
	if (!shownDocument())
		return draw();
	drawLegend();
	draw();
	drawCharts();
}

/* ---- sources ---- */

let due = null, took = 0; // ms, the last time

function changed() {
	due ??= setTimeout(() => {
		const began = performance.now();
		due = null;
		drawAll();
		took = performance.now() - began;
	}, Math.max(REDRAW_MS, REDRAW_PART * took));
}

function takeRound({row, document: doc}) {
	if (row)
		takeRow(row);
	if (doc)
		takeDocument(doc);
	if (doc && !report)
		for (const old of roundsKept().slice(0, -50))
			if (old !== model.shown)
				model.documents.delete(old);
}

function follow() {
	const events = new EventSource(address('events'));
	const on = (name, take) => events.addEventListener(name, e => { take(JSON.parse(e.data)); changed(); });
	on('rows', rows => rows.forEach(takeRound));
	on('round', takeRound);
	on('state', state => {
		model.time = state.time;
		model.live = state.live;
		model.state = state.text;
		if (state.ended)
			events.close();
	});
	events.addEventListener('error', () => {
		model.live = false;
		model.state = events.readyState === EventSource.CLOSED ? 'the server has ended' : 'connection lost; trying again';
		changed();
	});
}

function begin() {
	listen();
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change', recolour);
	addEventListener('resize', changed);
	if (report) {
		report.rounds.forEach(takeRound);
		model.state = report.text;
		drawAll();
	} else {
		model.state = 'connecting';
		draw();
		follow();
	}
}

begin();
