/** What DynamoDB says that tables consumed, from CloudWatch: minutes behind, and to the unit. */
import {defaultProvider} from '@aws-sdk/credential-provider-node';
import {SignatureV4} from '@smithy/signature-v4';
import {Sha256} from '../../shared/auth/aws-iam/presign.ts';

export interface Consumed {
  readUnits: number;
  writeUnits: number;
}

export async function consumed(region: string, tables: readonly string[], from: Date, to: Date): Promise<Consumed> {
  const signer = new SignatureV4({credentials: defaultProvider(), region, service: 'monitoring', sha256: Sha256});
  const sum = async (metric: string): Promise<number> => {
    const sums = await Promise.all(tables.map((table) => statistic(signer, region, table, metric, from, to)));
    return sums.reduce((total, one) => total + one, 0);
  };
  return {readUnits: await sum('ConsumedReadCapacityUnits'), writeUnits: await sum('ConsumedWriteCapacityUnits')};
}

async function statistic(signer: SignatureV4, region: string, table: string, metric: string, from: Date, to: Date): Promise<number> {
  const hostname = `monitoring.${region}.amazonaws.com`;
  const body = new URLSearchParams({
    Action: 'GetMetricStatistics',
    Version: '2010-08-01',
    Namespace: 'AWS/DynamoDB',
    MetricName: metric,
    'Dimensions.member.1.Name': 'TableName',
    'Dimensions.member.1.Value': table,
    StartTime: from.toISOString(),
    EndTime: to.toISOString(),
    Period: '60',
    'Statistics.member.1': 'Sum',
  }).toString();
  const headers = {host: hostname, 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json'};
  const signed = await signer.sign({method: 'POST', protocol: 'https:', hostname, path: '/', headers, body});
  const answer = await fetch(`https://${hostname}/`, {method: 'POST', headers: signed.headers, body});
  const text = await answer.text();
  if (!answer.ok) throw new Error(`CloudWatch: ${answer.status} ${text}`);
  const points = text.startsWith('{')
    ? (JSON.parse(text).GetMetricStatisticsResponse.GetMetricStatisticsResult.Datapoints as {Sum: number}[]).map(({Sum}) => Sum)
    : [...text.matchAll(/<Sum>([^<]+)<\/Sum>/g)].map(([, value]) => Number(value));
  return points.reduce((total, value) => total + value, 0);
}
