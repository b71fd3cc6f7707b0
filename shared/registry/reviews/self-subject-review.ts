/** SelfSubjectReview: who am I? */
import {rfc3339} from '../../kinds/common/time.ts';
import type {Review} from './review.ts';
import {shownUser} from './user-info.ts';

export const selfSubjectReview: Review = async ({user, now}, {kind, apiVersion}) => ({
  kind,
  apiVersion,
  metadata: {creationTimestamp: rfc3339(now)},
  status: {userInfo: shownUser(user)},
});
