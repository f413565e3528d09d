import { expect } from 'chai';
import { isPublicMailDomain } from '#src/shared/public-mail.ts';

/** Domains that can't be confirmed for any organization, and domains that can: docs/decisions/0019. */
describe('domains of public mail', () => {
  it('are those of providers all over the world, of paid ones, and those below them', () => {
    const domains =
      'gmail.com googlemail.com GMAIL.COM eu.gmail.com hotmail.com hotmail.co.uk hotmail.fr outlook.com outlook.de live.com msn.com icloud.com me.com mac.com privaterelay.appleid.com yahoo.com yahoo.co.jp aol.com proton.me protonmail.com pm.me gmx.de gmx.net gmx.at gmx.ch web.de t-online.de freenet.de mailbox.org posteo.de orange.fr wanadoo.fr laposte.net free.fr sfr.fr libero.it virgilio.it qq.com 163.com 126.com sina.com foxmail.com 139.com mail.ru bk.ru yandex.ru yandex.com ya.ru rambler.ru fastmail.com fastmail.fm hey.com tutanota.com tuta.com tuta.io zoho.com zohomail.com zoho.eu riseup.net disroot.org bluewin.ch telenet.be ziggo.nl btinternet.com comcast.net wp.pl seznam.cz naver.com uol.com.br müll.email xn--mll-hoa.email mailinator.com duck.com';
    for (const domain of domains.split(' ')) expect(isPublicMailDomain(domain), domain).to.equal(true);
  });

  it('are not those of universities, hospitals, authorities and companies', () => {
    const domains =
      'unican.es alumnos.unican.es upf.org upf.edu stanford.edu umich.edu ohsu.edu columbia.edu salud.unm.edu alumni.tufts.edu tcd.ie liu.se uco.es ul.ie usask.ca nus.edu.sg ox.ac.uk live.ucl.ac.uk mayo.edu mayoclinic.org clevelandclinic.org kp.org charite.de usz.ch aphp.fr karolinska.se nhs.net nhs.uk ncbi.nlm.nih.gov justice.gov.za who.int siemens.com roche.com google.com microsoft.com apple.com clinic.example';
    for (const domain of domains.split(' ')) expect(isPublicMailDomain(domain), domain).to.equal(false);
  });

  it('do not take with them what others register below a suffix', () => {
    for (const domain of [
      'hospital.com.ar',
      'clinic.org.ua',
      'praxis.msk.ru',
      'clinic.co.za',
      'clinic.com.br',
    ])
      expect(isPublicMailDomain(domain), domain).to.equal(false);
    for (const domain of ['yahoo.com.ar', 'fibertel.com.ar', 'hotmail.com.ar', 'ukr.net'])
      expect(isPublicMailDomain(domain), domain).to.equal(true);
  });
});
