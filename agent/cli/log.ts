/** The agent's own log: a line each, as text or as JSON. Where lines go is log-files.ts's affair. */
import type {Log} from '../pods/context.ts';

/** As --stderrthreshold counts them. */
export type Severity = 0 | 1 | 2;

export interface LogOptions {
  format: 'text' | 'json';
  /** -v: from 2 on what is done, from 4 on how. */
  verbosity: number;
  headers: boolean;
  write?: (severity: Severity, line: string) => void;
}

type Level = 'error' | 'warn' | 'info' | 'debug';

const letters: Readonly<Record<Level, string>> = {error: 'E', warn: 'W', info: 'I', debug: 'I'};
const severities: Readonly<Record<Level, Severity>> = {error: 2, warn: 1, info: 0, debug: 0};
const toStderr = (_: Severity, line: string): void => void process.stderr.write(line);

export function openLog({format, verbosity, headers, write = toStderr}: LogOptions): Log {
  const say = (level: Level, text: string, error?: unknown) => {
    const message = error === undefined ? text : `${text}: ${wordsOf(error, verbosity)}`;
    const now = new Date();
    const line =
      format === 'json'
        ? JSON.stringify({ts: now.getTime(), v: level === 'debug' ? 4 : 0, level, msg: message})
        : `${headers ? headerOf(level, now) : ''}${message}`;
    write(severities[level], `${line}\n`);
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
