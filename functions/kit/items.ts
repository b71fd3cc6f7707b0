/** What is the same about the items of all tables of connections. */
import type {AttributeValue} from '@aws-sdk/client-dynamodb';

export const numberOf = (value: AttributeValue | undefined): number => Number(value?.N ?? 0);
export const isConditionFailure = (error: unknown): boolean => (error as Error).name === 'ConditionalCheckFailedException';
