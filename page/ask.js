// ask.js - one question: sent, drawn, its answers as they come, facts first.
import { $, Problem, ask, clean, count, el, formatP, put, stream, svg } from './basics.js';
import { draw } from './draw.js';
import { quote } from './formula.js';
import { showTable } from './table.js';

const now = { query: null, answers: [], result: null, chosen: null, picked: null, steps: [], running: null, isShowing: false };
const filters = { newOnly: false, least: 0 };

// ---- the picture ----

function conflictOf() {
  return now.chosen == null ? now.result?.conditions ?? [] : [];
}

function drawAgain() {
  const query = now.query;
  $('picture-card').hidden = query == null || query.atoms.length === 0;
  if ($('picture-card').hidden) return;
  const picture = query.n_atoms > query.atoms.length
    ? el('p', { class: 'note' }, `The question has ${query.n_atoms} conditions: too many for a picture.`)
    : draw(query, { answer: now.chosen, isTooUnlikely: now.chosen != null && now.chosen === now.result?.likeliest,
                    conditions: conflictOf(), pickAtom, picked: now.picked });
  put($('picture'), picture);
}

function pickAtom(i) {
  now.picked = i;
  drawAgain();
  showReasons(now.chosen?.atoms?.[i]);
  $('picture').querySelectorAll('.edge')[i]?.focus();
}

function showReasons(fact) {
  if (fact == null) {
    put($('reasons'));
    return;
  }
  const reasons = fact.reasons ?? [];
  const said = fact.kind === 'absent' ? 'The graph has no such fact, and nothing predicts it.'
    : fact.kind === 'observed' ? 'The graph has this fact.'
    : `Predicted with p ${formatP(fact.link)}.`;
  put($('reasons'),
    el('h3', {}, fact.text),
    el('p', {}, said),
    reasons.length > 0 && el('ul', { class: 'weights' }, reasons.map(reason =>
      el('li', { class: reason.weight < 0 ? 'against' : 'for' },
        el('span', { class: 'weight' }, (reason.weight > 0 ? '+' : '−') + Math.abs(reason.weight).toFixed(1)),
        el('span', {}, reason.text)))),
    fact.kind === 'predicted' && reasons.length === 0 && el('p', { class: 'note' }, 'This predictor gives no reasons.'),
    reasons.length > 0 && el('p', { class: 'note' }, 'Numbers are changes of the log-odds: + for the fact, − against it.'));
}

// ---- answers ----

function choose(answer) {
  now.chosen = answer;
  now.picked = null;
  drawAgain();
  showReasons(null);
  showAnswers();
}

function showAnswers() {
  const columns = now.query?.variables.slice(0, now.query.free) ?? Object.keys(now.answers[0]?.values ?? {});
  if (now.answers.length === 0) {
    put($('answers'));
    return;
  }
  showTable($('answers'), {
    caption: 'Answers', columns: columns.length > 0 ? columns : ['answer'], pName: now.answers.some(a => a.p != null) ? 'p' : 'score', file: 'answers.csv', choose, chosen: now.chosen, filters,
    rows: now.answers.map(item => ({
      cells: columns.length > 0 ? columns.map(name => item.values[name] ?? '') : ['yes'],
      p: item.p ?? item.score, kind: item.kind, item })),
  });
}

function ranOut(spent) {
  return { time: 'the time ran out', memory: 'the memory ran out', steps: 'the steps ran out', interrupt: 'it was stopped',
           rows: 'the time for predictions ran out', most: 'there are more than may be sent' }[spent] ?? 'it was stopped';
}

function sayAnswered(result) {
  const n = now.answers.length;
  if (now.query?.free === 0) return `Yes${now.answers[0]?.p == null ? '' : ', p ' + formatP(now.answers[0].p)}.`;
  const text = count(n, 'answer');
  if (!result.complete) return `${text} so far: ${result.spent ? ranOut(result.spent) : 'others may be better'}.`;
  if (n >= Number($('limit').value)) return `The best ${n === 1 ? 'answer' : text}; there may be more.`;
  const hasP = now.answers.some(answer => answer.p != null);
  return `${text}: proved, ${hasP ? `all that reach p ${$('least').value}` : 'these are all'}.`;
}

function sayOutcome(result) {
  const isYesNo = now.query?.free === 0;
  if (result.outcome === 'answered') return sayAnswered(result);
  if (result.outcome === 'undecided') return `Undecided: ${result.spent ? ranOut(result.spent) : 'nothing was found'} before there was a proof.`;
  if (result.best_p > 0) return `${isYesNo ? 'No' : 'None'}: no answer reaches p ${$('least').value}. The likeliest has p ${formatP(result.best_p)}.`;
  return isYesNo ? 'No: proved.' : 'None: proved.';
}

function showConflict(result) {
  const again = p => {
    $('least').value = p;
    $('form').requestSubmit();
  };
  const lower = Math.floor((result.best_p ?? 0) * 100) / 100;
  put($('conflict'),
    result.conflict?.length > 0 && el('div', { class: 'conflict' },
      el('p', {}, result.conflict.length === 1 ? 'No value fits this condition:' : 'No value fits these conditions together:'),
      el('ul', {}, result.conflict.map(text => el('li', {}, el('code', {}, text))))),
    result.outcome === 'none' && result.likeliest && el('div', { class: 'conflict' },
      el('p', {}, 'Not shown as an answer: ', Object.values(result.likeliest.values).map(clean).join(', ') || 'yes', '. ',
        lower > 0 && el('button', { type: 'button', onclick: () => again(lower) }, `Ask with p at least ${lower}`))),
    result.warning && el('p', { class: 'note' }, result.warning),
    result.note && el('p', { class: 'note' }, result.note));
}

function end(result) {
  showSteps();
  now.result = result;
  $('outcome').className = 'outcome ' + result.outcome;
  $('outcome').textContent = sayOutcome(result);
  showConflict(result);
  if (result.outcome === 'none' && result.likeliest && !result.conflict?.length) {
    now.chosen = result.likeliest;
  }
  now.answers.sort((a, b) => (b.p ?? b.score ?? 0) - (a.p ?? a.score ?? 0));
  drawAgain();
  showAnswers();
}

// ---- steps of the policy search ----

function showSteps() {
  const steps = now.steps, last = steps.at(-1);
  $('steps').hidden = steps.length === 0;
  if (steps.length === 0) return;
  const x = s => 34 + 440 * s.step / Math.max(10, last.step), y = value => 104 - 92 * value;
  const line = name => steps.map(s => `${x(s).toFixed(1)},${y(s[name]).toFixed(1)}`).join(' ');
  put($('steps'),
    el('h3', {}, 'Steps of the search'),
    svg('svg', { viewBox: '0 0 490 130', class: 'chart', role: 'img', 'aria-label': `Step ${last.step}: score ${last.score.toFixed(3)}, best ${last.best.toFixed(3)}` },
      [0, 0.5, 1].map(v => [svg('line', { x1: 34, x2: 474, y1: y(v), y2: y(v), class: 'rule' }), svg('text', { x: 28, y: y(v) + 4, class: 'tick end' }, v)]),
      svg('polyline', { points: line('score'), class: 'score' }),
      svg('polyline', { points: line('best'), class: 'best' }),
      svg('text', { x: 474, y: 124, class: 'tick end' }, `step ${last.step}`)),
    el('p', { class: 'note' }, `Step ${last.step}: this assignment scores ${last.score.toFixed(3)}, the best so far ${last.best.toFixed(3)}; ${count(last.classes, 'class', 'classes')} of values.`));
}

// ---- asking ----

// Once for all lines that come before the browser paints again.
function showSoon() {
  if (now.isShowing) return;
  now.isShowing = true;
  requestAnimationFrame(() => {
    now.isShowing = false;
    showSteps();
    if (now.result != null) return;
    showAnswers();
    if (now.answers.length > 0) $('outcome').textContent = `${count(now.answers.length, 'answer')} so far …`;
  });
}

function take(line) {
  if (line.answer) {
    now.answers.push(line.answer);
    if (now.chosen == null) choose(line.answer);
    else showSoon();
  } else if (line.step) {
    now.steps.push(line.step);
    showSoon();
  } else if (line.progress && now.answers.length === 0) {
    const { phase, done, total } = line.progress;
    const part = phase !== 'searching' && total > 0 ? ` ${Math.round(100 * done / total)} %` : '';
    $('outcome').textContent = `No fact answers it yet; ${clean(phase)}${part} …`;
  } else if (line.error) {
    throw new Problem('refused', line.error);
  } else if (line.result) {
    end(line.result);
  } else if (line.outcome) { // a server that sends all at once
    now.answers = line.answers;
    if (line.answers.length > 0) now.chosen = line.answers[0];
    end(line);
  }
}

function clear() {
  Object.assign(now, { query: null, answers: [], result: null, chosen: null, picked: null, steps: [] });
  put($('answers'));
  put($('conflict'));
  put($('reasons'));
  showSteps();
  drawAgain();
}

// SPARQL may be more than a formula; then there is no picture.
async function takeApart(text, signal) {
  try {
    return await ask('query', { query: text }, signal);
  } catch (error) {
    if (error.kind === 'refused' && /^\s*(select|ask|prefix|base)\b/i.test(text)) return null;
    throw error;
  }
}

export function stopAsking() {
  now.running?.abort();
}

export async function askQuestion(text, { limit, least, engine }) {
  stopAsking();
  const own = now.running = new AbortController();
  clear();
  $('answers-card').hidden = false;
  $('outcome').className = 'outcome busy';
  $('outcome').textContent = 'Looking at the facts …';
  $('stop').hidden = false;
  try {
    now.query = await takeApart(text, own.signal);
    drawAgain();
    await stream('ask', { query: text, limit, min_p: least, explain: true,
                          ...(engine === 'policy' ? { engine, trace: true } : {}) }, take, own.signal);
    if (now.result == null) throw new Problem('gone', { message: 'The server ended before its answer was complete.' });
    return now.query;
  } catch (error) {
    $('outcome').textContent = error.name === 'AbortError' && now.running === own ? 'Stopped.' : '';
    if (error.name === 'AbortError') return null;
    $('answers-card').hidden = now.answers.length === 0;
    throw error;
  } finally {
    if (now.running === own) $('stop').hidden = true;
  }
}

// ---- a question that could not be read ----

// The text around the place, and the name that may have been meant, to be taken with a click.
export function explainProblem(error, text, correct) {
  const found = /(?:has no (?:entity|relation)|no (?:entity|relation)) "(.*)".*did you mean "(.*)"\?/s.exec(error.message);
  const line = error.line ? text.split('\n')[error.line - 1] ?? '' : '';
  const at = error.line ? new TextDecoder().decode(new TextEncoder().encode(line).slice(0, error.column - 1)).length : 0;
  const fix = () => {
    const before = text.split('\n').slice(0, error.line - 1).map(l => l + '\n').join('') + line.slice(0, at);
    const rest = text.slice(before.length), written = /^("(?:\\.|[^"\\])*"|<[^>]*>|[\p{L}\p{N}_]+)/u.exec(rest)?.[0] ?? '';
    const isWord = !/^["<]/.test(written) && /^[\p{L}_][\p{L}\p{N}_]*$/u.test(found[2]);
    correct(before + (isWord ? found[2] : quote(found[2])) + rest.slice(written.length));
  };
  return [
    el('p', {}, error.message),
    error.line && el('pre', {}, line.slice(0, at), el('mark', {}, line.slice(at, at + 1) || ' '), line.slice(at + 1)),
    found && error.line && el('p', {}, el('button', { type: 'button', onclick: fix }, `Use “${clean(found[2])}”`)),
  ];
}
