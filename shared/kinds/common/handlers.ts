/** Probes and lifecycle hooks of containers. */
import {type FieldError, fieldForbidden, invalid, required} from '../../field-errors.ts';
import {among, need, nonNegative, oneOf, port, portOrName, problems} from './checks.ts';
import {list, type Part} from './loose.ts';
import {httpHeaderName} from './names.ts';

export interface HandlerContext {
  /** terminationGracePeriodSeconds of the pod. */
  grace?: number;
  os?: string;
}

const checks: Record<string, (action: Part, path: string, context: HandlerContext) => FieldError[]> = {
  exec: (action, path) => need(action.command?.length, `${path}.command`),
  httpGet: (action, path) => [
    ...need(action.path, `${path}.path`),
    ...portOrName(action.port, `${path}.port`),
    ...among(action.scheme, ['HTTP', 'HTTPS'], `${path}.scheme`),
    ...list(action.httpHeaders).flatMap(({name = ''}) => problems(`${path}.httpHeaders`, name, httpHeaderName(name))),
  ],
  tcpSocket: (action, path) => portOrName(action.port, `${path}.port`),
  grpc: (action, path) => port(action.port ?? 0, `${path}.port`),
  sleep: ({seconds = 0}, path, {grace}) =>
    grace !== undefined && (seconds < 0 || seconds > grace)
      ? [invalid(path, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${grace})`)]
      : [],
};

function handler(action: Part, types: readonly string[], path: string, context: HandlerContext): FieldError[] {
  const errors: FieldError[] = [];
  let found = false;
  for (const type of types) {
    if (action[type] === undefined || action[type] === null) continue;
    if (found) errors.push(fieldForbidden(`${path}.${type}`, 'may not specify more than 1 handler type'));
    else errors.push(...checks[type]!(action[type], `${path}.${type}`, context));
    found = true;
  }
  return found ? errors : [required(path, 'must specify a handler type')];
}

function probe(given: Part, path: string, context: HandlerContext): FieldError[] {
  const errors = handler(given, ['exec', 'httpGet', 'tcpSocket', 'grpc'], path, context);
  for (const field of ['initialDelaySeconds', 'timeoutSeconds', 'periodSeconds', 'successThreshold', 'failureThreshold'])
    errors.push(...nonNegative(given[field], `${path}.${field}`));
  const grace = given.terminationGracePeriodSeconds;
  if (grace !== undefined && grace !== null && grace <= 0)
    errors.push(invalid(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than 0'));
  return errors;
}

export function probes(container: Part, path: string, context: HandlerContext): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const given = container[name];
    if (!given) continue;
    const at = `${path}.${name}`;
    errors.push(...probe(given, at, context));
    if (name === 'readinessProbe') {
      if (given.terminationGracePeriodSeconds !== undefined)
        errors.push(
          invalid(`${at}.terminationGracePeriodSeconds`, given.terminationGracePeriodSeconds, 'must not be set for readinessProbes'),
        );
    } else if ((given.successThreshold ?? 0) !== 1)
      errors.push(invalid(`${at}.successThreshold`, given.successThreshold ?? 0, 'must be 1'));
  }
  return errors;
}

const signals = [
  ...'ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT RTMAX'.split(' '),
  ...Array.from({length: 14}, (_, index) => `RTMAX-${index + 1}`),
  'RTMIN',
  ...Array.from({length: 15}, (_, index) => `RTMIN+${index + 1}`),
  ...'SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ'.split(' '),
]
  .map((name) => `SIG${name}`)
  .sort();

export function lifecycle(given: Part, path: string, context: HandlerContext): FieldError[] {
  const errors: FieldError[] = [];
  for (const hook of ['postStart', 'preStop'])
    if (given[hook]) errors.push(...handler(given[hook], ['exec', 'httpGet', 'tcpSocket', 'sleep'], `${path}.${hook}`, context));
  if (given.stopSignal !== undefined) {
    const at = `${path}.stopSignal`;
    if (!context.os) errors.push(fieldForbidden(at, 'may not be set for containers with empty `spec.os.name`'));
    else errors.push(...oneOf(given.stopSignal, context.os === 'windows' ? ['SIGKILL', 'SIGTERM'] : signals, at, true));
  }
  return errors;
}
