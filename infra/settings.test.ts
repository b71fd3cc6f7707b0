import {describe, expect, test} from 'vitest';
import {readSettings} from './settings.ts';

const read = (context: Record<string, unknown> = {}) => readSettings((key) => context[key]);

describe('what a deployment can be told', () => {
  test('nothing at all is a cluster named default that keeps its data', () => {
    expect(read()).toMatchObject({
      cluster: 'default',
      tablePrefix: 'clusterless-default-',
      retain: true,
      identities: [],
    });
  });

  test('administrators are ARNs, separated by commas or as JSON, in their canonical form', () => {
    const expected = [
      {arn: 'arn:aws:iam::123456789012:role/Admin', groups: ['system:masters']},
      {arn: 'arn:aws:iam::123456789012:user/eva', groups: ['system:masters']},
    ];
    const arns = ['arn:aws:sts::123456789012:assumed-role/Admin/session', 'arn:aws:iam::123456789012:user/eva'];
    expect(read({admins: arns.join(', ')}).identities).toEqual(expected);
    expect(read({admins: JSON.stringify(arns)}).identities).toEqual(expected);
    expect(read({admins: arns}).identities).toEqual(expected);
  });

  test('other principals have names and groups', () => {
    const identities = [{arn: 'arn:aws:iam::123456789012:role/team/ci', username: 'ci', groups: ['deployers']}];
    expect(read({identities: JSON.stringify(identities)}).identities).toEqual([
      {arn: 'arn:aws:iam::123456789012:role/ci', username: 'ci', groups: ['deployers']},
    ]);
  });

  test.each([
    [{cluster: 'Not A Name'}, 'context cluster is "Not A Name"'],
    [{removalPolicy: 'snapshot'}, 'context removalPolicy is "snapshot"'],
    [{emulatedVersion: '1.20'}, 'context emulatedVersion is "1.20": only 1.36 yet'],
    [{featureGates: 'WatchList=false'}, 'context featureGates is "WatchList=false": no gate can be changed yet'],
    [{logRetentionDays: '31'}, 'context logRetentionDays is 31: want one of 1 3 5'],
    [{watchConcurrency: '0'}, 'context watchConcurrency is "0"'],
    [{admins: 'eva'}, 'context admins: "eva" is no ARN of a principal'],
    [{identities: '[{"arn": "arn:aws:iam::123456789012:user/x", "group": []}]'}, 'unknown field "group"'],
    [{identities: '{'}, 'context identities: '],
    [{domain: 'k.example.com'}, 'context domain and certificateArn go together'],
    [{truststore: 's3://b/k'}, 'context clientCertificateDomain and truststore go together'],
  ])('%o is refused', (context, message) => {
    expect(() => read(context)).toThrow(message);
  });
});
