/** The field for choosing a role in the member and invitation forms; each role is shown with what it allows. */
import type { Failure } from '../api.ts';
import { Field } from '../parts/parts.tsx';
import { includesRole, type Role } from '../session.ts';
import { say } from '../texts/texts.ts';

const ROLES: readonly Role[] = ['developer', 'auditor', 'admin', 'owner'];

/**
 * Returns the field.
 * @param own the person's own role: they can't give a higher role than this
 */
export function RoleField({ own, failure }: { readonly own: Role; readonly failure: Failure | undefined }) {
  return (
    <Field name="role" label={say('members.role')} failure={failure}>
      {(attributes) => (
        <select {...attributes}>
          {ROLES.filter((role) => includesRole(own, role)).map((role) => (
            <option key={role} value={role}>
              {say(`members.role.${role}`)} – {say(`members.may.${role}`)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Returns the chosen role. */
export function readRole(form: FormData): Role {
  return ROLES.find((role) => role === form.get('role')) ?? 'developer';
}
