import {describe, expect, test} from 'vitest';
import {fieldMatcher, parseFieldSelector, printFieldSelector, requiredValue} from './fields.ts';
import {selectableFieldNames} from './selectable-fields.ts';

const pods = {group: '', version: 'v1', resource: 'pods', kind: 'Pod'};
const configMaps = {group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap'};
const jobs = {group: 'batch', version: 'v1', resource: 'jobs', kind: 'Job'};
const slices = {group: 'resource.k8s.io', version: 'v1', resource: 'resourceslices', kind: 'ResourceSlice'};
const newEvents = {group: 'events.k8s.io', version: 'v1', resource: 'events', kind: 'Event'};

const pod = {key: 'ns/a', index: {fields: {'spec.nodeName': 'n1', 'status.phase': 'Running'}}};

describe('what a field selector selects', () => {
  test.each([
    ['', true],
    ['metadata.name=a', true],
    ['metadata.name==a,metadata.namespace!=b', true],
    [',metadata.name=a,,', true],
    ['metadata.namespace=other', false],
    ['spec.nodeName=n1,status.phase!=Failed', true],
    ['spec.host=n1', true],
    ['status.podIPs=', true],
    ['status.podIPs!=1.2.3.4', true],
    ['=', true],
    ['metadata.name=a,metadata.name!=a', false],
  ])('%j: %s', (text, expected) => {
    expect(fieldMatcher(parseFieldSelector(text, pods), true)(pod)).toBe(expected);
  });

  test('a cluster-scoped object has no namespace', () => {
    const matches = fieldMatcher(parseFieldSelector('metadata.name=a,metadata.namespace=', configMaps), false);
    expect(matches({key: 'a', index: {}})).toBe(true);
  });

  test('the newer names of events ask the index of the older ones', () => {
    const selector = parseFieldSelector('regarding.name=x,reportingController=c', newEvents);
    expect(printFieldSelector(selector)).toBe('involvedObject.name=x,reportingComponent=c');
  });
});

describe('what does not parse, or is not offered, is refused in the words of the reference', () => {
  test.each([
    ['metadata.name', pods, "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    ['metadata.name=a=b', pods, 'invalid field selector: unescaped character in value: 61'],
    ['metadata.name!==b', pods, 'invalid field selector: unescaped character in value: 61'],
    ['metadata.name=a\\xb', pods, 'invalid field selector: invalid escape sequence: \\x'],
    ['metadata.name=a\\', pods, 'invalid field selector: invalid escape sequence: \\'],
    ['=a', pods, 'field label not supported: '],
    ['foo=bar', pods, 'field label not supported: foo'],
    ['data.k=v', configMaps, '"data.k" is not a known field selector: only "metadata.name", "metadata.namespace"'],
    ['spec.x=v', jobs, 'field label "spec.x" not supported for Job'],
    ['metadata.namespace=v', slices, 'field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: metadata.namespace'],
  ])('%s', (text, resource, message) => {
    expect(() => parseFieldSelector(text, resource)).toThrow(expect.objectContaining({message, reason: 'BadRequest'}));
  });
});

test('escapes survive a round trip', () => {
  const selector = parseFieldSelector('metadata.name=a\\,b\\=c\\\\', pods);
  expect(requiredValue(selector, 'metadata.name')).toBe('a,b=c\\');
  expect(printFieldSelector(selector)).toBe('metadata.name=a\\,b\\=c\\\\');
});

test('fields are offered per resource', () => {
  expect(selectableFieldNames('', 'nodes')).toEqual(['metadata.name', 'spec.unschedulable']);
  expect(selectableFieldNames('apps', 'replicasets')).toEqual(['metadata.name', 'metadata.namespace']);
  expect(selectableFieldNames('', 'constructor')).toEqual(['metadata.name', 'metadata.namespace']);
});
