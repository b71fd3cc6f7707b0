import type {ManualClock} from '../../clock.ts';
import type {Store} from '../contract.ts';

export interface Suite {
  /** A fresh, empty store on a clock that stands still. Closed after the test. */
  opened(): Promise<{store: Store; clock: ManualClock}>;
}
