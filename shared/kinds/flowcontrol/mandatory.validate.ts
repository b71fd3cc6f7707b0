/** The specs that every server has and nobody may change, so that requests always match a schema and a level. */

const everything = {
  resourceRules: [{verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*']}],
  nonResourceRules: [{verbs: ['*'], nonResourceURLs: ['*']}],
};
const groups = (...names: string[]) => names.map((name) => ({kind: 'Group', group: {name}}));

export const mandatoryFlowSchemas: Readonly<Record<string, object>> = {
  exempt: {
    priorityLevelConfiguration: {name: 'exempt'},
    matchingPrecedence: 1,
    rules: [{subjects: groups('system:masters'), ...everything}],
  },
  'catch-all': {
    priorityLevelConfiguration: {name: 'catch-all'},
    matchingPrecedence: 10_000,
    distinguisherMethod: {type: 'ByUser'},
    rules: [{subjects: groups('system:unauthenticated', 'system:authenticated'), ...everything}],
  },
};

export const mandatoryPriorityLevels: Readonly<Record<string, object>> = {
  // What it holds under `exempt` may change.
  exempt: {type: 'Exempt'},
  'catch-all': {type: 'Limited', limited: {nominalConcurrencyShares: 5, limitResponse: {type: 'Reject'}, lendablePercent: 0}},
};
