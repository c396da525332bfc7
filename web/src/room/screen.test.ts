import { expect, it } from 'vitest';
import { screenProblem } from './screen';

it('says nothing when somebody changes their mind, and the remedy for anything else', () => {
  expect(screenProblem(new DOMException('Permission denied', 'NotAllowedError'))).toBeNull();
  const problem = screenProblem(new DOMException('Could not start video source', 'NotReadableError'));
  expect(problem?.error).toBe('The screen cannot be shared: Could not start video source.');
  expect(problem?.remedy).toContain('system settings');
});
