/**
 * What a batch of the log's stream rings for. Only the keys and the type are looked at: what changed is read from the log.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
 */
import {isConfiguration} from '../../shared/storage/configuration.ts';
import {unpack} from '../../shared/storage/dynamo/body.ts';

export interface Ring {
  type: string;
  /** Whether an object went, or is on its way out: then others may have to follow. */
  goes: boolean;
  /** Of the first record of the type: where the stream is to go on when it could not be done. */
  sequenceNumber: string;
}

export interface BatchResult {
  batchItemFailures: {itemIdentifier: string}[];
}

interface Image {
  [attribute: string]: {S?: string; B?: string} | undefined;
}

/** Each type once. Records of other clusters in the table, and fillers, which change nothing, are passed over. @throws Error for what is no batch */
export function ringsOf(event: unknown, cluster: string): Ring[] {
  const {Records} = (event ?? {}) as {Records?: unknown};
  if (!Array.isArray(Records)) throw new Error('not a batch of a DynamoDB stream: it has no Records');
  const rings = new Map<string, Ring>();
  for (const record of Records as {dynamodb?: {Keys?: Image; NewImage?: Image; SequenceNumber?: unknown}}[]) {
    const {Keys, NewImage, SequenceNumber} = record?.dynamodb ?? {};
    const pk = Keys?.['pk']?.S;
    if (pk === undefined || typeof SequenceNumber !== 'string')
      throw new Error('not a batch of the log: a record has no pk or no SequenceNumber');
    const type = NewImage?.['type']?.S;
    const operation = NewImage?.['op']?.S;
    if (!pk.startsWith(`${cluster}|l|`) || type === undefined || operation === undefined) continue;
    const group = pk.split('|')[2];
    if (group !== type && !isConfiguration(type)) throw new Error(`a record of ${type} is in the log of ${group}`);
    const known = rings.get(type);
    const goes = operation === 'd' || (operation === 'u' && isLeaving(NewImage));
    if (known) known.goes ||= goes;
    else rings.set(type, {type, goes, sequenceNumber: SequenceNumber});
  }
  return [...rings.values()];
}

const mark = Buffer.from('"deletionTimestamp":');

/** A body that lies elsewhere is not fetched to know: it may be. */
function isLeaving(image: Image | undefined): boolean {
  const packed = image?.['body']?.B;
  if (packed === undefined) return true;
  return Buffer.from(unpack(Buffer.from(packed, 'base64')).image).includes(mark);
}
