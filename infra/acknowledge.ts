/** Findings of cdk-nag that are so on purpose, each with its reason, beside what they are about. */
import {Validations} from 'aws-cdk-lib';
import type {IConstruct} from 'constructs';

export function acknowledge(construct: IConstruct, id: string, reason: string): void {
  Validations.of(construct).acknowledge({id, reason});
}
