/** How often probes ended how, and how long they took: kept while the agent runs, told by /metrics/probes under the kubelet's names. */
import type {Pod} from '../pods/pod.ts';
import {type Labels, type Sample, Text} from './prometheus.ts';

/** Prometheus' usual ones, in seconds. */
const bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const results: Readonly<Record<string, string>> = {success: 'successful', failure: 'failed'};
/** Of pods that went long ago nobody asks. */
const maxKept = 5_000;

interface Duration {
  labels: Labels;
  counts: number[];
  sum: number;
  count: number;
}

export class ProbeCounts {
  readonly #totals = new Map<string, {labels: Labels; value: number}>();
  readonly #durations = new Map<string, Duration>();

  count(kind: string, {metadata}: Pod, container: string, result: string, seconds: number): void {
    const {namespace, name: pod, uid} = metadata;
    const probeType = `${kind[0]!.toUpperCase()}${kind.slice(1)}`;
    const of: Labels = {container, namespace, pod};
    const key = [uid, container, kind].join('\0');
    const total = need(this.#totals, `${key}\0${result}`, () => ({
      labels: {...of, pod_uid: uid, probe_type: probeType, result: results[result] ?? 'unknown'},
      value: 0,
    }));
    total.value += 1;
    const duration = need(this.#durations, key, () => ({
      labels: {...of, probe_type: probeType},
      counts: bounds.map(() => 0),
      sum: 0,
      count: 0,
    }));
    duration.count += 1;
    duration.sum += seconds;
    bounds.forEach((bound, at) => {
      if (seconds <= bound) duration.counts[at]! += 1;
    });
  }

  text(): string {
    const durations = [...this.#durations.values()];
    return new Text()
      .histogram('prober_probe_duration_seconds', 'Time that probes took.', bounds, durations)
      .family('prober_probe_total', 'counter', 'Probes by result.', [...this.#totals.values()] satisfies Sample[])
      .toString();
  }
}

/** The oldest makes room. */
function need<T>(map: Map<string, T>, key: string, make: () => T): T {
  let found = map.get(key);
  if (!found) {
    if (map.size >= maxKept) map.delete(map.keys().next().value!);
    found = make();
    map.set(key, found);
  }
  return found;
}
