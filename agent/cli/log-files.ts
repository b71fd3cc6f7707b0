/**
 * Where lines of the log go: standard error (--logtostderr), or one file (--log-file), or a file for each severity (--log-dir), which has the
 * lines of the severer ones too. Written now and then (--log-flush-frequency); what is severe at once.
 */
import {closeSync, fstatSync, openSync, renameSync, rmSync, symlinkSync, writeSync} from 'node:fs';
import {hostname, tmpdir, userInfo} from 'node:os';
import {basename, join} from 'node:path';
import type {Clock} from '../../shared/clock.ts';
import type {Severity} from './log.ts';
import type {Settings} from './settings.ts';

export interface LogSink {
  write(severity: Severity, line: string): void;
  flush(): void;
}

export interface LogSinkOptions {
  settings: Settings;
  clock: Clock;
  stderr?: (line: string) => void;
}

const names = ['INFO', 'WARNING', 'ERROR'] as const;
const error: Severity = 2;
const program = 'nodeagent';
/** What is not written yet; more is written at once. */
const maxHeldCharacters = 256 * 1024;

/** @throws Error for a file that cannot be opened */
export function openLogSink({settings, clock, stderr = (line) => void process.stderr.write(line)}: LogSinkOptions): LogSink {
  if (settings.bool('logtostderr')) return {write: (_, line) => stderr(line), flush: () => {}};
  const also = settings.bool('alsologtostderr') ? 0 : settings.number('stderrthreshold');
  const file = settings.text('log-file');
  const header = settings.bool('skip-log-headers') ? undefined : () => headerOf(clock.now());
  const maxBytes = settings.number('log-file-max-size') * 1024 * 1024;
  const files = file
    ? [new LogFile(() => file, maxBytes, header)]
    : names.map((name) => new LogFile(nameIn(settings.text('log-dir') || tmpdir(), name, clock), maxBytes, header, name));
  const only = settings.bool('one-output');
  const flush = (): void => {
    for (const each of files) each.flush();
  };
  const everyMs = settings.duration('log-flush-frequency');
  const later = (): void => {
    clock.after(Math.max(1, everyMs), () => {
      flush();
      later();
    });
  };
  later();
  return {
    flush,
    write(severity, line) {
      if (severity >= also) stderr(line);
      const targets = file ? files : files.slice(only ? severity : 0, severity + 1);
      for (const each of targets) each.add(line);
      if (severity === error) flush();
    },
  };
}

/** `nodeagent.host.user.log.INFO.20260102-030405.123` */
const nameIn = (folder: string, severity: string, clock: Clock) => (): string => {
  const at = new Date(clock.now()).toISOString().replace(/[-:]/g, '').replace('T', '-').slice(0, 15);
  return join(folder, `${program}.${hostname().split('.')[0]}.${userName()}.log.${severity}.${at}.${process.pid}`);
};

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown';
  }
}

const headerOf = (now: number): string =>
  `Log file created at: ${new Date(now).toISOString().slice(0, 19).replace('T', ' ').replaceAll('-', '/')}\nRunning on machine: ${hostname()}\nLog line format: [IWE]mmdd hh:mm:ss.uuuuuu pid program] msg\n`;

class LogFile {
  readonly #name: () => string;
  /** 0: as much as comes. */
  readonly #maxBytes: number;
  readonly #header: (() => string) | undefined;
  readonly #link: string | undefined;
  #path = '';
  #fd: number | undefined;
  #bytes = 0;
  #held: string[] = [];
  #heldCharacters = 0;

  constructor(name: () => string, maxBytes: number, header: (() => string) | undefined, link?: string) {
    this.#name = name;
    this.#maxBytes = maxBytes;
    this.#header = header;
    this.#link = link;
    // Of those by severity only what is needed is made.
    if (!link) this.#open();
  }

  add(line: string): void {
    this.#held.push(line);
    this.#heldCharacters += line.length;
    if (this.#heldCharacters > maxHeldCharacters) this.flush();
  }

  /** A disk that is full costs lines, and nothing else. */
  flush(): void {
    if (this.#held.length === 0) return;
    const bytes = Buffer.from(this.#held.join(''));
    this.#held = [];
    this.#heldCharacters = 0;
    try {
      if (this.#fd === undefined || (this.#maxBytes > 0 && this.#bytes > 0 && this.#bytes + bytes.length > this.#maxBytes)) this.#open();
      writeSync(this.#fd!, bytes);
      this.#bytes += bytes.length;
    } catch {
      // Nobody is left to tell.
    }
  }

  /** The first time, and when it is full: of one with a fixed name the former is kept beside it. */
  #open(): void {
    if (this.#fd !== undefined) {
      closeSync(this.#fd);
      this.#fd = undefined;
      if (!this.#link) renameSync(this.#path, `${this.#path}.old`);
    }
    this.#path = this.#name();
    this.#fd = openSync(this.#path, 'a', 0o640);
    this.#bytes = fstatSync(this.#fd).size;
    if (this.#header && this.#bytes === 0) this.#bytes += writeSync(this.#fd, this.#header());
    if (this.#link) point(join(this.#path, '..', `${program}.${this.#link}`), basename(this.#path));
  }
}

function point(link: string, target: string): void {
  try {
    rmSync(link, {force: true});
    symlinkSync(target, link);
  } catch {
    // A convenience.
  }
}
