/** The log of a function: lines of JSON, as the platform's own are. */
import type {Log} from '../../shared/api.ts';

/** Past the console, which the runtime gives a frame of its own: metrics in a line count only where the line is theirs alone. */
export const writeLine = (line: object): void => {
  process.stdout.write(`${JSON.stringify(line)}\n`);
};

const write =
  (level: string) =>
  (fields: object, message: string): void =>
    writeLine({timestamp: new Date().toISOString(), level, message, ...fields});

export const log: Log = {debug() {}, info: write('INFO'), warn: write('WARN'), error: write('ERROR')};
