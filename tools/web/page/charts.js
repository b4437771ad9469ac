/* Small charts over the rounds, drawn by uPlot; a click shows the round. */

const CHARTS = [
	{id: 'loss', title: 'Loss', note: 'filled: all have the same model, hollow: not known, cross: not the same', value: row => row.loss ?? row.mse, format: number, mark: true},
	{id: 'seconds', title: 'Duration of a round', value: row => row.seconds, format: seconds, zero: true},
	{id: 'tolerance', title: 'Further losses tolerated', value: row => row.tolerance, format: number, zero: true, bars: true, whole: true},
	{id: 'bytes', title: 'Bytes sent', value: row => row.bytes_sent, format: bytes, zero: true},
];
const POINTS_MOST = 40; /* that are seen apart from each other */
const charts = {shown: null, plots: new Map(), colours: null};

function colours() {
	const style = getComputedStyle(document.documentElement), of = name => style.getPropertyValue(name).trim();
	return {ink: of('--ink'), muted: of('--muted'), line: of('--line'), data: of('--data'), accent: of('--accent'), paper: of('--paper')};
}

function axis(format, extra = {}) {
	const c = charts.colours;
	return {stroke: c.muted, font: '11px system-ui, sans-serif', grid: {stroke: c.line, width: 1}, ticks: {show: false}, size: 24, gap: 4,
		values: (u, splits) => splits.map(s => known(s) ? format(s) : ''), ...extra};
}

/* Marks on the line of the loss, or along the lower edge where a trainer has no loss. */
function drawMarks(u) {
	const c = charts.colours, ctx = u.ctx, px = devicePixelRatio, r = (u.data[0].length > 40 ? 1.5 : 2.6) * px;
	u.data[0].forEach((round, i) => {
		if (!known(model.rows.get(round)?.seconds))
			return;
		const x = u.valToPos(round, 'x', true), v = u.data[1][i];
		const y = known(v) ? u.valToPos(v, 'y', true) : u.bbox.top + u.bbox.height - 5 * px, same = model.rows.get(round)?.same;
		ctx.lineWidth = 1.4 * px;
		ctx.strokeStyle = same === false ? c.accent : c.data;
		ctx.fillStyle = same === true ? c.data : c.paper;
		ctx.beginPath();
		if (same === false) {
			ctx.moveTo(x - r, y - r); ctx.lineTo(x + r, y + r); ctx.moveTo(x + r, y - r); ctx.lineTo(x - r, y + r);
		} else {
			ctx.arc(x, y, r, 0, 2 * Math.PI);
			ctx.fill();
		}
		ctx.stroke();
	});
}

function drawShown(u) {
	if (!known(u.shownX))
		return;
	const x = Math.round(u.valToPos(u.shownX, 'x', true)), {ctx, bbox} = u;
	ctx.fillStyle = charts.colours.muted;
	ctx.fillRect(x, bbox.top, Math.max(1, devicePixelRatio), bbox.height);
}

function options(chart, width) {
	const c = charts.colours, series = chart.series ?? [{}];
	return {
		width, height: 120, legend: {show: false}, padding: [8, 10, 0, 0],
		cursor: {y: false, points: {size: 6}, drag: {x: false, y: false}},
		scales: {x: {time: false, range: (u, min, max) => min === max ? [min - 0.5, max + 0.5] : chart.bars ? [min - 0.4, max + 0.4] : [min, max]},
			y: {range: (u, min, max) => {
				if (min === null)
					return [0, 1];
				const pad = max === min ? Math.abs(max) * 0.2 || 1 : (max - min) * 0.12;
				return [chart.zero ? 0 : min - pad, max + pad];
			}}},
		axes: [axis(v => String(v), {incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000], space: 36}),
			axis(chart.format, {size: 52, space: 28, ...chart.whole || chart.log ? {incrs: [1, 2, 5, 10, 20, 50, 100]} : {}})],
		series: [{}, ...series.map(s => ({stroke: s.bound ? c.muted : c.data, width: 1.5, dash: s.bound ? [4, 3] : undefined,
			fill: chart.bars ? c.data : undefined, paths: chart.bars ? uPlot.paths.bars({size: [0.5, 14]}) : undefined, points: {show: !chart.mark && !s.bound && !chart.bars && (u => u.data[0].length <= POINTS_MOST), size: 4, fill: c.data, stroke: c.data}}))],
		hooks: {draw: [drawShown, ...chart.mark ? [drawMarks] : []],
			setCursor: [u => setReadout(chart, u)]},
	};
}

function setReadout(chart, u) {
	const i = u.cursor.idx ?? (known(u.shownX) ? u.data[0].indexOf(u.shownX) : -1), at = i >= 0 ? i : u.data[0].length - 1;
	byId(`chart-${chart.id}-value`).textContent = at >= 0 ? `${u.data.slice(1).map(d => chart.format(d[at])).join(' of ')}${known(u.cursor.idx) ? ` in ${chart.unit ?? 'round'} ${u.data[0][at]}` : ''}` : '';
}

function panel(chart) {
	const box = html('div', {class: 'plot'});
	byId('charts').append(html('figure', {id: `chart-${chart.id}`},
		html('figcaption', {}, html('span', {text: chart.title}), html('span', {id: `chart-${chart.id}-value`, class: 'value'})), box));
	return box;
}

function drawChart(chart, data, shownX) {
	let plot = charts.plots.get(chart.id);
	const summary = `${chart.title}: ${plural(data[0].length, 'value')}, the last ${chart.format(data[1].at(-1))}${chart.note ? `; ${chart.note}` : ''}`;
	if (!plot) {
		const box = byId(`chart-${chart.id}`)?.querySelector('.plot') ?? panel(chart);
		plot = new uPlot(options(chart, box.clientWidth), data, box);
		plot.box = box;
		plot.over.addEventListener('click', () => !chart.series && known(plot.cursor.idx) && showRound(plot.data[0][plot.cursor.idx]));
		charts.plots.set(chart.id, plot);
	}
	set(plot.box, {role: 'img', 'aria-label': summary, title: chart.note});
	if (plot.width !== plot.box.clientWidth)
		plot.setSize({width: plot.box.clientWidth, height: 120});
	plot.shownX = shownX;
	plot.setData(data);
	setReadout(chart, plot);
}

/* The spread falls by powers: its axis has their exponents. */
const log10 = v => v > 0 ? Math.log10(v) : null;
const power = v => known(v) ? Math.abs(v) < 3 ? String(Number((10 ** v).toPrecision(2))) : (10 ** v).toExponential(Number.isInteger(v) ? 0 : 1) : '–';

function drawSpread(doc) {
	const spread = (doc?.spread ?? []).filter(s => s.spread > 0 || s.bound > 0), figure = byId('chart-spread');
	if (figure)
		figure.hidden = spread.length === 0;
	if (spread.length > 0)
		drawChart({id: 'spread', title: 'Spread', unit: 'exchange', note: 'how far the sums are apart that two neighbours would take; dashed: the bound', format: power, log: true,
			series: [{}, {bound: true}]}, [spread.map(s => s.step + 1), spread.map(s => log10(s.spread)), spread.map(s => log10(s.bound))], null);
}

function drawCharts() {
	charts.shown = model.shown;
	if (typeof uPlot === 'undefined') {
		if (byId('charts').children.length === 0)
			byId('charts').append(html('p', {class: 'missing', text: 'The charts are missing: uPlot was not available when this program was built. All other figures are complete; rounds.csv of the report has what the charts would show.'}));
		return;
	}
	charts.colours ??= colours();
	const rows = [...model.rows.values()].sort((a, b) => a.round - b.round);
	if (rows.length === 0)
		return;
	for (const chart of CHARTS)
		drawChart(chart, [rows.map(r => r.round), rows.map(r => chart.value(r) ?? null)], model.shown);
	drawSpread(shownDocument());
}

/* Colours are part of a plot: make all anew. */
function recolour() {
	charts.colours = null;
	for (const plot of charts.plots.values())
		plot.destroy();
	charts.plots.clear();
	charts.shown = null;
	redraw();
}
