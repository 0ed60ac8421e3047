// browser.mjs - what the tests of the page share: servers, a browser, checks.
import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const [anycq, source, modules, pictures, ...more] = process.argv.slice(2);
const require = createRequire(join(modules, 'x'));
const { chromium } = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
mkdirSync(pictures, { recursive: true });

let nFailed = 0, nChecked = 0;

export function check(isGood, what) {
  nChecked++;
  if (isGood) return;
  nFailed++;
  console.log('FAILED: ' + what);
}

export function same(got, wanted, what) {
  check(JSON.stringify(got) === JSON.stringify(wanted),
        `${what}: got ${JSON.stringify(got)}, not ${JSON.stringify(wanted)}`);
}

// ---- servers ----

const children = [];

// On a free port of this machine; it ends with the tests, and by itself after five minutes.
export function serve(graph, options = []) {
  return new Promise((resolve, reject) => {
    const child = spawn('timeout', ['300', anycq, 'serve', graph, '--port', '0', ...options], { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    children.push(child);
    child.stderr.on('data', piece => {
      said += piece;
      const url = /serving at (http:\S+)/.exec(said)?.[1];
      if (url) resolve({ url, child });
    });
    child.on('exit', code => reject(new Error(`the server ended with ${code}: ${said}`)));
    child.on('error', reject);
  });
}

// ---- the browser ----

let browser;

export async function openBrowser() {
  browser = await chromium.launch({
    executablePath: process.env.ANYCQ_CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-gpu',
           '--disable-dev-shm-usage', '--disable-sync', '--no-first-run'] });
}

// A page whose errors fail the test, and which may ask its own server alone.
export async function openPage(url, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60000);
  const own = new URL(url).origin;
  page.asked = [];
  page.on('pageerror', error => check(false, 'an error of the page: ' + error.stack));
  page.on('dialog', dialog => { check(false, 'a dialog: ' + dialog.message()); dialog.dismiss(); });
  page.on('console', line => {
    if (line.type() === 'error' && !/status of (4|503)|ERR_CONNECTION/.test(line.text())) check(false, 'the console says: ' + line.text());
  });
  page.on('request', request => {
    if (/^(data|blob):/.test(request.url())) return;
    page.asked.push(request);
    check(request.url().startsWith(own), 'a request to ' + request.url());
  });
  await page.goto(url);
  await page.waitForFunction(() => document.getElementById('about').textContent !== '');
  return page;
}

// An answer has come to its end.
export async function settled(page) {
  await page.waitForFunction(() => /(answered|none|undecided)/.test(document.getElementById('outcome').className));
}

export async function ask(page, text) {
  await page.fill('#query', text);
  await page.evaluate(() => { document.getElementById('outcome').className = 'outcome'; });
  await page.click('#go');
  await settled(page);
}

// The rows of the answers: values, p (1 for facts), kind.
export const readRows = page => page.$$eval('#answers tbody tr', rows => rows.map(row => {
  const cells = [...row.cells], meter = row.querySelector('meter');
  return { values: cells.slice(0, -2).map(cell => cell.textContent), p: meter ? Number(meter.getAttribute('value')) : 1,
           kind: cells.at(-1).textContent };
}));

export async function checkAccess(page, where) {
  await page.evaluate(axe + '; 0');
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations', 'passes'] }));
  for (const v of found.violations)
    if (v.impact === 'serious' || v.impact === 'critical')
      check(false, `axe, ${where}: ${v.id}, ${v.nodes[0].html}, ${v.nodes[0].failureSummary}`);
  check(found.passes.length > 10, 'axe ran');
}

export const shoot = (page, name) => page.screenshot({ path: join(pictures, name + '.png'), fullPage: true });

// Each test by its name; a failure in one does not stop the others.
export async function run(tests) {
  try {
    await openBrowser();
    for (const [name, test] of Object.entries(tests)) {
      const start = Date.now();
      try {
        await test();
      } catch (error) {
        check(false, `${name}: ${error.stack}`);
      }
      console.log(`${name}: ${((Date.now() - start) / 1000).toFixed(1)} s`);
    }
  } finally {
    for (const child of children) child.kill('SIGTERM');
    await browser?.close();
  }
  console.log(`${nChecked} checks, ${nFailed} failures`);
  process.exit(nFailed > 0 ? 1 : 0);
}
