/* One learner: its figures of the round, and its log: fetched from the server, or embedded in the report. */

const drawer = {asked: null, back: null};

function openLearner(id) {
	drawer.back = document.activeElement;
	model.selected = id;
	byId('learner').hidden = false;
	byId('log').replaceChildren();
	byId('log').joined = undefined;
	drawer.asked = null;
	redraw();
	byId('learner-name').focus({preventScroll: true});
}

function closeLearner() {
	byId('learner').hidden = true;
	model.selected = null;
	redraw();
	drawer.back?.focus?.({preventScroll: true});
}

function fillFigures(list, figures) {
	join(list, figures.filter(([, value]) => known(value) && value !== ''), f => f[0], () => html('div', {}, html('dt'), html('dd')), (div, [label, value, cls]) => {
		set(div, {class: cls ?? null});
		set(div.children[0], {text: label});
		set(div.children[1], {text: String(value)});
	});
}

function drawLearner(doc) {
	const id = model.selected, of = doc.of.get(id);
	if (id === null)
		return;
	const t = momentOf(doc), span = spanAt(doc, id, t), wait = (of?.waits ?? []).find(w => holds(w, t)), awaited = awaitedAt(doc, t).get(id);
	byId('learner-name').textContent = `${nameOf(id)} in round ${doc.round}`;
	fillFigures(byId('learner-figures'), [
		['Phase', span ? phaseOf(span) : 'none'],
		['Waits for', wait ? `${(wait.awaited ?? []).map(nameOf).join(', ')}: ${wait.for}` : '', 'wide'],
		['Awaited by', awaited ? awaited.waiters.map(nameOf).join(', ') : '', 'wide accent'],
		['Committed after', known(of?.committed_s) ? seconds(of.committed_s - doc.start_s) : '–'],
		['Training', seconds(of?.train_s)], ['Loss', known(of?.loss) ? number(of.loss) : ''], ['Held-out error', known(of?.mse) ? number(of.mse) : ''],
		['Sent', bytes(of?.bytes_sent)], ['Received', bytes(of?.bytes_received)], ['Model', of?.digest ?? ''],
		['Privacy spent', spentOf(of ? [of] : [])],
		...Object.entries(of?.metrics ?? {}).map(([k, v]) => [k, typeof v === 'number' ? number(v) : JSON.stringify(v)]),
	]);
	drawLog(id, doc.round);
}

function showRecords(records) {
	join(byId('log'), records.map((r, k) => ({r, k})), x => x.k, () => html('li', {}, html('time'), html('span')), (li, {r}) => {
		set(li, {class: ['warn', 'error'].includes(r.level) ? r.level : null});
		set(li.children[0], {text: String(r.time ?? '').slice(11, 23)});
		set(li.children[1], {text: r.text ?? r.event ?? ''});
	});
	if (records.length === 0)
		byId('log').append(html('li', {class: 'none', text: 'no record of this round'}));
}

/* Records of the round; at most one request a second, and only where the round may have new ones. */
async function drawLog(id, round) {
	if (report) {
		byId('log').replaceChildren();
		byId('log').joined = undefined;
		showRecords((report.log?.[id] ?? []).filter(r => r.round === round || !known(r.round)));
		return;
	}
	const key = `${id}/${round}`, now = performance.now();
	if (drawer.asked?.key === key && (known(model.documents.get(round)?.end_s) && drawer.asked.complete || now - drawer.asked.at < 1000))
		return;
	drawer.asked = {key, at: now, complete: known(model.documents.get(round)?.end_s)};
	try {
		const answer = await fetch(address('log', {learner: id, round}));
		const records = answer.ok ? await answer.json() : [];
		if (drawer.asked?.key === key) {
			byId('log').replaceChildren();
			byId('log').joined = undefined;
			showRecords(records);
		}
	} catch {
		/* the server has ended: the next event says so */
	}
}
