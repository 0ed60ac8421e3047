// tutorial.mjs - the clicks of docs/tutorial.md, and its pictures: they are made here, and those in docs/tutorial/ must be
// there and as wide. To renew them, copy them from PICTURES.
// usage: node tutorial.mjs ANYCQ SOURCE NODE_MODULES PICTURES
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { anycq, check, openPage, pictures, readRows, run, same, serve, settled, source } from './browser.mjs';

const folder = mkdtempSync(join(tmpdir(), 'acq-tutorial-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const store = join(folder, 'company.acq');
const document = readFileSync(join(source, 'docs/tutorial.md'), 'utf8');

const widthOf = path => readFileSync(path).readUInt32BE(16);

async function shoot(place, name) {
  const path = join(pictures, name + '.png');
  await place.screenshot({ path });
  check(document.includes(`(tutorial/${name}.png)`), 'the tutorial shows ' + name);
  same(widthOf(join(source, 'docs/tutorial', name + '.png')), widthOf(path), 'the width of ' + name);
}

async function clicks() {
  execFileSync(anycq, ['import', join(source, 'docs/tutorial/company.csv'), '-o', store], { stdio: 'ignore' });
  const server = await serve(store);
  const page = await openPage(server.url, { viewport: { width: 900, height: 760 } });
  const builder = page.locator('#builder');
  await page.click('#build');
  await builder.getByLabel('Begin with an entity').first().pressSequentially('Gin');
  await builder.getByRole('option', { name: /^Gina/ }).click();
  await builder.getByRole('combobox', { name: 'Another relation, from here' }).pressSequentially('lives');
  await builder.getByRole('option', { name: /^lives_in/ }).click();
  await builder.getByRole('button', { name: 'in_country →' }).click();
  await builder.locator('.node[aria-label^="x"]').click();
  await builder.getByRole('button', { name: 'Asked for', exact: true }).click();
  await builder.locator('.node[aria-label^="y"]').click();
  await builder.getByRole('button', { name: 'Some entity', exact: true }).click();
  same(await page.inputValue('#query'), 'Q(y) := exists x. lives_in("Gina", x) & in_country(x, y)', 'the formula');
  await page.locator('h2', { hasText: 'Build a question' }).hover();
  await shoot(builder, 'build');
  await page.click('#build');
  await page.click('#go');
  await settled(page);
  const rows = await readRows(page);
  same(rows.map(row => row.values), [['Sweden']], 'the answer');
  check(document.includes(`p ${rows[0].p.toFixed(3)}`), 'p is that of the command');
  await page.click('.edge.predicted');
  check(await page.locator('#reasons li').count() >= 2, 'its reasons');
  await page.locator('footer').hover();
  await shoot(page.locator('#view-ask > .columns'), 'answer');
  await page.click('nav a[data-view=trust]');
  await page.waitForSelector('#view-trust .bin');
  await shoot(page.locator('#view-trust .columns'), 'trust');
  await page.context().close();
}

await run({ clicks });
