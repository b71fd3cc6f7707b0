import {describe, expect, test} from 'vitest';
import type {KubeObject} from '../../object.ts';
import {decide as decideAggregation} from './aggregation.ts';
import {firstAddress} from './desired.ts';
import {decide} from './namespace-content.ts';
import {keepAddresses, keepData, keepSpec, reconcileBinding, reconcileRole} from './reconcile.ts';

const object = (fields: object, metadata: object = {}): KubeObject => ({
  kind: 'K',
  apiVersion: 'v1',
  metadata: {name: 'x', ...metadata},
  ...fields,
});
const get = {verbs: ['get'], apiGroups: [''], resources: ['pods']};
const list = {verbs: ['list'], apiGroups: [''], resources: ['pods']};
const own = {verbs: ['get'], apiGroups: ['acme.io'], resources: ['widgets']};

describe('a role of the system', () => {
  const expected = object({rules: [get, list]}, {labels: {a: '1'}, annotations: {b: '2'}});

  test('that says all it should is left alone', () => {
    const wider = object(
      {rules: [{verbs: ['*'], apiGroups: ['*'], resources: ['*']}]},
      {labels: {a: 'changed', more: 'x'}, annotations: {b: '2'}},
    );
    expect(reconcileRole(wider, expected)).toBeUndefined();
  });

  test('gets back what was taken, and keeps what was added', () => {
    expect(reconcileRole(object({rules: [own, get]}, {labels: {c: '3'}}), expected)).toEqual({
      update: object({rules: [own, get, list]}, {labels: {a: '1', c: '3'}, annotations: {b: '2'}}),
    });
  });

  test('is nobody else’s once they say so', () => {
    const theirs = object({rules: []}, {annotations: {'rbac.authorization.kubernetes.io/autoupdate': 'false'}});
    expect(reconcileRole(theirs, expected)).toBeUndefined();
    expect(reconcileBinding(theirs, object({roleRef: {name: 'y'}}))).toBeUndefined();
  });

  test('gathers what it should', () => {
    const gathers = (...selectors: string[]) =>
      object({aggregationRule: {clusterRoleSelectors: selectors.map((label) => ({matchLabels: {[label]: 'y'}}))}, rules: [get]});
    expect(reconcileRole(gathers('a'), object({aggregationRule: gathers('b')['aggregationRule']}))).toMatchObject({
      update: {aggregationRule: gathers('a', 'b')['aggregationRule'], rules: [get]},
    });
    expect(reconcileRole(gathers('a'), object({rules: [get]}))).toMatchObject({update: expect.not.objectContaining({aggregationRule: {}})});
  });
});

describe('a binding of the system', () => {
  const roleRef = {kind: 'ClusterRole', name: 'r'};
  const ann = {kind: 'User', name: 'ann'};
  const bob = {kind: 'User', name: 'bob'};

  test('gets its subjects back', () => {
    expect(reconcileBinding(object({roleRef, subjects: [bob]}), object({roleRef, subjects: [ann]}))).toMatchObject({
      update: {subjects: [bob, ann]},
    });
    expect(reconcileBinding(object({roleRef, subjects: [bob, ann]}), object({roleRef, subjects: [ann]}))).toBeUndefined();
  });

  test('to another role is made anew', () => {
    const expected = object({roleRef, subjects: [ann]});
    expect(reconcileBinding(object({roleRef: {...roleRef, name: 'other'}}), expected)).toEqual({recreate: expected});
  });
});

describe('the rest', () => {
  const automatic = {annotations: {'apf.kubernetes.io/autoupdate-spec': 'true'}};

  test('a flow schema follows its data until somebody takes it over', () => {
    const expected = object({spec: {a: 1}}, automatic);
    expect(keepSpec(object({spec: {a: 1, defaulted: true}}, automatic), expected)).toBeUndefined();
    expect(keepSpec(object({spec: {a: 2}}, automatic), expected)).toMatchObject({update: {spec: {a: 1}}});
    expect(keepSpec(object({spec: {a: 2}}, {annotations: {'apf.kubernetes.io/autoupdate-spec': 'false'}}), expected)).toBeUndefined();
    expect(keepSpec(object({spec: {a: 2}}, {generation: 2}), expected)).toBeUndefined();
  });

  test('endpoints follow the server', () => {
    const at = (port: number) => object({subsets: [{addresses: [{ip: '192.0.2.1'}], ports: [{port}]}]});
    expect(keepAddresses(at(1), at(1))).toBeUndefined();
    expect(keepAddresses(at(1), at(2))).toEqual({update: at(2)});
    const slice = (addressType: string) => object({addressType, endpoints: []});
    expect(keepAddresses(slice('IPv4'), slice('IPv6'))).toEqual({recreate: slice('IPv6')});
  });

  test('published data is renewed, and what others added stays', () => {
    expect(keepData(object({data: {a: '1', b: '2'}}), object({data: {a: '9'}}))).toMatchObject({update: {data: {a: '9', b: '2'}}});
    expect(keepData(object({data: {a: '1'}}), object({data: {a: '1'}}))).toBeUndefined();
    expect(keepData(object({}), object({data: {}}))).toBeUndefined();
  });

  test.each([
    ['10.0.0.0/24', '10.0.0.1'],
    ['10.0.255.255/32', '10.1.0.0'],
    ['fd00::/108', 'fd00::1'],
    ['fd00::10/108', 'fd00::11'],
    ['10.96.0.0/12,fd00::/108', '10.96.0.1'],
  ])('the first address of %s is %s', (range, address) => expect(firstAddress(range)).toBe(address));

  test('an aggregated role is written when its rules have changed', () => {
    expect(decideAggregation(object({rules: [get]}), [get])).toBeUndefined();
    expect(decideAggregation(object({rules: null}), [get])).toMatchObject({rules: [get]});
    expect(decideAggregation(undefined, [get])).toBeUndefined();
    expect(decideAggregation(object({rules: [get]}), undefined)).toBeUndefined();
  });
});

describe('every namespace', () => {
  const namespace = object({}, {name: 'ns'});
  const serviceAccount = object({}, {name: 'default'});
  const rootCa = object({data: {'ca.crt': 'CA'}}, {name: 'kube-root-ca.crt'});

  test('gets a service account and the certificate of the API', () => {
    const actions = decide({namespace, serviceAccount: undefined, rootCa: undefined}, 'CA');
    expect(
      actions.map(({action, resource, object: {metadata, data}}) => [action, resource, metadata.namespace, metadata.name, data]),
    ).toEqual([
      ['create', 'serviceaccounts', 'ns', 'default', undefined],
      ['create', 'configmaps', 'ns', 'kube-root-ca.crt', {'ca.crt': 'CA'}],
    ]);
    expect(decide({namespace, serviceAccount, rootCa}, 'CA')).toEqual([]);
  });

  test('gets the certificate back when somebody changed it', () => {
    expect(decide({namespace, serviceAccount, rootCa}, 'NEW')).toMatchObject([{action: 'update', object: {data: {'ca.crt': 'NEW'}}}]);
    const added = {...rootCa, data: {'ca.crt': 'CA', more: 'x'}};
    expect(decide({namespace, serviceAccount, rootCa: added}, 'CA')).toMatchObject([{action: 'update', object: {data: {'ca.crt': 'CA'}}}]);
  });

  test('gets nothing more while it goes', () => {
    const going = object({}, {name: 'ns', deletionTimestamp: '2026-01-01T00:00:00Z'});
    expect(decide({namespace: going, serviceAccount: undefined, rootCa: undefined}, 'CA')).toEqual([]);
    expect(decide({namespace: undefined, serviceAccount, rootCa}, 'CA')).toEqual([]);
  });
});
