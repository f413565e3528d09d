/**
 * Names and addresses by country: short lists of common ones, including accents; also in the country's own script if that
 * isn't Latin.
 */

/** A name in Latin letters and, if the country uses another script, also in that script. */
export type Name = readonly [latin: string, own?: string];

/** A country's names and addresses. */
export interface Country {
  /** ISO 3166-1 alpha-2. */
  readonly code: string;
  /** BCP 47. */
  readonly language: string;
  /** Calling code. */
  readonly phone: string;
  readonly female: readonly Name[];
  readonly male: readonly Name[];
  readonly family: readonly Name[];
  /** Women's family names, if they differ from men's, in the order of `family`. */
  readonly familyOfWomen?: readonly Name[];
  readonly streets: readonly string[];
  readonly cities: readonly (readonly [postalCode: string, city: string])[];
}

const names = (text: string): Name[] =>
  text.split(' ').map((one): Name => {
    const [latin = '', own] = one.split('/');
    return own === undefined ? [latin] : [latin, own];
  });

/** All countries. */
export const COUNTRIES: readonly Country[] = [
  {
    code: 'DE',
    language: 'de',
    phone: '+49',
    female: names('Jutta Käthe Sabine Anna Leonie Ute'),
    male: names('Jörg Günther Lukas Björn Matthias Karl'),
    family: names('Müller Schäfer Weiß Krüger Böhm Vogel'),
    streets: ['Lindenstraße', 'Am Mühlgraben', 'Schillerplatz'],
    cities: [
      ['04109', 'Leipzig'],
      ['50667', 'Köln'],
      ['80331', 'München'],
    ],
  },
  {
    code: 'FR',
    language: 'fr',
    phone: '+33',
    female: names('Élodie Hélène Margaux Cécile Inès Zoé'),
    male: names('François Théo Jérôme Loïc Rémi André'),
    family: names('Lefèvre Béranger Moreau Gauthier Chrétien Noël'),
    streets: ['Rue des Écoles', 'Avenue Foch', 'Allée du Château'],
    cities: [
      ['69002', 'Lyon'],
      ['31000', 'Toulouse'],
      ['59800', 'Lille'],
    ],
  },
  {
    code: 'ES',
    language: 'es',
    phone: '+34',
    female: names('Lucía Begoña Inés Rocío Nuria Sofía'),
    male: names('Íñigo José Andrés Ramón Álvaro Martín'),
    family: names('García Muñoz Ibáñez Peña Ordóñez Vázquez'),
    streets: ['Calle Mayor', 'Paseo de la Estación', 'Plaza España'],
    cities: [
      ['28013', 'Madrid'],
      ['41001', 'Sevilla'],
      ['48005', 'Bilbao'],
    ],
  },
  {
    code: 'PL',
    language: 'pl',
    phone: '+48',
    female: names('Małgorzata Zofia Agnieszka Łucja Hanna Bożena'),
    male: names('Paweł Michał Łukasz Stanisław Józef Grzegorz'),
    family: names('Kowalski Wiśniewski Zieliński Dąbrowski Król Gołąb'),
    familyOfWomen: names('Kowalska Wiśniewska Zielińska Dąbrowska Król Gołąb'),
    streets: ['ulica Długa', 'aleja Róż', 'ulica Święty Marcin'],
    cities: [
      ['30-001', 'Kraków'],
      ['90-001', 'Łódź'],
      ['60-101', 'Poznań'],
    ],
  },
  {
    code: 'TR',
    language: 'tr',
    phone: '+90',
    female: names('Ayşe Gülşen Elif Şebnem Zeynep Çiğdem'),
    male: names('Mehmet Çağlar Oğuz İbrahim Kemal Barış'),
    family: names('Yılmaz Öztürk Şahin Çelik Aydın Güneş'),
    streets: ['Atatürk Caddesi', 'Gül Sokağı', 'İstasyon Caddesi'],
    cities: [
      ['34110', 'İstanbul'],
      ['35210', 'İzmir'],
      ['16010', 'Bursa'],
    ],
  },
  {
    code: 'SE',
    language: 'sv',
    phone: '+46',
    female: names('Åsa Märta Linnéa Ingrid Elsa Görel'),
    male: names('Göran Håkan Sören Axel Nils Åke'),
    family: names('Sjöberg Åkesson Lindström Öberg Hägg Nyström'),
    streets: ['Storgatan', 'Björkvägen', 'Drottninggatan'],
    cities: [
      ['411 03', 'Göteborg'],
      ['753 20', 'Uppsala'],
      ['211 20', 'Malmö'],
    ],
  },
  {
    code: 'JP',
    language: 'ja',
    phone: '+81',
    female: names('Hanako/花子 Yui/結衣 Sakura/さくら Keiko/恵子 Aoi/葵 Michiko/美智子'),
    male: names('Haruto/陽翔 Kenji/健二 Taro/太郎 Ren/蓮 Hiroshi/浩 Daiki/大輝'),
    family: names('Sato/佐藤 Suzuki/鈴木 Takahashi/高橋 Tanaka/田中 Watanabe/渡辺 Ito/伊藤'),
    streets: ['Sakura-dori', 'Honmachi', 'Kita-machi'],
    cities: [
      ['160-0022', 'Tokyo'],
      ['604-8001', 'Kyoto'],
      ['060-0001', 'Sapporo'],
    ],
  },
  {
    code: 'GR',
    language: 'el',
    phone: '+30',
    female: names('Eleni/Ελένη Maria/Μαρία Sofia/Σοφία Katerina/Κατερίνα Ioanna/Ιωάννα Despina/Δέσποινα'),
    male: names('Giorgos/Γιώργος Nikos/Νίκος Kostas/Κώστας Dimitris/Δημήτρης Petros/Πέτρος Spyros/Σπύρος'),
    family: names(
      'Pappas/Παππάς Nikolaidis/Νικολαΐδης Georgiou/Γεωργίου Ioannou/Ιωάννου Vlachos/Βλάχος Makris/Μακρής',
    ),
    familyOfWomen: names(
      'Pappa/Παππά Nikolaidi/Νικολαΐδη Georgiou/Γεωργίου Ioannou/Ιωάννου Vlachou/Βλάχου Makri/Μακρή',
    ),
    streets: ['Odos Ermou', 'Leoforos Nikis', 'Odos Athinas'],
    cities: [
      ['105 63', 'Athina'],
      ['546 24', 'Thessaloniki'],
      ['262 21', 'Patra'],
    ],
  },
  {
    code: 'UA',
    language: 'uk',
    phone: '+380',
    female: names('Oksana/Оксана Olena/Олена Nadiia/Надія Iryna/Ірина Daryna/Дарина Liudmyla/Людмила'),
    male: names('Andrii/Андрій Taras/Тарас Bohdan/Богдан Mykola/Микола Oleh/Олег Yurii/Юрій'),
    family: names(
      'Shevchenko/Шевченко Kovalenko/Коваленко Bondarenko/Бондаренко Melnyk/Мельник Tkachuk/Ткачук Lysenko/Лисенко',
    ),
    streets: ['vulytsia Franka', 'prospekt Svobody', 'vulytsia Sadova'],
    cities: [
      ['01001', 'Kyiv'],
      ['79000', 'Lviv'],
      ['65000', 'Odesa'],
    ],
  },
  {
    code: 'EG',
    language: 'ar',
    phone: '+20',
    female: names('Fatima/فاطمة Mariam/مريم Salma/سلمى Nour/نور Amina/أمينة Hoda/هدى'),
    male: names('Ahmed/أحمد Youssef/يوسف Omar/عمر Karim/كريم Hassan/حسن Tarek/طارق'),
    family: names('Mansour/منصور Farouk/فاروق Salem/سالم Naguib/نجيب Haddad/حداد Sabry/صبري'),
    streets: ['Tahrir Street', 'Nile Corniche', 'Salah Salem Road'],
    cities: [
      ['11511', 'Cairo'],
      ['21500', 'Alexandria'],
      ['85511', 'Luxor'],
    ],
  },
];
