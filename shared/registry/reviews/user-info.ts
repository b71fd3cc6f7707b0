/** A user as reviews show them. */
import type {UserInfo} from '../../auth/user.ts';

export const shownUser = ({name, uid, groups, extra}: UserInfo): Record<string, unknown> => ({
  ...(name && {username: name}),
  ...(uid && {uid}),
  ...(groups.length > 0 && {groups}),
  ...(extra && Object.keys(extra).length > 0 && {extra: sortedByKey(extra)}),
});

/** As Go writes a map. */
const sortedByKey = (map: Readonly<Record<string, readonly string[]>>): Record<string, readonly string[]> =>
  Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
