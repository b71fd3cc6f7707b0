/** As much of tar as an image needs: files, folders and links, in memory. */

const blockBytes = 512;

export interface Entry {
  path: string;
  mode?: number;
  body?: Buffer;
  /** Where a symbolic link leads. */
  link?: string;
}

/** A path that ends in a slash is a folder. */
export function tar(entries: readonly Entry[]): Buffer {
  const blocks = entries.flatMap((entry) => {
    const body = entry.body ?? Buffer.alloc(0);
    return [header(entry, body.length), body, Buffer.alloc(-body.length & (blockBytes - 1))];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]);
}

function header({path, mode, link}: Entry, size: number): Buffer {
  const block = Buffer.alloc(blockBytes);
  const number = (value: number, at: number, width: number) => block.write(value.toString(8).padStart(width - 1, '0'), at);
  const kind = link !== undefined ? '2' : path.endsWith('/') ? '5' : '0';
  block.write(path, 0, 100);
  number(mode ?? (kind === '0' ? 0o644 : 0o755), 100, 8);
  number(0, 108, 8);
  number(0, 116, 8);
  number(size, 124, 12);
  number(0, 136, 12);
  block.write(kind, 156);
  block.write(link ?? '', 157, 100);
  block.write('ustar\x0000', 257);
  // The sum is taken over a header whose own field holds spaces.
  block.fill(' ', 148, 156);
  number(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return block;
}
