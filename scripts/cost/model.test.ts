import {describe, expect, test} from 'vitest';
import {bill, followedHour, idle, perMillionRequests, perMillionWrites, prices, total, tunnelFrame, tunnelGb} from './model.ts';
import {report} from './report.ts';

const of = (usage: Partial<typeof idle>): number => total(bill({...idle, ...usage}));

describe('the goals', () => {
  test('an idle cluster costs less than a dollar a month, besides storage', () => {
    expect(of({})).toBeLessThan(1);
  });

  test('a million writes cost 13 dollars at most, all in', () => {
    expect(perMillionWrites()).toBeLessThanOrEqual(13);
  });

  test('an idle cluster of 100 nodes costs less than 20 dollars a month', () => {
    expect(of({nodes: 100})).toBeLessThan(20);
  });
});

describe('the model', () => {
  test('grows with each thing that there is more of', () => {
    for (const key of ['nodes', 'watchers', 'httpWatches', 'writesPerSecond', 'readsPerSecond', 'listsPerSecond', 'storedGb'] as const)
      expect(of({[key]: 10}), key).toBeGreaterThan(of({[key]: 1}));
  });

  test('charges a write for those who watch', () => {
    expect(perMillionWrites({...idle, watchersPerChange: 5}) - perMillionWrites({...idle, watchersPerChange: 0})).toBeGreaterThan(5);
  });

  test('knows that a connection is some hundred times cheaper than an HTTP watch', () => {
    expect(of({httpWatches: 1}) - of({})).toBeGreaterThan(8);
    expect(of({watchers: 2}) - of({watchers: 1})).toBeLessThan(0.1);
  });

  test('charges no request less than the gateway does', () => {
    for (const verb of ['create', 'get', 'list'] as const) expect(perMillionRequests(verb)).toBeGreaterThan(prices.restRequestsPerMillion);
  });

  test('knows what goes through tunnels', () => {
    expect(tunnelFrame.mailbox(2_000)).toBeGreaterThan(tunnelFrame.mailbox(1_000));
    expect(tunnelGb(tunnelFrame.relayed)).toBeLessThan(tunnelGb(tunnelFrame.mailbox));
    expect(followedHour()).toBeLessThan(0.02);
  });

  test('names its date, and stands beside a managed control plane', () => {
    const {text, monthly, managedControlPlane} = report({...idle, nodes: 100});
    expect(text).toContain(`prices of ${prices.date}`);
    expect(text).toContain('a dead node is known within');
    expect(monthly).toBeLessThan(managedControlPlane);
  });
});
