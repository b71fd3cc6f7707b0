import {Duplex} from 'node:stream';
import {expect, test} from 'vitest';
import {splice} from './splice.ts';

/** An end of a connection whose other end is the test: what is written to it waits until the test takes it. */
class End extends Duplex {
  readonly written: Buffer[] = [];
  #take: (() => void) | undefined;

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.written.push(chunk);
    this.#take = done;
  }

  takes(): void {
    const take = this.#take;
    this.#take = undefined;
    take?.();
  }
}

const turn = (): Promise<void> => new Promise(setImmediate);

test('a side that was gone before takes the other along', () => {
  for (const at of [0, 1]) {
    const ends = [new End(), new End()] as const;
    ends[at]!.destroy();
    splice(...ends);
    expect(ends.map(({destroyed}) => destroyed)).toEqual([true, true]);
  }
});

test('what a side said before it closed is handed on to a slow one', async () => {
  const [client, backend] = [new End(), new End()];
  splice(client, backend, 60_000);
  backend.push('one');
  backend.push('two');
  backend.push(null);
  await turn();
  backend.destroy();
  await turn();
  expect([client.destroyed, client.written.join()]).toEqual([false, 'one']);
  for (let taken = 0; taken < 4; taken++) {
    client.takes();
    await turn();
  }
  expect([client.writableFinished, client.written.join()]).toEqual([true, 'one,two']);
});

test('a side that is cut off cuts the other', async () => {
  for (const error of [undefined, new Error('reset')]) {
    const [client, backend] = [new End(), new End()];
    splice(client, backend);
    client.destroy(error);
    await turn();
    expect(backend.destroyed).toBe(true);
  }
});

test('one direction may end long before the other', async () => {
  const [client, backend] = [new End(), new End()];
  splice(client, backend);
  client.push(null);
  await turn();
  expect(backend.writableFinished).toBe(true);
  backend.push('still');
  await turn();
  expect(client.written.join()).toBe('still');
});
