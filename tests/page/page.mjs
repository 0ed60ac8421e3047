// page.mjs - the page in a real browser: everything that docs/page.md promises.
// usage: node page.mjs ANYCQ SOURCE NODE_MODULES PICTURES DOORS MAKE_WORLD
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { anycq, ask, check, checkAccess, more, openPage, readRows, run, same, serve, settled, shoot, source } from './browser.mjs';

const folder = mkdtempSync(join(tmpdir(), 'acq-page-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
copyFileSync(join(source, 'data/world/observed.tsv'), join(folder, 'world.tsv'));
const world = await serve(join(folder, 'world.tsv'));
const facts = await serve(join(folder, 'world.tsv'), ['--predictor', 'observed']);

// What the command says; 1 and 3 are answers, too.
function command(...given) {
  try {
    return execFileSync(anycq, given, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  } catch (error) {
    if (error.status === 1 || error.status === 3) return error.stdout;
    throw error;
  }
}

const sorted = rows => rows.map(row => JSON.stringify(row)).sort();

// ---- tests ----

async function demo() {
  const page = await openPage(facts.url);
  const questions = [
    'Q(x) := exists y, f. married_to(x, y) & acted_in(x, f) & acted_in(y, f)',
    'Q(x) := borders(x, "France") & !currency(x, "Euro")',
    'Q(x, f) := directed(x, f) & acted_in(x, f) & set_in(f, "New York City")'];
  for (const text of questions) {
    await ask(page, text);
    const said = JSON.parse(command('ask', join(folder, 'world.tsv'), '--predictor', 'observed', '--limit', '20', '--json', text));
    same(sorted((await readRows(page)).map(row => row.values)), sorted(said.answers.map(a => Object.values(a.values))), text);
  }
  check(await page.locator('.edge.observed').count() === 3, 'three facts are drawn');
  check(await page.locator('.node.free').count() === 2 && await page.locator('.node.named').count() === 1, 'nodes are told apart');
  await checkAccess(page, 'answers of facts');
  await shoot(page, 'facts');
  await page.context().close();
}

async function conflict() {
  const page = await openPage(facts.url);
  await ask(page, 'Q(x) := exists y. directed(y, "Oppenheimer") & born_in(y, x)');
  check((await page.textContent('#outcome')).startsWith('None: proved.'), 'none is proved');
  check(await page.locator('.edge.missing').count() === 2, 'both conditions of the conflict are red');
  same(await page.locator('#conflict code').allTextContents(), ['directed(y, "Oppenheimer")', 'born_in(y, x)'], 'the conflict');
  await checkAccess(page, 'a conflict');
  await shoot(page, 'conflict');
  await ask(page, 'Q(x) := borders(x, "France") & borders(x, "France") & capital_of(x, "France")');
  check(await page.locator('.edge.missing').count() < 3, 'only the conflict is red');
  await page.context().close();
}

async function predicted() {
  const page = await openPage(world.url);
  await ask(page, 'Q(x) := citizen_of("Phil Knight", x)');
  const said = JSON.parse(command('ask', join(folder, 'world.tsv'), '--limit', '20', '--explain', '--json', 'Q(x) := citizen_of("Phil Knight", x)'));
  same(await readRows(page), [{ values: ['United States'], p: said.answers[0].p, kind: 'predicted' }], 'a predicted answer');
  await page.click('.edge.predicted');
  const reasons = await page.locator('#reasons li').allTextContents();
  const wanted = said.answers[0].atoms?.[0]?.reasons ?? said.answers[0].facts?.[0]?.reasons ?? [];
  check(reasons.length >= 2 && /^\+\d/.test(reasons[0]), 'reasons are shown');
  wanted.forEach((reason, i) => check(reasons[i]?.includes(reason.text), 'the reason of the command: ' + reason.text));
  await checkAccess(page, 'reasons');
  await shoot(page, 'reasons');
  // Not likely enough: the likeliest is drawn, what is missing is red.
  await ask(page, 'Q(x) := exists y. directed(y, "Oppenheimer") & born_in(y, x)');
  check(/^None: no answer reaches p 0.5/.test(await page.textContent('#outcome')), 'none by p');
  check(await page.locator('.edge.missing').count() === 1 && await page.locator('.edge.observed').count() === 1, 'the unlikely link is red');
  await page.click('#conflict button');
  await settled(page);
  await page.waitForSelector('#answers tbody tr');
  same((await readRows(page))[0].values, ['London'], 'asked with less p');
  await page.context().close();
}

async function typo() {
  const page = await openPage(world.url);
  await page.fill('#query', 'Q(x) := citizen_of("Phil Night", x) &\n born_in("Phil Knight", x)');
  await page.click('#go');
  await page.click('#problem button');
  await page.waitForSelector('#problem[hidden]', { state: 'attached' });
  check((await page.inputValue('#query')).startsWith('Q(x) := citizen_of("Phil Knight", x) &\n'), 'the name is corrected');
  await page.fill('#query', 'Q(x) := citizn_of("Phil Knight", x)');
  await page.click('#go');
  await page.waitForSelector('#problem:not([hidden])');
  check(await page.isHidden('#picture-card') && await page.isHidden('#answers-card'), 'nothing of the question before is left');
  await checkAccess(page, 'a typing error');
  await shoot(page, 'typo');
  await page.click('#problem button');
  await settled(page);
  same(await page.inputValue('#query'), 'Q(x) := citizen_of("Phil Knight", x)', 'the relation is corrected');
  await page.fill('#query', 'Q(x) := citizen_of(');
  await page.click('#go');
  await page.waitForSelector('#problem:not([hidden])');
  check((await page.textContent('#problem')).length > 20, 'an error of the grammar is said');
  await page.context().close();
}

async function build() {
  const page = await openPage(world.url);
  const builder = page.locator('#builder');
  await page.click('#build');
  await builder.getByLabel('Begin with an entity').first().pressSequentially('franc');
  await builder.locator('[role=option]', { hasText: /^France/ }).first().click();
  await builder.getByRole('button', { name: '← borders' }).click();
  same(await page.inputValue('#query'), 'Q(x) := borders(x, "France")', 'one click');
  await builder.getByRole('button', { name: 'currency →' }).click();
  same(await page.inputValue('#query'), 'Q(x) := exists y. borders(x, "France") & currency(x, y)', 'two clicks');
  await builder.getByRole('button', { name: 'Some entity', exact: true }).click();
  same(await page.inputValue('#query'), 'Q(x, y) := borders(x, "France") & currency(x, y)', 'y is asked for');
  await builder.getByRole('combobox', { name: 'Name it' }).pressSequentially('Eur');
  await builder.getByRole('option', { name: /^Euro/ }).first().click();
  await builder.locator('.edge').nth(1).click();
  await builder.getByRole('button', { name: 'Not', exact: true }).click();
  same(await page.inputValue('#query'), 'Q(x) := borders(x, "France") & !currency(x, "Euro")', 'a denial');
  await checkAccess(page, 'the builder');
  await shoot(page, 'builder');
  await page.click('#go');
  await settled(page);
  check((await readRows(page)).some(row => row.values[0] === 'Switzerland'), 'the built question is answered');
  // The chain of the demo, from a relation; then two nodes are connected.
  await builder.getByRole('button', { name: 'Begin again' }).click();
  await builder.getByRole('button', { name: 'directed', exact: true }).click();
  await builder.getByRole('button', { name: 'acted_in →' }).first().waitFor();
  await builder.locator('.node', { hasText: 'x' }).first().click();
  await builder.getByRole('button', { name: 'y', exact: true }).click();
  await builder.getByRole('button', { name: 'acted_in →' }).first().click();
  same(await page.inputValue('#query'), 'Q(x, y) := directed(x, y) & acted_in(x, y)', 'a circle of two');
  // And back: a typed formula becomes a picture; one with an "or" does not.
  await page.click('#build');
  await page.fill('#query', 'Q(x) := exists y. directed(y, "Oppenheimer") & born_in(y, x)');
  await page.click('#build');
  await builder.locator('.edge').nth(1).waitFor();
  same(await builder.locator('.node').count(), 3, 'a typed formula is drawn');
  await page.click('#build');
  await page.fill('#query', 'Q(x) := directed(x, "Oppenheimer") | born_in(x, "London")');
  await page.click('#build');
  await page.waitForSelector('#problem:not([hidden])');
  check(await builder.isHidden(), 'an "or" is not built by clicking');
  await page.context().close();
}

async function suggestions() {
  const page = await openPage(world.url);
  await page.click('nav a[data-view=suggest]');
  await page.selectOption('#suggest-relation', 'citizen_of');
  await page.waitForFunction(() => [...document.querySelectorAll('#view-suggest tbody tr')].length > 0 &&
    [...document.querySelectorAll('#view-suggest tbody tr')].every(row => row.cells[1].textContent === 'citizen_of'));
  const all = await page.locator('#view-suggest tbody tr').count();
  await page.locator('#view-suggest .filters input[type=number]').fill('0.85');
  await page.locator('#view-suggest .filters input[type=number]').blur();
  await page.waitForFunction(n => document.querySelectorAll('#view-suggest tbody tr').length < n, all);
  const shown = await page.locator('#view-suggest tbody tr').count();
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download CSV' }).click()]);
  const lines = readFileSync(await file.path(), 'utf8').trim().split('\r\n');
  same(lines.length, shown + 1, 'the download has what is shown');
  same(lines[0], '"head","relation","tail","p","kind"', 'its header');
  const said = JSON.parse('[' + command('suggest', join(folder, 'world.tsv'), '--relation', 'citizen_of', '--top', String(shown), '--output-format', 'tsv')
    .trim().split('\n').slice(1).map(line => JSON.stringify(line.split('\t').slice(0, 3))).join() + ']');
  same(sorted(lines.slice(1).map(line => line.split('","').slice(0, 3).map(c => c.replace(/"/g, '')))), sorted(said), 'the facts of the command');
  await page.locator('#view-suggest tbody button').first().click();
  check(await page.locator('#view-suggest .reasons li').count() > 0, 'reasons of a suggestion');
  await checkAccess(page, 'suggestions');
  await shoot(page, 'suggestions');
  await page.getByRole('button', { name: 'Ask about it' }).click();
  await settled(page);
  check((await readRows(page)).length > 0, 'a suggestion is asked about');
  await page.goBack();
  await page.waitForSelector('#view-suggest:not([hidden])');
  same(await page.inputValue('#suggest-relation'), 'citizen_of', 'back to the relation');
  await page.context().close();
}

async function trust() {
  const page = await openPage(world.url);
  await page.click('nav a[data-view=trust]');
  await page.waitForSelector('#view-trust .bin');
  check(await page.locator('#view-trust .bin').count() >= 8, 'bins of the diagram');
  check(await page.locator('#view-trust table').last().locator('tbody tr').count() > 20, 'relations');
  await checkAccess(page, 'trust');
  await shoot(page, 'trust');
  await page.context().close();
  const plain = await openPage(facts.url + '#trust');
  await plain.waitForFunction(() => /no probabilities/.test(document.getElementById('view-trust').textContent));
  await plain.context().close();
}

// So many times the same conditions on other variables: a search that takes a while on any machine.
function longQuery(times) {
  const block = i => ('directed(x, f) & acted_in(y, f) & citizen_of(x, c) & citizen_of(y, d) & borders(c, d) & ' +
    'official_language(c, l) & official_language(d, l) & acted_in(z, f) & married_to(z, y) & citizen_of(z, e) & ' +
    'borders(e, c) & directed(z, g) & genre(f, k) & genre(g, k) & borders(d, e) & x != y & c != d')
      .replaceAll(/\b[a-z]\b/g, name => name + i);
  const blocks = Array.from({ length: times }, (_, i) => block(i));
  const names = [...new Set(blocks.join(' ').match(/\b[a-z]\d\b/g))];
  return `Q(x0, f0) := exists ${names.filter(n => n !== 'x0' && n !== 'f0').join(', ')}. ${blocks.join(' & ')}`;
}

async function policy() {
  const page = await openPage(facts.url);
  await page.selectOption('#engine', 'policy');
  await page.fill('#query', longQuery(4));
  await page.evaluate(() => {
    window.seen = [];
    new MutationObserver(() => {
      const isOver = /answered|none|undecided/.test(document.getElementById('outcome').className);
      const text = document.querySelector('#steps .note')?.textContent;
      if (text && !isOver) window.seen.push(text);
    }).observe(document.getElementById('steps'), { childList: true, subtree: true });
  });
  await page.click('#go');
  await settled(page);
  const seen = await page.evaluate(() => window.seen);
  check(new Set(seen).size >= 2, 'steps are shown while the search runs: ' + seen.length);
  check(await page.locator('#steps polyline.best').count() === 1, 'the curve');
  await checkAccess(page, 'steps');
  await shoot(page, 'policy');
  await page.context().close();
}

async function links() {
  const page = await openPage(world.url, { permissions: ['clipboard-read', 'clipboard-write'] });
  await page.fill('#least', '0.1');
  await ask(page, 'Q(x) := exists y. directed(y, "Oppenheimer") & born_in(y, x)');
  const rows = await readRows(page);
  check(rows.length > 0, 'answers of p 0.1');
  await page.reload();
  await settled(page);
  same(await readRows(page), rows, 'the same after a reload');
  await page.click('#share');
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const other = await page.context().newPage();
  await other.goto(link);
  await settled(other);
  same(await readRows(other), rows, 'the same by the link');
  check(await other.locator('#history li').count() === 1, 'asked before');
  await other.click('#forget');
  check(await other.isHidden('#history-card'), 'forgotten');
  await page.context().close();
}

async function looks() {
  const dark = await openPage(world.url, { colorScheme: 'dark' });
  await ask(dark, 'Q(x) := exists y. citizen_of("Phil Knight", x) & located_in(y, x)');
  await checkAccess(dark, 'dark');
  await shoot(dark, 'dark');
  await dark.click('#theme');
  await dark.click('#theme');
  same(await dark.evaluate(() => getComputedStyle(document.documentElement).colorScheme), 'light', 'the theme button');
  await dark.context().close();
  const phone = await openPage(world.url, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const fits = async where => same(await phone.evaluate(() => document.documentElement.scrollWidth), 390, 'width on a phone, ' + where);
  await fits('start');
  await phone.waitForSelector('#examples button');
  await phone.locator('#examples button').last().tap();
  await settled(phone);
  await fits('answers');
  await phone.locator('.edge.predicted, .edge.missing').first().tap();
  await checkAccess(phone, 'a phone');
  await shoot(phone, 'phone');
  await phone.click('#build');
  await phone.waitForSelector('#builder:not([hidden])');
  await fits('builder');
  await phone.click('nav a[data-view=suggest]');
  await phone.waitForSelector('#view-suggest tbody tr');
  await fits('suggestions');
  await phone.click('nav a[data-view=trust]');
  await phone.waitForSelector('#view-trust .bin');
  await fits('trust');
  await phone.context().close();
}

async function keyboard() {
  const page = await openPage(world.url);
  const isOn = selector => page.evaluate(s => document.activeElement.matches(s), selector);
  const tabTo = async selector => {
    for (let i = 0; i < 60 && !await isOn(selector); i++) await page.keyboard.press('Tab');
    check(await isOn(selector), 'Tab reaches ' + selector);
  };
  await tabTo('#query');
  await page.keyboard.type('Q(x) := citiz');
  await page.waitForSelector('#names:not([hidden])');
  await page.keyboard.press('Enter');
  await page.keyboard.type('"Phil Kn');
  await page.waitForSelector('#names [role=option]:has-text("Phil Knight")');
  await page.keyboard.press('Enter');
  await page.keyboard.type(', x)');
  same(await page.inputValue('#query'), 'Q(x) := citizen_of("Phil Knight", x)', 'names complete');
  await page.keyboard.press('Control+Enter');
  await settled(page);
  await tabTo('.edge.predicted');
  await page.keyboard.press('Enter');
  check(await page.locator('#reasons li').count() > 0, 'reasons by keyboard');
  check(await isOn('.edge.predicted'), 'the focus stays');
  await page.context().close();
}

async function harmless() {
  const names = ['<img src=x onerror=alert(1)>', '"><script>alert(2)</script>', '\u001b[31mred\u001b[0m', '=HYPERLINK("http://x.invalid","y")', '\u202eevil', "{{7*7}}${8*8}' OR 1=1"];
  writeFileSync(join(folder, 'evil.tsv'), names.map(name => `Ann\t<b>knows</b>\t${name}\n`).join('') + 'Ann\tlikes\tBob\n');
  const evil = await serve(join(folder, 'evil.tsv'), ['--predictor', 'observed']);
  const page = await openPage(evil.url);
  await ask(page, 'Q(x) := "<b>knows</b>"("Ann", x)');
  const rows = (await readRows(page)).map(row => row.values[0]);
  same(rows.length, names.length, 'all names are shown');
  check(rows.includes(names[0]) && rows.includes(names[1]), 'markup is text');
  check(rows.includes('␛[31mred␛[0m') && rows.includes('\ufffdevil'), 'escapes and turns are seen');
  same(await page.locator('main img, main script, main b').count(), 0, 'no element comes of a name');
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Download CSV' }).click()]);
  const csv = readFileSync(await file.path(), 'utf8');
  check(csv.includes(`"'=HYPERLINK(""http://x.invalid"",""y"")"`), 'no formula in CSV');
  for (const name of names.slice(0, 4)) {
    await page.locator('#answers tbody button').nth(rows.findIndex(r => r === name) < 0 ? 0 : rows.findIndex(r => r === name)).click();
  }
  await page.fill('#query', 'Q(x) := "<b>knows</b>"(x, "<im');
  await page.keyboard.press('End');
  await page.keyboard.type('g');
  await page.waitForSelector('#names [role=option]');
  await shoot(page, 'harmless');
  await page.keyboard.press('Enter');
  await page.keyboard.type(')');
  await page.keyboard.press('Control+Enter');
  await settled(page);
  same((await readRows(page)).map(row => row.values), [['Ann']], 'a name with markup is completed');
  await page.context().close();
}

async function graphs() {
  writeFileSync(join(folder, 'small.tsv'), 'Ann\tknows\tBob\nBob\tknows\tCy\n');
  const both = await serve(join(folder, 'small.tsv'), [join(folder, 'world.tsv'), '--predictor', 'observed']);
  const page = await openPage(both.url);
  check(/^3 entities/.test(await page.textContent('#about')), 'the first graph');
  await Promise.all([page.waitForEvent('load'), page.selectOption('#graph', 'world')]);
  await page.waitForFunction(() => /^2,932 entities/.test(document.getElementById('about').textContent));
  await ask(page, 'SELECT ?x { <urn:anycq:France> <urn:anycq:borders> ?x } ORDER BY DESC(?x) LIMIT 3');
  same((await readRows(page)).length, 3, 'SPARQL, of the other graph');
  await page.reload();
  await settled(page);
  same((await readRows(page)).length, 3, 'the address has the graph');
  await page.context().close();
}

async function troubles() {
  const short = await serve(join(folder, 'world.tsv'), ['--predictor', 'observed', '--time', '0.001']);
  const page = await openPage(short.url);
  await page.selectOption('#engine', 'policy');
  await ask(page, 'Q(f) := directed("Christopher Nolan", f) & composed_music_for("John Williams", f)');
  same(await page.textContent('#outcome'), 'Undecided: the time ran out before there was a proof.', 'no time');
  short.child.kill('SIGTERM');
  await new Promise(done => short.child.once('exit', done));
  await page.click('#go');
  await page.waitForSelector('#banner:not([hidden])');
  check(/does not answer/.test(await page.textContent('#banner')), 'the server is gone');
  await checkAccess(page, 'the server is gone');
  await shoot(page, 'gone');
  await page.context().close();
  writeFileSync(join(folder, 'token'), 'a-token-of-sixteen-letters\n');
  const closed = await serve(join(folder, 'world.tsv'), ['--predictor', 'observed', '--token-file', join(folder, 'token')]);
  const guest = await (await openPage(facts.url)).context().newPage();
  await guest.goto(closed.url);
  await guest.fill('#token', 'a-token-of-sixteen-letters');
  await guest.click('#banner button');
  await guest.waitForFunction(() => document.getElementById('about').textContent !== '');
  await guest.context().close();
}

// The queries of tests/server/doors.c, whose other doors are HTTP and assistants.
async function hundred() {
  const place = join(folder, 'company');
  mkdirSync(place);
  execFileSync(more[0], ['--queries', more[1], place]);
  const graph = join(place, 'observed.tsv');
  const wanted = command('ask', graph, '--queries', join(place, 'queries.txt'), '--json', '--limit', '5', '--min-p', '0.1')
    .trim().split('\n').map(line => JSON.parse(line));
  const company = await serve(graph);
  const page = await openPage(company.url);
  await page.fill('#limit', '5');
  await page.fill('#least', '0.1');
  let nAnswers = 0, nPredicted = 0;
  const queries = readFileSync(join(place, 'queries.txt'), 'utf8').trim().split('\n');
  for (const [i, text] of queries.entries()) {
    await ask(page, text);
    const rows = await readRows(page), answers = wanted[i].answers ?? [];
    const said = answers.map(a => [Object.values(a.values).length > 0 ? Object.values(a.values) : ['yes'], a.p, a.kind]);
    same(sorted(rows.map(row => [row.values, row.p, row.kind])), sorted(said), text);
    nAnswers += rows.length;
    nPredicted += rows.filter(row => row.kind === 'predicted').length;
  }
  same(queries.length, 100, 'a hundred queries');
  check(nAnswers > 100 && nPredicted > 10, `${nAnswers} answers, ${nPredicted} predicted: too few to tell`);
  console.log(`${nAnswers} answers, ${nPredicted} predicted`);
  await page.context().close();
}

async function small() {
  const page = await openPage(world.url);
  const files = page.asked.filter(request => !request.url().includes('/api/'));
  let bytes = 0;
  for (const request of files) bytes += (await (await request.response()).body()).length;
  check(files.length >= 8 && bytes < 150000, `${files.length} files, ${bytes} bytes`);
  console.log(`${files.length} files, ${bytes} bytes`);
  await page.waitForSelector('#examples button');
  await checkAccess(page, 'the start');
  await shoot(page, 'start');
  const n = await page.locator('#examples button').count();
  check(n >= 5, 'examples of this graph: ' + n);
  for (let i = 0; i < n; i++) {
    await page.evaluate(() => { document.getElementById('outcome').className = 'outcome'; });
    await page.locator('#examples button').nth(i).click();
    await settled(page);
    check((await readRows(page)).length > 0, 'an example has an answer: ' + await page.inputValue('#query'));
  }
  await page.context().close();
}

await run({ small, demo, conflict, predicted, typo, build, suggestions, trust, policy, links, looks, keyboard, harmless, graphs, troubles, hundred });
