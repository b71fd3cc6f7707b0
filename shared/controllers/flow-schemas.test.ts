import {expect, test} from 'vitest';
import {TestApi} from '../../test/api.ts';

const flows = '/apis/flowcontrol.apiserver.k8s.io/v1';
const schema = (name: string, level: string) => ({
  metadata: {name},
  spec: {
    priorityLevelConfiguration: {name: level},
    matchingPrecedence: 500,
    rules: [
      {
        subjects: [{kind: 'User', user: {name: 'noxu'}}],
        nonResourceRules: [{verbs: ['*'], nonResourceURLs: ['*']}],
      },
    ],
  },
});
const level = {metadata: {name: 'mine'}, spec: {type: 'Limited', limited: {nominalConcurrencyShares: 1, limitResponse: {type: 'Reject'}}}};

async function conditionOf(api: TestApi, name: string, status: string): Promise<{reason: string; message: string}> {
  for (let turn = 0; turn < 100; turn++) {
    const {body} = await api.ask('GET', `${flows}/flowschemas/${name}`);
    const condition = body.status?.conditions?.find((each: {status: string}) => each.status === status);
    if (condition) return condition;
    await new Promise((done) => setImmediate(done));
  }
  throw new Error(`${name} never said ${status}`);
}

test('a flow schema says whether its level is there, and follows when that comes and goes', async () => {
  const api = await TestApi.start();
  expect((await api.ask('POST', `${flows}/flowschemas`, schema('early', 'mine'))).code).toBe(201);
  expect(await conditionOf(api, 'early', 'True')).toMatchObject({
    reason: 'NotFound',
    message: 'This FlowSchema references the PriorityLevelConfiguration object named "mine" but there is no such object',
  });
  await api.ask('POST', `${flows}/prioritylevelconfigurations`, level);
  expect(await conditionOf(api, 'early', 'False')).toMatchObject({
    reason: 'Found',
    message: 'This FlowSchema references the PriorityLevelConfiguration object named "mine" and it exists',
  });
  const {text} = await api.ask('GET', '/metrics');
  expect(text).toContain('apiserver_flowcontrol_nominal_limit_seats{priority_level="mine"} 3\n');
  expect(text).toContain('apiserver_flowcontrol_nominal_limit_seats{priority_level="exempt"} 0\n');
  await api.ask('DELETE', `${flows}/prioritylevelconfigurations/mine`);
  expect(await conditionOf(api, 'early', 'True')).toMatchObject({reason: 'NotFound'});
});
