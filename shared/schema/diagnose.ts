/**
 * What is wrong with a document, in Go's words and in the order of the document: the first value that its type does not take (reading
 * goes on behind it, unless a type that reads itself gave up), and members that are unknown or come twice. Only asked after normalize.ts
 * has met something.
 */
import {goQuote} from '../field-errors.ts';
import {base64Fault} from './base64.ts';
import {type JsonNode, ListNode, maxStrictErrors, NumberNode, ObjectNode} from './document.ts';
import {schemaType, textFault} from './special.ts';
import type {SpecialType, StructType, Type} from './types.ts';

export interface Diagnosis {
  /** The fault that is told; there may be more. */
  fault: string | undefined;
  /** `unknown field "spec.x"`, `duplicate field "data.k"`. */
  strictErrors: string[];
}

export function diagnose(root: JsonNode, type: StructType): Diagnosis {
  const walk = new Walk();
  try {
    walk.visit(root, type);
  } catch (error) {
    if (!(error instanceof GaveUp)) throw error;
    return {fault: error.message, strictErrors: []};
  }
  return {fault: walk.fault, strictErrors: [...walk.strictErrors]};
}

/** A type that reads itself refused: nothing behind it is read any more. */
class GaveUp extends Error {}

const kindOf = (node: JsonNode): string => {
  if (node === null) return 'null';
  if (node instanceof NumberNode) return 'number';
  if (node instanceof ListNode) return 'array';
  if (node instanceof ObjectNode) return 'object';
  return typeof node === 'boolean' ? 'bool' : 'string';
};

class Walk {
  fault: string | undefined;
  readonly strictErrors = new Set<string>();
  /** Where errors of types say they are: the struct, and the Go names of the fields down to the value. */
  #struct = '';
  readonly #fields: string[] = [];
  /** Where strict errors say they are. */
  #path = '';
  #isStrict = true;

  /** Numbers in place of quantities are replaced by their text: their digits count. */
  visit(node: JsonNode, type: Type): JsonNode {
    if (node === null) return node;
    switch (type.kind) {
      case 'struct':
        if (node instanceof ObjectNode) this.#members(node, type);
        else this.#mismatch(kindOf(node), type.goName);
        return node;
      case 'list':
        if (!(node instanceof ListNode)) this.#mismatch(kindOf(node), type.goName);
        else
          for (const [at, item] of node.items.entries()) {
            this.#within(`[${at}]`, () => {
              node.items[at] = this.visit(item, type.of);
            });
          }
        return node;
      case 'map':
        if (!(node instanceof ObjectNode)) this.#mismatch(kindOf(node), type.goName);
        else this.#entries(node, type.of);
        return node;
      case 'string':
        if (typeof node !== 'string') this.#mismatch(kindOf(node), type.goName);
        return node;
      case 'bool':
        if (typeof node !== 'boolean') this.#mismatch(kindOf(node), type.goName);
        return node;
      case 'int32':
      case 'int64':
        this.#integer(node, type.goName, type.kind === 'int32' ? 32 : 64);
        return node;
      case 'double':
        if (!(node instanceof NumberNode)) this.#mismatch(kindOf(node), type.goName);
        else if (!Number.isFinite(Number(node.text))) this.#mismatch(`number ${node.text}`, type.goName);
        return node;
      case 'bytes':
        this.#bytes(node, type.goName);
        return node;
      default:
        return this.#special(node, type);
    }
  }

  #within(step: string, visit: () => void): void {
    const before = this.#path;
    this.#path = step.startsWith('[') || before === '' ? before + step : `${before}.${step}`;
    visit();
    this.#path = before;
  }

  #strict(what: string, key: string): void {
    if (this.#isStrict && this.strictErrors.size < maxStrictErrors)
      this.strictErrors.add(`${what} field ${goQuote(this.#path ? `${this.#path}.${key}` : key)}`);
  }

  #members(node: ObjectNode, type: StructType): void {
    const outer = this.#struct;
    const seen = new Set<string>();
    for (const [at, key] of node.keys.entries()) {
      const field = type.byName.get(key);
      if (!field) {
        this.#strict('unknown', key);
        continue;
      }
      if (seen.has(key)) this.#strict('duplicate', key);
      seen.add(key);
      this.#struct = type.name;
      this.#fields.push(field.goPath);
      this.#within(key, () => {
        node.values[at] = this.visit(node.values[at]!, field.type);
      });
      this.#fields.pop();
      this.#struct = outer;
    }
  }

  #entries(node: ObjectNode, of: Type): void {
    const seen = new Set<string>();
    for (const [at, key] of node.keys.entries()) {
      if (seen.has(key)) this.#strict('duplicate', key);
      seen.add(key);
      const before = this.#path;
      this.#path = before ? `${before}.${key}` : key;
      node.values[at] = this.visit(node.values[at]!, of);
      this.#path = before;
    }
  }

  #integer(node: JsonNode, goName: string, bits: 8 | 32 | 64): void {
    if (!(node instanceof NumberNode)) this.#mismatch(kindOf(node), goName);
    else if (!isInteger(node.text, bits)) this.#mismatch(`number ${node.text}`, goName);
  }

  #bytes(node: JsonNode, goName: string): void {
    if (typeof node === 'string') this.fault ??= base64Fault(node) || undefined;
    else if (node instanceof ListNode) for (const item of node.items) item === null || this.#integer(item, 'uint8', 8);
    else this.#mismatch(kindOf(node), goName);
  }

  /** These read themselves, and their refusal ends the reading. */
  #special(node: JsonNode, {kind}: SpecialType): JsonNode {
    switch (kind) {
      case 'time':
      case 'microTime':
      case 'duration': {
        if (typeof node !== 'string') throw new GaveUp(this.#words(kindOf(node), 'string'));
        const fault = textFault(node, kind);
        if (fault !== undefined) throw new GaveUp(fault);
        return node;
      }
      case 'quantity': {
        const text = node instanceof NumberNode ? node.text : node;
        const fault = textFault(typeof text === 'string' ? text : '{}', kind);
        if (fault !== undefined) throw new GaveUp(fault);
        return text;
      }
      case 'intOrString':
        if (typeof node === 'string') return node;
        if (!(node instanceof NumberNode)) throw new GaveUp(this.#words(kindOf(node), 'int32'));
        if (!isInteger(node.text, 32)) throw new GaveUp(this.#words(`number ${node.text}`, 'int32'));
        return node;
      case 'schemaOrBool':
        if (typeof node === 'boolean') return node;
        if (!(node instanceof ObjectNode)) throw new GaveUp('boolean or JSON schema expected');
        return this.#alone(node, schemaType());
      case 'schemaOrArray':
      case 'schemaOrStringArray': {
        if (node instanceof ObjectNode) return this.#alone(node, schemaType());
        if (!(node instanceof ListNode)) return node;
        const of: Type = kind === 'schemaOrArray' ? schemaType() : {kind: 'string', goName: 'string'};
        return this.#alone(node, {kind: 'list', of, goName: `[]${of.goName}`});
      }
      default:
        return node;
    }
  }

  /** A value that its holder reads by itself: any fault ends the reading, unknown members are nobody's business. */
  #alone(node: JsonNode, type: Type): JsonNode {
    const [before, isStrict] = [this.fault, this.#isStrict];
    this.fault = undefined;
    this.#isStrict = false;
    const result = this.visit(node, type);
    if (this.fault !== undefined) throw new GaveUp(this.fault);
    this.fault = before;
    this.#isStrict = isStrict;
    return result;
  }

  #mismatch(what: string, goName: string): void {
    this.fault ??= this.#words(what, goName);
  }

  #words(what: string, goName: string): string {
    const into = this.#fields.length > 0 ? `Go struct field ${this.#struct}.${this.#fields.join('.')}` : 'Go value';
    return `json: cannot unmarshal ${what} into ${into} of type ${goName}`;
  }
}

function isInteger(text: string, bits: 8 | 32 | 64): boolean {
  if (!/^-?\d{1,25}$/.test(text)) return false;
  const value = BigInt(text);
  return bits === 8 ? value >= 0n && value <= 255n : BigInt.asIntN(bits, value) === value;
}
