/** How a cluster without a process of its own is: asked of the store, at each request. */
import type {HealthState} from '../../shared/http/health.ts';
import type {Machine} from '../../shared/registry/context.ts';

/** What the first deployment writes, last of all. */
const lastOfBootstrap = {type: 'configmaps', key: 'kube-system/kube-apiserver-legacy-service-account-token-tracking'};

export const healthOf =
  ({store}: Machine) =>
  async (): Promise<HealthState> => {
    try {
      const started = (await store.read(lastOfBootstrap.type, lastOfBootstrap.key)) !== undefined;
      return {started, draining: false, storeFailing: undefined, withinGrace: false};
    } catch (error) {
      return {started: false, draining: false, storeFailing: error instanceof Error ? error.message : String(error), withinGrace: false};
    }
  };
