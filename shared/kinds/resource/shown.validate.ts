/** Specs of claims as the reference shows those that changed. */
import {type GoField, goShape} from '../common/go-shape.ts';
import type {Part} from '../common/loose.ts';

const selector: readonly GoField[] = [['CEL', 'cel', null, [['Expression', 'expression', '']]]];
const toleration: readonly GoField[] = [
  ['Key', 'key', ''],
  ['Operator', 'operator', ''],
  ['Value', 'value', ''],
  ['Effect', 'effect', ''],
  ['TolerationSeconds', 'tolerationSeconds', null],
];
const capacity: readonly GoField[] = [['Requests', 'requests', null]];
const wanted: readonly GoField[] = [
  ['DeviceClassName', 'deviceClassName', ''],
  ['Selectors', 'selectors', null, selector],
  ['AllocationMode', 'allocationMode', ''],
  ['Count', 'count', 0],
];
const tail: readonly GoField[] = [
  ['Tolerations', 'tolerations', null, toleration],
  ['Capacity', 'capacity', null, capacity],
];
const request: readonly GoField[] = [
  ['Name', 'name', ''],
  ['Exactly', 'exactly', null, [...wanted, ['AdminAccess', 'adminAccess', null], ...tail]],
  ['FirstAvailable', 'firstAvailable', null, [['Name', 'name', ''], ...wanted, ...tail]],
];
const constraint: readonly GoField[] = [
  ['Requests', 'requests', null],
  ['MatchAttribute', 'matchAttribute', null],
  ['DistinctAttribute', 'distinctAttribute', null],
];
const opaque: readonly GoField[] = [
  ['Driver', 'driver', ''],
  ['Parameters', 'parameters', null],
];
const devices: readonly GoField[] = [
  ['Requests', 'requests', null, request],
  ['Constraints', 'constraints', null, constraint],
  [
    'Config',
    'config',
    null,
    [
      ['Requests', 'requests', null],
      ['Opaque', 'opaque', null, opaque],
    ],
  ],
];

export const shownClaimSpec = (spec: Part): Part => ({Devices: goShape(spec?.devices ?? {}, devices)});

/** Metadata stands among the fields. */
export const shownTemplateSpec = (spec: Part): Part => ({...spec?.metadata, Spec: shownClaimSpec(spec?.spec)});
