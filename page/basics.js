// basics.js - elements, numbers, downloads, and requests to the server.

// A name may hold anything. The browser takes texts as texts, never as markup; what is left are
// characters that one cannot see, or that turn the direction of what follows.
export function clean(text) {
  return String(text)
    .replace(/[\u0000-\u001f]/g, c => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, '\ufffd');
}

export function shorten(text, most) {
  const letters = Array.from(clean(text));
  return letters.length <= most ? letters.join('') : letters.slice(0, most - 1).join('') + '…';
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, '');
    else if (value !== false && value != null) node.setAttribute(name, value);
  }
  for (const child of children.flat(Infinity)) {
    if (child != null && child !== false)
      node.append(child.nodeType ? child : document.createTextNode(clean(child)));
  }
  return node;
}

export const el = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
export const $ = id => document.getElementById(id);

export function put(place, ...children) {
  place.replaceChildren(...children.flat(Infinity).filter(child => child));
}

// 1 is said of facts alone.
export function formatP(p) {
  if (p == null) return '';
  if (p >= 1) return '1';
  return p > 0.999 ? '>0.999' : p < 0.001 && p > 0 ? '<0.001' : p.toFixed(3);
}

export const count = (n, one, many) => `${n.toLocaleString('en')} ${n === 1 ? one : many ?? one + 's'}`;

// ---- files ----

// A spreadsheet takes a cell that begins so for a formula; a quote before it keeps it a text.
const cell = value => {
  const text = String(value ?? '');
  const isText = typeof value !== 'number' && /^[=+\-@\t\r]/.test(text);
  return '"' + (isText ? "'" : '') + text.replace(/"/g, '""') + '"';
};

export function download(name, rows) {
  const text = rows.map(row => row.map(cell).join(',') + '\r\n').join('');
  const link = el('a', { href: URL.createObjectURL(new Blob([text], { type: 'text/csv' })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// ---- what the browser keeps ----

export function load(key, otherwise) {
  try {
    return JSON.parse(localStorage.getItem('anycq.' + key)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function save(key, value) {
  try {
    localStorage.setItem('anycq.' + key, JSON.stringify(value));
  } catch { /* private windows: nothing is kept */ }
}

// ---- requests ----

export class Problem extends Error {
  constructor(kind, about) {
    super(about.message);
    Object.assign(this, { kind, ...about });
  }
}

export const state = { graph: '', token: sessionStorage.getItem('anycq.token') ?? '' };

async function request(tool, given, signal) {
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify(state.graph === '' ? given : { ...given, graph: state.graph });
  if (state.token !== '') headers.Authorization = 'Bearer ' + state.token;
  let response;
  try {
    response = await fetch('api/' + tool, { method: 'POST', headers, body, signal });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem('gone', { message: 'The server does not answer.' });
  }
  if (response.status === 401)
    throw new Problem('token', { message: 'This server wants a token.' });
  if (!response.ok) {
    const found = await response.json().catch(() => null);
    throw new Problem(response.status === 503 ? 'busy' : 'refused',
                      found?.error ?? { message: 'The server failed: ' + response.status });
  }
  return response;
}

export async function ask(tool, given = {}, signal) {
  return (await request(tool, given, signal)).json();
}

// Lines of JSON, one object each, as they come.
export async function stream(tool, given, take, signal) {
  const response = await request(tool, { ...given, stream: true }, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  const use = line => line.trim() !== '' && take(JSON.parse(line));
  for (;;) {
    let piece;
    try {
      piece = await reader.read();
    } catch (error) {
      if (error.name === 'AbortError') throw error;
      throw new Problem('gone', { message: 'The server went away in the middle of its answer.' });
    }
    if (piece.done) break;
    const lines = (rest + piece.value).split('\n');
    rest = lines.pop();
    lines.forEach(use);
  }
  use(rest);
}
