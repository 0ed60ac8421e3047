// table.js - answers, and likely facts, as a table with filters and a download.
import { clean, count, download, el, formatP, put } from './basics.js';

function pCell(p, kind) {
  if (kind === 'observed') return el('td', { class: 'p' }, '1');
  if (p == null) return el('td', { class: 'p' }, '');
  return el('td', { class: 'p' }, el('meter', { min: 0, max: 1, value: p, 'aria-hidden': 'true' }), formatP(p));
}

// columns: texts. rows: {cells, p, kind, item}; kind "predicted" is new, and isAllNew says that all rows are.
// choose(item) shows one.
export function showTable(place, { caption, columns, rows, file, choose, chosen, filters, isAllNew, pName = 'p' }) {
  const body = el('tbody'), said = el('p', { class: 'note', role: 'status' });
  const isKept = row => (!filters.newOnly || row.kind !== 'observed') && (row.p ?? 1) >= filters.least;

  function fillRows() {
    const kept = rows.filter(isKept);
    put(body, kept.slice(0, 1000).map(row => el('tr', { 'aria-selected': choose ? String(row.item === chosen) : null, class: row.item === chosen ? 'chosen' : '' },
      row.cells.map((cell, i) => el('td', {}, i === 0 && choose
        ? el('button', { type: 'button', class: 'name', onclick: () => choose(row.item) }, cell === '' ? 'yes' : cell)
        : cell)),
      pCell(row.p, row.kind),
      isAllNew ? null : el('td', { class: 'kind' }, row.kind))));
    said.textContent = kept.length === rows.length ? '' : `${kept.length} of ${count(rows.length, 'row')} pass the filters`;
    if (kept.length > 1000) said.textContent += '; the first 1,000 are shown, the download has all';
  }

  const newOnly = el('input', { type: 'checkbox', onchange: () => { filters.newOnly = newOnly.checked; fillRows(); } });
  const least = el('input', { type: 'number', min: 0, max: 1, step: 0.05, value: filters.least, onchange: () => {
    filters.least = Number(least.value);
    fillRows();
  } });
  newOnly.checked = filters.newOnly;
  const get = () => download(file, [[...columns, pName, 'kind'],
    ...rows.filter(isKept).map(row => [...row.cells, row.p ?? '', row.kind])]);
  put(place,
    el('div', { class: 'row filters' },
      isAllNew ? null : el('label', {}, newOnly, ' new only'), el('label', {}, pName + ' at least ', least),
      el('button', { type: 'button', onclick: get }, 'Download CSV')),
    el('div', { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': caption },
      el('table', {}, el('caption', { class: 'hidden' }, caption),
        el('thead', {}, el('tr', {}, columns.map(name => el('th', { scope: 'col' }, clean(name))),
          el('th', { scope: 'col' }, pName), isAllNew ? null : el('th', { scope: 'col' }, 'how'))),
        body)),
    said);
  fillRows();
}
