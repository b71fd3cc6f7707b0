import {describe, expect, test} from 'vitest';
import {canonicalArn, parseIdentities, parseIdentityDocument} from './identities.ts';

describe('canonical ARNs', () => {
  test.each([
    ['arn:aws:sts::123456789012:assumed-role/Admin/session', 'arn:aws:iam::123456789012:role/Admin'],
    ['arn:aws:iam::123456789012:role/Admin', 'arn:aws:iam::123456789012:role/Admin'],
    ['arn:aws:iam::123456789012:role/aws-reserved/sso.amazonaws.com/AWSReservedSSO_x', 'arn:aws:iam::123456789012:role/AWSReservedSSO_x'],
    ['arn:aws:iam::123456789012:user/team/eva', 'arn:aws:iam::123456789012:user/team/eva'],
    ['arn:aws:iam::123456789012:root', 'arn:aws:iam::123456789012:root'],
    ['arn:aws:sts::123456789012:federated-user/eva', 'arn:aws:sts::123456789012:federated-user/eva'],
    ['arn:aws-us-gov:sts::123456789012:assumed-role/A/b', 'arn:aws-us-gov:iam::123456789012:role/A'],
  ])('%s is %s', (arn, canonical) => {
    expect(canonicalArn(arn)).toBe(canonical);
  });

  test.each([
    'Admin',
    'arn:aws:iam::123456789012:group/x',
    'arn:aws:iam::12345:role/x',
    'arn:aws:iam::123456789012:role/',
    'arn:aws:iam::123456789012:*',
    'arn:aws:iam::123456789012:role/*',
    'arn:aws:sts::123456789012:assumed-role/Admin',
    'arn:aws:sts::123456789012:assumed-role/a/b/c',
    'arn:aws:s3:::bucket',
    'arn:evil:iam::123456789012:role/x',
    ' arn:aws:iam::123456789012:root',
  ])('%s is no principal', (arn) => {
    expect(() => canonicalArn(arn)).toThrow('is no ARN of a principal');
  });
});

describe('identities', () => {
  test('a document names its cluster', () => {
    const identities = [{arn: 'arn:aws:iam::123456789012:root', groups: ['a']}];
    expect(parseIdentityDocument(JSON.stringify({cluster: 'west', identities}))).toEqual({cluster: 'west', identities});
    expect(() => parseIdentityDocument('{"identities": []}')).toThrow('name no cluster');
  });

  test.each([
    ['{}', 'want a list'],
    ['[1]', 'want a list'],
    ['[{"arn": 5}]', 'no ARN of a principal'],
    ['[{"arn": "arn:aws:iam::123456789012:root", "groups": "system:masters"}]', 'no list of names'],
    ['[{"arn": "arn:aws:iam::123456789012:root", "groups": [""]}]', 'no list of names'],
    ['[{"arn": "arn:aws:iam::123456789012:root", "username": ""}]', 'is no text'],
    ['[{"arn": "arn:aws:iam::123456789012:root", "rights": []}]', 'unknown field "rights"'],
  ])('%s is refused', (text, message) => {
    expect(() => parseIdentities(text)).toThrow(message);
  });
});
