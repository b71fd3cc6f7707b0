/** Cron schedules, as strictly as the reference's parser reads them, and with its words. */

interface Bounds {
  low: number;
  high: number;
  names?: Record<string, number>;
}

const byName = (names: string, from: number): Record<string, number> =>
  Object.fromEntries(names.split(' ').map((name, index) => [name, index + from]));

const fields: Bounds[] = [
  {low: 0, high: 59},
  {low: 0, high: 23},
  {low: 1, high: 31},
  {low: 1, high: 12, names: byName('jan feb mar apr may jun jul aug sep oct nov dec', 1)},
  {low: 0, high: 6, names: byName('sun mon tue wed thu fri sat', 0)},
];
const descriptors = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];

function number(text: string, names: Record<string, number> = {}): number | string {
  const named = names[text.toLowerCase()];
  if (named !== undefined) return named;
  if (!/^[+-]?\d+$/.test(text)) return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
  return Number(text) < 0 ? `negative number (${Number(text)}) not allowed: ${text}` : Number(text);
}

function range(expression: string, {low, high, names}: Bounds): string | undefined {
  const steps = expression.split('/');
  const ends = steps[0]!.split('-');
  let [start, end] = [low, high];
  const star = ends[0] === '*' || ends[0] === '?';
  if (!star) {
    const first = number(ends[0]!, names);
    if (typeof first === 'string') return first;
    start = first;
    end = first;
    if (ends.length === 2) {
      const last = number(ends[1]!, names);
      if (typeof last === 'string') return last;
      end = last;
    } else if (ends.length > 2) return `too many hyphens: ${expression}`;
  }
  let step = 1;
  if (steps.length === 2) {
    const given = number(steps[1]!);
    if (typeof given === 'string') return given;
    step = given;
    if (!star && ends.length === 1) end = high;
  } else if (steps.length > 2) return `too many slashes: ${expression}`;
  if (start < low) return `beginning of range (${start}) below minimum (${low}): ${expression}`;
  if (end > high) return `end of range (${end}) above maximum (${high}): ${expression}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${expression}`;
  return step === 0 ? `step of range should be a positive number: ${expression}` : undefined;
}

/** What is wrong with a schedule; undefined when nothing is. */
export function scheduleProblem(schedule: string): string | undefined {
  let text = schedule;
  if (text === '') return 'empty spec string';
  if (text.startsWith('TZ=') || text.startsWith('CRON_TZ=')) {
    const blank = text.indexOf(' ');
    const zone = text.slice(text.indexOf('=') + 1, blank < 0 ? text.length : blank);
    if (!isZone(zone)) return `provided bad location ${zone}: unknown time zone ${zone}`;
    text = blank < 0 ? '' : text.slice(blank).trim();
  }
  if (text.startsWith('@')) {
    if (descriptors.includes(text)) return undefined;
    if (!text.startsWith('@every ')) return `unrecognized descriptor: ${text}`;
    const duration = text.slice('@every '.length);
    return /^[+-]?(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+$/.test(duration) || duration === '0'
      ? undefined
      : `failed to parse duration ${text}: time: invalid duration ${JSON.stringify(duration)}`;
  }
  const parts = text.split(/\s+/).filter(Boolean);
  if (parts.length !== 5) return `expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]`;
  for (const [index, part] of parts.entries())
    for (const expression of part.split(',').filter(Boolean)) {
      const problem = range(expression, fields[index]!);
      if (problem) return problem;
    }
  return undefined;
}

export function isZone(name: string): boolean {
  if (name === '' || name === 'UTC' || name === 'Local') return true;
  try {
    new Intl.DateTimeFormat('en', {timeZone: name});
    return true;
  } catch {
    return false;
  }
}
