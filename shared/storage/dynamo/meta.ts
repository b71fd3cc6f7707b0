/** What the tables say of themselves: the format version, and the types that were ever written. */

import {StoreError} from '../contract.ts';
import type {Item} from './items.ts';
import type {Place} from './place.ts';
import type {Deadline} from './retry.ts';

/** Raised by what former releases cannot read. Each release reads the former's. */
export const storeFormat = 1;

export class Meta {
  readonly #place: Place;
  #types = new Set<string>();

  constructor(place: Place) {
    this.#place = place;
  }

  /** @throws StoreError NewerFormat */
  async open(deadline: Deadline): Promise<void> {
    let item = await this.#read(deadline);
    if (item?.['format'] === undefined) {
      const {calls, tables, patience} = this.#place;
      const {Attributes: made} = await patience.repeat(deadline, () =>
        calls.updateItem({
          TableName: tables.objects,
          Key: this.#key(),
          UpdateExpression: 'SET #format = if_not_exists(#format, :format)',
          ExpressionAttributeNames: {'#format': 'format'},
          ExpressionAttributeValues: {':format': {N: String(storeFormat)}},
          ReturnValues: 'ALL_NEW',
        }),
      );
      item = made;
    }
    const format = Number(item!['format']!.N);
    if (format > storeFormat)
      throw new StoreError('NewerFormat', `the tables have format ${format}; this release reads up to ${storeFormat}`);
    this.#types = new Set(item!['types']?.SS);
  }

  /** Every type that was ever written, by whomever. */
  async types(deadline: Deadline): Promise<string[]> {
    for (const type of (await this.#read(deadline))?.['types']?.SS ?? []) this.#types.add(type);
    return [...this.#types].sort();
  }

  /** Before the first write of a type: once in its life, but for processes that have not heard of it. */
  async add(type: string, deadline: Deadline): Promise<void> {
    if (this.#types.has(type)) return;
    const {calls, tables, patience} = this.#place;
    await patience.repeat(deadline, () =>
      calls.updateItem({
        TableName: tables.objects,
        Key: this.#key(),
        UpdateExpression: 'ADD #types :type',
        ExpressionAttributeNames: {'#types': 'types'},
        ExpressionAttributeValues: {':type': {SS: [type]}},
      }),
    );
    this.#types.add(type);
  }

  #key(): Item {
    return {pk: {S: this.#place.keys.meta()}, sk: {S: 'm'}};
  }

  async #read(deadline: Deadline): Promise<Item | undefined> {
    const {calls, tables, patience} = this.#place;
    const request = {TableName: tables.objects, Key: this.#key(), ConsistentRead: true};
    return (await patience.repeat(deadline, () => calls.getItem(request))).Item;
  }
}
