/** Tokens for tests, genuine and otherwise: what a client signs, with any part of it changed. */
import {clusterToken} from './presign.ts';
import {tokenPrefix} from './token.ts';

export const signedAt = Date.UTC(2026, 4, 1, 12);
const credentials = {accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', sessionToken: 'session/token=='};

export const genuine = (cluster = 'west', host = 'sts.eu-west-1.amazonaws.com'): Promise<string> =>
  clusterToken({credentials, region: 'eu-west-1', host, cluster, now: new Date(signedAt)});

export const urlOf = (token: string): string => Buffer.from(token.slice(tokenPrefix.length), 'base64url').toString();
export const tokenOf = (url: string): string => tokenPrefix + Buffer.from(url).toString('base64url');

/** The genuine one, its URL changed. */
export const changed = async (change: (url: string) => string): Promise<string> => tokenOf(change(urlOf(await genuine())));
