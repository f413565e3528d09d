/** The pages in German. */
import type { Wording } from './language.ts';

export const de: Wording = {
  // Every page
  'shell.language': 'Sprache',
  'shell.error': 'Hier geht es nicht weiter',
  'shell.detail': 'Für die Entwickler der Anwendung:',
  'shell.number': 'Nummer der Anfrage: {request}',
  // Consent: who is asking
  'consent.title': '{app} bittet um Zugriff',
  'consent.heading': '{app} bittet um Zugriff auf eine Gesundheitsakte',
  'consent.by': 'von {organization}',
  'consent.verified': 'Geprüfte Organisation',
  'consent.unverified': 'Organisation nicht geprüft',
  'consent.unverifiednote':
    'Wir haben nicht geprüft, wer hinter dieser Anwendung steht. Erlauben Sie den Zugriff nur, wenn Sie sie kennen.',
  'consent.sandbox': 'Testumgebung: Sie enthält nur erfundene Gesundheitsdaten.',
  'consent.privacy': 'Wie {app} mit Daten umgeht: {host} (öffnet einen neuen Tab)',
  'consent.noprivacy': 'Die Anwendung nennt keine Datenschutzerklärung.',
  'consent.privacylegend': 'Datenschutz',
  'consent.account': 'Konto',
  'consent.signedin': 'Sie sind angemeldet als {person}.',
  'consent.switch': 'Anderes Konto verwenden',
  // Consent: for what purpose
  'purpose.legend': 'Wofür',
  'purpose.treatment': 'Behandlung und Pflege',
  'purpose.research': 'Forschung',
  'purpose.payment': 'Abrechnung und Zahlung',
  'purpose.publichealth': 'Öffentliche Gesundheit',
  'purpose.personal': 'Ihr eigener Gebrauch',
  'purpose.own': 'In den Worten der Anwendung: „{purpose}“',
  'purpose.none': 'Die Anwendung nennt keinen Zweck.',
  // Consent: which record
  'record.legend': 'Welche Gesundheitsakte?',
  'record.own': 'Ihre eigene Akte',
  'record.dependent': 'Eine Person, für die Sie sorgen',
  'record.born': 'geboren am {day}',
  'record.unnamed': 'Akte ohne Namen',
  'record.new': 'Eine neue, leere Akte',
  'record.newnote': 'Sie gehört Ihnen und enthält noch nichts.',
  'record.given': 'Vorname',
  'record.family': 'Nachname',
  'record.birthdate': 'Geburtsdatum',
  'record.other':
    '{app} hat um eine Akte gebeten, die nicht zu Ihren gehört. Wählen Sie nur dann eine aus, wenn es die richtige ist.',
  'record.keeper': 'geführt von {project}',
  'record.started': 'von Ihnen angelegt',
  // Consent: what exactly. The sentences are kept with the consent
  'items.read': 'Was {app} lesen darf',
  'items.write': 'Was {app} hinzufügen oder ändern darf',
  'items.hint': 'Entfernen Sie das Häkchen bei allem, was Sie nicht erlauben möchten.',
  'sentence.readyour': 'Ihre {things} lesen',
  'sentence.read': '{things} lesen',
  'sentence.c': '{things} hinzufügen',
  'sentence.u': '{things} ändern',
  'sentence.d': '{things} löschen',
  'sentence.cu': '{things} hinzufügen und ändern',
  'sentence.cd': '{things} hinzufügen und löschen',
  'sentence.ud': '{things} ändern und löschen',
  'sentence.cud': '{things} hinzufügen, ändern und löschen',
  'sentence.category': '{things} der Kategorie „{category}“',
  'sentence.offline': 'Daten auch abrufen, während Sie {app} nicht benutzen, bis der Zugriff endet',
  'sentence.always': 'Immer enthalten: Name, Geburtsdatum und Kontaktdaten sowie die Namen der Behandelnden',
  'sentence.new':
    'Neue Einträge sind enthalten: All das gilt auch für das, was in die Akte kommt, solange der Zugriff besteht',
  'sentence.identity': '{app} erkennt Sie wieder, an einer Kennung, die eigens dafür erzeugt wird',
  'sentence.until': 'Der Zugriff endet am {day}, und Sie können ihn jederzeit früher beenden',
  'always.legend': 'Was sich nicht ausschließen lässt',
  // What a record holds, as the object of the sentences above
  'things.results': 'Laborwerte und Vitalwerte, andere Messwerte und Befundberichte',
  'things.conditions': 'Diagnosen und Gesundheitsprobleme',
  'things.medications': 'Medikamente und Verordnungen',
  'things.allergies': 'Allergien und Unverträglichkeiten',
  'things.immunizations': 'Impfungen',
  'things.procedures': 'Operationen und andere Eingriffe',
  'things.encounters': 'Arztbesuche und Krankenhausaufenthalte',
  'things.documents': 'Dokumente wie Arztbriefe und Scans',
  'things.care': 'Behandlungspläne, Behandlungsteams und Gesundheitsziele',
  'things.devices': 'Medizinprodukte und Implantate',
  'things.contacts': 'Angehörige und Kontaktpersonen',
  'things.origins': 'Angaben zur Herkunft der Einträge',
  'things.demographics': 'Name, Geburtsdatum und Kontaktdaten',
  'things.observation': 'Laborwerte und Vitalwerte sowie andere Messwerte',
  'things.diagnosticreport': 'Befundberichte',
  'things.specimen': 'für Tests entnommene Proben',
  'things.medicationstatement': 'Medikamente, die eingenommen werden',
  'things.medicationrequest': 'Verordnungen',
  'things.careplan': 'Behandlungspläne',
  'things.careteam': 'Behandlungsteams',
  'things.goal': 'Gesundheitsziele',
  'things.laboratory': 'Laborwerte',
  'things.vitalsigns': 'Vitalwerte wie Blutdruck und Gewicht',
  'things.symptom': 'Symptome',
  'things.activity': 'Aktivitätsdaten wie Schritte',
  'things.survey': 'Antworten auf Fragebögen',
  'things.exam': 'Untersuchungsbefunde',
  'things.imaging': 'Befunde aus bildgebenden Verfahren wie Röntgen',
  'things.socialhistory': 'Angaben zur Lebensweise wie Rauchen',
  // Consent: for how long, and the decision
  'days.legend': 'Wie lange?',
  'days.choice': '{days} Tage',
  'days.until': 'bis {day}',
  'offline.hint':
    'Ohne dies kann {app} die Akte jeweils eine halbe Stunde lang benutzen. Danach müssen Sie auf diese Seite zurückkehren.',
  'consent.revoke': 'Wenn Sie den Zugriff erlauben, können Sie ihn jederzeit beenden.',
  'consent.decide': 'Ihre Entscheidung',
  'consent.target':
    'Nach Ihrer Entscheidung kehren Sie zurück zu {target}. Wenn Sie ablehnen, wird nichts geteilt.',
  'consent.allow': 'Erlauben',
  'consent.deny': 'Ablehnen',
  // Consent: what is missing in the form
  'fault.heading': 'Bitte prüfen Sie Ihre Angaben',
  'fault.record': 'Wählen Sie eine Gesundheitsakte.',
  'fault.items': 'Lassen Sie mindestens ein Häkchen stehen, oder lehnen Sie ab.',
  'fault.days': 'Wählen Sie, wie lange.',
  'fault.given': 'Geben Sie den Vornamen ein.',
  'fault.family': 'Geben Sie den Nachnamen ein.',
  'fault.birthdate': 'Geben Sie das Geburtsdatum mit Tag, Monat und Jahr ein.',
  'fault.unavailable':
    'Diese Akte kann gerade nicht geteilt werden. Wählen Sie eine andere, oder versuchen Sie es später.',
  // Consent: requests that end on a page
  'error.client':
    'Dieser Dienst kennt die Anwendung nicht, die Sie hierher geschickt hat. Es wurde nichts geteilt.',
  'error.redirect':
    'Die Anwendung möchte, dass Sie zu einer Adresse geschickt werden, die für sie nicht registriert ist. Es wurde nichts geteilt.',
  'error.organization':
    'Die Organisation hinter dieser Anwendung wurde noch nicht geprüft. Deshalb kann sie noch nicht um echte Gesundheitsdaten bitten. Es wurde nichts geteilt.',
  'error.parameter':
    'Die Anwendung hat eine unvollständige Anfrage gesendet: {parameter} fehlt oder ist falsch. Es wurde nichts geteilt.',
  'error.closed':
    'Diese Anfrage ist nicht mehr offen: Sie wurde beantwortet, ist abgelaufen oder wurde in einem anderen Browser begonnen. Gehen Sie zurück zur Anwendung und beginnen Sie von vorn.',
  'answered.allowed': 'Sie haben das bereits erlaubt',
  'answered.allowedtext':
    'Sie haben {app} Zugriff gegeben. Gehen Sie zurück zur Anwendung. Wenn es dort nicht weitergeht, beginnen Sie dort von vorn.',
  'answered.denied': 'Sie haben das bereits abgelehnt',
  'answered.deniedtext':
    'Es wurde nichts geteilt. Gehen Sie zurück zur Anwendung. Wenn Sie den Zugriff doch erlauben möchten, beginnen Sie dort von vorn.',

  // Signing in
  'signin.title': 'Anmelden',
  'signin.choose': 'Wählen Sie, wo Sie sich anmelden möchten.',
  'signin.none': 'Hier kann sich noch niemand anmelden',
  'signin.nonetext':
    'Der Betreiber dieses Dienstes hat noch keine Anmeldung eingerichtet. Bitte sagen Sie ihm Bescheid.',
  'signin.away': 'Die Anmeldung ist gerade nicht verfügbar',
  'signin.awaytext':
    '{issuer} ist im Moment nicht erreichbar. Mit Ihrem Konto ist alles in Ordnung. Bitte versuchen Sie es gleich noch einmal.',
  'signin.unfinished': 'Diese Anmeldung kann nicht abgeschlossen werden',
  'signin.unfinishedtext':
    'Sie hat zu lange gedauert, wurde schon verwendet oder in einem anderen Browser begonnen. Gehen Sie dorthin zurück, wo Sie begonnen haben, oder melden Sie sich noch einmal an.',
  'signin.denied': 'Sie sind nicht angemeldet',
  'signin.deniedtext': '{issuer} hat die Anmeldung beendet. Sie können es noch einmal versuchen.',
  'signin.notfresh': 'Eine neue Anmeldung ist nötig',
  'signin.notfreshtext':
    'Zu Ihrer Sicherheit müssen Sie sich noch einmal ausweisen. {issuer} hat nicht bestätigt, dass Sie das gerade getan haben. Bitte versuchen Sie es noch einmal und melden Sie sich dort erneut an.',
  'signin.refused': 'Sie konnten nicht angemeldet werden',
  'signin.refusedtext':
    'Die Antwort von {issuer} hat eine Sicherheitsprüfung nicht bestanden. Bitte versuchen Sie es noch einmal. Wenn es wieder geschieht, nennen Sie dem Betreiber dieses Dienstes die Nummer {request}.',
  'signin.unknown': 'Diese Seite gibt es nicht',
  'signin.unknowntext': 'Prüfen Sie die Adresse, oder gehen Sie dorthin zurück, woher Sie kamen.',
  'signin.again': 'Noch einmal versuchen',
  'signin.in': 'Sie sind angemeldet',
  'signin.intext': 'Angemeldet als {person}.',
  'signin.signout': 'Abmelden',
  'signin.out': 'Sie sind abgemeldet',
  'signin.outtext':
    'Dort, wo Sie sich angemeldet haben, sind Sie vielleicht noch angemeldet. Melden Sie sich auf einem gemeinsam genutzten Gerät auch dort ab.',
  'signin.formfault': 'Das Formular konnte nicht angenommen werden',
  'signin.formfaulttext':
    'Vielleicht wurden Sie inzwischen abgemeldet. Öffnen Sie die Seite noch einmal und senden Sie das Formular von dort ab.',
  'error.form':
    'Ihre Entscheidung kam nicht von der Seite dieses Dienstes, oder Sie haben sich seitdem neu angemeldet. Es wurde nichts geteilt.',
  'error.signedout':
    'Ihre Sitzung ist beendet. Melden Sie sich erneut an, um zu entscheiden. Es wurde nichts geteilt.',
  'error.service': 'Bei uns ist etwas schiefgegangen. Versuchen Sie es gleich noch einmal.',
  'error.many': 'Aus Ihrem Netz kamen zu viele Anfragen. Versuchen Sie es in einer Minute noch einmal.',
  'error.continue': 'Weiter',
  // Invitations
  'invitation.title': 'Einladung zu einer Gesundheitsakte',
  'invitation.intro':
    'Sie wurden eingeladen, eine Gesundheitsakte mit Ihrem Konto zu verbinden. Melden Sie sich zuerst an. Danach brauchen Sie das Geburtsdatum der Person, der die Akte gehört.',
  'invitation.heading': 'Gesundheitsakte von {given} verbinden',
  'invitation.unnamed': 'Patientin oder Patient',
  'invitation.from':
    '{project} lädt Sie ein, diese Akte mit Ihrem Konto zu verbinden. Danach entscheiden Sie, welche Apps sie verwenden dürfen, und können das wieder beenden.',
  'invitation.switch': 'Anderes Konto verwenden',
  'invitation.birthdate': 'Geburtsdatum von {given}',
  'invitation.why': 'Damit niemand sonst Ihre Einladung verwendet.',
  'invitation.connect': 'Akte verbinden',
  'invitation.wrong':
    'Das ist nicht das Geburtsdatum in der Akte. Nach fünf falschen wird die Einladung geschlossen.',
  'invitation.nodate': 'Geben Sie das Geburtsdatum mit Tag, Monat und Jahr ein.',
  'invitation.gone': 'Diese Einladung kann nicht verwendet werden',
  'invitation.gonetext':
    'Sie wurde schon verwendet oder zurückgezogen, ist abgelaufen oder für ein anderes Konto bestimmt. Bitten Sie den Absender um eine neue.',
  'invitation.taken': 'Diese Akte gehört schon zu einem Konto',
  'invitation.takentext':
    'Ein anderes Konto ist als Inhaber mit dieser Akte verbunden. Wenn das ein Irrtum ist, bitten Sie {project}, diese Verbindung zu beenden.',
  'invitation.many': 'Zu viele Versuche',
  'invitation.manytext':
    'In einer Stunde sind höchstens zehn Versuche möglich. Bitte versuchen Sie es in einer Stunde wieder.',
  'invitation.done': 'Die Akte ist verbunden',
  'invitation.donetext':
    'Die Gesundheitsakte von {given} ist jetzt mit Ihrem Konto verbunden. Sie können diese Seite schließen.',
};
