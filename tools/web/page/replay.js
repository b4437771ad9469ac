/* The rounds that can be replayed: a cell for each, a slider, and a player. */

const replay = {playing: false, last: 0};
const ROUND_MS = 1800; // of a played round
const still = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

function showRound(round) {
	if (!model.documents.has(round))
		return;
	model.shown = round;
	model.following = round === latest();
	model.moment = null;
	redraw();
}

function step(by) {
	const kept = roundsKept(), i = kept.indexOf(model.shown) + by;
	if (i >= 0 && i < kept.length)
		showRound(kept[i]);
	return i < kept.length - 1;
}

function setPlaying(on) {
	replay.playing = on;
	replay.last = performance.now();
	model.moment = null;
	set(byId('play'), {'aria-pressed': String(on), text: on ? 'Pause' : 'Play'});
	if (on) {
		if (model.shown === latest())
			showRound(roundsKept()[0]);
		requestAnimationFrame(playFrame);
	} else {
		redraw();
	}
}

/* Let the moment run through the round, then go to the next. Without motion, show each round for a while. */
function playFrame(now) {
	const doc = shownDocument();
	if (!replay.playing || !doc)
		return;
	const part = (now - replay.last) / ROUND_MS;
	if (part >= 1) {
		replay.last = now;
		if (!step(1) && model.shown === latest()) {
			setPlaying(false);
			return;
		}
	} else if (!still()) {
		model.moment = doc.start_s + Math.max(part, 0) * (endOf(doc) - doc.start_s);
		redraw();
	}
	requestAnimationFrame(playFrame);
}

const verdict = row => row?.same === true ? 'same' : row?.same === false ? 'not same' : 'open';

function drawReplay() {
	const kept = roundsKept(), slider = byId('slider'), row = model.rows.get(model.shown);
	join(byId('cells'), kept, r => r, r => html('button', {type: 'button', tabindex: '-1', click: () => showRound(r)}), (cell, r) => {
		const of = model.rows.get(r);
		set(cell, {class: `cell ${verdict(of).replace(' ', '-')}${(of?.attempts ?? 1) > 1 ? ' again' : ''}${r === model.shown ? ' shown' : ''}`,
			title: `round ${r}: ${verdict(of)}${(of?.attempts ?? 1) > 1 ? `, ${of.attempts} attempts` : ''}`});
	});
	set(slider, {min: 0, max: kept.length - 1, 'aria-valuetext': `round ${model.shown}, ${verdict(row)}`});
	slider.value = kept.indexOf(model.shown);
	byId('shown').textContent = `${model.shown}${model.total ? ` / ${model.total}` : ''}`;
	set(byId('live'), {disabled: model.following ? '' : null});
	set(byId('play'), {disabled: kept.length < 2 ? '' : null});
}

function listen() {
	byId('slider').addEventListener('input', e => showRound(roundsKept()[Number(e.target.value)]));
	byId('play').addEventListener('click', () => setPlaying(!replay.playing));
	byId('live').addEventListener('click', () => { setPlaying(false); showRound(latest()); });
	byId('close').addEventListener('click', closeLearner);
	document.addEventListener('keydown', e => {
		if (e.ctrlKey || e.metaKey || e.altKey || e.target.matches?.('input, select, textarea'))
			return;
		if (e.key === 'Escape' && model.selected !== null)
			closeLearner();
		else if (e.key === 'ArrowLeft' || e.key === 'ArrowRight')
			step(e.key === 'ArrowLeft' ? -1 : 1);
		else if (e.key === ' ' && !e.target.closest('button, a, [role=button]'))
			setPlaying(!replay.playing);
		else
			return;
		e.preventDefault();
	});
}
