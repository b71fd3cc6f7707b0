/** AWS identities as bearer tokens: the verifier of shared/auth/aws-iam with the deployment's document, this region's STS and the platform's fetch. */
import {parseIdentityDocument} from '../../shared/auth/aws-iam/identities.ts';
import type {Fetch} from '../../shared/auth/aws-iam/sts.ts';
import {partitionOfRegion} from '../../shared/auth/aws-iam/token.ts';
import {AwsTokenVerifier} from '../../shared/auth/aws-iam/token-verifier.ts';
import type {Doors} from './doors.ts';

/** @throws Error for a document that is none */
export function awsTokens(document: string, {variables, clock}: Pick<Doors, 'variables' | 'clock'>, ask: Fetch = fetch): AwsTokenVerifier {
  const partition = partitionOfRegion(variables['AWS_REGION'] ?? '');
  return new AwsTokenVerifier({...parseIdentityDocument(document), partition, fetch: ask, clock});
}
