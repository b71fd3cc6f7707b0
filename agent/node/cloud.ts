/** --cloud-provider: who says what the node is called and where it stands; nobody, the instance itself, or a controller that comes later. */
import type {Clock} from '../../shared/clock.ts';
import type {Settings} from '../cli/settings.ts';
import {type Address, addressesOf, describeInstance} from './aws.ts';
import {defaultEndpoint, MetadataService} from './metadata-service.ts';

export interface Cloud {
  /** '' : as the machine is called. */
  name: string;
  providerId: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  taints: {key: string; value?: string; effect: string}[];
  /** As last asked for; undefined: as the machine's interfaces have them. */
  addresses: Address[] | undefined;
  /** An external provider's word counts more than ours. */
  keepsAddresses: boolean;
  /** @throws Error when they cannot be had now */
  refresh(): Promise<void>;
}

const nowhere = {name: '', providerId: '', labels: {}, annotations: {}, taints: [], addresses: undefined, keepsAddresses: false};
/** Until the controller of the cloud has described the node, nothing is scheduled to it. */
const uninitialized = {key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule'};

/** @throws MetadataError where an instance is to describe itself and does not */
export async function openCloud(
  settings: Pick<Settings, 'text'>,
  clock: Clock,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<Cloud> {
  const refresh = async () => {};
  const nodeIp = settings.text('node-ip');
  switch (settings.text('cloud-provider')) {
    case 'aws':
      return openAws(new MetadataService({endpoint: defaultEndpoint(env), clock}), nodeIp);
    case 'external':
      return {
        ...nowhere,
        ...{taints: [uninitialized], keepsAddresses: true, refresh},
        annotations: nodeIp ? {'alpha.kubernetes.io/provided-node-ip': nodeIp} : {},
      };
  }
  return {...nowhere, refresh};
}

async function openAws(service: MetadataService, nodeIp: string): Promise<Cloud> {
  const wanted = nodeIp.split(',').filter(Boolean);
  const instance = await describeInstance(service);
  const cloud: Cloud = {
    ...nowhere,
    ...instance,
    addresses: preferring(instance.addresses, wanted),
    async refresh() {
      cloud.addresses = preferring(await addressesOf(service), wanted);
    },
  };
  return cloud;
}

/** Those that --node-ip names come first. */
function preferring(addresses: readonly Address[], wanted: readonly string[]): Address[] {
  const isWanted = ({address}: Address) => wanted.includes(address);
  return [...addresses.filter(isWanted), ...addresses.filter((entry) => !isWanted(entry))];
}
