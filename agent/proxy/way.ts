/** Which way pods take to the API. Pure, but for the one look whether the service's address answers. */
import {isIP} from 'node:net';
import {connect} from 'node:tls';
import type {ServerAccess} from '../api/clusterconfig.ts';

/** What KUBERNETES_SERVICE_HOST and _PORT name. */
export interface Address {
  host: string;
  port: number;
}

/** `service`: what the cluster says, for networks that make it true. */
export type Way = 'service' | 'direct' | 'proxy';

/**
 * Where pods can do as the agent does: a client within a pod knows a host, a port and the cluster's CA, but no path, no other name and no
 * proxy of its own. Undefined where that is not enough, or where the address means another machine in a pod.
 */
export function directAddress({url, ca, insecure, serverName}: ServerAccess): Address | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const plain = url.protocol === 'https:' && /^\/*$/.test(url.pathname) && url.search === '' && url.username === '';
  // Without a CA of its own the server is verified by what the machine trusts: pods trust ca.crt alone.
  if (!plain || ca === undefined || insecure || serverName !== undefined || isLoopback(host)) return undefined;
  return {host, port: Number(url.port) || 443};
}

export const isLoopback = (host: string): boolean =>
  host === 'localhost' ||
  host.endsWith('.localhost') ||
  (isIP(host) !== 0 && (/^(127\.|0\.0\.0\.0$)/.test(host) || host === '::1' || host === '::' || /^::ffff:(127\.|7f)/i.test(host)));

/** An address that leads nowhere mostly says nothing at all. */
const patienceMs = 1_000;

/** Whether the API server answers behind the service's address: something makes the service network true on this node. */
export function answers({host, port}: Address, ca: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({host, port, ca, servername: '', timeout: patienceMs, ALPNProtocols: ['http/1.1']});
    const end = (found: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(found);
    };
    const timer = setTimeout(() => end(false), patienceMs);
    socket.once('secureConnect', () => end(socket.authorized));
    socket.once('timeout', () => end(false));
    socket.once('error', () => end(false));
  });
}
