/** Languages that Holdfast runs, by VS Code's language id. */
export type Language = 'python';

/** Namespace of session ids: `python:…`. The start function chooses the backend by it. */
export function namespaced(language: Language, id: string): string {
  const prefix = `${language}:`;
  return id.startsWith(prefix) ? id : prefix + id;
}

/** The language of a session id in a namespace, or undefined for one in none. */
export function languageOf(sessionId: string): Language | undefined {
  return sessionId.startsWith('python:') ? 'python' : undefined;
}
