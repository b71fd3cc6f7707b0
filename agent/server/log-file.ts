/**
 * A container's log as the runtime writes it: a line each with time, stream and whether it is a part. Read from a place in it to its end, and on
 * as it grows; through rotations, without loss.
 */
import {type FSWatcher, watch} from 'node:fs';
import {type FileHandle, open, stat} from 'node:fs/promises';

export interface LogOptions {
  follow: boolean;
  timestamps: boolean;
  /** Lines from the end. */
  tail: number | undefined;
  /** Only what is not older, ms since the epoch. */
  since: number | undefined;
  limitBytes: number | undefined;
  stream?: 'stdout' | 'stderr' | undefined;
}

const chunkBytes = 64 * 1024;
/** Where the system tells nothing of a change, it is looked for. */
const lookEveryMs = 1000;

/** `isOver`: the container has ended, and what is in the file is all. */
export async function* readLog(path: string, options: LogOptions, isOver: () => boolean, signal: AbortSignal): AsyncGenerator<Buffer> {
  let file = await open(path);
  let left = options.limitBytes ?? Number.POSITIVE_INFINITY;
  try {
    let position = options.tail === undefined ? 0 : await tailStart(file, options.tail);
    let rest = Buffer.alloc(0);
    const change = new Change(path);
    let next: FileHandle | undefined;
    let seenAt = 0;
    let isLast = false;
    try {
      for (;;) {
        // Asked first: what was written before the end is read after it.
        const over = isOver();
        const {bytesRead, buffer} = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, position);
        if (signal.aborted) return;
        if (bytesRead > 0) {
          position += bytesRead;
          // Still written to: what comes after is worth waiting for.
          if (next) seenAt = performance.now();
          isLast = false;
          const whole = rest.length > 0 ? Buffer.concat([rest, buffer.subarray(0, bytesRead)]) : buffer.subarray(0, bytesRead);
          const end = whole.lastIndexOf(10) + 1;
          rest = Buffer.from(whole.subarray(end));
          const out = format(whole.subarray(0, end), options);
          if (out.length === 0) continue;
          yield out.length > left ? out.subarray(0, left) : out;
          left -= out.length;
          if (left <= 0) return;
          continue;
        }
        if (!options.follow) return;
        if (isLast) {
          await file.close();
          file = next!;
          next = undefined;
          isLast = false;
          position = 0;
          rest = Buffer.alloc(0);
          continue;
        }
        if (!next) {
          next = await successor(path, file);
          if (next) {
            seenAt = performance.now();
            change.watch();
          }
        }
        // A new file is there before the runtime has let go of the old one: when it writes into the new one, the old one is read a last time.
        if (next && (over || performance.now() - seenAt >= lookEveryMs || (await next.stat()).size > 0)) {
          isLast = true;
          continue;
        }
        if (over) return;
        await change.wait(signal);
      }
    } finally {
      change.close();
      await next?.close();
    }
  } finally {
    await file.close();
  }
}

/** The file that has taken the path's place, if another has. */
async function successor(path: string, file: FileHandle): Promise<FileHandle | undefined> {
  const [mine, theirs] = await Promise.all([file.stat(), stat(path).catch(() => undefined)]);
  return theirs && theirs.ino !== mine.ino ? open(path).catch(() => undefined) : undefined;
}

class Change {
  readonly #path: string;
  #watcher: FSWatcher | undefined;
  #happened = false;
  #wake = () => {};

  constructor(path: string) {
    this.#path = path;
    this.watch();
  }

  watch(): void {
    this.#watcher?.close();
    try {
      this.#watcher = watch(this.#path, () => this.#note());
      this.#watcher.on('error', () => {});
    } catch {
      this.#watcher = undefined;
    }
  }

  async wait(signal: AbortSignal): Promise<void> {
    if (!this.#happened)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, lookEveryMs);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
        signal.addEventListener('abort', this.#wake, {once: true});
      });
    signal.removeEventListener('abort', this.#wake);
    this.#happened = false;
  }

  close(): void {
    this.#watcher?.close();
  }

  #note(): void {
    this.#happened = true;
    this.#wake();
  }
}

/** Where the last so many lines begin. */
async function tailStart(file: FileHandle, lines: number): Promise<number> {
  const {size} = await file.stat();
  if (lines === 0) return size;
  let found = 0;
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - chunkBytes);
    const {buffer, bytesRead} = await file.read(Buffer.allocUnsafe(end - start), 0, end - start, start);
    for (let at = bytesRead - 1; at >= 0; at--) {
      // The newline that ends the file begins no line.
      if (buffer[at] !== 10 || start + at === size - 1) continue;
      found += 1;
      if (found === lines) return start + at + 1;
    }
    end = start;
  }
  return 0;
}

const space = 32;
const partial = 0x50;

/** Whole lines of the file as the reader wants them. */
function format(lines: Buffer, {timestamps, since, stream}: LogOptions): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < lines.length; ) {
    const end = lines.indexOf(10, at);
    const time = lines.indexOf(space, at);
    const afterStream = lines.indexOf(space, time + 1);
    const afterTag = lines.indexOf(space, afterStream + 1);
    if (time < 0 || time > end || afterStream < 0 || afterStream > end || afterTag < 0 || afterTag > end) {
      at = end + 1;
      continue;
    }
    const isPart = lines[afterStream + 1] === partial;
    const wanted =
      (since === undefined || Date.parse(lines.toString('latin1', at, time)) >= since) &&
      (stream === undefined || lines.toString('latin1', time + 1, afterStream) === stream);
    if (wanted) {
      if (timestamps) parts.push(lines.subarray(at, time + 1));
      parts.push(lines.subarray(afterTag + 1, isPart ? end : end + 1));
    }
    at = end + 1;
  }
  return Buffer.concat(parts);
}
