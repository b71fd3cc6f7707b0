/**
 * Loaded before the agent: its wall clock is off by as many milliseconds as the file in SHIFTED_CLOCK says, from the moment on at which it says so.
 * Timers go on as they do when a machine's clock is set.
 */
import {readFileSync, watchFile} from 'node:fs';

const file = process.env.SHIFTED_CLOCK;
const Real = Date;
let offset = 0;
const read = () => {
  try {
    offset = Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    offset = 0;
  }
};
read();
watchFile(file, {interval: 100, persistent: false}, read);

globalThis.Date = class extends Real {
  constructor(...given) {
    if (given.length === 0) super(Real.now() + offset);
    else super(...given);
  }

  static now() {
    return Real.now() + offset;
  }
};
