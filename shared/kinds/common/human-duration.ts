/** Elapsed time as tables show it: fewer units the longer it is. */

const secondMs = 1000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
/** The reference's durations are nanoseconds in 64 bits and stick at the end. */
const longestMs = 9_223_372_036_854;

/** `ms` may be fractional or negative; up to two seconds in the future count as now, because clocks differ. */
export function humanDuration(ms: number): string {
  const length = Math.min(Math.max(ms, -longestMs), longestMs);
  const seconds = Math.trunc(length / secondMs);
  if (seconds < -1) return '<invalid>';
  if (seconds < 120) return `${Math.max(seconds, 0)}s`;
  const minutes = Math.trunc(length / minuteMs);
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.trunc(length / hourMs);
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.trunc(hours / 24);
  if (days < 8) return pair(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  const years = Math.trunc(days / 365);
  return years < 8 ? pair(years, 'y', days % 365, 'd') : `${years}y`;
}

const pair = (large: number, largeUnit: string, small: number, smallUnit: string): string =>
  small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
