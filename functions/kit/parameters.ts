/** Keys and tokens, from encrypted parameters: read once in the life of an environment. */
import {GetParametersCommand, SSMClient} from '@aws-sdk/client-ssm';
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
