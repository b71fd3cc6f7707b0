/** The same pods on the same nodes as a kube-scheduler of 1.36.3 was given: the same nodes for them, the same words (testdata/scheduler.json). */
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {TestApi} from '../../../test/api.ts';
import scene from './testdata/scheduler.json' with {type: 'json'};

interface ScenePod {
  name: string;
  spec: object;
  node?: string;
  message?: string;
}

const pods = '/api/v1/namespaces/default/pods';
let api: TestApi;

beforeAll(async () => {
  api = await TestApi.start({binder: true});
  for (const {name, labels, spec, allocatable} of scene.nodes) {
    const status = {allocatable, capacity: allocatable, conditions: [{type: 'Ready', status: 'True', reason: 'x', message: ''}]};
    await api.post('/api/v1/nodes', {metadata: {name, labels}, spec, status});
  }
});
afterAll(() => api.close());

interface Outcome {
  node: string | undefined;
  message: string | undefined;
}

/** Once it has been decided; of a pod that is not for us nothing ever is. */
async function outcomeOf(name: string, isDecided: boolean): Promise<Outcome> {
  for (let turn = 0; ; turn++) {
    const {spec, status} = (await api.get(`${pods}/${name}`)).body;
    const condition = status.conditions?.find(({type}: {type: string}) => type === 'PodScheduled');
    const message = condition?.reason === 'Unschedulable' ? condition.message : undefined;
    if (spec.nodeName || message !== undefined || (!isDecided && turn > 50)) return {node: spec.nodeName, message};
    if (turn > 5_000) throw new Error(`nothing was decided of ${name}`);
    await new Promise((done) => setImmediate(done));
  }
}

describe('as the scheduler does', () => {
  // In their order: each finds what the former left.
  test.each(scene.pods as ScenePod[])('$name', async ({name, spec, node, message}) => {
    const made = await api.post(pods, {metadata: {name}, spec: {containers: [{name: 'c', image: 'i'}], ...spec}});
    expect(made.code, made.text).toBe(201);
    expect(await outcomeOf(name, node !== undefined || message !== undefined)).toEqual({node, message});
  });
});
