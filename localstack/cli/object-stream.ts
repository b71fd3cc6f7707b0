/** Objects out of a stream of text, one at a time: JSON lines, YAML documents, or one JSON document; Lists are taken apart. */
import {createInterface} from 'node:readline';
import type {KubeObject} from '../../shared/object.ts';
import {Refusal} from './fail.ts';

/** @throws Refusal that names the line where something is no object */
export async function* readObjects(input: NodeJS.ReadableStream): AsyncGenerator<KubeObject> {
  const lines = createInterface({input, crlfDelay: Number.POSITIVE_INFINITY});
  let document: string[] = [];
  let documentLine = 1;
  let number = 0;
  for await (const line of lines) {
    number++;
    if (document.length === 0) {
      const whole = wholeObject(line);
      if (whole) {
        yield* parts(whole, number);
        continue;
      }
      documentLine = number;
    }
    if (/^---(\s|$)/.test(line)) {
      yield* await parse(document, documentLine);
      document = [];
    } else if (document.length > 0 || line.trim() !== '') {
      document.push(line);
    }
  }
  yield* await parse(document, documentLine);
}

/** A line that is a JSON object by itself needs no YAML parser: exports are made of these. */
function wholeObject(line: string): unknown {
  if (!line.startsWith('{') || !line.trimEnd().endsWith('}')) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

async function parse(document: string[], line: number): Promise<KubeObject[]> {
  const text = document.join('\n');
  if (text.trim() === '') return [];
  const {parse: parseYaml} = await import('yaml');
  let value: unknown;
  try {
    value = text.trimStart().startsWith('{') ? JSON.parse(text) : parseYaml(text);
  } catch (error) {
    throw new Refusal(`line ${line}: ${(error as Error).message.split('\n')[0]}`);
  }
  return value === null || value === undefined ? [] : parts(value, line);
}

function parts(value: unknown, line: number): KubeObject[] {
  const object = value as KubeObject;
  if (typeof object !== 'object' || Array.isArray(object) || typeof object.kind !== 'string' || typeof object.apiVersion !== 'string') {
    throw new Refusal(`line ${line}: not an object with apiVersion and kind`);
  }
  if (!object.kind.endsWith('List') || !Array.isArray(object['items'])) return [{...object, metadata: object.metadata ?? {}}];
  // Items of a typed list name neither kind nor version.
  const kind = object.kind.slice(0, -'List'.length);
  return (object['items'] as KubeObject[]).map((item) => ({...(kind && {kind, apiVersion: object.apiVersion}), ...item}));
}
