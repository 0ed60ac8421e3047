// formula.js - the query language as far as the page writes it: names, atoms, whole patterns.
//
// A pattern is what the builder draws: { variables: [{name, free}], atoms: [{relation, key, inverse,
// negated, head, tail}] }, where head and tail are {variable} or {name, key}.

const RESERVED = /^(exists|forall|not|and|or|inverse|select|ask|prefix|base)$/i;

export function quote(name) {
  return '"' + name.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n').replace(/\r/g, '\\r')
    .replace(/\t/g, '\\t') + '"';
}

// Of RDF the key, which one entity alone has.
export function writeName(name, key) {
  return key != null && key !== name && !/[>\n]/.test(key) ? `<${key}>` : quote(name);
}

export function writeRelation(name, key) {
  const isWord = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !RESERVED.test(name);
  return key != null && key !== name ? writeName(name, key) : isWord ? name : quote(name);
}

const writeTerm = term => term.variable ?? writeName(term.name, term.key);

export function writeAtom(atom) {
  const [head, tail] = [writeTerm(atom.head), writeTerm(atom.tail)];
  if (atom.relation == null) return `${head} ${atom.negated ? '!=' : '='} ${tail}`;
  const relation = writeRelation(atom.relation, atom.key);
  return (atom.negated ? '!' : '') +
    (atom.inverse ? `inverse(${relation})` : relation) + `(${head}, ${tail})`;
}

export function writePattern(pattern) {
  if (pattern.atoms.length === 0) return '';
  const used = new Set(pattern.atoms.flatMap(a => [a.head.variable, a.tail.variable]));
  const names = isFree => pattern.variables.filter(v => v.free === isFree && used.has(v.name)).map(v => v.name);
  const some = names(false);
  return `Q(${names(true).join(', ')}) := ` + (some.length > 0 ? `exists ${some.join(', ')}. ` : '') +
    pattern.atoms.map(writeAtom).join(' & ');
}

// From what /api/query says; null: it has an "or", or is too large to be built by clicking.
export function readPattern(query) {
  if (query.n_atoms > 40 || query.atoms.some(atom => !atom.alone)) return null;
  return {
    variables: query.variables.map((name, i) => ({ name, free: i < query.free })),
    atoms: query.atoms.map(({ relation, relation_key, inverse, negated, head, tail }) =>
      ({ relation, key: relation_key, inverse, negated, head, tail })),
  };
}

// What is typed at the caret: {kind, prefix, from, isQuoted}, or null where no name can stand.
export function findWord(text, caret) {
  let quoteAt = -1;
  for (let i = 0; i < caret; i++) {
    if (quoteAt >= 0 && text[i] === '\\') i++;
    else if (text[i] === '"') quoteAt = quoteAt < 0 ? i : -1;
    else if (text[i] === '\n') quoteAt = -1;
  }
  const from = quoteAt >= 0 ? quoteAt : caret - /[\p{L}\p{N}_]*$/u.exec(text.slice(0, caret))[0].length;
  const before = text.slice(0, from).trimEnd();
  const isTerm = /[(,=]$/.test(before) && !/inverse\s*\($/.test(before) && isInAtom(before);
  const prefix = text.slice(quoteAt >= 0 ? from + 1 : from, caret).replace(/\\(.)/g, '$1');
  return prefix === '' ? null
    : { kind: isTerm ? 'entity' : 'relation', prefix, from, isQuoted: quoteAt >= 0 };
}

// Behind a relation's parenthesis, or a comma inside of one, or an equals sign.
function isInAtom(before) {
  if (before.endsWith('=')) return !before.endsWith(':=');
  let depth = 0;
  for (let i = before.length - 1; i >= 0; i--) {
    if (before[i] === ')') depth++;
    if (before[i] !== '(') continue;
    if (depth-- > 0) continue;
    return /[\p{L}\p{N}_">)]\s*$/u.test(before.slice(0, i)) && !/^\s*\w*\s*$/.test(before.slice(0, i));
  }
  return false;
}
