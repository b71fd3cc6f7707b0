/** The runtime's times are finer than ours. */
const slackMs = 1000;

/**
 * How long ago something was, ms. A clock that has been set back since makes it longer ago than anything: what is held or kept for a while is let
 * go a little early then, rather than held for an hour.
 */
export const ageMs = (at: number, now: number): number => (at - now > slackMs ? Number.POSITIVE_INFINITY : Math.max(0, now - at));
