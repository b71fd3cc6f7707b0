/**
 * Sets of field paths, the algebra of field ownership, in the form in which managedFields keeps them (FieldsV1): `f:` a member of a
 * struct or map, `k:` an item of a list by its keys, `v:` by its value, `i:` by its position, `.` the place itself.
 * Pure: knows no types (see compare.ts) and no managers (see managed-fields.ts).
 */
import type {Json, JsonObject} from '../object.ts';

export class FieldSet {
  /** The place itself is in the set. */
  member = false;
  readonly children = new Map<string, FieldSet>();

  static fromJson(json: Json | undefined): FieldSet {
    const set = new FieldSet();
    if (typeof json !== 'object' || json === null || Array.isArray(json)) return set;
    for (const [element, inner] of Object.entries(json)) {
      if (element === '.') set.member = true;
      else {
        const child = FieldSet.fromJson(inner);
        if (child.children.size === 0) child.member = true;
        set.children.set(element, child);
      }
    }
    return set;
  }

  /** The child at an element, made when absent. */
  at(element: string): FieldSet {
    let child = this.children.get(element);
    if (!child) {
      child = new FieldSet();
      this.children.set(element, child);
    }
    return child;
  }

  get isEmpty(): boolean {
    if (this.member) return false;
    for (const child of this.children.values()) if (!child.isEmpty) return false;
    return true;
  }

  union(other: FieldSet): FieldSet {
    const out = new FieldSet();
    out.member = this.member || other.member;
    for (const [element, child] of this.children) {
      const theirs = other.children.get(element);
      out.children.set(element, theirs ? child.union(theirs) : child);
    }
    for (const [element, child] of other.children) if (!out.children.has(element)) out.children.set(element, child);
    return out;
  }

  difference(other: FieldSet): FieldSet {
    const out = new FieldSet();
    out.member = this.member && !other.member;
    for (const [element, child] of this.children) {
      const theirs = other.children.get(element);
      const left = theirs ? child.difference(theirs) : child;
      if (!left.isEmpty) out.children.set(element, left);
    }
    return out;
  }

  intersection(other: FieldSet): FieldSet {
    const out = new FieldSet();
    out.member = this.member && other.member;
    for (const [element, child] of this.children) {
      const theirs = other.children.get(element);
      const both = theirs && child.intersection(theirs);
      if (both && !both.isEmpty) out.children.set(element, both);
    }
    return out;
  }

  equals(other: FieldSet): boolean {
    return this.difference(other).isEmpty && other.difference(this).isEmpty;
  }

  /** FieldsV1, elements in byte order, as the reference serializes them. */
  toJson(): JsonObject {
    const out: JsonObject = {};
    if (this.member && this.hasChildren) out['.'] = {};
    for (const element of [...this.children.keys()].sort()) {
      const child = this.children.get(element)!;
      if (!child.isEmpty) out[element] = child.toJson();
    }
    return out;
  }

  get hasChildren(): boolean {
    for (const child of this.children.values()) if (!child.isEmpty) return true;
    return false;
  }
}
