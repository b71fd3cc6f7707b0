/** Times, in the two layouts of the API: whole seconds, and with six digits of a second. */

const timeLayout = '2006-01-02T15:04:05Z07:00';
const microTimeLayout = '2006-01-02T15:04:05.000000Z07:00';
const layoutParts = ['2006', '-', '01', '-', '02', 'T', '15', ':', '04', ':', '05'];

/** Already in normal form: by far the most common. */
const normalTime =
  /^(?!0001-01-01T00:00:00)\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;
const anyTime = /^(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)$/;

/** Null is the zero time. */
export function readTime(text: string): string | null | undefined {
  if (normalTime.test(text)) return text;
  const match = matchTime(text);
  if (!match) return undefined;
  const seconds = utcSeconds(match);
  return seconds === '0001-01-01T00:00:00' ? null : `${seconds}Z`;
}

/** With six digits of a second, at least and at most. */
export function readMicroTime(text: string): string | null | undefined {
  const match = matchTime(text);
  const fraction = match?.[7];
  if (!match || fraction === undefined || !/[.,]\d{6}(?!\d)/.test(text)) return undefined;
  const seconds = utcSeconds(match);
  return seconds === '0001-01-01T00:00:00' && fraction === '000000' ? null : `${seconds}.${fraction}Z`;
}

function matchTime(text: string): RegExpExecArray | undefined {
  const match = anyTime.exec(text);
  return match && isInRange(match) ? match : undefined;
}

function isInRange([, year, month, day, hour, minute, second, , zone]: RegExpExecArray): boolean {
  if (+month! < 1 || +month! > 12 || +day! < 1 || +day! > daysOf(+year!, +month!)) return false;
  if (+hour! > 23 || +minute! > 59 || +second! > 59) return false;
  return zone === 'Z' || (+zone!.slice(1, 3) <= 24 && +zone!.slice(4) <= 60);
}

function daysOf(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function utcSeconds([, year, month, day, hour, minute, second, , zone]: RegExpExecArray): string {
  const date = new Date(0);
  // Date.UTC takes years below 100 for those of the last century.
  date.setUTCFullYear(+year!, +month! - 1, +day!);
  date.setUTCHours(+hour!, +minute!, +second!);
  if (zone !== 'Z') {
    const minutes = +zone!.slice(1, 3) * 60 + +zone!.slice(4);
    date.setUTCMinutes(date.getUTCMinutes() - (zone!.startsWith('-') ? -minutes : minutes));
  }
  return date.toISOString().slice(0, 19);
}

export const timeFault = (text: string): string => fault(text, timeLayout);
export const microTimeFault = (text: string): string => fault(text, microTimeLayout);

/** Where Go's parser gets stuck: the first part of the layout that the text does not have. Days are counted when all has been read. */
function fault(text: string, layout: string): string {
  const quoted = quoteBytes(text);
  let rest = text;
  const stuck = (part: string): string =>
    `parsing time ${quoted} as ${quoteBytes(layout)}: cannot parse ${quoteBytes(rest)} as ${quoteBytes(part)}`;
  const range = (what: string): string => `parsing time ${quoted}: ${what} out of range`;
  for (const part of layoutParts) {
    const number = numbers[part];
    const found = number ? number.pattern.exec(rest)?.[0] : rest.startsWith(part) ? part : undefined;
    if (found === undefined) return stuck(part);
    rest = rest.slice(found.length);
    if (number && (+found < number.min || +found > number.max)) return range(number.name);
  }
  const fraction = layout === microTimeLayout ? /^[.,]\d{6}(?!\d)/.exec(rest) : /^(?:[.,]\d+)?/.exec(rest);
  if (!fraction) return stuck('.000000');
  rest = rest.slice(fraction[0].length);
  const zone = /^(?:Z|[+-](\d\d):(\d\d))/.exec(rest);
  if (!zone) return stuck('Z07:00');
  if (+(zone[1] ?? 0) > 24) return range('time zone offset hour');
  if (+(zone[2] ?? 0) > 60) return range('time zone offset minute');
  rest = rest.slice(zone[0].length);
  return rest === '' ? range('day') : `parsing time ${quoted}: extra text: ${quoteBytes(rest)}`;
}

const numbers: Readonly<Record<string, {name: string; pattern: RegExp; min: number; max: number}>> = {
  '2006': {name: 'year', pattern: /^\d{4}/, min: 0, max: 9999},
  '01': {name: 'month', pattern: /^\d\d/, min: 1, max: 12},
  '02': {name: 'day', pattern: /^\d\d/, min: 0, max: 99},
  '15': {name: 'hour', pattern: /^\d\d?/, min: 0, max: 23},
  '04': {name: 'minute', pattern: /^\d\d/, min: 0, max: 59},
  '05': {name: 'second', pattern: /^\d\d/, min: 0, max: 59},
};

/** As the time package quotes: bytes beyond ASCII one by one. */
export function quoteBytes(text: string): string {
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`;
  let out = '"';
  for (const byte of new TextEncoder().encode(text))
    if (byte < 0x20 || byte >= 0x80) out += `\\x${byte.toString(16).padStart(2, '0')}`;
    else out += byte === 0x22 || byte === 0x5c ? `\\${String.fromCharCode(byte)}` : String.fromCharCode(byte);
  return `${out}"`;
}
