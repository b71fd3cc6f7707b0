import {createServer, type Server} from 'node:https';
import net, {type AddressInfo} from 'node:net';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {loadOrCreatePki} from '../../localstack/certificates.ts';
import {DirectRoad} from './direct.ts';
import {exchange} from './exchange.ts';

let agent: Server;
let road: DirectRoad;
const node = (address: string, port: number) => ({
  kind: 'Node',
  apiVersion: 'v1',
  metadata: {name: 'a'},
  status: {addresses: address ? [{type: 'InternalIP', address}] : [], daemonEndpoints: {kubeletEndpoint: {Port: port}}},
});
const portOf = (server: net.Server): number => (server.address() as AddressInfo).port;
const listening = (server: net.Server): Promise<void> => new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

beforeAll(async () => {
  const pki = await loadOrCreatePki({names: ['127.0.0.1']});
  agent = createServer(
    {key: pki.serving.key, cert: pki.serving.certificate, ca: pki.ca.certificate, requestCert: true},
    (request, response) => {
      const socket = request.socket as import('node:tls').TLSSocket;
      const {CN, O} = socket.getPeerCertificate().subject;
      response.end(JSON.stringify([socket.authorized, CN, O, socket.isSessionReused()]));
    },
  );
  await listening(agent);
  road = new DirectRoad({client: pki.agentClient, connectTimeoutMs: 500});
});
afterAll(() => {
  agent.closeAllConnections();
  agent.close();
});

test('an agent is asked by the API server, and its next handshake is a short one', async () => {
  const said: unknown[] = [];
  for (let time = 0; time < 2; time++) {
    const stream = await road.dial(node('127.0.0.1', portOf(agent)), 'agent');
    const {body} = await exchange(stream, {method: 'GET', target: '/', headers: {host: 'a'}});
    for await (const piece of body as AsyncIterable<Uint8Array>) said.push(JSON.parse(String(piece)));
  }
  expect(said).toEqual([
    [true, 'kube-apiserver-kubelet-client', 'system:masters', false],
    [true, 'kube-apiserver-kubelet-client', 'system:masters', true],
  ]);
});

test('what is in the way is said as people search for it', async () => {
  const gone = net.createServer();
  await listening(gone);
  const port = portOf(gone);
  await new Promise((resolve) => gone.close(resolve));
  await expect(road.dial(node('127.0.0.1', port), 'agent')).rejects.toThrow(`dial tcp 127.0.0.1:${port}: connect: connection refused`);
  await expect(road.dial(undefined, {host: '::1', port: 1})).rejects.toThrow(/^dial tcp \[::1\]:1: /);
  await expect(road.dial(node('', 0), 'agent')).rejects.toThrow('no preferred addresses found; known addresses: []');
});

test('nobody is sent to this machine’s own ports by what he chose', async () => {
  const asked = road.dial(node('127.0.0.1', portOf(agent)), 'agent', {proxied: true});
  await expect(asked).rejects.toMatchObject({message: 'address not allowed', status: {code: 400}});
});

test('whoever accepts and says nothing, or something else than TLS, is waited for so long and no longer', async () => {
  const silent = net.createServer(() => {});
  await listening(silent);
  const where = node('127.0.0.1', portOf(silent));
  await expect(road.dial(where, 'agent')).rejects.toThrow('i/o timeout');
  const leaving = new AbortController();
  const asked = road.dial(where, 'agent', {signal: leaving.signal});
  leaving.abort();
  await expect(asked).rejects.toThrow('the client is gone');
  silent.close();
});
