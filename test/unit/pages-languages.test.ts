/** The pages' languages: no text is missing, and placeholders are the same in all languages. */
import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { languageMenu } from '#src/http/pages/language-menu.ts';
import { en } from '#src/http/pages/languages/en.ts';
import { chooseLanguage, LANGUAGES, type Language, languagesFor, texts } from '#src/http/pages/texts.ts';

const FOLDER = new URL('../../src/http/pages/languages/', import.meta.url);

/** Returns the texts in a language's file. */
async function wordingOf(language: string): Promise<Record<string, string>> {
  const module: Record<string, Record<string, string>> = await import(new URL(`${language}.ts`, FOLDER).href);
  return module[language] ?? {};
}

/** Returns the names of the placeholders in a text; those with plural forms as `{name|}`. */
const placeholders = (text: string): string[] =>
  (text.match(/\{[^}]*\}/g) ?? []).map((whole) => whole.replace(/\|.*\}$/, '|}')).sort();

/** Returns the plural categories for each placeholder in a text. */
const pluralsIn = (text: string): string[][] =>
  [...text.matchAll(/\{[a-z]+\|([^}]*)\}/g)].map(([, forms = '']) =>
    forms.split('|').map((form) => form.slice(0, form.indexOf(':'))),
  );

describe('the languages of the pages', () => {
  const languages = Object.keys(LANGUAGES);

  it('are English, German, French, Spanish, Norwegian and Arabic, a file each', () => {
    expect(languages).to.deep.equal(['en', 'de', 'fr', 'es', 'nb', 'ar']);
    const files = readdirSync(FOLDER).map((name) => name.replace(/\.ts$/, ''));
    expect(files.filter((name) => name !== 'language').sort()).to.deep.equal([...languages].sort());
  });

  for (const language of languages) {
    it(`has every text, in the order of English, with the same placeholders: ${language}`, async () => {
      const wording = await wordingOf(language);
      expect(Object.keys(wording)).to.deep.equal(Object.keys(en));
      for (const [key, english] of Object.entries<string>(en)) {
        const text = wording[key] ?? '';
        expect(text.trim(), key).to.equal(text).and.not.equal('');
        expect(placeholders(text), key).to.deep.equal(placeholders(english));
        for (const placeholder of placeholders(text)) expect(placeholder).to.match(/^\{[a-z]+\|?\}$/);
        // In French and Spanish, `many` is used for millions.
        const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions();
        const needed = pluralCategories.filter((each) => language === 'ar' || each !== 'many');
        for (const forms of pluralsIn(text))
          expect(
            forms.filter((form) => form !== 'none'),
            key,
          ).to.have.members(needed);
        // The pages escape characters that change the text direction; names are wrapped in `bdi` instead.
        expect(text, key).not.to.match(/[\u200e\u200f\u202a-\u202e\u2066-\u2069<>]/);
      }
    });
  }

  it('are not left in English', async () => {
    for (const language of languages.filter((each) => each !== 'en')) {
      const wording = await wordingOf(language);
      const same = Object.entries<string>(en).filter(
        // Some results have the same name in several languages, such as Vitamin D.
        ([key, text]) => wording[key] === text && / /.test(text) && !key.startsWith('result.'),
      );
      expect(same, language).to.deep.equal([]);
    }
  });
});

describe('the language of a page', () => {
  it('is the one that lang names, by its primary subtag, else English', () => {
    const named: readonly (readonly [string | null | undefined, Language])[] = [
      ['de', 'de'],
      ['de-CH', 'de'],
      ['AR', 'ar'],
      ['no', 'nb'],
      ['nn-NO', 'nb'],
      ['nb', 'nb'],
      ['tlh', 'en'],
      ['', 'en'],
      [null, 'en'],
      [undefined, 'en'],
      ['constructor', 'en'],
      ['__proto__', 'en'],
    ];
    for (const [lang, language] of named) expect(chooseLanguage(lang), String(lang)).to.equal(language);
  });

  it('is offered in the menu in the order that the browser prefers', () => {
    expect(languagesFor('')).to.deep.equal(['en', 'de', 'fr', 'es', 'nb', 'ar']);
    expect(languagesFor('nn-NO,no;q=0.9,ar;q=0.95,fr;q=0, x')).to.deep.equal([
      'nb',
      'ar',
      'en',
      'de',
      'fr',
      'es',
    ]);
  });

  it('writes days in its own words, with digits that all readers of it know', () => {
    const at = Date.UTC(2026, 10, 23);
    const written = (['en', 'de', 'fr', 'es', 'nb', 'ar'] as const).map((each) => texts(each).day(at));
    expect(written).to.deep.equal([
      '23 November 2026',
      '23. November 2026',
      '23 novembre 2026',
      '23 de noviembre de 2026',
      '23. november 2026',
      '23 نوفمبر 2026',
    ]);
  });
});

describe('a text with a number', () => {
  it('has the form of the number’s plural category, and the digits of the language', () => {
    const told = (lang: Language, times: number): string =>
      texts(lang)('usage.earlier', { times, when: '…' });
    expect([0, 1, 2, 1234].map((times) => told('en', times))).to.deep.equal([
      'Last read …, 0 times in all',
      'Last read …, once in all',
      'Last read …, 2 times in all',
      'Last read …, 1,234 times in all',
    ]);
    const arabic = [0, 1, 2, 3, 11, 100].map((times) => told('ar', times).split('، ')[1]);
    expect(arabic).to.deep.equal([
      'ولا مرة إجمالاً',
      'مرة واحدة إجمالاً',
      'مرتين إجمالاً',
      '3 مرات إجمالاً',
      '11 مرة إجمالاً',
      '100 مرة إجمالاً',
    ]);
    expect(texts('en')('home.applications', { applications: 0 })).to.equal('No application may use it');
  });

  it('keeps what stands in its placeholders as text', () => {
    const text = texts('en').html('consent.title', { app: '<b>{app|one:x}</b>' }).text;
    expect(text).to.equal('&lt;b&gt;{app|one:x}&lt;/b&gt; asks for access');
  });
});

describe('the language menu', () => {
  it('links to the same page with another lang, everything else unchanged', () => {
    const menu = languageMenu('de', {
      url: '/base/oauth/authorize?state=a%26b&lang=de&lang=fr',
      acceptLanguage: 'es',
    });
    expect(menu.text).to.include('href="/base/oauth/authorize?state=a%26b&amp;lang=es"');
    expect(menu.text).to.include('<span lang="de" aria-current="true">Deutsch</span>');
    expect(menu.text.indexOf('Español')).to.be.lessThan(menu.text.indexOf('English'));
  });
});
