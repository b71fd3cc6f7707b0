import {gunzipSync, gzipSync} from 'node:zlib';
import {describe, expect, test} from 'vitest';
import {htmlThrough, type Link, linkThrough, rewriteHtml} from './proxy-links.ts';

const prefix = '/api/v1/namespaces/default/pods/web/proxy';
const link: Link = {prefix, hosts: ['10.1.0.7:8080', 'localhost:6443']};

describe('links of a proxied server', () => {
  test.each([
    ['/a/b?c=d#e', `${prefix}/a/b?c=d#e`],
    ['/', `${prefix}/`],
    ['/a/../b/', `${prefix}/b/`],
    ['http://10.1.0.7:8080/x', `${prefix}/x`],
    ['//localhost:6443/x', `//localhost:6443${prefix}/x`],
    ['https://localhost:6443/x', `https://localhost:6443${prefix}/x`],
    [`${prefix}/already`, `${prefix}/already`],
    ['http://elsewhere.example/x', 'http://elsewhere.example/x'],
    ['relative/x', 'relative/x'],
    ['?q=1', '?q=1'],
    ['#top', '#top'],
    ['mailto:a@b.example', 'mailto:a@b.example'],
    ['javascript:alert(1)', 'javascript:alert(1)'],
  ])('%s leads to %s', (url, expected) => expect(linkThrough(link, url)).toBe(expected));
});

describe('a page', () => {
  test('has its links changed in tags, whatever their quotes, and nothing else', () => {
    const page =
      '<!DOCTYPE html><A  HREF="/x?a=1&amp;b=2">/x</A><img data-x="/no" src=\'/i.png\' usemap=/m><a title=">" href="/y">' +
      '<!-- <a href="/no"> --><script src="/s.js">"<a href=\'/no\'>"</script><p href="/no"><br/><form action="/f">';
    expect(rewriteHtml(link, page)).toBe(
      `<!DOCTYPE html><A  HREF="${prefix}/x?a=1&amp;b=2">/x</A><img data-x="/no" src='${prefix}/i.png' usemap=${prefix}/m><a title=">" href="${prefix}/y">` +
        `<!-- <a href="/no"> --><script src="${prefix}/s.js">"<a href='/no'>"</script><p href="/no"><br/><form action="${prefix}/f">`,
    );
  });

  test.each([
    '<a ',
    '<!--',
    '<a "',
    "<a '",
    '<a b=',
    '</',
    '<a/',
    '<a x',
    '<a\t',
    '<title>',
    '< ',
  ])('of a million times %j takes no time', (piece) => {
    const page = piece.repeat(1_000_000);
    const begin = performance.now();
    expect(rewriteHtml(link, page)).toBe(page);
    expect(performance.now() - begin).toBeLessThan(5_000);
  });

  test('that is packed is unpacked, changed and packed again; one that is not what it says stays as it is', async () => {
    const asked = (body: Buffer) => ({
      status: 200,
      headers: {'content-encoding': 'gzip'},
      body: (async function* () {
        yield body;
      })(),
    });
    const {body, headers} = await htmlThrough(link, asked(gzipSync('<a href="/x">ü</a>')));
    expect(gunzipSync(body as Uint8Array).toString()).toBe(`<a href="${prefix}/x">ü</a>`);
    expect(headers['content-length']).toBe(String((body as Uint8Array).length));
    expect((await htmlThrough(link, asked(Buffer.from('no gzip')))).body).toEqual(Buffer.from('no gzip'));
  });
});
