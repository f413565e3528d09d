/** The auditors' screens, below `/audit` in a project. */
import { withReason } from '../../parts/reason.tsx';
import { AccessLog } from './access-log.tsx';
import { EventDetails } from './event.tsx';
import { Events } from './events.tsx';
import { Exports } from './exports.tsx';
import { forAuditors } from './parts.tsx';
import { VerificationDetails, Verifications } from './verifications.tsx';

/** The screens by path. Screens that show events or reads in production ask for a reason first. */
export const AUDIT_SCREENS = {
  '/audit': forAuditors(withReason(Events, 'audit.events'), 'audit.events'),
  '/audit/events/:event': forAuditors(withReason(EventDetails, 'audit.event'), 'audit.event'),
  '/audit/access-log': forAuditors(withReason(AccessLog, 'audit.access'), 'audit.access'),
  '/audit/exports': forAuditors(withReason(Exports, 'audit.exports'), 'audit.exports'),
  '/audit/verifications': forAuditors(Verifications, 'audit.verifications'),
  '/audit/verifications/:job': forAuditors(VerificationDetails, 'audit.verification'),
} as const;
