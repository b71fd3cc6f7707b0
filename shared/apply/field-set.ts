/**
 * Sets of field paths and their algebra, in the form in which managedFields keeps them (FieldsV1). Immutable, so that sets share what
 * they have in common. Pure: knows no types (see compare.ts) and no managers (see managed-fields.ts).
 */
import type {Json, JsonObject} from '../object.ts';
import {compareElements, parseElement} from './path-element.ts';

type Children = ReadonlyMap<string, FieldSet>;
const none: Children = new Map();

export class FieldSet {
  /** The place itself is in the set; what is below it need not be. */
  readonly member: boolean;
  /** By path element. No child is empty. */
  readonly children: Children;

  constructor(member: boolean, children: Children = none) {
    this.member = member;
    this.children = children;
  }

  static readonly empty = new FieldSet(false);
  static readonly leaf = new FieldSet(true);

  /** @throws SyntaxError for elements that name nothing */
  static fromJson(json: Json | undefined): FieldSet {
    return isObject(json) ? fromMembers(json, 0) : FieldSet.empty;
  }

  /** Every path given, e.g. `['metadata', 'labels']`, by names of members. */
  static ofPaths(paths: readonly (readonly string[])[]): FieldSet {
    return paths.reduce(
      (set, path) => set.union(path.reduceRight((below, name) => new FieldSet(false, new Map([[`f:${name}`, below]])), FieldSet.leaf)),
      FieldSet.empty,
    );
  }

  get isEmpty(): boolean {
    return !this.member && this.children.size === 0;
  }

  /** Whether this very path is in the set. */
  has(path: readonly string[]): boolean {
    let set: FieldSet | undefined = this;
    for (const element of path) set = set?.children.get(element);
    return set?.member === true;
  }

  union(other: FieldSet): FieldSet {
    if (this.isEmpty || this === other) return other;
    if (other.isEmpty) return this;
    const children = new Map(this.children);
    for (const [element, theirs] of other.children) {
      const ours = children.get(element);
      children.set(element, ours ? ours.union(theirs) : theirs);
    }
    return new FieldSet(this.member || other.member, children);
  }

  /** What is in this set and not in the other; a place that goes leaves what is below it. */
  difference(other: FieldSet): FieldSet {
    return this.#without(other, (ours, theirs) => ours.difference(theirs), this.member && !other.member);
  }

  /** As difference, but a place that goes takes with it what is below. */
  withoutTrees(other: FieldSet): FieldSet {
    return other.member ? FieldSet.empty : this.#without(other, (ours, theirs) => ours.withoutTrees(theirs), this.member);
  }

  intersection(other: FieldSet): FieldSet {
    const children = new Map<string, FieldSet>();
    for (const [element, ours] of this.children) {
      const theirs = other.children.get(element);
      const both = theirs ? ours.intersection(theirs) : FieldSet.empty;
      if (!both.isEmpty) children.set(element, both);
    }
    return made(this.member && other.member, children);
  }

  equals(other: FieldSet): boolean {
    if (this === other) return true;
    if (this.member !== other.member || this.children.size !== other.children.size) return false;
    for (const [element, ours] of this.children) {
      const theirs = other.children.get(element);
      if (!theirs || !ours.equals(theirs)) return false;
    }
    return true;
  }

  /** FieldsV1, in the order in which the reference serializes it. */
  toJson(): JsonObject {
    const out: JsonObject = {};
    if (this.member && this.children.size > 0) out['.'] = {};
    const elements = [...this.children.keys()];
    if (elements.length > 1) elements.sort(compareElements);
    for (const element of elements) out[element] = this.children.get(element)!.toJson();
    return out;
  }

  /** This very set when the other touches nothing of it: most writes leave most owners alone. */
  #without(other: FieldSet, minus: (ours: FieldSet, theirs: FieldSet) => FieldSet, member: boolean): FieldSet {
    let children: Map<string, FieldSet> | undefined;
    for (const [element, theirs] of other.children) {
      const ours = this.children.get(element);
      const left = ours && minus(ours, theirs);
      if (left === ours) continue;
      children ??= new Map(this.children);
      if (left!.isEmpty) children.delete(element);
      else children.set(element, left!);
    }
    return children || member !== this.member ? made(member, children ?? this.children) : this;
  }
}

const made = (member: boolean, children: Children): FieldSet =>
  children.size > 0 ? new FieldSet(member, children) : member ? FieldSet.leaf : FieldSet.empty;

const isObject = (value: Json | undefined): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** No type is as deep as this: a client that writes such paths must not make us run out of stack. */
const maxDepth = 1_000;

function fromMembers(json: JsonObject, depth: number): FieldSet {
  if (depth > maxDepth) throw new SyntaxError('paths too deep');
  const children = new Map<string, FieldSet>();
  let member = false;
  for (const text of Object.keys(json)) {
    if (text === '.') {
      member = true;
      continue;
    }
    const element = parseElement(text);
    if (element === undefined) continue;
    const inner = json[text];
    children.set(element, isObject(inner) ? fromMembers(inner, depth + 1) : FieldSet.leaf);
  }
  return made(member || (depth > 0 && children.size === 0), children);
}
