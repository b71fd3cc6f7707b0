import {describe, expect, test} from 'vitest';
import type {PodStatus} from '../pods/pod.ts';
import {patchOf} from './writer.ts';

const status = (more: Partial<PodStatus> = {}): PodStatus => ({
  phase: 'Running',
  conditions: [{type: 'Ready', status: 'True'}],
  podIPs: [{ip: '10.0.0.1'}],
  ...more,
});

describe('the patch from one status to another', () => {
  test('is nothing where they say the same, whatever the order of their fields', () => {
    expect(patchOf(status(), status())).toBeUndefined();
    expect(
      patchOf({conditions: [{status: 'True', type: 'Ready'}], podIPs: [{ip: '10.0.0.1'}], phase: 'Running'}, status()),
    ).toBeUndefined();
  });

  test('holds only what differs, and takes away what is gone', () => {
    expect(patchOf(status({reason: 'x'}), status({phase: 'Failed'}))).toEqual({phase: 'Failed', reason: null});
  });

  test('leaves conditions of others alone, and clears the words of ours', () => {
    const before = status({
      conditions: [
        {type: 'Ready', status: 'False', reason: 'r', message: 'm'},
        {type: 'theirs', status: 'True'},
      ],
    });
    expect(patchOf(before, status())).toEqual({conditions: [{type: 'Ready', status: 'True', reason: null, message: null}]});
  });

  test('removes conditions of ours that are over', () => {
    const before = status({conditions: [...(status().conditions ?? []), {type: 'PodResizePending', status: 'True'}]});
    expect(patchOf(before, status())).toEqual({conditions: [{$patch: 'delete', type: 'PodResizePending'}]});
  });

  test('replaces addresses, which would merge', () => {
    expect(patchOf(status(), status({podIPs: [{ip: '10.0.0.2'}]}))).toEqual({podIPs: [{$patch: 'replace'}, {ip: '10.0.0.2'}]});
  });
});
