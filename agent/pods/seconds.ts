/**
 * Seconds as a specification may give them: up to more than timers take. A timer that is set beyond its range fires at once, which is the
 * opposite of what was asked for.
 */

/** Ten days: two of them together still fit into a timer's 31 bits of milliseconds. To whoever asked for longer it is the same. */
export const mostSeconds = 10 * 24 * 3600;

export const bounded = (seconds: number): number => Math.min(Math.max(Number.isFinite(seconds) ? seconds : mostSeconds, 0), mostSeconds);
