/* Positions of the learners in the square [-1, 1] x [-1, 1]. A learner keeps its position, so that rounds can be
 * compared: the first graph with all learners, and all of its edges, decides. */

const positions = new Map(); // id -> {x, y}
let circular = false;

const onCircle = (i, n) => ({x: Math.sin(2 * Math.PI * i / n), y: -Math.cos(2 * Math.PI * i / n)});

/* Forces: neighbours attract, all repel (Fruchterman and Reingold), from a circle, so without randomness. */
function relax(ids, edges, steps) {
	const n = ids.length, k = 1.6 / Math.sqrt(n);
	const index = new Map(ids.map((id, i) => [id, i]));
	const p = ids.map((id, i) => onCircle(i, n));
	const links = edges.map(([a, b]) => [index.get(a), index.get(b)]).filter(([a, b]) => a !== undefined && b !== undefined);
	for (let step = 0; step < steps; step++) {
		const heat = 0.12 * (1 - step / steps), f = p.map(() => ({x: 0, y: 0}));
		for (let i = 0; i < n; i++)
			for (let j = i + 1; j < n; j++) {
				const x = p[i].x - p[j].x, y = p[i].y - p[j].y, d2 = Math.max(x * x + y * y, 1e-4), r = k * k / d2;
				f[i].x += x * r; f[i].y += y * r;
				f[j].x -= x * r; f[j].y -= y * r;
			}
		for (const [a, b] of links) {
			const x = p[a].x - p[b].x, y = p[a].y - p[b].y, r = Math.sqrt(x * x + y * y) / k;
			f[a].x -= x * r; f[a].y -= y * r;
			f[b].x += x * r; f[b].y += y * r;
		}
		p.forEach((q, i) => {
			const length = Math.hypot(f[i].x, f[i].y) || 1, move = Math.min(length, heat) / length;
			q.x += f[i].x * move;
			q.y += f[i].y * move;
		});
	}
	separate(p, 1.1 / Math.sqrt(n));
	return fill(p);
}

/* Stretch the positions to the square [-1, 1] x [-1, 1]. */
function fill(p) {
	const range = key => {
		const all = p.map(q => q[key]), least = Math.min(...all), most = Math.max(...all);
		return v => most > least ? 2 * (v - least) / (most - least) - 1 : 0;
	};
	const x = range('x'), y = range('y');
	return p.map(q => ({x: x(q.x), y: y(q.y)}));
}

/* Push apart what is closer than `least`. */
function separate(p, least) {
	for (let pass = 0; pass < 40; pass++)
		for (let i = 0; i < p.length; i++)
			for (let j = i + 1; j < p.length; j++) {
				const x = p[i].x - p[j].x, y = p[i].y - p[j].y, d = Math.hypot(x, y) || 1e-6, push = (least - d) / 2 / d;
				if (push > 0) {
					p[i].x += x * push; p[i].y += y * push;
					p[j].x -= x * push; p[j].y -= y * push;
				}
			}
}

/* Dense graphs look best on a circle, and large ones take too long otherwise. */
function place(ids, edges) {
	const n = ids.length, dense = edges.length > 0.45 * n * (n - 1) / 2;
	circular = n < 4 || n > 400 || dense;
	const p = circular ? ids.map((id, i) => onCircle(i, n)) : relax(ids, edges, n > 150 ? 120 : 300);
	ids.forEach((id, i) => positions.set(id, p[i]));
}

/* Return the positions of `ids`. Until there is a graph they stand on a circle; a learner that is new moves all. */
function layout(ids, edges) {
	if (edges.length > 0 && ids.some(id => !positions.has(id)))
		place(ids, edges);
	return id => positions.get(id) ?? onCircle(ids.indexOf(id), ids.length);
}
