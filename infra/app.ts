/** The CDK app: `npx cdk deploy -c cluster=NAME`. Context is told by ./settings.ts; deployments carry the bundles of functions/. */
import {fileURLToPath} from 'node:url';
import {App, Validations} from 'aws-cdk-lib';
import {AwsSolutionsChecks} from 'cdk-nag';
import {bundles} from './bundles.ts';
import {ClusterStack} from './cluster-stack.ts';
import {administrators} from './deployer.ts';
import {readSettings} from './settings.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const app = new App();
const settings = await administrators(
  readSettings((key) => app.node.tryGetContext(key)),
  process.env,
);
const {code, release} = bundles(root);
// Of no account and region: the same template anywhere.
new ClusterStack(app, `clusterless-${settings.cluster}`, {settings, code, release});
Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
app.synth();
