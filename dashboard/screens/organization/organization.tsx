/** The organization: its confirmed domain, its sign-in, and production access for the project. */
import { useProject } from '../../here.ts';
import { Head } from '../../parts/parts.tsx';
import { say } from '../../texts/texts.ts';
import { Domain } from './domain.tsx';
import { Production } from './production.tsx';
import { SingleSignOn } from './sso.tsx';

/** Returns the screen. */
export function Organization() {
  const { organization } = useProject();
  return (
    <>
      <Head title={say('organization.title')} about={organization.name} />
      <Domain />
      <SingleSignOn />
      <Production />
    </>
  );
}
