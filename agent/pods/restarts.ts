/** Whether a container runs again after it has ended so: by its own rules, else its own policy, else the pod's. Pure. */
import type {Container, PodSpec} from './pod.ts';

export const policyOf = ({restartPolicy = 'Always'}: PodSpec, container: Container): string => container.restartPolicy || restartPolicy;

export function restartsAfter(spec: PodSpec, container: Container, exitCode: number): boolean {
  const rules = container.restartPolicy ? (container.restartPolicyRules ?? []) : [];
  const rule = rules.find(({exitCodes}) => exitCodes && matches(exitCodes, exitCode));
  if (rule?.action === 'Restart') return true;
  const policy = policyOf(spec, container);
  return policy === 'OnFailure' ? exitCode !== 0 : policy !== 'Never';
}

const matches = ({operator, values = []}: {operator: string; values?: number[]}, exitCode: number): boolean =>
  operator === 'In' ? values.includes(exitCode) : operator === 'NotIn' && !values.includes(exitCode);
