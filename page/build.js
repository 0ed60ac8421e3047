// build.js - a question by clicking: begin with an entity or a relation, click a node or an arrow of the
// picture, and choose what is to be done with it. The formula follows every click, and a formula that was
// typed becomes a picture, unless it has an "or".
import { $, ask, clean, count, el, put } from './basics.js';
import { complete, findEntities, findRelations } from './complete.js';
import { draw } from './draw.js';
import { writePattern } from './formula.js';

let pattern = { variables: [], atoms: [] }, picked = null, connecting = null;
let getRelations = () => [], write = () => {};

// ---- changing the pattern ----

function newVariable(free) {
  const names = ['x', 'y', 'z', 'w', 'u', 'v'];
  const isUsed = name => pattern.variables.some(v => v.name === name);
  let name = names.find(n => !isUsed(n));
  for (let i = 1; name == null; i++) name = isUsed('x' + i) ? null : 'x' + i;
  pattern.variables.push({ name, free });
  return { variable: name };
}

function tidy() {
  const used = new Set(pattern.atoms.flatMap(a => [a.head.variable, a.tail.variable]));
  pattern.variables = pattern.variables.filter(v => used.has(v.name));
}

function changed(select = picked) {
  tidy();
  picked = select;
  write(writePattern(pattern));
  show();
}

const sameTerm = (a, b) => a.variable != null ? a.variable === b.variable : b.variable == null && a.key === b.key;
const idOf = term => term.variable != null ? 'v:' + term.variable : 'c:' + term.key;

function add(from, relation, isInverse, to) {
  const isFirst = pattern.variables.length === 0;
  const other = to ?? newVariable(isFirst);
  pattern.atoms.push({ relation: relation.name, key: relation.key, inverse: false, negated: false,
                       head: isInverse ? other : from, tail: isInverse ? from : other });
  connecting = null;
  changed(idOf(other));
}

function replace(old, fresh) {
  for (const atom of pattern.atoms) {
    if (sameTerm(atom.head, old)) atom.head = fresh;
    if (sameTerm(atom.tail, old)) atom.tail = fresh;
  }
  changed(idOf(fresh));
}

// ---- fields ----

let nextField = 0;

function nameField(label, find, take) {
  const id = 'build' + nextField++;
  const list = el('ul', { role: 'listbox', id: id + 'list', 'aria-label': label, hidden: true });
  const field = el('input', { id, role: 'combobox', 'aria-autocomplete': 'list', 'aria-expanded': 'false',
                              'aria-controls': id + 'list', autocomplete: 'off', spellcheck: 'false' });
  complete(field, list, find, take);
  return el('div', { class: 'field' }, el('label', { for: id }, label), field, list);
}

const entityField = (label, take) =>
  nameField(label, (signal) => fieldText() === '' ? null : findEntities(fieldText(), signal), take);
const relationField = (label, take) =>
  nameField(label, async () => fieldText() === '' ? null : findRelations(getRelations(), fieldText()), take);
const fieldText = () => document.activeElement.value ?? '';
const button = (text, act, more) => el('button', { type: 'button', onclick: act, ...more }, text);

// ---- what can be done with a node ----

function relationButtons(term, links) {
  return el('ul', { class: 'chips' }, links.map(link => el('li', {},
    button(`${link.inverse ? '← ' : ''}${clean(link.relation)}${link.inverse ? '' : ' →'}`,
           () => add(term, { name: link.relation, key: link.key }, link.inverse, connecting),
           { title: link.names == null ? null : link.names.map(clean).join(', ') }),
    link.count == null ? null : el('small', {}, ' ' + link.count.toLocaleString('en')))));
}

function showRelations(term, place) {
  const relations = getRelations();
  const both = relations.slice().sort((a, b) => b.facts - a.facts).slice(0, 10)
    .flatMap(r => [{ relation: r.name, key: r.key, inverse: false }, { relation: r.name, key: r.key, inverse: true }]);
  const keyOf = name => relations.find(r => r.name === name)?.key;
  const fill = links => put(place, relationButtons(term, links),
    relationField('Another relation, from here', r => add(term, r, false, connecting)),
    relationField('Another relation, to here', r => add(term, r, true, connecting)));
  if (term.variable != null || connecting != null) {
    fill(both);
    return;
  }
  put(place, el('p', { class: 'note' }, 'Looking at its facts …'));
  ask('entity', { entity: term.key }).then(found => {
    const links = found.links.map(link => ({ ...link, key: keyOf(link.relation) }));
    fill(links.length > 0 ? links : both);
  }).catch(() => fill(both));
}

function nodePanel(term) {
  const variable = pattern.variables.find(v => v.name === term.variable);
  const next = el('div');
  const others = [...new Map(pattern.atoms.flatMap(a => [a.head, a.tail]).filter(t => !sameTerm(t, term)).map(t => [idOf(t), t])).values()];
  showRelations(term, next);
  return el('div', { class: 'panel' },
    el('h3', {}, variable ? `The entity ${variable.name}` : clean(term.name)),
    variable && el('div', { class: 'row' },
      button(variable.free ? 'Asked for' : 'Some entity', () => { variable.free = !variable.free; changed(); },
             { 'aria-pressed': String(variable.free), title: 'Ask for it, or only that there is some' }),
      entityField('Name it', found => replace(term, { name: found.name, key: found.key }))),
    !variable && pattern.atoms.length > 0 &&
      button('Ask for it instead', () => replace(term, newVariable(true))),
    el('p', {}, connecting ? `Which relation leads from here to ${clean(connecting.variable ?? connecting.name)}?` : 'What leads from here, or to here?'),
    next,
    others.length > 0 && el('p', { class: 'row' }, 'Connect with ', others.map(other =>
      button(clean(other.variable ?? other.name), () => { connecting = other; show(); },
             { 'aria-pressed': String(connecting != null && sameTerm(connecting, other)) }))));
}

function atomPanel(i) {
  const atom = pattern.atoms[i];
  const edit = act => () => { act(); changed(i); };
  return el('div', { class: 'panel' },
    el('h3', {}, `${clean(atom.head.variable ?? atom.head.name)} — ${clean(atom.relation ?? '=')} → ${clean(atom.tail.variable ?? atom.tail.name)}`),
    el('div', { class: 'row' },
      button('Not', edit(() => { atom.negated = !atom.negated; }), { 'aria-pressed': String(atom.negated), title: 'Negate this condition' }),
      button('Turn around', edit(() => { [atom.head, atom.tail] = [atom.tail, atom.head]; })),
      button('Remove', () => { pattern.atoms.splice(i, 1); changed(null); })));
}

// ---- the panel ----

function asQuery() {
  const free = pattern.variables.filter(v => v.free), some = pattern.variables.filter(v => !v.free);
  return { variables: [...free, ...some].map(v => v.name), free: free.length, n_atoms: pattern.atoms.length,
           atoms: pattern.atoms.map((a, i) => ({ ...a, condition: i, alone: true })) };
}

function startPanel() {
  const place = el('div');
  const common = getRelations().slice().sort((a, b) => b.facts - a.facts).slice(0, 12);
  const begin = term => {
    put(place, el('h3', {}, clean(term.name)), el('p', {}, 'What leads from here, or to here?'));
    const next = el('div');
    place.append(next);
    showRelations(term, next);
    place.querySelector('button')?.focus();
  };
  return el('div', { class: 'panel' },
    entityField('Begin with an entity', found => begin({ name: found.name, key: found.key })),
    place,
    el('p', {}, 'Or begin with a relation:'),
    el('ul', { class: 'chips' }, common.map(r => el('li', {}, button(clean(r.name), () => {
      const from = newVariable(true);
      add(from, r, false, newVariable(true));
    }), el('small', {}, ' ' + count(r.facts, 'fact'))))));
}

function findTerm(id) {
  return pattern.atoms.flatMap(a => [a.head, a.tail]).find(term => idOf(term) === id);
}

function show() {
  const place = $('builder');
  const isEmpty = pattern.atoms.length === 0;
  const term = typeof picked === 'string' ? findTerm(picked) : null;
  const pick = what => { picked = what; connecting = null; show(); place.querySelector('.picked')?.focus(); };
  put(place,
    el('div', { class: 'row' }, el('h2', {}, 'Build a question'),
      !isEmpty && button('Begin again', () => { pattern = { variables: [], atoms: [] }; changed(null); }, { class: 'quiet' })),
    isEmpty ? startPanel() : el('div', { class: 'columns' },
      el('div', {}, draw(asQuery(), { pickAtom: pick, pickNode: pick, picked }),
        el('p', { class: 'note' }, 'Click a node or an arrow to change it.')),
      term ? nodePanel(term) : typeof picked === 'number' && pattern.atoms[picked] ? atomPanel(picked) : el('div', { class: 'panel note' }, 'Nothing is chosen.')));
}

export function openBuilder(given, relations, onWrite) {
  getRelations = relations;
  write = onWrite;
  if (given) pattern = given;
  picked = pattern.variables.length > 0 ? 'v:' + pattern.variables[0].name : null;
  connecting = null;
  show();
}
