import {describe, expect, test} from 'vitest';
import type {KubeObject} from '../../object.ts';
import {matchesTerms, type Requirement} from '../../selector/node-selector.ts';
import {refusalsOf} from './choose.ts';
import {podRequests} from './requests.ts';
import {Rooms} from './room.ts';
import {demandOf, nodeView, placementOf} from './subjects.ts';
import {taintsByCondition, tolerates} from './taints.ts';

const pod = (spec: object, status: object = {}): KubeObject => ({
  kind: 'Pod',
  apiVersion: 'v1',
  metadata: {name: 'p', namespace: 'default', uid: 'u'},
  spec: {containers: [{name: 'c'}], ...spec},
  status,
});
const asks = (name: string, cpu: string, more: object = {}) => ({name, resources: {requests: {cpu}}, ...more});
const node = (more: {spec?: object; status?: object; labels?: Record<string, string>} = {}): KubeObject => ({
  kind: 'Node',
  apiVersion: 'v1',
  metadata: {name: 'one', labels: more.labels ?? {}},
  spec: more.spec ?? {},
  status: {allocatable: {cpu: '2', memory: '2Gi', pods: '10'}, conditions: [{type: 'Ready', status: 'True'}], ...more.status},
});

describe('a pod needs', () => {
  const cpu = (spec: object, status?: object) => podRequests(pod(spec, status))['cpu'];

  test('what its containers ask for together', () => {
    expect(cpu({containers: [asks('a', '250m'), asks('b', '1')]})).toBe(1250);
  });
  test('what its largest init container asks for, if that is more', () => {
    expect(cpu({containers: [asks('a', '1')], initContainers: [asks('i', '3'), asks('j', '2')]})).toBe(3000);
  });
  test('its sidecars all the time: beside the containers, and beside the init containers that follow them', () => {
    const sidecar = asks('s', '500m', {restartPolicy: 'Always'});
    expect(cpu({containers: [asks('a', '1')], initContainers: [sidecar]})).toBe(1500);
    expect(cpu({containers: [asks('a', '1')], initContainers: [sidecar, asks('i', '2')]})).toBe(2500);
    expect(cpu({containers: [asks('a', '1')], initContainers: [asks('i', '2'), sidecar]})).toBe(2000);
  });
  test('its overhead on top, and what it asks for as a whole instead of its containers', () => {
    expect(cpu({containers: [asks('a', '1')], overhead: {cpu: '100m'}})).toBe(1100);
    expect(cpu({containers: [asks('a', '1')], resources: {requests: {cpu: '1500m'}}, overhead: {cpu: '100m'}})).toBe(1600);
  });
  test('the larger of old and new while it is resized', () => {
    const status = {containerStatuses: [{name: 'a', allocatedResources: {cpu: '2'}, resources: {requests: {cpu: '1'}}}]};
    expect(cpu({containers: [asks('a', '500m')]}, status)).toBe(2000);
  });
  test('whole units, rounded up', () => {
    expect(podRequests(pod({containers: [{name: 'a', resources: {requests: {cpu: '1u', memory: '1500m'}}}]}))).toEqual({cpu: 1, memory: 2});
  });
});

describe('node affinity', () => {
  const one = {name: 'one', labels: {zone: 'a', cores: '8', word: 'x'}};
  test.each<[string, Requirement, boolean]>([
    ['In', {key: 'zone', operator: 'In', values: ['a', 'b']}, true],
    ['In without the label', {key: 'none', operator: 'In', values: ['a']}, false],
    ['NotIn', {key: 'zone', operator: 'NotIn', values: ['b']}, true],
    ['NotIn without the label', {key: 'none', operator: 'NotIn', values: ['b']}, true],
    ['Exists', {key: 'zone', operator: 'Exists'}, true],
    ['DoesNotExist', {key: 'zone', operator: 'DoesNotExist'}, false],
    ['Gt', {key: 'cores', operator: 'Gt', values: ['7']}, true],
    ['Gt of the same', {key: 'cores', operator: 'Gt', values: ['8']}, false],
    ['Gt of what is no number', {key: 'word', operator: 'Gt', values: ['7']}, false],
    ['Lt', {key: 'cores', operator: 'Lt', values: ['9']}, true],
  ])('%s', (_name, requirement, fits) => {
    expect(matchesTerms([{matchExpressions: [requirement]}], one)).toBe(fits);
  });
  test('by the name of the node', () => {
    const named = (name: string) => [{matchFields: [{key: 'metadata.name', operator: 'In', values: [name]}]}];
    expect([matchesTerms(named('one'), one), matchesTerms(named('two'), one)]).toEqual([true, false]);
  });
  test('one term is enough, all of its requirements must hold, and an empty one is none', () => {
    const has = (key: string) => ({key, operator: 'Exists'});
    expect(matchesTerms([{matchExpressions: [has('none')]}, {matchExpressions: [has('zone'), has('word')]}], one)).toBe(true);
    expect(matchesTerms([{matchExpressions: [has('zone'), has('none')]}], one)).toBe(false);
    expect(matchesTerms([{}], one)).toBe(false);
  });
});

describe('taints', () => {
  const gpu = {key: 'gpu', value: 'yes', effect: 'NoExecute'};
  test.each([
    ['of the same value', {key: 'gpu', value: 'yes'}, true],
    ['of another value', {key: 'gpu', operator: 'Equal', value: 'no'}, false],
    ['that the key is there', {key: 'gpu', operator: 'Exists'}, true],
    ['of another effect', {key: 'gpu', operator: 'Exists', effect: 'NoSchedule'}, false],
    ['of everything', {operator: 'Exists'}, true],
  ])('are tolerated by a toleration %s: %o %s', (_name, toleration, isTolerated) => {
    expect(tolerates([toleration], gpu)).toBe(isTolerated);
  });
  test('follow conditions, and none else is touched', () => {
    const notReady = {key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule'};
    expect(taintsByCondition([notReady, gpu], [], false)).toEqual([notReady, gpu]);
    expect(taintsByCondition([notReady, gpu], [{type: 'Ready', status: 'True'}], false)).toEqual([gpu]);
    expect(taintsByCondition([gpu], [{type: 'Ready', status: 'False'}], true)).toEqual([
      gpu,
      notReady,
      {key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule'},
    ]);
  });
});

describe('a node', () => {
  const taken = new Rooms().on('one');
  test('that lacks several things names them all', () => {
    const demand = demandOf(pod({containers: [{name: 'c', resources: {requests: {cpu: '3', memory: '3Gi', 'example.com/gpu': '1'}}}]}));
    expect(refusalsOf(demand, nodeView(node()), taken)).toEqual([
      'Insufficient cpu',
      'Insufficient memory',
      'Insufficient example.com/gpu',
    ]);
  });
  test('that is cordoned takes who tolerates it', () => {
    const cordoned = nodeView(
      node({spec: {unschedulable: true, taints: [{key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule'}]}}),
    );
    const tolerant = {tolerations: [{key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule'}]};
    expect(refusalsOf(demandOf(pod({})), cordoned, taken)).toEqual(['node(s) were unschedulable']);
    expect(refusalsOf(demandOf(pod(tolerant)), cordoned, taken)).toEqual([]);
  });
  test('is as full as its pods make it, whichever way they come and go', () => {
    const rooms = new Rooms();
    const a = placementOf(pod({containers: [asks('a', '1')]}), 'one');
    rooms.set('a', a);
    rooms.set('a', placementOf(pod({containers: [asks('a', '2')]}), 'one'));
    rooms.set('b', placementOf(pod({containers: [asks('b', '500m')]}), 'two'));
    expect(rooms.on('one')).toMatchObject({pods: 1, requests: {cpu: 2000}});
    expect(rooms.holds('a', a)).toBe(false);
    rooms.set('a', placementOf(pod({}), 'two'));
    expect([rooms.on('one').pods, rooms.on('two').pods]).toEqual([0, 2]);
  });
});
