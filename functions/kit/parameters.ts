/** Keys and tokens as encrypted parameters: made by the first deployment, read once in the life of an environment. */
import {GetParametersCommand, PutParameterCommand, SSMClient} from '@aws-sdk/client-ssm';
import type {Parameter} from '../functions.ts';

/** One call takes ten. */
export async function readParameters(path: string, names: readonly Parameter[]): Promise<Partial<Record<Parameter, string>>> {
  const client = new SSMClient({});
  try {
    const {Parameters = []} = await client.send(
      new GetParametersCommand({Names: names.map((name) => `${path}${name}`), WithDecryption: true}),
    );
    return Object.fromEntries(Parameters.map(({Name = '', Value = ''}) => [Name.slice(path.length), Value]));
  } finally {
    client.destroy();
  }
}

/** False: somebody was first, and theirs counts. */
export async function writeParameter(path: string, name: Parameter, value: string, {replace}: {replace: boolean}): Promise<boolean> {
  const client = new SSMClient({});
  try {
    await client.send(new PutParameterCommand({Name: `${path}${name}`, Value: value, Type: 'SecureString', Overwrite: replace}));
    return true;
  } catch (error) {
    if ((error as Error).name === 'ParameterAlreadyExists') return false;
    throw error;
  } finally {
    client.destroy();
  }
}
