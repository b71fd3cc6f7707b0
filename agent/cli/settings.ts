/** What the agent was told, in one place: flags over the configuration file over defaults. */
import {type Flag, flags} from './flags.ts';
import {readValue, type Value} from './values.ts';

/** With a configuration file the agent is closed unless it says otherwise. */
const defaultsWithFile: Readonly<Record<string, string>> = {
  'authorization-mode': 'Webhook',
  'anonymous-auth': 'false',
  'authentication-token-webhook': 'true',
};

/** Defaults that the table gives in words. */
const ownDefaults: Readonly<Record<string, string>> = {
  'node-ip': '',
  'tls-cipher-suites': '',
  'image-service-endpoint': '',
};

export class Settings {
  readonly #values = new Map<string, Value>();
  readonly #given: ReadonlySet<string>;

  constructor(fromFlags: ReadonlyMap<string, Value>, fromFile?: ReadonlyMap<string, Value>) {
    for (const flag of flags) if (!flag.aliasOf) this.#values.set(flag.name, defaultOf(flag, fromFile !== undefined));
    for (const [name, value] of [...(fromFile ?? []), ...fromFlags]) {
      const before = name === 'feature-gates' ? this.#values.get(name) : undefined;
      this.#values.set(name, before instanceof Map && value instanceof Map ? new Map([...before, ...value]) : value);
    }
    this.#given = new Set([...(fromFile?.keys() ?? []), ...fromFlags.keys()]);
  }

  /** By a flag or in the file, even with its default. */
  isGiven(name: string): boolean {
    return this.#given.has(name);
  }

  /** Given, and something else than the default. */
  differs(name: string): boolean {
    const flag = flags.find((entry) => entry.name === name);
    return this.#given.has(name) && flag !== undefined && text(this.#values.get(name)) !== text(defaultOf(flag, false));
  }

  text(name: string): string {
    return String(this.#need(name, 'string'));
  }

  number(name: string): number {
    return this.#need(name, 'number') as number;
  }

  /** Milliseconds. */
  duration(name: string): number {
    return this.number(name);
  }

  bool(name: string): boolean {
    return this.#need(name, 'boolean') as boolean;
  }

  list(name: string): string[] {
    const value = this.#values.get(name);
    if (!Array.isArray(value)) throw new TypeError(`--${name} is no list`);
    return value;
  }

  map(name: string): ReadonlyMap<string, string> {
    const value = this.#values.get(name);
    if (!(value instanceof Map)) throw new TypeError(`--${name} is no map`);
    return value;
  }

  /** By name, for /configz. */
  all(): Record<string, unknown> {
    return Object.fromEntries([...this.#values].map(([name, value]) => [name, value instanceof Map ? Object.fromEntries(value) : value]));
  }

  #need(name: string, type: 'string' | 'number' | 'boolean'): Value {
    const value = this.#values.get(name);
    if (typeof value !== type) throw new TypeError(`--${name} is no ${type}`);
    return value as Value;
  }
}

const text = (value: Value | undefined): string => JSON.stringify(value instanceof Map ? [...value] : value);

export function defaultOf(flag: Flag, withFile: boolean): Value {
  const stated = (withFile ? defaultsWithFile[flag.name] : undefined) ?? ownDefaults[flag.name] ?? flag.default;
  if (stated === null || stated === undefined) return emptyOf(flag);
  if (Array.isArray(stated)) return stated as string[];
  return typeof stated === 'string' ? readValue(flag, stated) : (stated as Value);
}

function emptyOf({type, repeatable}: Flag): Value {
  if (type === 'bool') return false;
  if (['int32', 'int', 'uint', 'level', 'duration'].includes(type)) return 0;
  if (type.startsWith('map')) return new Map();
  return type.startsWith('list') || repeatable ? [] : '';
}
