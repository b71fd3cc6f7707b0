import {describe, expect, test} from 'vitest';
import {headOf, proxyResult} from './answer.ts';

const json = {'content-type': 'application/json'};

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/set-up-lambda-proxy-integrations.html#api-gateway-simple-proxy-for-lambda-output-format */
describe('an answer to the gateway', () => {
  test('has what stands once among the headers, and what repeats among the lists', () => {
    expect(headOf({status: 200, headers: {...json, warning: ['299 - "a"', '299 - "b"']}})).toEqual({
      statusCode: 200,
      headers: json,
      multiValueHeaders: {warning: ['299 - "a"', '299 - "b"']},
    });
  });

  test('is text where it is text, and base64 where it is bytes or compressed', () => {
    const body = Buffer.from('{}');
    expect(proxyResult({status: 200, headers: json}, body)).toMatchObject({body: '{}', isBase64Encoded: false});
    expect(proxyResult({status: 200, headers: {...json, 'content-encoding': 'gzip'}}, body)).toMatchObject({isBase64Encoded: true});
    expect(proxyResult({status: 200, headers: {'content-type': 'application/vnd.kubernetes.protobuf'}}, body)).toMatchObject({
      body: 'e30=',
      isBase64Encoded: true,
    });
    expect(proxyResult({status: 304, headers: {}}, new Uint8Array(0))).toEqual({
      statusCode: 304,
      headers: {},
      body: '',
      isBase64Encoded: true,
    });
  });

  test('that is long goes as base64, whose length does not depend on what is in it', () => {
    const quotes = Buffer.alloc(4_000_000, '"');
    const result = proxyResult({status: 200, headers: json}, quotes)!;
    expect(result.isBase64Encoded).toBe(true);
    expect(JSON.stringify(result).length).toBeLessThan(6 * 1024 * 1024);
  });

  test('that Lambda would not take is none', () => {
    expect(proxyResult({status: 200, headers: json}, Buffer.alloc(5 * 1024 * 1024))).toBeUndefined();
  });
});
