/** Also whatever no row of the route table has: a 404 or 405 of the API's own. */
import {discoveryEndpoints} from '../shared/http/endpoints/discovery.ts';
import {rest} from './kit/rest.ts';

export const handler = await rest('discovery', (options) => ({endpoints: (assembly) => discoveryEndpoints(assembly, options)}));
