/** The agent's own log, on standard error: a line each, as text or as JSON. */
import type {Log} from '../pods/context.ts';

export interface LogOptions {
  format: 'text' | 'json';
  /** -v: from 2 on what is done, from 4 on how. */
  verbosity: number;
  headers: boolean;
  write?: (line: string) => void;
}

type Level = 'error' | 'warn' | 'info' | 'debug';

const letters: Readonly<Record<Level, string>> = {error: 'E', warn: 'W', info: 'I', debug: 'I'};

export function openLog({format, verbosity, headers, write = (line) => void process.stderr.write(line)}: LogOptions): Log {
  const say = (level: Level, text: string, error?: unknown) => {
    const message = error === undefined ? text : `${text}: ${wordsOf(error, verbosity)}`;
    const now = new Date();
    if (format === 'json') write(`${JSON.stringify({ts: now.getTime(), v: level === 'debug' ? 4 : 0, level, msg: message})}\n`);
    else write(`${headers ? headerOf(level, now) : ''}${message}\n`);
  };
  return {
    error: (text, error) => say('error', text, error),
    warn: (text) => say('warn', text),
    info: (text) => verbosity >= 0 && say('info', text),
    debug: (text) => verbosity >= 4 && say('debug', text),
  };
}

const headerOf = (level: Level, now: Date): string => {
  const iso = now.toISOString();
  return `${letters[level]}${iso.slice(5, 7)}${iso.slice(8, 10)} ${iso.slice(11, 23)}000 ${String(process.pid).padStart(7)} nodeagent] `;
};

const wordsOf = (error: unknown, verbosity: number): string =>
  error instanceof Error ? (verbosity >= 4 && error.stack) || error.message : String(error);
