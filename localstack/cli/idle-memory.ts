/**
 * Gives memory back while nobody asks for anything. V8 left alone keeps what a busy minute needed, up to several times what lives;
 * told to keep little at all times, it spends a third more time on each write. So it is told only while there is nothing to do.
 */
import {performance} from 'node:perf_hooks';
import {getHeapStatistics, setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';

const intervalMs = 2_000;
/** Share of an interval in which the event loop worked. */
const idleBelow = 0.05;
/**
 * The second collection comes this many idle intervals after the first. V8 takes space away from the young generation, tens of MiB
 * after a busy minute, only if little was allocated in the five seconds before; and what it counts begins with the last collection.
 */
const restIntervals = 3;
/** Less than this is not worth a pause. */
const worthBytes = 6 * 1024 * 1024;
/** A full collection stops everything, for about 1 ms per MiB that lives: nobody should notice it. */
const maxHeapBytes = 128 * 1024 * 1024;

const keepLittle = (on: boolean): void => setFlagsFromString(on ? '--optimize-for-size' : '--no-optimize-for-size');

/** From the first line of the program on: what a start leaves behind is mostly garbage. */
export const startSmall = (): void => keepLittle(true);

/** Once the start is over. Lasts as long as the process, and does not keep it alive. */
export function collectWhenIdle(): void {
  keepLittle(false);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let keptBytes = 0;
  /** Idle intervals until the second collection, in a row; 0 when none is due. */
  let rest = 0;
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const {utilization} = performance.eventLoopUtilization(now, before);
    before = now;
    if (utilization > idleBelow) {
      if (rest > 0) rest = restIntervals;
      return;
    }
    const heldBytes = held();
    const again = rest > 0 && --rest === 0;
    if (!again && heldBytes < keptBytes + worthBytes) return;
    if (heldBytes > maxHeapBytes) return;
    if (!again) rest = restIntervals;
    keepLittle(true);
    collect();
    keepLittle(false);
    keptBytes = held();
  }, intervalMs);
  timer.unref();
}

function held(): number {
  const {total_heap_size: heap, external_memory: outside} = getHeapStatistics();
  return heap + outside;
}
