/** /logs: the files of the machine's own log folder, and nothing above it. */
import {createReadStream} from 'node:fs';
import {readdir, realpath, stat} from 'node:fs/promises';
import type {ServerResponse} from 'node:http';
import {join} from 'node:path';
import {Refusal} from './refusal.ts';

const root = '/var/log';

export async function sendHostLog(parts: readonly string[], response: ServerResponse): Promise<void> {
  const missing = () => new Refusal(404, '404 page not found\n');
  if (parts.some((part) => part === '..' || part.includes('/') || part.includes('\0'))) throw missing();
  const path = await realpath(join(root, ...parts)).catch(() => undefined);
  // Links may lead elsewhere.
  if (!path || (path !== root && !path.startsWith(`${root}/`))) throw missing();
  const found = await stat(path);
  if (found.isDirectory()) {
    const entries = (await readdir(path, {withFileTypes: true})).map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`).sort();
    const rows = entries.map((name) => `<a href="${encodeURI(name)}">${name.replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`)}</a>\n`);
    response.writeHead(200, {'content-type': 'text/html; charset=utf-8'}).end(`<pre>\n${rows.join('')}</pre>\n`);
    return;
  }
  if (!found.isFile()) throw missing();
  response.writeHead(200, {'content-type': 'text/plain; charset=utf-8', 'content-length': found.size});
  createReadStream(path, {end: Math.max(0, found.size - 1)})
    .on('error', () => response.destroy())
    .pipe(response);
}
