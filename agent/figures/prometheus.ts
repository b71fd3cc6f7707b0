/** Prometheus' text format: families of samples, with the time at which they were measured where that is another than now. */

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  labels: Labels;
  value: number;
  /** ms; now when absent. */
  at?: number;
}

export class Text {
  readonly #lines: string[] = [];

  /** A family without samples is left out. */
  family(name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]): this {
    if (samples.length === 0) return this;
    this.#lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    for (const {labels, value, at} of samples) this.#lines.push(`${name}${inBraces(labels)} ${value}${at === undefined ? '' : ` ${at}`}`);
    return this;
  }

  /** `counts`: how many were not above each bound. */
  histogram(
    name: string,
    help: string,
    bounds: readonly number[],
    samples: readonly {labels: Labels; counts: readonly number[]; sum: number; count: number}[],
  ): this {
    if (samples.length === 0) return this;
    this.#lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} histogram`);
    for (const {labels, counts, sum, count} of samples) {
      bounds.forEach((bound, at) => {
        this.#lines.push(`${name}_bucket${inBraces({...labels, le: String(bound)})} ${counts[at]}`);
      });
      this.#lines.push(`${name}_bucket${inBraces({...labels, le: '+Inf'})} ${count}`);
      this.#lines.push(`${name}_sum${inBraces(labels)} ${sum}`, `${name}_count${inBraces(labels)} ${count}`);
    }
    return this;
  }

  toString(): string {
    return `${this.#lines.join('\n')}\n`;
  }
}

function inBraces(labels: Labels): string {
  let inner = '';
  for (const key in labels) inner += `${inner === '' ? '' : ','}${key}="${escaped(labels[key]!)}"`;
  return inner === '' ? '' : `{${inner}}`;
}

const special = /[\\"\n]/;
const escaped = (text: string): string =>
  special.test(text) ? text.replace(/[\\"\n]/g, (character) => (character === '\n' ? '\\n' : `\\${character}`)) : text;
