/** What the tables of both kinds of bindings share: the role, and its subjects by their kind. */
import type {KubeObject} from '../../object.ts';
import {text, wide} from '../common/columns.table.ts';
import {list, type Part} from '../common/loose.ts';

export const subjectColumns = [
  wide(text('Users', 'Users that have the role.')),
  wide(text('Groups', 'Groups that have the role.')),
  wide(text('ServiceAccounts', 'Service accounts that have the role.')),
];

export const roleText = ({roleRef}: KubeObject): string => `${roleRef?.kind ?? ''}/${roleRef?.name ?? ''}`;

export function subjectCells({subjects}: KubeObject): string[] {
  const namesOf = (kind: string, print: (subject: Part) => string): string =>
    list(subjects)
      .filter((subject) => subject.kind === kind)
      .map(print)
      .join(', ');
  const byName = (subject: Part): string => subject.name;
  return [
    namesOf('User', byName),
    namesOf('Group', byName),
    namesOf('ServiceAccount', ({namespace, name}) => `${namespace ?? ''}/${name}`),
  ];
}
