/**
 * Gives memory back when the node is quiet: after a hundred starts V8 keeps what they needed, several times what lives. One collection once
 * nothing has happened for a while; a busy agent is left alone.
 */
import {performance} from 'node:perf_hooks';
import {getHeapStatistics, setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';

const lookEveryMs = 5_000;
/** Share of an interval in which the event loop worked. */
const quietBelow = 0.03;
/** V8 takes room from the young generation only where little was allocated since the collection before: hence a second one. */
const collections = 2;
/** Less than this is not worth a pause. */
const worthBytes = 4 * 1024 * 1024;

/** Room over speed: an agent has little to do, on a machine that is there for others. */
export const startSmall = (): void => setFlagsFromString('--optimize-for-size');

export function collectWhenQuiet(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  let keptBytes = 0;
  let due = 0;
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization();
    const {utilization} = performance.eventLoopUtilization(now, before);
    before = now;
    if (utilization > quietBelow) return;
    const held = getHeapStatistics().total_heap_size;
    if (held > keptBytes + worthBytes) due = collections;
    if (due === 0) return;
    due -= 1;
    collect();
    keptBytes = getHeapStatistics().total_heap_size;
  }, lookEveryMs);
  timer.unref();
}
