import {afterAll, beforeAll, expect, test} from 'vitest';
import {TestApi} from '../../test/api.ts';
import {type Store, StoreError, type Write} from '../storage/contract.ts';
import {openMemory} from '../storage/embedded/open.ts';

const services = '/api/v1/namespaces/default/services';
const service = (name: string, clusterIP?: string) => ({metadata: {name}, spec: {ports: [{port: 80}], ...(clusterIP && {clusterIP})}});

let api: TestApi;
/** What an append does instead of itself, where the test says so. */
let instead: ((write: Write, append: Store['append']) => ReturnType<Store['append']>) | undefined;
beforeAll(async () => {
  const memory = await openMemory();
  const append: Store['append'] = (write) => (instead ? instead(write, (each) => memory.append(each)) : memory.append(write));
  const store = new Proxy(memory, {
    get(target, name) {
      if (name === 'append') return append;
      const member = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  api = await TestApi.start({store});
});
afterAll(() => api.close());

test('an address stays claimed when nobody can say whether its service was stored', async () => {
  instead = async (write, append) => {
    const stored = await append(write);
    if (write.type !== 'services') return stored;
    throw new StoreError('OutcomeUnknown', 'the answer was lost');
  };
  const lost = await api.post(services, service('lost', '10.0.0.77'));
  instead = undefined;
  expect(lost.code).toBe(504);
  expect((await api.get(`${services}/lost`)).body.spec.clusterIP).toBe('10.0.0.77');
  const second = await api.post(services, service('second', '10.0.0.77'));
  expect([second.code, second.body.message]).toEqual([422, expect.stringContaining('provided IP is already allocated')]);
});

test('an address is free again when its service was not stored', async () => {
  instead = async (write, append) => {
    if (write.type === 'services') throw new StoreError('Unavailable', 'busy');
    return append(write);
  };
  const refused = await api.post(services, service('refused', '10.0.0.78'));
  instead = undefined;
  expect(refused.code).toBe(429);
  expect((await api.post(services, service('third', '10.0.0.78'))).code).toBe(201);
});
