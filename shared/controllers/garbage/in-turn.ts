/** Work on many things, some of them at a time. */
const atOnce = 8;

/** False when the signal came before all had begun. @throws the first failure, when the others are done */
export async function inTurn<T>(items: readonly T[], work: (item: T) => Promise<void>, signal?: AbortSignal): Promise<boolean> {
  const next = items.values();
  const failures: unknown[] = [];
  let stopped = false;
  const worker = async (): Promise<void> => {
    for (const item of next) {
      if (signal?.aborted) stopped = true;
      if (stopped) return;
      await work(item).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({length: Math.min(atOnce, items.length)}, worker));
  if (failures.length > 0) throw failures[0];
  return !stopped;
}
