/** The pages in Spanish. */
import type { Wording } from './language.ts';

export const es: Wording = {
  // Every page
  'shell.language': 'Idioma',
  'shell.error': 'No se puede continuar',
  'shell.detail': 'Para quienes desarrollan la aplicación:',
  'shell.number': 'Número de la solicitud: {request}',
  // Consent: who is asking
  'consent.title': '{app} solicita acceso',
  'consent.heading': '{app} solicita acceso a un historial de salud',
  'consent.by': 'de {organization}',
  'consent.verified': 'Organización verificada',
  'consent.unverified': 'Organización no verificada',
  'consent.unverifiednote':
    'No hemos comprobado quién está detrás de esta aplicación. Permita el acceso solo si la conoce.',
  'consent.sandbox': 'Entorno de pruebas: solo contiene datos de salud inventados.',
  'consent.privacy': 'Cómo trata los datos {app}: {host} (se abre en otra pestaña)',
  'consent.noprivacy': 'La aplicación no indica ninguna página de privacidad.',
  'consent.privacylegend': 'Privacidad',
  'consent.account': 'Cuenta',
  'consent.signedin': 'Ha iniciado sesión como {person}.',
  'consent.switch': 'Usar otra cuenta',
  // Consent: for what purpose
  'purpose.legend': 'Para qué',
  'purpose.treatment': 'Tratamiento y atención',
  'purpose.research': 'Investigación',
  'purpose.payment': 'Facturación y pago',
  'purpose.publichealth': 'Salud pública',
  'purpose.personal': 'Su propio uso',
  'purpose.own': 'En palabras de la aplicación: «{purpose}»',
  'purpose.none': 'La aplicación no indica ninguna finalidad.',
  // Consent: which record
  'record.legend': '¿Qué historial de salud?',
  'record.own': 'Su propio historial',
  'record.dependent': 'Una persona a su cargo',
  'record.born': 'fecha de nacimiento: {day}',
  'record.unnamed': 'Historial sin nombre',
  'record.new': 'Un historial nuevo y vacío',
  'record.newnote': 'Le pertenece y aún no contiene nada.',
  'record.given': 'Nombre',
  'record.family': 'Apellidos',
  'record.birthdate': 'Fecha de nacimiento',
  'record.other':
    '{app} ha pedido un historial que no está entre los suyos. Elija uno solo si es el correcto.',
  'record.keeper': 'a cargo de {project}',
  'record.started': 'creado por usted',
  // Consent: what exactly. The sentences are kept with the consent
  'items.read': 'Lo que {app} puede leer',
  'items.write': 'Lo que {app} puede añadir o cambiar',
  'items.hint': 'Desmarque lo que no quiera permitir.',
  'sentence.readyour': 'Leer sus {things}',
  'sentence.read': 'Leer {things}',
  'sentence.c': 'Añadir {things}',
  'sentence.u': 'Cambiar {things}',
  'sentence.d': 'Eliminar {things}',
  'sentence.cu': 'Añadir y cambiar {things}',
  'sentence.cd': 'Añadir y eliminar {things}',
  'sentence.ud': 'Cambiar y eliminar {things}',
  'sentence.cud': 'Añadir, cambiar y eliminar {things}',
  'sentence.category': '{things} de la categoría «{category}»',
  'sentence.offline': 'Obtener datos también mientras usted no usa {app}, hasta que termine el acceso',
  'sentence.always':
    'Siempre incluido: nombre, fecha de nacimiento y datos de contacto, y los nombres de los profesionales sanitarios',
  'sentence.new':
    'Las entradas nuevas están incluidas: todo esto vale también para lo que se añada al historial mientras dure el acceso',
  'sentence.identity': '{app} le reconoce cuando vuelve, mediante un identificador creado para ella',
  'sentence.until': 'El acceso termina el {day}, y puede ponerle fin antes en cualquier momento',
  'always.legend': 'Lo que no se puede excluir',
  // What a record holds, as the object of the sentences above
  'things.results': 'resultados de laboratorio y constantes vitales, otras mediciones y sus informes',
  'things.conditions': 'diagnósticos y problemas de salud',
  'things.medications': 'medicamentos y recetas',
  'things.allergies': 'alergias e intolerancias',
  'things.immunizations': 'vacunas',
  'things.procedures': 'operaciones y otros procedimientos',
  'things.encounters': 'consultas y estancias en el hospital',
  'things.documents': 'documentos, como cartas médicas y escaneos',
  'things.care': 'planes de cuidados, equipos de atención y objetivos de salud',
  'things.devices': 'dispositivos médicos e implantes',
  'things.contacts': 'familiares y personas de contacto',
  'things.origins': 'datos sobre quién anotó qué y cuándo',
  'things.demographics': 'nombre, fecha de nacimiento y datos de contacto',
  'things.observation': 'resultados de laboratorio y constantes vitales, y otras mediciones',
  'things.diagnosticreport': 'informes de resultados',
  'things.specimen': 'muestras tomadas para análisis',
  'things.medicationstatement': 'medicamentos que se toman',
  'things.medicationrequest': 'recetas',
  'things.careplan': 'planes de cuidados',
  'things.careteam': 'equipos de atención',
  'things.goal': 'objetivos de salud',
  'things.laboratory': 'resultados de laboratorio',
  'things.vitalsigns': 'constantes vitales, como la tensión y el peso',
  'things.symptom': 'síntomas',
  'things.activity': 'datos de actividad, como los pasos',
  'things.survey': 'respuestas a cuestionarios',
  'things.exam': 'hallazgos de exploraciones',
  'things.imaging': 'hallazgos de pruebas de imagen, como radiografías',
  'things.socialhistory': 'datos del modo de vida, como el tabaco',
  // Consent: for how long, and the decision
  'days.legend': '¿Durante cuánto tiempo?',
  'days.choice': '{days} días',
  'days.until': 'hasta el {day}',
  'offline.hint':
    'Sin esto, {app} puede usar el historial durante media hora cada vez. Después tendrá que volver a esta página.',
  'consent.revoke': 'Si permite el acceso, puede ponerle fin en cualquier momento.',
  'consent.decide': 'Su decisión',
  'consent.target': 'Después de su decisión volverá a {target}. Si lo deniega, no se comparte nada.',
  'consent.allow': 'Permitir',
  'consent.deny': 'Rechazar',
  // Consent: what is missing in the form
  'fault.heading': 'Revise los datos introducidos',
  'fault.record': 'Elija un historial de salud.',
  'fault.items': 'Deje marcada al menos una casilla, o rechace la solicitud.',
  'fault.days': 'Elija durante cuánto tiempo.',
  'fault.given': 'Introduzca el nombre.',
  'fault.family': 'Introduzca los apellidos.',
  'fault.birthdate': 'Introduzca la fecha de nacimiento con día, mes y año.',
  'fault.unavailable': 'Ese historial no se puede compartir ahora. Elija otro o inténtelo más tarde.',
  // Consent: requests that end on a page
  'error.client': 'Este servicio no conoce la aplicación que le ha enviado aquí. No se ha compartido nada.',
  'error.redirect':
    'La aplicación quiere enviarle a una dirección que no está registrada para ella. No se ha compartido nada.',
  'error.organization':
    'La organización responsable de esta aplicación no ha sido verificada, por lo que aún no puede pedir datos de salud reales. No se ha compartido nada.',
  'error.parameter':
    'La aplicación ha enviado una solicitud incompleta: {parameter} falta o no es correcto. No se ha compartido nada.',
  'error.closed':
    'Esta solicitud ya no está abierta: se ha respondido, ha caducado o se inició en otro navegador. Vuelva a la aplicación y empiece de nuevo.',
  'answered.allowed': 'Ya ha permitido esta solicitud',
  'answered.allowedtext':
    'Usted dio acceso a {app}. Vuelva a la aplicación. Si no continúa, empiece allí de nuevo.',
  'answered.denied': 'Ya ha denegado esta solicitud',
  'answered.deniedtext':
    'No se ha compartido nada. Vuelva a la aplicación. Si al final quiere dar acceso, empiece allí de nuevo.',

  // Signing in
  'signin.title': 'Iniciar sesión',
  'signin.choose': 'Elija dónde quiere iniciar sesión.',
  'signin.none': 'Aquí todavía no se puede iniciar sesión',
  'signin.nonetext':
    'El operador de este servicio aún no ha configurado el inicio de sesión. Por favor, avísele.',
  'signin.away': 'El inicio de sesión no está disponible ahora',
  'signin.awaytext':
    'No se puede contactar con {issuer} en este momento. Su cuenta no tiene ningún problema. Vuelva a intentarlo en unos instantes.',
  'signin.unfinished': 'Este inicio de sesión no se puede completar',
  'signin.unfinishedtext':
    'Tardó demasiado, ya se usó o se empezó en otro navegador. Vuelva a donde empezó o inicie sesión de nuevo.',
  'signin.denied': 'No ha iniciado sesión',
  'signin.deniedtext': '{issuer} terminó el inicio de sesión. Puede intentarlo de nuevo.',
  'signin.notfresh': 'Hace falta un nuevo inicio de sesión',
  'signin.notfreshtext':
    'Por su seguridad, debe volver a demostrar quién es. {issuer} no confirmó que acaba de hacerlo. Inténtelo de nuevo e inicie sesión allí otra vez.',
  'signin.refused': 'No se pudo iniciar la sesión',
  'signin.refusedtext':
    'La respuesta de {issuer} no superó un control de seguridad. Inténtelo de nuevo. Si vuelve a ocurrir, indique al operador de este servicio el número {request}.',
  'signin.unknown': 'Esta página no existe',
  'signin.unknowntext': 'Compruebe la dirección o vuelva al lugar de donde vino.',
  'signin.again': 'Intentar de nuevo',
  'signin.in': 'Ha iniciado sesión',
  'signin.intext': 'Sesión iniciada como {person}.',
  'signin.signout': 'Cerrar sesión',
  'signin.out': 'Ha cerrado la sesión',
  'signin.outtext':
    'Puede que su sesión siga abierta en el lugar donde la inició. En un dispositivo compartido, ciérrela también allí.',
  'signin.formfault': 'No se pudo aceptar el formulario',
  'signin.formfaulttext':
    'Quizá su sesión se cerró entretanto. Abra de nuevo la página y envíe el formulario desde allí.',
  'error.form':
    'Su decisión no llegó desde la página de este servicio, o ha vuelto a iniciar sesión desde entonces. No se ha compartido nada.',
  'error.signedout':
    'Su sesión ha terminado. Vuelva a iniciar sesión para decidir. No se ha compartido nada.',
  'error.service': 'Algo ha fallado por nuestra parte. Inténtelo de nuevo en un momento.',
  'error.many': 'Han llegado demasiadas solicitudes desde su red. Inténtelo de nuevo en un minuto.',
  'error.continue': 'Continuar',
  // Invitations
  'invitation.title': 'Invitación a un historial de salud',
  'invitation.intro':
    'Le han invitado a conectar un historial de salud con su cuenta. Primero inicie sesión. Después necesitará la fecha de nacimiento de la persona a la que pertenece.',
  'invitation.heading': 'Conectar el historial de salud de {given}',
  'invitation.unnamed': 'la persona',
  'invitation.from':
    '{project} le invita a conectar este historial con su cuenta. Después podrá decidir qué aplicaciones pueden usarlo y ponerle fin.',
  'invitation.switch': 'Usar otra cuenta',
  'invitation.birthdate': 'Fecha de nacimiento de {given}',
  'invitation.why': 'Así nadie más puede usar su invitación.',
  'invitation.connect': 'Conectar el historial',
  'invitation.wrong':
    'Esta no es la fecha de nacimiento del historial. Tras cinco errores, la invitación se cierra.',
  'invitation.nodate': 'Introduzca la fecha de nacimiento con día, mes y año.',
  'invitation.gone': 'Esta invitación no se puede usar',
  'invitation.gonetext':
    'Ya se usó o se retiró, ha caducado o es para otra cuenta. Pida una nueva a quien se la envió.',
  'invitation.taken': 'Este historial ya tiene titular',
  'invitation.takentext':
    'Otra cuenta está conectada con este historial como titular. Si es un error, pida a {project} que termine esa conexión.',
  'invitation.many': 'Demasiados intentos',
  'invitation.manytext':
    'Se permiten como máximo diez intentos por hora. Vuelva a intentarlo dentro de una hora.',
  'invitation.done': 'El historial está conectado',
  'invitation.donetext':
    'El historial de salud de {given} está ahora conectado con su cuenta. Puede cerrar esta página.',
};
