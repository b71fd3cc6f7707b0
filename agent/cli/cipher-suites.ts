/** --tls-cipher-suites: names as the standard has them, and as OpenSSL does. */
import {getCiphers} from 'node:tls';

/** TLS 1.3 has its own, and they cannot be chosen: the reference serves them whatever the flag says. */
const always = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'] as const;

const exchanges: Readonly<Record<string, string>> = {ECDHE_ECDSA: 'ECDHE-ECDSA-', ECDHE_RSA: 'ECDHE-RSA-', RSA: ''};
const ciphers: Readonly<Record<string, string>> = {
  AES_128_CBC_SHA: 'AES128-SHA',
  AES_256_CBC_SHA: 'AES256-SHA',
  AES_128_CBC_SHA256: 'AES128-SHA256',
  AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
  CHACHA20_POLY1305: 'CHACHA20-POLY1305',
  CHACHA20_POLY1305_SHA256: 'CHACHA20-POLY1305',
  '3DES_EDE_CBC_SHA': 'DES-CBC3-SHA',
  RC4_128_SHA: 'RC4-SHA',
};
const insecure = /^TLS_RSA_WITH|RC4|3DES|CBC_SHA256$/;

/** Undefined for a name that nobody knows, and for what the library here has left out. */
function openSslName(name: string): string | undefined {
  if ((always as readonly string[]).includes(name)) return name;
  const [, exchange = '', cipher = ''] = /^TLS_(ECDHE_ECDSA|ECDHE_RSA|RSA)_WITH_(.+)$/.exec(name) ?? [];
  const found = ciphers[cipher] && `${exchanges[exchange]}${ciphers[cipher]}`;
  return found && getCiphers().includes(found.toLowerCase()) ? found : undefined;
}

export const unknownSuites = (names: readonly string[]): string[] => names.filter((name) => openSslName(name) === undefined);
export const insecureSuites = (names: readonly string[]): string[] => names.filter((name) => insecure.test(name));

/** For Node's TLS; undefined: the library's own choice. */
export function cipherList(names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  return [...new Set([...always, ...names.map((name) => openSslName(name) ?? name)])].join(':');
}
