// screenshots.mjs STARLING RUNFOLDER PICTURES: see tools/web/screenshots.
import {readFileSync} from 'node:fs';
import {launchBrowser, open, start} from './session.mjs';

const [,, starling, run, pictures] = process.argv;
const SIZES = [[390, 844], [1280, 900], [1920, 1080]];

const browser = await launchBrowser();
const launch = await start(starling, ['launch', '--web', '-n', '12', '--rounds', '12', '--topology', 'regular:4', '--run-dir', run,
	'--set', 'quorum=all', '--set', 'hidden_units=2']);
const pid = () => Number(readFileSync(`${run}/learner-07/pid`));
try {
	const page = await open(browser, launch.url, []);
	await page.waitForFunction(() => Number(document.getElementById('shown').textContent.split('/')[0]) >= 8, null, {timeout: 120000});
	process.kill(pid(), 'SIGSTOP');
	await page.waitForSelector('#graph .awaited[data-learner="7"]');
	await page.waitForTimeout(1500);
	await page.screenshot({path: `${pictures}/page.png`});
	for (const [width, height] of SIZES)
		for (const colorScheme of ['light', 'dark']) {
			const other = await open(browser, launch.url, [], {viewport: {width, height}, colorScheme});
			await other.waitForSelector('#graph .awaited[data-learner="7"]');
			await other.screenshot({path: `${pictures}/${width}-${colorScheme}.png`, fullPage: width === 390});
			await other.close();
		}
} finally {
	try {
		process.kill(pid(), 'SIGCONT');
	} catch {
		// it has ended
	}
	launch.child.kill('SIGTERM');
	await browser.close();
	await launch.ended;
}
