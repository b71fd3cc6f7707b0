/**
 * Certificate requests (PKCS #10) and the PEM around them, as far as the API has to judge them: is it one, and did its key sign it. Issuing
 * certificates is somebody else's.
 */
import {constants, createPublicKey, type KeyObject, verify} from 'node:crypto';

export interface PemBlock {
  type: string;
  hasHeaders: boolean;
  bytes: Buffer;
}

const pemExpression = /-----BEGIN ([^-\r\n]+)-----[ \t]*\r?\n([\s\S]*?)-----END \1-----/g;

/** Blocks of a text; what stands around them does not matter. */
export function pemBlocks(text: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  for (const [, type, body] of text.matchAll(pemExpression)) {
    const lines = body!.split(/\r?\n/);
    const headers = lines.findLastIndex((line) => line.includes(':')) + 1;
    const base64 = lines.slice(headers).join('').replaceAll(/\s/g, '');
    if (/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) blocks.push({type: type!, hasHeaders: headers > 0, bytes: Buffer.from(base64, 'base64')});
  }
  return blocks;
}

/** What is wrong with a request, in the reference's words where they are its own; undefined when its signature holds. */
export function requestProblem(pem: string): string | undefined {
  const block = pemBlocks(pem)[0];
  if (block?.type !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST';
  const parts = children(block.bytes);
  const [info, algorithm, signature] = parts ?? [];
  if (!info || !algorithm || !signature || parts!.length !== 3) return 'asn1: syntax error: data truncated';
  const fields = children(info.whole);
  const oid = children(algorithm.whole)?.[0]?.content.toString('hex');
  let key: KeyObject;
  try {
    key = createPublicKey({key: fields![2]!.whole, format: 'der', type: 'spki'});
  } catch {
    return 'x509: unsupported public key in certificate request';
  }
  const scheme = oid === undefined ? undefined : schemes[oid];
  if (!scheme) return 'x509: cannot verify signature: algorithm unimplemented';
  // The first byte of a bit string counts its unused bits.
  return isSignedBy(key, scheme, info.whole, signature.content.subarray(1)) ? undefined : scheme.failure;
}

interface Scheme {
  hash: string | null;
  failure: string;
  padding?: number;
}

const rsaFailure = 'crypto/rsa: verification error';
const ecdsaFailure = 'x509: ECDSA verification failure';

/** By the bytes of their object identifiers. */
const schemes: Readonly<Record<string, Scheme>> = {
  '2a864886f70d010105': {hash: 'sha1', failure: rsaFailure},
  '2a864886f70d01010b': {hash: 'sha256', failure: rsaFailure},
  '2a864886f70d01010c': {hash: 'sha384', failure: rsaFailure},
  '2a864886f70d01010d': {hash: 'sha512', failure: rsaFailure},
  '2a864886f70d01010a': {hash: 'sha256', failure: rsaFailure, padding: constants.RSA_PKCS1_PSS_PADDING},
  '2a8648ce3d0401': {hash: 'sha1', failure: ecdsaFailure},
  '2a8648ce3d040302': {hash: 'sha256', failure: ecdsaFailure},
  '2a8648ce3d040303': {hash: 'sha384', failure: ecdsaFailure},
  '2a8648ce3d040304': {hash: 'sha512', failure: ecdsaFailure},
  '2b6570': {hash: null, failure: 'x509: Ed25519 verification failure'},
};

function isSignedBy(key: KeyObject, scheme: Scheme, data: Buffer, signature: Buffer): boolean {
  try {
    return verify(scheme.hash, data, scheme.padding === undefined ? key : {key, padding: scheme.padding}, signature);
  } catch {
    return false;
  }
}

interface Element {
  /** With its tag and length. */
  whole: Buffer;
  content: Buffer;
}

/** The elements of a DER sequence; undefined for bytes that are none. */
function children(sequence: Buffer): Element[] | undefined {
  const outer = element(sequence);
  if (!outer || sequence[0] !== 0x30) return undefined;
  const found: Element[] = [];
  for (let rest = outer.content; rest.length > 0; ) {
    const next = element(rest);
    if (!next) return undefined;
    found.push(next);
    rest = rest.subarray(next.whole.length);
  }
  return found;
}

function element(bytes: Buffer): Element | undefined {
  const first = bytes[1];
  if (first === undefined) return undefined;
  const lengthBytes = first < 0x80 ? 0 : first & 0x7f;
  if (lengthBytes > 4 || bytes.length < 2 + lengthBytes) return undefined;
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes);
  const start = 2 + lengthBytes;
  if (bytes.length < start + length) return undefined;
  return {whole: bytes.subarray(0, start + length), content: bytes.subarray(start, start + length)};
}
