/** Who may approve and who may sign depends on the signer that a request names; nobody becomes a master by certificate. */
import {goQuote} from '../field-errors.ts';
import {sameJson} from '../kinds/common/equal.ts';
import type {KubeObject} from '../object.ts';
import {type AdmissionAttributes, type Plugin, refuse} from './attributes.ts';
import type {Lookups} from './lookups.ts';

const resources = ['certificatesigningrequests.certificates.k8s.io'];
const clientSigner = 'kubernetes.io/kube-apiserver-client';

/** For the signer by name, or for all of its domain. */
async function maySignAs({user}: AdmissionAttributes, lookups: Lookups, verb: string, signer: string): Promise<boolean> {
  const ask = (name: string) =>
    lookups.allowed({
      user,
      verb,
      isResourceRequest: true,
      namespace: '',
      apiGroup: 'certificates.k8s.io',
      apiVersion: '*',
      resource: 'signers',
      subresource: '',
      name,
      path: '',
    });
  return (await ask(signer)) || ask(`${signer.split('/')[0]}/*`);
}

const signerOf = (object: KubeObject | undefined): string => object?.spec?.signerName ?? '';

export const certificateApproval: Plugin = {
  name: 'CertificateApproval',
  operations: ['UPDATE'],
  resources,
  subresources: ['approval'],
  async validate(attributes, lookups) {
    const signer = signerOf(attributes.old);
    if (attributes.subresource === 'approval' && !(await maySignAs(attributes, lookups, 'approve', signer)))
      throw refuse(attributes, `user not permitted to approve requests with signerName ${goQuote(signer)}`);
  },
};

export const certificateSigning: Plugin = {
  name: 'CertificateSigning',
  operations: ['UPDATE'],
  resources,
  subresources: ['status'],
  async validate(attributes, lookups) {
    const {subresource, object, old} = attributes;
    if (subresource !== 'status') return;
    const [after, before] = [object?.status ?? {}, old?.status ?? {}];
    if (after.certificate === before.certificate && sameJson(after.conditions, before.conditions)) return;
    const signer = signerOf(old);
    if (!(await maySignAs(attributes, lookups, 'sign', signer)))
      throw refuse(attributes, `user not permitted to sign requests with signerName ${goQuote(signer)}`);
  },
};

export const certificateSubjectRestriction: Plugin = {
  name: 'CertificateSubjectRestriction',
  operations: ['CREATE'],
  resources,
  async validate(attributes) {
    const {object} = attributes;
    if (signerOf(object) !== clientSigner) return;
    if ((await organizations(object?.spec?.request ?? '')).includes('system:masters'))
      throw refuse(attributes, `use of ${clientSigner} signer with system:masters group is not allowed`);
  },
};

/** The field holds base64 of PEM. That it can be read was validated before. The parser is only loaded when somebody asks for a certificate. */
async function organizations(request: string): Promise<string[]> {
  const {Pkcs10CertificateRequest} = await import('@peculiar/x509');
  try {
    return new Pkcs10CertificateRequest(atob(request)).subjectName.getField('O');
  } catch {
    return [];
  }
}
