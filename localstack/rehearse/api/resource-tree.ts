/** Which resource of a REST API a path belongs to: a literal part goes before a variable one, and that before a greedy one. */
import type {Resource} from './deployed.ts';

interface Branch {
  resource?: Resource;
  literals: Map<string, Branch>;
  variable?: {name: string; branch: Branch};
  greedy?: {name: string; resource: Resource};
}

export interface Match {
  resource: Resource;
  /** Still percent-encoded. */
  parameters: Record<string, string>;
}

const branch = (): Branch => ({literals: new Map()});

export class ResourceTree {
  readonly #root = branch();

  constructor(resources: readonly Resource[]) {
    for (const resource of resources) this.#add(resource);
  }

  /** Undefined where API Gateway would miss an authentication token. */
  match(path: string): Match | undefined {
    const parts = path.split('/').slice(1);
    if (parts.at(-1) === '') parts.pop();
    return find(this.#root, parts, 0, {});
  }

  #add(resource: Resource): void {
    let at = this.#root;
    for (const part of resource.path.split('/').filter(Boolean)) {
      const variable = /^\{([^}+]+)(\+)?\}$/.exec(part);
      if (!variable) {
        const next = at.literals.get(part) ?? branch();
        at.literals.set(part, next);
        at = next;
      } else if (variable[2]) {
        at.greedy = {name: variable[1]!, resource};
        return;
      } else {
        at.variable ??= {name: variable[1]!, branch: branch()};
        at = at.variable.branch;
      }
    }
    at.resource = resource;
  }
}

function find(at: Branch, parts: readonly string[], index: number, parameters: Record<string, string>): Match | undefined {
  const part = parts[index];
  if (part === undefined) return hasMethods(at.resource) ? {resource: at.resource!, parameters} : undefined;
  const literal = at.literals.get(part);
  const found = literal && find(literal, parts, index + 1, parameters);
  if (found) return found;
  if (at.variable && part !== '') {
    const inner = find(at.variable.branch, parts, index + 1, {...parameters, [at.variable.name]: part});
    if (inner) return inner;
  }
  if (!at.greedy) return undefined;
  return {resource: at.greedy.resource, parameters: {...parameters, [at.greedy.name]: parts.slice(index).join('/')}};
}

/** A resource that only holds others is none to a request. */
const hasMethods = (resource: Resource | undefined): boolean => resource !== undefined && Object.keys(resource.methods).length > 0;
