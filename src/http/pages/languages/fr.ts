/** The pages in French. */
import type { Wording } from './language.ts';

export const fr: Wording = {
  // Every page
  'shell.language': 'Langue',
  'shell.error': 'Impossible de continuer',
  'shell.detail': 'Pour les développeurs de l’application :',
  'shell.number': 'Numéro de la requête : {request}',
  // Consent: who is asking
  'consent.title': '{app} demande un accès',
  'consent.heading': '{app} demande l’accès à un dossier de santé',
  'consent.by': 'de {organization}',
  'consent.verified': 'Organisation vérifiée',
  'consent.unverified': 'Organisation non vérifiée',
  'consent.unverifiednote':
    'Nous n’avons pas vérifié qui est derrière cette application. N’autorisez l’accès que si vous la connaissez.',
  'consent.sandbox': 'Environnement de test : il ne contient que des données de santé fictives.',
  'consent.privacy': 'Comment {app} traite les données : {host} (nouvel onglet)',
  'consent.noprivacy': 'L’application n’indique aucune page de confidentialité.',
  'consent.privacylegend': 'Confidentialité',
  'consent.account': 'Compte',
  'consent.signedin': 'Vous êtes connecté en tant que {person}.',
  'consent.switch': 'Utiliser un autre compte',
  // Consent: for what purpose
  'purpose.legend': 'Dans quel but',
  'purpose.treatment': 'Soins et traitement',
  'purpose.research': 'Recherche',
  'purpose.payment': 'Facturation et paiement',
  'purpose.publichealth': 'Santé publique',
  'purpose.personal': 'Votre usage personnel',
  'purpose.own': 'Selon l’application : « {purpose} »',
  'purpose.none': 'L’application n’indique aucun but.',
  // Consent: which record
  'record.legend': 'Quel dossier de santé ?',
  'record.own': 'Votre propre dossier',
  'record.dependent': 'Une personne dont vous vous occupez',
  'record.born': 'date de naissance : {day}',
  'record.unnamed': 'Dossier sans nom',
  'record.new': 'Un nouveau dossier, vide',
  'record.newnote': 'Il vous appartient et ne contient encore rien.',
  'record.given': 'Prénom',
  'record.family': 'Nom de famille',
  'record.birthdate': 'Date de naissance',
  'record.other':
    '{app} a demandé un dossier qui ne fait pas partie des vôtres. N’en choisissez un que si c’est le bon.',
  'record.keeper': 'tenu par {project}',
  'record.started': 'créé par vous',
  // Consent: what exactly. The sentences are kept with the consent
  'items.read': 'Ce que {app} peut lire',
  'items.write': 'Ce que {app} peut ajouter ou modifier',
  'items.hint': 'Décochez tout ce que vous ne voulez pas autoriser.',
  'sentence.readyour': 'Lire {things} de votre dossier',
  'sentence.read': 'Lire {things}',
  'sentence.c': 'Ajouter {things}',
  'sentence.u': 'Modifier {things}',
  'sentence.d': 'Supprimer {things}',
  'sentence.cu': 'Ajouter et modifier {things}',
  'sentence.cd': 'Ajouter et supprimer {things}',
  'sentence.ud': 'Modifier et supprimer {things}',
  'sentence.cud': 'Ajouter, modifier et supprimer {things}',
  'sentence.category': '{things} de la catégorie « {category} »',
  'sentence.offline': 'Obtenir des données même quand vous n’utilisez pas {app}, jusqu’à la fin de l’accès',
  'sentence.always':
    'Toujours inclus : le nom, la date de naissance et les coordonnées, ainsi que les noms des soignants',
  'sentence.new':
    'Les nouvelles données sont incluses : tout ceci vaut aussi pour ce qui sera ajouté au dossier tant que dure l’accès',
  'sentence.identity': '{app} vous reconnaît à votre retour grâce à un identifiant créé pour elle',
  'sentence.until': 'L’accès prend fin le {day}, et vous pouvez y mettre fin plus tôt à tout moment',
  'always.legend': 'Ce qui ne peut pas être exclu',
  // What a record holds, as the object of the sentences above
  'things.results':
    'les résultats de laboratoire et les signes vitaux, les autres mesures et les comptes rendus',
  'things.conditions': 'les diagnostics et les problèmes de santé',
  'things.medications': 'les médicaments et les ordonnances',
  'things.allergies': 'les allergies et les intolérances',
  'things.immunizations': 'les vaccinations',
  'things.procedures': 'les opérations et les autres interventions',
  'things.encounters': 'les consultations et les séjours à l’hôpital',
  'things.documents': 'les documents, par exemple les lettres de médecins et les numérisations',
  'things.care': 'les plans de soins, les équipes de soins et les objectifs de santé',
  'things.devices': 'les dispositifs médicaux et les implants',
  'things.contacts': 'les proches et les personnes à contacter',
  'things.origins': 'les indications sur qui a saisi quoi, et quand',
  'things.demographics': 'le nom, la date de naissance et les coordonnées',
  'things.observation': 'les résultats de laboratoire et les signes vitaux, et les autres mesures',
  'things.diagnosticreport': 'les comptes rendus d’examens',
  'things.specimen': 'les échantillons prélevés pour analyse',
  'things.medicationstatement': 'les médicaments pris',
  'things.medicationrequest': 'les ordonnances',
  'things.careplan': 'les plans de soins',
  'things.careteam': 'les équipes de soins',
  'things.goal': 'les objectifs de santé',
  'things.laboratory': 'les résultats de laboratoire',
  'things.vitalsigns': 'les signes vitaux, par exemple la tension et le poids',
  'things.symptom': 'les symptômes',
  'things.activity': 'les données d’activité, par exemple les pas',
  'things.survey': 'les réponses à des questionnaires',
  'things.exam': 'les résultats d’examens cliniques',
  'things.imaging': 'les résultats d’imagerie, par exemple les radiographies',
  'things.socialhistory': 'les éléments du mode de vie, par exemple le tabac',
  // Consent: for how long, and the decision
  'days.legend': 'Pour combien de temps ?',
  'days.choice': '{days} jours',
  'days.until': 'jusqu’au {day}',
  'offline.hint':
    'Sans cela, {app} peut utiliser le dossier pendant une demi-heure à la fois. Vous devez ensuite revenir sur cette page.',
  'consent.revoke': 'Si vous autorisez l’accès, vous pouvez y mettre fin à tout moment.',
  'consent.decide': 'Votre décision',
  'consent.target':
    'Après votre décision, vous retournez vers {target}. Si vous refusez, rien n’est partagé.',
  'consent.allow': 'Autoriser',
  'consent.deny': 'Refuser',
  // Consent: what is missing in the form
  'fault.heading': 'Veuillez vérifier votre saisie',
  'fault.record': 'Choisissez un dossier de santé.',
  'fault.items': 'Laissez au moins une case cochée, ou refusez.',
  'fault.days': 'Choisissez une durée.',
  'fault.given': 'Saisissez le prénom.',
  'fault.family': 'Saisissez le nom de famille.',
  'fault.birthdate': 'Saisissez la date de naissance avec le jour, le mois et l’année.',
  'fault.unavailable':
    'Ce dossier ne peut pas être partagé pour le moment. Choisissez-en un autre ou réessayez plus tard.',
  // Consent: requests that end on a page
  'error.client': 'Ce service ne connaît pas l’application qui vous a envoyé ici. Rien n’a été partagé.',
  'error.redirect':
    'L’application veut vous renvoyer vers une adresse qui n’est pas enregistrée pour elle. Rien n’a été partagé.',
  'error.organization':
    'L’organisation derrière cette application n’a pas été vérifiée. Elle ne peut donc pas encore demander de vraies données de santé. Rien n’a été partagé.',
  'error.parameter':
    'L’application a envoyé une demande incomplète : {parameter} manque ou est incorrect. Rien n’a été partagé.',
  'error.closed':
    'Cette demande n’est plus ouverte : elle a reçu une réponse, elle a expiré ou elle a été commencée dans un autre navigateur. Retournez à l’application et recommencez.',
  'answered.allowed': 'Vous avez déjà autorisé cette demande',
  'answered.allowedtext':
    'Vous avez donné l’accès à {app}. Retournez à l’application. Si elle ne continue pas, recommencez depuis celle-ci.',
  'answered.denied': 'Vous avez déjà refusé cette demande',
  'answered.deniedtext':
    'Rien n’a été partagé. Retournez à l’application. Si vous voulez finalement donner l’accès, recommencez depuis celle-ci.',

  // Signing in
  'signin.title': 'Se connecter',
  'signin.choose': 'Choisissez où vous voulez vous connecter.',
  'signin.none': 'Personne ne peut encore se connecter ici',
  'signin.nonetext':
    'L’exploitant de ce service n’a pas encore configuré de connexion. Merci de le lui signaler.',
  'signin.away': 'La connexion n’est pas disponible pour le moment',
  'signin.awaytext':
    '{issuer} est injoignable pour l’instant. Votre compte n’est pas en cause. Veuillez réessayer dans un moment.',
  'signin.unfinished': 'Cette connexion ne peut pas être terminée',
  'signin.unfinishedtext':
    'Elle a pris trop de temps, a déjà servi ou a été commencée dans un autre navigateur. Revenez là où vous avez commencé, ou connectez-vous à nouveau.',
  'signin.denied': 'Vous n’êtes pas connecté',
  'signin.deniedtext': '{issuer} a mis fin à la connexion. Vous pouvez réessayer.',
  'signin.notfresh': 'Une nouvelle connexion est nécessaire',
  'signin.notfreshtext':
    'Pour votre sécurité, vous devez prouver à nouveau votre identité. {issuer} n’a pas confirmé que vous venez de le faire. Veuillez réessayer et vous y connecter encore une fois.',
  'signin.refused': 'La connexion a échoué',
  'signin.refusedtext':
    'La réponse de {issuer} n’a pas passé un contrôle de sécurité. Veuillez réessayer. Si cela se reproduit, indiquez à l’exploitant de ce service le numéro {request}.',
  'signin.unknown': 'Cette page n’existe pas',
  'signin.unknowntext': 'Vérifiez l’adresse ou revenez d’où vous venez.',
  'signin.again': 'Réessayer',
  'signin.in': 'Vous êtes connecté',
  'signin.intext': 'Connecté en tant que {person}.',
  'signin.signout': 'Se déconnecter',
  'signin.out': 'Vous êtes déconnecté',
  'signin.outtext':
    'Vous êtes peut-être encore connecté là où vous vous êtes identifié. Sur un appareil partagé, déconnectez-vous aussi là-bas.',
  'signin.formfault': 'Le formulaire n’a pas pu être accepté',
  'signin.formfaulttext':
    'Vous avez peut-être été déconnecté entre-temps. Ouvrez à nouveau la page et envoyez le formulaire de là.',
  'error.form':
    'Votre décision ne provient pas de la page de ce service, ou vous vous êtes reconnecté depuis. Rien n’a été partagé.',
  'error.signedout': 'Votre session est terminée. Reconnectez-vous pour décider. Rien n’a été partagé.',
  'error.service': 'Un problème est survenu de notre côté. Réessayez dans un instant.',
  'error.many': 'Trop de requêtes sont venues de votre réseau. Réessayez dans une minute.',
  'error.continue': 'Continuer',
  // Invitations
  'invitation.title': 'Invitation à un dossier de santé',
  'invitation.intro':
    'Vous avez été invité à relier un dossier de santé à votre compte. Connectez-vous d’abord. Il vous faudra ensuite la date de naissance de la personne à qui appartient le dossier.',
  'invitation.heading': 'Relier le dossier de santé de {given}',
  'invitation.unnamed': 'la personne',
  'invitation.from':
    '{project} vous invite à relier ce dossier à votre compte. Vous pourrez ensuite décider quelles applications peuvent l’utiliser, et y mettre fin.',
  'invitation.switch': 'Utiliser un autre compte',
  'invitation.birthdate': 'Date de naissance de {given}',
  'invitation.why': 'Elle garantit que personne d’autre n’utilise votre invitation.',
  'invitation.connect': 'Relier le dossier',
  'invitation.wrong':
    'Ce n’est pas la date de naissance du dossier. Après cinq erreurs, l’invitation est fermée.',
  'invitation.nodate': 'Saisissez la date de naissance avec le jour, le mois et l’année.',
  'invitation.gone': 'Cette invitation ne peut pas être utilisée',
  'invitation.gonetext':
    'Elle a déjà été utilisée ou retirée, elle a expiré, ou elle est destinée à un autre compte. Demandez-en une nouvelle à l’expéditeur.',
  'invitation.taken': 'Ce dossier est déjà relié à son titulaire',
  'invitation.takentext':
    'Un autre compte est relié à ce dossier comme titulaire. Si c’est une erreur, demandez à {project} de mettre fin à ce lien.',
  'invitation.many': 'Trop d’essais',
  'invitation.manytext': 'Dix essais par heure sont possibles au plus. Veuillez réessayer dans une heure.',
  'invitation.done': 'Le dossier est relié',
  'invitation.donetext':
    'Le dossier de santé de {given} est maintenant relié à votre compte. Vous pouvez fermer cette page.',
};
