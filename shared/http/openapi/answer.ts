// TEMPORARY stub by the lead.
import type {Catalogue} from '../../registry/catalogue.ts';
import type {ApiRequest, ApiResponse} from '../messages.ts';
export async function answerOpenApi(_catalogue: Catalogue, _request: ApiRequest, _rest: string[]): Promise<ApiResponse | undefined> {
  return undefined;
}
