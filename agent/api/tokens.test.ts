import {beforeEach, describe, expect, test} from 'vitest';
import {ManualClock} from '../../shared/clock.ts';
import {serviceUnavailable} from '../../shared/errors.ts';
import type {ApiClient} from './client.ts';
import {TokenCache} from './tokens.ts';

describe('tokens of pods', () => {
  let clock: ManualClock;
  let asked: unknown[];
  let stale: string[];
  let isGone: boolean;
  let tokens: TokenCache;
  const pod = {name: 'p', uid: 'u'};
  const wanted = {namespace: 'ns', serviceAccount: 'sa', audience: '', expirationSeconds: 3_600, pod};

  beforeEach(() => {
    clock = new ManualClock();
    asked = [];
    stale = [];
    isGone = false;
    const request = async (method: string, path: string, options: {body: {spec: {expirationSeconds: number}}}) => {
      if (isGone) throw serviceUnavailable('gone');
      asked.push([method, path, options.body.spec]);
      const expirationTimestamp = new Date(clock.now() + options.body.spec.expirationSeconds * 1_000).toISOString();
      return {status: {token: `t${asked.length}`, expirationTimestamp}};
    };
    tokens = new TokenCache({request} as unknown as ApiClient, clock, (uid) => void stale.push(uid));
  });

  test('are asked for once, for their pod and audience, and kept while they are good', async () => {
    expect([await tokens.get(wanted), await tokens.get({...wanted}), await tokens.get({...wanted, audience: 'vault'})]).toEqual([
      't1',
      't1',
      't2',
    ]);
    expect(asked[0]).toEqual([
      'POST',
      '/api/v1/namespaces/ns/serviceaccounts/sa/token',
      {audiences: [], expirationSeconds: 3_600, boundObjectRef: {kind: 'Pod', apiVersion: 'v1', name: 'p', uid: 'u'}},
    ]);
    expect((asked[1] as object[])[2]).toMatchObject({audiences: ['vault']});
  });

  test('are exchanged when four fifths of their life are over: the pod is told, and gets another', async () => {
    await tokens.get(wanted);
    clock.advance(2_860_000);
    expect(stale).toEqual([]);
    clock.advance(20_000);
    expect([stale, await tokens.get(wanted)]).toEqual([['u'], 't2']);
  });

  test('are used to their end while the API is gone, and exchanged when it is back', async () => {
    await tokens.get(wanted);
    isGone = true;
    clock.advance(2_880_000);
    expect(await tokens.get(wanted)).toBe('t1');
    clock.advance(30_000);
    expect([stale, await tokens.get(wanted)]).toEqual([['u', 'u'], 't1']);
    isGone = false;
    clock.advance(30_000);
    expect([stale.length, await tokens.get(wanted)]).toEqual([3, 't2']);
    isGone = true;
    clock.advance(3_600_000);
    await expect(tokens.get(wanted)).rejects.toThrow('gone');
  });

  test('go with their pod', async () => {
    await tokens.get(wanted);
    tokens.forget('u');
    clock.advance(3_000_000);
    expect([stale, await tokens.get(wanted)]).toEqual([[], 't2']);
  });
});
