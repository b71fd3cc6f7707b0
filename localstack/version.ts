/** What this release is, and what it behaves as. */
export const version = '0.1.0';
export const kubernetesVersion = 'v1.36.3';
