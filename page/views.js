// views.js - what is likely missing, and how true the predictor's p are.
import { $, ask, clean, count, el, formatP, put, svg } from './basics.js';
import { showTable } from './table.js';
import { writeAtom } from './formula.js';

// ---- missing facts ----

const filters = { newOnly: false, least: 0 };
let chosen = null;

function showSuggestions(place, facts, reasons, open) {
  const rows = facts.map(f => ({ cells: [f.head, f.relation, f.tail], p: f.p, kind: 'predicted', item: f }));
  const choose = fact => {
    chosen = fact;
    const text = writeAtom({ relation: fact.relation, head: { name: fact.head }, tail: { name: fact.tail } });
    put(reasons, el('h3', {}, text), el('p', {}, `p ${formatP(fact.p)}`),
      el('ul', { class: 'weights' }, fact.reasons.map(r => el('li', { class: r.weight < 0 ? 'against' : 'for' },
        el('span', { class: 'weight' }, (r.weight > 0 ? '+' : '−') + Math.abs(r.weight).toFixed(1)), el('span', {}, r.text)))),
      el('button', { type: 'button', onclick: () => open(`Q(x) := ${writeAtom({ relation: fact.relation, head: { name: fact.head }, tail: { variable: 'x' } })}`) }, 'Ask about it'));
    showTable(place, table());
    reasons.scrollIntoView({ block: 'nearest' });
  };
  const table = () => ({ caption: 'Likely missing facts', columns: ['head', 'relation', 'tail'], rows, file: 'suggestions.csv', choose, chosen, filters, isAllNew: true });
  showTable(place, table());
}

export function suggestView(relations, given, open, remember) {
  const view = $('view-suggest');
  const choice = el('select', { id: 'suggest-relation' }, el('option', { value: '' }, 'all relations'),
    relations.map(r => el('option', { value: r.name }, clean(r.name))));
  const least = el('input', { type: 'number', min: 0, max: 1, step: 0.05, value: given.p ?? 0.5 });
  const most = el('input', { type: 'number', min: 1, max: 1000, value: given.n ?? 50 });
  const said = el('p', { class: 'note', role: 'status' }), table = el('div'), reasons = el('div', { class: 'reasons beside', 'aria-live': 'polite' });
  const problem = el('div', { role: 'alert', class: 'problem', hidden: true });
  choice.value = given.relation ?? '';

  let latest = null;

  async function find() {
    latest?.abort();
    const own = latest = new AbortController();
    said.textContent = 'Looking for likely facts …';
    problem.hidden = true;
    put(table);
    put(reasons);
    remember({ relation: choice.value, p: least.value, n: most.value });
    try {
      const found = await ask('suggest', { limit: Number(most.value), min_p: Number(least.value), ...(choice.value ? { relation: choice.value } : {}) }, own.signal);
      if (latest !== own) return;
      const expected = found.facts.reduce((sum, fact) => sum + fact.p, 0);
      said.textContent = found.facts.length === 0 ? 'No missing fact is that likely.'
        : `${count(found.facts.length, 'fact')} that the graph lacks, most likely first; about ${expected.toFixed(1)} of them are true, by their p.`;
      if (found.facts.length > 0) showSuggestions(table, found.facts, reasons, open);
    } catch (error) {
      if (latest !== own) return;
      said.textContent = '';
      problem.hidden = false;
      put(problem, el('p', {}, error.message), el('button', { type: 'button', onclick: find }, 'Try again'));
    }
  }

  put(view,
    el('h1', {}, 'Facts that the graph lacks'),
    el('form', { class: 'row', novalidate: true, onsubmit: event => { event.preventDefault(); find(); } },
      el('label', {}, 'Relation ', choice), el('label', {}, 'p at least ', least), el('label', {}, 'At most ', most),
      el('button', { class: 'main', type: 'submit' }, 'Find')),
    problem, said, el('div', { class: 'columns' }, el('div', { class: 'card' }, table), reasons));
  choice.addEventListener('change', find);
  find();
}

// ---- trust ----

const FEW = 30; // candidates, of which a share says little

function diagram(bins) {
  const x = v => 44 + 300 * v, y = v => 316 - 300 * Math.min(1, v);
  const most = Math.max(...bins.map(b => b.weight));
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  return svg('svg', { viewBox: '0 0 360 356', class: 'chart square', role: 'img', 'aria-label': 'Reliability: stated p against the true share' },
    ticks.map(v => [svg('line', { x1: x(0), x2: x(1), y1: y(v), y2: y(v), class: 'rule' }),
      svg('text', { x: 38, y: y(v) + 4, class: 'tick end' }, v), svg('text', { x: x(v), y: 332, class: 'tick' }, v)]),
    svg('line', { x1: x(0), y1: y(0), x2: x(1), y2: y(1), class: 'diagonal' }),
    svg('polyline', { points: bins.map(b => `${x(b.stated).toFixed(1)},${y(b.true).toFixed(1)}`).join(' '), class: 'best' }),
    bins.map(b => svg('circle', { cx: x(b.stated), cy: y(b.true), r: 2.5 + 5 * Math.sqrt(b.weight / most), class: b.weight < FEW ? 'bin few' : 'bin' },
      svg('title', {}, `stated ${formatP(b.stated)}, true ${formatP(b.true)}, ${Math.round(b.weight)} candidates`))),
    svg('text', { x: x(0.5), y: 350, class: 'tick' }, 'stated p'),
    svg('text', { x: x(0) + 6, y: y(1) + 12, class: 'tick start' }, 'true share'));
}

function binTable(bins) {
  return el('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Stated and true shares' }, el('table', {},
    el('thead', {}, el('tr', {}, ['p from', 'to', 'candidates', 'stated', 'true'].map(t => el('th', { scope: 'col' }, t)))),
    el('tbody', {}, bins.map(b => el('tr', {}, [b.low, b.high, Math.round(b.weight).toLocaleString('en'), formatP(b.stated), formatP(b.true)].map(v => el('td', {}, v)))))));
}

function relationTable(relations) {
  const sorted = relations.slice().sort((a, b) => b.held - a.held);
  return el('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Relations' }, el('table', {},
    el('thead', {}, el('tr', {}, ['relation', 'held out', 'said with p ≥ 0.5', 'right, about'].map(t => el('th', { scope: 'col' }, t)))),
    el('tbody', {}, sorted.map(r => el('tr', {}, el('td', {}, r.name), el('td', {}, r.held), el('td', {}, r.said.toFixed(1)),
      el('td', {}, r.said > 0 ? `${r.right.toFixed(1)} (${Math.round(100 * Math.min(1, r.right / r.said))} %)` : '–'))))));
}

// Why a calibrated predictor has no measurement: a completion of a fit that kept none, or one that was calibrated elsewhere.
const unmeasured = predictor => predictor.startsWith('completion')
  ? 'An earlier version fitted it, which did not keep the measurement, or it was calibrated on other graphs.'
  : 'Its calibrator learnt on other graphs.';

export async function trustView() {
  const view = $('view-trust');
  put(view, el('h1', {}, 'Are the probabilities true?'), el('p', { class: 'note', role: 'status' }, 'Asking the predictor …'));
  const found = await ask('trust');
  const known = found.bins != null;
  put(view,
    el('h1', {}, 'Are the probabilities true?'),
    el('p', {}, 'Predictor: ', el('strong', {}, found.predictor)),
    !found.calibrated && el('p', {}, 'It gives no probabilities: its answers have scores only, which say nothing of how often they are true.'),
    found.calibrated && !known && el('p', {}, unmeasured(found.predictor), ' How true its p are on this graph is not known. ',
      el('code', {}, 'anycq fit GRAPH'), ' learns from this graph and measures it.'),
    known && el('p', {}, 'Facts were hidden from the predictor. It then said how likely each candidate is, by trees that had not seen that candidate. ',
      'Of candidates with p 0.8, about 80 of 100 should turn out true: points on the diagonal. ',
      found.bins.some(b => b.weight < FEW) && `Hollow points rest on fewer than ${FEW} candidates and say little.`),
    known && el('div', { class: 'columns' }, el('div', { class: 'card' }, diagram(found.bins)), el('div', { class: 'card' }, binTable(found.bins))),
    found.relations.length > 0 && el('div', { class: 'card' }, el('h2', {}, 'By relation'), relationTable(found.relations)));
}

