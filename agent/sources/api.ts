/** The node's pods as the API has them: all at first, then each as it changes. */
import type {KubeObject} from '../../shared/object.ts';
import type {ApiClient} from '../api/client.ts';
import {withoutManagers} from '../api/keep.ts';
import type {Log} from '../pods/context.ts';
import type {PodManager} from '../pods/manager.ts';
import type {Pod} from '../pods/pod.ts';

export interface ApiSourceOptions {
  client: ApiClient;
  node: string;
  manager: Pick<PodManager, 'replace' | 'changed' | 'removed'>;
  log: Log;
}

/** The returned function ends it. */
export function watchPods({client, node, manager, log}: ApiSourceOptions): () => void {
  // A pod that is not in the first list is not wanted: before all of it is there, nothing may be said of any.
  let heard = false;
  const changed = (pod: KubeObject) => {
    if (heard) manager.changed(asPod(pod));
  };
  const informer = client.informer(
    {path: {groupVersion: 'v1', resource: 'pods'}, fieldSelector: `spec.nodeName=${node}`},
    {
      priority: 'high',
      keep: withoutManagers,
      handlers: {
        added: changed,
        updated: changed,
        deleted: (pod) => manager.removed(asPod(pod)),
        listed: () => {
          if (!heard) manager.replace('api', informer.list().map(asPod));
          heard = true;
        },
        failed: (error) => log.warn(`pods: ${(error as Error).message}`),
      },
    },
  );
  return () => informer.close();
}

const asPod = (object: KubeObject): Pod => object as unknown as Pod;
