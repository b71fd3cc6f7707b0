/** The wire facts as data files, read when first asked for. The one place in shared/ that knows a file system. */
import {readFileSync} from 'node:fs';

const cache = new Map<string, unknown>();

/** `name`: a file below ./data, without ending. The build copies ./data beside the bundle, so the same relative place holds there. */
export function loadData(name: string): unknown {
  let data = cache.get(name);
  if (data === undefined) {
    data = JSON.parse(readFileSync(new URL(`./data/${name}.json`, import.meta.url), 'utf8'));
    cache.set(name, data);
  }
  return data;
}
