/** Whether a network policy is well formed. Blocks of addresses that were stored under laxer rules may stay. */
import {type FieldError, fieldForbidden, invalid, notSupported, required} from '../../field-errors.ts';
import type {KubeObject} from '../../object.ts';
import {port, problems} from '../common/checks.ts';
import {legacyCidrProblems, parseCidr} from '../common/ip.ts';
import {validateLabelSelector} from '../common/labels.ts';
import {list, type Part} from '../common/loose.ts';
import {portName} from '../common/names.ts';

const protocols = ['TCP', 'UDP', 'SCTP'];
const policyTypes = ['Ingress', 'Egress'];

interface Leniency {
  lenientValues?: boolean;
  /** Blocks that the stored policy holds. */
  blocks?: readonly string[];
}

export const validateNetworkPolicy = ({spec}: KubeObject): FieldError[] => validateSpec(spec ?? {}, {});

export function validateNetworkPolicyUpdate({spec}: KubeObject, {spec: old = {}}: KubeObject): FieldError[] {
  const peers = [...list(old.ingress).flatMap(({from}) => list(from)), ...list(old.egress).flatMap(({to}) => list(to))];
  const blocks = peers.flatMap(({ipBlock}) => (ipBlock ? [ipBlock.cidr, ...list(ipBlock.except)] : []));
  return validateSpec(spec ?? {}, {blocks, lenientValues: validateLabelSelector(old.podSelector, '').length > 0});
}

function validateSpec(spec: Part, lenient: Leniency): FieldError[] {
  const errors = validateLabelSelector(spec.podSelector, 'spec.podSelector', lenient);
  const rules = (direction: 'ingress' | 'egress', peers: 'from' | 'to'): void => {
    for (const [index, rule] of list(spec[direction]).entries()) {
      const path = `spec.${direction}[${index}]`;
      for (const [at, item] of list(rule.ports).entries()) errors.push(...validatePort(item, `${path}.ports[${at}]`));
      for (const [at, item] of list(rule[peers]).entries()) errors.push(...validatePeer(item, `${path}.${peers}[${at}]`, lenient));
    }
  };
  rules('ingress', 'from');
  rules('egress', 'to');
  const types = list(spec.policyTypes);
  if (types.length > policyTypes.length)
    return [...errors, invalid('spec.policyTypes', types, 'may not specify more than two policyTypes')];
  for (const [index, type] of types.entries())
    if (!policyTypes.includes(type)) errors.push(notSupported(`spec.policyTypes[${index}]`, type, policyTypes));
  return errors;
}

function validatePort({protocol, port: value, endPort}: Part, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const at = `${path}.endPort`;
  if (protocol !== undefined && !protocols.includes(protocol)) errors.push(notSupported(`${path}.protocol`, protocol, protocols));
  if (value === undefined) {
    if (endPort !== undefined) errors.push(invalid(at, endPort, 'may not be specified when `port` is not specified'));
  } else if (typeof value === 'string') {
    if (endPort !== undefined) errors.push(invalid(at, endPort, 'may not be specified when `port` is non-numeric'));
    errors.push(...problems(`${path}.port`, value, portName(value)));
  } else {
    errors.push(...port(value, `${path}.port`));
    if (endPort === undefined) return errors;
    // The reference shows the port, not its end.
    if (endPort < value) errors.push(invalid(at, value, 'must be greater than or equal to `port`'));
    errors.push(...port(endPort, at));
  }
  return errors;
}

function validatePeer({podSelector, namespaceSelector, ipBlock}: Part, path: string, lenient: Leniency): FieldError[] {
  const errors = [
    ...validateLabelSelector(podSelector, `${path}.podSelector`, lenient),
    ...validateLabelSelector(namespaceSelector, `${path}.namespaceSelector`, lenient),
    ...(ipBlock ? validateBlock(ipBlock, `${path}.ipBlock`, lenient) : []),
  ];
  if (!podSelector && !namespaceSelector && !ipBlock) errors.push(required(path, 'must specify a peer'));
  else if (ipBlock && (podSelector || namespaceSelector))
    errors.push(fieldForbidden(path, 'may not specify both ipBlock and another peer'));
  return errors;
}

function validateBlock({cidr, except}: Part, path: string, {blocks = []}: Leniency): FieldError[] {
  if (!cidr) return [required(`${path}.cidr`)];
  const checked = (text: string, at: string): FieldError[] => (blocks.includes(text) ? [] : problems(at, text, legacyCidrProblems(text)));
  const errors = checked(cidr, `${path}.cidr`);
  const whole = parseCidr(cidr, true);
  if (!whole) return errors;
  for (const [index, text] of list(except).entries()) {
    const at = `${path}.except[${index}]`;
    errors.push(...checked(text, at));
    const part = parseCidr(text, true);
    if (!part) continue;
    const isWithin = part[0].kind() === whole[0].kind() && part[0].match(whole[0], whole[1]) && part[1] > whole[1];
    if (!isWithin) errors.push(invalid(at, text, 'must be a strict subset of `cidr`'));
  }
  return errors;
}
