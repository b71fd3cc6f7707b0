import {expect, test} from 'vitest';
import {genuine, signedAt} from '../../shared/auth/aws-iam/testing.ts';
import {ManualClock} from '../../shared/clock.ts';
import {awsTokens} from './aws-tokens.ts';

const arn = 'arn:aws:iam::123456789012:user/eva';
const document = JSON.stringify({cluster: 'west', identities: [{arn, groups: ['system:masters']}]});

test('who deployed is an administrator', async () => {
  const asked: Record<string, string>[] = [];
  const result = {Arn: arn, Account: '123456789012', UserId: 'AIDAEXAMPLE'};
  const verifier = awsTokens(
    document,
    {variables: {AWS_REGION: 'eu-west-1'}, clock: new ManualClock(signedAt)},
    async (_url, {headers}) => {
      asked.push(headers);
      return {status: 200, text: async () => JSON.stringify({GetCallerIdentityResponse: {GetCallerIdentityResult: result}})};
    },
  );
  expect(await verifier.verify(await genuine())).toMatchObject({user: {name: arn, groups: ['system:masters', 'system:authenticated']}});
  expect(asked[0]).toMatchObject({'x-k8s-aws-id': 'west'});
});

test('another partition’s STS is nobody’s witness', async () => {
  const verifier = awsTokens(document, {variables: {AWS_REGION: 'cn-north-1'}, clock: new ManualClock(signedAt)}, () =>
    expect.fail('asked'),
  );
  expect(await verifier.verify(await genuine())).toHaveProperty('error');
});
