/** The kubeconfig of a rehearsal: a bearer token of its static token file. */
export function tokenKubeconfig(server: string, caCertificate: string, token: string): string {
  return `apiVersion: v1
kind: Config
clusters:
- name: rehearsal
  cluster:
    server: ${server}
    certificate-authority-data: ${Buffer.from(caCertificate).toString('base64')}
users:
- name: rehearsal-admin
  user:
    token: ${token}
contexts:
- name: rehearsal
  context:
    cluster: rehearsal
    user: rehearsal-admin
current-context: rehearsal
`;
}
