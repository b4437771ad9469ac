/* The graph of the attempt at the moment that is shown. */

const EDGE_WIDTHS = [0.5, 0.9, 1.4, 2, 2.8]; // five classes; all edges of one are one path
const NAMES_MOST = 8; // of awaited learners where there is no room for all names
const graph = {size: 0, focus: null};

function edgePaths(doc, attempt, at, past) {
	const sent = new Map((doc.links ?? []).map(l => [`${Math.min(l.a, l.b)}-${Math.max(l.a, l.b)}`, l.bytes]));
	const most = Math.max(1, ...sent.values()), thin = Math.min(1, Math.sqrt(70 / (attempt?.edges?.length || 1))), classes = EDGE_WIDTHS.map(() => []), selected = [];
	for (const [a, b] of attempt?.edges ?? []) {
		const p = at(a), q = at(b);
		const part = (sent.get(`${Math.min(a, b)}-${Math.max(a, b)}`) ?? 0) / most;
		const line = `M${p.x.toFixed(1)} ${p.y.toFixed(1)}L${q.x.toFixed(1)} ${q.y.toFixed(1)}`;
		classes[Math.min(EDGE_WIDTHS.length - 1, Math.floor(part * EDGE_WIDTHS.length))].push(line);
		if (a === model.selected || b === model.selected || a === model.hovered || b === model.hovered)
			selected.push(line);
	}
	return [...classes.map((lines, i) => ({key: i, d: lines.join(''), width: Math.max(0.4, EDGE_WIDTHS[i] * thin), cls: past ? 'edge past' : 'edge'})),
		{key: 'selected', d: selected.join(''), width: 1.6, cls: 'edge selected'}];
}

function createNode(l) {
	const open = () => openLearner(l.id);
	return svg('g', {
		role: 'button', 'data-learner': l.id, click: open,
		keydown: e => {
			if (e.key === 'Enter' || e.key === ' ') {
				e.preventDefault();
				open();
			} else if (e.key.startsWith('Arrow')) {
				e.preventDefault();
				e.stopPropagation();
				moveFocus(e.key === 'ArrowRight' || e.key === 'ArrowDown' ? 1 : -1);
			}
		},
		mouseenter: () => hover(l.id), mouseleave: () => hover(null),
		focus: () => { graph.focus = l.id; hover(l.id); }, blur: () => hover(null),
	}, svg('circle', {class: 'ring'}), svg('path', {class: 'body'}), svg('text', {class: 'letter'}), svg('text', {class: 'name'}));
}

/* One learner is in the order of Tab; arrow keys go to the others. */
function moveFocus(by) {
	const ids = model.learners.map(l => l.id), i = ids.indexOf(graph.focus ?? ids[0]);
	graph.focus = ids[(i + by + ids.length) % ids.length];
	byId('graph').querySelector(`[data-learner="${Number(graph.focus)}"]`)?.focus();
}

const circlePath = r => `M${-r} 0A${r} ${r} 0 1 1 ${r} 0A${r} ${r} 0 1 1 ${-r} 0Z`;
const diamondPath = r => `M0 ${-1.35 * r}L${1.35 * r} 0L0 ${1.35 * r}L${-1.35 * r} 0Z`;

function describe(id, phase, awaited, cut) {
	return [nameOf(id), phase ?? 'not in this round', cut ? 'cut vertex' : '',
		awaited ? `awaited by ${plural(awaited.waiters.length, 'learner')}` : ''].filter(s => s).join(', ');
}

function updateNode(node, l, {doc, t, at, r, attempt, awaited, names, unit}) {
	const span = spanAt(doc, l.id, t), phase = span && phaseOf(span), p = at(l.id), wait = awaited.get(l.id);
	const inside = !attempt || attempt.participants?.includes(l.id), cut = attempt?.cut_vertices?.includes(l.id);
	const [ring, body, letter, name] = node.children;
	set(node, {
		class: `node p-${phase in PHASES ? phase : 'none'}${wait ? ' awaited' : ''}${inside ? '' : ' outside'}` +
			`${cut ? ' cut' : ''}${l.id === model.selected ? ' selected' : ''}`,
		transform: `translate(${p.x.toFixed(1)} ${p.y.toFixed(1)})`,
		tabindex: l.id === (graph.focus ?? model.learners[0].id) ? 0 : -1,
		'aria-label': describe(l.id, phase, wait, cut),
	});
	set(ring, {r: r + 4});
	set(body, {d: (cut ? diamondPath : circlePath)(r)});
	set(letter, {text: r >= 5.5 ? PHASES[phase] ?? '' : '', 'font-size': Math.min(12, Math.round(r * 1.15))});
	const show = names || (wait && awaited.size <= NAMES_MOST) || l.id === model.selected || l.id === model.hovered;
	const u = unit(l.id), around = circular && names, dx = around ? u.x : 0, dy = around ? u.y : 1; // else below
	const side = Math.abs(dx) > 0.35, space = (dx > 0 ? graph.size - p.x : p.x) - r - 9;
	const text = show ? shorten(l.name, side ? Math.max(4, Math.floor(space / 6.3)) : 18) : '', half = text.length * 3.3;
	const shift = half > p.x ? half - p.x : Math.min(0, graph.size - p.x - half); // a centred name stays within the picture
	set(name, {text, x: side ? dx * (r + 7) : dx * (r + 7) + shift, y: dy * (r + 10), 'text-anchor': !side ? 'middle' : dx > 0 ? 'start' : 'end'});
}

const shorten = (text, most) => text.length > most ? `${text.slice(0, most - 1)}…` : text;

function drawGraph(doc) {
	const root = byId('graph'), t = momentOf(doc), attempt = attemptAt(doc, t), drawn = attempt ?? viewBefore(doc.round);
	const width = root.clientWidth, height = root.clientHeight, n = model.learners.length;
	const names = n <= 24 && width >= 380, longest = Math.max(...model.learners.map(l => l.name.length));
	const edge = names ? Math.max(48, Math.min(18, longest) * 6.6) : 22;
	graph.size = width;
	graph.height = height;
	const whole = drawn && (drawn.edges?.length >= drawn.edge_count || drawn.ended); // else records with more edges come
	const unit = layout(model.learners.map(l => l.id), whole ? drawn.edges ?? [] : []);
	const at = id => ({x: width / 2 + unit(id).x * (width / 2 - edge - (names ? 18 : 0)), y: height / 2 + unit(id).y * (height / 2 - (names ? 30 : 22))});
	const r = Math.max(3.2, Math.min(11, Math.sqrt(width * height / n) * 0.13));
	const awaited = awaitedAt(doc, t);
	set(root, {viewBox: `0 0 ${width} ${height}`});
	if (root.children.length === 0)
		root.append(svg('g', {'aria-hidden': 'true'}), svg('g'));
	join(root.children[0], edgePaths(doc, drawn, at, drawn !== attempt), e => e.key, () => svg('path'), (node, e) => set(node, {d: e.d, class: e.cls, 'stroke-width': e.width}));
	join(root.children[1], model.learners, l => l.id, createNode,
		(node, l) => updateNode(node, l, {doc, t, at, r, attempt, awaited, names, unit}));
	noteGraph(attempt, drawn);
}

function noteGraph(attempt, drawn) {
	const cut = attempt?.cut_vertices?.length ?? 0;
	byId('graph-note').textContent = !attempt ? (drawn ? 'no view yet; faint: the last one' : 'no view yet') :
		[plural(attempt.participants?.length ?? 0, 'learner'), plural(attempt.edges.length, 'link'),
			attempt.mixing ? `${attempt.mixing}, ${plural(attempt.steps ?? 0, 'exchange')}` : '',
			cut > 0 ? (cut === 1 ? '1 cut vertex' : `${cut} cut vertices`) : ''].filter(s => s).join(' · ');
}
