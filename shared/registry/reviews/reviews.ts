/** The reviews as handlers: decoding and answering around the files that stand beside this one, one for each kind. */
import {managerOf, updateManagedFields} from '../../apply/managed-fields.ts';
import type {ApiResponse} from '../../http/messages.ts';
import {negotiate, noSuchForm, objectOffer} from '../../http/negotiate.ts';
import {writeOptions} from '../../http/write-options.ts';
import {rfc3339} from '../../kinds/common/time.ts';
import {applyDefaults} from '../../kinds/defaults.ts';
import {type GroupVersionKind, groupVersion} from '../../object.ts';
import {typeByKind} from '../../schema/types.ts';
import {decodeBody} from '../body.ts';
import type {RequestContext} from '../context.ts';
import {decodeImage, orderedObject} from '../encode.ts';
import {matchNamespace} from '../match.ts';
import {respondObject} from '../respond.ts';
import {localSubjectAccessReview} from './local-subject-access-review.ts';
import type {Review, ReviewServices} from './review.ts';
import {selfSubjectAccessReview} from './self-subject-access-review.ts';
import {selfSubjectReview} from './self-subject-review.ts';
import {selfSubjectRulesReview} from './self-subject-rules-review.ts';
import {subjectAccessReview} from './subject-access-review.ts';
import {defaultExpirationSeconds, tokenRequest, tokenRequestKind} from './token-request.ts';
import {tokenReview} from './token-review.ts';

export type {ReviewServices} from './review.ts';

const reviews: Record<string, Review> = {
  LocalSubjectAccessReview: localSubjectAccessReview,
  SelfSubjectAccessReview: selfSubjectAccessReview,
  SelfSubjectReview: selfSubjectReview,
  SelfSubjectRulesReview: selfSubjectRulesReview,
  SubjectAccessReview: subjectAccessReview,
  TokenReview: tokenReview,
};

export class Reviews {
  readonly #services: ReviewServices;

  constructor(services: ReviewServices) {
    this.#services = services;
  }

  /** POST to a collection of reviews. */
  review(context: RequestContext): Promise<ApiResponse> {
    const {group, version, kind} = context.resource;
    return this.#answer(context, {group, version, kind}, reviews[kind]!);
  }

  /** POST serviceaccounts/{name}/token. */
  token(context: RequestContext): Promise<ApiResponse> {
    return this.#answer(context, tokenRequestKind, tokenRequest);
  }

  async #answer(context: RequestContext, gvk: GroupVersionKind, review: Review): Promise<ApiResponse> {
    const {request, info, user, machine} = context;
    const representation = negotiate(request.headers, request.query, objectOffer);
    // Nothing of a review would fill a row.
    if (representation.as?.kind === 'Table') throw noSuchForm(objectOffer);
    const options = writeOptions('CreateOptions', request.query);
    const object = decodeBody(context, gvk, options.fieldValidation);
    applyDefaults(object);
    object['spec'] ??= {};
    if (review === tokenRequest) object['spec'].expirationSeconds ??= defaultExpirationSeconds;
    matchNamespace(context, object);
    const now = machine.clock.now();
    updateManagedFields({
      object,
      manager: managerOf(options.fieldManager, request.headers['user-agent']),
      subresource: info.subresource,
      apiVersion: groupVersion(gvk),
      now: rfc3339(now),
      type: typeByKind(gvk),
    });
    const answer = await review(
      {
        ...this.#services,
        user,
        namespace: info.namespace,
        name: info.name,
        now,
        dryRun: options.dryRun,
        read: async (storageType, namespace, name) => {
          const stored = await machine.store.read(storageType, namespace ? `${namespace}/${name}` : name);
          return stored && decodeImage(stored.image);
        },
      },
      object,
    );
    return respondObject(context, representation, orderedObject(answer), 201);
  }
}
