/**
 * Links in what a proxied server says, made to lead through the proxy: those that begin at the server's root. HTML is scanned for tags with
 * attributes that are links, everything else in it stays as it is. Pure but for compressed pages.
 */
import {posix} from 'node:path';
import {promisify} from 'node:util';
import zlib from 'node:zlib';
import type {ApiResponse} from '../../http/messages.ts';

export interface Link {
  /** Path of the proxy, without slash at its end. */
  prefix: string;
  /** What the server may call itself: as it was dialled, and as the client called us. */
  hosts: readonly [dialled: string, called: string];
}

export function linkThrough({prefix, hosts}: Link, url: string): string {
  const parts = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(.*)$/is.exec(url);
  if (!parts) return url;
  const [, scheme, authority, path = '', rest = ''] = parts;
  const host = authority?.replace(/^.*@/, '');
  // Another server's, or relative, or none at all (mailto:).
  if ((host && !hosts.includes(host)) || (scheme && !host) || !path.startsWith('/')) return url;
  // Somebody who goes through yet another proxy asked for that host, and will again.
  const origin = host && host === hosts[1] ? `${scheme === undefined ? '' : `${scheme}:`}//${host}` : '';
  if (path.startsWith(prefix)) return `${origin}${path}${rest}`;
  const joined = posix.join(prefix, path);
  return `${origin}${joined}${path.endsWith('/') && !joined.endsWith('/') ? '/' : ''}${rest}`;
}

const linkAttributes: Readonly<Record<string, readonly string[]>> = Object.assign(Object.create(null), {
  a: ['href'],
  applet: ['codebase'],
  area: ['href'],
  audio: ['src'],
  base: ['href'],
  blockquote: ['cite'],
  body: ['background'],
  button: ['formaction'],
  command: ['icon'],
  del: ['cite'],
  embed: ['src'],
  form: ['action'],
  frame: ['longdesc', 'src'],
  head: ['profile'],
  html: ['manifest'],
  iframe: ['longdesc', 'src'],
  img: ['longdesc', 'src', 'usemap'],
  input: ['src', 'usemap', 'formaction'],
  ins: ['cite'],
  link: ['href'],
  object: ['classid', 'codebase', 'data', 'usemap'],
  q: ['cite'],
  script: ['src'],
  source: ['src'],
  video: ['poster', 'src'],
});
/** What stands in these is text, whatever it looks like. */
const textElements = /^(iframe|noembed|noframes|noscript|script|style|textarea|title|xmp)$/;
const tagName = /<([a-z][a-z0-9:-]{0,40})(?=[\s/>])/iy;

/** Looks at each byte a few times at most, whatever a hostile page holds. */
export function rewriteHtml(link: Link, html: string): string {
  let out = '';
  let copied = 0;
  for (let at = html.indexOf('<'); at >= 0; at = html.indexOf('<', at)) {
    if (html.startsWith('<!--', at)) {
      const end = html.indexOf('-->', at + 4);
      if (end < 0) break;
      at = end + 3;
      continue;
    }
    tagName.lastIndex = at;
    const tag = tagName.exec(html)?.[1]?.toLowerCase();
    const end = tag === undefined ? -1 : endOfTag(html, at + tag.length + 1);
    if (tag === undefined || end < 0) {
      at++;
      continue;
    }
    out += html.slice(copied, at) + withLinks(link, tag, html.slice(at, end));
    copied = at = end;
    if (!textElements.test(tag)) continue;
    const close = new RegExp(`</${tag}[\\s/>]`, 'gi');
    close.lastIndex = at;
    at = close.exec(html)?.index ?? html.length;
  }
  return out + html.slice(copied);
}

/** Behind its `>`, which may stand in quotes before; -1 for what is no tag. */
function endOfTag(html: string, from: number): number {
  for (let at = from; at < html.length; at++) {
    const sign = html[at]!;
    if (sign === '>') return at + 1;
    if (sign === '<') return -1;
    if (sign !== '"' && sign !== "'") continue;
    at = html.indexOf(sign, at + 1);
    if (at < 0) return -1;
  }
  return -1;
}

const attribute = /(?<=[\s/"'])([^\s=/"'>]{1,40})(\s*=\s*)("[^"]*"|'[^']*'|[^\s"'>]+)/g;

function withLinks(link: Link, tag: string, text: string): string {
  const links = linkAttributes[tag];
  if (!links) return text;
  const open = tag.length + 1;
  return (
    text.slice(0, open) +
    text.slice(open).replace(attribute, (whole, name: string, equals: string, quoted: string) => {
      if (!links.includes(name.toLowerCase())) return whole;
      const quote = /^["']/.test(quoted) ? quoted[0]! : '';
      const value = quote ? quoted.slice(1, -1) : quoted;
      return `${name}${equals}${quote}${linkThrough(link, value.replaceAll('&amp;', '&')).replaceAll('&', '&amp;')}${quote}`;
    })
  );
}

/** Longer pages are handed on as they are, and what is longer than four of them when it is unpacked. */
const maxPageBytes = 8 * 1024 * 1024;
const limits = {maxOutputLength: 4 * maxPageBytes};

interface Encoding {
  open(bytes: Buffer): Promise<Buffer>;
  squeeze(bytes: Buffer): Promise<Buffer>;
}

const [gunzip, gzip, inflate, deflate] = [
  promisify(zlib.gunzip),
  promisify(zlib.gzip),
  promisify(zlib.inflateRaw),
  promisify(zlib.deflateRaw),
];
const encodings: Readonly<Record<string, Encoding>> = Object.assign(Object.create(null), {
  '': {open: async (bytes) => bytes, squeeze: async (bytes) => bytes},
  gzip: {open: (bytes) => gunzip(bytes, limits), squeeze: (bytes) => gzip(bytes)},
  deflate: {open: (bytes) => inflate(bytes, limits), squeeze: (bytes) => deflate(bytes)},
} satisfies Record<string, Encoding>);

/** @throws Error of a road that broke */
export async function htmlThrough(link: Link, answer: ApiResponse): Promise<ApiResponse> {
  const encoding = encodings[String(answer.headers['content-encoding'] ?? '')];
  const {body} = answer;
  if (!encoding || !body || body instanceof Uint8Array) return answer;
  const pieces: Uint8Array[] = [];
  let size = 0;
  const iterator = body[Symbol.asyncIterator]();
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
    pieces.push(next.value);
    size += next.value.length;
    if (size > maxPageBytes) return {...answer, body: continued(pieces, iterator)};
  }
  const page = Buffer.concat(pieces);
  const bytes = await rewritten(link, page, encoding).catch(() => page);
  return {...answer, headers: {...answer.headers, 'content-length': String(bytes.length)}, body: bytes};
}

/** Byte for byte but for the links, whatever its characters are. @throws Error for what is not packed as it says */
async function rewritten(link: Link, page: Buffer, {open, squeeze}: Encoding): Promise<Buffer> {
  return squeeze(Buffer.from(rewriteHtml(link, (await open(page)).toString('latin1')), 'latin1'));
}

async function* continued(pieces: readonly Uint8Array[], iterator: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value;
  } finally {
    await iterator.return?.();
  }
}
