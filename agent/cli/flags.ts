/** The command line by its table (data/flags.json): names to typed values. What a value means is up to settings.ts and validate.ts. */
import table from './data/flags.json' with {type: 'json'};
import {ownFlags} from './own-flags.ts';
import {readValue, type Value} from './values.ts';

export interface Flag {
  name: string;
  section: string;
  type: string;
  default?: unknown;
  aliasOf?: string;
  deprecated?: boolean;
  removalPlanned?: string;
  stage?: string;
  shorthand?: string;
  values?: string[];
  range?: [number, number];
  min?: number;
  repeatable?: boolean;
  needs?: string[];
  zeroMeans?: string | number;
  negativeMeans?: string;
  gate?: string;
}

export const flags = [...table.flags, ...ownFlags] as unknown as readonly Flag[];
export const featureGates: ReadonlySet<string> = new Set(['AllAlpha', 'AllBeta', ...table.featureGates.map(({name}) => name)]);
const byName = new Map(flags.map((flag) => [flag.name, flag]));
const byShorthand = new Map(flags.flatMap((flag) => (flag.shorthand ? [[flag.shorthand, flag] as const] : [])));

/** `<cloud>-container-registry-config` stands for a name for each cloud. */
const cloudFlag = byName.get('<cloud>-container-registry-config')!;
const cloudName = /^[a-z0-9]+-container-registry-config$/;

/** As the flag is spelled: underscores are dashes. */
export const flagNamed = (name: string): Flag | undefined => {
  const normal = name.replaceAll('_', '-');
  return byName.get(normal) ?? (cloudName.test(normal) ? cloudFlag : undefined);
};

export interface Parsed {
  /** Only what was given, by the flag's own name; aliases are resolved. */
  values: Map<string, Value>;
  /** One line for each thing that is wrong. */
  errors: string[];
  /** Lines for standard error. */
  warnings: string[];
}

export function parseArguments(argv: readonly string[]): Parsed {
  const result: Parsed = {values: new Map(), errors: [], warnings: []};
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index]!;
    if (!argument.startsWith('-') || argument === '-') {
      result.errors.push(`unknown command: ${argument}`);
      continue;
    }
    const [spelled, inline] = split(argument);
    const isShort = !argument.startsWith('--');
    const flag = isShort && spelled.length === 1 ? byShorthand.get(spelled) : flagNamed(spelled);
    if (!flag) {
      result.errors.push(
        isShort && spelled.length === 1 ? `unknown shorthand flag: '${spelled}' in ${argument}` : `unknown flag: --${spelled}`,
      );
      continue;
    }
    const bare = inline === undefined && takesNoValue(flag);
    const text = inline ?? (bare ? 'true' : argv[++index]);
    if (text === undefined) result.errors.push(`flag needs an argument: --${flag.name}`);
    else take(flag, text, result);
  }
  return result;
}

const takesNoValue = ({type}: Flag): boolean => type === 'bool' || type.startsWith('version');

function split(argument: string): [name: string, value: string | undefined] {
  const rest = argument.replace(/^--?/, '');
  const equals = rest.indexOf('=');
  return equals < 0 ? [rest, undefined] : [rest.slice(0, equals), rest.slice(equals + 1)];
}

function take(flag: Flag, text: string, {values, errors, warnings}: Parsed): void {
  let value: Value;
  try {
    value = readValue(flag, text);
  } catch (error) {
    const spelled = flag.shorthand ? `-${flag.shorthand}, --${flag.name}` : `--${flag.name}`;
    errors.push(`invalid argument ${JSON.stringify(text)} for "${spelled}" flag: ${(error as Error).message}`);
    return;
  }
  const name = flag.aliasOf ?? flag.name;
  if (flag.aliasOf) warnings.push(`Flag --${flag.name} has been deprecated, Use --${flag.aliasOf}`);
  else if (flag.deprecated && !values.has(name)) warnings.push(deprecation(flag));
  const before = values.get(name);
  // Lists and maps add up over their uses.
  if (Array.isArray(before) && Array.isArray(value)) values.set(name, [...before, ...value]);
  else if (before instanceof Map && value instanceof Map) values.set(name, new Map([...before, ...value]));
  else values.set(name, value);
}

const deprecation = ({name, removalPlanned}: Flag): string =>
  removalPlanned
    ? `Flag --${name} has been deprecated, will be removed in ${removalPlanned} or later.`
    : `Flag --${name} has been deprecated, This parameter should be set via the config file specified by the nodeagent's --config flag.`;
