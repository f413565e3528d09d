/**
 * Selects the ATC codes to bundle: the codes of common substances and the groups that contain them. Reads a table with the
 * columns `atc_code` and `atc_name`: `node --import tsx tools/terminology/select-atc.ts <table.csv>`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';

const COMMON = new Set(
  `metformin;glibenclamide;gliclazide;glimepiride;sitagliptin;empagliflozin;dapagliflozin;liraglutide;semaglutide;
  insulin glargine;insulin aspart;insulin lispro;omeprazole;pantoprazole;esomeprazole;lansoprazole;famotidine;
  metoclopramide;ondansetron;domperidone;loperamide;lactulose;macrogol;mesalazine;colecalciferol;warfarin;apixaban;
  rivaroxaban;dabigatran etexilate;edoxaban;enoxaparin;heparin;clopidogrel;ticagrelor;acetylsalicylic acid;
  tranexamic acid;folic acid;cyanocobalamin;digoxin;amiodarone;glyceryl trinitrate;isosorbide mononitrate;epinephrine;
  hydrochlorothiazide;furosemide;torasemide;spironolactone;indapamide;chlortalidone;propranolol;metoprolol;atenolol;
  bisoprolol;carvedilol;nebivolol;amlodipine;nifedipine;verapamil;diltiazem;captopril;enalapril;lisinopril;ramipril;
  perindopril;losartan;valsartan;candesartan;telmisartan;simvastatin;atorvastatin;rosuvastatin;pravastatin;ezetimibe;
  hydrocortisone;prednisolone;prednisone;dexamethasone;methylprednisolone;levothyroxine sodium;thiamazole;estradiol;
  progesterone;testosterone;finasteride;tamsulosin;sildenafil;oxybutynin;doxycycline;amoxicillin;phenoxymethylpenicillin;
  amoxicillin and beta-lactamase inhibitor;cefalexin;cefuroxime;ceftriaxone;trimethoprim;sulfamethoxazole and trimethoprim;
  erythromycin;clarithromycin;azithromycin;clindamycin;gentamicin;ciprofloxacin;levofloxacin;vancomycin;metronidazole;
  nitrofurantoin;fluconazole;isoniazid;rifampicin;aciclovir;valaciclovir;oseltamivir;methotrexate;ciclosporin;azathioprine;
  tamoxifen;letrozole;anastrozole;adalimumab;rituximab;ibuprofen;naproxen;diclofenac;celecoxib;meloxicam;allopurinol;
  colchicine;alendronic acid;denosumab;morphine;oxycodone;fentanyl;tramadol;codeine;buprenorphine;paracetamol;
  sumatriptan;carbamazepine;valproic acid;lamotrigine;levetiracetam;gabapentin;pregabalin;levodopa and decarboxylase inhibitor;
  haloperidol;olanzapine;quetiapine;risperidone;aripiprazole;lithium;diazepam;lorazepam;oxazepam;zopiclone;zolpidem;
  melatonin;amitriptyline;fluoxetine;citalopram;paroxetine;sertraline;escitalopram;venlafaxine;duloxetine;mirtazapine;
  bupropion;methylphenidate;donepezil;memantine;salbutamol;salmeterol;formoterol;budesonide;fluticasone;beclometasone;
  tiotropium bromide;ipratropium bromide;montelukast;cetirizine;loratadine;desloratadine;timolol;latanoprost;naloxone;
  pneumococcus, purified polysaccharides antigen, conjugated;tetanus toxoid, combinations with diphtheria toxoid;
  influenza, inactivated, split virus or surface antigen;measles, combinations with mumps and rubella, live attenuated;
  diphtheria-haemophilus influenzae B-pertussis-poliomyelitis-tetanus-hepatitis B`
    .split(';')
    .map((name) => name.trim()),
);

const rows: { atc_code: string; atc_name: string }[] = parse(readFileSync(process.argv[2] ?? '', 'utf8'), {
  columns: true,
});
const name = new Map(rows.map((row) => [row.atc_code, row.atc_name]));
const chosen = new Set<string>();
for (const [code, substance] of name) {
  if (code.length !== 7 || !COMMON.has(substance)) continue;
  for (const length of [1, 3, 4, 5, 7]) chosen.add(code.slice(0, length));
}
const lines = [...chosen].sort().map((code) => JSON.stringify([code, name.get(code)]));
const out = fileURLToPath(new URL('../../src/terminology/bundled/generated/atc.json', import.meta.url));
writeFileSync(out, `[\n${lines.join(',\n')}\n]\n`);
const missing = [...COMMON].filter((substance) => ![...name.values()].includes(substance));
process.stdout.write(`${lines.length} codes; not found: ${missing.join(', ') || 'none'}\n`);
