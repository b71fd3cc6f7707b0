/** A synthesized stack for tests, without bundles: what a function is made of is not what a template is about. */
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {App, Validations} from 'aws-cdk-lib';
import {Template} from 'aws-cdk-lib/assertions';
import {Code} from 'aws-cdk-lib/aws-lambda';
import {AwsSolutionsChecks} from 'cdk-nag';
import {ClusterStack} from './cluster-stack.ts';
import {readSettings} from './settings.ts';

export interface Resource {
  Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: templates are what CloudFormation says they are
  Properties: Record<string, any>;
  DeletionPolicy?: string;
}

export interface Synthesized {
  template: Template;
  resources: Record<string, Resource>;
  ofType(type: string): [id: string, resource: Resource][];
}

/** @throws Error for a finding of cdk-nag that nobody acknowledged, when asked to check */
export function synthesize(context: Record<string, unknown> = {}, {check = false} = {}): Synthesized {
  const outdir = mkdtempSync(join(tmpdir(), 'clusterless-synth-'));
  try {
    const app = new App({outdir: join(outdir, 'out'), analyticsReporting: false});
    const settings = readSettings((key) => context[key]);
    const stack = new ClusterStack(app, `clusterless-${settings.cluster}`, {
      settings,
      code: () => Code.fromInline('placeholder'),
      release: '1',
    });
    if (check) Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
    if (check) app.synth();
    const template = Template.fromStack(stack);
    const {Resources: resources} = template.toJSON() as {Resources: Record<string, Resource>};
    return {template, resources, ofType: (type) => Object.entries(resources).filter(([, {Type}]) => Type === type)};
  } finally {
    rmSync(outdir, {recursive: true, force: true});
  }
}
