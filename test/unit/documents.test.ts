import { expect } from 'chai';
import fc from 'fast-check';
import { contradiction } from '#src/documents/content-type.ts';
import { Digest } from '#src/documents/digest.ts';
import { isSigned, signUpload } from '#src/documents/signature.ts';
import { heldContents, isOwnUrl, withStored } from '#src/fhir/document-content.ts';
import { attachmentAs, fileName } from '#src/http/answer/disposition.ts';
import { rangeIn } from '#src/http/answer/range.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { DOCUMENT_KINDS, shownDocument, toDocument } from '#src/v1/document.ts';

const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const ZIP = Buffer.from('504b0304140000000000', 'hex');
const digested = (bytes: Buffer) => {
  const digest = new Digest(1_000_000);
  digest.update(bytes);
  return digest.end();
};

describe('bytes of documents', () => {
  it('are text when they are UTF-8, however they are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('a', '\n', 'é', '€', '😀', '\u{10ffff}')),
        fc.array(fc.nat(5)),
        (text, cuts) => {
          const bytes = Buffer.from(text.join(''));
          const digest = new Digest(1_000_000);
          let from = 0;
          for (const cut of cuts) {
            digest.update(bytes.subarray(from, from + cut));
            from += cut;
          }
          digest.update(bytes.subarray(from));
          expect(digest.end()).to.deep.include({ text: true, size: bytes.length });
        },
      ),
    );
    for (const hex of ['c328', 'e28281ff', '00', 'f09f98', '80'])
      expect(digested(Buffer.from(hex, 'hex')).text, hex).to.equal(false);
  });

  it('beyond the limit are refused as soon as they come', () => {
    const digest = new Digest(10);
    digest.update(Buffer.alloc(10));
    expect(() => digest.update(Buffer.alloc(1))).to.throw(Refusal, 'larger than 10 bytes');
  });

  it('are held against their content type', async () => {
    const pdf = Buffer.from('%PDF-1.4\n');
    const text = Buffer.from('Hello');
    for (const [type, bytes, found] of [
      ['application/pdf', pdf, undefined],
      ['Application/PDF; version=1.4', pdf, undefined],
      ['application/pdf', PNG, 'image/png'],
      ['application/pdf', text, 'text'],
      ['application/pdf', Buffer.from([1, 2, 3, 255]), 'of an unknown type'],
      ['image/jpeg', PNG, 'image/png'],
      ['image/x-png', PNG, undefined],
      ['text/plain', text, undefined],
      ['text/plain', pdf, 'application/pdf'],
      ['text/plain', Buffer.from([0xc3, 0x28]), 'not UTF-8 text'],
      ['text/plain; charset=iso-8859-1', Buffer.from([0xe4, 0x28]), undefined],
      ['application/fhir+json', text, undefined],
      ['application/fhir+xml', Buffer.from('<?xml version="1.0"?><a/>'), undefined],
      ['text/html', Buffer.from('<?xml version="1.0"?><html/>'), undefined],
      ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', ZIP, undefined],
      ['application/zip', ZIP, undefined],
      ['application/zip', Buffer.concat([ZIP, Buffer.alloc(9_000, 1)]), undefined],
      ['image/png', ZIP, 'application/zip'],
      ['application/octet-stream', PNG, undefined],
      ['application/vnd.maker.scan', Buffer.from([1, 2, 3, 255]), undefined],
      ['application/vnd.maker.scan', PNG, 'image/png'],
    ] as const)
      expect(await contradiction(type, digested(bytes)), `${type} ${found}`).to.equal(found);
  });

  it('have names that lead nowhere, in ASCII and UTF-8', () => {
    for (const [title, type, name] of [
      ['Report', 'application/pdf', 'Report.pdf'],
      ['Report.PDF', 'application/pdf', 'Report.PDF'],
      ['../../etc/passwd', 'text/plain', 'etc passwd.txt'],
      ['a\r\nX: y"', 'text/plain', 'a X y.txt'],
      ['bill\u202efdp.exe', 'application/pdf', 'billfdp.exe.pdf'],
      [null, 'image/jpeg', 'document.jpg'],
      ['x', 'application/x-unknown', 'x'],
    ] as const)
      expect(fileName(title, type).replaceAll(/ +/g, ' ').trim(), String(title)).to.equal(name);
    // An id that appears only after cleaning wasn't replaced under the grant, so it is hidden.
    const id = '01a21aa7-6c38-7519-98ed-2c1673b4aada';
    const none = '00000000-0000-0000-0000-000000000000';
    expect(fileName(`of ${id}`, 'text/plain')).to.equal(`of ${id}.txt`);
    expect(fileName(`of 01a21\u200b${id.slice(5)}`, 'text/plain')).to.equal(`of ${none}.txt`);
    expect(attachmentAs(`\uff10${id.slice(1)}.txt`)).to.include(`filename=${none}.txt;`);
    expect(attachmentAs('a.pdf')).to.equal('attachment; filename=a.pdf');
    expect(attachmentAs("Zürich's.pdf")).to.equal(
      `attachment; filename=Zurich's.pdf; filename*=UTF-8''Z%C3%BCrich%27s.pdf`,
    );
    expect(attachmentAs('日本')).to.equal(
      `attachment; filename=document; filename*=UTF-8''%E6%97%A5%E6%9C%AC`,
    );
  });

  it('are given in parts: RFC 9110', () => {
    const part = (range: string, condition?: string) =>
      rangeIn((name) => ({ range, 'if-range': condition })[name], 100, '"e"');
    for (const [range, expected] of [
      ['bytes=0-0', { start: 0, end: 0 }],
      ['bytes=90-200', { start: 90, end: 99 }],
      ['bytes=-200', { start: 0, end: 99 }],
      ['bytes=-0', 'none'],
      ['bytes=100-', 'none'],
      ['bytes=5-4', undefined],
      ['bytes=-', undefined],
      ['bytes=0-1,2-3', undefined],
      ['pages=1-2', undefined],
    ] as const)
      expect(part(range), range).to.deep.equal(expected);
    expect(part('bytes=0-0', '"e"')).to.deep.equal({ start: 0, end: 0 });
    expect(part('bytes=0-0', 'W/"e"')).to.equal(undefined);
  });

  it('may be sent where a signature says so, and nowhere else', () => {
    const key = Buffer.alloc(32, 1);
    const right = { document: 'a', expires: 10 };
    const signature = signUpload(key, right);
    expect(isSigned(key, right, signature)).to.equal(true);
    for (const other of [
      { ...right, document: 'b' },
      { ...right, expires: 11 },
    ])
      expect(isSigned(key, other, signature)).to.equal(false);
    expect(isSigned(Buffer.alloc(32), right, signature)).to.equal(false);
    expect(isSigned(key, right, '')).to.equal(false);
  });
});

describe('documents of REST v1 and DocumentReferences', () => {
  it('v1 → FHIR → v1 says the same', () => {
    const word = fc.string({ minLength: 1 });
    const date = fc
      .date({ min: new Date('1900-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
      .map((day) => day.toISOString().slice(0, 10));
    const given = fc.record(
      {
        title: word,
        kind: fc.constantFrom(...DOCUMENT_KINDS),
        content_type: fc.constantFrom('application/pdf', 'text/plain; charset=utf-8'),
        date,
        description: word,
      },
      { requiredKeys: ['title', 'kind', 'content_type'] },
    );
    fc.assert(
      fc.property(given, (document) => {
        const shown = shownDocument({ ...toDocument(document, 'Patient/1'), id: '1' });
        const none = { date: null, description: null, size: null, sha256: null, status: 'pending' };
        expect(shown).to.deep.equal({ ...none, ...document });
      }),
    );
  });

  it('what FHIR wrote is shown: kinds of other codes, a day of an instant, content elsewhere', () => {
    const loinc = (code: string) => ({ coding: [{ system: 'http://loinc.org', code, display: 'Words' }] });
    const attachment = { contentType: 'application/pdf', url: 'https://elsewhere.example/x', size: 7 };
    const document = {
      resourceType: 'DocumentReference',
      id: '1',
      type: loinc('34105-7'),
      date: '2026-01-02T23:30:00+05:00',
      content: [{ attachment }],
    };
    expect(shownDocument(document)).to.deep.equal({
      title: 'Words',
      kind: 'discharge_summary',
      content_type: 'application/pdf',
      date: '2026-01-02',
      description: null,
      status: 'final',
      size: 7,
      sha256: null,
    });
    expect(shownDocument({ ...document, type: loinc('1-8') }).kind).to.equal('other');
  });

  it('know their own content by its URL, under any base', () => {
    for (const [url, own] of [
      ['https://a.example/v1/documents/1/content', true],
      ['http://localhost:3000/x/v1/documents/1/content?attachment=b-2', true],
      ['https://a.example/v1/documents/2/content', false],
      ['https://a.example/v1/documents/1/content?x=y', false],
      ['urn:x:/v1/documents/1/content', false],
      [undefined, false],
    ] as const)
      expect(isOwnUrl(url, '1'), String(url)).to.equal(own);
    const stored = { blob: 'b', contentType: 'text/plain', size: 1, sha256: 'aa', sha1: 'bb' };
    const url = 'https://a.example/v1/documents/1/content';
    const attachment = withStored(
      { contentType: 'text/plain', data: 'eA==', url: 'https://b.example' },
      { ...stored, url },
    );
    expect(JSON.stringify(attachment)).to.contain('https://b.example').and.not.contain('eA==');
    const [held] = heldContents({ content: [{ attachment }] }, '1');
    expect(held).to.deep.include({ blob: 'b', size: 1, sha256: 'aa', index: 0 });
    expect(heldContents({ content: [{ attachment }] }, '2')).to.deep.equal([]);
  });
});
