const MIN_CHARS = 12

export const PASSWORD_HINT = `At least ${MIN_CHARS} characters; a few uncommon words are enough`

/** The rest of the rule, whether it is easy to guess, is the server's. */
export function checkLength(password: string): string | null {
  return password.length < MIN_CHARS ? `At least ${MIN_CHARS} characters` : null
}
