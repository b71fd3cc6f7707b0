/** The kubeconfig of a cluster on AWS, from what its stack says of itself. It holds no secret: who you are is signed when it is used. */
import {Refusal} from './fail.ts';

export interface Stack {
  name: string;
  region: string;
  /** By name. */
  outputs: Readonly<Record<string, string>>;
}

/** @throws Refusal when there is no such stack, or nobody may look */
export async function describeStack(name: string, region: string): Promise<Stack> {
  const {CloudFormationClient, DescribeStacksCommand} = await import('@aws-sdk/client-cloudformation');
  const client = new CloudFormationClient({region});
  try {
    const {Stacks: [stack] = []} = await client.send(new DescribeStacksCommand({StackName: name}));
    const outputs = (stack?.Outputs ?? []).map(({OutputKey = '', OutputValue = ''}) => [OutputKey, OutputValue]);
    return {name, region, outputs: Object.fromEntries(outputs)};
  } catch (error) {
    throw new Refusal(`stack ${name} in ${region}: ${(error as Error).message}`);
  } finally {
    client.destroy();
  }
}

/** @throws Refusal for a stack of something else */
export function stackKubeconfig({name, region, outputs}: Stack, profile?: string): string {
  const {Cluster: cluster, Endpoint: endpoint} = outputs;
  if (!cluster || !endpoint) throw new Refusal(`stack ${name} in ${region} is no cluster: it has no outputs Cluster and Endpoint`);
  return `apiVersion: v1
kind: Config
clusters:
- name: ${name}
  cluster:
    server: ${endpoint}
users:
- name: ${name}
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1
      command: clusterless
      args: [token, --cluster, ${cluster}, --region, ${region}]
      env: ${profile ? JSON.stringify([{name: 'AWS_PROFILE', value: profile}]) : '[]'}
      interactiveMode: Never
      installHint: the clusterless command signs who you are; it must be in your PATH
contexts:
- name: ${name}
  context:
    cluster: ${name}
    user: ${name}
current-context: ${name}
`;
}
