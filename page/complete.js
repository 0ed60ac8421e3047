// complete.js - names under a field while one types: arrows choose, Enter or Tab takes, Escape leaves.
import { ask, clean, el, put } from './basics.js';

let nextId = 0;

// Entities by the beginning of their name, as it is written and with a capital letter.
export async function findEntities(prefix, signal) {
  const capital = prefix.charAt(0).toUpperCase() + prefix.slice(1);
  const prefixes = capital === prefix ? [prefix] : [capital, prefix];
  const lists = await Promise.all(prefixes.map(p => ask('names', { prefix: p, limit: 12, exact: true }, signal)));
  const seen = new Set();
  return lists.flatMap(list => list.names).filter(n => !seen.has(n.key) && seen.add(n.key)).slice(0, 12);
}

// Where a word begins counts more than where it is.
export function findRelations(relations, text) {
  const wanted = text.toLowerCase();
  const place = r => r.name.toLowerCase().indexOf(wanted);
  return relations.filter(r => place(r) >= 0)
    .sort((a, b) => (place(a) > 0) - (place(b) > 0) || b.facts - a.facts).slice(0, 12)
    .map(r => ({ ...r, note: r.facts.toLocaleString('en') }));
}

// find(): promise of items for what is typed, or null. take(item): the user chose.
export function complete(field, list, find, take) {
  let items = [], at = -1, running = null, timer = 0;

  function close() {
    clearTimeout(timer);
    running?.abort();
    items = [];
    at = -1;
    list.hidden = true;
    field.setAttribute('aria-expanded', 'false');
    field.removeAttribute('aria-activedescendant');
  }

  function mark(i) {
    at = i;
    [...list.children].forEach((li, j) => li.setAttribute('aria-selected', String(j === i)));
    if (i >= 0) {
      field.setAttribute('aria-activedescendant', list.children[i].id);
      list.children[i].scrollIntoView({ block: 'nearest' });
    }
  }

  function choose(i) {
    const item = items[i];
    close();
    take(item);
  }

  function show(found) {
    items = found;
    put(list, items.map((item, i) =>
      el('li', { role: 'option', id: 'name' + nextId++, 'aria-selected': 'false',
                 onmousedown: event => { event.preventDefault(); choose(i); } },
         el('span', {}, item.name),
         el('small', {}, item.note ?? (item.key !== item.name ? clean(item.key) : '')))));
    list.hidden = items.length === 0;
    field.setAttribute('aria-expanded', String(items.length > 0));
    if (items.length > 0) mark(0);
  }

  async function look() {
    running?.abort();
    const own = running = new AbortController();
    try {
      const found = await find(own.signal);
      if (running === own) found == null ? close() : show(found);
    } catch { /* a later letter asks again; asking the question tells what is wrong */ }
  }

  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(look, 20);
  });
  field.addEventListener('blur', () => setTimeout(close, 100));
  field.addEventListener('keydown', event => {
    if (list.hidden || event.ctrlKey || event.metaKey) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) mark((at + step + items.length) % items.length);
    else if ((event.key === 'Enter' || event.key === 'Tab') && at >= 0) choose(at);
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  });
  return close;
}
