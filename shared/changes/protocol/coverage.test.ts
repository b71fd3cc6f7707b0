/** A sender in pages, subscribers that come and go: no frame may claim what was not sent. All orders of a few steps are tried. */
import {expect, test} from 'vitest';
import {coveredFrom} from './coverage.ts';

interface State {
  head: number;
  /** Sent through, by the log. */
  position: number;
  /** A page that was read and is not sent yet. */
  page: {start: number; end: number} | undefined;
  last: number | undefined;
  subscribed: {since: number | undefined} | undefined;
  frames: {from: number; to: number; revisions: number[]}[];
}

const steps: Record<string, (state: State) => State | undefined> = {
  write: (state) => (state.head < 6 ? {...state, head: state.head + 1} : undefined),
  subscribe: (state) => (state.subscribed ? undefined : {...state, subscribed: {since: undefined}}),
  settle: (state) => (state.subscribed?.since === undefined && state.subscribed ? {...state, subscribed: {since: state.head}} : undefined),
  leave: (state) => (state.subscribed ? {...state, subscribed: undefined} : undefined),
  read: (state) => (state.page || state.position === state.head ? undefined : {...state, page: {start: state.position, end: state.head}}),
  send(state) {
    if (!state.page) return undefined;
    const {start, end} = state.page;
    const next = {...state, page: undefined, position: end};
    if (!state.subscribed) return next;
    const revisions = Array.from({length: end - start}, (_, at) => start + 1 + at);
    const from = coveredFrom(start, state.last, [state.subscribed.since]);
    return {...next, last: end, frames: [...state.frames, {from, to: end, revisions}]};
  },
};

test('whatever order things happen in, a frame holds all that its range does, or what was sent before', () => {
  const start: State = {head: 1, position: 1, page: undefined, last: undefined, subscribed: undefined, frames: []};
  const seen = new Set<string>();
  const waiting = [start];
  let checked = 0;
  while (waiting.length > 0) {
    const state = waiting.pop()!;
    const key = JSON.stringify(state);
    if (seen.has(key)) continue;
    seen.add(key);
    const frame = state.frames.at(-1);
    if (frame) {
      checked++;
      // In (from, to] every revision is in this frame; each earlier one of the range would have been sent on the topic already.
      for (let revision = frame.from + 1; revision <= frame.to; revision++) expect(frame.revisions).toContain(revision);
    }
    if (state.frames.length === 3) continue;
    for (const step of Object.values(steps)) {
      const next = step(state);
      if (next) waiting.push(next);
    }
  }
  expect(checked).toBeGreaterThan(500);
});

test('a quiet topic that was watched all the time goes on from what was last sent', () => {
  expect(coveredFrom(90, 50, [40, undefined])).toBe(50);
  expect(coveredFrom(90, undefined, [40, 60])).toBe(40);
  expect(coveredFrom(90, 50, [undefined])).toBe(90);
  expect(coveredFrom(90, 50, [80])).toBe(80);
});
