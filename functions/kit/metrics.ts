/**
 * What a request was and how long it took, as a line of the log in CloudWatch's embedded metric format: CloudWatch adds up what the
 * environments of all functions write. A metric costs by its dimensions, so there is one, the cluster; what else is known stays in the
 * line, where Logs Insights finds it.
 *
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
 */
import type {MiddlewareObj} from '@middy/core';
import type {ApiResponse} from '../../shared/http/messages.ts';
import type {FunctionName} from '../functions.ts';
import {doors} from './doors.ts';

const units: Record<string, string> = {Requests: 'Count', Duration: 'Milliseconds', Failures: 'Count', DeprecatedRequests: 'Count'};
const deprecation = /deprecated in v\d/;

export function counted(name: FunctionName): MiddlewareObj<unknown, ApiResponse> {
  const startedAt = new WeakMap<object, number>();
  const finished = (request: {event: unknown; response: ApiResponse | null}): void => {
    const {CLUSTERLESS_METRICS_NAMESPACE: namespace, CLUSTERLESS_CLUSTER: cluster = 'default'} = doors.variables;
    if (!namespace) return;
    const status = request.response?.status ?? 500;
    const {httpMethod: method, resource, path} = (request.event ?? {}) as {httpMethod?: unknown; resource?: unknown; path?: unknown};
    const isDeprecated = deprecation.test(String(request.response?.headers['warning'] ?? ''));
    const values: Record<string, number> = {
      Requests: 1,
      Duration: performance.now() - (startedAt.get(request) ?? performance.now()),
      // A metric that nobody writes costs nothing.
      ...(status >= 500 && {Failures: 1}),
      ...(isDeprecated && {DeprecatedRequests: 1}),
    };
    const metrics = Object.keys(values).map((metric) => ({Name: metric, Unit: units[metric]}));
    doors.writeLine({
      _aws: {Timestamp: doors.clock.now(), CloudWatchMetrics: [{Namespace: namespace, Dimensions: [['Cluster']], Metrics: metrics}]},
      Cluster: cluster,
      ...values,
      function: name,
      method,
      resource,
      // Which deprecated API, for who asks the log.
      ...(isDeprecated && {path}),
      status,
    });
  };
  return {
    before: (request) => void startedAt.set(request, performance.now()),
    after: finished,
    onError: finished,
  };
}
