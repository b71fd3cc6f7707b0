/** What the certificates of API Gateway's own host names lead to, as PEM: pods verify the API with it. */
import {X509Certificate} from 'node:crypto';
import {rootCertificates} from 'node:tls';

export const amazonRoots = (): string =>
  `${rootCertificates.filter((pem) => /^(O=Amazon|CN=Starfield Services Root .*)$/m.test(new X509Certificate(pem).subject)).join('\n')}\n`;
