/**
 * What a batch of the log's stream rings for. Most look at the type alone, and read what changed from the log.
 *
 * @see https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html
 */
import {isConfiguration} from '../../shared/storage/configuration.ts';
import type {Operation, Revision} from '../../shared/storage/contract.ts';
import {unpack} from '../../shared/storage/dynamo/body.ts';

export interface Ring {
  type: string;
  /** Whether an object went, or is on its way out: then others may have to follow. */
  goes: boolean;
  /** Of the first record of the type: where the stream is to go on when it could not be done. */
  sequenceNumber: string;
}

/** A change as its record tells it. */
export interface Rung {
  type: string;
  key: string;
  operation: Operation;
  revision: Revision;
  /** Undefined where it was too large for the record: the log has it. */
  image(): Uint8Array | undefined;
  sequenceNumber: string;
}

export interface BatchResult {
  batchItemFailures: {itemIdentifier: string}[];
}

interface Image {
  [attribute: string]: {S?: string; N?: string; B?: string} | undefined;
}

const operations: Record<string, Operation> = {c: 'create', u: 'update', d: 'delete'};

/** Records of other clusters in the table, and fillers, which change nothing, are passed over. @throws Error for what is no batch */
export function changesOf(event: unknown, cluster: string): Rung[] {
  const {Records} = (event ?? {}) as {Records?: unknown};
  if (!Array.isArray(Records)) throw new Error('not a batch of a DynamoDB stream: it has no Records');
  const changes: Rung[] = [];
  for (const record of Records as {dynamodb?: {Keys?: Image; NewImage?: Image; SequenceNumber?: unknown}}[]) {
    const {Keys, NewImage, SequenceNumber} = record?.dynamodb ?? {};
    const pk = Keys?.['pk']?.S;
    if (pk === undefined || typeof SequenceNumber !== 'string')
      throw new Error('not a batch of the log: a record has no pk or no SequenceNumber');
    const type = NewImage?.['type']?.S;
    const operation = operations[NewImage?.['op']?.S ?? ''];
    if (!pk.startsWith(`${cluster}|l|`) || type === undefined || operation === undefined) continue;
    const group = pk.split('|')[2];
    if (group !== type && !isConfiguration(type)) throw new Error(`a record of ${type} is in the log of ${group}`);
    const packed = NewImage?.['body']?.B;
    changes.push({
      type,
      operation,
      key: NewImage?.['key']?.S ?? '',
      revision: Number(Keys?.['sk']?.N),
      image: () => (packed === undefined ? undefined : unpack(Buffer.from(packed, 'base64')).image),
      sequenceNumber: SequenceNumber,
    });
  }
  return changes;
}

/** Each type once. */
export function ringsIn(changes: readonly Rung[]): Ring[] {
  const rings = new Map<string, Ring>();
  for (const change of changes) {
    const known = rings.get(change.type);
    const goes = known?.goes || change.operation === 'delete' || (change.operation === 'update' && isLeaving(change));
    if (known) known.goes = goes;
    else rings.set(change.type, {type: change.type, goes, sequenceNumber: change.sequenceNumber});
  }
  return [...rings.values()];
}

export const ringsOf = (event: unknown, cluster: string): Ring[] => ringsIn(changesOf(event, cluster));

const mark = Buffer.from('"deletionTimestamp":');

/** A body that lies elsewhere is not fetched to know: it may be. */
function isLeaving({image}: Rung): boolean {
  const bytes = image();
  return !bytes || Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(mark);
}
