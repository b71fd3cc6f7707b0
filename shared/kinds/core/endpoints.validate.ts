/** Whether endpoints are well formed. Old ones that are not may stay as they are. */
import {type FieldError, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {label, legacyIp, oneOf, port, problems, qualified, subdomain} from '../common/checks.ts';
import {sameJson} from '../common/equal.ts';
import {endpointIp} from '../common/ip.ts';
import {list, type Part} from '../common/loose.ts';

const address = ({ip = '', hostname, nodeName}: Part, path: string): FieldError[] => [
  ...legacyIp(ip, `${path}.ip`),
  ...(hostname ? label(hostname, `${path}.hostname`) : []),
  ...(nodeName === undefined ? [] : subdomain(nodeName, `${path}.nodeName`)),
  ...problems(`${path}.ip`, ip, endpointIp(ip)),
];

const endpointPort = ({name, port: number = 0, protocol, appProtocol}: Part, nameless: boolean, path: string): FieldError[] => [
  ...(name ? label(name, `${path}.name`) : nameless ? [] : [required(`${path}.name`)]),
  ...port(number, `${path}.port`),
  ...oneOf(protocol, ['SCTP', 'TCP', 'UDP'], `${path}.protocol`),
  ...(appProtocol === undefined ? [] : qualified(appProtocol, `${path}.appProtocol`)),
];

export function validateEndpoints({subsets}: KubeObject, old?: KubeObject): FieldError[] {
  const errors = list(subsets).flatMap((subset, index) => {
    const path = `subsets[${index}]`;
    const [ready, notReady, ports] = [list(subset.addresses), list(subset.notReadyAddresses), list(subset.ports)];
    return [
      ...(ready.length || notReady.length ? [] : [required(path, 'must specify `addresses` or `notReadyAddresses`')]),
      ...ready.flatMap((item, position) => address(item, `${path}.addresses[${position}]`)),
      ...notReady.flatMap((item, position) => address(item, `${path}.notReadyAddresses[${position}]`)),
      ...ports.flatMap((item, position) => endpointPort(item, ports.length < 2, `${path}.ports[${position}]`)),
    ];
  });
  return errors.length && old && sameJson(subsets, old.subsets) ? [] : errors;
}
