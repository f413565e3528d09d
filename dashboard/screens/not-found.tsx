/** The screen for a path that doesn't exist, or for a project to which the person doesn't belong: both look the same. */
import { Head } from '../parts/parts.tsx';
import { PLACE } from '../place.ts';
import { say } from '../texts/texts.ts';

export function NotFound() {
  return (
    <>
      <Head title={say('notFound.title')} about={say('notFound.says')} />
      <p>
        <a href={PLACE.root}>{say('frame.projects')}</a>
      </p>
    </>
  );
}
