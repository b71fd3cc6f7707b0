/** A bound on what a namespace may use. Counted and enforced in admission. */
import {define} from '../define.ts';

export const resourceQuota = define({deleteReturnsObject: true, newStatus: () => ({})});
