/**
 * Which images go when the disk that they lie on is too full: those that nothing uses, the longest unused first, until enough is free. Decides
 * and remembers; collector.ts looks and removes.
 */
import type {Container, Image} from '../runtime/runtime.ts';
import {parseImage} from './reference.ts';

export interface CollectionPolicy {
  /** Of the disk, in percent: from this on images go... */
  high: number;
  /** ...until it is back at this. */
  low: number;
  /** An image that was just pulled is wanted by a container that is about to be made. */
  minAgeMs: number;
}

export interface DiskUse {
  totalBytes: number;
  availableBytes: number;
}

interface Seen {
  firstAt: number;
  usedAt: number;
}

/** What has to stay although the runtime does not say so. */
export interface Kept {
  /** All of the runtime's, not only ours: others' images are in use as well. */
  containers: readonly Container[];
  /** By name, as pods and the runtime's sandboxes ask for them. */
  names: readonly string[];
}

export class ImageRecords {
  readonly #seen = new Map<string, Seen>();

  /** Images that may go, the first to go first. */
  candidates(images: readonly Image[], kept: Kept, now: number, minAgeMs: number): Image[] {
    const used = namesOf(kept);
    const ids = new Set(images.map(({id}) => id));
    for (const id of this.#seen.keys()) if (!ids.has(id)) this.#seen.delete(id);
    const free = images.filter((image) => {
      const seen = this.#seen.get(image.id) ?? {firstAt: now, usedAt: 0};
      this.#seen.set(image.id, seen);
      const isUsed = [image.id, ...image.repoTags, ...image.repoDigests].some((name) => used.has(name));
      if (isUsed) seen.usedAt = now;
      return !isUsed && !image.pinned && image.id !== '' && now - seen.firstAt >= minAgeMs;
    });
    const order = (image: Image) => this.#seen.get(image.id)!;
    return free.sort((a, b) => order(a).usedAt - order(b).usedAt || order(a).firstAt - order(b).firstAt);
  }
}

function namesOf({containers, names}: Kept): Set<string> {
  const used = new Set(containers.flatMap(({image, imageRef}) => [image.image, imageRef]).filter(Boolean));
  for (const name of names) {
    used.add(name);
    for (const whole of wholeNames(name)) used.add(whole);
  }
  return used;
}

/** As the runtime writes what a specification abbreviates. */
function wholeNames(name: string): string[] {
  try {
    const {reference, registry, repository} = parseImage(name);
    const suffix = /(?:@[^@]+|:[^:/@]+)$/.exec(reference)?.[0] ?? '';
    return [reference, `${registry}/${repository}${suffix}`];
  } catch {
    return [];
  }
}

/** How much to free; 0: nothing. The disk may claim more room than it has. */
export function bytesToFree({totalBytes, availableBytes}: DiskUse, {high, low}: CollectionPolicy): number {
  const available = Math.min(availableBytes, totalBytes);
  return usedPercent({totalBytes, availableBytes}) < high ? 0 : Math.floor((totalBytes * (100 - low)) / 100) - available;
}

export const usedPercent = ({totalBytes, availableBytes}: DiskUse): number =>
  100 - Math.floor((Math.min(availableBytes, totalBytes) * 100) / totalBytes);
