// TEMPORARY stub by the lead: the auth helper's review functions get wired here.
import type {ApiResponse} from '../../http/messages.ts';
import type {RequestContext} from '../context.ts';
export class Reviews {
  constructor(_options: object) {}
  async token(_context: RequestContext): Promise<ApiResponse> {
    throw new Error('no reviews yet');
  }
  async review(_context: RequestContext): Promise<ApiResponse> {
    throw new Error('no reviews yet');
  }
}
