// speed.mjs STARLING RUNFOLDER COPY TIMES: see tools/web/speed.
import {appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {launchBrowser, open, start} from './session.mjs';

const [,, starling, run, copy, times] = process.argv;
const SIZES = [[390, 844], [1280, 900], [1920, 1080]];

// All records in the order in which they were written, with the learner's folder that each is from.
const learners = readdirSync(run).filter(name => name.startsWith('learner-'));
const records = learners.flatMap(name => readFileSync(`${run}/${name}/log.jsonl`, 'utf8').split('\n').filter(line => line)
	.map(line => ({name, line, ms: Date.parse(JSON.parse(line).time)}))).sort((a, b) => a.ms - b.ms);

// Write the logs as they were written then; return the seconds that it took.
async function write() {
	const began = Date.now();
	for (let i = 0; i < records.length;) {
		const now = records[0].ms + (Date.now() - began) * Number(times), due = new Map();
		for (; i < records.length && records[i].ms <= now; i++)
			due.set(records[i].name, `${due.get(records[i].name) ?? ''}${records[i].line}\n`);
		for (const [name, lines] of due)
			appendFileSync(`${copy}/${name}/log.jsonl`, lines);
		await new Promise(done => setTimeout(done, 20));
	}
	return (Date.now() - began) / 1000;
}

// In the page: the times between frames, and tasks of more than 50 ms.
function measure() {
	const at = window.measured = {frames: [], tasks: []};
	let last = performance.now();
	const frame = now => {
		at.frames.push(now - last);
		last = now;
		requestAnimationFrame(frame);
	};
	new PerformanceObserver(list => at.tasks.push(...list.getEntries().map(e => e.duration))).observe({entryTypes: ['longtask']});
	requestAnimationFrame(frame);
}

function cpuSeconds(pid) {
	const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
	return (Number(fields[11]) + Number(fields[12])) / 100;
}

const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))].toFixed(0);

const browser = await launchBrowser();
for (const [width, height] of SIZES) {
	for (const name of learners) {
		mkdirSync(`${copy}/${name}`, {recursive: true});
		writeFileSync(`${copy}/${name}/log.jsonl`, '');
	}
	const watch = await start(starling, ['watch', copy]), page = await open(browser, watch.url, [], {viewport: {width, height}});
	await page.evaluate(measure);
	const before = cpuSeconds(watch.child.pid), s = await write(), server = cpuSeconds(watch.child.pid) - before;
	const {frames, tasks} = await page.evaluate(() => window.measured);
	frames.sort((a, b) => a - b);
	console.log(`${width} x ${height}: frames of ${quantile(frames, 0.5)} ms, p95 ${quantile(frames, 0.95)} ms, longest ${quantile(frames, 1)} ms; ` +
		`${tasks.length} tasks of more than 50 ms; server ${server.toFixed(2)} s of CPU in ${s.toFixed(0)} s`);
	await page.close();
	watch.child.kill('SIGTERM');
	await watch.ended;
}
await browser.close();
