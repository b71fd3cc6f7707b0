/** Logs go to stderr: stdout belongs to the one line that says ready. pino is loaded only for those who want JSON. */
import type {Log} from '../../shared/api.ts';

export type LoggingFormat = 'text' | 'json';

/** From this verbosity on, debug lines too. */
const debugFrom = 2;

export async function openLog(format: LoggingFormat, verbosity: number): Promise<Log> {
  return format === 'json' ? jsonLog(verbosity) : textLog(verbosity, (line) => process.stderr.write(line));
}

async function jsonLog(verbosity: number): Promise<Log> {
  const {pino} = await import('pino');
  const logger = pino(
    {level: verbosity >= debugFrom ? 'debug' : 'info', base: undefined, timestamp: pino.stdTimeFunctions.isoTime},
    pino.destination({fd: 2, sync: true}),
  );
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  };
}

export function textLog(verbosity: number, write: (line: string) => void, now = () => new Date()): Log {
  const at = (level: string) => (fields: object, message: string) =>
    write(
      `${now().toISOString()} ${level} ${message}${Object.entries(fields)
        .map(([name, value]) => ` ${name}=${print(value)}`)
        .join('')}\n`,
    );
  const silent = (): void => {};
  return {debug: verbosity >= debugFrom ? at('debug') : silent, info: at('info'), warn: at('warn'), error: at('error')};
}

function print(value: unknown): string {
  if (value instanceof Error) return JSON.stringify(value.stack ?? value.message);
  if (typeof value === 'string') return /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
  return JSON.stringify(value) ?? String(value);
}
