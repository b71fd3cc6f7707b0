/** The service behind an API is asked over HTTPS. */
import type {Defaults} from '../common/defaulter.ts';

export const apiServiceDefaults: Defaults = {
  'apiregistration/v1.ServiceReference': (service) => {
    service.port ??= 443;
  },
};
