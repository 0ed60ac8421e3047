// duckdb.mjs - the same queries answered by DuckDB, one thread, graph in memory.
//
//   node duckdb.mjs QUERIES.jsonl NAME FACTS.tsv ENTITIES SECONDS
//
// FACTS.tsv holds head, relation, tail as integers. The table is sorted by relation, head, tail.
// DuckDB plans and runs in its own threads, so a timer here can interrupt it; some phases do not
// look at the interrupt, so the queries run in a child process that the parent kills a little
// later and starts again behind the query that hung. Median of five runs, fewer when they would
// take more than SECONDS together.
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createRequire } from 'node:module';

const RUNS = 5;
const GRACE_MS = 10000; // past the limit, before the child is killed

const isChild = process.argv[2] === '--child';
const [queriesPath, name, factsPath, entities, seconds, from] = process.argv.slice(isChild ? 3 : 2);
const limit = Number(seconds) * 1000;
const queries = readFileSync(queriesPath, 'utf8').split('\n').filter(Boolean)
  .map((line) => JSON.parse(line))
  .filter((query) => query.kind === 'query' && query.graph === name && query.sql);

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

async function connect() {
  // The package lives in the build directory from which this is run, not beside this file.
  const require = createRequire(`${process.cwd()}/package.json`);
  const duckdb = require('@duckdb/node-api');
  const instance = await duckdb.DuckDBInstance.create(':memory:', { threads: '1' });
  const connection = await instance.connect();
  const path = factsPath.replaceAll("'", "''");
  await connection.run(`CREATE TABLE facts AS SELECT * FROM read_csv('${path}', delim = '\t',
    header = false, columns = {'head': 'INTEGER', 'relation': 'INTEGER', 'tail': 'INTEGER'})
    ORDER BY relation, head, tail`);
  await connection.run(`CREATE TABLE entities AS SELECT range::INTEGER AS name
    FROM range(${Number(entities)})`);
  return { connection, version: duckdb.version() };
}

// { late, answered, ms }
async function run(connection, sql) {
  const begin = process.hrtime.bigint();
  const timer = setTimeout(() => connection.interrupt(), limit);
  try {
    const reader = await connection.runAndReadAll(sql);
    const ms = Number(process.hrtime.bigint() - begin) / 1e6;
    return { late: ms > limit, answered: reader.currentRowCount > 0, ms };
  } catch (error) {
    if (!/interrupt/i.test(error.message)) throw error;
    return { late: true, answered: false, ms: limit };
  } finally {
    clearTimeout(timer);
  }
}

async function answer(connection, i) {
  const query = queries[i];
  const times = [];
  let spent = 0;
  for (;;) {
    process.send({ begin: i });
    const result = await run(connection, query.sql);
    if (result.late) return { late: true, ms: limit };
    if (result.answered !== query.answered)
      throw new Error(`DuckDB and exact search disagree on query ${query.instance} of ${query.file}`);
    times.push(result.ms);
    spent += result.ms;
    if (times.length === RUNS || spent + spent / times.length > limit)
      return { late: false, ms: median(times) };
  }
}

async function child() {
  const { connection, version } = await connect();
  process.send({ ready: true, version });
  for (let i = Number(from); i < queries.length; i += 1)
    process.send({ done: i, ...(await answer(connection, i)) });
  process.exit(0);
}

function print(object) {
  console.log(JSON.stringify(object));
}

function printResult(i, late, ms) {
  const { graph, file, instance } = queries[i];
  print({ kind: 'peer', peer: 'DuckDB', graph, file, instance, late, ms });
}

// Runs a child from query `first` on; resolves to the next query to start with.
function runChild(first, isFirst) {
  return new Promise((resolve, reject) => {
    let next = first;
    let timer;
    const args = ['--child', ...process.argv.slice(2), String(first)];
    const worker = fork(fileURLToPath(import.meta.url), args, { cwd: process.cwd() });
    worker.on('message', (message) => {
      clearTimeout(timer);
      if (message.ready && isFirst)
        print({ kind: 'version', peer: 'DuckDB', graph: name, version: message.version });
      if (message.begin !== undefined)
        timer = setTimeout(() => {
          printResult(message.begin, true, limit);
          next = message.begin + 1;
          worker.kill('SIGKILL');
        }, limit + GRACE_MS);
      if (message.done === undefined) return;
      printResult(message.done, message.late, message.ms);
      next = message.done + 1;
    });
    worker.on('exit', (code, signal) => {
      clearTimeout(timer);
      if (code === 0) resolve(queries.length);
      else if (signal === 'SIGKILL') resolve(next);
      else reject(new Error(`DuckDB's process ended with ${code ?? signal}`));
    });
  });
}

async function parent() {
  for (let first = 0; first < queries.length || first === 0;) {
    first = await runChild(first, first === 0);
    if (queries.length === 0) break;
  }
}

(isChild ? child() : parent()).catch((error) => {
  console.error(`bench: ${error.message}`);
  process.exit(1);
});
