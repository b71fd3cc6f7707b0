/** Content negotiation: which form of an object the client wants, and which form its body has. */
import {failure, notAcceptable, type StatusError, unsupportedMediaType} from '../errors.ts';
import {isTrue, queryValue} from './request-info.ts';

export type Format = 'json' | 'yaml' | 'protobuf';

export interface Representation {
  format: Format;
  /** Value of Content-Type. */
  contentType: string;
  pretty: boolean;
  /** Transform to this kind of meta.k8s.io instead of the object itself. */
  as?: {kind: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'; version: 'v1' | 'v1beta1'};
}

/** What an endpoint can produce. */
export interface Offer {
  formats: readonly Format[];
  /** Table and PartialObjectMetadata. */
  transforms: boolean;
  /** A watch: media types carry `;stream=watch`, YAML cannot be streamed. */
  stream: boolean;
  /** The route also watches: its media types are said when none is acceptable. */
  collection?: boolean;
}

export const objectOffer: Offer = {formats: ['json', 'yaml', 'protobuf'], transforms: true, stream: false};
export const listOffer: Offer = {...objectOffer, collection: true};
export const plainOffer: Offer = {formats: ['json', 'yaml', 'protobuf'], transforms: false, stream: false};
export const watchOffer: Offer = {formats: ['json', 'protobuf'], transforms: true, stream: true, collection: true};

/** By what strangers send: without a prototype, `constructor` is none. */
const mediaTypes: Record<string, Format> = Object.assign(Object.create(null), {
  'application/json': 'json',
  'application/yaml': 'yaml',
  'application/vnd.kubernetes.protobuf': 'protobuf',
  'application/vnd.cluster.protobuf': 'protobuf',
});
const nameOf: Record<Format, string> = {
  json: 'application/json',
  yaml: 'application/yaml',
  protobuf: 'application/vnd.kubernetes.protobuf',
};

interface Clause {
  type: string;
  params: Record<string, string>;
  q: number;
}

const plainJson: Representation = {format: 'json', contentType: 'application/json', pretty: false};

/** @throws StatusError 406 */
export function negotiate(
  headers: Readonly<Record<string, string | undefined>>,
  query: readonly (readonly [string, string])[],
  offer: Offer,
): Representation {
  const accept = headers['accept'];
  const pretty = isPretty(headers['user-agent'], query);
  if (accept === undefined || accept === '' || accept === '*/*' || accept === 'application/json')
    return pretty ? {...plainJson, pretty} : plainJson;
  const clauses = parseAccept(accept);
  for (const clause of clauses) {
    const chosen = choose(clause, offer, pretty);
    if (chosen) return chosen;
  }
  if (!clauses.some(({type}) => isWildcard(type) || mediaTypes[type] !== undefined)) {
    const available = [
      ...Object.values(nameOf),
      ...(offer.collection ? ['application/json;stream=watch', `${nameOf.protobuf};stream=watch`] : []),
    ];
    throw failure(406, 'NotAcceptable', `406: Not Acceptable\n\nAvailable representations: ${available.join(', ')}`, {details: {}});
  }
  throw noSuchForm(offer);
}

export function noSuchForm({formats, stream}: Offer): StatusError {
  const accepted = formats.map((format) => `${nameOf[format]}${stream ? ';stream=watch' : ''}`);
  return notAcceptable(`only the following media types are accepted: ${accepted.join(', ')}`);
}

const isWildcard = (type: string): boolean => type === '*/*' || type === 'application/*';

function choose({type, params}: Clause, offer: Offer, clientPretty: boolean): Representation | undefined {
  const wildcard = isWildcard(type);
  const format = wildcard ? 'json' : mediaTypes[type];
  if (!format || !offer.formats.includes(format)) return undefined;
  const representation: Representation = {
    format,
    contentType: wildcard ? 'application/json' : offer.stream && format === 'protobuf' ? `${type};stream=watch` : type,
    pretty: params['pretty'] === undefined ? clientPretty : isTrue(params['pretty']),
  };
  if (params['as'] !== undefined) {
    const {as: kind, g: group, v: version} = params;
    if (!offer.transforms || group !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return undefined;
    if (kind !== 'Table' && kind !== 'PartialObjectMetadata' && kind !== 'PartialObjectMetadataList') return undefined;
    // A Table has no protobuf form.
    if (kind === 'Table' && format === 'protobuf') return undefined;
    representation.as = {kind, version};
  }
  return representation;
}

/** Clauses by descending q; equal ones keep their order. */
export function parseAccept(accept: string): Clause[] {
  const clauses: Clause[] = [];
  for (const part of accept.split(',')) {
    const [type, ...rest] = part.split(';').map((piece) => piece.trim());
    if (!type) continue;
    const params: Record<string, string> = Object.create(null);
    for (const piece of rest) {
      const equals = piece.indexOf('=');
      if (equals > 0) params[piece.slice(0, equals)] = piece.slice(equals + 1).replace(/^"|"$/g, '');
    }
    const q = params['q'] === undefined ? 1 : Number(params['q']);
    clauses.push({type: type.toLowerCase(), params, q: Number.isFinite(q) ? q : 1});
  }
  return clauses.sort((a, b) => b.q - a.q);
}

/** Browsers and command-line tools get indented JSON, as do those who ask. */
function isPretty(userAgent: string | undefined, query: readonly (readonly [string, string])[]): boolean {
  const asked = query.length > 0 ? queryValue(query, 'pretty') : undefined;
  if (asked !== undefined) return isTrue(asked);
  return userAgent !== undefined && (userAgent.startsWith('curl') || userAgent.startsWith('Wget') || userAgent.startsWith('Mozilla/5.0'));
}

export type BodyFormat = {format: Format; mediaType: string};

/** @throws StatusError 415 */
export function bodyFormat(contentType: string | undefined): BodyFormat {
  const mediaType = (contentType ?? '').split(';')[0]!.trim().toLowerCase();
  if (!contentType || mediaType === 'application/json') return {format: 'json', mediaType: 'application/json'};
  const format = mediaTypes[mediaType];
  if (format) return {format, mediaType};
  throw unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${Object.values(nameOf).join(', ')}`,
  );
}
