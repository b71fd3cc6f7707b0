/**
 * Runs recorded answers of a reference against a cluster and prints the rate by area.
 *   npm run conformance -- --suite DIR [--facts DIR] [--url URL --token TOKEN] [--only REGEX] [--level code|reason|full] [-v]
 * DIR holds probes.jsonl and its runner (run-probes.py, needs python3); --facts a folder with validation.jsonl and valid-objects.json.
 * Without --url a cluster in memory is started for it.
 */
import {spawn} from 'node:child_process';
import {existsSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import {Agent, request} from 'node:https';
import {tmpdir} from 'node:os';
import {dirname, join, resolve} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {parseArgs} from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const {values: options} = parseArgs({
  options: {
    suite: {type: 'string'},
    facts: {type: 'string'},
    url: {type: 'string'},
    token: {type: 'string', default: 'tok'},
    only: {type: 'string'},
    level: {type: 'string', default: 'full'},
    verbose: {type: 'boolean', short: 'v', default: false},
    help: {type: 'boolean', short: 'h', default: false},
  },
});
if (options.help || (!options.suite && !options.facts)) {
  console.error('usage: npm run conformance -- --suite DIR [--facts DIR] [--url URL --token TOKEN] [--only REGEX] [--level full] [-v]');
  process.exit(options.help ? 0 : 2);
}

/** What is not built yet, by the probes that need it. The first that matches counts. */
const waiting = [
  ['server-side apply', /^apply[ -]|^ssa-status|^ssa-env|^ssa-fin|^ssa-cr|^(\S+ )?apply$/],
  ['custom resources', /^(crd|cr|cel|wl-cr|fv-cr|selectable-fields|table-crds)\b/],
  ['admission policies', /^vap-/],
  ['node authorizer', /^sar-node-allowed$/],
];
/** Probes that record how the reference was set up: docs/differences.md says why we answer otherwise. */
const differs = new Set(['openid-configuration', 'get-rv-nan', 'smp-missing-key', 'binding-no-target']);

const cluster = options.url ? {url: options.url, token: options.token, stop() {}} : await startCluster();
let failed = 0;
try {
  if (options.suite) failed += await runProbes(resolve(options.suite));
  if (options.facts) {
    await runValidation(resolve(options.facts));
    await runDefaults(resolve(options.facts));
  }
} finally {
  await cluster.stop();
}
process.exit(failed > 0 ? 1 : 0);

async function startCluster() {
  const {build, isFresh} = await import('./build.mjs');
  if (!isFresh()) await build();
  const {startCluster: start} = await import(pathToFileURL(join(root, 'dist', 'index.js')).href);
  const started = await start({
    inMemory: true,
    staticTokens: new Map([
      ['tok', {name: 'admin', uid: 'admin', groups: ['system:masters']}],
      ['user-tok', {name: 'bob', uid: 'bob', groups: []}],
    ]),
  });
  return {url: started.url, token: 'tok', stop: () => started.close()};
}

async function runProbes(suite) {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
  const report = join(folder, 'report.json');
  const only = options.only ? ['--only', options.only] : [];
  const args = [join(suite, 'run-probes.py'), cluster.url, cluster.token, '--level', options.level, '--json', report, ...only];
  process.stderr.write('probes: running\n');
  await runBeside('python3', args);
  if (!existsSync(report)) throw new Error('the probe runner left no report');
  const results = JSON.parse(readFileSync(report, 'utf8'));
  rmSync(folder, {recursive: true});
  const groups = new Map(readLines(join(suite, 'probes.jsonl')).map((probe) => [probe.id, probe.group ?? '']));
  return printProbes(results.map((result) => ({...result, group: groups.get(result.id) ?? ''})));
}

/** The cluster may live in this process: it must go on answering while the runner works. */
function runBeside(command, args) {
  return new Promise((done, fail) => {
    const child = spawn(command, args, {stdio: ['ignore', options.verbose ? 'inherit' : 'ignore', 'inherit']});
    child.once('error', fail);
    child.once('close', done);
  });
}

function printProbes(results) {
  const areas = new Map();
  const waits = new Map();
  const failures = [];
  for (const result of results) {
    const area = areas.get(result.group) ?? {passed: 0, total: 0};
    area.total++;
    if (result.pass) area.passed++;
    areas.set(result.group, area);
    if (result.pass) continue;
    const reason = differs.has(result.id)
      ? 'answers otherwise on purpose'
      : waiting.find(([, pattern]) => pattern.test(`${result.id}`) || pattern.test(`${result.id} ${result.group}`))?.[0];
    if (reason) waits.set(reason, [...(waits.get(reason) ?? []), result.id]);
    else failures.push(result);
  }
  for (const [name, {passed, total}] of [...areas].sort()) console.log(`${name.padEnd(16)} ${passed}/${total}`);
  for (const [reason, ids] of waits) console.log(`waits for ${reason}: ${ids.length} (${ids.join(' ')})`);
  for (const {id, fails} of failures) console.log(`FAILED ${id}\n${fails.map((text) => `  ${text}`).join('\n')}`);
  const passed = results.filter((result) => result.pass).length;
  console.log(`probes: ${passed} of ${results.length} pass, ${failures.length} fail, ${results.length - passed - failures.length} wait`);
  return failures.length;
}

function client() {
  const agent = new Agent({keepAlive: true, rejectUnauthorized: false});
  const send = (method, path, body, contentType = 'application/json') =>
    new Promise((done, fail) => {
      const payload = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
      const sent = request(new URL(path, cluster.url), {
        method,
        agent,
        headers: {
          // Said aloud: Node frames no body of a DELETE by itself.
          ...(payload !== undefined && {'content-length': Buffer.byteLength(payload)}),

          authorization: `Bearer ${cluster.token}`,
          accept: 'application/json',
          'user-agent': 'conformance',
          ...(body !== undefined && {'content-type': contentType}),
        },
      });
      sent.once('error', fail);
      sent.once('response', (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString();
          let json;
          try {
            json = JSON.parse(text);
          } catch {
            json = {};
          }
          done({code: response.statusCode, json});
        });
      });
      sent.end(payload);
    });
  return {send, close: () => agent.destroy()};
}

/** The objects of defaults.json: what a create answers, beside what was given, added, changed and removed. */
async function runDefaults(facts) {
  const {objects} = JSON.parse(readFileSync(join(facts, 'defaults.json'), 'utf8'));
  const {applyJsonPatch} = await import('./json-patch.mjs');
  const {send, close} = client();
  const served = new Set(['v1']);
  for (const {versions} of (await send('GET', '/apis')).json.groups) for (const {groupVersion} of versions) served.add(groupVersion);
  let total = 0;
  let passed = 0;
  for (const row of objects) {
    if (!served.has(row.apiVersion)) continue;
    if (options.only && !new RegExp(options.only).test(row.id)) continue;
    total++;
    const operations = [
      ...Object.entries({...row.added, ...row.changed}).map(([path, value]) => ({op: 'add', path, value})),
      ...(row.removed ?? []).map((path) => ({op: 'remove', path})),
    ];
    const want = applyJsonPatch(row.given, operations);
    const {code, json} = await send('POST', `${row.path}?dryRun=All&fieldValidation=Ignore`, row.given);
    const differences = code < 300 ? [...differ(want, json, '', row.generated ?? [])] : [`${code} ${json.message}`];
    if (differences.length === 0) passed++;
    else if (options.verbose) console.log(`defaults ${row.id}: ${differences.slice(0, 6).join('; ')}`);
  }
  console.log(`default facts: ${passed} of ${total} objects answered as recorded`);
  close();
}

/** Where two documents differ, but for what every server makes up by itself. */
function* differ(want, got, path, generated) {
  if (generated.some((pointer) => path === pointer || path.startsWith(`${pointer}/`))) return;
  if (/^\/metadata\/(uid|creationTimestamp|managedFields|resourceVersion|namespace|name)(\/|$)/.test(path)) return;
  if (typeof want === 'object' && typeof got === 'object' && want !== null && got !== null && Array.isArray(want) === Array.isArray(got)) {
    for (const key of new Set([...Object.keys(want), ...Object.keys(got)])) yield* differ(want[key], got[key], `${path}/${key}`, generated);
    return;
  }
  if (JSON.stringify(want) !== JSON.stringify(got) && !(isTime(want) && isTime(got)) && want !== '10.0.0.0')
    yield `${path}: want ${JSON.stringify(want)} got ${JSON.stringify(got)}`;
}

function isTime(value) {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
}

/** The cases of validation.jsonl: a base, changed by a JSON patch, sent as its mode says; compared with the recorded answer. */
async function runValidation(facts) {
  const bases = JSON.parse(readFileSync(join(facts, 'valid-objects.json'), 'utf8'));
  // Optional cases are those where a better answer than the reference's is welcome.
  const cases = readLines(join(facts, 'validation.jsonl')).filter(
    ({id, optional}) => !optional && (!options.only || new RegExp(options.only).test(id)),
  );
  const {applyJsonPatch} = await import('./json-patch.mjs');
  const {send, close} = client();
  await send('POST', '/api/v1/namespaces', {apiVersion: 'v1', kind: 'Namespace', metadata: {name: 'facts'}});
  const kinds = new Map();
  const failures = [];
  for (const row of cases) {
    const base = bases[row.base];
    let answer;
    try {
      answer = await runCase(row, base, send, applyJsonPatch);
    } catch (error) {
      answer = {code: -1, json: {message: String(error)}};
    }
    const why = judge(row, answer);
    const count = kinds.get(row.kind) ?? {passed: 0, total: 0};
    count.total++;
    if (!why) count.passed++;
    else failures.push({row, why, message: answer.json.message});
    kinds.set(row.kind, count);
  }
  console.log(
    [...kinds]
      .sort()
      .map(([kind, {passed, total}]) => `${kind} ${passed}/${total}`)
      .join(', '),
  );
  if (options.verbose)
    for (const {row, why, message} of failures)
      console.log(`${row.id} (${row.mode}): ${why}\n  want ${row.code} ${row.message ?? ''}\n  got  ${message ?? ''}`);
  console.log(`validation facts: ${cases.length - failures.length} of ${cases.length} cases answered as recorded`);
  close();
}

async function runCase(row, base, send, applyJsonPatch) {
  const expand = (value) =>
    JSON.parse(JSON.stringify(value ?? null), (_key, inner) => (inner?.$repeat ? inner.$repeat[0].repeat(inner.$repeat[1]) : inner));
  const object = structuredClone(base.object);
  const mutation = expand(row.mutation) ?? [];
  const query = row.query ? `?${row.query}` : '';
  if (row.mode === 'create' || row.mode === 'create-real') {
    const body = row.raw ?? applyJsonPatch(object, mutation);
    const dryRun = row.mode === 'create' ? `${query ? '&' : '?'}dryRun=All` : '';
    const answer = await send('POST', `${base.path}${query}${dryRun}`, body);
    if (row.mode === 'create-real' && answer.code < 300) await send('DELETE', `${base.path}/${answer.json.metadata.name}`);
    return answer;
  }
  const name = `${object.metadata.name}-u`;
  object.metadata.name = name;
  const path = `${base.path}/${name}`;
  const created = await send('POST', base.path, object);
  if (created.code >= 300) throw new Error(`the base could not be stored: ${created.code} ${created.json.message}`);
  try {
    if (row.mode === 'patch') return await send('PATCH', `${path}${query}`, expand(row.body), row.contentType);
    if (row.mode === 'delete') return await send('DELETE', `${path}${query}`, row.body === undefined ? undefined : expand(row.body));
    if (row.mode === 'post-sub') return await send('POST', `${path}/${row.query}`, expand(row.body));
    const subresource = row.mode.startsWith('update-') ? `/${row.mode.slice(7)}` : '';
    return await send('PUT', `${path}${subresource}${query}`, applyJsonPatch(created.json, mutation));
  } finally {
    await send('DELETE', path, {gracePeriodSeconds: 0, propagationPolicy: 'Background'});
    await send('PATCH', path, {metadata: {finalizers: null}}, 'application/merge-patch+json');
  }
}

/** Undefined when the answer is the recorded one: code, reason, and the causes in any order. */
function judge(row, {code, json}) {
  if (code !== row.code) return `code ${code}`;
  if (row.reason && (json.reason ?? '') !== row.reason) return `reason ${json.reason}`;
  if (row.causes) {
    const key = (cause) => `${cause.field} ${cause.reason} ${anonymous(cause.message ?? '')}`;
    const want = row.causes
      .map((cause) => key(cause))
      .sort()
      .join('\n');
    const got = (json.details?.causes ?? []).map(key).sort().join('\n');
    if (want !== got && !want.includes('<')) return 'causes';
  }
  return undefined;
}

function anonymous(text) {
  return text.replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>');
}

function readLines(file) {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
