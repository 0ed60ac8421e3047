// draw.js - a question as a graph, and an answer on it. Large discs are asked for, small ones are some
// entity, squares are named; facts are solid, predictions dashed, what is missing is red.
import { clean, formatP, shorten, svg } from './basics.js';

const MARGIN = 62;

// Narrow on a phone, so that words keep their size.
const chooseWidth = () => Math.max(290, Math.min(620, innerWidth - 64));

const idOf = term => term.variable != null ? 'v:' + term.variable : 'c:' + term.key;

function listNodes(query) {
  const nodes = new Map();
  query.variables.forEach((name, i) =>
    nodes.set('v:' + name, { variable: name, kind: i < query.free ? 'free' : 'some', label: name }));
  for (const atom of query.atoms) {
    for (const term of [atom.head, atom.tail]) {
      if (term.variable == null)
        nodes.set(idOf(term), { kind: 'named', label: term.name, key: term.key });
    }
  }
  return nodes;
}

// Springs along atoms, repulsion between all, from a circle; the same picture every time.
function layOut(nodes, edges, width, height) {
  const n = nodes.length, length = Math.min(190, 130 + 300 / n);
  nodes.forEach((node, i) => {
    const angle = Math.PI * (1 + 2 * i / n);
    node.x = Math.cos(angle) * 40 * Math.sqrt(n) * 2;
    node.y = Math.sin(angle + 0.35) * 40 * Math.sqrt(n);
  });
  for (let step = 0; step < 400; step++) {
    const heat = 12 * (1 - step / 400);
    nodes.forEach(a => { a.dx = -a.x * 0.01; a.dy = -a.y * 0.03; });
    for (const a of nodes) {
      for (const b of nodes) {
        if (a === b) continue;
        const x = a.x - b.x, y = (a.y - b.y) * 1.15, d2 = Math.max(25, x * x + y * y);
        const push = length * length * 0.35 / d2;
        a.dx += x / Math.sqrt(d2) * push * 4;
        a.dy += y / Math.sqrt(d2) * push * 4;
      }
    }
    for (const { from, to } of edges) {
      const x = to.x - from.x, y = to.y - from.y, d = Math.hypot(x, y) || 1, pull = (d - length) * 0.12;
      from.dx += x / d * pull; from.dy += y / d * pull;
      to.dx -= x / d * pull; to.dy -= y / d * pull;
    }
    for (const a of nodes) {
      const d = Math.hypot(a.dx, a.dy) || 1, go = Math.min(heat, d);
      a.x += a.dx / d * go;
      a.y += a.dy / d * go;
    }
  }
  fit(nodes, 'x', MARGIN, width - MARGIN);
  fit(nodes, 'y', 46, height - 52);
}

// Into the frame, never larger than drawn.
function fit(nodes, axis, low, high) {
  const values = nodes.map(node => node[axis]);
  const min = Math.min(...values), max = Math.max(...values);
  const scale = max - min > high - low ? (high - low) / (max - min) : Math.min(1.25, (high - low) / (max - min || 1));
  for (const node of nodes) node[axis] = (low + high) / 2 + (node[axis] - (min + max) / 2) * scale;
}

function bend(edge, i, n) {
  const { from, to } = edge;
  if (from === to)
    return { path: `M${from.x - 6},${from.y - 8}C${from.x - 46},${from.y - 62} ${from.x + 46},${from.y - 62} ${from.x + 7},${from.y - 10}`,
             x: from.x, y: from.y - 50 };
  const flip = from.x < to.x || (from.x === to.x && from.y < to.y) ? 1 : -1;
  const off = (i - (n - 1) / 2) * 44 * flip;
  const dx = to.x - from.x, dy = to.y - from.y, d = Math.hypot(dx, dy) || 1;
  const cx = (from.x + to.x) / 2 - dy / d * off, cy = (from.y + to.y) / 2 + dx / d * off;
  const end = pullBack(to, cx, cy, to.kind === 'free' ? 17 : 13), start = pullBack(from, cx, cy, 8);
  return { path: `M${start.x},${start.y}Q${cx},${cy} ${end.x},${end.y}`,
           x: (start.x + 2 * cx + end.x) / 4, y: (start.y + 2 * cy + end.y) / 4 };
}

function pullBack(node, cx, cy, by) {
  const d = Math.hypot(cx - node.x, cy - node.y) || 1;
  return { x: node.x + (cx - node.x) / d * by, y: node.y + (cy - node.y) / d * by };
}

// What an atom is on an answer. Of a candidate that is not likely enough, predictions are what is missing.
function stateOf(atom, fact, isInConflict, isTooUnlikely) {
  if (isInConflict || (isTooUnlikely && fact?.kind === 'predicted')) return 'missing';
  if (fact == null) return 'asked';
  if (fact.kind === 'equality' || (atom.negated && fact.kind === 'absent')) return 'observed';
  if (fact.kind === 'absent' || (atom.negated && fact.kind === 'observed')) return fact.used === false ? 'asked' : 'missing';
  return fact.kind;
}

const SAYS = { asked: 'asked', observed: 'a fact', predicted: 'predicted', missing: 'missing' };

// Begins with what is written on the arrow.
function describe(label, atom, state) {
  const name = term => clean(term.variable ?? term.name);
  return `${label}, from ${name(atom.head)} to ${name(atom.tail)}: ` +
    (atom.negated && state === 'observed' ? 'no fact says so' : SAYS[state]);
}

// A part that can be clicked is a button for the keyboard, too.
function press(isPickable, pick) {
  if (!isPickable) return { role: 'img' };
  const act = event => {
    if (event.type === 'keydown' && event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    pick();
  };
  return { role: 'button', tabindex: 0, onclick: act, onkeydown: act };
}

function drawEdge(edge, { atom, fact, state, isPickable, isPicked, pick }) {
  const label = (atom.negated ? 'not ' : '') + (atom.inverse ? 'inverse ' : '') + shorten(atom.relation ?? '=', 26);
  const isGuess = fact?.kind === 'predicted';
  const p = isGuess ? ` ${formatP(fact.link)}` : '';
  const says = describe(label + p, atom, state);
  const width = (label.length + p.length) * 6.4 + 12;
  return svg('g', { class: `edge ${state}${isGuess ? ' guess' : ''}${atom.negated ? ' negated' : ''}${isPicked ? ' picked' : ''}${atom.alone === false ? ' oneof' : ''}`,
                    'aria-label': says, ...press(isPickable, pick) },
    svg('title', {}, says),
    svg('path', { d: edge.at.path, class: 'reach' }),
    svg('path', { d: edge.at.path, class: 'line', 'marker-end': atom.relation == null ? null : `url(#arrow-${nPictures}-${state})` }),
    svg('rect', { x: edge.at.x - width / 2, y: edge.at.y - 10, width, height: 19, rx: 4, class: 'plate' }),
    svg('text', { x: edge.at.x, y: edge.at.y + 4 }, label, p && svg('tspan', { class: 'p' }, p)));
}

function drawNode(node, { value, isPickable, isPicked, pick }) {
  const kind = { free: 'asked for', some: 'some entity', named: 'named entity' }[node.kind];
  const title = `${clean(node.label)}${value == null ? '' : ' ' + clean(value)}: ${kind}`;
  const shape = node.kind === 'named'
    ? svg('rect', { x: node.x - 8, y: node.y - 8, width: 16, height: 16, rx: 2 })
    : svg('circle', { cx: node.x, cy: node.y, r: node.kind === 'free' ? 12 : 8 });
  return svg('g', { class: `node ${node.kind}${isPicked ? ' picked' : ''}`, 'aria-label': title,
                    ...press(isPickable, pick) },
    svg('title', {}, title),
    svg('rect', { x: node.x - 22, y: node.y - 22, width: 44, height: 56, class: 'finger' }),
    shape,
    node.kind === 'free' && svg('circle', { cx: node.x, cy: node.y, r: 4, class: 'dot' }),
    svg('text', { x: node.x, y: node.y + 28, class: node.kind === 'named' ? 'value' : 'name' }, shorten(node.label, 24)),
    value != null && svg('text', { x: node.x, y: node.y - 17, class: 'value' }, shorten(value, 24)));
}

// Each picture has its own: a browser does not draw those of a hidden picture.
let nPictures = 0;

function arrow(state) {
  return svg('marker', { id: `arrow-${nPictures}-${state}`, viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 8, markerHeight: 8,
                         markerUnits: 'userSpaceOnUse', orient: 'auto-start-reverse', class: 'arrow ' + state },
    svg('path', { d: 'M0,0 8,4 0,8z' }));
}

// query: of /api/query. answer, if there is one, is drawn on it; conditions: those of a conflict. pickAtom(i)
// and pickNode(id, node) make parts clickable; picked is the number or id of what is chosen.
export function draw(query, { answer, isTooUnlikely, conditions = [], pickAtom, pickNode, picked } = {}) {
  nPictures++;
  const nodes = listNodes(query), list = [...nodes.values()];
  const width = chooseWidth(), height = Math.min(520, 150 + 36 * list.length);
  const edges = query.atoms.map(atom => ({ atom, from: nodes.get(idOf(atom.head)), to: nodes.get(idOf(atom.tail)) }));
  layOut(list, edges, width, height);
  const key = e => [list.indexOf(e.from), list.indexOf(e.to)].sort((a, b) => a - b).join();
  const groups = Map.groupBy ? Map.groupBy(edges, key) : group(edges, key);
  for (const same of groups.values()) same.forEach((edge, i) => { edge.at = bend(edge, i, same.length); });
  const values = { ...answer?.witness, ...answer?.values };
  const picture = svg('svg', { viewBox: `0 0 ${width} ${height}`, class: 'graph', role: 'group',
                               'aria-label': `${query.atoms.length} conditions between ${list.length} entities` },
    svg('defs', {}, Object.keys(SAYS).map(arrow)),
    edges.map((edge, i) => {
      const fact = answer?.atoms?.[i];
      const state = stateOf(edge.atom, fact, conditions.includes(edge.atom.condition), isTooUnlikely);
      const isPickable = pickAtom != null && (fact == null ? pickNode != null : state === 'predicted' || state === 'missing');
      return drawEdge(edge, { atom: edge.atom, fact, state, isPickable, isPicked: picked === i, pick: () => pickAtom(i) });
    }),
    [...nodes].map(([id, node]) => drawNode(node, {
      value: node.variable == null ? null : values[node.variable],
      isPickable: pickNode != null, isPicked: picked === id, pick: () => pickNode(id, node) })));
  return picture;
}

function group(items, keyOf) {
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...groups.get(keyOf(item)) ?? [], item]);
  return groups;
}
