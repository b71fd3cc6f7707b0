/** testing/versions.json holds objects as the reference serves them in two versions. */
import {readFileSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {type KubeObject, parseGroupVersion} from '../object.ts';
import {convert} from './convert.ts';
import {applyScale, scaleOf} from './scale.ts';

interface Pair {
  fact: string;
  /** The way back adds what the first version left to a default. */
  oneWay?: boolean;
  versions: [KubeObject, KubeObject];
}

const pairs = JSON.parse(readFileSync(new URL('testing/versions.json', import.meta.url), 'utf8')) as Pair[];
const versionOf = (object: KubeObject) => parseGroupVersion(object.apiVersion)!;
const text = (object: KubeObject) => JSON.stringify(object, null, 1);

describe('one object in two versions', () => {
  test.each(pairs)('$fact', ({oneWay, versions: [one, other]}) => {
    const before = text(one);
    expect(text(convert(one, versionOf(other)))).toBe(text(other));
    if (!oneWay) expect(convert(other, versionOf(one))).toEqual(convert(convert(one, versionOf(other)), versionOf(one)));
    expect(text(one)).toBe(before);
  });

  test('an object that is of that version is itself', () => {
    const [{versions}] = pairs as [Pair];
    expect(convert(versions[0], versionOf(versions[0]))).toBe(versions[0]);
  });

  test('versions of one shape differ in name only', () => {
    const lease: KubeObject = {
      kind: 'Lease',
      apiVersion: 'coordination.k8s.io/v1beta1',
      metadata: {name: 'l'},
      spec: {holderIdentity: 'h'},
    };
    expect(convert(lease, {group: 'coordination.k8s.io', version: 'v1'})).toEqual({...lease, apiVersion: 'coordination.k8s.io/v1'});
  });
});

describe('annotations of autoscaling/v1 that somebody else wrote', () => {
  const scaler = (annotations: Record<string, string>, spec: object = {}): KubeObject => ({
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v1',
    metadata: {name: 'h', annotations: {mine: 'x', ...annotations}},
    spec: {scaleTargetRef: {kind: 'D', name: 'd'}, maxReplicas: 3, ...spec},
    status: {currentReplicas: 0, desiredReplicas: 0},
  });
  const name = (suffix: string) => `autoscaling.alpha.kubernetes.io/${suffix}`;
  const v2 = {group: 'autoscaling', version: 'v2'};

  test.each([
    ['no JSON', {[name('metrics')]: '[junk'}],
    ['no list', {[name('metrics')]: '{"type":"Resource"}'}],
    ['no objects', {[name('metrics')]: '[1]'}],
    ['a quantity that is none', {[name('metrics')]: '[{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"lots"}}]'}],
    ['a source that is none', {[name('metrics')]: '[{"type":"Pods","pods":"m"}]'}],
    ['behavior of nothing', {[name('behavior')]: '{}'}],
    ['behavior of another kind', {[name('behavior')]: '{"ScaleUp":[3]}'}],
    ['conditions of another kind', {[name('conditions')]: '[{"type":3}]'}],
    ['current metrics of another kind', {[name('current-metrics')]: '"none"'}],
    ['tolerances', {[name('scale-up-tolerance')]: '1'}],
  ])('%s: nothing, and the default of eighty', (_fact, annotations) => {
    const converted = convert(scaler(annotations as unknown as Record<string, string>), v2);
    expect(converted.metadata.annotations).toEqual({mine: 'x'});
    expect(converted.spec).toEqual({
      scaleTargetRef: {kind: 'D', name: 'd'},
      maxReplicas: 3,
      metrics: [{type: 'Resource', resource: {name: 'cpu', target: {type: 'Utilization', averageUtilization: 80}}}],
    });
    expect(converted.status).toEqual({desiredReplicas: 0, currentMetrics: null});
  });

  test('an object metric by average keeps no value of zero', () => {
    const metric = (targetValue: string) =>
      `[{"type":"Object","object":{"target":{"kind":"S","name":"s"},"metricName":"m","targetValue":"${targetValue}","averageValue":"0.5"}}]`;
    const targetOf = (value: string) => convert(scaler({[name('metrics')]: metric(value)}), v2).spec.metrics[0].object.target;
    expect(targetOf('0')).toEqual({type: 'AverageValue', averageValue: '500m'});
    expect(targetOf('2')).toEqual({type: 'AverageValue', value: '2', averageValue: '500m'});
  });
});

describe('scale', () => {
  const deployment: KubeObject = {
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    metadata: {name: 'd', namespace: 'n', uid: 'u', resourceVersion: '5', creationTimestamp: 't', labels: {q: 'r'}, generation: 2},
    spec: {
      replicas: 3,
      selector: {
        matchLabels: {b: '1', a: 'b'},
        matchExpressions: [
          {key: 'c', operator: 'In', values: ['z', 'y']},
          {key: 'e', operator: 'Exists'},
          {key: 'a1', operator: 'NotIn', values: ['z', 'y']},
          {key: 'n', operator: 'DoesNotExist'},
        ],
      },
    },
    status: {replicas: 2},
  };

  test('shows the replicas and the selector of a workload', () => {
    expect(scaleOf(deployment)).toEqual({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: {name: 'd', namespace: 'n', uid: 'u', resourceVersion: '5', creationTimestamp: 't'},
      spec: {replicas: 3},
      status: {replicas: 2, selector: 'a=b,a1 notin (y,z),b=1,c in (y,z),e,!n'},
    });
  });

  test('shows no replicas where there are none, and a selector that is a plain map', () => {
    const controller = {
      ...deployment,
      kind: 'ReplicationController',
      apiVersion: 'v1',
      spec: {replicas: 0, selector: {b: '1', a: 'b'}},
      status: {},
    };
    expect(scaleOf(controller)).toMatchObject({spec: {}, status: {replicas: 0, selector: 'a=b,b=1'}});
  });

  test('writes nothing but the replicas', () => {
    const parent = structuredClone(deployment);
    applyScale(parent, {kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: {name: 'd', labels: {x: 'y'}}, spec: {}});
    expect(parent).toEqual({...deployment, spec: {...deployment.spec, replicas: 0}});
  });
});
