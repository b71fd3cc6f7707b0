/** SelfSubjectReview: who am I? */
import {timestamp} from '../time.ts';
import type {Review} from './review.ts';
import {shownUser} from './user-info.ts';

export const selfSubjectReview: Review = async ({user, now}, {kind, apiVersion}) => ({
  kind,
  apiVersion,
  metadata: {creationTimestamp: timestamp(now)},
  status: {userInfo: shownUser(user)},
});
