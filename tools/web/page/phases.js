/* A row for each learner: its phases in time; where it waited, its bar is hatched. The rows of awaited learners
 * are underlined for as long. For the selected learner, or the one under the pointer, arrows lead from its waits
 * to those that it waited for. */

const phases = {gutter: 0, row: 0, width: 0};

const HATCH = 'hatch';

function ticks(span) {
	const rough = span / 6, power = 10 ** Math.floor(Math.log10(rough));
	const step = [1, 2, 5, 10].map(m => m * power).find(s => s >= rough);
	return Array.from({length: Math.floor(span / step + 1e-9) + 1}, (_, i) => i * step);
}

/* Merge the waits for each learner into intervals: learner -> [[from, to], ...]. */
function awaitedIntervals(doc, end) {
	const all = new Map();
	for (const l of doc.learners_of_round ?? [])
		for (const w of l.waits ?? [])
			for (const id of w.awaited ?? [])
				all.set(id, [...all.get(id) ?? [], ...causeParts(doc, id, w.from_s, w.to_s ?? end, end)]);
	for (const [id, list] of all) {
		const merged = [];
		for (const [from, to] of list.sort((a, b) => a[0] - b[0])) {
			const last = merged.at(-1);
			if (last && from <= last[1])
				last[1] = Math.max(last[1], to);
			else
				merged.push([from, to]);
		}
		all.set(id, merged);
	}
	return all;
}

function createRow(l) {
	return svg('g', {'data-learner': l.id, click: () => openLearner(l.id), mouseenter: () => hover(l.id), mouseleave: () => hover(null)},
		svg('rect', {class: 'band'}), svg('text', {class: 'label'}), svg('g'), svg('g'), svg('g'), svg('g'));
}

function updateRow(node, l, i, {doc, x, end, intervals}) {
	const [band, label, bars, waits, lines, letters] = node.children, h = phases.row, of = doc.of.get(l.id), t = momentOf(doc);
	const height = Math.max(4, h - 5), y = (h - height) / 2;
	const here = (intervals.get(l.id) ?? []).some(([from, to]) => from <= t && t <= to);
	set(node, {transform: `translate(0 ${i * h})`, class: `row${here ? ' awaited' : ''}${l.id === model.selected ? ' selected' : ''}${l.id === model.hovered ? ' hovered' : ''}`});
	set(band, {width: phases.width, height: h});
	set(label, {x: 0, y: h / 2, text: shorten(l.name, Math.floor((phases.gutter - 8) / 6.4))});
	const wide = s => Math.max(0.8, x(s.to_s ?? end) - x(s.from_s));
	const spans = (of?.spans ?? []).map((s, k) => ({s, k, phase: phaseOf(s)})), cls = phase => `p-${phase in PHASES ? phase : 'none'}`;
	join(bars, spans, b => b.k, () => svg('g', {}, svg('rect', {class: 'bar'})), (g, {s, phase}) => {
		set(g, {class: cls(phase)});
		set(g.firstChild, {x: x(s.from_s), y, width: wide(s), height});
	});
	join(letters, spans.filter(({s}) => h >= 16 && wide(s) >= 13), b => b.k, () => svg('g', {}, svg('text', {class: 'letter'})), (g, {s, phase}) => {
		set(g, {class: cls(phase)});
		set(g.firstChild, {x: x(s.from_s) + wide(s) / 2, y: h / 2, text: PHASES[phase] ?? ''});
	});
	join(waits, (of?.waits ?? []).map((s, k) => ({s, k})), b => b.k, () => svg('rect', {class: 'wait', fill: `url(#${HATCH})`}),
		(rect, {s}) => set(rect, {x: x(s.from_s), y, width: wide(s), height}));
	join(lines, (intervals.get(l.id) ?? []).map((s, k) => ({s, k})), b => b.k, () => svg('rect', {class: 'underline'}),
		(rect, {s}) => set(rect, {x: x(s[0]), y: y + height, width: Math.max(1, x(s[1]) - x(s[0])), height: 2.5}));
}

/* Arrows from the waits of `id` to the learners that it waited for. */
function arrows(doc, id, x) {
	const row = i => (model.learners.findIndex(l => l.id === i) + 0.5) * phases.row;
	return (doc.of.get(id)?.waits ?? []).flatMap((w, k) => (w.awaited ?? []).map(to => {
		const px = x(w.from_s), a = row(id), b = row(to), bend = 9;
		return {key: `${k}-${to}`, d: `M${px} ${a}C${px - bend} ${a} ${px - bend} ${b} ${px} ${b}`};
	}));
}

function prepare(root) {
	root.append(svg('defs', {}, svg('pattern', {id: HATCH, width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)'},
		svg('rect', {class: 'hatch-ground', width: 5, height: 5}), svg('rect', {class: 'hatch-line', width: 1.6, height: 5})),
	svg('marker', {id: 'arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 6, markerHeight: 6, orient: 'auto'}, svg('path', {class: 'arrow-head', d: 'M0 0 8 4 0 8z'}))),
	svg('g'), svg('g'), svg('g', {'aria-hidden': 'true'}), svg('path', {class: 'cursor'}));
	root.addEventListener('pointermove', e => scrub(e.clientX - root.getBoundingClientRect().left));
	root.addEventListener('pointerleave', () => scrub(null));
}

/* Show the graph as it was at the instant under the pointer. */
function scrub(px) {
	const doc = shownDocument();
	if (!doc || replay.playing)
		return;
	const end = endOf(doc), part = known(px) ? (px - phases.gutter) / (phases.width - phases.gutter) : null;
	model.moment = known(part) && part >= 0 && part <= 1 ? doc.start_s + part * (end - doc.start_s) : null;
	redraw();
}

function drawPhases(doc) {
	const root = byId('phases'), n = model.learners.length, end = endOf(doc), span = Math.max(end - doc.start_s, 1e-3);
	const width = byId('phases-scroll').clientWidth;
	if (root.children.length === 0)
		prepare(root);
	phases.row = Math.max(14, Math.min(24, Math.floor(byId('graph').clientHeight / n)));
	phases.width = width;
	phases.gutter = Math.min(Math.max(...model.learners.map(l => l.name.length), 4) * 6.4 + 12, width * 0.28);
	const x = t => phases.gutter + (t - doc.start_s) / span * (width - phases.gutter - 1);
	const marks = ticks(span).map(s => ({s, px: x(doc.start_s + s)})), intervals = awaitedIntervals(doc, end);
	const [, grid, rows, over, cursor] = root.children;
	set(root, {width, height: n * phases.row, viewBox: `0 0 ${width} ${n * phases.row}`});
	join(grid, marks, m => m.s, () => svg('path', {class: 'grid'}), (node, m) => set(node, {d: `M${m.px} 0V${n * phases.row}`}));
	let i = 0;
	join(rows, model.learners, l => l.id, createRow, (node, l) => updateRow(node, l, i++, {doc, x, end, intervals}));
	const traced = model.hovered ?? model.selected;
	join(over, known(traced) ? arrows(doc, traced, x) : [], a => a.key, () => svg('path', {class: 'arrow', 'marker-end': 'url(#arrow)'}), (node, a) => set(node, {d: a.d}));
	set(cursor, {d: known(model.moment) ? `M${x(model.moment)} 0V${n * phases.row}` : ''});
	const axis = byId('axis');
	set(axis, {width, height: 18, viewBox: `0 0 ${width} 18`});
	join(axis, marks, m => m.s, () => svg('text', {y: 13}), (node, m) => set(node, {x: m.px, text: `${Number(m.s.toPrecision(3))}${m.s === 0 ? ' s' : ''}`,
		'text-anchor': m.px > width - 14 ? 'end' : m.s === 0 ? 'start' : 'middle'}));
	notePhases(doc);
}

function notePhases(doc) {
	const slowest = doc.slowest;
	byId('phases-note').textContent = [slowest && known(slowest.learner) ? `slowest: ${nameOf(slowest.learner)}, ${slowest.phase ? `${slowest.phase} ` : ''}${seconds(slowest.s)}` : '',
		known(model.moment) ? `at ${seconds(model.moment - doc.start_s)}` : ''].filter(s => s).join(' · ');
	const told = (doc.attempts ?? []).filter(a => a.ended === 'failed' || (doc.attempts ?? []).length > 1);
	join(byId('attempts'), told, a => a.attempt, () => html('li'), (li, a) => set(li, {class: a.ended ?? 'open', text:
		`Attempt ${a.attempt} ${a.ended === 'failed' ? 'failed' : a.ended === 'committed' ? 'committed' : 'is open'}` +
		`${known(a.to_s) && known(a.from_s) ? ` after ${seconds(a.to_s - a.from_s)}` : ''}${a.reason ? `: ${a.reason}` : ''}`}));
}
