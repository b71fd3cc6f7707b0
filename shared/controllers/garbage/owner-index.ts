/**
 * Who depends on whom, kept beside the objects and fed from the log. An object that names an owner is found here from the time on that its
 * record was noted; what is found here may name that owner no more, and is asked. Its items are kept by whoever makes it.
 */
import type {Revision} from '../../storage/contract.ts';

/** That an object names an owner. */
export interface Reference {
  /** Its uid. */
  owner: string;
  /** The dependent: storage type, key, uid. */
  type: string;
  key: string;
  uid: string;
  /** Of the record, or the reading, that says so. */
  revision: Revision;
}

export interface OwnerIndex {
  /** Those of which nobody has noted that their owner was looked for. */
  unknown(references: readonly Reference[]): Promise<Reference[]>;
  /**
   * Records may come late, doubled and in any order: what a later revision said of the key stays. `settled`: its owner was looked for since
   * it was noted, or will be whenever its record comes again.
   */
  note(reference: Reference, settled: boolean): Promise<void>;
  /** The dependent went, at this revision. */
  forget(reference: Reference): Promise<void>;
  dependentsOf(owner: string): Promise<Reference[]>;
  all(): Promise<Reference[]>;
  /** It is not so, as far as is known: taken back unless something was noted since. */
  retract(reference: Reference): Promise<void>;
}
