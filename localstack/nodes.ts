/** The ways to nodes of a cluster on this machine. Nothing of them is loaded before somebody wants to go there. */

import type {KeyPair} from '../shared/auth/certificate-authority.ts';
import type {DirectRoad} from '../shared/nodes/direct.ts';
import type {NodeRoads} from '../shared/nodes/roads.ts';

/** `client` says to agents that it is the API server who asks. */
export function waysToNodes(client: KeyPair): NodeRoads {
  let direct: Promise<DirectRoad> | undefined;
  return {
    async dial(node, to, options) {
      direct ??= import('../shared/nodes/direct.ts').then((room) => new room.DirectRoad({client}));
      return (await direct).dial(node, to, options);
    },
  };
}
