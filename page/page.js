// page.js - the page as a whole: views, the address that says what is shown, history, theme, errors.
import { $, ask, clean, el, load, put, save, state } from './basics.js';
import { askQuestion, explainProblem, stopAsking } from './ask.js';
import { openBuilder } from './build.js';
import { complete, findEntities, findRelations } from './complete.js';
import { findWord, readPattern, writeName, writeRelation } from './formula.js';
import { suggestView, trustView } from './views.js';

let relations = [];
const field = $('query');

// ---- the address: #ask?q=...&n=20 ----

function readAddress() {
  const [, view, rest] = /^#?(\w*)\??(.*)$/s.exec(location.hash) ?? [];
  return { view: ['ask', 'suggest', 'trust'].includes(view) ? view : 'ask', given: Object.fromEntries(new URLSearchParams(rest)) };
}

function writeAddress(view, given) {
  const rest = new URLSearchParams(Object.entries(given).filter(([, value]) => value !== '' && value != null)).toString();
  const address = '#' + view + (rest === '' ? '' : '?' + rest);
  if (address !== location.hash) history.pushState(null, '', address);
}

const graphPart = () => state.graph === '' ? {} : { graph: state.graph };

// ---- errors ----

function showBanner(error, again) {
  const banner = $('banner');
  const isToken = error.kind === 'token';
  const token = el('input', { type: 'password', id: 'token', autocomplete: 'off' });
  const retry = () => {
    if (isToken) sessionStorage.setItem('anycq.token', state.token = token.value);
    banner.hidden = true;
    again();
  };
  put(banner,
    el('p', {}, error.message, error.kind === 'gone' ? ' Is “anycq serve” still running?' : ''),
    isToken && el('label', {}, 'Token ', token),
    el('button', { type: 'button', onclick: retry }, isToken ? 'Go on' : 'Try again'));
  banner.hidden = false;
}

function showProblem(error) {
  const problem = $('problem');
  if (error.kind === 'gone' || error.kind === 'token') {
    showBanner(error, submit);
    return;
  }
  put(problem, explainProblem(error, field.value, text => {
    field.value = text;
    submit();
  }));
  problem.hidden = false;
}

// ---- asking ----

function remember(text) {
  const list = load('history', []).filter(item => item.q !== text || item.graph !== state.graph);
  save('history', [{ q: text, graph: state.graph }, ...list].slice(0, 30));
  showHistory();
}

function showHistory() {
  const list = load('history', []).filter(item => item.graph === state.graph);
  $('history-card').hidden = list.length === 0;
  put($('history'), list.map(item => el('li', {}, el('button', { type: 'button', onclick: () => open(item.q) }, el('code', {}, item.q.replace(/\s+/g, ' '))))));
}

function open(text) {
  field.value = text;
  switchTo('ask');
  submit();
  field.scrollIntoView({ block: 'nearest' });
}

async function submit() {
  const text = field.value.trim();
  if (text === '') {
    field.focus();
    return;
  }
  const [limit, least, engine] = [Number($('limit').value) || 20, Number($('least').value), $('engine').value];
  writeAddress('ask', { q: text, n: limit === 20 ? '' : limit, p: least === 0.5 ? '' : least, search: engine === 'exact' ? '' : engine, ...graphPart() });
  $('problem').hidden = true;
  $('banner').hidden = true;
  try {
    const query = await askQuestion(text, { limit, least, engine });
    if (query == null) return;
    remember(text);
    if (query.hint) showHint(query.hint);
    if (!$('builder').hidden) showBuilder();
  } catch (error) {
    showProblem(error);
  }
}

function showHint(hint) {
  put($('problem'), el('p', {}, hint));
  $('problem').hidden = false;
}

function completeQuery() {
  const find = async signal => {
    const word = findWord(field.value, field.selectionStart);
    if (word == null) return null;
    if (word.kind === 'relation') return findRelations(relations, word.prefix).map(r => ({ ...r, isRelation: true }));
    return word.prefix.length < 2 && !word.isQuoted ? null : findEntities(word.prefix, signal);
  };
  complete(field, $('names'), find, item => {
    const caret = field.selectionStart, word = findWord(field.value, caret);
    let rest = field.value.slice(caret);
    if (word?.isQuoted && rest.startsWith('"')) rest = rest.slice(1);
    const text = item.isRelation ? writeRelation(item.name, item.key) : writeName(item.name, item.key);
    const isOpened = item.isRelation && !rest.startsWith('(');
    field.value = field.value.slice(0, word?.from ?? caret) + text + (isOpened ? '(' : '') + rest;
    field.selectionStart = field.selectionEnd = (word?.from ?? caret) + text.length + (isOpened ? 1 : 0);
  });
}

// ---- the builder ----

async function showBuilder() {
  const text = field.value.trim();
  let given = { variables: [], atoms: [] };
  if (text !== '') {
    try {
      given = readPattern(await ask('query', { query: text }));
    } catch (error) {
      showProblem(error);
    }
  }
  if (given == null) {
    showHint('This question has an “or”, or many conditions: it can be asked, but not changed by clicking.');
    return;
  }
  $('builder').hidden = false;
  $('build').setAttribute('aria-expanded', 'true');
  openBuilder(given, () => relations, formula => { field.value = formula; });
}

function toggleBuilder() {
  if ($('builder').hidden) {
    showBuilder();
    return;
  }
  $('builder').hidden = true;
  $('build').setAttribute('aria-expanded', 'false');
}

// ---- views ----

function switchTo(view) {
  for (const name of ['ask', 'suggest', 'trust']) $('view-' + name).hidden = name !== view;
  for (const link of document.querySelectorAll('nav a'))
    link.dataset.view === view ? link.setAttribute('aria-current', 'page') : link.removeAttribute('aria-current');
}

function show() {
  const { view, given } = readAddress();
  switchTo(view);
  $('graph').value = state.graph === '' ? $('graph').options[0]?.value ?? '' : state.graph;
  if (view === 'suggest')
    suggestView(relations, given, open, chosen => writeAddress('suggest', { ...chosen, ...graphPart() }));
  else if (view === 'trust')
    trustView().catch(error => showBanner(error, show));
  else if (given.q && given.q !== field.value) {
    field.value = given.q;
    $('limit').value = given.n ?? 20;
    $('least').value = given.p ?? 0.5;
    $('engine').value = given.search ?? 'exact';
    submit();
  }
}

async function share() {
  const button = $('share');
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = 'Link copied';
  } catch {
    button.textContent = 'Copy it from the address bar';
  }
  setTimeout(() => { button.textContent = 'Copy link'; }, 3000);
}

// ---- theme ----

function setTheme(theme) {
  const root = document.documentElement;
  theme === 'system' ? delete root.dataset.theme : root.dataset.theme = theme;
  $('theme').textContent = 'Theme: ' + theme;
  save('theme', theme);
}

// ---- start ----

async function showExamples() {
  try {
    const { examples } = await ask('examples');
    put($('examples'), examples.length === 0 ? el('li', { class: 'note' }, 'The graph has no facts to make examples of.')
      : examples.map(e => el('li', {}, el('button', { type: 'button', onclick: () => open(e.query) }, el('code', {}, e.query)), el('small', {}, e.title))));
  } catch {
    put($('examples'), el('li', { class: 'note' }, 'No examples: the server did not make any.'));
  }
}

async function showGraph() {
  const about = await ask('graph');
  relations = about.relations;
  put($('graph'), about.graphs.map(name => el('option', { value: name }, name)));
  $('graph').hidden = about.graphs.length < 2;
  $('graph').value = about.name;
  $('about').textContent = `${about.graphs.length < 2 ? clean(about.name) + ': ' : ''}${about.entities.toLocaleString('en')} entities, ${about.facts.toLocaleString('en')} facts, ${about.n_relations} relations`;
  document.title = clean(about.name) + ' · anycq';
}

async function start() {
  state.graph = readAddress().given.graph ?? '';
  try {
    await showGraph();
  } catch (error) {
    showBanner(error, start);
    return;
  }
  showHistory();
  show();
  showExamples();
}

$('form').addEventListener('submit', event => { event.preventDefault(); submit(); });
completeQuery();
field.addEventListener('keydown', event => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
});
$('stop').addEventListener('click', stopAsking);
$('build').addEventListener('click', toggleBuilder);
$('share').addEventListener('click', share);
$('forget').addEventListener('click', () => { save('history', []); showHistory(); });
$('graph').addEventListener('change', () => {
  location.hash = '#ask?graph=' + encodeURIComponent($('graph').value);
  location.reload();
});
$('theme').addEventListener('click', () => setTheme({ system: 'dark', dark: 'light', light: 'system' }[load('theme', 'system')] ?? 'dark'));
addEventListener('popstate', show);
setTheme(load('theme', 'system'));
start();
