// page.mjs STARLING FOLDER: twenty learners, ten rounds; one is stopped in mid-run, and is shown as awaited until it goes on.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import {setTimeout} from 'node:timers/promises';
import {launchBrowser, open, start} from './session.mjs';

const [,, starling, folder] = process.argv;
const run = `${folder}/run`, wrong = [], children = [], rounds = 10;
// A page draws after the event that changes it: wait for what it is to show.
const expectText = (page, selector, pattern) => page.waitForFunction(([s, source]) => new RegExp(source).test(document.querySelector(s)?.textContent), [selector, pattern.source]);
const expectCount = (page, selector, count) => page.waitForFunction(([s, n]) => document.querySelectorAll(s).length === n, [selector, count]);
const expectRound = (page, round) => page.waitForFunction(t => document.getElementById('shown').textContent.split(' ')[0] === String(t), round);

// Stop a learner after the second round, before a page is open: a page that opens late finds the run as it was stopped.
async function stop(id) {
	const learner = `${run}/learner-${String(id).padStart(2, '0')}`;
	while (!existsSync(`${learner}/log.jsonl`) || !readFileSync(`${learner}/log.jsonl`, 'utf8').includes('round 2 committed'))
		await setTimeout(10);
	const pid = Number(readFileSync(`${learner}/pid`));
	process.kill(pid, 'SIGSTOP');
	return pid;
}

async function awaitedAndBack(page, id, pid) {
	try {
		await page.waitForFunction(() => Number(document.getElementById('shown').textContent.split('/')[0]) >= 2);
		await page.waitForSelector(`#graph .awaited[data-learner="${id}"]`);
		await expectText(page, '#awaited', /wait.* for .*learner-07/);
		await page.waitForSelector(`#phases .underline`, {state: 'attached'});
		await page.click(`#graph [data-learner="${id}"] .body`);
		await expectText(page, '#learner-figures', /Awaited by/);
	} finally {
		process.kill(pid, 'SIGCONT');
	}
	await expectCount(page, '#graph .awaited', 0);
	await page.waitForSelector('#log li');
	await page.keyboard.press('Escape');
	await page.waitForSelector('#learner', {state: 'hidden'});
}

// The slider, the keys and the cells show earlier rounds; the graph has all learners. Other colours leave the charts.
async function replay(page, rounds) {
	await page.locator('#graph').click({position: {x: 3, y: 3}});
	await page.click('.cell:nth-child(4)');
	await expectRound(page, 4);
	await page.keyboard.press('ArrowLeft');
	await expectRound(page, 3);
	await page.focus('#slider');
	await page.keyboard.press('End');
	await expectRound(page, rounds);
	await expectCount(page, '#graph .node', 20);
	await expectCount(page, '.cell.same', rounds);
	await expectText(page, '#sentence', /committed in/);
	await expectText(page, '#figures', /Hidden among20 learners/);
	await page.waitForSelector('.plot canvas, .missing');
	const charts = await page.locator('.plot canvas').count();
	assert.ok(charts >= 4 || await page.isVisible('.missing'));
	if (charts >= 4)
		await page.waitForSelector(`#chart-seconds .plot[aria-label*=": ${rounds} values, the last "]`, {state: 'attached'});
	await page.evaluate(() => document.querySelectorAll('.plot canvas').forEach(c => c.dataset.light = ''));
	await page.emulateMedia({colorScheme: 'dark'});
	await page.waitForFunction(n => !document.querySelector('.plot canvas[data-light]') && document.querySelectorAll('.plot canvas').length === n, charts);
}

// A round without a learner tells its model: the page says so.
async function alone(browser) {
	const told = `${folder}/alone/a`;
	mkdirSync(told, {recursive: true});
	const record = (s, fields) => JSON.stringify({v: 1, time: new Date(1.7e12 + s * 1000).toISOString(), mono_ms: s * 1000, level: 'info',
		learner: 1, name: 'a', round: 2, attempt: 1, ...fields});
	writeFileSync(`${told}/log.jsonl`, [record(0, {event: 'phase', phase: 'AGREE'}),
		record(1, {event: 'view', view: 'a', participants: [1, 2, 3], neighbours: [2, 3], edges: 3, atom: 1})].join('\n') + '\n');
	execFileSync(starling, ['report', `${folder}/alone`], {stdio: 'ignore'});
	const page = await open(browser, `file://${folder}/alone/report.html`, wrong);
	await expectText(page, '#figures .accent', /Hidden among1: itself/);
	await page.close();
}

// Names and reasons of peers are text, whatever they contain.
async function hostile(browser) {
	const evil = `${folder}/evil/a`, name = '<img src=x onerror=alert(1)>';
	mkdirSync(evil, {recursive: true});
	const record = (s, fields) => JSON.stringify({v: 1, time: new Date(1.7e12 + s * 1000).toISOString(), mono_ms: s * 1000, level: 'info',
		learner: 1, name, text: '<script>alert(2)</script>', round: 1, attempt: 1, ...fields});
	writeFileSync(`${evil}/log.jsonl`, [record(0, {event: 'phase', phase: 'TRAIN'}), record(1, {event: 'phase', phase: 'DISCOVER'}),
		record(3, {event: 'waiting', phase: 'DISCOVER', for: '</script><b>all</b>', awaited: [1], waited_s: 1}),
		record(4, {event: 'attempt_failed', phase: 'DISCOVER', reason: '<svg onload=alert(3)>'})].join('\n') + '\n');
	const watch = await start(starling, ['watch', `${folder}/evil`]);
	children.push(watch.child);
	const page = await open(browser, watch.url, wrong);
	await page.waitForSelector('#phases .row');
	await page.click('#phases .row .label');
	await page.waitForSelector('#log li');
	await expectText(page, 'body', /<img src=x/);
	await expectText(page, '#log', /<script>alert\(2\)/);
	assert.equal(await page.locator('body img, #log script, #attempts svg').count(), 0);
	const foreign = await fetch(watch.url, {headers: {Origin: 'http://example.invalid'}});
	assert.equal(foreign.ok, false);
	await page.close();
	watch.child.kill('SIGTERM');
	assert.equal(await watch.ended, 0);
}

// The report of a run with metropolis shows the spread of the states and its bound: in the end, all learners round to the same sum.
async function converges(browser) {
	const mixed = `${folder}/mixed`;
	execFileSync(starling, ['launch', '-n', '5', '--rounds', '1', '--topology', 'ring', '--run-dir', mixed, '--set', 'mixing=metropolis',
		'--set', 'trainer=noise', '--set', 'noise_parameters=200'], {stdio: 'ignore'});
	execFileSync(starling, ['report', mixed], {stdio: 'ignore'});
	const page = await open(browser, `file://${mixed}/report.html`, wrong);
	await page.waitForSelector('.plot canvas, .missing');
	if (!await page.isVisible('.missing')) {
		const label = await page.getAttribute('#chart-spread .plot', 'aria-label'), [, count, last] = label.match(/: (\d+) values, the last ([0-9.e+-]+);/);
		const [, spread, bound] = (await page.textContent('#chart-spread-value')).match(/^(\S+) of (\S+)$/);
		assert.ok(count > 20 && last === spread && spread < 0.5 && Number(spread) < Number(bound));
	}
	await page.close();
}

async function main() {
	const browser = await launchBrowser();
	let page;
	try {
		const launch = await start(starling, ['launch', '--web', '-n', '20', '--rounds', String(rounds), '--topology', 'regular:6', '--run-dir', run,
			'--set', 'trainer=noise', '--set', 'noise_parameters=2000', '--set', 'quorum=all']);
		children.push(launch.child);
		const pid = await stop(7);
		page = await open(browser, launch.url, wrong);
		await awaitedAndBack(page, 7, pid);
		await page.waitForFunction(() => document.getElementById('source').textContent === 'the run has ended');
		await replay(page, rounds);
		assert.equal(await launch.ended, 0);
		const report = await open(browser, `file://${run}/report.html`, wrong);
		await replay(report, rounds);
		await alone(browser);
		await hostile(browser);
		await converges(browser);
		// The drawer may ask a server that has just ended for its log.
		assert.deepEqual(wrong.filter(one => !one.includes('ERR_CONNECTION_REFUSED')), []);
	} catch (error) {
		console.log('wrong so far:', wrong, '; the page says:', await page?.textContent('.now'), await page?.textContent('#source'));
		throw error;
	} finally {
		await browser.close();
		for (const child of children)
			child.kill('SIGTERM');
	}
}

await main();
