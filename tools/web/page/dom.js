/* Elements and texts. Text of peers enters the page by textContent only. */

const SVG = 'http://www.w3.org/2000/svg';
const byId = id => document.getElementById(id);

/* Set the attributes of `node`: a string is one, null removes it, a function listens, `text` is its content. */
function set(node, attributes) {
	for (const [key, value] of Object.entries(attributes)) {
		if (key === 'text') {
			if (node.textContent !== value)
				node.textContent = value;
		} else if (typeof value === 'function') {
			node.addEventListener(key, value);
		} else if (value === null || value === undefined) {
			node.removeAttribute(key);
		} else if (node.getAttribute(key) !== String(value)) {
			node.setAttribute(key, value);
		}
	}
	return node;
}

const html = (name, attributes = {}, ...children) => {
	const node = set(document.createElement(name), attributes);
	node.append(...children);
	return node;
};

const svg = (name, attributes = {}, ...children) => {
	const node = set(document.createElementNS(SVG, name), attributes);
	node.append(...children);
	return node;
};

/* Make the children of `parent` one for each item of `items`, kept by key, and update each. */
function join(parent, items, key, create, update) {
	const old = parent.joined ?? new Map(), now = new Map();
	let before = parent.firstChild;
	for (const item of items) {
		const k = key(item), node = old.get(k) ?? create(item);
		old.delete(k);
		now.set(k, node);
		if (node === before)
			before = node.nextSibling;
		else
			parent.insertBefore(node, before);
		update(node, item);
	}
	for (const node of old.values())
		node.remove();
	parent.joined = now;
}

/* ---- numbers ---- */

const known = x => x !== null && x !== undefined;

function seconds(s) {
	if (!known(s))
		return '–';
	if (s < 0.0995)
		return `${(s * 1000).toFixed(0)}\u00a0ms`;
	if (s < 60)
		return `${s.toFixed(s < 9.95 ? 2 : 1)}\u00a0s`;
	return s < 3600 ? `${Math.floor(s / 60)} min ${Math.round(s % 60)} s` : `${Math.floor(s / 3600)} h ${Math.round(s % 3600 / 60)} min`;
}

function bytes(b) {
	if (!known(b))
		return '–';
	const units = ['B', 'kB', 'MB', 'GB', 'TB'];
	let i = 0;
	for (; b >= 999.5 && i < 4; i++)
		b /= 1000;
	return `${i === 0 ? b : b.toPrecision(3)}\u00a0${units[i]}`;
}

function number(x) {
	if (!known(x))
		return '–';
	const a = Math.abs(x);
	return a !== 0 && (a < 1e-3 || a >= 1e5) ? x.toExponential(2) : String(Number(x.toPrecision(4)));
}

const plural = (n, word) => `${n} ${word}${n === 1 ? '' : 's'}`;
