/** Host names of the deployment's own: one for tokens, and one where clients must show a certificate of the truststore. DNS is the owner's. */
import {CfnOutput} from 'aws-cdk-lib';
import {DomainName, EndpointType, type RestApi, SecurityPolicy} from 'aws-cdk-lib/aws-apigateway';
import {Certificate} from 'aws-cdk-lib/aws-certificatemanager';
import {Bucket} from 'aws-cdk-lib/aws-s3';
import {Construct} from 'constructs';
import type {Domain, Settings} from './settings.ts';

export class Domains extends Construct {
  constructor(
    scope: Construct,
    id: string,
    api: RestApi,
    {domain, clientCertificateDomain}: Pick<Settings, 'domain' | 'clientCertificateDomain'>,
  ) {
    super(scope, id);
    if (domain) this.#serve('Domain', api, domain);
    if (clientCertificateDomain) this.#serve('ClientCertificateDomain', api, clientCertificateDomain, clientCertificateDomain.truststore);
  }

  #serve(id: string, api: RestApi, {name, certificateArn}: Domain, truststore?: string): void {
    const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/.exec(truststore ?? '') ?? [];
    const served = new DomainName(this, id, {
      domainName: name,
      certificate: Certificate.fromCertificateArn(this, `${id}Certificate`, certificateArn),
      endpointType: EndpointType.REGIONAL,
      securityPolicy: SecurityPolicy.TLS_1_2,
      ...(bucket !== undefined && {mtls: {bucket: Bucket.fromBucketName(this, `${id}Truststore`, bucket), key: key!}}),
    });
    served.addBasePathMapping(api, {stage: api.deploymentStage});
    new CfnOutput(this, `${id}Target`, {
      description: `what ${name} must be an alias of`,
      value: served.domainNameAliasDomainName,
    });
  }
}
