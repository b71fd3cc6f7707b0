/** The log of a function: lines of JSON, as the platform's own are. */
import type {Log} from '../../shared/api.ts';
import {doors} from './doors.ts';

const write =
  (level: string) =>
  (fields: object, message: string): void =>
    doors.writeLine({timestamp: new Date(doors.clock.now()).toISOString(), level, message, ...fields});

export const log: Log = {debug() {}, info: write('INFO'), warn: write('WARN'), error: write('ERROR')};
