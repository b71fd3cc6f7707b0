/** The form of a token: what the client signs and the server looks at before it asks anybody. */

export const tokenPrefix = 'k8s-aws-v1.';
/** Signed, not in the URL: a token for one cluster is none for another. */
export const clusterHeader = 'x-k8s-aws-id';
