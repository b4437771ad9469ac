// A run of `starling` and pages that watch it, for tests and screenshots.
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {createInterface} from 'node:readline';

const {chromium} = await import(process.env.PLAYWRIGHT);

export const launchBrowser = () => chromium.launch({executablePath: process.env.CHROMIUM, args: ['--no-sandbox'], timeout: 0});

// Start a program; return it, and the address of the page that it prints.
export async function start(program, args) {
	const child = spawn(program, args, {stdio: ['ignore', 'pipe', 'inherit']});
	const ended = once(child, 'exit').then(([status]) => status);
	const lines = createInterface({input: child.stdout});
	const url = await new Promise((found, failed) => {
		lines.on('line', line => {
			const match = /http:\/\/\S+/.exec(line);
			if (match)
				found(match[0]);
		});
		ended.then(status => failed(new Error(`${args[0]} ended with status ${status}, without an address`)));
	});
	return {child, url, ended};
}

// Open a page. Errors, and requests to other servers, are collected in `wrong`.
export async function open(browser, url, wrong, options = {}) {
	const page = await browser.newPage({viewport: {width: 1280, height: 900}, ...options});
	page.setDefaultTimeout(600000); // ends a test that hangs
	page.on('console', message => ['error', 'warning'].includes(message.type()) && wrong.push(`console: ${message.text()}`));
	page.on('pageerror', error => wrong.push(`error: ${error.message}`));
	page.on('dialog', dialog => { wrong.push('a dialog: text of a peer was run'); dialog.dismiss(); });
	page.on('request', request => {
		const other = new URL(request.url());
		if (other.protocol !== 'data:' && other.origin !== new URL(url).origin)
			wrong.push(`external request: ${request.url()}`);
	});
	await page.goto(url);
	return page;
}
