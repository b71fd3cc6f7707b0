/**
 * Who may use the proxy: it lends its user's rights to whoever reaches it, so a page in a browser must not. Browsers name the page in
 * Origin, and in Host what they were talked into taking for another site.
 */
import type {IncomingHttpHeaders} from 'node:http';

/** Why not, or undefined. */
export function refusal({host, origin}: IncomingHttpHeaders, listensOn: string): string | undefined {
  const name = nameOf(host);
  if (name === undefined || !isOwn(name, listensOn)) return `the proxy answers to localhost, not to ${JSON.stringify(host ?? '')}`;
  if (origin === undefined || origin === `http://${host}`) return undefined;
  return `pages of ${JSON.stringify(origin)} may not use the proxy`;
}

const isOwn = (name: string, listensOn: string): boolean =>
  name === 'localhost' || name === '127.0.0.1' || name === '[::1]' || name === listensOn || name === `[${listensOn}]`;

const nameOf = (host: string | undefined): string | undefined => /^(\[[0-9A-Fa-f:.]+\]|[^:]+)(?::\d+)?$/.exec(host ?? '')?.[1];
